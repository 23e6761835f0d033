// Package topic is the command topic, which writes a topic file: what relevant pages are about.
package topic

import (
	_ "embed"
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

//go:embed manual.md
var manual string

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
	fs.Var(&c.keywords, "keyword", "a keyword: one or more words, with a weight or 1, `expression[=weight]`; may be repeated")
	fs.StringVar(&c.threshold, "threshold", "", "pages with this `score` or more are relevant (default: the measure's)")
	fs.StringVar(&c.language, "language", "", "`code` of the words' language: "+strings.Join(text.Languages(), ", ")+" (default: guessed from the words)")
	fs.StringVar(&c.stemmer, "stemmer", "", "`name` of the stemmer, for en: "+strings.Join(text.Stemmers("en"), ", ")+" (default: the language's first)")
	fs.StringVar(&c.topic, "topic", "", "start with the topic in this `file`")
	fs.Var(&c.positive, "positive", "a `file` of pages about the topic, as parse writes them; - is stdin; may be repeated")
	fs.Var(&c.negative, "negative", "a `file` of pages on other topics; may be repeated")
	fs.Var(&c.background, "background", "a `file` of pages on all topics, for how frequent words are in general; may be repeated")
	fs.Var(&c.archives, "archive", "read pages that are given by address from this `file` (WARC, ARC, WACZ), pattern or directory; may be repeated")
	fs.IntVar(&c.learn.Size, "table", topic.TableSize, "`number` of words in the weight table")
	fs.StringVar(&c.learn.Reference, "reference", "", "`url` of the reference page (default: the positive page nearest to the keywords)")
	fs.BoolVar(&c.learn.Literal, "compat", false, "follow the papers literally; in making the table and the reference page, expanding, and explaining")
	fs.StringVar(&c.expand, "expand", "", "expand the table by scored pages: `rule` (symbiosis or tunnel) or rule=score (default score 0.7 and 0.9)")
	fs.StringVar(&c.windows, "windows", "", "with -expand: pass records on, write the topic after window G to `DIR`/G/topic.json")
	fs.StringVar(&c.explain, "explain", "", "explain the scores of the page with this `url`")
	fs.StringVar(&c.fitness, "fitness", "", "`measures` to explain, as for score -fitness (default: that of score, and the classifier of the topic)")
	fs.StringVar(&c.norm, "norm", "topic", "words that cosines use: those of the `topic|page`")
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
	case c.topic == "" && !c.hasWords() && len(c.positive) == 0:
		return filter.Usagef("no words: use -query \"words\", -keyword expression=weight or -positive FILE\nhint: topic -h has examples")
	case len(c.negative) > 0 && len(c.positive) == 0:
		return filter.Usagef("-negative without -positive: a classifier learns from both\nhint: give pages about the topic with -positive FILE")
	case c.topic != "" && len(c.positive)+len(c.background) == 0 && c.threshold == "":
		return filter.Usagef("-topic FILE needs -positive FILE, -background FILE, -threshold, -expand or -explain\nhint: topic -h has examples")
	case stdin > 1:
		return filter.Usagef("stdin can be read only once, but - was given several times")
	}
	return nil
}

// hasWords reports whether words of the topic are given.
func (c *command) hasWords() bool { return c.query != "" || len(c.keywords) > 0 }

// runMake writes a topic made from words or another topic, and from examples.
func (c *command) runMake() error {
	t, err := c.begin()
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
	var positive, negative *measure.Examples
	if len(c.positive) > 0 {
		if positive, negative, err = c.readBoth(); err != nil {
			return err
		}
	}
	byExample := len(t.Keywords) == 0
	if byExample && c.language == "" && c.stemmer == "" {
		if err := c.setLanguage(t, positive.Language()); err != nil {
			return err
		}
	}
	if len(c.background) > 0 {
		if err := c.learnBackground(t); err != nil {
			return err
		}
	}
	if byExample {
		if err := c.addKeywords(t, positive, negative); err != nil {
			return err
		}
	}
	if positive != nil {
		if err := c.learnFromExamples(t, positive, negative); err != nil {
			return err
		}
	}
	return t.Write(c.stdout)
}

// begin returns the topic of -topic or of the words. Without either it returns a topic without keywords.
func (c *command) begin() (*topic.Topic, error) {
	switch {
	case c.topic != "":
		t, err := topic.Load(c.topic)
		if err != nil {
			return nil, filter.Usagef("%w", err)
		}
		return t, nil
	case c.hasWords():
		return c.topicFromWords()
	}
	t, err := topic.New(c.language, c.stemmer)
	if err != nil {
		return nil, filter.Exit(filter.StatusMisuse, err)
	}
	return t, nil
}

// topicFromWords returns the topic of the query and the keywords.
func (c *command) topicFromWords() (*topic.Topic, error) {
	language, ignore := c.language, []string(nil)
	if language == "" && c.stemmer == "" {
		words := c.query
		if words == "" {
			words = strings.Join(c.keywords, " ")
		}
		language, ignore = topic.Guess(words)
	}
	t, err := topic.New(language, c.stemmer)
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
		ignored, err := t.AddQuery(c.query, ignore...)
		if err != nil {
			return nil, filter.Exit(filter.StatusMisuse, err)
		}
		if len(ignored) > 0 {
			fmt.Fprintf(c.stderr, "topic: words of the query that do not count: %s\n", strings.Join(ignored, " "))
		}
	}
	if c.language == "" && t.Language != text.DefaultLanguage {
		fmt.Fprintf(c.stderr, "topic: the language of the words seems to be %s; -language says which it is\n", t.Language)
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
