package archive

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"spoor/internal/message"
	"spoor/internal/testfile"
)

// redirectingArchive returns an archive of two pages and a redirect.
func redirectingArchive(t *testing.T) string {
	record := func(url, kind, mime, block string) string {
		return "WARC/1.1\r\nWARC-Type: " + kind + "\r\nWARC-Target-URI: " + url + "\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: " + mime +
			"\r\nContent-Length: " + string([]byte{'0' + byte(len(block)/10), '0' + byte(len(block)%10)}) + "\r\n\r\n" + block + "\r\n\r\n"
	}
	data := record("http://a/1", "resource", "text/html", "hello") +
		record("http://a/2", "resource", "text/html", "world") +
		record("http://a/3", "response", "application/http", "HTTP/1.1 302 F\r\nLocation: http://a/1\r\n\r\n")
	return fileOf(t, t.TempDir(), "a.warc", []byte(data))
}

func TestAnIndexWithOneChangedDigitIsBuiltAgainAndNoPageIsLost(t *testing.T) {
	name := redirectingArchive(t)
	path := name + indexSuffix
	fetchAll := func() (faults []error) {
		r := replayWith(t, ReplayOptions{Index: IndexOptions{Beside: true, Report: func(_ string, err error) { faults = append(faults, err) }}}, name)
		for url, want := range map[string]string{"http://a/1": "hello", "http://a/2": "world", "http://a/3": "hello"} {
			if page, err := r.Fetch(url); err != nil || string(page.Body) != want {
				t.Errorf("%s: %v", url, err)
			}
		}
		return faults
	}
	fetchAll()
	good := testfile.Read(t, path)
	lines := bytes.IndexByte(good, '\n')
	for _, at := range regexp.MustCompile(`[0-9]`).FindAllIndex(good[lines:], -1) {
		bad := bytes.Clone(good)
		bad[lines+at[0]] = '0' + (bad[lines+at[0]]-'0'+1)%10
		testfile.Write(t, path, bad)
		faults := fetchAll()
		if len(faults) != 1 || !errors.Is(faults[0], ErrIndexDamaged) || !strings.Contains(faults[0].Error(), path) {
			t.Fatalf("digit at byte %d: %v", lines+at[0], faults)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, good) {
			t.Fatalf("digit at byte %d: the index was not replaced: %v", lines+at[0], err)
		}
	}
}

// forgeIndex writes the index of an archive, with lines changed by a regular expression and a first
// line that is right for them.
func forgeIndex(t *testing.T, archive, old, new string) {
	t.Helper()
	if _, err := WriteIndexFiles([]string{archive}, nil); err != nil {
		t.Fatal(err)
	}
	path := archive + indexSuffix
	data := testfile.Read(t, path)
	x, err := newIndex(data, noRelease)
	if err != nil {
		t.Fatal(err)
	}
	forged := regexp.MustCompile(old).ReplaceAll(data[x.first:], []byte(new))
	if bytes.Equal(forged, data[x.first:]) {
		t.Fatal("nothing was changed")
	}
	testfile.Write(t, path, indexOf(x.Meta, forged))
}

// indexOf returns an index of these lines, with a first line that is right for them.
func indexOf(m Meta, lines []byte) []byte {
	m.Bytes = int64(len(metaLine(m)) + len(lines))
	m.CRC32C = crc32.Checksum(lines, castagnoli)
	m.Captures = int64(bytes.Count(lines, []byte("\n")))
	m.Records = max(m.Records, m.Captures)
	return append(metaLine(m), lines...)
}

// forgeries are changes of one field of a line each, as regular expressions.
var forgeries = map[string]struct{ old, new string }{
	"timestamp":      {`2026(.*/1")`, `2027$1`},
	"status":         {`"200"(.*"offset":"0")`, `"404"$1`},
	"media type":     {`text/html(.*"offset":"0")`, `text/plain$1`},
	"digest":         {`"digest":"\w*(".*"offset":"0")`, `"digest":"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ$1`},
	"other digest":   {`"digest":"\w*(".*"offset":"0")`, `"digest":"sha256:00$1`},
	"no digest":      {`"digest":"\w*(".*"offset":"0")`, `"digest":"-$1`},
	"revisit":        {`text/html(.*"offset":"0")`, `warc/revisit$1`},
	"redirect":       {`(/3.*"redirect":"http://a/)1`, `${1}2`},
	"no redirect":    {`(/3.*),"redirect":"http://a/1"`, `$1`},
	"new redirect":   {`(/1".*)}`, `$1,"redirect":"http://a/2"}`},
	"redirect code":  {`"302"`, `"301"`},
	"offset":         {`"offset":"0"`, `"offset":"1"`},
	"offset of /2":   {`"length":"\d*","offset":"0"`, `"length":"149","offset":"149"`},
	"far offset":     {`"offset":"0"`, `"offset":"9223372036854775807"`},
	"bad offset":     {`"offset":"0"`, `"offset":"-1"`},
	"length 0":       {`"length":"\d*","offset":"0"`, `"length":"0","offset":"0"`},
	"short length":   {`"length":"\d*","offset":"0"`, `"length":"140","offset":"0"`},
	"shorter length": {`"length":"\d*","offset":"0"`, `"length":"10","offset":"0"`},
	"long length":    {`"length":"\d*","offset":"0"`, `"length":"9223372036854775807","offset":"0"`},
	"bad length":     {`"length":"\d*","offset":"0"`, `"length":"x","offset":"0"`},
	"skip":           {`(/1".*)}`, `$1,"skip":"149"}`},
	"far skip":       {`(/1".*)}`, `$1,"skip":"9223372036854775807"}`},
	"no object":      {`(/1",).*`, `$1`},
}

