package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/closedweb"
	"spoor/internal/judge"
	"spoor/internal/testfile"
)

// A planted web has the pages, hosts and links that were asked for, can be read as an archive, and
// is the same for the same seed.
func TestPlantedWeb(t *testing.T) {
	const pages, links = 1200, 24_000
	dir := t.TempDir()
	write := func(name, seed string) string {
		t.Helper()
		w, to, err := parseArguments([]string{"1200", "60", "24000", filepath.Join(dir, name), seed})
		if err != nil {
			t.Fatal(err)
		}
		testfile.Check(t, w.write(to))
		return to
	}
	one, again, other := write("one", "1"), write("again", "1"), write("other", "2")
	files, err := os.ReadDir(one)
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		want := testfile.Read(t, filepath.Join(one, f.Name()))
		if !bytes.Equal(testfile.Read(t, filepath.Join(again, f.Name())), want) {
			t.Errorf("%s differs for the same seed", f.Name())
		}
		if f.Name() != "query" && bytes.Equal(testfile.Read(t, filepath.Join(other, f.Name())), want) {
			t.Errorf("%s is the same for another seed", f.Name())
		}
	}

	var size closedweb.Size
	web, err := closedweb.FromArchives([]string{filepath.Join(one, "web-00000.warc.gz")}, closedweb.ArchiveOptions{
		Workers: 2, LinksRead: func(s closedweb.Size) { size = s }, Cache: filepath.Join(dir, "cache"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if size.Pages != pages || size.Redirects != 0 || size.Links < links*6/10 || size.Links > links {
		t.Errorf("%+v, want %d pages and at most %d different links, no fewer than six tenths of that", size, pages, links)
	}
	labels := web.Labels("topic0")
	testfile.Check(t, labels.Read(bytes.NewReader(testfile.Read(t, filepath.Join(one, "labels.ndjson"))), func(line int, err error) {
		t.Errorf("line %d: %v", line, err)
	}))
	testfile.Check(t, labels.Apply())
	for seed := range strings.Lines(string(testfile.Read(t, filepath.Join(one, "seeds.txt")))) {
		if web.Find(strings.TrimSpace(seed)).Page == judge.None {
			t.Errorf("seed %q is no page", seed)
		}
	}
	relevant := 0
	for page := range int32(pages) {
		if labels.Verdict(page) == closedweb.Relevant {
			relevant++
		}
	}
	if relevant < pages/numTopics/4 || relevant > 4*pages/numTopics {
		t.Errorf("%d of %d pages are relevant, want about one in %d", relevant, pages, numTopics)
	}
}
