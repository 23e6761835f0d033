package archive

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestPick(t *testing.T) {
	dir := t.TempDir()
	archiveOf(t, dir, "a.warc.gz",
		capture("http://a/", "2020-01-01T00:00:00Z", 200, "", "2020 a"),
		capture("http://a/", "2022-03-01T00:00:00Z", 200, "", "2022-03"),
		capture("http://a/", "2022-06-01T12:00:00Z", 200, "", "2022-06"),
		capture("http://a/moved", "2020-01-01T00:00:00Z", 301, "http://a/", ""),
	)
	archiveOf(t, dir, "b.warc.gz",
		capture("http://a/", "2024-01-01T00:00:00Z", 200, "", "2024"),
		capture("http://a/", "2020-01-01T00:00:00Z", 200, "", "2020 b"),
		capture("http://a/", "2020-01-01T00:00:00Z", 200, "", "2020 b, later"),
	)
	for pick, want := range map[string]string{
		"": "2024", "newest": "2024", "first": "2020 a",
		"1999": "2020 b, later", "2030": "2024",
		"2020": "2020 b, later", "2022": "2022-06", "202203": "2022-03", "202204": "2022-03", "20220516": "2022-06",
		"20220415": "2022-03", "2022060112": "2022-06", "202206011200": "2022-06", "20220601120000": "2022-06",
		"20230101000000": "2022-06", "20230601000000": "2024", "2022-03-01": "2022-03", "2022-04-01T00:00:00+02:00": "2022-03",
		"20220416060000": "2022-06", // as far from one as from the other
	} {
		p := parsePick(t, pick)
		r := replayWith(t, ReplayOptions{Index: IndexOptions{Beside: true}, Pick: p}, dir)
		for _, url := range []string{"http://a/", "http://a/moved"} {
			if page, err := r.Fetch(url); err != nil || string(page.Body) != want {
				t.Errorf("%s of %s: %s, %v, want %s", p, url, page.Body, err, want)
			}
		}
	}
}

// TestManyCaptures fetches pages with so many captures that the captures are kept.
func TestManyCaptures(t *testing.T) {
	dir := t.TempDir()
	write := func(body string) {
		var all []string
		for i := range 3 * longList {
			date := time.Date(2020, 1, 1, 0, i, 0, 0, time.UTC).Format(time.RFC3339)
			all = append(all, capture("http://a/", date, 200, "", fmt.Sprint(body, i)), capture("http://a/b", date, 302, "http://a/", ""))
		}
		archiveOf(t, dir, "a.warc.gz", all...)
	}
	write("page ")
	for pick, want := range map[string]string{"newest": "page 191", "first": "page 0", "202001010115": "page 75"} {
		p := parsePick(t, pick)
		r := replayWith(t, ReplayOptions{Index: IndexOptions{Beside: true}, Pick: p}, dir)
		for _, url := range []string{"http://a/", "http://a/b", "http://a/", "http://a/b"} {
			if page, err := r.Fetch(url); err != nil || string(page.Body) != want {
				t.Errorf("%s of %s: %s, %v, want %s", pick, url, page.Body, err, want)
			}
		}
		if len(r.long.lists) != 2 {
			t.Errorf("%s: %d lists are kept", pick, len(r.long.lists))
		}
		key := r.listKey("http://a/", p)
		if r.long.isConfirmed(key) || len(r.Lookup("http://a/")) != 3*longList || !r.long.isConfirmed(key) {
			t.Errorf("%s: Lookup does not confirm the captures", pick)
		}
		long := strings.Repeat("x", 8<<10)
		for i := range maxLists/len(long)/longList + 1 { // other URLs
			r.long.get(listKey{url: fmt.Sprint(i)}, func() []Capture {
				list := make([]Capture, longList)
				list[0].URL = strings.Repeat(long, longList)
				return list
			})
			held := 0
			for _, kept := range r.long.lists {
				for _, c := range kept.captures {
					held += c.memory()
				}
			}
			if held != r.long.bytes || held > maxLists {
				t.Fatalf("%d bytes are kept, counted as %d", held, r.long.bytes)
			}
		}
		huge := func() []Capture { return make([]Capture, maxLists/256+1) }
		if r.long.get(listKey{url: "huge"}, huge); r.long.lists[listKey{url: "huge"}] != nil {
			t.Error("a list that is too long is kept")
		}
	}

	r := replay(t, dir)
	for _, body := range []string{"page ", ""} { // the file must not grow
		write(body)
		for range 2 {
			page, err := r.Fetch("http://a/b")
			if err != nil {
				t.Fatal(err)
			}
			if string(page.Body) != body+"191" {
				t.Fatalf("the archive was changed to %q: %s, %v", body, page.Body, err)
			}
		}
	}
}

func TestPickString(t *testing.T) {
	for _, s := range []string{"newest", "first", "2020", "0001", "202002", "20200229", "2020-02-29", "2020-02-29T01:02:03.5+02:00"} {
		if p, err := ParsePick(s); err != nil || p.String() != s {
			t.Errorf("%s: %v, %v", s, p, err)
		}
	}
	for _, s := range []string{"last", "202", "20201", "202013", "20200230", "2020-02-30", "202001010000000", "-2020", "２０２０", "2020-02-29T01:02:03"} {
		if _, err := ParsePick(s); err == nil || !strings.Contains(err.Error(), "(hint: ") {
			t.Errorf("%s: %v", s, err)
		}
	}
}
