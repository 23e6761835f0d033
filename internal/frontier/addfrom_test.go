package frontier

import (
	"fmt"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// Every record is read once and in order, malformed lines are reported by number, and
// blocks of large records stay small.
func TestPrefetch(t *testing.T) {
	var in strings.Builder
	var want []string
	n := 1000 / step(4)
	for i := range n {
		if i%7 == 3 {
			fmt.Fprintln(&in, "not a record")
			continue
		}
		url := fmt.Sprintf("http://a.org/%d", i)
		fmt.Fprintf(&in, `{"v":1,"url":%q,"text":%q}`+"\n", url, strings.Repeat("x", i%11*10_000))
		want = append(want, url)
	}
	for _, strict := range []bool{false, true} {
		r := wire.NewReader(strings.NewReader(in.String()), Sections)
		a := startPrefetch(r, strict)
		var got []string
		bad := 0
		for {
			b := <-a.full
			size := 0
			for i, url := range b.urls {
				if b.recs[i].URL != url {
					t.Fatalf("record %s has URL %s", b.recs[i].URL, url)
				}
				size += b.recs[i].Size()
				got = append(got, strings.Clone(url))
			}
			if size > 2<<20 {
				t.Errorf("a block of %d bytes", size)
			}
			for _, e := range b.malformed {
				if e.Line%7 != 4 {
					t.Errorf("line %d is reported as malformed", e.Line)
				}
			}
			bad += len(b.malformed)
			if b.err != nil {
				break
			}
			a.free <- b
		}
		close(a.stop)
		if strict {
			want = want[:3]
		}
		if strings.Join(got, " ") != strings.Join(want, " ") || !strict && bad != n-len(want) || strict && bad > 0 {
			t.Errorf("strict %v: %d records instead of %d, and %d malformed lines", strict, len(got), len(want), bad)
		}
	}
}
