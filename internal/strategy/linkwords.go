package strategy

// This file is what the strategies share that learn which links are worth
// following: the words of a link as numbers, and the store of these for the links
// that wait.

import (
	"encoding/binary"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"spoor/internal/graph"
	"spoor/internal/text"
	"spoor/internal/topic"
)

// A feature is a word in its place: two bits tell the place, thirty are the
// FNV-1a hash of the word. Of a hundred thousand words some five share a number
// with another; in return no word is kept, and a link costs four bytes a word.
type feature uint32

// A place is where a word of a link stands. A word is another feature in another
// place.
type place uint32

const (
	inContext place = iota // around the link
	inURL                  // in the path or the query of its address
	inAnchor               // in its text
	inWeb                  // nowhere: what is known of its host and of the page it is on
	places
)

const placeBits = 30

func (f feature) place() place { return place(f >> placeBits) }

// featureOf returns word in its place.
func featureOf(in place, word string) feature {
	return feature(in)<<placeBits | feature(fnv64(word)&(1<<placeBits-1))
}

// fnv64 returns the FNV-1a hash of s.
func fnv64(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h ^= uint64(s[i])
		h *= 1099511628211
	}
	return h
}

// Bounds of what is read of a link, in bytes; pages may make a paragraph a link,
// or all of a page a block.
const (
	readAnchor  = 512
	readContext = 2048
	readURL     = 1024
	maxWords    = 64 // of one place
)

// linkWords turns links into features.
type linkWords struct {
	analyzer *text.Analyzer
	terms    []text.Term
}

// aim makes the topic's language that of the links.
func (w *linkWords) aim(t *topic.Topic) (err error) {
	w.analyzer, err = t.Analyzer()
	return err
}

// stems appends the different stems of s as features.
func (w *linkWords) stems(dst []feature, in place, s string, most int) []feature {
	if w.analyzer == nil {
		w.analyzer, _ = text.New("", "") // English, of which nothing can be wrong
	}
	w.analyzer.Trim()
	w.terms = w.analyzer.Append(w.terms[:0], clip(s, most))
	from := len(dst)
	for _, t := range w.terms {
		if t.Silent() {
			continue
		}
		if dst = append(dst, featureOf(in, w.analyzer.Name(t))); len(dst)-from == maxWords {
			break
		}
	}
	return unique(dst, from)
}

// unique sorts what stands in s from a place on, and leaves each once.
func unique(s []feature, from int) []feature {
	slices.Sort(s[from:])
	return s[:from+len(slices.Compact(s[from:]))]
}

// clip returns the first n bytes of s, or a few less, so that no character is torn.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// pathAndQuery returns what of a canonical address stands behind the host, as people
// would read it.
func pathAndQuery(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	_, rest, _ = strings.Cut(rest, "/")
	if plain, err := url.PathUnescape(clip(rest, readURL)); err == nil {
		return plain
	}
	return clip(rest, readURL)
}

// linkStore keeps the features of the links that wait. The first page that shows
// a link decides them.
type linkStore struct {
	features []feature // of all links, one after the other
	spans    []span    // by graph.ID
	unused   int       // features of links that wait no more

	fresh []graph.ID // added since the last delta
	gone  []graph.ID // to be dropped with the next delta, which still needs them
	ties  int        // of the memory, that were seen
}

// A span is where the features of a link are. Its beginning is one more than it
// is; 0 was never seen.
type span struct{ from, n uint32 }

// maxFeatures bounds what is read back for one link.
const maxFeatures = int(places) * maxWords

// has reports whether the link was ever seen.
func (l *linkStore) has(id graph.ID) bool { return int(id) < len(l.spans) && l.spans[id].from > 0 }

// of returns the features of a link that waits.
func (l *linkStore) of(id graph.ID) []feature {
	if !l.has(id) {
		return nil
	}
	s := l.spans[id]
	return l.features[s.from-1 : s.from-1+s.n]
}

// add keeps the features of a link that was not seen before.
func (l *linkStore) add(id graph.ID, features []feature) {
	l.spans = grown(l.spans, int(id)+1)
	l.spans[id] = span{uint32(len(l.features)) + 1, uint32(len(features))}
	l.features = append(l.features, features...)
	l.fresh = append(l.fresh, id)
}

// followed forgets, after the next delta, the features of the links that led to the
// pages from place on, and those to addresses that turned out to be other names. What
// failed may be tried again.
func (l *linkStore) followed(m *memory, from int) {
	for _, p := range m.pages[from:] {
		if !p.failed {
			l.gone = append(l.gone, p.node, p.final)
		}
	}
	for _, t := range m.same[l.ties:] {
		l.gone = append(l.gone, t.node)
	}
	l.ties = len(m.same)
}

// appendDelta appends the links that are new, and takes leave of the others.
func (l *linkStore) appendDelta(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(l.fresh)))
	for _, id := range l.fresh {
		features := l.of(id)
		b = binary.AppendUvarint(b, uint64(id))
		b = binary.AppendUvarint(b, uint64(len(features)))
		for _, f := range features {
			b = binary.LittleEndian.AppendUint32(b, uint32(f))
		}
	}
	l.settle()
	return b
}

func (l *linkStore) replay(m *memory, r *reader) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		id, count := m.node(r), r.uvarint()
		if r.bad || count > uint64(maxFeatures) || uint64(len(r.b)) < 4*count || l.has(id) {
			r.bad = true
			return
		}
		l.features = slices.Grow(l.features, int(count))
		features := l.features[len(l.features):][:count]
		for i := range features {
			features[i] = feature(r.uint32())
		}
		l.add(id, features)
	}
}

// settle makes what is new old, and what is gone forgotten; the room of the
// forgotten is reclaimed once it is half of all.
func (l *linkStore) settle() {
	for _, id := range l.gone {
		if l.has(id) {
			l.unused += int(l.spans[id].n)
			l.spans[id].n = 0
		}
	}
	l.fresh, l.gone = l.fresh[:0], l.gone[:0]
	if 2*l.unused <= len(l.features) {
		return
	}
	kept := make([]feature, 0, len(l.features)-l.unused)
	for i, s := range l.spans {
		if s.from > 0 {
			l.spans[i].from = uint32(len(kept)) + 1
			kept = append(kept, l.features[s.from-1:s.from-1+s.n]...)
		}
	}
	l.features, l.unused = kept, 0
}
