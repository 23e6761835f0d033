package stores

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// add adds the links of a generation, and returns how many were new.
func add(t *testing.T, s Store, lines []byte) (fresh int) {
	t.Helper()
	r := wire.NewReader(bytes.NewReader(lines), frontier.Sections)
	var rec wire.Record
	for i := range bytes.Count(lines, []byte("\n")) {
		if err := r.Read(&rec); err != nil {
			t.Fatal(err)
		}
		added, err := s.Add(&rec)
		if err != nil {
			t.Fatal(err)
		}
		if added {
			fresh++
		}
		if i%Batch == Batch-1 {
			if err := s.Commit(i%3 == 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Commit(true); err != nil {
		t.Fatal(err)
	}
	return fresh
}

// handOut returns the URLs that are handed out.
func handOut(t *testing.T, s Store, n, perHost int) (urls []string) {
	t.Helper()
	lines, err := s.Next(n, perHost, time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "{") {
			var rec struct{ URL string }
			if err := json.Unmarshal([]byte(line), &rec); err != nil {
				t.Fatal(err)
			}
			line = rec.URL
		}
		urls = append(urls, line)
	}
	return urls
}

func TestStoresDoTheSameJob(t *testing.T) {
	const n, perHost = 300, 2
	var links Links
	batches := [][]byte{links.Append(nil), links.Append(nil), links.Append(nil)}
	priorities := map[string]float64{}
	for _, lines := range batches {
		for line := range bytes.Lines(lines) {
			var rec struct {
				URL      string
				Priority float64
			}
			if err := json.Unmarshal(line, &rec); err != nil {
				t.Fatal(err)
			}
			priorities[rec.URL] = rec.Priority
		}
	}
	if len(priorities) != 3*Fresh {
		t.Fatalf("three generations have %d URLs instead of %d", len(priorities), 3*Fresh)
	}
	var want []float64 // those of the first database
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			var got []float64
			out := map[string]bool{}
			for generation, lines := range batches {
				s, err := Open(name, dir)
				if err != nil {
					t.Fatal(err)
				}
				if fresh := add(t, s, lines); fresh != Fresh {
					t.Errorf("generation %d: %d URLs are new instead of %d", generation, fresh, Fresh)
				}
				hosts := map[string]int{}
				for _, url := range handOut(t, s, n, perHost) {
					if _, known := priorities[url]; !known || out[url] {
						t.Errorf("%s was handed out twice or never added", url)
					}
					out[url] = true
					host := strings.Split(url, "/")[2]
					if hosts[host]++; hosts[host] > perHost {
						t.Errorf("generation %d: more than %d of %s", generation, perHost, host)
					}
					got = append(got, priorities[url])
				}
				if fresh := add(t, s, lines); fresh != 0 {
					t.Errorf("generation %d: %d URLs are new that had been handed out or wait", generation, fresh)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if len(got) != 3*n {
				t.Errorf("%d were handed out instead of %d", len(got), 3*n)
			}
			if name == Names()[0] {
				return // it may be fair to hosts in its own way
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("priorities %v… were handed out\nwant %v…", got[:min(5, len(got))], want[:min(5, len(want))])
			}
		})
	}
}

func TestStoresForgetAndAreCompacted(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			var s Store
			do := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			open := func() {
				t.Helper()
				var err error
				s, err = Open(name, dir)
				do(err)
			}
			open()
			var links Links
			var all []byte
			for range 3 {
				all = links.Append(all)
			}
			add(t, s, all)
			handOut(t, s, 300, 2) // some of what is forgotten is leased
			var rec wire.Record
			for n := 1; n < links.Given; n += 2 {
				do(wire.NewReader(bytes.NewReader(appendLink(nil, n)), frontier.Sections).Read(&rec))
				do(s.Forget(&rec))
			}
			do(s.Commit(true))
			do(s.Close())
			before := size(t, dir)
			open()
			do(s.Compact())
			do(s.Close())
			if after := size(t, dir); after >= before {
				t.Errorf("%.0f bytes have become %.0f", before, after)
			}
			open()
			if fresh := add(t, s, all); fresh != links.Given/2 {
				t.Errorf("%d URLs are new instead of the %d that were forgotten", fresh, links.Given/2)
			}
			do(s.Close())
			open()
			if fresh := add(t, s, all); fresh != 0 {
				t.Errorf("%d URLs are new that had been added", fresh)
			}
			do(s.Close())
		})
	}
}

func TestPlacesAreOrderedByPriority(t *testing.T) {
	priorities := []float64{1e300, 1, 0.5, 1e-300, 0, -1e-300, -1, -1e300}
	for i := range priorities[1:] {
		if bytes.Compare(place(priorities[i], 9), place(priorities[i+1], 1)) >= 0 {
			t.Errorf("%g does not come before %g", priorities[i], priorities[i+1])
		}
	}
	if bytes.Compare(place(1, 1), place(1, 2)) >= 0 {
		t.Error("fingerprints do not break ties")
	}
}

// size is how many bytes the files in a directory have.
func size(t testing.TB, dir string) (n float64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += float64(info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ExampleLinks() {
	var l Links
	line, _, _ := bytes.Cut(l.Append(nil), []byte("\n"))
	fmt.Println(string(line))
	// Output:
	// {"v":1,"url":"https://www.host103565.example/section/12/articles/be1d694dfde-0.html","generation":0,"depth":1,"via":"https://www.host100000.example/section/0/page-0.html","operator":"link","priority":0.724717,"niche":"www.host103565.example"}
}
