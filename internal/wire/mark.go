package wire

// A window mark is a record that ends a window of an endless stream, as end of file ends a
// finite one. frontier serve sends it after the addresses of the window; every stage passes
// it on after everything it made of those addresses; when the mark returns, the window is
// complete. A mark is a query that no search answers, so stages that do not recognise marks
// pass them on as they pass on queries.
const (
	markOperator = "mark"
	markQuery    = "mark"
)

// IsMark reports whether r, read with [Address], is a window mark. Its Generation is the
// number of the window that it ends.
func (r *Record) IsMark() bool { return r.URL == "" && r.Operator == markOperator }

// SetMark makes r the mark of window.
func (r *Record) SetMark(window int) {
	r.Reset()
	r.V, r.Generation, r.Operator, r.Query = Version, window, markOperator, markQuery
}
