package main

import (
	"strings"
	"testing"
)

func TestRatiosAreThoseOfRounds(t *testing.T) {
	r, err := read(strings.NewReader(`# Of a machine
round
goos: linux
pkg: spoor/cmd/x
BenchmarkA/ours-2   	1	 100 ns/op	 10.0 pages/s	 2.0 cpu-s/1000
BenchmarkA/peer-2   	1	 100 ns/op	 5.00 pages/s	 3.0 cpu-s/1000
round
pkg: spoor/cmd/x
BenchmarkA/ours     	1	 100 ns/op	 40.0 pages/s	 2.0 cpu-s/1000
BenchmarkA/peer     	1	 100 ns/op	 10.0 pages/s	 7.0 cpu-s/1000
round
pkg: spoor/cmd/x
BenchmarkA/ours     	1	 100 ns/op	 30.0 pages/s	 2.0 cpu-s/1000
--- BENCH: BenchmarkA/ours
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.head, "\n"); got != "Of a machine" {
		t.Errorf("the head is %q", got)
	}
	for _, c := range []struct {
		row  row
		want string
	}{
		{
			row{"both", "cmd/x.BenchmarkA/ours", "cmd/x.BenchmarkA/peer", "a peer", "pages/s", 3},
			"both|3|30.0 (20.0–35.0) pages/s|2.00 (2.00–2.00)|a peer|7.50 (6.25–8.75)|3.00 (2.50–3.50)|2.50 (2.00–3.00)|3: reached",
		},
		{
			row{"one", "cmd/x.BenchmarkA/ours", "", "", "pages/s", 50},
			"one|3|30.0 (20.0–35.0) pages/s|2.00 (2.00–2.00)|||||50: **missed**",
		},
		{
			row{"no peer", "cmd/x.BenchmarkA/ours", "cmd/x.BenchmarkA/other", "a peer", "pages/s", 3},
			"no peer|3|30.0 (20.0–35.0) pages/s|2.00 (2.00–2.00)|a peer: not measured||||",
		},
		{
			row{"nothing", "cmd/x.BenchmarkB", "", "", "pages/s", 3},
			"nothing|0|not measured||||||",
		},
	} {
		if got := strings.Join(r.cells(c.row), "|"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.row.job, got, c.want)
		}
	}
}

func TestEmptyColumnsAreLeftOut(t *testing.T) {
	r, err := read(strings.NewReader("round\npkg: spoor/x\nBenchmarkA 1 7 ns/op 1234.5 pages/s\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := r.table([]row{{"a job", "x.BenchmarkA", "", "", "pages/s", 0}})
	want := "|  | n | spoor |\n|---|--:|--:|\n| a job | 1 | 1234 (1234–1234) pages/s |\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
