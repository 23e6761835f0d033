package wire_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"spoor/internal/wire"
)

// A stage decodes the sections that it reads, fills its own, and copies the rest.
func Example() {
	in := strings.NewReader(`{"v":1,"url":"http://example.org/","title":"Weaver ants","mine":{"a":1},"body":"<p>…"}
this is no record
{"v":1,"url":"http://example.com/","title":"Boats"}
`)
	r := wire.NewReader(in, wire.Parse)
	w := wire.NewWriter(os.Stdout)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if err == io.EOF {
			break
		}
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok {
			fmt.Println("skipped", bad)
			continue
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		rec.Score = wire.Num(float64(strings.Count(rec.Title, "ant")))
		rec.Touch(wire.Score)
		if err := w.Write(&rec); err != nil {
			fmt.Println(err)
			return
		}
		if !r.Buffered() {
			w.Flush()
		}
	}
	w.Flush()
	// Output:
	// skipped line 2: 't' at byte 1 where { is expected
	// {"v":1,"url":"http://example.org/","title":"Weaver ants","mine":{"a":1},"score":1,"body":"<p>…"}
	// {"v":1,"url":"http://example.com/","title":"Boats","score":0}
}
