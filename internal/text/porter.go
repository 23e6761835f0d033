package text

// This file implements the stemmer of
//
//	M. F. Porter, "An algorithm for suffix stripping",
//	Program 14(3), 1980, pp. 130–137.
//
// Step numbers and conditions are the paper's. A word has the form
// [C](VC){m}[V], where C and V are runs of consonants and vowels; m is its
// measure. Conditions on the stem before a suffix:
//
//	paper  here        holds when
//	m      measure     number of VC in the stem
//	*v*    hasVowel    the stem contains a vowel
//	*d     endsDouble  the stem ends with a double consonant
//	*o     endsCVC     the stem ends cvc, the second c not being w, x or y
//
// Of the rules in one step only the one with the longest matching suffix is
// tried, and whether it fires or not the step is over.
//
// Later programs by the author leave words of two letters alone, and have the
// rules BLI → BLE and LOGI → LOG in step 2. The paper does not, nor do we; see
// [English] for his second algorithm.

// Porter reduces a lower-case word to its stem, in place, and returns what is
// left of it. The result shares memory with w and is never longer. Bytes that
// are not ASCII letters count as consonants, and no suffix contains one, so
// that valid UTF-8 stays valid.
func Porter(w []byte) []byte {
	w = step1a(w)
	w = step1b(w)
	w = step1c(w)
	w = strip(w, step2(w), 0)
	w = strip(w, step3(w), 0)
	w = step4(w)
	w = step5a(w)
	return step5b(w)
}

// A rule replaces a suffix.
type rule struct{ old, new string }

// strip applies the first rule whose suffix w has, if the measure of the stem
// before it is above m.
func strip(w []byte, rules []rule, m int) []byte {
	for i := range rules {
		if hasSuffix(w, rules[i].old) {
			stem := w[:len(w)-len(rules[i].old)]
			if measure(stem) > m {
				return append(stem, rules[i].new...)
			}
			return w
		}
	}
	return w
}

