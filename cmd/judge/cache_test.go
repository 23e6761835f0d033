package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/archive"
)

// smallWeb is the links of three pages and a redirect.
func smallWeb() *linked {
	return &linked{
		pages:   newList([]string{"http://a.example/", "http://a.example/x", "http://b.example/"}),
		aliases: newList([]string{"http://a.example/old"}),
		targets: []int32{2},
		ends:    []int{2, 2, 3},
		links:   []int32{2, 1, 0},
	}
}

// opaque lets webs be compared.
var opaque = cmp.AllowUnexported(linked{}, list{})

func TestLinksAreKeptAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.warc.graph")
	header := graphHeader{Version: graphVersion, Capture: "newest", Archives: []archiveFile{{"a.warc", 1, 2}}}
	for _, g := range []*linked{smallWeb(), {pages: newList(nil), aliases: newList(nil), targets: []int32{}, ends: []int{}, links: []int32{}}} {
		if err := saveLinks(path, header, g); err != nil {
			t.Fatal(err)
		}
		got, err := loadLinks(path, &header)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(g, got, opaque); diff != "" {
			t.Error(diff)
		}
	}
	for name, other := range map[string]graphHeader{
		"version":  {Version: graphVersion + 1, Capture: header.Capture, Archives: header.Archives},
		"capture":  {Version: graphVersion, Capture: "first", Archives: header.Archives},
		"size":     {Version: graphVersion, Capture: header.Capture, Archives: []archiveFile{{"a.warc", 2, 2}}},
		"time":     {Version: graphVersion, Capture: header.Capture, Archives: []archiveFile{{"a.warc", 1, 3}}},
		"archives": {Version: graphVersion, Capture: header.Capture, Archives: slices.Repeat(header.Archives, 2)},
	} {
		if _, err := loadLinks(path, &other); err == nil {
			t.Errorf("links of another %s are taken", name)
		}
	}
}

func TestDamagedLinksAreNotTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.warc.graph")
	header := graphHeader{Version: graphVersion, Archives: []archiveFile{{"a.warc", 1, 2}}}
	if err := saveLinks(path, header, smallWeb()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.IndexByte(whole, '\n') + 1
	refused := func(what string, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := loadLinks(path, &header); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	for i := range whole {
		refused(fmt.Sprintf("cut at byte %d", i), whole[:i])
		if i >= body {
			data := bytes.Clone(whole)
			data[i] ^= 0x10
			refused(fmt.Sprintf("byte %d is another", i), data)
		}
	}
	refused("longer", append(bytes.Clone(whole), 0))
}

func TestLinksGoWhereTheyCan(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	nowhere, somewhere := filepath.Join(dir, "file", "a.graph"), filepath.Join(dir, "cache", "b.graph")
	reads := 0
	read := func() (*linked, error) {
		reads++
		return smallWeb(), nil
	}
	for _, test := range []struct {
		places []string
		reads  int // in all
	}{
		{[]string{nowhere}, 1}, {[]string{nowhere}, 2}, {[]string{nowhere, somewhere}, 3}, {[]string{nowhere, somewhere}, 3}, {[]string{somewhere}, 3},
	} {
		g, err := cached(test.places, graphHeader{Version: graphVersion}, read)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(smallWeb(), g, opaque); diff != "" || reads != test.reads {
			t.Errorf("%v: %d reads, want %d\n%s", test.places, reads, test.reads, diff)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "cache")); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
	failed := errors.New("failed")
	if _, err := cached([]string{filepath.Join(dir, "c.graph")}, graphHeader{}, func() (*linked, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

func TestOfManyWhoWantTheLinksOneReadsThem(t *testing.T) {
	place := []string{filepath.Join(t.TempDir(), "a.graph")}
	var reads atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			g, err := cached(place, graphHeader{Version: graphVersion}, func() (*linked, error) {
				reads.Add(1)
				return smallWeb(), nil
			})
			if err != nil || g.pages.len() != 3 {
				t.Errorf("%v", err)
			}
		})
	}
	group.Wait()
	if n := reads.Load(); n != 1 {
		t.Errorf("%d reads", n)
	}
}

func TestASummaryIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	if err := writeJSON(filepath.Join(dir, "x"), func() {}); err == nil {
		t.Error("what has no JSON is written")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestAFileInAWACZIsAsOldAsTheWACZ(t *testing.T) {
	wacz := writeFile(t, "x.wacz", "zip")
	files, err := archiveFiles([]string{wacz, filepath.Join(wacz, "archive", "y.warc.gz")})
	if err != nil || len(files) != 2 || files[1].Name != "y.warc.gz" || files[1].Size != 3 || files[1].Modified != files[0].Modified {
		t.Errorf("%+v, %v", files, err)
	}
}

func FuzzKeptLinks(f *testing.F) {
	add := func(g *linked) { f.Add(g.pages.len(), g.aliases.len(), len(g.links), encodeLinks(g)) }
	add(smallWeb())
	add(&linked{})
	f.Add(1, 0, 0, []byte{3, 'a', 'b'}) // shorter than it says
	f.Fuzz(func(t *testing.T, pages, aliases, links int, body []byte) {
		g, err := decodeLinks(&graphHeader{Pages: pages, Aliases: aliases, Links: links}, body)
		if err != nil {
			return
		}
		for i := range g.pages.len() {
			if at, ok := g.pages.find(g.pages.at(i)); !ok || at != i {
				t.Fatalf("page %d is found at %d", i, at)
			}
			for _, to := range g.row(i) {
				if to < 0 || int(to) >= pages {
					t.Fatalf("page %d links to %d", i, to)
				}
			}
		}
		again := encodeLinks(g)
		if len(again) > len(body) { // numbers may have been written longer than need be
			t.Errorf("%d bytes, and again %d", len(body), len(again))
		}
		if second, err := decodeLinks(&graphHeader{Pages: pages, Aliases: aliases, Links: links}, again); err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(g, second, opaque); diff != "" {
			t.Error(diff)
		}
	})
}

func BenchmarkReadLinks(b *testing.B) {
	path := symlinked(b, "webs/webkb.warc.gz")
	replay, err := archive.OpenReplay([]string{path}, archive.ReplayOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer replay.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readLinks([]string{path}, replay, 2); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKeptLinks is what opening a web costs that was read before: 100,000 pages
// with ten links each.
func BenchmarkKeptLinks(b *testing.B) {
	var addresses []string
	g := new(linked)
	for i := range 100_000 {
		addresses = append(addresses, fmt.Sprintf("http://www.host%04d.example/some/directory/page%06d.html", i/100, i))
		for j := range 10 {
			g.links = append(g.links, int32((i+j*j*7919)%100_000))
		}
		g.ends = append(g.ends, len(g.links))
	}
	g.pages = newList(addresses)
	body := encodeLinks(g)
	header := &graphHeader{Pages: len(addresses), Links: len(g.links)}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeLinks(header, body); err != nil {
			b.Fatal(err)
		}
	}
}
