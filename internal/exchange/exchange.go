// Package exchange runs one crawl on many machines, by way of a stream of messages that a cluster
// of NATS servers keeps (JetStream).
//
// A crawl has a fixed number of partitions; a host belongs to one of them. Each partition is a
// crawl of its own hosts, with its own store and strategy, whose pipeline ends in a [Filter]:
//
//	frontier serve -exchange < loop | fetch | parse | score | evolve -window N | exchange > loop
//
// At the end of a generation the filter sends the URLs that belong to other partitions, as blocks,
// and commits the generation. It then waits until all partitions have committed that generation
// (or, with a lag, an earlier one), passes on the addresses that they sent, and computes from all
// commits how many addresses its partition may fetch next. So the result depends only on the settings
// of the crawl, and not on the number or speed of machines.
//
// Of several commits of the same partition and generation only the first in the stream is valid, and
// only the blocks that it lists are read. So a process that was believed dead can do no harm: what it
// sends is ignored.
package exchange

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/partition"
	"spoor/internal/run"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A Message is a message of a stream.
type Message struct {
	Subject string
	Seq     uint64 // sequence number in the stream, from 1
	Data    []byte
}

// A Stream stores messages durably and in order.
type Stream interface {
	// Publish appends a message and returns its sequence number once it is durable. A message whose
	// id was used within the last two minutes is not appended again.
	Publish(ctx context.Context, subject string, data []byte, id string) (uint64, error)

	// PublishFirst appends a message if the stream has none of that subject. In rare cases it appends
	// a second one; readers use only the first.
	PublishFirst(ctx context.Context, subject string, data []byte) error

	// Range returns at most limit messages whose subject matches filter and whose sequence number is
	// at least the parameter from, in the order of the stream. A message that was stored a moment ago may be missing.
	Range(ctx context.Context, filter string, from uint64, limit int) ([]Message, error)

	// Watch returns a channel that is ready after messages that match filter were published. It may
	// miss messages.
	Watch(filter string) (changed <-chan struct{}, stop func(), err error)
}

// errors.Is(err, errPermanent) is true for an error of a [Stream] if trying again does not help.
var errPermanent = errors.New("trying again does not help")

// permanent is an error that matches errPermanent.
type permanent struct{ error }

func (permanent) Is(target error) bool { return target == errPermanent }
func (e permanent) Unwrap() error      { return e.error }

// ErrFenced is returned if another process has committed the generation with another result.
var ErrFenced = errors.New("another process has taken over the partition")

// A Filter is the last stage of the pipeline of a partition.
type Filter struct {
	Stream    Stream
	Name      string // name of the crawl
	Settings  *Settings
	Partition int
	Node      string // name of this machine, for messages
	Attempt   string // unique to this process
	State     string // the directory of the strategy's journal; "" if it has none
	Windows   string // the directory of the generations, for topics that are expanded; "" if there is none
	In        io.Reader
	Out       io.Writer
	Limit     int           // maximum length of a line, in bytes; 0: the default of package wire
	Patience  time.Duration // how long to wait for servers that do not answer
	Log       run.Log
	Tally     run.Tally
}

// filter is the state of a running Filter.
type filter struct {
	*Filter
	subjects
	ledger *ledger
	ended  chan struct{} // closed at the end of the input

	generation int // the current generation
	begun      bool
	last       *Commit   // commit of the previous generation
	commit     *Commit   // commit of the current generation
	own        packer    // records for this partition
	others     []packer  // records for the others, by partition
	best       []float64 // priorities of the addresses proposed for this partition
	line       bytes.Buffer
	rec        wire.Record
}

