package text

// Narrow makes one term of all stems that are not known yet, for somebody who looks for known
// ones only, as for the keywords of a topic: what the other words are need not be found out
// then, nor remembered. Words of one character that are not known yet become a [Gap]. All that
// is known is kept for good.
func (a *Analyzer) Narrow() {
	if a.other != 0 {
		return
	}
	a.names = append(a.names, "")
	a.other = Term(len(a.names) - 1)
	a.Keep()
	if a.bits == 0 || !a.faithful {
		return
	}
	a.heads = new(heads)
	for word := range a.mute {
		a.heads.add(eight(word, 0))
	}
	for stem := range a.terms {
		a.heads.addStem(stem)
	}
}

// headLength is how many bytes of a word its stem begins with too, if the stem has more than
// these; a shorter one begins with the first of them. That holds for faithful stemmers and
// words of the alphabet. With four it would not: some stemmers end the stem by letters of their own.
const headLength = 3

// alphabet is the bytes of words that need no other rules.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

// heads are the beginnings of the words that a narrow analyzer tells apart, and, by chance, of
// some others: a bit for each hash of headLength bytes. Most words of a text begin otherwise, and
// need not be looked up. Shorter words are not asked for.
type heads [1 << headBits / 64]uint64

const headBits = 16

// bitOf is where the bit of a word is, whose bytes are a little-endian number.
func bitOf(word uint64) (i, shift uint64) {
	h := word << (64 - 8*headLength) * 0x9E3779B97F4A7C15 >> (64 - headBits)
	return h / 64, h % 64
}

// have reports whether a word may be one that is told apart.
func (h *heads) have(word uint64) bool {
	i, shift := bitOf(word)
	return h[i]>>shift&1 != 0
}

// add adds the words that begin as a word does, in its first headLength bytes.
func (h *heads) add(word uint64) {
	i, shift := bitOf(word)
	h[i] |= 1 << shift
}

// addStem adds all words that a stem may be of.
func (h *heads) addStem(stem string) {
	switch {
	case len(stem) > headLength:
		h.add(eight(stem, 0))
	case stem == "":
		for i := range h {
			h[i] = ^uint64(0)
		}
	default:
		for i := range len(alphabet) {
			for j := range len(alphabet) {
				h.add(uint64(stem[0]) | uint64(alphabet[i])<<8 | uint64(alphabet[j])<<16)
			}
		}
	}
}
