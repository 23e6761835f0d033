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
	Total     int     // number of pages that were found; copies count as one
	Hits      []Hit   // by decreasing score, then by address
	Hosts     []Facet // the most frequent hosts of all pages that were found, at most maxFacets; see Facet
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
	Copies   int    // number of other pages that were found with the same text
}

// A Facet is the number of pages of an answer with one value of a property. Copies on two hosts count once for
// each host, and once in Answer.Total. The same query for pages with this value may find more, with fewer of the
// words, if there are few.
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
// of each page. A page must have minShare of the words, which count by their inverse document frequency. If
// there are fewer pages than wanted, it returns those with any of the words. Of pages with the same main
// content it returns one.
//
// The score of a page is the Okapi BM25 of its words, title included, plus that of its title, times the share
// of the words that it has. A word can have different stems in different languages, and is rare as a word of a
// language that few pages have. Therefore its inverse document frequency is computed as if all its stems were
// one.
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
	page           int64
	language, host string
	stemmer        string // code of its analyzer
	digest         int64
	factor         float64 // for the ranks

	score    float64
	required float64 // sum of what FTS5 returns for the required stems
	idf      float64 // sum of the inverse document frequencies of the words that it has
	last     int     // number of the last of these words

	copies []match // pages with the same text, only of the best
	url    string  // only of the best
}

// matches are the pages with words of a query.
type matches struct {
	all, best        []match
	total            int
	hosts, languages map[string]int
}

// minShare is the share of the words of a query that a page must have.
const minShare = 0.75

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
	if words, err = x.rate(ctx, x.words(q.Words, q.Language, codes)); err != nil || len(words) == 0 {
		return words, found, err
	}
	found, err = x.match(ctx, words, minShare, q)
	if err == nil && found.total < max(q.Limit, 1) && len(words) > 1 {
		found, err = x.match(ctx, words, 0, q)
	}
	if err == nil {
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

// rate returns the words of a query that pages have, the rarest first, with their weights.
func (x *Index) rate(ctx context.Context, words []word) (found []word, err error) {
	pages, err := x.count(ctx, "select count(*) from pages")
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		together, frequency := 0.0, make([]float64, len(w.all))
		for i, stem := range w.all {
			if frequency[i], err = x.count(ctx, "select count(*) from words(?)", quote(stem)); err != nil {
				return nil, err
			}
			together += frequency[i]
		}
		if together == 0 {
			continue
		}
		w.pages, together = pages, min(together, pages)
		w.idf = math.Log1p((pages - together + 0.5) / (together + 0.5))
		all := w.all
		w.all = nil
		for i, n := range frequency {
			if n > 0 {
				w.all = append(w.all, all[i])
				w.weight = append(w.weight, w.idf/idf(pages, n))
			}
		}
		found = append(found, w)
	}
	slices.SortStableFunc(found, func(a, b word) int { return cmp.Compare(b.idf, a.idf) })
	return found, nil
}

// idf returns the inverse document frequency by which FTS5 multiplies the score of a stem that n of all pages
// have.
func idf(all, n float64) float64 { return max(math.Log((all-n+0.5)/(n+0.5)), 1e-6) }

func (x *Index) count(ctx context.Context, query string, args ...any) (n float64, err error) {
	err = x.db.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// match returns the pages that have at least a share of the words, which are sorted by decreasing inverse
// document frequency.
//
// A page without any of the first words has less than the share of the others. So only the pages with these
// words, the required ones, are read. The scores of the others are those that FTS5 returns for a conjunction
// with the required stems, minus those of the required stems.
func (x *Index) match(ctx context.Context, words []word, share float64, q Query) (*matches, error) {
	all, others := 0.0, 0.0
	for i := range words {
		all += words[i].idf
	}
	required := len(words)
	for required > 1 && others+words[required-1].idf < share*all {
		required--
		others += words[required].idf
	}
	pages := map[int64]*match{}
	var stems []string
	for i := range words[:required] {
		for k, stem := range words[i].all {
			if err := x.addRequired(ctx, pages, words, i, k, q); err != nil {
				return nil, err
			}
			stems = append(stems, quote(stem))
		}
	}
	condition := "(" + strings.Join(stems, " OR ") + ") AND "
	for i := range words {
		for k, stem := range words[i].all {
			if i >= required {
				err := x.add(ctx, "select rowid, bm25(words) from words(?)", condition+quote(stem), func(page int64, score float64) {
					if m := pages[page]; m != nil {
						m.add(words, i, k, max(score-m.required, 0))
					}
				})
				if err != nil {
					return nil, err
				}
			}
			if err := x.addTitles(ctx, pages, words, i, k); err != nil {
				return nil, err
			}
		}
	}
	found := &matches{}
	for _, m := range pages {
		if m.idf == 0 || m.idf < share*all {
			continue
		}
		m.score *= m.factor * min(m.idf/all, 1)
		m.score = float64(float32(m.score)) // processors differ in the last digits
		found.all = append(found.all, *m)
	}
	found.count()
	return found, nil
}

// addRequired adds the pages with a stem, the k-th of the i-th word.
func (x *Index) addRequired(ctx context.Context, pages map[int64]*match, words []word, i, k int, q Query) error {
	rows, err := x.db.QueryContext(ctx, `
select page, bm25(words), language, host, relevance, authority, digest from words(?) join pages on page = words.rowid
where ?2 in ('', language) and ?3 in ('', host)`, quote(words[i].all[k]), q.Language, q.Host)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		added := match{last: -1}
		var score, relevance, authority float64
		if err := rows.Scan(&added.page, &score, &added.language, &added.host, &relevance, &authority, &added.digest); err != nil {
			return err
		}
		m := pages[added.page]
		if m == nil {
			m = &added
			m.stemmer = stemmerOf(m.language)
			m.factor = 1 + q.Weights.Relevance*unit(relevance) + q.Weights.Authority*unit(authority)
			pages[m.page] = m
		}
		m.required -= score
		m.add(words, i, k, -score)
	}
	return rows.Err()
}

