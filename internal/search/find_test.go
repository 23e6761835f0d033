package search

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/text"
)

// ask returns the answer of an index.
func ask(t testing.TB, x *Index, q Query) *Answer {
	t.Helper()
	answer, err := x.Find(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return answer
}

// names returns the last path elements of the hits.
func names(a *Answer) string {
	var all []string
	for _, h := range a.Hits {
		all = append(all, strings.TrimPrefix(h.URL, "http://x.example/"))
	}
	return strings.Join(all, " ")
}

// marked returns the snippet with its marked words in brackets.
func marked(s Snippet) string {
	var b strings.Builder
	at := 0
	for _, m := range s.Marks {
		b.WriteString(s.Text[at:m.Start] + "[" + s.Text[m.Start:m.End] + "]")
		at = m.End
	}
	return b.String() + s.Text[at:]
}

func TestFindInManyLanguages(t *testing.T) {
	x := library(t,
		"en | Forests | The forests of the north are cut for paper | en",
		"de | Wälder | In den Wäldern des Nordens wachsen Bäume | de-AT",
		"ru | Леса | В лесах севера растут деревья | ru",
		"el | Δάση | Τα δάση του βορρά σε πολλές μεταφράσεις και βιβλία | el",
		"hi | जंगल | उत्तर के जंगलों में पेड़ उगते हैं | hi",
		"ja | 森林 | 北の森林には木が生えています | ja",
		"no | Skoger | Skogene i nord har mange trær | nb",
		"xx | Mendi | basoak eta mendiak | ",
	)
	for _, c := range []struct{ language, query, want, snippet string }{
		{"en", "forest", "en", "The [forests] of the north are cut for paper"},
		{"en", "CUTTING papers", "en", "The forests of the north are [cut] for [paper]"},
		{"de", "Baum", "de", "In den Wäldern des Nordens wachsen [Bäume]"},
		{"de", "walder", "de", "In den [Wäldern] des Nordens wachsen Bäume"},
		{"ru", "дерево", "ru", "В лесах севера растут [деревья]"},
		{"el", "μετάφραση", "el", "Τα δάση του βορρά σε πολλές [μεταφράσεις] και βιβλία"},
		{"el", "ΔΑΣΗ", "el", "Τα [δάση] του βορρά σε πολλές μεταφράσεις και βιβλία"},
		{"hi", "जंगलों", "hi", "उत्तर के [जंगलों] में पेड़ उगते हैं"},
		{"ja", "森林", "ja", "北の[森林]には木が生えています"},
		{"ja", "生えて", "ja", "北の森林には木が[生えて]います"},
		{"no", "skog", "no", "[Skogene] i nord har mange trær"},
		{"und", "mendi", "xx", "basoak eta mendiak"}, // only the title has this form
	} {
		for _, language := range []string{"", c.language} {
			answer := ask(t, x, Query{Words: c.query, Language: language, Limit: 10})
			if got := names(answer); got != c.want {
				t.Errorf("%s in %q: found %q, want %q", c.query, language, got, c.want)
				continue
			}
			hit := answer.Hits[0]
			if hit.Language != c.language {
				t.Errorf("%s: language %s, want %s", c.query, hit.Language, c.language)
			}
			if got := marked(hit.Snippet); got != c.snippet {
				t.Errorf("%s: snippet %q, want %q", c.query, got, c.snippet)
			}
		}
		if got := names(ask(t, x, Query{Words: c.query, Language: "fr", Limit: 10})); got != "" {
			t.Errorf("%s in French: found %q", c.query, got)
		}
	}
}

// The stem of a word in one language may be another word in a second one: "chin" is the stem of "china" in Spanish.
func TestStemsOfOtherLanguages(t *testing.T) {
	x := library(t,
		"singer | Singer | the singer rests his chin on a hand | en",
		"trade | Trade | how much the world imports from china | en",
		"comercio | Comercio | las importaciones de la China en el mundo | es",
		"both | Trade | china is a word, and so is chin | en",
	)
	for query, want := range map[string]string{"china": "both comercio trade", "china imports": "both comercio trade", "chin": "both comercio singer"} {
		got := strings.Fields(names(ask(t, x, Query{Words: query, Limit: 10})))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found %q, want %q", query, got, want)
		}
	}
}

