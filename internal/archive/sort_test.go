package archive

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSorterMerges(t *testing.T) {
	const number = 300
	var want []string
	for i := range number {
		want = append(want, fmt.Sprintf("%03d %d\n", i*7%number, i))
	}
	unsorted := slices.Clone(want)
	slices.Sort(want)
	for _, c := range []struct{ chunk, files int }{
		{1 << 20, 0}, {100, 25}, {1, mergeFan + number/mergeFan},
	} {
		dir := t.TempDir()
		s := &sorter{dir: dir, chunk: c.chunk}
		most := 0
		for _, line := range unsorted {
			if err := s.add([]byte(line)); err != nil {
				t.Fatal(err)
			}
			most = max(most, len(names(t, dir)))
		}
		var got strings.Builder
		if err := s.write(&got); err != nil {
			t.Fatal(err)
		}
		if got.String() != strings.Join(want, "") {
			t.Errorf("%+v: another order", c)
		}
		if most > c.files {
			t.Errorf("%+v: %d files at once", c, most)
		}
		s.close()
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("%+v: left behind: %v", c, left)
		}
	}
}