// step1a: SSES → SS, IES → I, SS → SS, S → nothing.
func step1a(w []byte) []byte {
	switch {
	case hasSuffix(w, "sses"), hasSuffix(w, "ies"):
		return w[:len(w)-2]
	case hasSuffix(w, "ss"):
		return w
	case hasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	return w
}

// step1b: (m>0) EED → EE, (*v*) ED → nothing, (*v*) ING → nothing; after the
// last two the stem is mended: AT → ATE, BL → BLE, IZ → IZE, (*d and not (*L
// or *S or *Z)) → single letter, (m=1 and *o) → E.
func step1b(w []byte) []byte {
	var stem []byte
	switch {
	case hasSuffix(w, "eed"):
		if measure(w[:len(w)-3]) > 0 {
			return w[:len(w)-1]
		}
		return w
	case hasSuffix(w, "ed"):
		stem = w[:len(w)-2]
	case hasSuffix(w, "ing"):
		stem = w[:len(w)-3]
	default:
		return w
	}
	if !hasVowel(stem) {
		return w
	}
	switch {
	case hasSuffix(stem, "at"), hasSuffix(stem, "bl"), hasSuffix(stem, "iz"):
		return append(stem, 'e')
	case endsDouble(stem):
		switch stem[len(stem)-1] {
		case 'l', 's', 'z':
			return stem
		}
		return stem[:len(stem)-1]
	case measure(stem) == 1 && endsCVC(stem):
		return append(stem, 'e')
	}
	return stem
}

// step1c: (*v*) Y → I.
func step1c(w []byte) []byte {
	if n := len(w) - 1; n >= 0 && w[n] == 'y' && hasVowel(w[:n]) {
		w[n] = 'i'
	}
	return w
}

// The rules of steps 2, 3 and 4 are found by the last letter but one, as the
// paper advises. Where one suffix ends another the longer stands first.
var (
	step2A = []rule{{"ational", "ate"}, {"tional", "tion"}}
	step2C = []rule{{"enci", "ence"}, {"anci", "ance"}}
	step2E = []rule{{"izer", "ize"}}
	step2L = []rule{{"abli", "able"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}}
	step2O = []rule{{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}}
	step2S = []rule{{"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}}
	step2T = []rule{{"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}}

	step3A = []rule{{"ical", "ic"}}
	step3S = []rule{{"ness", ""}}
	step3T = []rule{{"icate", "ic"}, {"iciti", "ic"}}
	step3U = []rule{{"ful", ""}}
	step3V = []rule{{"ative", ""}}
	step3Z = []rule{{"alize", "al"}}

	step4A = []rule{{"al", ""}}
	step4C = []rule{{"ance", ""}, {"ence", ""}}
	step4E = []rule{{"er", ""}}
	step4I = []rule{{"ic", ""}}
	step4L = []rule{{"able", ""}, {"ible", ""}}
	step4N = []rule{{"ant", ""}, {"ement", ""}, {"ment", ""}, {"ent", ""}}
	step4O = []rule{{"ou", ""}}
	step4S = []rule{{"ism", ""}}
	step4T = []rule{{"ate", ""}, {"iti", ""}}
	step4U = []rule{{"ous", ""}}
	step4V = []rule{{"ive", ""}}
	step4Z = []rule{{"ize", ""}}
)

// lastButOne is the letter that the rules are found by, 0 in shorter words.
func lastButOne(w []byte) byte {
	if len(w) < 2 {
		return 0
	}
	return w[len(w)-2]
}

// step2 is the rules of step 2, all on condition that m > 0.
func step2(w []byte) []rule {
	switch lastButOne(w) {
	case 'a':
		return step2A
	case 'c':
		return step2C
	case 'e':
		return step2E
	case 'l':
		return step2L
	case 'o':
		return step2O
	case 's':
		return step2S
	case 't':
		return step2T
	}
	return nil
}

// step3 is the rules of step 3, all on condition that m > 0.
func step3(w []byte) []rule {
	switch lastButOne(w) {
	case 'a':
		return step3A
	case 's':
		return step3S
	case 't':
		return step3T
	case 'u':
		return step3U
	case 'v':
		return step3V
	case 'z':
		return step3Z
	}
	return nil
}

// step4 removes a suffix if m > 1; for ION the stem must end with s or t too.
func step4(w []byte) []byte {
	var rules []rule
	switch lastButOne(w) {
	case 'a':
		rules = step4A
	case 'c':
		rules = step4C
	case 'e':
		rules = step4E
	case 'i':
		rules = step4I
	case 'l':
		rules = step4L
	case 'n':
		rules = step4N
	case 'o':
		if hasSuffix(w, "sion") || hasSuffix(w, "tion") {
			if stem := w[:len(w)-3]; measure(stem) > 1 {
				return stem
			}
			return w
		}
		rules = step4O
	case 's':
		rules = step4S
	case 't':
		rules = step4T
	case 'u':
		rules = step4U
	case 'v':
		rules = step4V
	case 'z':
		rules = step4Z
	}
	return strip(w, rules, 1)
}

// step5a: (m>1) E → nothing, (m=1 and not *o) E → nothing.
func step5a(w []byte) []byte {
	if !hasSuffix(w, "e") {
		return w
	}
	stem := w[:len(w)-1]
	if m := measure(stem); m > 1 || m == 1 && !endsCVC(stem) {
		return stem
	}
	return w
}

// step5b: (m>1 and *d and *L) → single letter.
func step5b(w []byte) []byte {
	if hasSuffix(w, "ll") && measure(w) > 1 {
		return w[:len(w)-1]
	}
	return w
}

// hasSuffix reports whether w ends with suffix; bytes.HasSuffix would want a
// slice.
func hasSuffix(w []byte, suffix string) bool {
	return len(w) >= len(suffix) && string(w[len(w)-len(suffix):]) == suffix
}

// isVowel reports whether c is a vowel given whether the letter before it is
// one: y is a vowel after a consonant, but not at the beginning of a word.
func isVowel(c byte, first, afterVowel bool) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return !first && !afterVowel
	}
	return false
}

// measure is m, the number of times that a consonant follows a vowel.
func measure(stem []byte) int {
	m, vowel := 0, false
	for i, c := range stem {
		v := isVowel(c, i == 0, vowel)
		if vowel && !v {
			m++
		}
		vowel = v
	}
	return m
}

// hasVowel is *v*.
func hasVowel(stem []byte) bool {
	vowel := false
	for i, c := range stem {
		if vowel = isVowel(c, i == 0, vowel); vowel {
			return true
		}
	}
	return false
}

// endsDouble is *d. Bytes outside a–z make no double consonant: the last two
// bytes of a word can be equal within one character of UTF-8.
func endsDouble(stem []byte) bool {
	n := len(stem) - 1
	if n < 1 || stem[n] != stem[n-1] || stem[n] < 'a' || stem[n] > 'z' {
		return false
	}
	return endsConsonant(stem)
}

// endsConsonant reports whether the last letter is a consonant.
func endsConsonant(stem []byte) bool {
	vowel := false
	for i, c := range stem {
		vowel = isVowel(c, i == 0, vowel)
	}
	return !vowel
}

// endsCVC is *o.
func endsCVC(stem []byte) bool {
	n := len(stem) - 1
	if n < 2 {
		return false
	}
	switch stem[n] {
	case 'w', 'x', 'y':
		return false
	}
	return endsConsonant(stem) && !endsConsonant(stem[:n]) && endsConsonant(stem[:n-1])
}
