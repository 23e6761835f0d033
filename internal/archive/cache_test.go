package archive

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// TestIndexesOfOtherProgramsAreKept checks that a file beside an archive that is no index of ours
// is neither replaced nor removed.
func TestIndexesOfOtherProgramsAreKept(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	path := archiveOf(t, dir, "x.warc.gz.open", capture("http://a/1", old, 200, "", "1"))
	const foreign = "a)/1 20200101000000 {\"url\":\"http://a/1\",\"note\":\"precious\"}\n"
	fileOf(t, dir, filepath.Base(path)+indexSuffix, []byte(foreign))
	check := func(what string) {
		t.Helper()
		if b, err := os.ReadFile(path + indexSuffix); err != nil || string(b) != foreign {
			t.Errorf("%s: %q, %v", what, b, err)
		}
	}
	r := replayWith(t, ReplayOptions{Index: IndexOptions{Cache: cache}}, path)
	if page, err := r.Fetch("http://a/1"); err != nil || string(page.Body) != "1" {
		t.Errorf("%v", err)
	}
	r.Close()
	check("after a look-up")
	if got := names(t, cache); len(got) != 1 {
		t.Errorf("in the cache: %v", got)
	}
	if _, err := WriteIndexFiles([]string{path}, func(string, error) {}); err == nil || !strings.Contains(err.Error(), "another program (hint: move it") {
		t.Errorf("writing it: %v", err)
	}
	check("after an attempt to write it")
	if _, err := RepairInPlace(t.Context(), path, RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	check("after a repair, which renames the archive")
	if got := names(t, dir); !slices.Equal(got, []string{"x.warc.gz", "x.warc.gz.open.cdxj"}) {
		t.Errorf("beside the archive: %v", got)
	}
}

// TestTemporaryFilesOfOtherProgramsAreKept checks that a file with the name of the temporary file is
// neither truncated nor renamed, and that an empty or unfinished one is used.
func TestTemporaryFilesOfOtherProgramsAreKept(t *testing.T) {
	for what, test := range map[string]struct {
		content string
		kept    bool
	}{
		"empty":             {"", false},
		"unfinished":        {string(metaLine(Meta{})), false},
		"another program's": {"precious\n", true},
	} {
		path := archiveOf(t, t.TempDir(), "x.warc.gz", capture("http://a/1", old, 200, "", "1"))
		testfile.Write(t, path+indexSuffix+".part", []byte(test.content))
		x := indexAt(t, path, IndexOptions{Beside: true})
		if !x.Has("http://a/1") || (x.Path == "") != test.kept {
			t.Errorf("%s: the index is at %q", what, x.Path)
		}
		b, err := os.ReadFile(path + indexSuffix + ".part")
		if test.kept != (err == nil) || test.kept && string(b) != test.content {
			t.Errorf("%s: %q, %v", what, b, err)
		}
	}
}

func TestUnusedFilesOfTheCacheAreRemoved(t *testing.T) {
	cache := t.TempDir()
	path := archiveOf(t, t.TempDir(), "x.warc.gz", capture("http://a/1", old, 200, "", "1"))
	long := time.Now().Add(-2 * maxUnused)
	for _, name := range []string{"0123456789abcdef-old.warc.cdxj", "0123456789abcdef-old.warc.graph", "robots.ndjson", "short-old.warc.cdxj"} {
		testfile.Check(t, os.Chtimes(fileOf(t, cache, name, nil), long, long))
	}
	open := func() string {
		t.Helper()
		x := indexAt(t, path, IndexOptions{Cache: cache})
		return x.Path
	}
	index := open()
	if got := names(t, cache); !slices.Equal(got, []string{filepath.Base(index), "robots.ndjson", "short-old.warc.cdxj"}) {
		t.Errorf("left are %v", got)
	}
	testfile.Check(t, os.Chtimes(index, long, long))
	open()
	if info, err := os.Stat(index); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("using it does not keep it: %v", err)
	}
}
