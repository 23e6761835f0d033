package score

import (
	"maps"
	"math"
	"slices"
	"testing"

	"spoor/internal/fitness"
	"spoor/internal/measure"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// This file implements the formulas of the cosines and of BM25 plainly, with maps from words
// to numbers, and without code of package fitness.

// plainWords returns the scored words of texts.
func plainWords(a *text.Analyzer, texts ...string) (words []string) {
	for _, s := range texts {
		for _, term := range a.Append(nil, s) {
			if !term.Silent() {
				words = append(words, a.Name(term))
			}
		}
	}
	return words
}

// plainCount returns how often each word occurs.
func plainCount(words []string) map[string]float64 {
	count := make(map[string]float64)
	for _, w := range words {
		count[w]++
	}
	return count
}

// plainCosine returns the cosine of two vectors.
func plainCosine(a, b map[string]float64) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for k, v := range a {
		dot += v * b[k]
		aa += v * v
	}
	for _, v := range b {
		bb += v * v
	}
	if dot == 0 {
		return 0
	}
	return dot / (math.Sqrt(aa) * math.Sqrt(bb))
}

// restricted returns the entries of v that of has too.
func restricted(v, of map[string]float64) map[string]float64 {
	r := make(map[string]float64)
	for k := range of {
		if v[k] != 0 {
			r[k] = v[k]
		}
	}
	return r
}

// plainScores returns the values of the measures for one page. The keywords of t must be
// single words.
func plainScores(a *text.Analyzer, t *topic.Topic, rec *wire.Record, norm fitness.Norm) map[string]float64 {
	title, body := plainCount(plainWords(a, rec.Title)), plainCount(plainWords(a, rec.Text))
	query := make(map[string]float64)
	for _, k := range t.Keywords {
		query[k.Terms[0]] = k.Weight
	}

	beta := make(map[string]float64)
	for weight, texts := range map[float64][]string{5: {rec.Title}, 3: {rec.AnchorText}, 2: {rec.Description, rec.Keywords}, 1: {rec.Text}} {
		for _, w := range plainWords(a, texts...) {
			beta[w] += weight
		}
	}

	symbiosis, tunnel := make(map[string]float64), make(map[string]float64)
	df := make(map[string]float64)
	for _, group := range t.Vocabulary {
		for _, w := range group.Terms {
			df[w] = float64(group.DF)
		}
	}
	for _, e := range t.Table {
		if e.Origin == topic.FromQuery {
			symbiosis[e.Term] = e.Weight
			df[e.Term] = float64(e.DF)
		}
	}
	for _, e := range t.Table {
		if e.Origin != topic.FromQuery {
			tunnel[e.Term] = e.Weight
			if symbiosis[e.Term] == 0 {
				symbiosis[e.Term] = e.Weight
				df[e.Term] = float64(e.DF)
			}
		}
	}
	tf, tfdf := make(map[string]float64), make(map[string]float64)
	for _, w := range slices.Concat(plainWords(a, rec.Title, rec.Title), plainWords(a, rec.Text)) {
		tf[w]++
		tfdf[w] += max(df[w], 1)
	}

	if norm == fitness.TopicNorm {
		beta, tf, tfdf = restricted(beta, query), restricted(tf, tunnel), restricted(tfdf, symbiosis)
	}

	bm25, length := 0.0, float64(len(plainWords(a, rec.Title, rec.Text)))
	for _, k := range t.Keywords {
		n, docs := float64(k.DF), float64(t.Statistics.Documents)
		f := title[k.Terms[0]] + body[k.Terms[0]]
		bm25 += k.Weight * math.Log(1+(docs-n+0.5)/(n+0.5)) * f * (1.5 + 1) / (f + 1.5*(1-0.75+0.75*length/t.Statistics.AverageLength))
	}
	return map[string]float64{
		"vsm":            plainCosine(query, beta),
		"weighttable":    plainCosine(symbiosis, tfdf),
		"weighttable-tf": plainCosine(tunnel, tf),
		"bm25":           bm25,
	}
}

func TestAgainstPlainImplementation(t *testing.T) {
	pages, size := 1000, int64(8<<20)
	if testing.Short() {
		pages, size = 200, 2<<20
	}
	recs := captured(t, "webkb", size)
	recs = append(recs, captured(t, "modern", size)...)
	if len(recs) < pages {
		t.Fatalf("only %d pages", len(recs))
	}
	step := len(recs) / pages
	top, err := topic.New("", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := top.AddQuery("university course homework lecture syllabus assignments instructor exam"); err != nil {
		t.Fatal(err)
	}
	top.Keywords[2].Weight, top.Keywords[3].Weight = 2.5, 0.3
	var examples []topic.Page
	for _, r := range recs[:40] {
		examples = append(examples, topic.Page{URL: r.URL, Title: r.Title, Text: r.Text})
	}
	if err := top.Learn(examples[:20], examples[20:], topic.LearnOptions{Size: topic.TableSize}); err != nil {
		t.Fatal(err)
	}
	a, err := top.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(plainScores(a, top, recs[0], fitness.TopicNorm)))
	for _, norm := range []fitness.Norm{fitness.TopicNorm, fitness.PageNorm} {
		s, err := newScorer(&options{topic: top, names: names, measures: measure.Options{Norm: norm}})
		if err != nil {
			t.Fatal(err)
		}
		above, worst := make(map[string]int), 0.0
		for i := range pages {
			rec := recs[i*step]
			if err := s.score(rec); err != nil {
				t.Fatal(err)
			}
			want := plainScores(a, top, rec, norm)
			for _, got := range rec.Scores {
				d := math.Abs(got.Value - want[got.Name])
				if worst = max(worst, d); !(d <= 1e-9) {
					t.Errorf("norm %d, %s of %s: %v, plainly %v", norm, got.Name, rec.URL, got.Value, want[got.Name])
				}
				if got.Value > 0 {
					above[got.Name]++
				}
			}
		}
		t.Logf("norm %d: %d pages, largest difference %.1e, pages above 0: %v", norm, pages, worst, above)
	}
}
