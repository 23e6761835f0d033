// Topic writes a topic file, which says what relevant pages are about.
//
// # Usage
//
//	topic -query "WORDS" [-keyword EXPRESSION=WEIGHT]... [flags] > topic.json
//	topic -query "WORDS" -positive FILE [-negative FILE] [flags] > topic.json
//	topic -topic FILE -positive FILE [-negative FILE] [flags] > topic.json
//	topic -topic FILE -background FILE > topic.json
//	topic -topic FILE -expand RULE[=SCORE] [FILE...] < scored > new.json
//	topic -topic FILE -expand RULE[=SCORE] -windows DIR < scored windows > the same
//	topic -topic FILE -explain URL [-fitness NAME[,NAME...]] [FILE...] < parsed
//
// # Words
//
// Every word of the query becomes a keyword with weight 1, except stop words and single
// characters, which are listed on stderr. A -keyword is one or more words with a weight, 1
// by default. A phrase matches its words in sequence, in any inflected form. It is an
// error if a keyword consists of stop words only ("IT" is a stop word, because case is
// ignored).
//
// -threshold is the score from which a page is relevant; the default is the measure's
// (see score -h). -language is the language of the words, en by default. It determines how
// words are lower-cased, which of them are stop words, and how the others are stemmed. und
// is for unknown languages: words are not changed. Chinese, Japanese, Korean, Thai and
// similar scripts are split into pairs of characters in every language. English has two
// stemmers: -stemmer porter, the algorithm of 1980 and the default, or english, its
// successor, which is more careful.
//
// # Examples
//
// -positive and -negative name files of pages that parse has written, which may be
// compressed by gzip or zstd; - is stdin. Both may be repeated. With -archive they may be lists of
// addresses, whose pages are taken from these archives:
//
//	topic -query "jazz music" -archive web.warc.gz -positive good.txt -negative bad.txt > topic.json
//
// Failures, pages without words and duplicates are left out, and counted on stderr. -topic starts with the keywords
// of another topic; the sections below are replaced, except that a classifier is kept if
// there is no -negative, and a background if there is no -background.
//
// With -positive alone the topic gets
//
//	statistics  number of pages, their mean length, and for each keyword the number of
//	            pages that have it (df); for bm25
//	table       words with weights; for weighttable
//	vocabulary  document frequencies of words in positive pages; for -expand
//	reference   one of the pages, with its links and words; for jaccard
//
// and with -negative too
//
//	common      words that do not distinguish positive from negative pages; for -expand
//	classifier  a logistic model; for classifier
//
// The table has the N words (-table N) with the highest tf·df: tf is the number of
// occurrences in all positive pages, df the number of positive pages that have the word. The
// weight is tf·df divided by its maximum (Pal, Tomar and Shrivastava 2009). The table also
// has the words of the keywords, with weight 1 and "origin":"query" (Wilson et al. 2021),
// which weighttable uses and weighttable-tf does not. If there are negative pages, words that
// occur in some of them are left out unless they are significantly more frequent in positive
// pages; most words of navigation are left out for that reason. -compat makes the table of
// Wilson et al.: the words of the query and the word with the highest tf·df of each page,
// without leaving words out; the reference is the first page. For the table of Pal et al.,
// give neither -negative nor -compat.
//
// Statistics are of all pages, positive and negative. Among the positive pages alone, the
// words of the topic would be the most frequent ones, and bm25, which weights rare words
// higher, would give them the lowest weights.
//
// The reference page is the positive page nearest to the keywords, by the cosine of its
// word counts and the weights of the keywords, which prefers short pages. -reference
// chooses another one.
//
// # Background
//
// A background says how frequent words are in general. If there are no example pages, bm25
// takes its statistics from it, so that a rare word of the query counts more than a common
// one. For English a table of 12,000 words is part of the program; it is made from the
// documentation of Go and Debian, so its English is technical. -background makes another
// one from parsed pages on all topics, such as a random sample of the web that is crawled.
// For other languages, bm25 requires it or example pages. It can be used with a query or
// -topic, and together with -positive, and adds the section
//
//	background  number of pages, their mean length, and the document frequencies of the
//	            12,000 most frequent words
//
// # Expansion
//
// -expand reads scored pages in the order in which they were fetched, and writes the topic
// with a larger table. A page with a very high score adds one word, with the score as its
// weight, unless the table has the word already. Words that are common to positive and
// negative examples are skipped. The entry names the page. The rules are
//
//	symbiosis  scores.weighttable 0.7 or more: the word with the highest tf·df, tf in the
//	           page and df in the examples; Wilson et al. With -compat the limit is
//	           0.65: the paper adds 0.05 to the score and compares with 0.7
//	tunnel     scores.weighttable-tf 0.9 or more: the most frequent word; Pal et al.
//
// and RULE=SCORE sets another limit. Reading the same pages again changes nothing.
//
// With -windows DIR it is a filter in a loop with frontier serve, and passes records on
// unchanged. Before it passes on the window mark of window G, it writes the topic expanded by
// the pages of that window to DIR/G/topic.json. If no word was added, it writes no file.
// score -windows and evolve -windows read that file. A mark before the first record ends no
// window, and leaves the topic as it is.
//
// # Explanation
//
// -explain finds a page in the input by its address, or by the address to which it
// redirected, and prints for each measure of -fitness the score, the threshold, and the
// parts of the score: the -n largest, with the weight in the topic and the weighted count
// in the page. The parts sum to the score; those of the classifier sum to ln(p / (1 - p)),
// its log-odds, where negative parts speak against the topic. Then come the links with the
// highest scores by the first measure. A record of a failure is reported, and the search
// continues. -norm and -compat are as in score. The output is for people; its format may
// change.
//
// # Output
//
// JSON with one entry per line, for reading, diff and version control. It may be edited:
// if you change the text of a keyword or a word of the table, delete the terms in the same
// entry, because pages are matched by the terms.
//
// # Example
//
//	$ topic -query "cryptography: ciphers, hashes" -keyword "elliptic curve=2"
//	{
//	  "format": "spoor-topic",
//	  "version": 1,
//	  "query": "cryptography: ciphers, hashes",
//	  "language": "en",
//	  "stemmer": "porter",
//	  "keywords": [
//	    {"text":"elliptic curve","weight":2,"terms":["ellipt","curv"]},
//	    {"text":"cryptography","weight":1,"terms":["cryptographi"]},
//	    {"text":"ciphers","weight":1,"terms":["cipher"]},
//	    {"text":"hashes","weight":1,"terms":["hash"]}
//	  ]
//	}
//
//	$ fetch -archive web.warc.gz good.txt | parse > good.ndjson
//	$ fetch -archive web.warc.gz bad.txt | parse > bad.ndjson
//	$ topic -query "ciphers hashes" -positive good.ndjson -negative bad.ndjson > topic.json
//
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full.
//
// # Limitations
//
// Only the first 4 MiB of each text are used. Positive and negative examples and
// the background may have 256 MiB each.
package topic

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/measure"
	"spoor/internal/text"
	"spoor/internal/topic"
)