// addTitles adds the scores of the titles with a stem to pages.
func (x *Index) addTitles(ctx context.Context, pages map[int64]*match, words []word, i, k int) error {
	stem := quote(words[i].all[k])
	n, err := x.count(ctx, "select count(*) from titles(?)", stem)
	if err != nil || n == 0 {
		return err
	}
	weight := words[i].idf / idf(words[i].pages, n)
	return x.add(ctx, "select rowid, bm25(titles) from titles(?)", stem, func(page int64, score float64) {
		if m := pages[page]; m != nil && m.accepts(&words[i], k) {
			m.score += score * weight
		}
	})
}

// add calls f for the pages and scores that a query returns.
func (x *Index) add(ctx context.Context, query, expression string, f func(page int64, score float64)) error {
	rows, err := x.db.QueryContext(ctx, query, expression)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var page int64
		var score float64
		if err := rows.Scan(&page, &score); err != nil {
			return err
		}
		f(page, -score)
	}
	return rows.Err()
}

// add adds the score of the k-th stem of the i-th word if the page accepts it. It must be called for the words
// in order.
func (m *match) add(words []word, i, k int, score float64) {
	w := &words[i]
	if !m.accepts(w, k) {
		return
	}
	m.score += score * w.weight[k]
	if m.last != i {
		m.last = i
		m.idf += w.idf
	}
}

// accepts reports whether the k-th stem of a word is its stem in the language of the page. A stem of another
// analyzer may be another word there ("chin" is the stem of "china" in Spanish); only what is a stop word in the
// language of the page is found by all its stems, because its title has it.
func (m *match) accepts(w *word, k int) bool {
	own, ok := w.stem[m.stemmer]
	return !ok || own == w.all[k]
}

// count counts the pages. Copies count as one page, on each host and in each language.
func (f *matches) count() {
	type key struct {
		digest      int64
		kind, value string
	}
	seen := map[key]bool{}
	isNew := func(digest int64, kind, value string) bool {
		k := key{digest, kind, value}
		old := seen[k]
		seen[k] = digest != 0
		return !old
	}
	f.hosts, f.languages = map[string]int{}, map[string]int{}
	for i := range f.all {
		m := &f.all[i]
		if isNew(m.digest, "", "") {
			f.total++
		}
		if isNew(m.digest, "host", m.host) {
			f.hosts[m.host]++
		}
		if isNew(m.digest, "language", m.language) {
			f.languages[m.language]++
		}
	}
}

// best returns the matches from q.Offset on, at most q.Limit, with their addresses. It sorts all. Of copies it
// returns the one with the highest score.
func (x *Index) best(ctx context.Context, all []match, q Query) ([]match, error) {
	slices.SortFunc(all, func(a, b match) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.page, b.page)) })
	all = collapse(all)
	from := min(q.Offset, len(all))
	to := min(q.Limit, len(all)-from) + from
	if from == to {
		return nil, nil
	}
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
		m := &all[i]
		for _, c := range append([]match{*m}, m.copies...) {
			if c.score != m.score {
				break
			}
			if err := address.QueryRowContext(ctx, c.page).Scan(&c.url); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
			if m.url == "" || c.url != "" && c.url < m.url {
				m.page, m.url = c.page, c.url
			}
		}
	}
	slices.SortFunc(all, func(a, b match) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.url, b.url)) })
	all = all[from-start:]
	return all[:min(q.Limit, len(all))], nil
}

// collapse moves the copies of each page to the first of them. all is sorted by decreasing score.
func collapse(all []match) []match {
	first := map[int64]int{}
	n := 0
	for _, m := range all {
		i, ok := first[m.digest]
		if ok && m.digest != 0 {
			all[i].copies = append(all[i].copies, m)
			continue
		}
		first[m.digest] = n
		all[n] = m
		n++
	}
	return all[:n]
}

// decompressor limits the memory for a text that was not written by this package.
var decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(2*maxText), zstd.WithDecoderConcurrency(0))

// hit returns what an answer shows of a page.
func (x *Index) hit(ctx context.Context, m match, words []word) (Hit, error) {
	hit := Hit{URL: m.url, Score: m.score, Copies: len(m.copies)}
	var at string
	var packed []byte
	var main int
	err := x.db.QueryRowContext(ctx, "select title, time, language, host, archive, text, main from pages join texts using (page) where page = ?", m.page).
		Scan(&hit.Title, &at, &hit.Language, &hit.Host, &hit.Archive, &packed, &main)
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
	main = max(0, min(main, len(content)))
	hit.Snippet = snippet(a, string(content[:main]), wanted)
	if len(hit.Snippet.Marks) == 0 {
		if s := snippet(a, string(content[main:]), wanted); len(s.Marks) > 0 {
			hit.Snippet = s
		}
	}
	a.Trim()
	return hit, nil
}
