// Topic writes a topic file: what the pages sought are about.
//
// # Usage
//
//	topic -query "WORDS" [-keyword EXPRESSION=WEIGHT]... [flags] > topic.json
//	topic -query "WORDS" -positive FILE [-negative FILE] [flags] > topic.json
//	topic -topic FILE -positive FILE [-negative FILE] [flags] > topic.json
//	topic -topic FILE -expand RULE[=SCORE] [FILE...] < scored > new.json
//	topic -topic FILE -expand RULE[=SCORE] -windows DIR < scored windows > the same
//	topic -topic FILE -explain URL [-fitness NAME[,NAME...]] [FILE...] < parsed
//
// # Words
//
// Every word of the query becomes a keyword of weight 1, stop words and single
// characters excepted, which are named on stderr. A -keyword is one or more
// words with a weight of its own, 1 if none is given; several words are found
// in pages where they follow one another as written, in any inflection. A
// keyword that has nothing but stop words ("IT" is one: case does not count)
// is an error, because no page would be told by it.
//
// -threshold is the score from which a page is relevant; without it the measure
// decides (score -h says how). -language is the language of the words, en unless
// it is given; it decides how words are lower-cased, which of them are stop words,
// and how the others are reduced to their stems. und is for languages that are
// not known: every word is as it is. Chinese, Japanese, Korean, Thai and their
// like are matched two characters at a time in every language. -stemmer is a
// choice in English only: porter, the algorithm of 1980 and the default, or
// english, its successor, which is more careful.
//
// # Examples
//
// -positive and -negative name files of pages as parse leaves them, plain or
// packed by gzip or zstd; - is stdin. Both may be repeated. Failures, pages
// without words and pages that were given before are left out, and counted on
// stderr. -topic begins with the keywords of another topic; the sections below
// are made anew, except that a classifier stays if there is no -negative.
//
// With -positive alone the topic gains
//
//	statistics  how many pages there are, how long they are, and in each keyword
//	            how many have it (df); for bm25
//	table       words with weights; for weighttable
//	vocabulary  how many positive pages have a word; for -expand
//	reference   one of the pages, with its links and words; for jaccard
//
// and with -negative too
//
//	common      the words that do not tell positive pages from negative ones; for
//	            -expand
//	classifier  a logistic model; for classifier
//
// The table has the -table words with the highest tf·df, how often a word occurs
// in all positive pages by how many of them have it, divided by the highest of
// all (Pal, Tomar and Shrivastava 2009), and those of the keywords at weight 1
// (Wilson et al. 2021), which weighttable reads and weighttable-tf does not: their
// origin is query. If there are negative pages, words that some of those have are
// left out unless positive pages have them significantly more often; that is
// most of what sites say on every page. -compat makes the table of Wilson et al.:
// beside the query's, the word of each page with the highest tf·df, nothing left
// out; its reference page is the first. (The table of Pal et al. is the one made
// without -negative and without -compat.)
//
// Statistics are of all pages, positive and negative. Over the positive ones alone
// the words of the topic would be the commonest, and by their rarity, which bm25
// goes by, worth least.
//
// The reference page is the positive one nearest to the keywords, by the cosine
// of its words' counts with their weights, which likes short pages. -reference
// chooses another.
//
// # Expansion
//
// -expand reads scored pages in the order in which they were fetched, and writes
// the topic with a larger table. A page that is very near to the topic brings one
// word, with the nearness as its weight; if the table has the word, it brings
// none. Words that are common to positive and negative examples are passed over.
// The entry tells which page brought it. The rules are
//
//	symbiosis  scores.weighttable 0.7 or more: the word of the highest tf·df, tf in
//	           the page and df in the examples; Wilson et al. With -compat 0.65
//	           or more, because the paper adds 0.05 to the score
//	tunnel     scores.weighttable-tf 0.9 or more: the most frequent word; Pal et al.
//
// and RULE=SCORE sets another limit. The same pages again change nothing.
//
// With -windows DIR it is a filter in a loop with frontier serve: records go through as
// they came, and at the mark of window G, before the mark goes on, the topic that has
// grown by the pages of the window is written to DIR/G/topic.json; where no word came in
// there is no such file. score -windows and evolve -windows find it there. A mark ahead
// of all records ends nothing: the topic after it is that of -topic.
//
// # Explanation
//
// -explain finds a page among those that are read, by its address or by the one
// that redirects led to, and prints for each measure of -fitness the score, the
// threshold, and what made the score: the -n largest parts, with the weight that
// the topic gives and the count in the page, weighted as the measure does. The
// parts sum to the score, but those of the classifier to ln(p / (1 - p)), its
// log-odds, where what is below 0 speaks against the topic. Then come the links
// with the best scores by the first measure. If fetching failed, that is told, and
// the page is looked for in what follows. -norm and -compat are as in score. What
// is printed is for people, not a format.
//
// # Output
//
// JSON, an entry a line, made to be read, compared and kept under version
// control. It may be edited: whoever changes a keyword's text or a word of the
// table removes the terms beside it, which are what it is matched by.
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
// Of each text the first 4 MiB count, and the examples of a kind have 256 MiB in
// all.
package main

