package archive

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// later is a date after newer.
const later = "2022-01-01T00:00:00Z"

// httpRecord returns a record of a response with that head, whose lines end with a newline.
func httpRecord(kind, url, date, head, body string, fields ...string) string {
	block := "HTTP/1.1 " + strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
	return record(kind, url, date, block, slices.Concat(fields, []string{"Content-Type", "application/http; msgtype=response"})...)
}

// answer fetches a page, and returns its status and body, or its error.
func answer(r *Replay, url string) string {
	page, err := r.Fetch(url)
	switch {
	case errors.Is(err, ErrNotArchived):
		return "not archived"
	case errors.Is(err, ErrRedirectLoop):
		return "loop"
	case err != nil:
		return err.Error()
	}
	return fmt.Sprint(page.StatusCode, " ", string(page.Body))
}

func TestAWholePageIsPreferredToAPartAndAPartToNothing(t *testing.T) {
	const u = "http://a/"
	page := capture(u, old, 200, "", "page")
	first := parsePick(t, "first")
	for _, c := range []struct {
		name    string
		records []string
		want    string
	}{
		{"a 304", []string{page, httpRecord("response", u, newer, "304 Not Modified", "")}, "200 page"},
		{"only a 304", []string{httpRecord("response", u, newer, "304 Not Modified", "")}, "304 "},
		{"only a range", []string{httpRecord("response", u, newer, "206 X\nContent-Range: bytes 0-1/4", "pa")}, "206 pa"},
		{"a range", []string{page, httpRecord("response", u, newer, "206 Partial Content\nContent-Range: bytes 0-1/4", "pa")}, "200 page"},
		{"a range from the middle", []string{page, httpRecord("response", u, newer, "206 X\nContent-Range: bytes 2-3/4", "ge")}, "200 page"},
		{"a range of an unknown length", []string{page, httpRecord("response", u, newer, "206 X\nContent-Range: bytes 0-3/*", "page")}, "200 page"},
		{"no range", []string{page, httpRecord("response", u, newer, "206 X", "pa")}, "200 page"},
		{"a range that is the whole", []string{page, httpRecord("response", u, newer, "206 X\ncontent-range: Bytes 0-2/3", "new")}, "206 new"},
		{"a truncated page", []string{page, httpRecord("response", u, newer, "200 OK", "pa", "WARC-Truncated", "length")}, "200 page"},
		{"an error and a truncated page", []string{capture(u, old, 503, "", "busy"), httpRecord("response", u, newer, "200 OK", "pa", "WARC-Truncated", "disconnect")}, "200 pa"},
		{"a redirect and a truncated page", []string{capture(u, old, 302, "http://a/gone", ""), httpRecord("response", u, newer, "200 OK", "pa", "WARC-Truncated", "disconnect")}, "200 pa"},
		{"the first segment of a page", []string{page, httpRecord("response", u, newer, "200 OK", "pa", "WARC-Segment-Number", "1")}, "200 page"},
		{"a range and a 304", []string{httpRecord("response", u, old, "206 X\nContent-Range: bytes 0-1/4", "pa"), httpRecord("response", u, newer, "304 Not Modified", "")}, "206 pa"},
		{"a redirect to itself and a 304", []string{httpRecord("response", u, old, "304 Not Modified", ""), capture(u, newer, 302, u, "")}, "304 "},
		{"a revisit of a range", []string{page, capture("http://b/", old, 200, "", "pa"),
			httpRecord("revisit", u, newer, "206 X\nContent-Range: bytes 0-1/4", "", refersURI, "http://b/", refersDate, old)}, "200 page"},
		{"a truncated revisit", []string{page, capture("http://b/", old, 200, "", "other"),
			httpRecord("revisit", u, newer, "200 OK", "", refersURI, "http://b/", refersDate, old, "WARC-Truncated", "length")}, "200 other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := archiveOf(t, t.TempDir(), "x.warc.gz", c.records...)
			if got := answer(replay(t, path), u); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			// The rank comes before the date.
			slices.Reverse(c.records)
			swapped := strings.NewReplacer(old, newer, newer, old)
			for i := range c.records {
				c.records[i] = swapped.Replace(c.records[i])
			}
			r := replayWith(t, ReplayOptions{Pick: first}, archiveOf(t, t.TempDir(), "x.warc.gz", c.records...))
			if got := answer(r, u); got != c.want {
				t.Errorf("the first: got %q, want %q", got, c.want)
			}
		})
	}
}

