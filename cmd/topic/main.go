// Topic writes a topic file: what the pages sought are about.
//
// # Usage
//
//	topic -query "WORDS" [-keyword EXPRESSION=WEIGHT]... [flags] > topic.json
//	topic -keyword EXPRESSION=WEIGHT... [flags] > topic.json
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
// # Output
//
// JSON, a keyword a line, made to be read, compared and kept under version
// control. It may be edited: whoever changes a keyword's text removes its
// terms, which are what the text is matched by.
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
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full.
package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/text"
	"spoor/internal/topic"
)

const manual = `
topic - write a topic file: what the pages sought are about

Usage: topic -query "WORDS" [-keyword EXPRESSION=WEIGHT]... > topic.json

In:   nothing
Out:  a topic file, JSON with a keyword a line

Every word of the query becomes a keyword of weight 1; stop words and single
characters are left out and named on stderr. A -keyword is one or more words
with a weight of its own (1 if none is given); several words are found where
they follow one another as written, in any inflection. A keyword of nothing but
stop words, such as "IT", is an error.

Example:

    topic -query "cryptography: ciphers, hashes" -keyword "elliptic curve=2" > topic.json
    score -topic topic.json < parsed.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full. go doc ./cmd/topic tells more.
`

func main() { filter.Main("topic", run) }

func run(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("topic", manual, stderr)
	query := fs.String("query", "", "`words` that pages about the topic have, each at weight 1")
	var keywords filter.Strings
	fs.Var(&keywords, "keyword", "an `expression=weight`, several words allowed (repeatable)")
	threshold := fs.String("threshold", "", "pages with this `score` or more are relevant (default: the measure's own)")
	language := fs.String("language", text.DefaultLanguage, "`code` of the words' language: "+strings.Join(text.Languages(), ", "))
	stemmer := fs.String("stemmer", "", "`name` of the stemmer, for en one of "+strings.Join(text.Stemmers("en"), ", ")+" (default: the language's first)")
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	switch {
	case fs.NArg() > 0:
		return filter.Usagef("unexpected argument %q\nhint: quote the query: topic -query \"several words\"", fs.Arg(0))
	case *query == "" && len(keywords) == 0:
		return filter.Usagef("what is the topic? -query \"words\" or -keyword expression=weight\nhint: topic -h tells more")
	}
	t, err := topic.New(*language, *stemmer)
	if err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	if *threshold != "" {
		v, err := strconv.ParseFloat(*threshold, 64)
		if err != nil || !topic.ValidThreshold(v) {
			return filter.Usagef("-threshold %s is not a number from 0", *threshold)
		}
		t.Threshold = &v
	}
	for _, k := range keywords {
		expression, weight, err := parseKeyword(k)
		if err == nil {
			err = t.AddKeyword(expression, weight)
		}
		if err != nil {
			return filter.Exit(filter.StatusMisuse, err)
		}
	}
	if *query != "" {
		ignored, err := t.AddQuery(*query)
		if err != nil {
			return filter.Exit(filter.StatusMisuse, err)
		}
		if len(ignored) > 0 {
			fmt.Fprintf(stderr, "topic: words of the query that do not count: %s\n", strings.Join(ignored, " "))
		}
	}
	return t.Write(stdout)
}

// parseKeyword reads "expression=weight", or an expression of weight 1.
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
