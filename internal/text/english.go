package text

// This file implements the English stemmer of the Snowball project, known as
// Porter2, by M. F. Porter and, since version 3.0, O. Betts:
//
//	https://snowballstem.org/algorithms/english/stemmer.html
//
// Step numbers and names are that page's. R1 is the region after the first
// non-vowel that follows a vowel, R2 the same again inside R1; r1 and r2 below
// are where they begin. A y that stands first or after a vowel is a consonant
// and is written Y while the word is worked on.

import "slices"

// English reduces a lower-case word to its stem by the second Porter
// algorithm, in place, and returns what is left of it. The result shares
// memory with w and is never longer. Bytes that are not ASCII letters count as
// non-vowels, and no suffix contains one, so that valid UTF-8 stays valid.
func English(w []byte) []byte {
	if len(w) <= 2 {
		return w
	}
	switch string(w) {
	case "skies":
		return append(w[:0], "sky"...)
	case "skis", "idly", "gently", "singly":
		return w[:len(w)-1]
	case "ugly", "early", "only":
		w[len(w)-1] = 'i'
		return w
	case "sky", "news", "howe", "atlas", "cosmos", "bias", "andes":
		return w
	}
	if w[0] == '\'' {
		w = w[1:]
	}
	marked := markY(w)
	r1, r2 := regions(w)
	w = englishStep0(w)
	w = englishStep1a(w)
	w = englishStep1b(w, r1)
	w = englishStep1c(w)
	w = englishStep2(w, r1)
	w = englishStep3(w, r1, r2)
	w = englishStep4(w, r2)
	w = englishStep5(w, r1, r2)
	if marked {
		for i, c := range w {
			if c == 'Y' {
				w[i] = 'y'
			}
		}
	}
	return w
}

// vowel reports whether c is one of aeiouy; the consonant Y is not.
func vowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// anyVowel reports whether there is a vowel in w.
func anyVowel(w []byte) bool { return slices.ContainsFunc(w, vowel) }

// markY writes consonant y as Y, and reports whether there is one.
func markY(w []byte) bool {
	marked := false
	for i, c := range w {
		if c == 'y' && (i == 0 || vowel(w[i-1])) {
			w[i], marked = 'Y', true
		}
	}
	return marked
}

// regions finds where R1 and R2 begin. Words with certain beginnings have
// their R1 right after them, lest different words get one stem.
func regions(w []byte) (r1, r2 int) {
	r1 = -1
	for _, prefix := range [...]string{"gener", "commun", "arsen", "past", "univers", "later", "emerg", "organ", "inter"} {
		if len(w) >= len(prefix) && string(w[:len(prefix)]) == prefix {
			r1 = len(prefix)
			break
		}
	}
	if r1 < 0 {
		r1 = regionAfter(w, 0)
	}
	return r1, regionAfter(w, r1)
}

// regionAfter is the place after the first non-vowel that follows a vowel at
// or after from; the end of the word if there is none.
func regionAfter(w []byte, from int) int {
	for i := from + 1; i < len(w); i++ {
		if vowel(w[i-1]) && !vowel(w[i]) {
			return i + 1
		}
	}
	return len(w)
}

// endsShortSyllable: the word ends with a vowel and a non-vowel other than w,
// x and Y, before which stands a non-vowel; or it is just a vowel and a
// non-vowel; or it ends with "past".
func endsShortSyllable(w []byte) bool {
	n := len(w) - 1
	switch {
	case n == 1:
		return vowel(w[0]) && !vowel(w[1])
	case n < 1:
		return false
	}
	switch w[n] {
	case 'w', 'x', 'Y':
		return false
	}
	return !vowel(w[n]) && vowel(w[n-1]) && !vowel(w[n-2]) || hasSuffix(w, "past")
}

