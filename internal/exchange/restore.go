package exchange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/run"
)

// A Restorer restores a partition from the stream: it writes the records that are missing in the
// store, and the files of the strategy.
type Restorer struct {
	Stream    Stream
	Name      string
	Settings  *Settings
	Partition int
	After     int    // the last generation that the store has, -1 if it is empty
	State     string // the directory of the strategy's journal; "": do not restore it
	Windows   string // the directory of the generations, for topics that are expanded; "": do not restore these
	Out       io.Writer
	Patience  time.Duration
	Log       run.Log
}

// Run writes the records and returns the last generation that the partition has committed, 0 if
// there is none. Adding the records to the store twice changes nothing. Run writes the files before
// the records, so if a store has all records, the files are complete, too.
func (o *Restorer) Run(ctx context.Context) (last int, err error) {
	if err := o.Settings.check(); err != nil {
		return 0, err
	}
	names := subjects{o.Name}
	r := retryer{o.Patience, o.Log}
	own, err := o.ownCommits(ctx, r, names)
	if err != nil {
		return 0, err
	}
	last = len(own)
	if o.After > last {
		return 0, fmt.Errorf("crawl %s, partition %d: the store holds generation %d, and the stream ends with %d: the stream was replaced or has lost acknowledged messages\nhint: restore the stream; servers with sync_interval: always lose nothing in a power failure; a new crawl needs another name and directory", o.Name, o.Partition, o.After, last)
	}
	if err := o.files(ctx, r, names, own); err != nil {
		return 0, err
	}
	to := strconv.Itoa(o.Partition)
	write := func(g int, blocks []Block) error {
		contents, err := fetchBlocks(ctx, r, o.Stream, names, to, g, blocks)
		if err != nil {
			return err
		}
		for _, data := range contents {
			if _, err := o.Out.Write(data); err != nil {
				return fmt.Errorf("writing records: %w", err)
			}
		}
		return nil
	}
	if o.After < 0 {
		if err := write(0, o.Settings.Seeds); err != nil {
			return 0, err
		}
	}
	for g := max(1, o.After); g <= last; g++ { // as in the crawl: the order decides what the store keeps of an address
		var blocks []Block
		if g > o.After {
			blocks = own[g-1].Blocks
		}
		if err := write(g, blocks); err != nil {
			return 0, err
		}
		h := g - o.Settings.Lag // the generation whose records from other partitions follow
		if h < 1 {
			continue
		}
		all := newLedger(o.Settings)
		others := filter{Filter: &Filter{Stream: o.Stream, Name: o.Name, Settings: o.Settings, Patience: o.Patience, Log: o.Log}, subjects: names, ledger: all}
		if g == last { // if not all partitions have committed h yet, the filter passes these records on later
			if missing, err := others.collect(ctx, h); err != nil || len(missing) > 0 {
				return last, err
			}
		} else if err := others.await(ctx, h); err != nil {
			return 0, err
		}
		blocks = nil
		for p, c := range all.commits[h] {
			if p != o.Partition {
				blocks = append(blocks, c.Blocks...)
			}
		}
		if err := write(h, blocks); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// ownCommits returns the commits of the partition, from generation 1 on.
func (o *Restorer) ownCommits(ctx context.Context, r retryer, names subjects) (own []*Commit, err error) {
	found := map[int]*Commit{}
	for m, err := range r.messages(ctx, o.Stream, fmt.Sprintf("spoor.%s.c.*.%d", o.Name, o.Partition)) {
		if err != nil {
			return nil, err
		}
		_, g, ok := names.parseCommit(m.Subject)
		if !ok || found[g] != nil {
			continue
		}
		if found[g], err = parseCommit(m.Data, o.Partition, g, o.Settings.Partitions); err != nil {
			return nil, err
		}
	}
	for g := 1; found[g] != nil; g++ {
		own = append(own, found[g])
	}
	return own, nil
}

// files restores the journal of the strategy, and the topics of generations.
func (o *Restorer) files(ctx context.Context, r retryer, names subjects, own []*Commit) error {
	if o.State != "" {
		if err := o.journal(ctx, r, names, own); err != nil {
			return err
		}
	}
	if o.Windows == "" {
		return nil
	}
	for g := max(1, o.After); g <= len(own); g++ {
		pieces, err := fetchBlocks(ctx, r, o.Stream, names, toTopic, g, own[g-1].Blocks)
		if err != nil {
			return err
		}
		if len(pieces) == 0 {
			continue
		}
		name := run.File(o.Windows, g, run.Topic)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(name, bytes.Join(pieces, nil)); err != nil {
			return err
		}
	}
	return nil
}

// journal restores the journal. It keeps the part that belongs to generations in the store: these have
// appended the same bytes on every machine.
func (o *Restorer) journal(ctx context.Context, r retryer, names subjects, own []*Commit) (err error) {
	if err := os.MkdirAll(o.State, 0o777); err != nil {
		return err
	}
	f, err := atomicfile.OpenFile(filepath.Join(o.State, journalName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	keep, from := int64(0), 0 // bytes of the journal to keep, and their number of generations
	if o.After > 0 && own[o.After-1].Journal <= info.Size() {
		keep, from = own[o.After-1].Journal, o.After
	}
	if err := f.Truncate(keep); err != nil {
		return err
	}
	for _, c := range own[from:] {
		pieces, err := fetchBlocks(ctx, r, o.Stream, names, toJournal, c.Generation, c.Blocks)
		if err != nil {
			return err
		}
		for _, data := range pieces {
			if _, err := f.WriteAt(data, keep); err != nil {
				return err
			}
			keep += int64(len(data))
		}
		if keep != c.Journal {
			return fmt.Errorf("crawl %s, partition %d: the journal has %d bytes after generation %d, and its commit says %d", o.Name, o.Partition, keep, c.Generation, c.Journal)
		}
	}
	return f.Sync()
}
