// Score computes how near pages are to a topic, and predicts the scores of their links.
//
// # Usage
//
//	score -topic FILE|WORDS [-fitness NAME[,NAME...]] [-norm topic|page] [flags] [FILE...] < parsed
//
// # Records
//
// Input: pages as parse writes them. Output: the same records in the same order, with
//
//	score           nearness to the topic by the first measure
//	scores          the value of each measure, by name
//	relevant        whether score reaches the threshold
//	links[].score   predicted score of the link by the first measure
//	links[].scores  anchor, context and url: the first measure's values of the link's
//	                anchor, of the context around it, and of its url; for every
//	                further measure NAME: NAME (the predicted score), NAME.anchor,
//	                NAME.context and NAME.url
//
// The threshold is that of the topic, which applies to the first measure; if the topic has
// none, it is the measure's own.
// Values are in [0, 1] unless the measure says otherwise.
//
// A record with an error has no page and is passed on unchanged, and so is a query. The
// text of a page with a status other than 2xx is about the failure: its score is 0, and its
// links are not scored. A page without words has the score 0 too.
//
// The text of a page is analysed once for all measures. The result depends only on the
// topic file and the record, not on the order of records or on -j.
//
// In a loop with frontier serve the topic may change from one window to the next: with
// -windows DIR, records after the mark of window G are scored with DIR/G/topic.json if
// topic -expand -windows DIR has written that file, otherwise with the previous topic.
// Records of the next window come only after the mark has gone around the loop, so the
// file is complete by then.
//
// # Measures
//
// Keywords are part of every topic; the other sections, except background, are made from
// example pages by topic -positive FILE, the classifier by topic -positive FILE
// -negative FILE. It is an error if the topic lacks the section of a measure. bm25 can
// do without examples.
//
//	vsm             counts of keywords weighted by tag (title 5, links 3, meta 2,
//	                others 1); cosine with the keyword weights; Fan, Zeng and Li 2009.
//	                Threshold 0.05, as in the paper; with ten keywords, a page with any one
//	                of them reaches it.
//	weighttable     words of the table and of the query (title 2, text 1, times the
//	                document frequency of the word); cosine with their weights;
//	                Wilson and others 2021. Threshold 0.4, the middle of the limits in the paper of Pal
//	                and others.
//	weighttable-tf  the same without the query's words and without document
//	                frequencies; Pal, Tomar and Shrivastava 2009. Threshold 0.4.
//	bm25            keywords in title and text, with k1 = 1.5, b = 0.75 and
//	                IDF = ln(1 + (N − n + 0.5) / (n + 0.5)), times their weights; N, n
//	                and the average length are the statistics of the topic. If it has
//	                none, they are those of the background: the section that topic
//	                -background makes or, for English, the built-in table. For a
//	                phrase, n is that of its rarest word. Range: [0, 2.5·S), where S is the
//	                sum of weight · IDF. Threshold: S/2, which is the value
//	                of a page of average length with every keyword once.
//	wordscore       keywords in title and text: density (frequency over words),
//	                frequency relative to the most frequent word (α = 4), and balance;
//	                Saket and Behrang. In [0, 5]. Threshold 0.33, the lowest mean score
//	                that the paper reports.
//	jaccard         similarity to the reference page: common links, common words and
//	                keywords in both; Rane and Pathak. Threshold 0.25, which is the value of a
//	                page that shares no link and a quarter of all words; its effect depends
//	                on the length of the reference.
//	classifier      the probability that the page is relevant, by a classifier trained on
//	                the examples. It assumes that relevant pages are as frequent as
//	                among the examples; if they are rarer, the value is overestimated,
//	                and only the order of pages is meaningful.
//	                Threshold: the classifier's, 0.5 unless the file was edited.
//
// With -norm topic, as in the papers, the cosines (vsm and both tables) use only the
// topic's words; with -norm page they use all words of the page, so that pages with much
// other text have lower scores. The other measures ignore -norm.
//
// -compat implements the papers literally:
//
//	vsm             one weight, the largest, for all occurrences of a word
//	weighttable     title and text count once each, 2 + 1, times tf · df
//	weighttable-tf  title and text count once each, 2 + 1
//	bm25            without the weights of keywords
//	wordscore       weights are not normalised to sum 1 (the threshold is multiplied
//	                by their sum), unless all are 1
//	jaccard         the sum of link and word similarity, which is not bounded.
//	                Threshold: the square root of 1/3
//
// # Links
//
// The score of a link combines the scores of its anchor, of the words around it, and of the
// words of its address:
//
//	score = 1 − (1 − words)·(1 − url)
//	words = 0.8·anchor + 0.2·near
//	near  = 1 if anchor > 0, else context
//
// In this formula bm25 uses the share of the keywords that occur, each weighted by weight · IDF.
// jaccard uses √(A / (A + B)), where A is the number of words that are also in the reference,
// plus the occurrences of keywords (20 at most), and B the number of other words. Three measures
// score links differently: weighttable-tf by (url + anchor) / 2, half the sum of the first two
// terms of the paper's formula; wordscore by its value of the words before the link, its anchor
// and the words after it, as one text, in [0, 5]; the classifier by how much the words of
// anchor, context and url together raise the probability above that of a page without words. The
// score of the page with the link is not part of any of them.
//
// # Example
//
//	$ fetch -archive web.warc.gz -all | parse | score -topic topic.json > scored.ndjson
//	$ score -topic topic.json -fitness classifier,vsm,bm25 pages.ndjson > scored.ndjson
//
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full.
//
// # Limitations
//
// Only the first 4 MiB of each text are used. Words are analysed in the topic's language,
// whatever the page says of its own.
package score

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"spoor/cmd/internal/filter"
	"spoor/internal/fitness"
	"spoor/internal/measure"
	"spoor/internal/run"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