// A stop word of the query's language says nothing, although pages in other languages have it as a
// word. A title of stop words is found.
func TestStopWords(t *testing.T) {
	x := library(t,
		"war | Arms | the art of the war | en",
		"de | Kunst | ein Buch: the art of noise, the end | de",
		"who | The Who | a band | en",
		"other | Others | who is it | en",
	)
	if got := names(ask(t, x, Query{Words: "the war", Limit: 10})); got != "war" {
		t.Errorf("the war: %q", got)
	}
	if got := names(ask(t, x, Query{Words: "The Who", Limit: 10})); !strings.HasPrefix(got, "who") || strings.Contains(got, "other") {
		t.Errorf("The Who: %q", got)
	}
}

// A word that has another stem in a language of few pages is not rare.
func TestRareLanguageHasNoAdvantage(t *testing.T) {
	var pages []string
	for i := range 50 {
		pages = append(pages, fmt.Sprintf("p%02d | Page | other words of number%d | en", i, i))
	}
	for i := range 20 {
		pages = append(pages, fmt.Sprintf("en%02d | Learning | machine learning is learning by machines | en", i))
	}
	x := library(t, append(pages, "de | Lernen | ein Wort wie learning unter vielen anderen Wörtern eines längeren Textes | de")...)
	got := names(ask(t, x, Query{Words: "learning", Limit: 100}))
	if !strings.HasSuffix(got, " de") || len(strings.Fields(got)) != 21 {
		t.Errorf("found %s", got)
	}
}

func TestAllWordsAreRequiredIfEnoughPagesHaveThem(t *testing.T) {
	x := library(t, "both | x | hard bop", "two | x | bop that is hard", "one | x | hard hard hard", "other | x | bop bop bop", "none | x | tea")
	for limit, want := range map[int]int{0: 2, 1: 2, 2: 2, 3: 4} {
		if got := ask(t, x, Query{Words: "hard bop", Limit: limit}); got.Total != want || len(got.Hits) != min(limit, want) {
			t.Errorf("limit %d: total %d, %d hits, want %d", limit, got.Total, len(got.Hits), want)
		}
	}
}

// A word that many pages have may be missing, but not the others.
func TestShareOfWords(t *testing.T) {
	pages := []string{
		"all | Numbers | a proof of the remainder theorem", "title | Remainder theorem | numbers", "one | Remainder | of a number", "long | A remainder theorem of numbers in many other cases | numbers",
	}
	for i := range 20 {
		pages = append(pages, fmt.Sprintf("p%02d | Other | a proof of number%d", i, i))
	}
	x := library(t, pages...)
	for limit, want := range map[int]string{1: "title", 3: "title all long"} {
		if got := ask(t, x, Query{Words: "remainder theorem proof", Limit: limit}); names(got) != want || got.Total != 3 {
			t.Errorf("limit %d: %q of %d", limit, names(got), got.Total)
		}
	}
	if got := ask(t, x, Query{Words: "remainder theorem proof", Limit: 4}); got.Total != 24 {
		t.Errorf("if four are wanted: %d pages, want all", got.Total)
	}
	if got := names(ask(t, x, Query{Words: "remainder theorem unknownword", Limit: 1})); got != "title" {
		t.Errorf("a word that no page has: %q", got)
	}
}

