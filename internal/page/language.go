package page

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"spoor/internal/text"
)

// language returns the language tag at the start of s, or "" if there is none or it is "und". A tag
// is a primary subtag of two or three letters, or x- or i- and another subtag, followed by subtags
// of letters and digits (RFC 5646, section 2.1). Its maximum length is 35 bytes, the longest in
// practice.
func language(s string) string {
	const maxLen = 35
	s, _, _ = strings.Cut(s, ",")
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-")
	if s == "" || len(s) > maxLen {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && c != '-' && (c < '0' || c > '9') {
			return ""
		}
	}
	primary, rest, _ := strings.Cut(s, "-")
	for i := range len(primary) {
		if !isLetter(primary[i]) {
			return ""
		}
	}
	switch len(primary) {
	case 1:
		if strings.IndexByte("xXiI", primary[0]) < 0 || rest == "" {
			return ""
		}
	case 2, 3:
	default:
		return ""
	}
	if strings.EqualFold(primary, "und") {
		return ""
	}
	return s
}

// A languageSet is a set of languages: bit i stands for text.FunctionWords[i].
type languageSet uint64

// languagesOf is a hash table of the languages to which words belong, by the hash of the word.
// It is constant, and faster than a map.
var languagesOf = func() (t [1 << languageBits]struct {
	hash uint64
	set  languageSet
}) {
	for i, l := range text.FunctionWords {
		for w := range strings.FieldsSeq(l.Words) {
			hash := uint64(fnvOffset)
			for _, r := range w {
				hash = (hash ^ uint64(r)) * fnvPrime
			}
			at := hash * hashFactor >> (64 - languageBits)
			for t[at].set != 0 && t[at].hash != hash {
				at = (at + 1) % uint64(len(t))
			}
			t[at].hash = hash
			t[at].set |= 1 << i
		}
	}
	return t
}()

const languageBits = 12 // size of languagesOf, for 900 words

// A long text is examined in several evenly spaced windows, because the beginning of a page is often
// a menu.
const (
	languageWindows = 8   // number of windows
	languageWindow  = 320 // size of a window in bytes
)

// detectLanguage returns the language of a text as an ISO 639-1 code, or "" if the text is too
// short or no language is clearly the most likely. It decides by the script if only one language
// uses it, otherwise by the share of function words. G. Grefenstette, "Comparing two language
// identification schemes", JADT 1995, found that function words are as good as trigrams for
// sentences of twenty words or more, at a fraction of the cost.
func detectLanguage(text string) string {
	var c languageCount
	if len(text) <= languageWindows*languageWindow {
		c.read(text)
	} else {
		for i := range languageWindows {
			from := (len(text) - languageWindow) / (languageWindows - 1) * i
			c.read(inner(text[from : from+languageWindow]))
		}
	}
	return c.decide()
}

// inner returns s without its first and last word, which may have been cut.
func inner(s string) string {
	first, last := strings.IndexAny(s, " \n"), strings.LastIndexAny(s, " \n")
	if first == last {
		return s // a script without spaces
	}
	return s[first:last]
}

// alphabets lists scripts that are mainly used by one language. worth is the number of Latin letters
// to which one letter of the script corresponds.
var alphabets = [...]struct {
	from, to rune
	language string
	worth    int
}{
	{0x3041, 0x30FF, "ja", 3}, {0x3400, 0x9FFF, "zh", 3}, {0xAC00, 0xD7AF, "ko", 3},
	{0x370, 0x3FF, "el", 1}, {0x1F00, 0x1FFF, "el", 1}, {0x531, 0x58F, "hy", 1}, {0x590, 0x5FF, "he", 1},
	{0x980, 0x9FF, "bn", 1}, {0xA00, 0xA7F, "pa", 1}, {0xA80, 0xAFF, "gu", 1}, {0xB80, 0xBFF, "ta", 1},
	{0xC00, 0xC7F, "te", 1}, {0xC80, 0xCFF, "kn", 1}, {0xD00, 0xD7F, "ml", 1}, {0xD80, 0xDFF, "si", 1},
	{0xE00, 0xE7F, "th", 1}, {0xE80, 0xEFF, "lo", 1}, {0x1000, 0x109F, "my", 1}, {0x10A0, 0x10FF, "ka", 1},
	{0x1200, 0x137F, "am", 1}, {0x1780, 0x17FF, "km", 1},
}

