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
	for _, c := range []struct{ chunk, fan, files int }{
		{1 << 20, 64, 0}, {100, 64, 25}, {100, 3, 6}, {1, 2, 9}, {1, 64, 64 + 300/64},
	} {
		dir := t.TempDir()
		s := &sorter{dir: dir, chunk: c.chunk, fan: c.fan}
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