func TestCopies(t *testing.T) {
	text := strings.Repeat("a cup of tea ", 20)
	page := func(url, text, menu, language string) Document {
		return Document{URL: url, Title: "Tea", Text: text, Boilerplate: menu, Language: language, Time: time.Unix(1e9, 0)}
	}
	x := open(t, filepath.Join(t.TempDir(), "web.db"))
	add(t, x, Archive{Name: "a"}, []Document{
		page("http://b.example/c", text, "", "en"), page("http://b.example/b", text, "", "en"), page("http://a.example/a", text, "a menu with tea", "de"),
		page("http://a.example/other", text+"and milk", "", "en"), page("http://a.example/s", "tea", "", "en"), page("http://b.example/s", "tea", "", "en"),
	})
	type hit struct {
		URL    string
		Copies int
	}
	for _, c := range []struct {
		query Query
		total int
		want  []hit
	}{
		{Query{Words: "milk", Limit: 9}, 1, []hit{{"http://a.example/other", 0}}},
		{Query{Words: "cup", Limit: 9}, 2, []hit{{"http://b.example/b", 2}, {"http://a.example/other", 0}}},
		{Query{Words: "cup", Limit: 1, Offset: 1}, 2, []hit{{"http://a.example/other", 0}}},
		{Query{Words: "cup", Limit: 9, Host: "b.example"}, 1, []hit{{"http://b.example/b", 1}}},
		{Query{Words: "cup", Limit: 9, Language: "de"}, 1, []hit{{"http://a.example/a", 0}}},
		{Query{Words: "tea", Limit: 9, Host: "b.example"}, 2, []hit{{"http://b.example/b", 1}, {"http://b.example/s", 0}}},
	} {
		answer := ask(t, x, c.query)
		var got []hit
		for _, h := range answer.Hits {
			got = append(got, hit{h.URL, h.Copies})
		}
		if !slices.Equal(got, c.want) || answer.Total != c.total {
			t.Errorf("%+v: %v of %d, want %v of %d", c.query, got, answer.Total, c.want, c.total)
		}
		for _, f := range answer.Hosts { // they say how many there are on that host
			q := c.query
			q.Host = f.Name
			if n := ask(t, x, q).Total; n != f.Count {
				t.Errorf("%+v: %d pages on %s, the facet has %d", c.query, n, f.Name, f.Count)
			}
		}
	}
	// The copy with the highest rank is shown.
	if err := x.SetRanks(slices.Values([]Rank{{"http://a.example/a", 0, 1}})); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, x, Query{Words: "cup", Limit: 1, Weights: Weights{Authority: 1}}).Hits[0]; got.URL != "http://a.example/a" || got.Copies != 2 {
		t.Errorf("%+v", got)
	}
}

func TestSnippetOfMainContent(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "web.db"))
	add(t, x, Archive{Name: "a"}, []Document{{URL: "http://x.example/a", Title: "Tea", Text: "A cup of tea.", Boilerplate: "Menu: cup, tea, milk", Time: time.Unix(0, 0)}})
	for query, want := range map[string]string{"tea cup": "A [cup] of [tea]", "milk": "Menu: cup, tea, [milk]", "milk tea": "A cup of [tea]"} {
		if got := marked(ask(t, x, Query{Words: query, Limit: 1}).Hits[0].Snippet); strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// A query of many words under the stems of all languages is not too much for FTS5.
func TestLongQueryInAllLanguages(t *testing.T) {
	var pages []string
	for _, language := range text.Languages() {
		pages = append(pages, language+" | Page | some needle | "+language)
	}
	x := library(t, pages...)
	var query strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&query, "nationalisierungen%cheiten ", 'a'+i%26)
		fmt.Fprintf(&query, "nécessaires%cations ", 'a'+i%26)
		fmt.Fprintf(&query, "приветствиями%c ", 'а'+i%30)
	}
	for _, words := range []string{"needle " + query.String(), strings.Repeat("\u00ad", 1<<20) + "needle"} {
		if got := ask(t, x, Query{Words: words, Limit: 10}); got.Total != len(pages) {
			t.Errorf("%d pages, want %d", got.Total, len(pages))
		}
	}
}

