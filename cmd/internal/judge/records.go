package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/closedweb"
	"spoor/internal/wire"
)

// copyRecords writes every record of in with the verdict and the class that add returns, and what the
// crawl has spent so far. It is an error if no line is a record.
func (o *options) copyRecords(in io.Reader, stdout io.Writer, tally *filter.Tally, add func(*wire.Record) (v closedweb.Verdict, class string), account *closedweb.Account) (err error) {
	out, closeTee, err := filter.Tee(stdout, o.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTee()) }()
	w := closedweb.NewWriter(out)
	w.Brief = o.brief
	r := wire.NewReader(filter.Addresses(in), o.stream.Want)
	r.Limit = int(o.stream.Limit)
	var rec wire.Record
	for {
		if err := o.stream.Read(r, tally, &rec); errors.Is(err, io.EOF) {
			return errors.Join(w.Flush(), tally.ErrIfNoneValid())
		} else if err != nil {
			return errors.Join(err, w.Flush())
		}
		if o.estimates != nil {
			if err := o.estimates.Add(&rec); err != nil {
				return errors.Join(err, w.Flush())
			}
		}
		v, class := add(&rec)
		if err := w.Write(&rec, v, class, account.Spent); err != nil {
			return err
		}
		tally.Out++
		if !r.Buffered() {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

// writeSummary writes v as a line of JSON into the file of -summary, if there is one.
func (o *options) writeSummary(v any) error {
	if o.summary == "" {
		return nil
	}
	line, err := json.Marshal(v)
	if err == nil {
		err = atomicfile.WriteBytes(o.summary, append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("-summary: %w", err)
	}
	return nil
}

// closeTally prints the closing line.
func closeTally(tally *filter.Tally, a *closedweb.Account) {
	tally.Close(slog.Int64("spent", a.Spent), slog.Int64("free", a.Free), slog.Int64("queries", a.Queries))
}
