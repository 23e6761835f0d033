package main

import (
	"strings"
	"testing"
)

func TestRatiosWithinRounds(t *testing.T) {
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
			"both|30.0 (20.0–35.0) pages/s|2.00|a peer|7.50 (6.25–8.75)|3.00 (2.50–3.50)|2.50 (2.00–3.00)|3: reached",
		},
		{
			row{"one", "cmd/x.BenchmarkA/ours", "", "", "pages/s", 50},
			"one|30.0 (20.0–35.0) pages/s|2.00|||||50: **missed**",
		},
		{
			row{"no peer", "cmd/x.BenchmarkA/ours", "cmd/x.BenchmarkA/other", "a peer", "pages/s", 3},
			"no peer|30.0 (20.0–35.0) pages/s|2.00|a peer: not measured||||",
		},
		{
			row{"nothing", "cmd/x.BenchmarkB", "", "", "pages/s", 3},
			"nothing|not measured||||||",
		},
	} {
		if got := strings.Join(r.cells(c.row), "|"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.row.job, got, c.want)
		}
	}
}

func TestEmptyColumnsAreOmitted(t *testing.T) {
	r, err := read(strings.NewReader("round\npkg: spoor/x\nBenchmarkA 1 7 ns/op 1234.5 pages/s\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := r.table([]row{{"a job", "x.BenchmarkA", "", "", "pages/s", 0}})
	want := "|  | spoor |\n|---|--:|\n| a job | 1234 pages/s |\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestFrontierReport(t *testing.T) {
	r, err := read(strings.NewReader(`# Of a machine
round
pkg: spoor/internal/bench/stores
BenchmarkStore/1e6/fsync=1000/pebble-2 1 250 links/s 6 cpu-us/link 713000 urls
BenchmarkStore/1e6/fsync=1000/spoor-2 1 1000 links/s 2 cpu-us/link 1002400 urls
BenchmarkStore/1e5/fsync=28000/bbolt-2 1 7 links/s 2.5 compact-s 32 long-MiB 8 short-MiB 100800 urls
BenchmarkStore/1e7/fsync=28000/spoor-2 1 600000 links/s 90.5 next-ms 2048 most-MiB 10001600 urls
BenchmarkStore/1e6/fsync=28000/spoor-2 1 720000 links/s 1002400 urls
BenchmarkFsync-2 1000 400000 ns/op 0.4 ms
`))
	if err != nil {
		t.Fatal(err)
	}
	got := r.storeTable([]column{{"links/s", "links/s", plain}, {"faster", "links/s", ratio}, {"cheaper", "cpu-us/link", inverse}})
	want := `| URLs | fsync after | | links/s | faster | cheaper |
|--:|--:|---|--:|--:|--:|
| 100,000 | 28,000 | bbolt | 7.00 |  |  |
| 1,000,000 | 1,000 | spoor | 1000 |  |  |
| 1,000,000, cut at 713,000 | 1,000 | pebble | 250 | > 4.00 | > 3.00 |
| 1,000,000 | 28,000 | spoor | 720000 |  |  |
| 10,000,000 | 28,000 | spoor | 600000 |  |  |
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	text := r.frontier()
	for _, want := range []string{
		"; do not edit.\nOf a machine\nRounds: 1. ",
		"maximum, MiB |\n|--:|--:|---|--:|--:|--:|--:|--:|\n| 100,000 | 28,000 | bbolt |  | 2.50 | 32.0 | 8.00 |  |\n\n## Targets of spoor",
		"| links/s, 100,000 URLs, fsync a generation | not measured | ≥ 500,000 |\n",
		"| links/s, 10,000,000 URLs, fsync a generation | 600000 | ≥ 500,000: reached |\n",
		"over those with 10,000,000 | 1.20 | ≤ 1.3: reached |\n",
		"| ms for 1,000 addresses, 10,000,000 URLs | 90.5 | ≤ 100: reached |\n",
		"filled with 10,000,000 URLs | 2048 | ≤ 1,024: **missed** |\n",
		"take 0.400 ms",
		"2,500,000 links/s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

func TestUnitsAndFetchingReport(t *testing.T) {
	r, err := read(strings.NewReader(`round
pkg: spoor
BenchmarkLiveFetch/modern/gzip/fetch-2 1 34.4 KiB/page 0.5 cpu-s/1000 300 pages/s
BenchmarkLiveFetch/modern/gzip/wget2-2 1 34.4 KiB/page 1.0 cpu-s/1000 100 pages/s
round
pkg: spoor
BenchmarkLiveFetch/modern/gzip/fetch-2 1 34.4 KiB/page 0.5 cpu-s/1000 200 pages/s
BenchmarkLiveFetch/modern/gzip/wget2-2 1 34.4 KiB/page 1.0 cpu-s/1000 100 pages/s
`))
	if err != nil {
		t.Fatal(err)
	}
	want := "| benchmark | pages/s | MB/s |\n|---|--:|--:|\n" +
		"| LiveFetch/modern/gzip/fetch | 250 (225–275) |  |\n| LiveFetch/modern/gzip/wget2 | 100 |  |\n"
	if got := r.units([]string{"pages/s", "MB/s"}); got != want {
		t.Errorf("units:\n%s\nwant\n%s", got, want)
	}
	want = "| modern gzip | 34.4 | fetch | 250 (225–275) | 2.50 (2.25–2.75) |  |  |  | 0.500 | 0.500 |\n"
	if got := r.fetching(); !strings.Contains(got, want) {
		t.Errorf("the report lacks\n%s:\n%s", want, got)
	}
}
