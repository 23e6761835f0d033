package strategy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// A filed web has files: pages whose address ends with .csv or .pdf. fetch stores CSV and refuses PDF.
type filed struct{ taught }

func (w filed) fetch(a Address, generation int) *wire.Record {
	rec := w.taught.fetch(a, generation)
	switch {
	case rec.Error != "":
	case strings.HasSuffix(a.URL, ".csv"):
		rec.ContentType = "text/csv"
	case strings.HasSuffix(a.URL, ".pdf"):
		rec.ContentType, rec.Error = "application/pdf", wire.ErrorUnsupportedType
	default:
		rec.ContentType = "text/html"
	}
	return rec
}

// statistics returns a site of 15 subjects. The page of a subject has a list of 4 yearbooks, each
// with 5 files, and news, which lead to other news.
func statistics() filed {
	rng := rand.New(rand.NewPCG(3, 3))
	w := filed{taught{}}
	const site = "http://stat.test/"
	link := func(to, path string) wire.Link { return wire.Link{URL: site + to, Path: path} }
	news := func() wire.Link {
		return link(fmt.Sprintf("news/%d/story-%d", 2000+rng.IntN(20), rng.IntN(40)), "html/body/div.news/p/a")
	}
	var home taughtPage
	for i := range 15 {
		subject := fmt.Sprintf("subjects/%d", i)
		home.links = append(home.links, link(subject, "html/body/ul.menu/li/a"), news())
		var p taughtPage
		for k := range 4 {
			book := fmt.Sprintf("%s/yearbook-%d", subject, 2000+k)
			p.links = append(p.links, news(), link(book, "html/body/div.list/ul/li/a"))
			var b taughtPage
			for f := range 5 {
				file := fmt.Sprintf("data/%d/table_%d_%d.%s", i, k, f, []string{"csv", "pdf"}[f%2])
				b.links = append(b.links, news(), link(file, "html/body/table/tr/td/a.file"))
				w.taught[site+file] = taughtPage{}
			}
			w.taught[site+book] = b
		}
		w.taught[site+subject] = p
	}
	w.taught[site] = home
	for year := 2000; year < 2020; year++ {
		for story := range 40 {
			var p taughtPage
			for range 12 {
				p.links = append(p.links, news())
			}
			w.taught[fmt.Sprintf("%snews/%d/story-%d", site, year, story)] = p
		}
	}
	return w
}

// filesOf returns the number of fetched files whose addresses end with one of the suffixes.
func filesOf(lines []string, suffixes ...string) (n int) {
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ", ") {
			page, _, _ := strings.Cut(item, " ")
			if slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(page, s) }) {
				n++
			}
		}
	}
	return n
}

// After 400 fetches, ten per generation, tagpath has found three times as many files as breadthfirst.
// With targets=application/pdf it has found mostly PDF files after 150.
func TestTagPathFindsFiles(t *testing.T) {
	w := statistics()
	find := func(kind string, generations int, params ...string) (csv, pdf int) {
		lines := crawl(t, w, kind, params, 10, generations, "stat.test/")
		return filesOf(lines, ".csv"), filesOf(lines, ".pdf")
	}
	csv, pdf := find("breadthfirst", 40)
	plain := csv + pdf
	csv, pdf = find("tagpath", 40, "targets=files")
	t.Logf("breadthfirst finds %d files, tagpath %d", plain, csv+pdf)
	if plain == 0 || csv+pdf < 3*plain {
		t.Errorf("tagpath found %d files, breadthfirst %d: want three times as many", csv+pdf, plain)
	}
	csv, pdf = find("tagpath", 15, "targets=application/pdf")
	t.Logf("with targets=application/pdf, tagpath finds %d CSV files and %d PDF files", csv, pdf)
	if pdf < 3*csv {
		t.Errorf("tagpath found %d PDF files and %d CSV files, want three times as many PDF files", pdf, csv)
	}
}

// By hand: five pages and five files from one page, the batch of ten. The pages have the links of
// no other page, so the classifier sees 2-grams of "p.html" and "f.csv" only. A file that was not
// predicted counts for the arm of its page: the seed has no arm. Page p1 has two new links, and
// the classifier predicts that one leads to a file: 1 reward for 5 pulls of pages.
func TestRewardIsTheNumberOfFiles(t *testing.T) {
	const site = "http://stat.test/"
	var home taughtPage
	w := filed{taught{}}
	for i := range 5 {
		home.links = append(home.links, wire.Link{URL: fmt.Sprintf("%sp%d.html", site, i), Path: "ul/a"}, wire.Link{URL: fmt.Sprintf("%sf%d.csv", site, i), Path: "ol/a"})
		w.taught[home.links[2*i].URL], w.taught[home.links[2*i+1].URL] = taughtPage{}, taughtPage{}
	}
	w.taught[site] = home
	w.taught[site+"p1.html"] = taughtPage{links: []wire.Link{{URL: site + "f6.csv", Path: "ol/a"}, {URL: site + "p6.html", Path: "ul/a"}}}
	s := newStrategy(t, "tagpath", nil, []string{"targets=files"}).(*tagPath)
	batch := seeds("stat.test/")
	var next []Address
	for g := 1; g <= 2; g++ {
		for _, a := range batch {
			s.Visit(w.fetch(a, g))
		}
		next = s.Breed(10, rand.New(rand.NewPCG(1, uint64(g))))
		batch = next
	}
	pages, files := s.arms[0], s.arms[1]
	if pages.pulls != 5 || pages.reward != 1 || files.pulls != 0 || files.reward != 0 {
		t.Errorf("the arm of pages is %+v, the arm of files %+v; want 5 pulls with a reward of 1, and none", pages, files)
	}
	if len(next) != 2 || next[0].URL != site+"f6.csv" || next[0].Operator != opTarget || next[1].Operator != opLink {
		t.Errorf("the next addresses are %v, want the file, then the page", next)
	}
	// The prediction was wrong: the page is a pull, and the reward is taken back.
	s.Visit(&wire.Record{URL: site + "f6.csv", StatusCode: 200, ContentType: "text/html"})
	s.Breed(10, rand.New(rand.NewPCG(1, 3)))
	if pages, files := s.arms[0], s.arms[1]; pages.reward != 0 || files.pulls != 1 {
		t.Errorf("after a wrong prediction the arms are %+v and %+v, want no reward, and a pull of the second", pages, files)
	}
}

