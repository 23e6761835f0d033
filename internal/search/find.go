package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A Query asks an [Index] for pages.
type Query struct {
	Words    string
	Language string // only pages of this language, as in Hit.Language; "" for all
	Host     string // only pages of this host; "" for all
	Offset   int    // number of hits to omit from the beginning; negative is 0
	Limit    int    // maximum number of hits, at most MaxHits
	Weights  Weights
}

// MaxHits bounds Query.Limit.
const MaxHits = 1000

// Weights combine the score of the words with the [Rank] of a page:
//
//	score = words × (1 + Weights.Relevance × Relevance + Weights.Authority × Authority)
//
// With the zero value the words alone count. The product does not depend on the scale of the first
// factor, which differs between queries.
type Weights struct{ Relevance, Authority float64 }

// An Answer is the answer to a [Query].
type Answer struct {
	Total     int     // number of pages that were found
	Hits      []Hit   // by decreasing score, then by address
	Hosts     []Facet // the most frequent hosts of all pages that were found, at most maxFacets
	Languages []Facet // the same for languages
}

// A Hit is a page that was found.
type Hit struct {
	URL      string
	Title    string // without control characters; may be empty
	Snippet  Snippet
	Time     time.Time // time of the capture
	Score    float64   // positive
	Language string    // primary subtag of BCP 47 in lower case; "und" if unknown
	Host     string
	Archive  string // name of the archive that has the capture, as in Archive.Name
}

// A Facet is the number of pages with one value of a property.
type Facet struct {
	Name  string
	Count int
}

const maxFacets = 20

// Authority returns the authority of a page in [0, 1] from the number of fetched pages that link to it
// and the largest such number of the crawl:
//
//	log(1 + inlinks) / log(1 + most)
func Authority(inlinks, most int) float64 {
	if inlinks <= 0 || most <= 0 {
		return 0
	}
	return unit(math.Log1p(float64(inlinks)) / math.Log1p(float64(most)))
}

// unit returns the number in [0, 1] that is nearest to x, and 0 for NaN.
func unit(x float64) float64 {
	if x > 0 { // not NaN
		return min(x, 1)
	}
	return 0
}

// Search returns the addresses of the pages that [Index.Find] finds, by their words alone.
func (x *Index) Search(ctx context.Context, query string, n int) ([]string, error) {
	if n < 1 {
		return nil, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	_, found, err := x.find(ctx, Query{Words: query, Limit: min(n, MaxHits)})
	if err != nil {
		return nil, x.db.fail("searching", err)
	}
	urls := newResults(n)
	for _, m := range found.best {
		urls.add(m.url)
	}
	return urls.urls, nil
}

// Find returns the pages with the words of a query, ignoring case and the endings of words in the language
// of each page. If at least as many pages as wanted have all words, it returns these; otherwise the pages
// with any of the words.
//
// Scores of words are Okapi BM25, the title with the weight 2. A word can have different stems in
// different languages, and is rare as a word of a language that few pages have. Therefore scores are
// multiplied by a number for each language, in (0, 1], as if all stems of a word were one.
//
// The result depends only on the index and the query.
func (x *Index) Find(ctx context.Context, q Query) (*Answer, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	q.Limit, q.Offset = max(0, min(q.Limit, MaxHits)), max(q.Offset, 0)
	words, found, err := x.find(ctx, q)
	if err != nil {
		return nil, x.db.fail("searching", err)
	}
	answer := &Answer{Total: found.total, Hosts: facets(found.hosts), Languages: facets(found.languages)}
	for _, m := range found.best {
		hit, err := x.hit(ctx, m, words)
		switch {
		case errors.Is(err, sql.ErrNoRows): // another process has removed it
		case err != nil:
			return nil, x.db.fail("searching", err)
		default:
			answer.Hits = append(answer.Hits, hit)
		}
	}
	return answer, nil
}

// facets returns the most frequent values, by count and then by name.
func facets(counts map[string]int) []Facet {
	list := make([]Facet, 0, len(counts))
	for name, n := range counts {
		list = append(list, Facet{name, n})
	}
	slices.SortFunc(list, func(a, b Facet) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Name, b.Name)) })
	return list[:min(len(list), maxFacets)]
}