// Indexes in alphabets of Japanese and Chinese; Japanese uses both.
const (
	kana = 0
	han  = 1
)

// lowerLetter returns a non-ASCII letter in lower case if it belongs to a script of text.FunctionWords.
// Otherwise it returns 0.
func lowerLetter(r rune) rune {
	switch {
	case r < 0xAA:
	case r < 0x370, 0x1E00 <= r && r < 0x1F00: // Latin, and combining marks
		if 0xAB <= r && r < 0xC0 || r == '×' || r == '÷' {
			return 0
		}
		return unicode.ToLower(r)
	case 0x430 <= r && r < 0x460, 0x620 <= r && r < 0x660, 0x671 <= r && r < 0x6D4, 0x900 <= r && r < 0x964:
		return r
	case 0x400 <= r && r < 0x530: // Cyrillic
		return unicode.ToLower(r)
	}
	return 0
}

type languageCount struct {
	letters int                          // number of letters in words
	words   int                          // number of words
	foreign [len(alphabets)]int          // number of letters of each alphabet
	hits    [len(text.FunctionWords)]int // number of function words of each language
	sets    [512]languageSet             // languages of the first 512 function words; few texts have more
	known   int                          // number of elements of sets that are used
}

func (c *languageCount) read(s string) {
	for i := 0; i < len(s); {
		hash, letters := uint64(fnvOffset), 0
		for i < len(s) {
			small, size := rune(smallLetter[s[i]]), 1
			if s[i] >= utf8.RuneSelf {
				var r rune
				r, size = utf8.DecodeRuneInString(s[i:])
				if small = lowerLetter(r); small == 0 {
					c.foreignLetter(r)
				}
			}
			i += size
			if small == 0 {
				break
			}
			hash = (hash ^ uint64(small)) * fnvPrime
			letters++
		}
		if letters > 0 {
			c.letters += letters
			c.word(hash)
		}
	}
}

// smallLetter holds ASCII letters in lower case; other bytes are 0.
var smallLetter = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if isLetter(c) {
			t[c] = c | 0x20
		}
	}
	return t
}()

// foreignLetter counts a letter of an alphabet.
func (c *languageCount) foreignLetter(r rune) {
	if r >= 0x370 {
		for i := range alphabets {
			if a := &alphabets[i]; a.from <= r && r <= a.to {
				c.foreign[i]++
				break
			}
		}
	}
}

func (c *languageCount) word(hash uint64) {
	c.words++
	at := hash * hashFactor >> (64 - languageBits)
	for languagesOf[at].hash != hash {
		if languagesOf[at].set == 0 {
			return
		}
		at = (at + 1) % uint64(len(languagesOf))
	}
	set := languagesOf[at].set
	if c.known < len(c.sets) {
		c.sets[c.known] = set
		c.known++
	}
	for ; set != 0; set &= set - 1 {
		c.hits[bits.TrailingZeros64(uint64(set))]++
	}
}

func (c *languageCount) decide() string {
	const (
		minEvidence = 3  // minimum number of function words, or of letters of an alphabet
		maxSpacing  = 20 // at least one function word in this number of words
		minLead     = 2  // minimum ratio of words of only the first language to words of only the second
	)
	foreign, most := 0, 0
	for i, n := range c.foreign {
		foreign += n * alphabets[i].worth
		if n > c.foreign[most] {
			most = i
		}
	}
	if most == han && c.foreign[kana]*10 > c.foreign[han] {
		most = kana
	}
	if foreign > c.letters {
		if c.foreign[most] < minEvidence || c.foreign[most]*alphabets[most].worth*2 < foreign && most != kana {
			return ""
		}
		return alphabets[most].language
	}
	best, next := 0, 1
	if c.hits[next] > c.hits[best] {
		best, next = next, best
	}
	for i := 2; i < len(c.hits); i++ {
		switch {
		case c.hits[i] > c.hits[best]:
			best, next = i, best
		case c.hits[i] > c.hits[next]:
			next = i
		}
	}
	if c.hits[best] < minEvidence || c.hits[best]*maxSpacing < c.words {
		return ""
	}
	onlyBest, onlyNext := 0, 0
	for _, set := range c.sets[:c.known] {
		switch set & (1<<best | 1<<next) {
		case 1 << best:
			onlyBest++
		case 1 << next:
			onlyNext++
		}
	}
	if onlyBest < 2 || onlyBest < onlyNext*minLead {
		return ""
	}
	return text.FunctionWords[best].Language
}