// Run passes records on until the end of the input. It does not pass on records after the last mark:
// their generation is not committed, and will be repeated.
func (o *Filter) Run(ctx context.Context) error {
	if err := o.Settings.check(); err != nil {
		return err
	}
	f := &filter{Filter: o, subjects: subjects{o.Name}, ledger: newLedger(o.Settings), ended: make(chan struct{})}
	in, to := io.Pipe()
	defer in.Close()
	go func() {
		_, err := io.Copy(to, o.In)
		close(f.ended)
		to.CloseWithError(err)
	}()
	r := wire.NewReader(in, wire.Address|wire.Fetch|wire.Score)
	if o.Limit > 0 {
		r.Limit = o.Limit
	}
	for {
		err := r.Read(&f.rec)
		bad, malformed := errors.AsType[*wire.SyntaxError](err)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case malformed:
			o.Tally.Bad(bad)
			if !bad.Outcome {
				continue
			}
		case err != nil:
			return err
		}
		if f.rec.IsMark() {
			err = f.mark(ctx)
		} else {
			o.Tally.Count()
			err = f.addRecord()
		}
		if errors.Is(err, errInputEnded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("crawl %s, partition %d, generation %d: %w", o.Name, o.Partition, f.generation, err)
		}
	}
}

// begin starts a generation. The decision says how many addresses each partition may fetch in it.
func (f *filter) begin(generation int, d decision) {
	f.generation = generation
	f.commit = &Commit{
		Version: formatVersion, Partition: f.Partition, Generation: generation, Node: f.Node, Attempt: f.Attempt,
		Total: d.total, N: d.n[f.Partition], Blocks: []Block{},
	}
	f.own, f.others, f.best = packer{}, make([]packer, f.Settings.Partitions), nil
}

// addRecord counts a record, and keeps it until the commit.
func (f *filter) addRecord() error {
	if !f.begun {
		return errors.New("a record arrived before the first window mark\nhint: frontier serve -exchange begins with a mark; every stage must pass it on between the same records")
	}
	rec, c := &f.rec, f.commit
	switch {
	case rec.URL == "" && rec.Cost > 0:
		return errors.New("a query was answered: a crawl on several machines cannot search\nhint: leave out search, so that queries are not answered")
	case rec.URL == "":
		f.Tally.Skip("query")
		return nil
	case rec.IsOutcome():
		c.Outcomes++
		if !rec.Free() {
			c.Cost++
		}
		if rec.Relevant == wire.True {
			c.Relevant++
		}
		if err := f.add(&f.own, rec); err != nil {
			return err
		}
		return f.follow(rec)
	}
	c.Added++
	p := f.owner(rec.URL)
	if p != f.Partition {
		c.Sent++
		return f.add(&f.others[p], rec)
	}
	if rec.Priority.Kind != wire.Null {
		f.best = append(f.best, rec.Priority.Or(0))
	}
	return f.add(&f.own, rec)
}

// owner returns the partition of an address. An invalid address stays in this partition, whose store
// refuses it.
func (f *filter) owner(url string) int {
	u, err := weburl.Parse(url)
	if err != nil {
		return f.Partition
	}
	return partition.Of(u.Host(), f.Settings.Partitions)
}

// add appends a record to the packer of a destination.
func (f *filter) add(to *packer, rec *wire.Record) error {
	f.line.Reset()
	w := wire.NewWriter(&f.line)
	if err := w.Write(rec); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return to.add(f.line.Bytes())
}

// follow proposes the target of a redirect that fetch -partition has not followed because the target
// is on a host of another partition.
func (f *filter) follow(rec *wire.Record) error {
	if rec.Error != "" || rec.StatusCode/100 != 3 {
		return nil
	}
	from := rec.URL
	if rec.FinalURL != "" {
		from = rec.FinalURL
	}
	base, err := weburl.Parse(from)
	if err != nil {
		return nil //nolint:nilerr // there is no base to resolve against
	}
	for _, h := range rec.Headers {
		if h.Name != "location" || len(h.Values) == 0 {
			continue
		}
		to, err := base.Resolve(h.Values[0])
		if err != nil {
			return nil //nolint:nilerr // the target is not an address
		}
		p := partition.Of(to.Host(), f.Settings.Partitions)
		if p == f.Partition {
			return nil
		}
		var link wire.Record
		link.V, link.URL, link.Generation, link.Depth = wire.Version, to.String(), f.generation+1, rec.Depth
		link.Via, link.Operator, link.Niche, link.Priority = rec.URL, rec.Operator, "", rec.Priority
		f.commit.Added++
		f.commit.Sent++
		return f.add(&f.others[p], &link)
	}
	return nil
}

