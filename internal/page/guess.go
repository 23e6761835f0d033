package page

import (
	"slices"
	"unicode/utf8"
)

// This file guesses the charset of a page that declares none and is not UTF-8:
// the East Asian double-byte sets by where in them the common characters are, the
// Cyrillic ones by which of them gives words. Pages in Western languages have
// their letters beyond ASCII one by one, not in runs, and are left to
// windows-1252, as is whatever else cannot be told.
//
// Source of the double-byte part, in principle: S. Li and K. Momoi, "A Composite
// Approach to Language/Encoding Detection", 19th International Unicode Conference,
// 2001.

// guessed is how much of a page is looked at.
const guessed = 32 << 10

// guess names the likely charset of a body, or returns "".
func guess(body []byte) string {
	body = body[:min(len(body), guessed)]
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

// A pairKind is what two bytes are in a double-byte charset.
type pairKind int

const (
	noPair     pairKind = iota
	rarePair            // of the thousands that are seldom written
	markPair            // punctuation and signs, which charsets share
	commonPair          // of those that make up most of any text
	kanaPair            // common, too, and Japanese
	single              // one byte, which is rare
)

// A doubleByteSet is a charset of characters of two bytes.
type doubleByteSet struct {
	name    string
	kind    func(lead, trail byte) pairKind
	common  int // least percentage of common pairs
	kana    int // least percentage of kana
	ascii   int // least percentage of pairs whose second byte is ASCII
	mistake int // greatest percentage of what is no pair
}

// doubleByte is in the order in which they are tried: what is more particular
// comes first.
var doubleByte = [...]doubleByteSet{
	{"shift_jis", shiftJIS, 70, 20, 0, 2},
	{"euc-jp", eucJP, 70, 20, 0, 2},
	{"euc-kr", eucKR, 95, 0, 0, 2},
	{"big5", big5, 70, 0, 15, 2},
	{"gbk", gbk, 70, 0, 0, 2},
}

// fits reports whether a body can be in the charset.
func (s *doubleByteSet) fits(body []byte) bool {
	const fewest = 12 // pairs that tell anything
	pairs, common, kana, ascii, mistakes := 0, 0, 0, 0, 0
	following, end := 0, 0 // pairs behind a pair, and where the last one ended
	for i := 0; i+1 < len(body); i++ {
		if body[i] < 0x80 {
			continue
		}
		kind := s.kind(body[i], body[i+1])
		switch kind {
		case noPair:
			mistakes++
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
	return pairs >= fewest && following*2 >= pairs && common*100 >= pairs*s.common && kana*100 >= pairs*s.kana &&
		ascii*100 >= pairs*s.ascii && mistakes*100 <= pairs*s.mistake
}

func between(c, low, high byte) bool { return low <= c && c <= high }

func shiftJIS(lead, trail byte) pairKind {
	switch {
	case between(lead, 0xA1, 0xDF): // katakana of half a width
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

// eucPair is what the charsets have in common that put 94 × 94 characters beyond
// ASCII.
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

// cyrillicSets are the charsets of Cyrillic pages, by how many there are of them.
var cyrillicSets = [...]string{"windows-1251", "koi8-r", "koi8-u", "iso-8859-5", "ibm866"}

// guessCyrillic names the Cyrillic charset in which a body has most words.
func guessCyrillic(body []byte) string {
	words := make([]byte, 0, len(body)) // without what is ASCII, which is mostly markup
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

// isCyrillic reports whether nearly all that a text has beyond ASCII is Cyrillic.
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