func TestAFieldOfAnIndexThatDiffersFromTheRecordIsMended(t *testing.T) {
	for what, change := range forgeries {
		name := redirectingArchive(t)
		if _, err := WriteIndexFiles([]string{name}, nil); err != nil {
			t.Fatal(err)
		}
		sound := testfile.Read(t, name+indexSuffix)
		for _, read := range []func(r *Replay, url string) (*Page, error){
			(*Replay).Fetch,
			func(r *Replay, url string) (*Page, error) {
				all := r.Lookup(url)
				if len(all) != 1 || all[0].Redirect != "" {
					return r.Fetch(url)
				}
				return r.Read(all[0])
			},
		} {
			forgeIndex(t, name, change.old, change.new)
			var faults []error
			r, err := OpenReplay([]string{name}, ReplayOptions{Index: IndexOptions{Beside: true, Report: func(_ string, err error) { faults = append(faults, err) }}})
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			for _, want := range []Page{
				{URL: "http://a/1", Response: &Response{Head: message.Head{StatusCode: 200}, Body: []byte("hello")}},
				{URL: "http://a/2", Response: &Response{Head: message.Head{StatusCode: 200}, Body: []byte("world")}},
				{URL: "http://a/1", Response: &Response{Head: message.Head{StatusCode: 200}, Body: []byte("hello")}, Hops: []Hop{{"http://a/3", 302}}},
			} {
				url := want.URL
				if len(want.Hops) > 0 {
					url = want.Hops[0].URL
				}
				page, err := read(r, url)
				if err != nil || page.URL != want.URL || page.StatusCode != want.StatusCode || page.Truncated != "" || !bytes.Equal(page.Body, want.Body) ||
					!slices.Equal(page.Hops, want.Hops) || page.Digest != Digest(want.Body) || page.Length != 149 || page.Revisit {
					t.Errorf("%s: %s: %+v, %v", what, url, page, err)
				}
			}
			if len(faults) != 1 || !errors.Is(faults[0], ErrIndexDamaged) || !strings.Contains(faults[0].Error(), name+indexSuffix) {
				t.Errorf("%s: %v", what, faults)
			}
			if err := r.Close(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if now, err := os.ReadFile(name + indexSuffix); err != nil || !bytes.Equal(now, sound) {
				t.Errorf("%s: the index was not replaced: %v\n%s", what, err, now)
			}
		}
	}
}

// A zone may put the year of a date out of the range of four digits.
func TestAnIndexWithAnOddYearIsNotDamaged(t *testing.T) {
	for _, date := range []string{"9999-12-31T23:59:59-05:00", "0000-01-01T00:00:00+05:00"} {
		name := archiveOf(t, t.TempDir(), "a.warc", capture("http://a/1", date, 200, "", "hello"))
		for range 2 {
			if page, err := replay(t, name).Fetch("http://a/1"); err != nil || string(page.Body) != "hello" {
				t.Errorf("%s: %v", date, err)
			}
		}
	}
}

// A line that no search finds is never compared with the archive.
func TestALineThatIsNoneIsNoticed(t *testing.T) {
	for what, change := range map[string]struct{ old, new string }{
		"null":         {`(/1 \d+) .*`, `$1 null`},
		"no timestamp": {`(/1) \d+ .*`, `$1`},
		"a letter":     {`(/1 \d+) {"url"`, `$1 {"uri"`},
		"an array":     {`(/1 \d+) {.*`, `$1 ["url"]`},
		"a number":     {`(/1 \d+) {"url":".*`, `$1 {"url":7}`},
		"empty":        {`.*/1 .*`, ``},
		"not sorted":   {`^(.*\n)(.*\n)(.*\n)$`, `$3$1$2`},
	} {
		name := redirectingArchive(t)
		forgeIndex(t, name, change.old, change.new)
		if r := replay(t, name); !r.Has("http://a/1") || !r.Has("http://a/2") || !r.Has("http://a/3") {
			t.Errorf("%s: a page is lost", what)
		}
	}
}

// A crawl writes a revisit of what Original returns, and no copy of the payload.
func TestOriginalComparesTheIndexWithTheRecord(t *testing.T) {
	for what, change := range forgeries {
		name := redirectingArchive(t)
		forgeIndex(t, name, change.old, change.new)
		r := replay(t, name)
		for _, digest := range []string{Digest(nil), Digest([]byte("world"))} {
			if c, ok := r.Original("http://a/1", digest); ok {
				t.Errorf("%s: %+v has another payload", what, c)
			}
		}
		if c, ok := r.Original("http://a/3", ""); ok {
			t.Errorf("%s: %+v is a redirect", what, c)
		}
	}
}

func TestAForgedDigestDoesNotHideTheOriginalOfARevisit(t *testing.T) {
	body := strings.Repeat("a page of some length. ", 100)
	first := capture("http://a/1", old, 200, "", body)
	again := revisit("http://a/2", refersURI, "http://a/1", refersDate, old, payloadIs, Digest([]byte(body)))
	name := archiveOf(t, t.TempDir(), "x.warc", first, again)
	if page, err := replay(t, name).Fetch("http://a/2"); err != nil || string(page.Body) != body {
		t.Fatalf("%+v, %v", page, err)
	}
	forgeIndex(t, name, `("url":"http://a/1".*"digest":)"\w*"`, `$1"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"`)
	if page, err := replay(t, name).Fetch("http://a/2"); err != nil || string(page.Body) != body {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestAForgedIndexInAReadOnlyDirectoryIsNotUsed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write to it")
	}
	name := redirectingArchive(t)
	forgeIndex(t, name, `"302"`, `"301"`)
	testfile.Check(t, os.Chmod(filepath.Dir(name), 0o555))
	defer os.Chmod(filepath.Dir(name), 0o777)
	if page, err := replay(t, name).Fetch("http://a/3"); err != nil || page.Hops[0].StatusCode != 302 {
		t.Errorf("%+v, %v", page, err)
	}
}

// FuzzIndexFile puts an index with arbitrary lines and a right first line, or arbitrary bytes,
// beside an archive: every answer is that of the archive.
func FuzzIndexFile(f *testing.F) {
	dir := f.TempDir()
	page := func(url, body string) string { return capture(url, old, 200, "", body) }
	members := zip(page("http://a/1", "hello"), page("http://a/2", "world"), capture("http://a/3", old, 301, "http://a/1", ""), page("http://a/b?c=d", "more"))
	members += zip(page("http://a/4", "shares") + page("http://a/5", "a member")) // with Skip
	name := fileOf(f, dir, "a.warc.gz", []byte(members))
	urls := []string{"http://a/1", "http://a/2", "http://a/3", "http://a/4", "http://a/5", "http://a/b?c=d"}
	answers := func(t testing.TB, r *Replay, url string) string {
		p, err := r.Fetch(url)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(p.URL, p.StatusCode, p.Digest, p.Length, p.Offset, p.Hops, string(p.Body))
	}
	r := replay(f, name)
	want := map[string]string{}
	for _, url := range urls {
		want[url] = answers(f, r, url)
	}
	data, err := os.ReadFile(name + indexSuffix)
	if err != nil {
		f.Fatal(err)
	}
	x, err := newIndex(data, noRelease)
	if err != nil {
		f.Fatal(err)
	}
	meta, sound := x.Meta, data[x.first:]
	f.Add(sound, false)
	f.Add(data, true)
	f.Add(data[:len(data)-1], true)
	f.Add([]byte("!meta {\"spoor-cdxj\":4}\n"), true)
	f.Add(bytes.ReplaceAll(sound, []byte("http://a/2"), []byte("http://a/1")), false)
	f.Add(bytes.ReplaceAll(sound, []byte(`"offset":"`), []byte(`"offset":"1`)), false)
	f.Add(bytes.ReplaceAll(sound, []byte(`"skip":"`), []byte(`"skip":"9223372036854775`)), false)
	f.Add(bytes.ReplaceAll(sound, []byte(`"length":"`), []byte(`"length":"9`)), false)
	f.Add(bytes.ReplaceAll(sound, []byte("\n"), []byte("\n\n")), false)
	f.Add(bytes.ReplaceAll(sound, []byte(`"200"`), []byte(`"-1"`)), false)
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		if !whole {
			data = indexOf(meta, data)
		}
		testfile.Write(t, name+indexSuffix, data)
		r := replay(t, name)
		for _, url := range urls {
			has := r.Has(url)
			got := answers(t, r, url)
			if got != want[url] && got != ErrNotArchived.Error() {
				t.Fatalf("%s: %s, want %s", url, got, want[url])
			}
			if !has && got == want[url] && !r.Has(url) {
				t.Fatalf("%s is answered, but not there", url)
			}
			for _, c := range r.Lookup(url) {
				if c.URL != url || c.Timestamp != strings.NewReplacer("-", "", ":", "", "T", "", "Z", "").Replace(old) {
					t.Fatalf("%s: %+v", url, c)
				}
			}
		}
	})
}
