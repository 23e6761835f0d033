package closedweb

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
	"github.com/google/go-cmp/cmp/cmpopts"

	"spoor/internal/graph"
	"spoor/internal/testfile"
)

// smallWeb returns a web of three pages and a redirect.
func smallWeb() *archiveWeb {
	return &archiveWeb{
		pages:   newAddressList([]string{"http://a.example/", "http://a.example/x", "http://b.example/"}),
		aliases: newAddressList([]string{"http://a.example/old"}),
		targets: []int32{2},
		graph:   csr([]int32{2, 1}, nil, []int32{0}),
	}
}

// csr returns the graph whose nodes have the given links.
func csr(rows ...[]int32) (c graph.CSR) {
	c.Grow(len(rows), 0)
	for _, links := range rows {
		c.Add(links)
	}
	return c
}

// exported lets archive webs be compared.
var exported = cmp.AllowUnexported(archiveWeb{}, addressList{}, graph.CSR{})

func TestCacheRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.warc.graph")
	header := cacheHeader{Version: cacheVersion, Capture: "newest", Archives: []archiveFile{{"a.warc", 1, 2}}}
	for _, g := range []*archiveWeb{smallWeb(), {pages: newAddressList(nil), aliases: newAddressList(nil), targets: []int32{}, graph: csr()}} {
		if err := saveCache(path, header, g); err != nil {
			t.Fatal(err)
		}
		got, err := loadCache(path, &header)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(g, got, exported, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	for name, other := range map[string]cacheHeader{
		"version":  {Version: cacheVersion + 1, Capture: header.Capture, Archives: header.Archives},
		"capture":  {Version: cacheVersion, Capture: "first", Archives: header.Archives},
		"size":     {Version: cacheVersion, Capture: header.Capture, Archives: []archiveFile{{"a.warc", 2, 2}}},
		"time":     {Version: cacheVersion, Capture: header.Capture, Archives: []archiveFile{{"a.warc", 1, 3}}},
		"archives": {Version: cacheVersion, Capture: header.Capture, Archives: slices.Repeat(header.Archives, 2)},
	} {
		if _, err := loadCache(path, &other); err == nil {
			t.Errorf("a cache for another %s is accepted", name)
		}
	}
}

func TestDamagedCacheIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.warc.graph")
	header := cacheHeader{Version: cacheVersion, Archives: []archiveFile{{"a.warc", 1, 2}}}
	if err := saveCache(path, header, smallWeb()); err != nil {
		t.Fatal(err)
	}
	whole := testfile.Read(t, path)
	refused := func(what string, data []byte) {
		testfile.Write(t, path, data)
		if _, err := loadCache(path, &header); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	for i := range whole {
		refused(fmt.Sprintf("cut at byte %d", i), whole[:i])
		data := bytes.Clone(whole)
		data[i] ^= 0x10
		refused(fmt.Sprintf("byte %d is changed", i), data)
	}
	refused("longer", append(bytes.Clone(whole), 0))
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "file"), "")
	unwritable, writable := filepath.Join(dir, "file", "a.graph"), filepath.Join(dir, "cache", "b.graph")
	reads := 0
	read := func() (*archiveWeb, error) {
		reads++
		return smallWeb(), nil
	}
	for _, test := range []struct {
		place string
		reads int // in all
	}{
		{unwritable, 1}, {unwritable, 2}, {"", 3}, {writable, 4}, {writable, 4},
	} {
		g, err := cached(test.place, cacheHeader{Version: cacheVersion}, read)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(smallWeb(), g, exported); diff != "" || reads != test.reads {
			t.Errorf("%v: %d reads, want %d\n%s", test.place, reads, test.reads, diff)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "cache")); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
	failed := errors.New("failed")
	if _, err := cached(filepath.Join(dir, "c.graph"), cacheHeader{}, func() (*archiveWeb, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

func TestConcurrentCallersReadArchivesOnce(t *testing.T) {
	place := filepath.Join(t.TempDir(), "a.graph")
	var reads atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			g, err := cached(place, cacheHeader{Version: cacheVersion}, func() (*archiveWeb, error) {
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

func TestFileInWACZHasTimeOfTheWACZ(t *testing.T) {
	wacz := testfile.Write(t, filepath.Join(t.TempDir(), "x.wacz"), "zip")
	files, err := archiveFiles([]string{wacz, filepath.Join(wacz, "archive", "y.warc.gz")})
	if err != nil || len(files) != 2 || files[1].Name != "y.warc.gz" || files[1].Size != 3 || files[1].Modified != files[0].Modified {
		t.Errorf("%+v, %v", files, err)
	}
}

func FuzzCache(f *testing.F) {
	add := func(g *archiveWeb) []byte {
		body, err := g.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
		return body
	}
	add(&archiveWeb{})
	body := add(smallWeb())
	f.Add(body[:len(body)-1])
	f.Add(body[:len(body)/2])
	f.Fuzz(func(t *testing.T, body []byte) {
		g, err := decodeArchiveWeb(body)
		if err != nil {
			return
		}
		for i := range g.pages.len() {
			if at, ok := g.pages.find(g.pages.at(i)); !ok || at != i {
				t.Fatalf("page %d is found at %d", i, at)
			}
			for _, to := range g.graph.Links(int32(i)) {
				if to < 0 || int(to) >= g.pages.len() {
					t.Fatalf("page %d links to %d", i, to)
				}
			}
		}
		g.web()
		again, err := g.encode()
		if err != nil {
			t.Fatal(err)
		}
		if second, err := decodeArchiveWeb(again); err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(g, second, exported, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
