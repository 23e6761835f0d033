package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"

	"spoor/cmd/internal/filter"
	"spoor/internal/wire"
)

// A memo gives for every record what a command would have made of it.
//
// Records are read, and it is found out who answers each, by [memo.ask]; the answers are
// waited for, and written in the order of the records, by [memo.answer]. In between is a
// [queue].
type memo struct {
	filter.Stream
	argv  []string
	tally *filter.Tally

	store *store                              // that answers; nil: the command does
	keep  func(url string, rest []byte) error // what is done with the command's answers; nil: nothing

	remembered, asked int64 // records, by who answered
}

// all answers all records of in.
func (m *memo) all(in io.Reader, out io.Writer) error {
	q := newQueue()
	answered := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		err := m.answer(q, out)
		q.leave()
		cancel() // a command that nobody listens to takes no more records
		answered <- err
	}()
	err := m.ask(ctx, in, q)
	q.end()
	err = cmp.Or(<-answered, err)
	m.tally.Close(slog.Int64("remembered", m.remembered), slog.Int64("asked", m.asked))
	return err
}

// --- who answers --------------------------------------------------------------

// ask puts an item into the queue for every record of in, and the records that the store
// has no answer for into the command, which is started when there is one. It ends early
// if nobody waits for the items.
func (m *memo) ask(ctx context.Context, in io.Reader, q *queue) error {
	r := wire.NewReader(in, 0)
	r.Limit = int(m.Limit)
	var c *command
	release := func() { // lets the command come to its end
		if c != nil {
			c.close()
			q.push(item{ended: c})
			c = nil
		}
	}
	defer release()
	var rec wire.Record
	for {
		err := m.Read(r, m.tally, &rec)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		it, known, err := m.look(&rec)
		if err != nil {
			return err
		}
		if !known {
			if c == nil {
				if c, err = start(ctx, m.argv, m.Stderr); err != nil {
					return err
				}
			}
			it.from = c
			m.asked++
		}
		if !q.push(it) {
			return nil
		}
		if !known && c.write(&rec) != nil || c != nil && !r.Buffered() && c.flush() != nil {
			return nil // why is what the command says when its answer is waited for
		}
		if !q.room(c) { // the command may wait for more records before it answers
			release()
			q.room(nil)
		}
	}
}

// look finds out whether the answer for a record is known without the command.
func (m *memo) look(rec *wire.Record) (it item, known bool, err error) {
	if rec.URL == "" {
		it.own, err = line(rec)
		return it, true, err
	}
	it.url = string([]byte(rec.URL))
	if m.store != nil {
		if it.answer, known, err = m.store.find(rec.URL); known {
			m.remembered++
			rec.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
			it.own, err = line(rec)
		}
		return it, known, err
	}
	// What the command passes on is not what it made.
	url := it.url
	c := rec.Clone()
	c.Drop(wire.All)
	c.URL = url // not touched, so it is not written
	it.own, err = line(c)
	return it, false, err
}

// line is a record as it is written.
func line(rec *wire.Record) ([]byte, error) {
	var b bytes.Buffer
	w := wire.NewWriter(&b)
	err := cmp.Or(w.Write(rec), w.Flush())
	return b.Bytes(), err
}

// --- what they answer ---------------------------------------------------------

// answer writes what there is for every item of the queue.
func (m *memo) answer(q *queue, out io.Writer) error {
	b := bufio.NewWriterSize(out, 1<<16)
	var scratch []byte
	for {
		if q.empty() { // the next item may take its time
			if err := b.Flush(); err != nil {
				return fmt.Errorf("writing records: %w", err)
			}
		}
		it, ok := q.pop()
		if !ok {
			return nil
		}
		var err error
		switch {
		case it.ended != nil:
			err = it.ended.wait()
		case it.from != nil:
			err = m.made(it, b)
		case it.answer == answer{}:
			_, err = b.Write(it.own)
		default:
			if scratch, err = m.store.read(it.answer, scratch); err == nil {
				b.Write(bytes.TrimSuffix(it.own, []byte("}\n")))
				_, err = b.Write(scratch)
			}
		}
		if err != nil {
			return err
		}
		if it.ended == nil {
			m.tally.Out++
		}
	}
}

// made passes on what the command made of a record, and keeps it.
func (m *memo) made(it item, b *bufio.Writer) error {
	if !it.from.answered() { // it may take its time
		if err := b.Flush(); err != nil {
			return fmt.Errorf("writing records: %w", err)
		}
	}
	rec, err := it.from.read(it.url)
	if err != nil {
		return err
	}
	whole, err := line(rec)
	if err != nil {
		return err
	}
	if _, err := b.Write(whole); err != nil || m.keep == nil {
		return err
	}
	rec.Drop(wire.Address)
	rec.URL = it.url // not touched, so it is not written
	rest, err := line(rec)
	if err != nil {
		return err
	}
	if rest, err = without(rest, it.own); err != nil {
		return fmt.Errorf("what the command gave for %.200s: %w", it.url, err)
	}
	return m.keep(it.url, rest)
}

// without is an object, as a line, without the members that another has, word for word.
func without(object, other []byte) ([]byte, error) {
	remove := map[string]bool{}
	for member, err := range members(other) {
		if err != nil {
			return nil, err
		}
		remove[string(member)] = true
	}
	if len(remove) == 0 {
		return object, nil
	}
	kept := []byte{'{'}
	for member, err := range members(object) {
		if err != nil {
			return nil, err
		}
		if !remove[string(member)] {
			kept = append(append(kept, member...), ',')
		}
	}
	return append(bytes.TrimSuffix(kept, []byte{','}), "}\n"...), nil
}

// members are the members of an object, as they stand there.
func members(object []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		d := json.NewDecoder(bytes.NewReader(object))
		d.Token() // the brace
		for d.More() {
			start := d.InputOffset()
			_, err := d.Token() // the name
			var value json.RawMessage
			if err = cmp.Or(err, d.Decode(&value)); err != nil {
				yield(nil, err)
				return
			}
			if !yield(bytes.TrimLeft(object[start:d.InputOffset()], ", \t\r"), nil) {
				return
			}
		}
	}
}