func TestPairsOfAddress(t *testing.T) {
	pair := func(s string) feature { return feature(s[0]-' ')*95 + feature(s[1]-' ') }
	if got, want := appendPairs(nil, "Http:/ä:a:a"), []feature{pair("ht"), pair("tt"), pair("tp"), pair("p:"), pair(":/"), pair(":a"), pair("a:"), pair(":a")}; !slices.Equal(got, want) {
		t.Errorf("the pairs are %v, want %v", got, want)
	}
	if got := appendPairs(nil, strings.Repeat("x", 5000)+".csv"); len(got) != readURL-1 || got[len(got)-1] != pair("sv") {
		t.Errorf("a long address has %d pairs, the last is %d; want %d and %d", len(got), got[len(got)-1], readURL-1, pair("sv"))
	}
}

func TestTargetsAreMediaTypes(t *testing.T) {
	for targets, want := range map[string]bool{
		"relevant": true, "files": true, "application/pdf": true, "application/pdf,text/csv": true, "image/*": true,
		"": false, "pdf": false, "text/csv,": false, "text/csv;charset=utf-8": false, "*/*": false, "text/c*": false, "Text/CSV": false,
	} {
		if _, err := New("tagpath", nil, []string{"targets=" + targets}); (err == nil) != want {
			t.Errorf("targets=%s: %v, want valid: %t", targets, err, want)
		}
	}
	rec := func(status int, err, media string) *wire.Record {
		return &wire.Record{URL: address("a"), StatusCode: status, Error: err, ContentType: media}
	}
	for _, test := range []struct {
		targets string
		rec     *wire.Record
		want    bool
	}{
		{"files", rec(200, "", "application/pdf"), true},
		{"files", rec(200, wire.ErrorUnsupportedType, "application/pdf"), true},
		{"files", rec(200, "", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"), true},
		{"files", rec(200, wire.ErrorTimeout, "application/pdf"), false},
		{"files", rec(404, "", "application/pdf"), false},
		{"files", rec(200, "", "text/html"), false},
		{"files", rec(200, wire.ErrorUnsupportedType, "image/png"), false},
		{"files", rec(200, "", ""), false},
		{"image/*,text/csv", rec(200, wire.ErrorUnsupportedType, "image/png"), true},
		{"image/*,text/csv", rec(200, "", "application/pdf"), false},
	} {
		s := newStrategy(t, "tagpath", nil, []string{"targets=" + test.targets}).(*tagPath)
		if got := s.isTarget(test.rec); got != test.want {
			t.Errorf("targets=%s: %d %s %s is a target: %t", test.targets, test.rec.StatusCode, test.rec.ContentType, test.rec.Error, got)
		}
	}
}

// A restored search for files continues like the original.
func TestSearchForFilesIsRestored(t *testing.T) {
	w := statistics()
	params := []string{"targets=text/csv"}
	live := newStrategy(t, "tagpath", nil, params)
	var deltas [][]byte
	batch := seeds("stat.test/")
	targets := 0
	for g := 1; g <= 25; g++ {
		back := newStrategy(t, "tagpath", nil, params)
		for _, d := range deltas {
			if err := back.Replay(d); err != nil {
				t.Fatal(err)
			}
		}
		var bred [2][]Address
		for i, s := range []Strategy{live, back} {
			for _, a := range batch {
				s.Visit(w.fetch(a, g))
			}
			bred[i] = s.Breed(7, rand.New(rand.NewPCG(1, uint64(g))))
		}
		if got, want := fmt.Sprint(bred[1]), fmt.Sprint(bred[0]); got != want {
			t.Fatalf("generation %d proposes, restored,\n%s\nwant\n%s", g, got, want)
		}
		deltas = append(deltas, live.AppendDelta(nil))
		batch = bred[0][:min(len(bred[0]), 5)] // two of seven stay pending
		for _, a := range batch {
			if a.Operator == opTarget {
				targets++
			}
		}
	}
	if targets < 20 {
		t.Errorf("the classifier chose %d addresses, want 20 or more", targets)
	}
}
