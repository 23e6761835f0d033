package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/wire"
)

// What a judge says of a record.
const (
	sayRelevant   = "relevant"
	sayIrrelevant = "irrelevant"
	sayUnlabelled = "unlabelled"
	sayRepeated   = "repeated"
	sayFree       = "free"
)

// maxCost is the most that one query counts for: what a record says of itself is not
// to overflow what is spent.
const maxCost = 1 << 40

// An account is what a crawl has spent so far, and on what.
type account struct {
	spent   int64 // units of cost
	free    int64 // records that cost nothing
	queries int64
	seen    map[identity]bool // what was paid for
}

// An identity is what makes two records be about one page: its number, or what else
// it is known by if that is none.
type identity struct {
	page int32
	key  string
}

// A purchase is what became of a record's cost.
type purchase struct {
	cost     int64
	query    bool
	repeated bool
}

// buy pays for a record about a page.
func (a *account) buy(rec *wire.Record, id identity) (p purchase) {
	switch {
	case rec.URL == "":
		p.query, p.cost = true, min(max(1, int64(rec.Cost)), maxCost)
		a.queries++
	case rec.Free():
		a.free++
	default:
		if a.seen == nil {
			a.seen = map[identity]bool{}
		}
		p.cost, p.repeated = 1, a.seen[id]
		if !p.repeated {
			id.key = strings.Clone(id.key) // it may be the record's
			a.seen[id] = true
		}
	}
	a.spent += p.cost
	return p
}

// A passage passes records on, each with what is said of it.
type passage struct {
	stream filter.Stream
	brief  bool

	out   io.Writer
	lines bytes.Buffer // what the writer of records writes
	w     *wire.Writer
	line  []byte
}

// keepLines is how much is written at once.
const keepLines = 64 << 10

// each has say judge every record of in, and passes it on. It says what was spent
// until then.
func (p *passage) each(in io.Reader, stdout io.Writer, tally *filter.Tally, say func(*wire.Record) (verdict string, spent int64)) (err error) {
	out, closeTee, err := filter.Tee(stdout, p.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTee()) }()
	p.out, p.w = out, wire.NewWriter(&p.lines)
	r := wire.NewReader(filter.Addresses(in), p.stream.Want)
	r.Limit = int(p.stream.Limit)
	var rec wire.Record
	for {
		err := p.stream.Read(r, tally, &rec)
		switch {
		case errors.Is(err, io.EOF):
			return p.flush()
		case err != nil:
			return errors.Join(err, p.flush())
		}
		verdict, spent := say(&rec)
		if err := p.write(&rec, verdict, spent); err != nil {
			return err
		}
		tally.Out++
		if len(p.line) >= keepLines || !r.Buffered() {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
}

// write adds a record to the lines that wait.
func (p *passage) write(rec *wire.Record, verdict string, spent int64) error {
	if p.brief {
		rec.Drop(wire.Parse | wire.Body)
	}
	p.lines.Reset()
	if err := errors.Join(p.w.Write(rec), p.w.Flush()); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	p.line = judged(p.line, p.lines.Bytes(), verdict, spent)
	return nil
}

// flush writes the lines that wait.
func (p *passage) flush() error {
	_, err := p.out.Write(p.line)
	p.line = p.line[:0]
	if err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	return nil
}