func TestARecordThatIsTornIsAPart(t *testing.T) {
	page, torn := capture("http://a/", old, 200, "", "page"), capture("http://a/", newer, 200, "", strings.Repeat("a longer page ", 1000))
	for name, file := range map[string]string{
		"plain":  page + torn[:len(torn)-100],
		"member": zip(page) + zip(torn)[:len(zip(torn))-20],
		"frame":  zst(page) + zst(torn)[:len(zst(torn))-20],
	} {
		r := replay(t, fileOf(t, t.TempDir(), "x.warc", []byte(file)))
		if got := answer(r, "http://a/"); got != "200 page" {
			t.Errorf("%s: %.40q", name, got)
		}
	}
}

func TestAPageThatWasNotModifiedIsThatBeforeIt(t *testing.T) {
	const u = "http://a/"
	profile := []string{"WARC-Profile", serverNotModified}
	head := "304 Not Modified\nETag: \"x\""
	confirm := func(fields ...string) string {
		return httpRecord("revisit", u, newer, head, "", slices.Concat(profile, fields)...)
	}
	before, between := capture(u, old, 200, "", "page"), "2020-06-01T00:00:00Z"
	nothing := Digest(nil)
	for _, c := range []struct {
		name    string
		records []string
		want    string // of the revisit, and of its address if that differs
	}{
		{"by its address", []string{before, confirm(refersURI, u)}, "200 page"},
		{"by another address", []string{capture("http://b/", old, 200, "", "other"), before, confirm(refersURI, "http://b/")}, "200 other"},
		{"by nothing", []string{before, confirm()}, "200 page"},
		{"by nothing, without a response", []string{before, revisit(u, profile...)}, "200 page"},
		{"in another case", []string{before, httpRecord("Revisit", u, newer, head, "", profile...)}, "200 page"},
		{"without a profile", []string{before, httpRecord("revisit", u, newer, head, "")}, "200 page"},
		{"with another profile", []string{before, httpRecord("revisit", u, newer, head, "", "WARC-Profile", identicalPayload)}, "200 page"},
		{"truncated, as Heritrix writes it", []string{before, confirm("WARC-Truncated", "length")}, "200 page"},
		{"with the digest of nothing", []string{before, capture(u, between, 200, "", ""), confirm(payloadIs, nothing, refersURI, u, refersDate, old)}, "200 page"},
		{"with the digest of nothing, which another has", []string{capture(u, "2019-01-01T00:00:00Z", 200, "", ""), before, confirm(payloadIs, nothing)}, "200 page"},
		{"the newest before it", []string{before, capture(u, between, 200, "", "changed"), confirm()}, "200 changed"},
		{"of the same second", []string{before, capture(u, newer, 200, "", "changed"), confirm()}, "200 changed"},
		{"not an error", []string{before, capture(u, between, 503, "", "busy"), confirm()}, "200 page"},
		{"not a redirect", []string{before, capture(u, between, 302, "http://b/", ""), confirm()}, "200 page"},
		{"not a part", []string{before, httpRecord("response", u, between, "206 X\nContent-Range: bytes 0-1/4", "pa"), confirm()}, "200 page"},
		{"not another 304", []string{before, httpRecord("response", u, between, "304 X", "", payloadIs, nothing), confirm(payloadIs, nothing, refersURI, u, refersDate, between)}, "200 page"},
		{"after others like it", append(slices.Repeat([]string{httpRecord("revisit", u, between, head, "", profile...)}, 9), before, confirm()), "200 page"},
		{"after a page that is elsewhere", []string{before, capture("http://b/", old, 200, "", "copy"),
			httpRecord("revisit", u, between, "200 OK", "", payloadIs, Digest([]byte("copy")), refersURI, "http://b/"), confirm()}, "200 copy"},
		{"of a date that is not there, but a newer one", []string{capture(u, between, 200, "", "page"), confirm(refersDate, old, refersURI, u)}, "200 page"},
		{"of a date that is not there", []string{before, confirm(refersDate, between, refersURI, u)}, "not archived / 200 page"},
		{"of an address that is not there", []string{before, confirm(refersDate, newer, refersURI, "http://lost/")}, "not archived / 200 page"},
		{"of an address that is not there, without a page", []string{confirm(refersDate, newer, refersURI, "http://lost/")}, "not archived"},
		{"of an identifier that is not there", []string{before, confirm(refersID, "<urn:x:none>")}, "200 page"},
		{"before the only page", []string{capture(u, later, 200, "", "changed"), confirm()}, "not archived / 200 changed"},
		{"without a page", []string{capture("http://b/", old, 200, "", "other"), confirm()}, "not archived"},
		{"after an error only", []string{capture(u, old, 404, "", "no"), confirm()}, "not archived / 404 no"},

		{"identical by its address", []string{before, httpRecord("revisit", u, newer, "200 OK", "", "WARC-Profile", identicalPayload, refersURI, u)}, "200 page"},
		{"identical to an error", []string{capture(u, old, 404, "", "no"), httpRecord("revisit", u, newer, "404 X", "", refersURI, u)}, "404 no"},
		{"identical by nothing", []string{before, httpRecord("revisit", u, newer, "200 OK", "", "WARC-Profile", identicalPayload)}, "200 page"},
		{"identical by a digest that nothing has", []string{before, httpRecord("revisit", u, newer, "200 OK", "", refersURI, u, payloadIs, Digest([]byte("other")))}, "not archived / 200 page"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", c.records...))
			var got string
			for _, x := range r.Lookup(u) {
				if !x.Revisit() || x.Timestamp != "20210101000000" {
					continue
				}
				page, err := r.Read(x)
				if got = "not archived"; !errors.Is(err, ErrNotArchived) {
					got = fmt.Sprint(page.StatusCode, " ", string(page.Body))
				}
			}
			if fetched := answer(r, u); fetched != got {
				got += " / " + fetched
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestIfAnOriginalIsMissingTheNextCaptureAnswers(t *testing.T) {
	const u = "http://a/"
	lost := func(date string) string {
		return httpRecord("revisit", u, date, "200 OK", "", refersURI, "http://lost/", refersDate, old, payloadIs, Digest([]byte(date)))
	}
	many := []string{capture(u, old, 200, "", "page")}
	for i := range 30 {
		many = append(many, lost(fmt.Sprintf("2021-01-%02dT00:00:00Z", i+1)))
	}
	for _, c := range []struct {
		name    string
		records []string
		want    string
	}{
		{"a page", []string{capture(u, old, 200, "", "page"), lost(newer)}, "200 page"},
		{"a later page", []string{lost(old), capture(u, newer, 200, "", "page")}, "200 page"},
		{"a part", []string{httpRecord("response", u, old, "206 X", "pa"), lost(newer)}, "206 pa"},
		{"a redirect", []string{capture(u, old, 302, "http://b/", ""), capture("http://b/", old, 200, "", "b"), lost(newer)}, "200 b"},
		{"another revisit", []string{capture("http://b/", old, 200, "", "b"), httpRecord("revisit", u, newer, "200 OK", "", refersURI, "http://b/", refersDate, old), lost(later)}, "200 b"},
		{"after many", many, "200 page"},
		{"nothing", []string{lost(old), lost(newer)}, "not archived"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", c.records...))
			if got := answer(r, u); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			page, err := r.Fetch(u)
			if to, _, e := r.Resolve(u); to != page.URL || (e == nil) != (err == nil) {
				t.Errorf("it leads to %s, %v, not to %s, %v", to, e, page.URL, err)
			}
			if err != nil && !strings.Contains(err.Error(), "http://lost/") {
				t.Errorf("the error does not name the original: %v", err)
			}
		})
	}
}

func TestARedirectThatComesBackEndsAtAnotherCapture(t *testing.T) {
	const u = "http://a/"
	for _, pick := range []string{"newest", "first"} {
		turn := "2020-06-01T00:00:00Z" // is chosen
		page, chosen := old, newer
		if pick == "first" {
			page, chosen = newer, old
		}
		p := parsePick(t, pick)
		for _, c := range []struct {
			name    string
			records []string
			want    string
			hops    int
		}{
			{"by another address", []string{capture(u, chosen, 302, "/cookie", ""), capture("http://a/cookie", turn, 302, "/", ""), capture(u, page, 200, "", "page")}, "200 page", 2},
			{"by itself", []string{capture(u, chosen, 302, "/", ""), capture(u, page, 200, "", "page")}, "200 page", 0},
			{"without a page", []string{capture(u, chosen, 302, "/cookie", ""), capture("http://a/cookie", turn, 302, "/", ""), capture(u, page, 302, "http://b/", "")}, "loop", 2},
			{"with a revisit of nothing", []string{capture(u, chosen, 302, "/cookie", ""), capture("http://a/cookie", turn, 302, "/", ""), httpRecord("revisit", u, page, "200 OK", "", refersURI, "http://lost/", payloadIs, Digest([]byte("lost")))}, "loop", 2},
		} {
			r := replayWith(t, ReplayOptions{Pick: p}, archiveOf(t, t.TempDir(), "x.warc.gz", c.records...))
			got := answer(r, u)
			found, err := r.Fetch(u)
			if got != c.want || len(found.Hops) != c.hops || found.URL != u {
				t.Errorf("%s %s: %q, %+v", pick, c.name, got, found)
			}
			if to, _, e := r.Resolve(u); to != u || (e == nil) != (err == nil) {
				t.Errorf("%s %s: it leads to %s, %v", pick, c.name, to, e)
			}
			r.Close()
		}
	}
}

func TestAPackedIndexOmitsCapturesWithoutAPage(t *testing.T) {
	part := "206 X\nContent-Range: bytes 0-1/4"
	nothing := "304 Not Modified"
	path := archiveOf(t, t.TempDir(), "x.warc.gz",
		capture("http://a/x", newer, 200, "", "page"),
		httpRecord("response", "http://a/x", old, part, "pa"),
		httpRecord("response", "http://a/x", "2021-06-01T00:00:00Z", nothing, ""),
		httpRecord("revisit", "http://a/x", later, nothing, "", "WARC-Profile", serverNotModified),
		httpRecord("response", "http://www.a/x", old, part, "pa"), // which has the same key
		httpRecord("response", "http://www.a/x", later, nothing, ""),
		capture("http://a/X", later, 200, "", "Page"),
		capture("http://a/y", old, 404, "", "gone"),
		httpRecord("response", "http://a/y", newer, nothing, ""),
		httpRecord("response", "http://a/z", newer, nothing, ""),
	)
	files := packedFiles(t, pack(t, PackOptions{}, path))
	var got []string
	for line := range strings.Lines(files["indexes/index.cdxj"]) {
		c, err := parseLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(c.URL, " ", c.Timestamp[:4], " ", cmp.Or(c.Status, http.StatusOK)))
	}
	// The software that replays packages chooses by date, and shows nothing for a status 304.
	want := []string{"http://a/x 2021 200", "http://a/X 2022 200", "http://a/y 2020 404"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if files["archive/x.warc.gz"] != string(must(os.ReadFile(path))) {
		t.Error("records are left out")
	}
}