// Page returns the page of an address. Its snippet is the beginning of its text.
func (x *Index) Page(ctx context.Context, url string) (hit Hit, ok bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := match{url: url}
	err = x.db.QueryRowContext(ctx, "select page from pages where url = ?", url).Scan(&m.page)
	if err == nil {
		hit, err = x.hit(ctx, m, nil)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Hit{}, false, nil
	}
	if err != nil {
		return Hit{}, false, x.db.fail("reading", err)
	}
	return hit, true, nil
}

// A match is a page with words of a query.
type match struct {
	page    int64
	score   float64
	stemmer string // code of its analyzer
	url     string // only of the best
}

// matches are the pages with words of a query.
type matches struct {
	all, best        []match
	total            int
	hosts, languages map[string]int
}

// find returns the words of a query and the pages that it finds.
func (x *Index) find(ctx context.Context, q Query) (words []word, found *matches, err error) {
	found = &matches{}
	codes, err := x.stemmers(ctx)
	if err != nil {
		return nil, nil, err
	}
	if q.Language != "" {
		codes = []string{stemmerOf(q.Language)}
	}
	words = x.words(q.Words, q.Language, codes)
	if len(words) == 0 {
		return words, found, nil
	}
	if len(words) > 1 {
		if found, err = x.match(ctx, words, codes, "AND", q); err != nil {
			return nil, nil, err
		}
	}
	if found.total < max(q.Limit, 1) {
		if found, err = x.match(ctx, words, codes, "OR", q); err != nil {
			return nil, nil, err
		}
	}
	if err = x.weigh(ctx, found, words); err == nil {
		found.best, err = x.best(ctx, found.all, q)
	}
	return words, found, err
}

// stemmers returns the codes of the analyzers that pages were analyzed with, sorted.
func (x *Index) stemmers(ctx context.Context) (codes []string, err error) {
	rows, err := x.db.QueryContext(ctx, "select code from stemmers order by code limit ?", maxStemmers)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var code string
		if err := rows.Scan(&code); err != nil {
			return nil, err
		}
		codes = append(codes, code)
	}
	return codes, rows.Err()
}

// maxStemmers is more than there are analyzers.
const maxStemmers = 32

// weigh multiplies the scores of pages by a number for their analyzer, if they have several: the sum of
// the inverse document frequencies of the words, as if all stems of a word were one, divided by that of
// the stems.
func (x *Index) weigh(ctx context.Context, found *matches, words []word) error {
	factors := map[string]float64{}
	for i := range found.all {
		factors[found.all[i].stemmer] = 1
	}
	if len(factors) > 1 {
		if err := x.setFactors(ctx, factors, words[:min(len(words), maxFactorWords)]); err != nil {
			return err
		}
	}
	for i := range found.all {
		m := &found.all[i]
		m.score = float64(float32(m.score * factors[m.stemmer])) // processors differ in the last digits
	}
	return nil
}

// setFactors sets the factors of the analyzers that are keys of factors.
func (x *Index) setFactors(ctx context.Context, factors map[string]float64, words []word) error {
	pages, err := x.count(ctx, "select count(*) from pages")
	if err != nil {
		return err
	}
	idf := func(n float64) float64 { // as in FTS5
		return max(math.Log((pages-n+0.5)/(n+0.5)), 1e-6)
	}
	joint, single := map[string]float64{}, map[string]float64{}
	for _, w := range words {
		frequency, together := map[string]float64{}, 0.0 // of stems
		for code := range factors {
			stem := w.stem[code]
			if _, ok := frequency[stem]; ok || stem == "" {
				continue
			}
			n, err := x.count(ctx, "select count(*) from words(?)", `"`+stem+`"`)
			if err != nil {
				return err
			}
			frequency[stem] = n
			together += n
		}
		for code := range factors {
			if stem := w.stem[code]; stem != "" {
				joint[code] += idf(min(together, pages))
				single[code] += idf(frequency[stem])
			}
		}
	}
	for code := range factors {
		if single[code] > 0 {
			factors[code] = joint[code] / single[code]
		}
	}
	return nil
}