import (
	"flag"
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
topic - write a topic file: what the pages sought are about

Usage: topic -query "WORDS" [-keyword EXPRESSION=WEIGHT]... > topic.json
       topic -query "WORDS" -positive FILE [-negative FILE] > topic.json
       topic -topic FILE -positive FILE [-negative FILE] > topic.json
       topic -topic FILE -expand RULE[=SCORE] [FILE...] < scored > new.json
       topic -topic FILE -explain URL [-fitness NAME,...] [FILE...] < parsed

In:   nothing, example pages as parse leaves them, or pages as score leaves them
Out:  a topic file, JSON with an entry a line; with -explain, words

Every word of the query becomes a keyword of weight 1; stop words and single
characters are left out and named on stderr. A -keyword is one or more words
with a weight of its own (1 if none is given); several words are found where
they follow one another as written, in any inflection. A keyword of nothing but
stop words, such as "IT", is an error.

Pages about the topic (-positive) add what other measures than vsm go by:
statistics (bm25), a table of words weighted by tf*df (weighttable), and a
reference page (jaccard). Pages that are not about it (-negative) keep words
that are everywhere out of the table, and train a classifier.

-expand grows the table by words of the pages of a crawl that are very near. By the
rule symbiosis, a page with a scores.weighttable of 0.7 or more adds its word of the
highest tf*df; by tunnel, one with a scores.weighttable-tf of 0.9 or more its most
frequent word. With -windows DIR records go through, and the topic that window G has
made is in DIR/G/topic.json before its mark goes on; if nothing came in, no file is.

-explain prints what made the score of a page, and its best links.

Example:

    topic -query "cryptography: ciphers, hashes" -keyword "elliptic curve=2" > topic.json
    score -topic topic.json < parsed.ndjson
    topic -topic topic.json -explain https://example.org/ < parsed.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full. go doc ./cmd/topic tells more.
`

func main() { filter.Main("topic", invoke) }

// A command holds the flags and streams.
type command struct {
	query, threshold, language, stemmer string
	keywords                            filter.Strings

	topic              string // file name
	positive, negative filter.Strings
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
	fs.StringVar(&c.query, "query", "", "`words` that pages about the topic have, each at weight 1")
	fs.Var(&c.keywords, "keyword", "an `expression=weight`, several words allowed (repeatable)")
	fs.StringVar(&c.threshold, "threshold", "", "pages with this `score` or more are relevant (default: the measure's own)")
	fs.StringVar(&c.language, "language", text.DefaultLanguage, "`code` of the words' language: "+strings.Join(text.Languages(), ", "))
	fs.StringVar(&c.stemmer, "stemmer", "", "`name` of the stemmer, for en one of "+strings.Join(text.Stemmers("en"), ", ")+" (default: the language's first)")
	fs.StringVar(&c.topic, "topic", "", "begin with the topic in this `file`, not with words")
	fs.Var(&c.positive, "positive", "a `file` of pages about the topic, as parse leaves them; - is stdin (repeatable)")
	fs.Var(&c.negative, "negative", "a `file` of pages that are not about it (repeatable)")
	fs.IntVar(&c.learn.Size, "table", topic.TableSize, "size of the weight table, in `words`")
	fs.StringVar(&c.learn.Reference, "reference", "", "`url` of the reference page (default: the positive page nearest to the keywords)")
	fs.BoolVar(&c.learn.Literal, "compat", false, "the table and the reference page, the rule of expansion, or the measures, to the letter of the papers")
	fs.StringVar(&c.expand, "expand", "", "grow the table by scored pages: `rule`, symbiosis or tunnel, or rule=score")
	fs.StringVar(&c.windows, "windows", "", "with -expand: read windows, pass them on, and leave the topic that window G has made in `DIR`/G/topic.json")
	fs.StringVar(&c.explain, "explain", "", "say why the page with this `url` scores as it does")
	fs.StringVar(&c.fitness, "fitness", measure.Names()[0], "the `measures` to explain: "+strings.Join(measure.Names(), ", "))
	fs.StringVar(&c.norm, "norm", "topic", "`which` words make a page's vector, to be explained: topic or page")
	fs.IntVar(&c.n, "n", 20, "explain at most `n` reasons and links")
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	c.files = fs.Args()
	given := make(map[string]bool)
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
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
			return filter.Usagef("-%s means nothing with -%s, which goes with -%s", name, job, strings.Join(with, ", -"))
		}
	}
	if !given["topic"] {
		return filter.Usagef("-%s: of which topic? -topic FILE", job)
	}
	return nil
}

// misuse returns an error for flags that contradict each other.
func (c *command) misuse(given map[string]bool) error {
	stdin := 0
	for _, file := range slices.Concat(c.positive, c.negative) {
		if file == "-" {
			stdin++
		}
	}
	for _, name := range []string{"fitness", "norm", "n"} {
		if given[name] {
			return filter.Usagef("-%s means nothing without -explain", name)
		}
	}
	if given["windows"] {
		return filter.Usagef("-windows means nothing without -expand")
	}
	for _, name := range []string{"query", "keyword", "language", "stemmer"} {
		if given["topic"] && given[name] {
			return filter.Usagef("-%s and -topic: the topic in the file has its own\nhint: leave -topic out to make a new one", name)
		}
	}
	for _, name := range []string{"table", "reference", "compat"} {
		if given[name] && len(c.positive) == 0 {
			return filter.Usagef("-%s means nothing without example pages\nhint: -positive FILE, as parse leaves them", name)
		}
	}
	switch {
	case len(c.files) > 0 && len(c.positive) > 0:
		return filter.Usagef("unexpected argument %q\nhint: every file of examples has a -positive or a -negative before it", c.files[0])
	case len(c.files) > 0:
		return filter.Usagef("unexpected argument %q\nhint: quote the query: topic -query \"several words\"", c.files[0])
	case c.topic == "" && c.query == "" && len(c.keywords) == 0:
		return filter.Usagef("what is the topic? -query \"words\" or -keyword expression=weight\nhint: topic -h tells more")
	case len(c.negative) > 0 && len(c.positive) == 0:
		return filter.Usagef("-negative without -positive: a classifier learns from both\nhint: give pages about the topic with -positive FILE")
	case c.topic != "" && len(c.positive) == 0 && c.threshold == "":
		return filter.Usagef("-topic FILE, and what with it? -positive FILE, -threshold, -expand or -explain\nhint: topic -h tells more")
	case stdin > 1:
		return filter.Usagef("stdin can be read once, so - can be one of -positive and -negative")
	}
	return nil
}

// runMake writes a topic made from words or another topic, and from examples.
func (c *command) runMake() error {
	t, err := c.ofWords()
	if c.topic != "" {
		t, err = topic.Load(c.topic)
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
	if len(c.positive) > 0 {
		if err := c.learnFromExamples(t); err != nil {
			return err
		}
	}
	return t.Write(c.stdout)
}

// ofWords returns the topic of the query and the keywords.
func (c *command) ofWords() (*topic.Topic, error) {
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
