package search

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"spoor/internal/archive"
	"spoor/internal/testfile"
)

// searched runs the command on an index, and returns the paths found and the number of pages
// added to the index.
func searched(t testing.TB, args ...string) (paths string, pages int) {
	t.Helper()
	var out, words bytes.Buffer
	if err := run(args, strings.NewReader(""), &out, &words); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, &words)
	}
	var list []string
	for _, m := range regexp.MustCompile(`"url":"http://x\.example/([^"]*)"`).FindAllStringSubmatch(out.String(), -1) {
		list = append(list, m[1])
	}
	if m := regexp.MustCompile(`added to the index.* pages=(\d+)`).FindStringSubmatch(words.String()); m != nil {
		pages, _ = strconv.Atoi(m[1])
	}
	return strings.Join(list, " "), pages
}

// number returns a page that contains its number.
func number(i int) capture {
	return capture{path: fmt.Sprint(i), body: fmt.Sprintf("<title>Page %d</title><p>word n%d", i, i)}
}

func TestGrowingArchive(t *testing.T) {
	dir := t.TempDir()
	index, web := filepath.Join(dir, "web.db"), filepath.Join(dir, "warc")
	w, err := writer(filepath.Join(web, "w"))
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	add := func(n int) {
		t.Helper()
		for range n {
			if _, err := w.Write(number(next).exchange()); err != nil {
				t.Fatal(err)
			}
			next++
		}
	}
	look := func(what, want string, pages int) {
		t.Helper()
		got, n := searched(t, "-index", index, "-archive", web, "-query", "word", "-results", "100")
		if got != want || n != pages {
			t.Errorf("%s: found %q of %d new pages, want %q of %d", what, got, n, want, pages)
		}
	}
	add(2)
	look("at first", "0 1", 2)
	add(1)
	look("when there is one more", "0 1 2", 1)
	look("when there is not", "0 1 2", 0)
	if err := w.Close(); err != nil { // it has another name now
		t.Fatal(err)
	}
	look("when it is whole", "0 1 2", 0)
	if w, err = writer(filepath.Join(web, "w")); err != nil { // which goes on with the file
		t.Fatal(err)
	}
	add(2)
	w.Close()
	look("when another run went on", "0 1 2 3 4", 2)
}

func TestTornRecordIsIndexedWhenComplete(t *testing.T) {
	for _, packing := range []string{".warc", ".warc.gz"} {
		t.Run(packing, func(t *testing.T) {
			dir := t.TempDir()
			if err := write(filepath.Join(dir, "all", "w"), number(0), number(1), number(2)); err != nil {
				t.Fatal(err)
			}
			whole := only(t, filepath.Join(dir, "all", "*.warc.gz"))
			var ends []int64
			data := testfile.Read(t, whole)
			if packing == ".warc" {
				data = unpacked(t, whole)
				whole = filepath.Join(dir, "all.warc")
				testfile.Write(t, whole, data)
			}
			for p, err := range archive.All([]string{whole}, archive.Filter{}, archive.Limits{}) {
				if err != nil {
					t.Fatal(err)
				}
				ends = append(ends, p.Offset+p.Length)
			}
			index, grows := filepath.Join(dir, "web.db"), filepath.Join(dir, "grows"+packing+".open")
			taken := 0
			step := max(len(data)/17, 1)
			for n := 0; ; n += step {
				n = min(n, len(data))
				testfile.Write(t, grows, data[:n])
				// Each version of the file needs another time, also if the clock is coarse.
				testfile.Check(t, os.Chtimes(grows, time.Time{}, time.Unix(int64(n), 0)))
				want := 0
				for _, end := range ends {
					if int64(n) >= end {
						want++
					}
				}
				if want == 0 {
					var words bytes.Buffer
					if err := run([]string{"-index", index, "-archive", grows, "-query", "word"}, nil, &words, &words); err != nil && !strings.Contains(err.Error(), "no page could be read") {
						t.Fatal(err)
					}
					continue
				}
				got, pages := searched(t, "-index", index, "-archive", grows, "-query", "word")
				taken += pages
				if have := len(strings.Fields(got)); have != want || taken != want {
					t.Fatalf("of %d bytes %q (%d taken in), want %d pages", n, got, taken, want)
				}
				if n == len(data) {
					break
				}
			}
			if taken != 3 {
				t.Errorf("%d pages taken in, want 3", taken)
			}
		})
	}
}

// only returns the only file that matches.
func only(t testing.TB, pattern string) string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %q, %v", pattern, all, err)
	}
	return all[0]
}

