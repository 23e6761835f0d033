package filter

import "spoor/internal/wire"

// A mark is a line that ends a window of an endless stream, as an end of file ends a
// generation: frontier serve sends it behind the addresses of the window, every stage
// passes it on behind all that it makes of these, and with it comes back what the
// window was. It is a query that nobody answers, so that what knows nothing of marks
// passes it on as it passes queries on.
const (
	markOperator = "mark"
	markQuery    = "mark"
)

// IsMark tells whether rec, read with [wire.Address], is a mark; its generation is the
// number of the window that it ends.
func IsMark(rec *wire.Record) bool { return rec.URL == "" && rec.Operator == markOperator }

// SetMark makes rec the mark of a window.
func SetMark(rec *wire.Record, generation int) {
	rec.Reset()
	rec.V, rec.Generation, rec.Operator, rec.Query = wire.Version, generation, markOperator, markQuery
}
