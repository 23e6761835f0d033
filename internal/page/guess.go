package page

import (
	"slices"
	"unicode/utf8"
)

// This file guesses the charset of a page that declares no charset and is not UTF-8. In each East
// Asian double-byte charset, the most common characters are in a separate range; a charset fits if
// most characters of the page are in its range. Among the Cyrillic charsets, the best guess is the
// charset in which the page has the most function words. All other pages are decoded as
// windows-1252. Western pages fit none of these charsets, because their non-ASCII characters are
// single letters between ASCII letters.
//
// Source of the double-byte method: S. Li and K. Momoi, "A Composite Approach to
// Language/Encoding Detection", 19th International Unicode Conference, 2001.

// guessLen is the number of bytes of a page that are examined.
const guessLen = 32 << 10

// guess returns the likely charset of a body, or "".
func guess(body []byte) string {
	body = body[:min(len(body), guessLen)]
	high, inRuns := 0, 0
	for i, c := range body {
		if c >= 0x80 {
			high++
			if i > 0 && body[i-1] >= 0x80 {
				inRuns++
			}
		}
	}
	if inRuns*8 < high {
		return ""
	}
	for i := range doubleByte {
		if doubleByte[i].fits(body) {
			return doubleByte[i].name
		}
	}
	if inRuns*2 < high {
		return ""
	}
	return guessCyrillic(body)
}

// A pairKind classifies two bytes in a double-byte charset.
type pairKind int

const (
	noPair     pairKind = iota
	rarePair            // one of thousands of rare characters
	markPair            // punctuation and symbols, common to several charsets
	commonPair          // one of the characters that make up most of any text
	kanaPair            // a common pair that is Japanese
	single              // not a pair: the first byte is a rare character of one byte
)

// A doubleByteSet is a charset with characters of two bytes.
type doubleByteSet struct {
	name       string
	kind       func(lead, trail byte) pairKind
	minCommon  int // minimum percentage of common pairs
	minKana    int // minimum percentage of kana
	minASCII   int // minimum percentage of pairs whose second byte is ASCII
	maxInvalid int // maximum percentage of bytes that are not pairs
}

// doubleByte lists the charsets in the order in which they are tried, the most specific first.
var doubleByte = [...]doubleByteSet{
	{"shift_jis", shiftJIS, 70, 20, 0, 2},
	{"euc-jp", eucJP, 70, 20, 0, 2},
	{"euc-kr", eucKR, 95, 0, 0, 2},
	{"big5", big5, 70, 0, 15, 2},
	{"gbk", gbk, 70, 0, 0, 2},
}

// fits reports whether a body can be in the charset.
func (s *doubleByteSet) fits(body []byte) bool {
	const minPairs = 12 // minimum number of pairs for a decision
	pairs, common, kana, ascii, invalid := 0, 0, 0, 0, 0
	following, end := 0, 0 // number of pairs directly after a pair; end of the last pair
	for i := 0; i+1 < len(body); i++ {
		if body[i] < 0x80 {
			continue
		}
		kind := s.kind(body[i], body[i+1])
		switch kind {
		case noPair:
			invalid++
			continue
		case single:
			pairs++
			continue
		case kanaPair:
			kana++
			common++
		case commonPair:
			common++
		}
		if i == end {
			following++
		}
		i++
		end = i + 1
		if kind != markPair {
			pairs++
			if body[i] < 0x80 {
				ascii++
			}
		}
	}
	return pairs >= minPairs && following*2 >= pairs && common*100 >= pairs*s.minCommon && kana*100 >= pairs*s.minKana &&
		ascii*100 >= pairs*s.minASCII && invalid*100 <= pairs*s.maxInvalid
}

func between(c, low, high byte) bool { return low <= c && c <= high }

func shiftJIS(lead, trail byte) pairKind {
	switch {
	case between(lead, 0xA1, 0xDF): // half-width katakana
		return single
	case !between(lead, 0x81, 0xFC), !between(trail, 0x40, 0xFC), trail == 0x7F, lead == 0xA0:
		return noPair
	case lead == 0x81:
		return markPair
	case lead == 0x82 && trail >= 0x9F, lead == 0x83 && trail <= 0x96:
		return kanaPair
	case between(lead, 0x88, 0x97):
		return commonPair
	}
	return rarePair
}

// eucPair classifies a pair in the charsets with 94 × 94 characters in the range of bytes
// beyond ASCII.
func eucPair(lead, trail byte) pairKind {
	switch {
	case !between(lead, 0xA1, 0xFE), !between(trail, 0xA1, 0xFE):
		return noPair
	case lead <= 0xA3:
		return markPair
	}
	return rarePair
}

func eucJP(lead, trail byte) pairKind {
	kind := eucPair(lead, trail)
	switch {
	case kind != rarePair:
	case lead == 0xA4, lead == 0xA5:
		return kanaPair
	case between(lead, 0xB0, 0xCF):
		return commonPair
	}
	return kind
}

func eucKR(lead, trail byte) pairKind {
	kind := eucPair(lead, trail)
	if kind == rarePair && between(lead, 0xB0, 0xC8) {
		return commonPair
	}
	return kind
}

func big5(lead, trail byte) pairKind {
	switch {
	case !between(lead, 0xA1, 0xF9), !between(trail, 0x40, 0x7E) && !between(trail, 0xA1, 0xFE):
		return noPair
	case lead <= 0xA3:
		return markPair
	case lead <= 0xC6:
		return commonPair
	}
	return rarePair
}

func gbk(lead, trail byte) pairKind {
	switch {
	case !between(lead, 0x81, 0xFE), !between(trail, 0x40, 0xFE), trail == 0x7F:
		return noPair
	case between(lead, 0xA1, 0xA3):
		return markPair
	case between(lead, 0xB0, 0xD7) && trail >= 0xA1:
		return commonPair
	}
	return rarePair
}

// cyrillicSets lists the charsets of Cyrillic pages, the most frequent first.
var cyrillicSets = [...]string{"windows-1251", "koi8-r", "koi8-u", "iso-8859-5", "ibm866"}

// guessCyrillic returns the Cyrillic charset in which a body has the most function words. It returns
// "" if the body is not Cyrillic text in any of them.
func guessCyrillic(body []byte) string {
	words := make([]byte, 0, len(body)) // body without ASCII, which is mostly markup
	for _, c := range body {
		switch {
		case c >= 0x80:
			words = append(words, c)
		case len(words) > 0 && words[len(words)-1] != ' ':
			words = append(words, ' ')
		}
	}
	words = words[:min(len(words), languageWindows*languageWindow)]
	found, most := "", 0
	for _, name := range cyrillicSets {
		enc, _ := lookup(name)
		text, err := enc.NewDecoder().String(string(words))
		if err != nil || !isCyrillic(text) {
			continue
		}
		var c languageCount
		c.read(text)
		switch c.decide() {
		case "be", "bg", "mk", "ru", "sr", "uk":
			if hits := slices.Max(c.hits[:]); hits > most {
				found, most = name, hits
			}
		}
	}
	return found
}

// isCyrillic reports whether nearly all non-ASCII characters of a text are Cyrillic.
func isCyrillic(text string) bool {
	letters, others := 0, 0
	for _, r := range text {
		switch {
		case 0x400 <= r && r < 0x530:
			letters++
		case r >= utf8.RuneSelf:
			others++
		}
	}
	return others*10 <= letters
}