// unpacked returns a WARC file without its gzip.
func unpacked(t testing.TB, name string) []byte {
	t.Helper()
	out, err := exec.Command("gzip", "-dc", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReplacedArchiveIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	index, name := filepath.Join(dir, "web.db"), filepath.Join(dir, "web.warc.gz")
	put := func(day int, pages ...capture) {
		t.Helper()
		prefix := filepath.Join(dir, fmt.Sprint("new", day), "w")
		if err := write(prefix, pages...); err != nil {
			t.Fatal(err)
		}
		testfile.Check(t, os.Rename(only(t, prefix+"-*"), name))
		testfile.Check(t, os.Chtimes(name, time.Time{}, time.Unix(int64(day), 0)))
	}
	day := 0
	for _, c := range []struct {
		what  string
		pages []capture
		want  string
	}{
		{"the first", []capture{number(0), number(1)}, "0 1"},
		{"longer, from its beginning on another", []capture{number(7), number(8), number(9), number(10)}, "10 7 8 9"},
		{"shorter", []capture{number(7)}, "7"},
		{"as long", []capture{number(8)}, "8"},
	} {
		day++
		put(day, c.pages...)
		if got, _ := searched(t, "-index", index, "-archive", name, "-query", "word"); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestNewestCaptureOfSeveralArchives(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []capture{{path: "p", body: "old words", day: 1}, {path: "p", body: "new words", day: 3}, {path: "p", body: "middle words", day: 2}} {
		if err := write(filepath.Join(dir, "web", fmt.Sprint(c.body[:3])), c); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{"old": "", "new": "p", "middle": "", "words": "p"} {
		if got, _ := searched(t, "-index", filepath.Join(dir, "web.db"), "-archive", filepath.Join(dir, "web"), "-query", query); got != want {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// many writes an archive of n long pages.
func many(t testing.TB, dir string, n int) {
	t.Helper()
	pages := make([]capture, n)
	for i := range pages {
		pages[i] = number(i)
		pages[i].body += strings.Repeat(fmt.Sprintf(" and some more, the %dth time", i%97), 10)
	}
	if err := write(filepath.Join(dir, "w"), pages...); err != nil {
		t.Fatal(err)
	}
}

// command returns this program as another process.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := exec.LookPath("search") // where testscript.Main has put it
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(self, args...)
}

// manyPages is more than one batch of pages.
const manyPages = 4100

// TestKilledUpdate kills a process when it reports an error in the archive, while it adds the
// pages before the error to the index.
func TestKilledUpdate(t *testing.T) {
	dir := t.TempDir()
	index, web := filepath.Join(dir, "web.db"), filepath.Join(dir, "web.warc.gz")
	many(t, dir, manyPages)
	data := testfile.Read(t, only(t, filepath.Join(dir, "w-*")))
	testfile.Write(t, web, slices.Concat(data, []byte("no record\n")))
	for range 2 {
		c := command(t, "-index", index, "-archive", web)
		words, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		words.Read(make([]byte, 1))
		c.Process.Kill()
		io.Copy(io.Discard, words)
		t.Log(c.Wait())
	}
	_, pages := searched(t, "-index", index, "-archive", web)
	t.Logf("%d pages left for the last run", pages)
	x, err := openIndex(index, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if have, err := x.Len(); have != manyPages || err != nil {
		t.Errorf("%d pages, want %d; %v", have, manyPages, err)
	}
	if urls, err := x.Search(t.Context(), "word", maxResults); len(urls) != maxResults || err != nil {
		t.Errorf("%d found, %v", len(urls), err)
	}
}

func TestConcurrentUpdates(t *testing.T) {
	dir := t.TempDir()
	index, web := filepath.Join(dir, "web.db"), filepath.Join(dir, "web")
	many(t, web, 300)
	type result struct {
		out, words bytes.Buffer
		cmd        *exec.Cmd
	}
	var all [4]result
	for i := range all {
		r := &all[i]
		r.cmd = command(t, "-index", index, "-archive", web, "-query", "word n7")
		r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.words
		if err := r.cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	taken := 0
	for i := range all {
		r := &all[i]
		if err := r.cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, &r.words)
		}
		if r.out.String() != all[0].out.String() || !strings.Contains(r.out.String(), "http://x.example/7\"") {
			t.Errorf("another answer: %s", &r.out)
		}
		if m := regexp.MustCompile(`added to the index.* pages=(\d+)`).FindStringSubmatch(r.words.String()); m != nil {
			n, _ := strconv.Atoi(m[1])
			taken += n
		}
	}
	if taken != 300 {
		t.Errorf("%d pages were taken in by all, want 300", taken)
	}
}
