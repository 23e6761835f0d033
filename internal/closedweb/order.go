package closedweb

import (
	"bytes"
	"errors"
	"io"

	"spoor/internal/judge"
	"spoor/internal/wire"
)

// ErrNoVerdict is returned for a record without a verdict, if OnlyRelevant is set.
var ErrNoVerdict = errors.New("a record has no verdict")

// An OrderReader reads the records of crawls and returns the order in which each crawl fetched
// its pages, as numbers for [judge.Overlap]. A page has the same number in all orders. The zero
// value is ready to use.
type OrderReader struct {
	OnlyRelevant bool // replace pages without the verdict "relevant" by [judge.None]

	numbers Numbers
}

// Read reads the records of a crawl, which must have sections Address and Fetch. The order has
// an element for each unit of cost: the number of a page, or [judge.None].
func (o *OrderReader) Read(r *wire.Reader) (order []int32, err error) {
	if o.numbers == nil {
		o.numbers = Numbers{}
	}
	var line bytes.Buffer
	w := wire.NewWriter(&line)
	var rec wire.Record
	var account Account
	for {
		if err := r.Read(&rec); errors.Is(err, io.EOF) {
			return order, nil
		} else if err != nil {
			return nil, err
		}
		id := IDWithoutWeb(&rec)
		p := account.Pay(&rec, id)
		page := judge.None
		if _, decided := p.Verdict(); !decided {
			key := id.digest() // an address can be very long
			page = o.numbers.Of(string(key[:]))
			if o.OnlyRelevant {
				line.Reset()
				if err := errors.Join(w.Write(&rec), w.Flush()); err != nil {
					return nil, err
				}
				switch lineVerdict(line.Bytes()) {
				case "":
					return nil, ErrNoVerdict
				case Relevant.String():
				default:
					page = judge.None
				}
			}
		}
		for range min(p.Cost, int64(judge.MaxBudget-len(order))) {
			order = append(order, page)
		}
	}
}