// mark handles a window mark: it ends the current generation. The first mark has the number of the last
// committed generation.
func (f *filter) mark(ctx context.Context) error {
	g := f.rec.Generation
	from, err := f.rec.Mark()
	if err != nil {
		return err
	}
	switch {
	case !f.begun:
		if err := f.resume(ctx, g); err != nil {
			return err
		}
	case g != f.generation:
		return fmt.Errorf("window mark %d received in generation %d\nhint: start frontier serve and exchange together", g, f.generation)
	default:
		if err := f.end(ctx, from); err != nil {
			return err
		}
	}
	if err := f.receive(ctx, g); err != nil {
		return err
	}
	d := f.ledger.decide(g + 1)
	f.ledger.forget(g + 1)
	f.begun = true
	f.begin(g+1, d)
	m := wire.Mark{N: &d.n[f.Partition], End: d.end}
	if !d.due.IsZero() {
		m.Due = d.due.UTC().Format(time.RFC3339)
	}
	line, err := wire.AppendMark(nil, g, m)
	if err != nil {
		return err
	}
	return f.write(line)
}

func (f *filter) write(lines []byte) error {
	if _, err := f.Out.Write(lines); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	return nil
}

// resume continues after generation g. The store has this generation, so the stream must have it, too.
func (f *filter) resume(ctx context.Context, g int) error {
	f.generation = g
	f.last = &Commit{}
	if g > 0 {
		c, err := f.first(ctx, f.Partition, g)
		if err != nil {
			return err
		}
		if c == nil {
			return fmt.Errorf("the store of the partition holds generation %d, and the stream does not: the stream was replaced or has lost acknowledged messages\nhint: restore the stream; servers with sync_interval: always lose nothing in a power failure; a new crawl needs another name and directory", g)
		}
		f.last = c
	}
	for h := f.ledger.first(g + 1); h < g-f.Settings.Lag; h++ {
		if err := f.await(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// end commits the current generation and passes its records on.
func (f *filter) end(ctx context.Context, from wire.Mark) error {
	c := f.commit
	c.Spent, c.Found = f.last.Spent+c.Cost, f.last.Found+c.Relevant
	c.Stop = from.Stop
	c.Waiting = len(f.best) + len(from.Best)
	if f.Settings.Share == ByPriority {
		c.Best = highest(append(f.best, from.Best...), min(wire.MaxBest, f.Settings.Partitions*f.Settings.Size))
	}
	if c.Due = from.Due; c.Due != "" {
		c.At = time.Now().UTC().Format(time.RFC3339)
	}
	if c.Cost > c.N {
		return fmt.Errorf("%d pages were fetched, and only %d addresses were leased\nhint: a stage adds records", c.Cost, c.N)
	}
	if err := f.publish(ctx, strconv.Itoa(f.Partition), f.own.pieces, true); err != nil {
		return err
	}
	for p := range f.others {
		if err := f.publish(ctx, strconv.Itoa(p), f.others[p].pieces, true); err != nil {
			return err
		}
	}
	if err := f.publishFiles(ctx); err != nil {
		return err
	}
	c.Digest = c.digest()
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if len(data) > maxCommit {
		return fmt.Errorf("the commit has %d bytes, and at most %d are permitted\nhint: use a smaller -size", len(data), maxCommit)
	}
	if err := f.retry(ctx, func() error { return f.Stream.PublishFirst(ctx, f.subjects.commit(f.Partition, c.Generation), data) }); err != nil {
		return err
	}
	valid, err := f.awaitFirst(ctx, f.Partition, c.Generation)
	if err != nil {
		return err
	}
	if valid.Attempt != c.Attempt && valid.Digest != c.Digest {
		return fmt.Errorf("%w: node %q has committed the generation, with another result", ErrFenced, valid.Node)
	}
	f.last = valid
	for _, piece := range f.own.pieces {
		if err := f.write(piece); err != nil {
			return err
		}
	}
	return nil
}

// highest returns the n highest priorities in descending order.
func highest(priorities []float64, n int) []float64 {
	slices.SortFunc(priorities, func(a, b float64) int { return cmp.Compare(b, a) })
	return priorities[:min(n, len(priorities))]
}

// publish publishes pieces for a destination, and lists them in the commit.
func (f *filter) publish(ctx context.Context, to string, pieces [][]byte, records bool) error {
	for k, data := range pieces {
		b := Block{To: to, Bytes: len(data), Sum: sum(data)}
		if records {
			b.Records = bytes.Count(data, []byte("\n"))
		}
		message, subject := pack(data), f.block(to, f.generation, f.Partition, k)
		err := f.retry(ctx, func() (err error) {
			b.Seq, err = f.Stream.Publish(ctx, subject, message, f.Attempt+" "+subject)
			return err
		})
		if err != nil {
			return err
		}
		f.commit.Blocks = append(f.commit.Blocks, b)
	}
	return nil
}

// publishFiles publishes what the generation has appended to the journal of the strategy, and the
// topic if it was expanded.
func (f *filter) publishFiles(ctx context.Context) error {
	f.commit.Journal = f.last.Journal
	if f.State != "" {
		delta, err := readFrom(filepath.Join(f.State, journalName), f.last.Journal)
		if err != nil {
			return err
		}
		f.commit.Journal += int64(len(delta))
		if err := f.publish(ctx, toJournal, cut(delta), false); err != nil {
			return err
		}
	}
	if f.Windows == "" {
		return nil
	}
	topic, err := atomicfile.ReadFile(run.File(f.Windows, f.generation, run.Topic), maxTopic)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.publish(ctx, toTopic, cut(topic), false)
}

const (
	journalName = "journal" // the file of the journal in the directory of the strategy
	maxTopic    = 64 << 20  // maximum size of a topic file, in bytes
	maxDelta    = 1 << 30   // maximum number of bytes that a generation appends to the journal
)

// readFrom returns the content of a file from offset on.
func readFrom(name string, offset int64) ([]byte, error) {
	file, err := atomicfile.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) && offset == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	n := info.Size() - offset
	if n < 0 || n > maxDelta {
		return nil, fmt.Errorf("%s has %d bytes, and %d of them were sent before: it is not the journal of this crawl\nhint: exchange restore writes it anew", name, info.Size(), offset)
	}
	data := make([]byte, n)
	if _, err := file.ReadAt(data, offset); err != nil && n > 0 {
		return nil, err
	}
	return data, nil
}

// receive waits for the barrier after generation g, and passes on the records that other partitions
// have sent.
func (f *filter) receive(ctx context.Context, g int) error {
	if g == 0 {
		if err := f.passOn(ctx, 0, f.Settings.Seeds); err != nil {
			return err
		}
	}
	known := g - f.Settings.Lag
	if known < 1 {
		return nil
	}
	if err := f.await(ctx, known); err != nil {
		return err
	}
	var blocks []Block
	for p, c := range f.ledger.commits[known] {
		if p != f.Partition {
			blocks = append(blocks, c.Blocks...)
		}
	}
	return f.passOn(ctx, known, blocks)
}

// passOn writes the blocks of a generation that are for this partition. It checks all of them before
// it writes the first.
func (f *filter) passOn(ctx context.Context, g int, blocks []Block) error {
	contents, err := f.fetch(ctx, strconv.Itoa(f.Partition), g, blocks)
	if err != nil {
		return err
	}
	for _, data := range contents {
		if err := f.write(data); err != nil {
			return err
		}
	}
	return nil
}

// fetch returns the contents of the blocks that are for a destination, in their order.
func (f *filter) fetch(ctx context.Context, to string, g int, blocks []Block) ([][]byte, error) {
	return fetchBlocks(ctx, f.retryer(), f.Stream, f.subjects, to, g, blocks)
}

// collect adds the existing commits of a generation to the ledger, and returns the partitions whose
// commits are missing.
func (f *filter) collect(ctx context.Context, g int) (missing []int, err error) {
	for m, err := range f.retryer().messages(ctx, f.Stream, f.commits(g)) {
		if err != nil {
			return nil, err
		}
		p, generation, ok := f.parseCommit(m.Subject)
		if !ok || generation != g || p < 0 || p >= f.Settings.Partitions {
			continue // the subject does not belong to a partition of this crawl
		}
		if of := f.ledger.commits[g]; of != nil && of[p] != nil {
			continue // only the first commit is valid
		}
		c, err := parseCommit(m.Data, p, g, f.Settings.Partitions)
		if err != nil {
			return nil, err
		}
		f.ledger.add(c)
	}
	return f.ledger.missing(g), nil
}

// await waits until all partitions have committed a generation, and adds their commits to the
// ledger.
func (f *filter) await(ctx context.Context, g int) error {
	if len(f.ledger.missing(g)) == 0 {
		return nil
	}
	changed, stop, err := f.Stream.Watch(f.commits(g))
	if err != nil {
		return err
	}
	defer stop()
	begun, warned := time.Now(), 30*time.Second
	for wait := minPoll; ; wait = min(2*wait, maxPoll) {
		missing, err := f.collect(ctx, g) // reads all again, because a server that lags behind may not have returned all messages before
		if err != nil || len(missing) == 0 {
			return err
		}
		if waited := time.Since(begun); waited > warned {
			f.Log.Warn("waiting for other partitions", "crawl", f.Name, "generation", g, "missing", missing, "seconds", int(waited.Seconds()))
			warned *= 2
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-f.ended:
			return errInputEnded
		case <-changed:
			wait = minPoll // the server that answers may lag behind the server that notified
		case <-time.After(wait):
		}
	}
}

// errInputEnded is returned if the input ends while the filter waits for other partitions.
var errInputEnded = errors.New("the input has ended")

const (
	minPoll    = 5 * time.Millisecond   // first pause between requests for missing commits
	maxPoll    = 500 * time.Millisecond // longest pause between these requests
	rangeLimit = 1024                   // maximum number of messages in one answer
)

// first returns the first commit of a partition and generation; nil if there is none.
func (f *filter) first(ctx context.Context, p, g int) (*Commit, error) {
	var messages []Message
	err := f.retry(ctx, func() (err error) {
		messages, err = f.Stream.Range(ctx, f.subjects.commit(p, g), 1, 1)
		return err
	})
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return parseCommit(messages[0].Data, p, g, f.Settings.Partitions)
}

// awaitFirst returns the first commit of a partition and generation, which may be of another process.
// A commit was just published, so awaitFirst waits until the servers return one.
func (f *filter) awaitFirst(ctx context.Context, p, g int) (*Commit, error) {
	for begun := time.Now(); ; {
		c, err := f.first(ctx, p, g)
		if c != nil || err != nil {
			return c, err
		}
		if time.Since(begun) > f.Patience {
			return nil, errors.New("the servers acknowledged a commit and do not return it\nhint: exchange status shows the stream; check the servers")
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (f *filter) retryer() retryer { return retryer{f.Patience, f.Log} }

func (f *filter) retry(ctx context.Context, op func() error) error { return f.retryer().do(ctx, op) }