func TestFindPages(t *testing.T) {
	var all []string
	for i := range 25 {
		all = append(all, fmt.Sprintf("%02d | same | words", i))
	}
	x := library(t, append(all, "zz | words | words words words")...)
	for _, c := range []struct {
		offset, limit int
		want          string
	}{
		{0, 3, "zz 00 01"}, {1, 2, "00 01"}, {2, 2, "01 02"}, {24, 9, "23 24"}, {26, 5, ""}, {math.MaxInt, math.MaxInt, ""},
		{25, math.MaxInt, "24"}, {0, 0, ""}, {-5, 1, "zz"}, {0, -1, ""},
	} {
		got := ask(t, x, Query{Words: "words", Offset: c.offset, Limit: c.limit})
		if names(got) != c.want || got.Total != 26 {
			t.Errorf("%d, %d: %q of %d, want %q of 26", c.offset, c.limit, names(got), got.Total, c.want)
		}
	}
}

func TestFacetsAndFilters(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "web.db"))
	var pages []Document
	for i := range 30 {
		for j := range i/10 + 1 {
			pages = append(pages, Document{URL: fmt.Sprintf("http://h%02d.example/%d", i, j), Title: "Tea", Text: "tea", Language: []string{"en", "de", ""}[j], Time: time.Unix(1e9, 0)})
		}
	}
	add(t, x, Archive{Name: "/a.warc"}, pages)
	all := ask(t, x, Query{Words: "tea", Limit: 1})
	if all.Total != 60 || len(all.Hosts) != maxFacets || all.Hosts[0] != (Facet{"h20.example", 3}) || all.Hosts[10] != (Facet{"h10.example", 2}) {
		t.Errorf("%d pages, hosts %v", all.Total, all.Hosts)
	}
	if want := []Facet{{"en", 30}, {"de", 20}, {"und", 10}}; !slices.Equal(all.Languages, want) {
		t.Errorf("languages %v, want %v", all.Languages, want)
	}
	for _, c := range []struct {
		query     Query
		languages []Facet
	}{
		{Query{Words: "tea", Host: "h25.example", Limit: 5}, []Facet{{"de", 1}, {"en", 1}, {"und", 1}}},
		{Query{Words: "tea", Language: "und", Limit: 5}, []Facet{{"und", 10}}},
		{Query{Words: "tea", Language: "de", Host: "h10.example", Limit: 5}, []Facet{{"de", 1}}},
		{Query{Words: "tea", Language: "de", Host: "h01.example", Limit: 5}, []Facet{}},
	} {
		got := ask(t, x, c.query)
		if d := cmp.Diff(c.languages, got.Languages); d != "" {
			t.Errorf("%+v: %s", c.query, d)
		}
		for _, h := range got.Hits {
			if c.query.Host != "" && h.Host != c.query.Host || c.query.Language != "" && h.Language != c.query.Language {
				t.Errorf("%+v: found %+v", c.query, h)
			}
		}
	}
	hit := ask(t, x, Query{Words: "tea", Host: "h00.example", Limit: 1}).Hits[0]
	hit.Score = 0
	want := Hit{URL: "http://h00.example/0", Title: "Tea", Snippet: Snippet{"tea", []Mark{{0, 3}}}, Time: time.Unix(1e9, 0).UTC(), Language: "en", Host: "h00.example", Archive: "/a.warc"}
	if d := cmp.Diff(want, hit); d != "" {
		t.Error(d)
	}
}

