package archive

import (
	"slices"
	"strings"
	"testing"
)

func TestReadInOrderIsReadForEachPage(t *testing.T) {
	records := []string{
		capture("http://a/", old, 200, "", "root"),
		capture("http://a/moved", old, 301, "/", ""),
		capture("http://a/twice", newer, 200, "", "newer"),
		capture("http://a/twice", old, 200, "", "older"),
		capture("http://a/large", old, 200, "", strings.Repeat("large ", 50_000)),
		revisit("http://a/revisited", refersURI, "http://a/", refersDate, old, payloadIs, Digest([]byte("root"))),
		capture("http://a/%22\\?\"\\", old, 200, "", "escaped"),
	}
	all := strings.Join(records, "")
	dir := t.TempDir()
	r := replay(t, fileOf(t, dir, "one.warc.zst", []byte(zst(all))), fileOf(t, dir, "each.warc.gz", []byte(zip(records...))), fileOf(t, dir, "plain.warc", []byte(all)))
	var captures []Capture
	var want []string
	for _, url := range r.URLs() {
		for _, c := range r.Lookup(url) {
			captures = append(captures, c)
			if c.Redirect != "" || c.Revisit() {
				continue
			}
			p, err := r.Read(c)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, p.Filename+" "+p.URL+" "+string(p.Body))
		}
	}
	if n := 3 * 5; len(want) != n {
		t.Fatalf("%d pages, want %d", len(want), n)
	}
	slices.Reverse(captures)
	var got []string
	for p := range r.ReadInOrder(captures) {
		got = append(got, p.Filename+" "+p.URL+" "+string(p.Body))
	}
	if first := "each.warc.gz http://a/ root"; got[0] != first {
		t.Errorf("%q is first", got[0])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %.300q, want %.300q", got, want)
	}
}

func TestReadInOrderRebuildsAWrongIndex(t *testing.T) {
	for name, forgery := range forgeries {
		t.Run(name, func(t *testing.T) {
			path := redirectingArchive(t)
			forgeIndex(t, path, forgery.old, forgery.new)
			r := replay(t, path)
			read := func() (pages int) {
				var used []Capture
				for _, url := range r.URLs() {
					_, captures, _ := r.Resolve(url)
					used = append(used, captures...)
				}
				for range r.ReadInOrder(used) {
					pages++
				}
				return pages
			}
			if n := read(); r.Rebuilt() == 0 && n == 2 {
				t.Error("the wrong index was not noticed")
			}
			r.Fetch("http://a/1") // if its page was omitted
			if n := read(); n != 2 {
				t.Errorf("%d pages", n)
			}
		})
	}
}
