package topic

import (
	"errors"
	"fmt"
	"io"

	"spoor/cmd/internal/filter"
	"spoor/internal/wire"
)

// eachRecord calls do for each record of files, or of stdin, and bad for each line that
// holds none. If addresses is set, a line may be an address.
func eachRecord(stdin io.Reader, files []string, addresses bool, do func(*wire.Record) error, bad func(*wire.SyntaxError)) error {
	in, err := filter.Open(stdin, files)
	if err != nil {
		return err
	}
	defer in.Close()
	var lines io.Reader = in
	if addresses {
		lines = filter.Addresses(in)
	}
	r := wire.NewReader(lines, wire.All)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		line, isLine := errors.AsType[*wire.SyntaxError](err)
		switch {
		case err == nil:
			if err := do(&rec); err != nil {
				return err
			}
		case isLine:
			bad(line)
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// badLines counts lines that hold no record.
type badLines struct {
	n     int
	first error
}

func (b *badLines) add(err error) {
	if b.n++; b.first == nil {
		b.first = err
	}
}

// report reports all of them in one line; prefix names their origin.
func (b *badLines) report(stderr io.Writer, prefix string) {
	if b.n > 0 {
		fmt.Fprintf(stderr, "topic: %sskipped %d lines that are no record: %v\n", prefix, b.n, b.first)
	}
}
