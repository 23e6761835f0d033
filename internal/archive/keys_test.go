package archive

import (
	"bytes"
	"fmt"
	"testing"
)

// A key filter has all keys of the lines, and few others.
func TestKeyFilter(t *testing.T) {
	const n = 10_000
	url := func(i int) string { return fmt.Sprintf("http://h%d.example/%d?q=%d", i%97, i, i) }
	var lines bytes.Buffer
	for i := range n {
		fmt.Fprintf(&lines, "%s20260102030405 {\"url\":%q}\n", newIndexKey(url(i)).surt, url(i))
	}
	x := &Index{data: lines.Bytes(), Meta: Meta{Captures: n}}
	for i := range lines.Len() / searchBytes {
		if !x.mayHave(newIndexKey(url(n + i))) {
			t.Fatal("the filter was made for a few lookups")
		}
	}
	wrong := 0
	for i := range 2 * n {
		has := x.mayHave(newIndexKey(url(i)))
		if i < n && !has {
			t.Fatalf("%s is missing", url(i))
		}
		if i >= n && has {
			wrong++
		}
	}
	if wrong > n/50 {
		t.Errorf("the filter has %d of %d other keys", wrong, n)
	}
	for _, size := range []int{0, 1, n} { // the first line of an index may be wrong
		if f := newKeyFilter(lines.Bytes(), size); len(f)&(len(f)-1) != 0 {
			t.Errorf("a filter for %d lines has %d words", size, len(f))
		}
	}
}
