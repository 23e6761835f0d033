package warc

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/atomicfile"
	"spoor/internal/collection"
	"spoor/internal/wire"
)

// pack is warc pack.
type pack struct {
	*command
	out      string
	force    bool
	scored   filter.Strings
	relevant bool
	title    string
	created  time.Time
	cache    string
}

func newPack(c *command) func() error {
	p := &pack{command: c}
	c.flags.StringVar(&p.out, "o", "", "the `file` to write, .wacz or .warc.gz; required")
	c.flags.BoolVar(&p.force, "force", false, "replace an existing file")
	c.flags.Var(&p.scored, "scored", "list the pages in this `file` of scored records, with title and score; gzip and zstd are decompressed, - is stdin; may be repeated")
	c.flags.BoolVar(&p.relevant, "relevant", false, "with -scored: pack only the relevant pages")
	c.flags.StringVar(&p.title, "title", "", "`title` of the collection (default: the name of the file)")
	c.flags.Func("created", "creation `time` (RFC 3339) of the collection (default: the time of the newest record)", func(v string) (err error) {
		p.created, err = time.Parse(time.RFC3339, v)
		return err
	})
	filter.CacheFlag(c.flags, &p.cache, "indexes of archives, with -scored")
	return p.run
}

func (p *pack) run() error {
	isWARC := strings.HasSuffix(p.out, ".warc.gz")
	p.damaged = "left out what cannot be read of an archive"
	switch {
	case p.out == "":
		return filter.Usagef("no output file given\nhint: -o OUT.wacz")
	case len(p.args) == 0:
		return filter.Usagef("no archives given\nhint: warc pack -o %s FILE...", p.out)
	case !isWARC && !strings.HasSuffix(p.out, ".wacz"):
		return filter.Usagef("%s is neither a WACZ nor a WARC compressed with gzip\nhint: -o OUT.wacz, or -o OUT.warc.gz", p.out)
	case isWARC && len(p.scored) > 0 && !p.relevant:
		return filter.Usagef("a WARC has no list of pages\nhint: with -relevant only the relevant pages are packed; -o OUT.wacz has a list")
	case isWARC && (p.title != "" || !p.created.IsZero()):
		return filter.Usagef("a WARC has no -title and no -created\nhint: -o OUT.wacz")
	case p.relevant && len(p.scored) == 0:
		return filter.Usagef("-relevant needs scored records\nhint: -scored FILE, or -scored - for stdin")
	case slices.Contains(p.args, archive.Input):
		return filter.Usagef("archives are read twice, so stdin cannot be one\nhint: save it to a file")
	}
	paths, err := archive.Files(p.args)
	if err != nil {
		return err
	}
	if err := checkOutput(p.out, p.force, slices.Concat(paths, p.scored)); err != nil {
		return err
	}
	if p.title == "" {
		p.title = strings.TrimSuffix(filepath.Base(p.out), ".wacz")
	}
	options := collection.Options{
		PackOptions: archive.PackOptions{
			Title:    p.title,
			Software: "spoor/" + filter.Version,
			Created:  p.created,
			Temp:     filepath.Dir(p.out),
			Report:   func(path string, err error) { p.fault(path, err) },
		},
		Archives: p.args,
		WARC:     isWARC,
		Relevant: p.relevant,
		NotFound: p.notFound,
		Index:    archive.IndexOptions{Cache: p.cache},
	}
	if len(p.scored) > 0 {
		options.Scored = p.readScored
	}
	ctx, stop := filter.NotifyContext(interrupted)
	defer stop()
	var result collection.Result
	err = atomicfile.Write(p.out, func(w io.Writer) (err error) {
		result, err = collection.Write(ctx, w, options)
		return err
	})
	if err != nil {
		return err
	}
	p.tally.In, p.tally.Out = result.Records, result.Pages
	if isWARC {
		p.tally.Out = result.Repacked
	}
	for reason, n := range map[string]int64{"duplicate": result.Duplicates, "not_relevant": result.NotRelevant} {
		if n > 0 {
			p.tally.Skipped[reason] = n
		}
	}
	p.tally.Close(slog.Int64("archives", result.Archives), slog.Int64("bytes", result.Bytes))
	if n := p.tally.Skipped["not_archived"]; n > 0 {
		return fmt.Errorf("%d of %d pages are whole in none of the archives; %s has the others\nhint: name all archives that they were fetched from, also where -warc-done put them", n, result.Wanted, p.out)
	}
	return nil
}

// notFound counts a page that the archives do not hold whole, and logs the first few.
func (p *pack) notFound(rec *wire.Record) {
	const maxLogged = 5
	p.tally.Skipped["not_archived"]++
	switch n := p.tally.Skipped["not_archived"]; {
	case n <= maxLogged:
		p.log.Warn("left out a page that the archives do not hold, or hold only damaged", "url", collection.URL(rec), "warc_filename", rec.WARCFilename)
	case n == maxLogged+1:
		p.log.Warn("more such pages are counted, but not named")
	}
}

// readScored calls f with the scored records of pages.
func (p *pack) readScored(f func(*wire.Record) error) error {
	in, err := filter.Open(p.stdin, slices.Clone(p.scored))
	if err != nil {
		return err
	}
	defer in.Close()
	r := wire.NewReader(in, wire.Address|wire.Fetch|wire.Parse|wire.Score)
	stream := filter.Stream{}
	var rec wire.Record
	for {
		err := stream.Read(r, p.tally, &rec)
		switch {
		case errors.Is(err, io.EOF):
			return p.tally.ErrIfNoneValid()
		case err != nil:
		case rec.StatusCode == 0 || rec.Error != "":
			p.tally.Skipped["no_page"]++
		default:
			err = f(&rec)
		}
		if err != nil {
			return err
		}
	}
}
