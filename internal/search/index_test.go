package search

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
)

// library returns an index of documents, each "url | title | text" or "url | title | text | language".
func library(t testing.TB, documents ...string) *Index {
	t.Helper()
	x := open(t, filepath.Join(t.TempDir(), "web.db"))
	add(t, x, Archive{Name: "a"}, parse(documents...))
	return x
}

func open(t testing.TB, name string) *Index {
	t.Helper()
	x, err := OpenIndex(name, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func openCache(t testing.TB, name string) *Cache {
	t.Helper()
	c, err := OpenCache(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func add(t testing.TB, x *Index, a Archive, documents []Document) {
	t.Helper()
	if err := x.Add(a, documents); err != nil {
		t.Fatal(err)
	}
}

func parse(documents ...string) (list []Document) {
	for _, d := range documents {
		parts := strings.Split(d, " | ")
		d := Document{URL: "http://x.example/" + parts[0], Title: parts[1], Text: parts[2], Time: time.Unix(0, 0)}
		if len(parts) > 3 {
			d.Language = parts[3]
		}
		list = append(list, d)
	}
	return list
}

// found returns the last path elements of the results.
func found(t testing.TB, x *Index, query string, n int) string {
	t.Helper()
	urls, err := x.Search(t.Context(), query, n)
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	return strings.ReplaceAll(strings.Join(urls, " "), "http://x.example/", "")
}

func TestSearch(t *testing.T) {
	x := library(t,
		"both | Jazz | jazz and hard bop, played by the Messengers",
		"bop | Music | hard bop is music of the fifties",
		"title | Hard bop | a kind of music",
		"b/same | Tea | the same cup of tea twice",
		"a/same | Tea | the same cup of tea twice",
		"de | Wälder | Der Wald ist groß, die Straße lang",
		"zh | 爵士樂 | 我喜歡聽爵士樂和搖滾樂。",
		"ja | ジャズ | ジャズはアメリカの音楽です",
		"hi | हिन्दी | यह एक किताब है",
		"soft | Hyphens | co\u00ADoperative so\u00ADci\u00ADeties",
		"syntax | Query languages | NEAR AND OR NOT title:jazz \"quoted\" c++ ^first a*b",
	)
	for _, c := range []struct{ query, want string }{
		{"messengers jazz", "both syntax"},
		{"hard bop", "title bop both"},
		{"HARD Bop", "title bop both"},
		{"tea", "a/same b/same"}, // equals by address
		{"playing", "both"},      // by their stems
		{"strasse", ""},
		{"straße", "de"},
		{"walder", "de"}, // without the accent
		{"WÄLDER", "de"},
		{"爵士", "zh"},
		{"搖滾樂", "zh"},
		{"音楽", "ja"},
		{"किताब", "hi"},
		{"कित", ""}, // half of it is another word
		{"cooperative", "soft"},
		{"co\u00ADoperative", "soft"},
		{`"quoted`, "syntax"},
		{`quoted" OR "x`, "syntax"},
		{"NEAR(jazz bop, 2)", "both syntax title bop"},
		{"title:jazz", "syntax both"},
		{"jazz NOT messengers", "both syntax"},
		{"-jazz", "both syntax"},
		{"{title} : ^jazz*", "syntax both"},
		{"x.example http", ""}, // addresses are not searched
		{"jazz\x00bop", "both title syntax bop"},
		{"\xff\xfe jazz \xc3", "both syntax"},
		{"", ""},
		{`"*^:-() '`, ""},
		{"';drop table pages;--", ""},
	} {
		if got := found(t, x, c.query, 10); got != c.want {
			t.Errorf("%q: %q, want %q", c.query, got, c.want)
		}
	}
}

func TestSearchLimit(t *testing.T) {
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("%02d | same | words", i))
	}
	x := library(t, all...)
	for n, want := range map[int]string{-1: "", 0: "", 1: "00", 3: "00 01 02"} {
		if got := found(t, x, "words", n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	if got := len(strings.Fields(found(t, x, "words", 100))); got != 30 {
		t.Errorf("100: %d", got)
	}
}

func TestLongQueryIsCut(t *testing.T) {
	x := library(t, "a | first | alpha", "b | last | omega")
	filler := []string{strings.Repeat("alpha ", 1000)}
	for i := range maxWords {
		filler = append(filler, fmt.Sprintf("w%d", i))
	}
	if got := found(t, x, strings.Join(filler, " ")+" omega", 10); got != "a" {
		t.Errorf("found %q", got)
	}
	if got := found(t, x, strings.Repeat("x", 1000)+" omega", 10); got != "b" {
		t.Errorf("behind a word that is too long: %q", got)
	}
}

func TestNewestCaptureIsFound(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "web.db"))
	for _, c := range []struct {
		archive, text string
		day           int64
	}{{"a", "middle", 2}, {"b", "oldest", 1}, {"c", "newest", 3}, {"d", "another of that second", 3}} {
		d := []Document{{URL: "http://x.example/p", Text: c.text, Time: time.Unix(c.day*86400, 0)}}
		add(t, x, Archive{Name: c.archive}, d)
	}
	for query, want := range map[string]string{"newest": "p", "middle": "", "oldest": "", "another": ""} {
		if got := found(t, x, query, 10); got != want {
			t.Errorf("%s: %q", query, got)
		}
	}
	if n, err := x.Len(); n != 1 || err != nil {
		t.Errorf("%d pages, %v", n, err)
	}
}

func TestArchiveState(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a b?c#d%e.db") // a name, not a URL
	x := open(t, name)
	want := Archive{Name: "/a/b.warc", Size: 10, Modified: time.Unix(3, 5), Done: 7, Mark: "m"}
	if got, err := x.Archive(want.Name); err != nil || got != (Archive{Name: want.Name}) {
		t.Errorf("before: %+v, %v", got, err)
	}
	add(t, x, want, parse("p | page | words"))
	x.Close()
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	x = open(t, name)
	got, err := x.Archive(want.Name)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
	if err := x.Forget(want.Name); err != nil {
		t.Fatal(err)
	}
	if got := found(t, x, "words", 10); got != "" {
		t.Errorf("found what was forgotten: %s", got)
	}
	if got, err := x.Archive(want.Name); err != nil || got.Mark != "" {
		t.Errorf("after: %+v, %v", got, err)
	}
}

func TestTwoConnectionsShareAnIndex(t *testing.T) {
	name := filepath.Join(t.TempDir(), "web.db")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			x, err := OpenIndex(name, true)
			if err != nil {
				t.Error(err)
				return
			}
			defer x.Close()
			for j := range 10 {
				if err := x.Add(Archive{Name: "a"}, parse(fmt.Sprintf("%d/%d | page | words", i, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := len(strings.Fields(found(t, open(t, name), "words", 100))); got != 40 {
		t.Errorf("%d pages, want 40", got)
	}
}

func TestForeignFileIsNotChanged(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		testfile.Write(t, path, content)
		return path
	}
	database := func(name, statements string) string {
		path := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statements); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cache := openCache(t, filepath.Join(dir, "cache.db"))
	cache.Close()
	for _, c := range []struct {
		path   string
		create bool
		want   string
	}{
		{write("text.db", strings.Repeat("a text\n", 1000)), true, "it is not a database\nhint: give another name"},
		{database("other.db", "create table t(x)"), true, "search did not make"},
		{filepath.Join(dir, "cache.db"), true, "search did not make"},
		{database("later.db", fmt.Sprintf("pragma application_id = %d; pragma user_version = 99; create table t(x)", indexLayout.application)), true, "another version"},
		{database("earlier.db", fmt.Sprintf("pragma application_id = %d; pragma user_version = 2; create table t(x)", indexLayout.application)), true, "remove the file, and search creates it again (an index needs -archive)"},
		{write("empty.db", ""), false, "it is empty"},
		{filepath.Join(dir, "absent.db"), false, "unable to open"},
		{filepath.Join(dir, "absent", "x.db"), true, "unable to open"},
	} {
		before, _ := os.ReadFile(c.path)
		x, err := OpenIndex(c.path, c.create)
		if err == nil {
			x.Close()
			t.Errorf("%s was opened", c.path)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
		if after, _ := os.ReadFile(c.path); string(after) != string(before) {
			t.Errorf("%s was changed", c.path)
		}
	}
}

func TestSQLiteCommandReadsTheIndex(t *testing.T) {
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skipf("%v (hint: the Debian package sqlite3)", err)
	}
	name := filepath.Join(t.TempDir(), "web.db")
	x := open(t, name)
	add(t, x, Archive{Name: "a"}, parse("a | Trees | a forest of trees", "b | Sea | no tree for miles | de", "c | Sand | nothing"))
	x.Close()
	statements := map[string]string{
		"select url, title from pages where language = 'de'":    "http://x.example/b|Sea\n",
		"select count(*) from texts; select name from archives": "3\na\n",
	}
	if version, _ := exec.Command(sqlite, "--version").Output(); string(version) >= "3.43" {
		statements["select url from words('tree') join pages on page = words.rowid order by bm25(words, 2, 1), url"] = "http://x.example/a\nhttp://x.example/b\n"
		statements["insert into words(words) values('integrity-check'); pragma integrity_check"] = "ok\n"
	}
	for statement, want := range statements {
		out, err := exec.Command(sqlite, name, statement).CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s: %v, %q, want %q", statement, err, out, want)
		}
	}
}

// FuzzSearch searches an index for arbitrary queries: none is a syntax error.
func FuzzSearch(f *testing.F) {
	for _, q := range []string{"jazz", `"`, `a" OR b`, "NEAR(a b)", "a\x00b", "\xff", "爵士樂", "co\u00ADop", "किताब", "🎷 sax", "a AND (b OR", "x*", "ﷺ", "İ"} {
		f.Add(q)
	}
	x := open(f, filepath.Join(f.TempDir(), "web.db"))
	f.Cleanup(func() { x.Close() })
	add(f, x, Archive{Name: "a"}, parse("p | jazz | words in a text, 爵士樂"))
	f.Fuzz(func(t *testing.T, query string) {
		if _, err := x.Search(t.Context(), query, 3); err != nil {
			t.Fatal(err)
		}
	})
}

func TestIndexErrors(t *testing.T) {
	x := library(t, "a | page | words")
	x.Close()
	if _, err := x.Search(t.Context(), "words", 1); err == nil {
		t.Error("a closed index answers")
	}
	if err := x.Add(Archive{Name: "a"}, nil); err == nil || !strings.Contains(err.Error(), "writing the index") {
		t.Errorf("a closed index takes pages: %v", err)
	}
	if _, err := x.Archive("a"); err == nil || errors.Is(err, sql.ErrNoRows) {
		t.Errorf("a closed index knows archives: %v", err)
	}
}

// A view or a trigger in an index from elsewhere could answer in place of a table, for ever.
func TestAnIndexWithViewsOrTriggersIsNotOpened(t *testing.T) {
	for _, statement := range []string{
		"alter table archives rename to old; create view archives as with recursive n(i) as (select 1 union all select i + 1 from n) select i as name, i as mark, i as size, i as modified, i as done from n",
		"create trigger t after insert on pages begin delete from pages; end",
	} {
		name := filepath.Join(t.TempDir(), "web.db")
		x := open(t, name)
		if _, err := x.db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		x.Close()
		if x, err := OpenIndex(name, false); err == nil || !strings.Contains(err.Error(), "hint: give another name, or remove the file") {
			t.Errorf("%s: got error %v", statement, err)
			if err == nil {
				x.Close()
			}
		}
	}
}