const manual = `
score - compute how near pages are to a topic, and predict the scores of links

Usage: score -topic FILE|WORDS [-fitness NAME[,NAME...]] [-norm topic|page] [FILE...] < parsed

In:   pages as parse writes them
Out:  the same records, with score (of the first measure), scores (of all, by
      name), relevant (score reaches the topic's threshold), links[].score and
      links[].scores (anchor, context, url; for further measures NAME,
      NAME.anchor, NAME.context, NAME.url)

If -topic is neither a file nor looks like the name of one, it is words, from which a topic is
made as by topic -query.

With -windows DIR, records after the mark of window G are scored with DIR/G/topic.json
if topic -expand -windows DIR has written that file, otherwise with the previous topic.

A record with an error is passed on unchanged. With -keep, the scores of another program
stay, and only a missing relevant is added: by the threshold of the topic, else of the
first -fitness measure, else 0.5. A page with a status other than 2xx has the score 0.
The result depends only on the topic file and the record.

The default measure is bm25. It is vsm if -norm page is given, or if the topic has
neither statistics nor a background. Each measure needs a part (section) of the topic
file. If the topic sets no threshold, that of the measure applies:

    measure         section     threshold  score
    vsm             keywords    0.05       counts weighted by tag (title 5, links 3, meta 2,
                                           others 1); cosine with the keyword weights
                                           (Fan, Zeng and Li 2009)
    weighttable     table       0.4        counts weighted by tag (title 2, text 1) and
                                           document frequency; cosine with the table's
                                           weights (Wilson and others 2021)
    weighttable-tf  table       0.4        the same without document frequencies and words
                                           of the query (Pal and others 2009)
    bm25            statistics  S/2        BM25 with k1 = 1.5 and b = 0.75; range [0, 2.5 S),
                                           where S is the sum of IDF times weight
    wordscore       keywords    0.33       density, frequency and balance; range [0, 5]
                                           (Saket and Behrang)
    jaccard         reference   0.25       links and words in common (Rane and Pathak)
    classifier      classifier  0.5        probability; overestimated if relevant pages are
                                           rarer than among the examples

topic -positive FILE makes table, statistics and reference, with -negative FILE
the classifier too. Without statistics, bm25 uses the background of the topic,
which is built in for English (see topic -background). -norm is for vsm and the tables. -compat implements the
papers literally.

The score of a link combines the scores of its anchor, its context and its url:

    score = 1 - (1 - words) (1 - url)
    words = 0.8 anchor + 0.2 near
    near  = 1 if anchor > 0, else context

weighttable-tf uses (url + anchor) / 2. wordscore scores anchor and context as one text;
classifier scores anchor, context and url as one text.

Examples:

    topic -query "graphs trees matroids" > topic.json
    fetch -archive web.warc.gz -all | parse | score -topic topic.json > scored.ndjson
    score -topic topic.json -fitness classifier,vsm,bm25 pages.ndjson > scored.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

// Command is the command score.
var Command = filter.Command{Name: "score", Manual: manual, Run: invoke}

func invoke(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("score", manual, stderr)
	name := fs.String("topic", "", "the topic: a `file` made by topic, or words; required")
	chosen := fs.String("fitness", "", "`measures`, the first of which gives the score: "+strings.Join(measure.Names(), ", ")+" (default: bm25, or vsm, see above)")
	norm := fs.String("norm", "topic", "words that cosines use: those of the topic, or all of the page (`topic|page`)")
	keep := fs.Bool("keep", false, "keep the scores of records that have one, and of their links; only add relevant")
	compat := fs.Bool("compat", false, "implement the papers literally")
	windows := fs.String("windows", "", "after the mark of window G, use the topic that topic -expand has written to `DIR`/G/topic.json, if there is one")
	s := filter.Stream{Name: "score", Stdout: stdout, Stderr: stderr, Want: wire.Address | wire.Fetch | wire.Parse | wire.Score}
	s.Flags(fs)
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	if *name == "" {
		return filter.Usagef("no topic\nhint: -topic 'WORDS', or -topic FILE with a file that topic makes")
	}
	o := options{unnamed: *chosen == "", keep: *keep}
	var err error
	if o.measures, err = measure.ParseOptions(*norm, *compat); err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	var made bool
	switch o.topic, made, err = topic.LoadOrMake(*name); {
	case errors.Is(err, topic.ErrOtherFile), made && err != nil:
		return filter.Usagef("%w", err)
	case err != nil:
		return err
	case made: // perhaps the mistyped name of a file
		filter.Logger(stderr, "score", s.Log).Info("the topic is words", "words", *name)
	}
	if o.names, err = measure.Choose(*chosen, o.topic, o.measures); err != nil {
		return filter.Usagef("%w", err)
	}
	if _, err := newScorer(&o); err != nil {
		return fmt.Errorf("topic file %s: %w", *name, err)
	}
	in, err := filter.Open(stdin, fs.Args())
	if err != nil {
		return err
	}
	defer in.Close()
	s.Stdin = in
	s.Notes = o.notes
	if *windows != "" {
		s.OnWindowEnd = func(window int) error { return o.loadWindowTopic(*windows, window) }
	}
	err = s.Each(func() func(*wire.Record) error {
		w, err := newScorer(&o)
		if err != nil {
			return func(*wire.Record) error { return err }
		}
		return w.score
	})
	if n := o.withoutText.Load(); n > 0 && n == o.pages.Load() {
		filter.Logger(stderr, "score", s.Log).Warn("no page has a title or text", "pages", n, "hint", "parse comes before score")
	}
	if n := o.guessed.Load(); n > 0 {
		filter.Logger(stderr, "score", s.Log).Warn(run.GuessedThreshold, "pages", n, "hint", "topic -threshold sets one")
	}
	return err
}

// foreignThreshold is the threshold of scores of another program, if the user names none.
const foreignThreshold = 0.5

// options are shared by all workers.
type options struct {
	topic       *topic.Topic // replaced only while no worker is running
	names       []string     // of the measures
	measures    measure.Options
	unnamed     bool // the user has named no measure
	keep        bool
	guessed     atomic.Int64 // scores of another program that were compared with foreignThreshold
	pages       atomic.Int64 // pages that were scored
	relevant    atomic.Int64
	withoutText atomic.Int64 // pages without title and text, which probably were not parsed
}

// loadWindowTopic switches to the topic file that the window has left, if there is one.
func (o *options) loadWindowTopic(dir string, window int) error {
	t, err := topic.Load(run.File(dir, window, run.Topic))
	switch {
	case err == nil:
		o.topic = t
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// notes returns attributes of the closing line. The harvest is the measure's own opinion.
func (o *options) notes() []slog.Attr {
	pages, relevant := o.pages.Load(), o.relevant.Load()
	harvest := 0.0
	if pages > 0 {
		harvest = math.Round(1000*float64(relevant)/float64(pages)) / 1000
	}
	return []slog.Attr{slog.Int64("pages", pages), slog.Int64("relevant", relevant), slog.Float64("self_harvest", harvest)}
}

// A scorer scores records for one worker.
type scorer struct {
	*options
	*measure.Set
	of        *topic.Topic // the topic of the measures
	threshold float64
	foreign   float64           // the threshold of what another program has scored
	order     []int             // indexes of the measures, sorted by name
	parts     []part            // the scores of a link, sorted by name
	subject   fitness.Page      // scratch
	promises  []fitness.Promise // scratch
}

// A part is one of the scores of a link.
type part struct {
	name    string
	measure int
	of      func(*fitness.Promise) float64
}

func newScorer(o *options) (*scorer, error) {
	set, err := measure.New(o.topic, o.names, o.measures)
	if err != nil {
		return nil, err
	}
	s := &scorer{options: o, Set: set, of: o.topic, threshold: set.Measures[0].Threshold(), promises: make([]fitness.Promise, len(set.Measures))}
	if t := o.topic.Threshold; t != nil {
		s.threshold = *t
	}
	s.foreign = s.threshold
	if o.unnamed && o.topic.Threshold == nil {
		s.foreign = foreignThreshold
	}
	for i, m := range set.Measures {
		s.order = append(s.order, i)
		prefix := ""
		if i > 0 {
			prefix = m.Name + "."
			s.parts = append(s.parts, part{m.Name, i, func(p *fitness.Promise) float64 { return p.Score }})
		}
		s.parts = append(s.parts,
			part{prefix + "anchor", i, func(p *fitness.Promise) float64 { return p.Anchor }},
			part{prefix + "context", i, func(p *fitness.Promise) float64 { return p.Context }},
			part{prefix + "url", i, func(p *fitness.Promise) float64 { return p.URL }})
	}
	slices.SortFunc(s.order, func(i, j int) int { return strings.Compare(set.Measures[i].Name, set.Measures[j].Name) })
	slices.SortFunc(s.parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return s, nil
}

// score sets the score section of rec, and the scores of its links.
func (s *scorer) score(rec *wire.Record) error {
	if rec.URL == "" || rec.Error != "" {
		return nil
	}
	if s.of != s.topic { // the topic has grown
		grown, err := newScorer(s.options)
		if err != nil {
			return err
		}
		*s = *grown
	}
	if s.keep && rec.Score.Kind == wire.Present {
		s.completeScored(rec)
		return nil
	}
	failed := measure.Failed(rec)
	s.page(rec, failed)
	rec.Relevant = wire.False
	s.pages.Add(1)
	if !failed && rec.Score.Value >= s.threshold {
		rec.Relevant = wire.True
		s.relevant.Add(1)
	}
	rec.Touch(wire.Score)
	return nil
}

// completeScored completes a record that another program has scored.
func (s *scorer) completeScored(rec *wire.Record) {
	s.pages.Add(1)
	if rec.Relevant.Kind != wire.Present {
		rec.Relevant = wire.Bool{Value: rec.Score.Value >= s.foreign, Kind: wire.Present}
		if s.unnamed && s.of.Threshold == nil {
			s.guessed.Add(1)
		}
		rec.Touch(wire.Score)
	}
	if rec.Relevant.Value {
		s.relevant.Add(1)
	}
}

// page scores a page and its links. The scores of a failed page are 0, and its links are not
// scored.
func (s *scorer) page(rec *wire.Record, failed bool) {
	rec.Score, rec.Scores = wire.Num(0), rec.Scores[:0]
	if failed {
		for _, i := range s.order {
			rec.Scores = append(rec.Scores, wire.Scored{Name: s.Measures[i].Name})
		}
		return
	}
	if rec.Title == "" && rec.Text == "" {
		s.withoutText.Add(1)
	}
	s.subject = measure.Page(rec, s.subject.Links[:0])
	reading := s.Target.Read(&s.subject)
	for _, i := range s.order {
		m := &s.Measures[i]
		value := m.Page(reading)
		rec.Scores = append(rec.Scores, wire.Scored{Name: m.Name, Value: value})
		if i == 0 {
			rec.Score = wire.Num(value)
		}
	}
	for i := range rec.Links {
		s.link(&rec.Links[i])
	}
	if len(rec.Links) > 0 {
		rec.Touch(wire.Parse)
	}
}

// link scores a link of the page that was read last.
func (s *scorer) link(l *wire.Link) {
	reading := s.Target.ReadLink(&fitness.Link{URL: l.URL, Anchor: l.Anchor, Context: l.Context})
	for i := range s.Measures {
		s.promises[i] = s.Measures[i].Link(reading)
	}
	l.Score, l.Scores = wire.Num(s.promises[0].Score), slices.Grow(l.Scores[:0], len(s.parts))
	for _, p := range s.parts {
		l.Scores = append(l.Scores, wire.Scored{Name: p.name, Value: p.of(&s.promises[p.measure])})
	}
}
