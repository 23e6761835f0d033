package text

import (
	"unicode"

	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// DefaultLanguage is the language that is used if none is specified.
const DefaultLanguage = "en"

// A stemmer creates functions that stem a folded word in place. A function may have state, so
// each analyzer creates its own.
type stemmer struct {
	name        string
	make        func() func(word []byte) []byte
	keepsPrefix bool // stems begin like their words: see prefixLength
}

// A language holds the rules that differ between languages. Its stop list is in stop/.
type language struct {
	code     string // ISO 639-1, or "und" (BCP 47) for other languages
	lower    casing
	stemmers []stemmer
}

// A casing holds a language's rules for lower case.
type casing struct {
	// ascii is the bit that turns ASCII capitals into small letters. It is 0 if the
	// language has other rules for some of these letters.
	ascii byte
	rune  func(rune) rune
}

var (
	plain   = casing{0x20, unicode.ToLower}
	dotless = casing{0, unicode.TurkishCase.ToLower} // I is ı, İ is i
	comma   = casing{0x20, cedilla}
	dotted  = casing{0x20, withoutDots}
)

// withoutDots lower-cases Russian and writes ё as е, like most pages, the stemmer and the stop
// list.
func withoutDots(r rune) rune {
	if r = unicode.ToLower(r); r == 'ё' {
		return 'е'
	}
	return r
}

// cedilla lower-cases Romanian and writes ș and ț with a cedilla, like older character sets,
// half of the pages, the stemmer and the stop list.
func cedilla(r rune) rune {
	switch r = unicode.ToLower(r); r {
	case 'ș':
		return 'ş'
	case 'ț':
		return 'ţ'
	}
	return r
}

var languages = [...]language{
	{"da", plain, []stemmer{{"danish", snowball(danish.Stem), false}}},
	{"de", plain, []stemmer{{"german", snowball(german.Stem), false}}},
	{"en", plain, []stemmer{{"english", snowball(english.Stem), true}, {"porter", snowball(porter.Stem), true}}},
	{"es", plain, []stemmer{{"spanish", snowball(spanish.Stem), false}}},
	{"fi", plain, []stemmer{{"finnish", snowball(finnish.Stem), false}}},
	{"fr", plain, []stemmer{{"french", snowball(french.Stem), false}}},
	{"hu", plain, []stemmer{{"hungarian", snowball(hungarian.Stem), false}}},
	{"id", plain, []stemmer{{"prefix", stateless(prefix), true}, {"none", stateless(unstemmed), true}}},
	{"it", plain, []stemmer{{"italian", snowball(italian.Stem), false}}},
	{"nl", plain, []stemmer{{"dutch", snowball(dutch.Stem), false}}},
	{"no", plain, []stemmer{{"norwegian", snowball(norwegian.Stem), false}}},
	{"pt", plain, []stemmer{{"portuguese", snowball(portuguese.Stem), false}}},
	{"ro", comma, []stemmer{{"romanian", snowball(romanian.Stem), false}}},
	{"ru", dotted, []stemmer{{"russian", snowball(russian.Stem), false}}},
	{"sv", plain, []stemmer{{"swedish", snowball(swedish.Stem), false}}},
	{"tr", dotless, []stemmer{{"turkish", snowball(turkish.Stem), false}}},
	{"und", plain, []stemmer{{"prefix", stateless(prefix), true}, {"none", stateless(unstemmed), true}}},
}

// Languages returns the codes of the languages that [New] accepts: ISO 639-1, and "und" for
// any other language. There are no stop words for "und", and its stemmers know no language.
func Languages() []string {
	var codes []string
	for _, l := range languages {
		codes = append(codes, l.code)
	}
	return codes
}

// Stemmers returns the names of the stemmers of a language, the default first. It returns none for
// a language that [New] does not accept.
func Stemmers(code string) []string {
	var names []string
	for _, l := range languages {
		if l.code == code {
			for _, s := range l.stemmers {
				names = append(names, s.name)
			}
		}
	}
	return names
}