// endsInDouble reports whether w ends with one of the doubles that lose a
// letter in step 1b.
func endsInDouble(w []byte) bool {
	n := len(w) - 1
	if n < 1 || w[n] != w[n-1] {
		return false
	}
	switch w[n] {
	case 'b', 'd', 'f', 'g', 'm', 'n', 'p', 'r', 't':
		return true
	}
	return false
}

// englishStep0 removes the apostrophes of the genitive.
func englishStep0(w []byte) []byte {
	for _, suffix := range [...]string{"'s'", "'s", "'"} {
		if hasSuffix(w, suffix) {
			return w[:len(w)-len(suffix)]
		}
	}
	return w
}

// englishStep1a removes the plural.
func englishStep1a(w []byte) []byte {
	switch {
	case hasSuffix(w, "sses"):
		return w[:len(w)-2]
	case hasSuffix(w, "ied"), hasSuffix(w, "ies"):
		if len(w) > 4 {
			return w[:len(w)-2] // cries → cri
		}
		return w[:len(w)-1] // ties → tie
	case hasSuffix(w, "us"), hasSuffix(w, "ss"):
		return w
	case hasSuffix(w, "s"):
		if len(w) > 2 && anyVowel(w[:len(w)-2]) {
			return w[:len(w)-1] // gaps, but not gas
		}
	}
	return w
}

// englishStep1b removes the endings of verbs, and mends what is left.
func englishStep1b(w []byte, r1 int) []byte {
	var stem []byte
	switch {
	case hasSuffix(w, "eedly"):
		return eed(w, len(w)-5, r1)
	case hasSuffix(w, "eed"):
		return eed(w, len(w)-3, r1)
	case hasSuffix(w, "ingly"):
		stem = w[:len(w)-5]
	case hasSuffix(w, "edly"):
		stem = w[:len(w)-4]
	case hasSuffix(w, "ed"):
		stem = w[:len(w)-2]
	case hasSuffix(w, "ing"):
		stem = w[:len(w)-3]
		switch string(stem) {
		case "inn", "out", "cann", "herr", "earr", "even":
			return w
		}
		if len(stem) == 2 && !vowel(stem[0]) && stem[1] == 'y' {
			return append(stem[:1], "ie"...) // dying → die
		}
	default:
		return w
	}
	if !anyVowel(stem) {
		return w
	}
	switch {
	case hasSuffix(stem, "at"), hasSuffix(stem, "bl"), hasSuffix(stem, "iz"):
		return append(stem, 'e')
	case endsInDouble(stem):
		if len(stem) == 3 && (stem[0] == 'a' || stem[0] == 'e' || stem[0] == 'o') {
			return stem // add, egg, off
		}
		return stem[:len(stem)-1]
	case len(stem) <= r1 && endsShortSyllable(stem):
		return append(stem, 'e')
	}
	return stem
}

// eed replaces the suffix eed or eedly that begins at i by ee, if it is in R1.
func eed(w []byte, i, r1 int) []byte {
	switch string(w[:i]) {
	case "proc", "exc", "succ":
		return w
	}
	if i < r1 {
		return w
	}
	return w[:i+2]
}

// englishStep1c: y → i after a non-vowel that is not the first letter.
func englishStep1c(w []byte) []byte {
	if n := len(w) - 1; n > 1 && (w[n] == 'y' || w[n] == 'Y') && !vowel(w[n-1]) {
		w[n] = 'i'
	}
	return w
}

// The rules of steps 2 and 3 by the last letter but one, as in porter.go; in
// step 4 every suffix is deleted. Where one suffix ends another the longer
// stands first.
var (
	english2A = []rule{{"ational", "ate"}, {"tional", "tion"}}
	english2C = []rule{{"enci", "ence"}, {"anci", "ance"}}
	english2E = []rule{{"izer", "ize"}}
	english2L = []rule{{"lessli", "less"}, {"entli", "ent"}, {"ousli", "ous"}, {"fulli", "ful"}, {"abli", "able"}, {"alli", "al"}, {"bli", "ble"}}
	english2O = []rule{{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}}
	english2S = []rule{{"fulness", "ful"}, {"ousness", "ous"}, {"iveness", "ive"}, {"alism", "al"}, {"ogist", "og"}}
	english2T = []rule{{"biliti", "ble"}, {"aliti", "al"}, {"iviti", "ive"}}

	english3A = []rule{{"ational", "ate"}, {"tional", "tion"}, {"ical", "ic"}}
	english3S = []rule{{"ness", ""}}
	english3T = []rule{{"icate", "ic"}, {"iciti", "ic"}}
	english3U = []rule{{"ful", ""}}
	english3Z = []rule{{"alize", "al"}}
)

