package search

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// contents are the bytes of a small index and of a small cache.
func contents(tb testing.TB) (index, cache []byte) {
	tb.Helper()
	dir := tb.TempDir()
	x := open(tb, filepath.Join(dir, "index"))
	err := x.Add(Archive{Name: "a", Size: 7, Mark: "m"}, parse("a | Jazz | jazz and hard bop", "b | Tea | "+strings.Repeat("a cup of tea and jazz ", 500), "c | Bop | bop"))
	if err := errors.Join(err, x.Close()); err != nil {
		tb.Fatal(err)
	}
	c := openCache(tb, filepath.Join(dir, "cache"))
	_, err = c.Of(fixed{"http://x.example/"}).Search(tb.Context(), "jazz", 1)
	if err := errors.Join(err, c.Close()); err != nil {
		tb.Fatal(err)
	}
	for name, to := range map[string]*[]byte{"index": &index, "cache": &cache} {
		if *to, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			tb.Fatal(err)
		}
	}
	return index, cache
}

// A fixed source has one answer for all queries.
type fixed []string

func (f fixed) Search(context.Context, string, int) ([]string, error) { return f, nil }
func (f fixed) Name() string                                          { return "fixed" }

// use does everything with an index and returns the first error.
func use(ctx context.Context, name string) error {
	x, err := OpenIndex(name, false)
	if err != nil {
		return err
	}
	defer x.Close()
	_, err = x.Search(ctx, "jazz tea bop cup", 2)
	if _, e := x.Find(ctx, Query{Words: "jazz tea bop cup", Limit: 2}); err == nil {
		err = e
	}
	if e := x.SetRanks(slices.Values([]Rank{{"http://x.example/a", 1, 1}})); err == nil {
		err = e
	}
	if _, e := x.Archive("a"); err == nil {
		err = e
	}
	if _, e := x.Len(); err == nil {
		err = e
	}
	if e := x.Add(Archive{Name: "b"}, parse("d | Jazz | jazz", "a | New | a newer page")); err == nil {
		err = e
	}
	if e := x.Forget("a"); err == nil {
		err = e
	}
	return err
}

// useCache asks a cache for a query that it has and for one that it has not.
func useCache(ctx context.Context, name string) error {
	c, err := OpenCache(name)
	if err != nil {
		return err
	}
	defer c.Close()
	source := c.Of(fixed{"http://x.example/"})
	_, err = source.Search(ctx, "jazz", 1)
	if _, e := source.Search(ctx, "bop", 1); err == nil {
		err = e
	}
	return err
}

// checkError fails the test unless the error names the file and says what to do.
func checkError(t *testing.T, name string, err error) {
	t.Helper()
	if err != nil && (!strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "hint: ")) {
		t.Errorf("no name or no hint in %q", err)
	}
}

func TestDamagedDatabase(t *testing.T) {
	index, cache := contents(t)
	dir := t.TempDir()
	for _, c := range []struct {
		what string
		data []byte
		use  func(context.Context, string) error
	}{{"index", index, use}, {"cache", cache, useCache}} {
		pages := len(c.data) / 4096
		for page := range pages {
			for what, damage := range map[string]func([]byte) []byte{
				"overwritten": func(b []byte) []byte { copy(b[4096*page:], strings.Repeat("x", 4096)); return b },
				"truncated":   func(b []byte) []byte { return b[:4096*page+100] },
			} {
				name := filepath.Join(dir, c.what+".db")
				testfile.Write(t, name, damage(append([]byte(nil), c.data...)))
				err := c.use(t.Context(), name)
				if err == nil && what == "truncated" && page < pages-1 {
					t.Errorf("%s, page %d of %d %s: no error", c.what, page, pages, what)
				}
				checkError(t, name, err)
			}
		}
	}
}

// A generated column takes as much memory and time as its author wants.
func TestIndexWithOtherTablesIsNotOpened(t *testing.T) {
	for _, statements := range []string{
		"drop table texts; create table texts(page integer primary key, text blob as (hex(zeroblob(page))))",
		"drop table words; create virtual table words using fts5(title, body, content = 'pages')",
		"create index i on pages(hex(zeroblob(page)))",
	} {
		name := filepath.Join(t.TempDir(), "web.db")
		x := open(t, name)
		if _, err := x.db.Exec(statements); err != nil {
			t.Fatal(err)
		}
		x.Close()
		if x, err := OpenIndex(name, false); err == nil || !strings.Contains(err.Error(), name+": it is a database that search did not make") {
			t.Errorf("%s: got error %v", statements, err)
			if err == nil {
				x.Close()
			}
		}
	}
}

// sqlite3 writes statistics when a user lets it optimize the database.
func TestIndexWithStatisticsIsOpened(t *testing.T) {
	x := library(t, "a | Jazz | jazz")
	if _, err := x.db.Exec("analyze"); err != nil {
		t.Fatal(err)
	}
	x.Close()
	if got := found(t, open(t, x.db.name), "jazz", 1); got != "a" {
		t.Errorf("found %q", got)
	}
}

// A text can be longer than any page's, for example in a sparse file.
func TestLongTextIsNotRead(t *testing.T) {
	x := library(t, "a | Jazz | jazz")
	if _, err := x.db.Exec("update pages set url = zeroblob(?)", maxValue+1); err == nil {
		t.Error("a text that is too long was accepted")
	} else {
		checkError(t, x.db.name, x.db.fail("writing", err))
	}
}

func TestDatabaseMustBeARegularFile(t *testing.T) {
	for name, want := range map[string]string{t.TempDir(): "directory", os.DevNull: "device"} {
		for _, create := range []bool{false, true} {
			if _, err := OpenIndex(name, create); err == nil || !strings.Contains(err.Error(), "the index "+name+": it is a "+want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := OpenCache(name); err == nil || !strings.Contains(err.Error(), "the cache "+name+": it is a "+want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDatabase uses an index and a cache with arbitrary bytes. edits are an offset (two bytes) and a byte
// each; the file ends after size bytes.
func FuzzDatabase(f *testing.F) {
	index, cache := contents(f)
	f.Add([]byte{}, uint16(0xffff))
	f.Add([]byte{0, 18, 2, 0, 19, 2}, uint16(0xffff)) // a write-ahead log
	f.Add([]byte{0, 18, 3}, uint16(0xffff))           // read-only
	f.Add([]byte{0, 16, 2, 0, 17, 0}, uint16(8192))
	for page := range len(index) / 4096 {
		f.Add([]byte{byte(page * 16), 0, 5, byte(page * 16), 8, 0xff, byte(page*16 + 15), 0xf0, 0x80}, uint16(0xffff))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, edits []byte, size uint16) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for kind, data := range map[string][]byte{"index": index, "cache": cache} {
			data = append([]byte(nil), data[:min(len(data), int(size))]...)
			for e := edits; len(e) >= 3; e = e[3:] {
				if at := int(binary.BigEndian.Uint16(e)); at < len(data) {
					data[at] = e[2]
				}
			}
			name := filepath.Join(dir, kind+".db")
			for _, suffix := range []string{"-journal", "-wal", "-shm"} {
				os.Remove(name + suffix)
			}
			testfile.Write(t, name, data)
			var err error
			if kind == "index" {
				err = use(ctx, name)
			} else {
				err = useCache(ctx, name)
			}
			if ctx.Err() != nil {
				t.Fatalf("%s: %v", kind, ctx.Err())
			}
			checkError(t, name, err)
		}
	})
}