const manual = `
topic - write a topic file: what relevant pages are about

Usage: topic -query "WORDS" [-keyword EXPRESSION=WEIGHT]... > topic.json
       topic -query "WORDS" -positive FILE [-negative FILE] > topic.json
       topic -topic FILE -positive FILE [-negative FILE] > topic.json
       topic -query "WORDS" -archive WARC -positive ADDRESSES [-negative ADDRESSES] > topic.json
       topic -topic FILE -background FILE > topic.json
       topic -topic FILE -expand RULE[=SCORE] [FILE...] < scored > new.json
       topic -topic FILE -explain URL [-fitness NAME,...] [FILE...] < parsed

In:   nothing, example pages as parse writes them, or pages as score writes them
Out:  a topic file, JSON with one entry per line; with -explain, text

Every word of the query becomes a keyword with weight 1; stop words and single
characters are left out and listed on stderr. A -keyword is one or more words
with a weight (1 by default); a phrase matches its words in sequence, in any
inflected form. A keyword of stop words only, such as "IT", is an error.

Pages about the topic (-positive) add statistics (for bm25), a table of words weighted
by tf*df (weighttable), and a reference page (jaccard). With pages on other topics
(-negative), words that are as frequent there are left out of the table, and a
classifier is trained.

Pages on all topics (-background) tell common words from rare ones, so that bm25
needs no examples; for English such a table is part of the program.

-expand adds words of pages with very high scores to the table. The rules are

    rule       pages with                          add
    symbiosis  scores.weighttable 0.7 or more      the word with the highest tf*df
    tunnel     scores.weighttable-tf 0.9 or more   the most frequent word

With -windows DIR records are passed on. Before the mark of window G is passed on,
the topic expanded by that window is written to DIR/G/topic.json. If no word was
added, no file is written.

-explain prints the parts of the score of a page, and its best links.

Example:

    topic -query "cryptography: ciphers, hashes" -keyword "elliptic curve=2" > topic.json
    score -topic topic.json < parsed.ndjson
    topic -topic topic.json -explain https://example.org/ < parsed.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

// Command is the command topic.
var Command = filter.Command{Name: "topic", Manual: manual, Run: invoke}

// A command holds the flags and streams.
type command struct {
	query, threshold, language, stemmer string
	keywords                            filter.Strings

	topic              string // file name
	positive, negative filter.Strings
	background         filter.Strings
	archives           filter.Strings
	archived           *archived // nil: no -archive
	learn              topic.LearnOptions

	expand  string
	windows string // directory
	explain string
	fitness string
	norm    string
	n       int

	stdin          io.Reader
	files          []string
	stdout, stderr io.Writer
}

func invoke(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c := command{stdin: stdin, stdout: stdout, stderr: stderr}
	fs := filter.Flags("topic", manual, stderr)
	fs.StringVar(&c.query, "query", "", "`words` of pages about the topic, each with weight 1")
	fs.Var(&c.keywords, "keyword", "an `expression[=weight]`, one or more words; the default weight is 1 (repeatable)")
	fs.StringVar(&c.threshold, "threshold", "", "pages with this `score` or more are relevant (default: the measure's)")
	fs.StringVar(&c.language, "language", text.DefaultLanguage, "`code` of the words' language: "+strings.Join(text.Languages(), ", "))
	fs.StringVar(&c.stemmer, "stemmer", "", "`name` of the stemmer, for en one of "+strings.Join(text.Stemmers("en"), ", ")+" (default: the language's first)")
	fs.StringVar(&c.topic, "topic", "", "start with the topic in this `file`, not with words")
	fs.Var(&c.positive, "positive", "a `file` of pages about the topic, as parse writes them; - is stdin (repeatable)")
	fs.Var(&c.negative, "negative", "a `file` of pages on other topics (repeatable)")
	fs.Var(&c.background, "background", "a `file` of pages on all topics, which say how frequent words are in general (repeatable)")
	fs.Var(&c.archives, "archive", "read pages that are given by address from this `file` (WARC, ARC, WACZ), pattern or directory (repeatable)")
	fs.IntVar(&c.learn.Size, "table", topic.TableSize, "`number` of words in the weight table")
	fs.StringVar(&c.learn.Reference, "reference", "", "`url` of the reference page (default: the positive page nearest to the keywords)")
	fs.BoolVar(&c.learn.Literal, "compat", false, "follow the papers literally in making the table and the reference page, expanding, and explaining")
	fs.StringVar(&c.expand, "expand", "", "expand the table by scored pages: `rule` (symbiosis or tunnel) or rule=score (default score 0.7 and 0.9)")
	fs.StringVar(&c.windows, "windows", "", "with -expand: pass records on, and write the topic after window G to `DIR`/G/topic.json")
	fs.StringVar(&c.explain, "explain", "", "explain the scores of the page with this `url`")
	fs.StringVar(&c.fitness, "fitness", "", "the `measures` to explain (default: as score): "+strings.Join(measure.Names(), ", "))
	fs.StringVar(&c.norm, "norm", "topic", "words that cosines use: those of the topic, or all of the page (`topic|page`)")
	fs.IntVar(&c.n, "n", 20, "explain at most `n` reasons and links")
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	c.files = fs.Args()
	given := filter.Given(fs)
	work, err := c.runMake, error(nil)
	switch {
	case given["explain"]:
		work, err = c.runExplain, only(given, "explain", "topic", "fitness", "norm", "compat", "n")
	case given["expand"]:
		work, err = c.runExpand, only(given, "expand", "topic", "compat", "windows")
	default:
		err = c.misuse(given)
	}
	if err != nil {
		return err
	}
	return work()
}

// only returns an error for a flag that cannot be used with the flag job.
func only(given map[string]bool, job string, with ...string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name != job && !slices.Contains(with, name) {
			return filter.Usagef("-%s cannot be used with -%s, which allows only -%s", name, job, strings.Join(with, ", -"))
		}
	}
	if !given["topic"] {
		return filter.Usagef("-%s needs -topic FILE", job)
	}
	return nil
}

// misuse returns an error for flags that contradict each other.
func (c *command) misuse(given map[string]bool) error {
	stdin := 0
	for _, file := range slices.Concat(c.positive, c.negative, c.background) {
		if file == "-" {
			stdin++
		}
	}
	for _, name := range []string{"fitness", "norm", "n"} {
		if given[name] {
			return filter.Usagef("-%s needs -explain", name)
		}
	}
	if given["windows"] {
		return filter.Usagef("-windows needs -expand")
	}
	for _, name := range []string{"query", "keyword", "language", "stemmer"} {
		if given["topic"] && given[name] {
			return filter.Usagef("-%s and -topic: the topic in the file has its own\nhint: leave -topic out to make a new one", name)
		}
	}
	if given["archive"] && len(c.positive)+len(c.background) == 0 {
		return filter.Usagef("-archive is for the pages of -positive, -negative and -background")
	}
	for _, name := range []string{"table", "reference", "compat"} {
		if given[name] && len(c.positive) == 0 {
			return filter.Usagef("-%s needs example pages\nhint: -positive FILE, as parse writes them", name)
		}
	}
	switch {
	case len(c.files) > 0 && len(c.positive)+len(c.background) > 0:
		return filter.Usagef("unexpected argument %q\nhint: every file of pages has a -positive, -negative or -background before it", c.files[0])
	case len(c.files) > 0:
		return filter.Usagef("unexpected argument %q\nhint: quote the query: topic -query \"several words\"", c.files[0])
	case c.topic == "" && c.query == "" && len(c.keywords) == 0:
		return filter.Usagef("no words: use -query \"words\" or -keyword expression=weight\nhint: see topic -h")
	case len(c.negative) > 0 && len(c.positive) == 0:
		return filter.Usagef("-negative without -positive: a classifier learns from both\nhint: give pages about the topic with -positive FILE")
	case c.topic != "" && len(c.positive)+len(c.background) == 0 && c.threshold == "":
		return filter.Usagef("-topic FILE needs -positive FILE, -background FILE, -threshold, -expand or -explain\nhint: see topic -h")
	case stdin > 1:
		return filter.Usagef("stdin can be read only once, but - was given several times")
	}
	return nil
}

// runMake writes a topic made from words or another topic, and from examples.
func (c *command) runMake() error {
	t, err := c.topicFromWords()
	if c.topic != "" {
		t, err = topic.Load(c.topic)
	}
	if errors.Is(err, topic.ErrOtherFile) {
		return filter.Usagef("%w", err)
	}
	if err != nil {
		return err
	}
	if c.threshold != "" {
		v, err := strconv.ParseFloat(c.threshold, 64)
		if err != nil || !topic.ValidThreshold(v) {
			return filter.Usagef("-threshold %s is not a number from 0", c.threshold)
		}
		t.Threshold = &v
	}
	if len(c.archives) > 0 {
		if c.archived, err = openArchives(c.archives); err != nil {
			return err
		}
		defer c.archived.replay.Close()
	}
	if len(c.positive) > 0 {
		if err := c.learnFromExamples(t); err != nil {
			return err
		}
	}
	if len(c.background) > 0 {
		if err := c.learnBackground(t); err != nil {
			return err
		}
	}
	return t.Write(c.stdout)
}

// topicFromWords returns the topic of the query and the keywords.
func (c *command) topicFromWords() (*topic.Topic, error) {
	if c.topic != "" {
		return nil, nil
	}
	t, err := topic.New(c.language, c.stemmer)
	if err != nil {
		return nil, filter.Exit(filter.StatusMisuse, err)
	}
	for _, k := range c.keywords {
		expression, weight, err := parseKeyword(k)
		if err == nil {
			err = t.AddKeyword(expression, weight)
		}
		if err != nil {
			return nil, filter.Exit(filter.StatusMisuse, err)
		}
	}
	if c.query != "" {
		ignored, err := t.AddQuery(c.query)
		if err != nil {
			return nil, filter.Exit(filter.StatusMisuse, err)
		}
		if len(ignored) > 0 {
			fmt.Fprintf(c.stderr, "topic: words of the query that do not count: %s\n", strings.Join(ignored, " "))
		}
	}
	return t, nil
}

// parseKeyword parses "expression=weight", or an expression with weight 1.
func parseKeyword(s string) (expression string, weight float64, err error) {
	i := strings.LastIndexByte(s, '=')
	if i < 0 {
		return s, 1, nil
	}
	weight, err = strconv.ParseFloat(s[i+1:], 64)
	if err != nil {
		return "", 0, fmt.Errorf("-keyword %q: %q is not a number\nhint: -keyword \"several words=2.5\"", s, s[i+1:])
	}
	return s[:i], weight, nil
}