// within applies the first rule whose suffix w has, if the suffix begins in
// the region that begins at r.
func within(w []byte, rules []rule, r int) []byte {
	for i := range rules {
		if hasSuffix(w, rules[i].old) {
			if at := len(w) - len(rules[i].old); at >= r {
				return append(w[:at], rules[i].new...)
			}
			return w
		}
	}
	return w
}

// englishStep2 shortens composite suffixes in R1.
func englishStep2(w []byte, r1 int) []byte {
	switch lastButOne(w) {
	case 'a':
		return within(w, english2A, r1)
	case 'c':
		return within(w, english2C, r1)
	case 'e':
		return within(w, english2E, r1)
	case 'g': // ogi after l
		if at := len(w) - 3; at >= r1 && hasSuffix(w, "logi") {
			return w[:len(w)-1]
		}
	case 'l':
		for i := range english2L {
			if hasSuffix(w, english2L[i].old) {
				return within(w, english2L[i:i+1], r1)
			}
		}
		if at := len(w) - 2; at >= r1 && at > 0 && w[at+1] == 'i' {
			switch w[at-1] {
			case 'c', 'd', 'e', 'g', 'h', 'k', 'm', 'n', 'r', 't':
				return w[:at]
			}
		}
	case 'o':
		return within(w, english2O, r1)
	case 's':
		return within(w, english2S, r1)
	case 't':
		return within(w, english2T, r1)
	}
	return w
}

// englishStep3 shortens further suffixes in R1; ative must be in R2.
func englishStep3(w []byte, r1, r2 int) []byte {
	switch lastButOne(w) {
	case 'a':
		return within(w, english3A, r1)
	case 's':
		return within(w, english3S, r1)
	case 't':
		return within(w, english3T, r1)
	case 'u':
		return within(w, english3U, r1)
	case 'v':
		if at := len(w) - 5; at >= r2 && hasSuffix(w, "ative") {
			return w[:at]
		}
	case 'z':
		return within(w, english3Z, r1)
	}
	return w
}

// englishStep4 deletes a suffix in R2.
func englishStep4(w []byte, r2 int) []byte {
	switch lastButOne(w) {
	case 'a':
		return within(w, step4A, r2)
	case 'c':
		return within(w, step4C, r2)
	case 'e':
		return within(w, step4E, r2)
	case 'i':
		return within(w, step4I, r2)
	case 'l':
		return within(w, step4L, r2)
	case 'n':
		return within(w, step4N, r2)
	case 'o':
		if at := len(w) - 3; at >= r2 && (hasSuffix(w, "sion") || hasSuffix(w, "tion")) {
			return w[:at]
		}
	case 's':
		return within(w, step4S, r2)
	case 't':
		return within(w, step4T, r2)
	case 'u':
		return within(w, step4U, r2)
	case 'v':
		return within(w, step4V, r2)
	case 'z':
		return within(w, step4Z, r2)
	}
	return w
}

// englishStep5 deletes a final e, and one l of ll.
func englishStep5(w []byte, r1, r2 int) []byte {
	n := len(w) - 1
	switch {
	case hasSuffix(w, "e") && (n >= r2 || n >= r1 && !endsShortSyllable(w[:n])):
		return w[:n]
	case hasSuffix(w, "ll") && n >= r2:
		return w[:n]
	}
	return w
}