func TestRanks(t *testing.T) {
	x := library(t, "a | x | tea", "b | x | tea", "c | x | tea", "d | x | tea tea tea tea")
	ranks := []Rank{
		{"http://x.example/b", 0.5, 0}, {"http://x.example/c", math.NaN(), 7}, {"http://x.example/a", -1, math.Inf(-1)},
		{"http://x.example/unknown", 1, 1},
	}
	if err := x.SetRanks(slices.Values(ranks)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		weights Weights
		want    string
	}{
		{Weights{}, "d a b c"},
		{Weights{Relevance: 2}, "b d a c"},
		{Weights{Authority: 10}, "c d a b"},
		{Weights{Relevance: 10, Authority: 3}, "b c d a"},
	} {
		if got := names(ask(t, x, Query{Words: "tea", Limit: 10, Weights: c.weights})); got != c.want {
			t.Errorf("%+v: %q, want %q", c.weights, got, c.want)
		}
	}
	if got := found(t, x, "tea", 10); got != "d a b c" {
		t.Errorf("Search: %q", got)
	}
	plain, ranked := ask(t, x, Query{Words: "tea", Limit: 4}), ask(t, x, Query{Words: "tea", Limit: 4, Weights: Weights{Relevance: 2, Authority: 3}})
	words := map[string]float64{}
	for _, h := range plain.Hits {
		words[h.URL] = h.Score
	}
	for _, h := range ranked.Hits {
		factor := map[string]float64{"b": 2, "c": 4}[h.URL[len(h.URL)-1:]]
		if want := words[h.URL] * max(factor, 1); math.Abs(h.Score-want) > 1e-5 || h.Score <= 0 {
			t.Errorf("%s: score %v, want %v", h.URL, h.Score, want)
		}
	}
	// A newer capture of a page has its rank.
	add(t, x, Archive{Name: "b"}, []Document{{URL: "http://x.example/b", Text: "tea", Time: time.Unix(1, 0)}})
	if got := names(ask(t, x, Query{Words: "tea", Limit: 1, Weights: Weights{Relevance: 9}})); got != "b" {
		t.Errorf("after an update: %q", got)
	}
}

func TestAuthority(t *testing.T) {
	for _, c := range []struct {
		inlinks, most int
		want          float64
	}{{0, 0, 0}, {0, 9, 0}, {-1, 9, 0}, {9, 9, 1}, {1, 3, 0.5}, {10, 9, 1}} {
		if got := Authority(c.inlinks, c.most); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Authority(%d, %d) = %v, want %v", c.inlinks, c.most, got, c.want)
		}
	}
}

func TestHostilePage(t *testing.T) {
	x := library(t, "a | \u202eeltit\x00\n a | "+strings.Repeat("x", 1<<20)+" tea\x00 \u202eand\u2028more", "b | "+strings.Repeat("é", 1<<20)+" | tea "+strings.Repeat("y ", 1<<20))
	for _, h := range ask(t, x, Query{Words: "tea", Limit: 10}).Hits {
		checkSnippet(t, h.Snippet)
		if h.Title != clean(h.Title) || len(h.Title) > maxTitle {
			t.Errorf("title %q", h.Title)
		}
	}
}

func TestFindSameAnswer(t *testing.T) {
	pages := []string{"a | Tea | a cup of tea | en", "b | Thé | une tasse de thé | fr", "c | Tee | eine Tasse Tee | de", "d | Tea | tea | "}
	x, y := library(t, pages...), library(t, pages[2], pages[0], pages[3], pages[1])
	for _, words := range []string{"tea", "Tasse tea thé", "cup tasse"} {
		q := Query{Words: words, Limit: 3}
		if d := cmp.Diff(ask(t, x, q), ask(t, y, q)); d != "" {
			t.Errorf("%s: the order of pages matters: %s", words, d)
		}
	}
}

func TestConcurrentFind(t *testing.T) {
	x := library(t, "a | Tea | a cup of tea | en", "b | Tee | eine Tasse Tee | de")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 5 {
				if _, err := x.Find(t.Context(), Query{Words: "tea tasse", Limit: 5}); err != nil {
					t.Error(err)
				}
				if err := x.Add(Archive{Name: "b"}, parse(fmt.Sprintf("%d/%d | page | tea", i, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := ask(t, x, Query{Words: "tea", Limit: 1}).Total; got != 21 {
		t.Errorf("%d pages, want 21", got)
	}
}