// maxFactorWords is the number of words by which factors are computed, from the beginning.
const maxFactorWords = 16

func (x *Index) count(ctx context.Context, query string, args ...any) (n float64, err error) {
	err = x.db.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// match returns the pages with the words of a query, by the operator of expression. Pages of each analyzer are
// searched by its own stems; analyzers with the same stems together.
func (x *Index) match(ctx context.Context, words []word, codes []string, operator string, q Query) (*matches, error) {
	found := &matches{hosts: map[string]int{}, languages: map[string]int{}}
	alike := map[string][]string{} // codes by their expressions
	for _, code := range codes {
		e := expression(words, code, operator)
		alike[e] = append(alike[e], code)
	}
	for e, codes := range alike {
		if err := x.matchAlike(ctx, found, e, codes, q); err != nil {
			return nil, err
		}
	}
	found.total = len(found.all)
	return found, nil
}

// matchAlike adds the pages of some analyzers that match an expression of FTS5.
func (x *Index) matchAlike(ctx context.Context, found *matches, expression string, codes []string, q Query) error {
	rows, err := x.db.QueryContext(ctx, `
select page, bm25(words, 2, 1), language, host, relevance, authority from words(?) join pages on page = words.rowid
where ?2 in ('', language) and ?3 in ('', host)`, expression, q.Language, q.Host)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var m match
		var language, host string
		var relevance, authority float64
		if err := rows.Scan(&m.page, &m.score, &language, &host, &relevance, &authority); err != nil {
			return err
		}
		if m.stemmer = stemmerOf(language); !slices.Contains(codes, m.stemmer) {
			continue
		}
		m.score *= -1 - q.Weights.Relevance*unit(relevance) - q.Weights.Authority*unit(authority)
		found.all = append(found.all, m)
		found.hosts[host]++
		found.languages[language]++
	}
	return rows.Err()
}

// best returns the matches from q.Offset on, at most q.Limit, with their addresses. It sorts all.
func (x *Index) best(ctx context.Context, all []match, q Query) ([]match, error) {
	from := min(q.Offset, len(all))
	to := min(q.Limit, len(all)-from) + from
	if from == to {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b match) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.page, b.page)) })
	for to < len(all) && all[to].score == all[to-1].score {
		to++ // it may precede others by its address
	}
	start := from
	for start > 0 && all[start-1].score == all[from].score {
		start--
	}
	all = all[start:to]
	address, err := x.db.PrepareContext(ctx, "select url from pages where page = ?")
	if err != nil {
		return nil, err
	}
	defer address.Close()
	for i := range all {
		if err := address.QueryRowContext(ctx, all[i].page).Scan(&all[i].url); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b match) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.url, b.url)) })
	all = all[from-start:]
	return all[:min(q.Limit, len(all))], nil
}

// decompressor limits the memory for a text that was not written by this package.
var decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(2*maxText), zstd.WithDecoderConcurrency(0))

// hit returns what an answer shows of a page.
func (x *Index) hit(ctx context.Context, m match, words []word) (Hit, error) {
	hit := Hit{URL: m.url, Score: m.score}
	var at string
	var packed []byte
	err := x.db.QueryRowContext(ctx, "select title, time, language, host, archive, text from pages join texts using (page) where page = ?", m.page).
		Scan(&hit.Title, &at, &hit.Language, &hit.Host, &hit.Archive, &packed)
	if err != nil {
		return hit, err
	}
	if hit.Time, err = time.Parse(time.RFC3339, at); err != nil {
		return hit, err
	}
	content, err := decompressor.DecodeAll(packed, nil)
	if err != nil {
		return hit, err
	}
	code := stemmerOf(hit.Language)
	wanted := map[string]int{}
	for i, w := range words {
		if stem := w.stem[code]; stem != "" {
			wanted[stem] = i
		}
	}
	a := x.analyzer(code)
	hit.Snippet = snippet(a, string(content), wanted)
	a.Trim()
	return hit, nil
}
