package strategy

// This file is shared by the strategies that learn which links are worth following. It
// encodes the words of a link as features, and stores the features of unfetched links.

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"spoor/internal/graph"
	"spoor/internal/text"
	"spoor/internal/topic"
)

// A feature is a word in a place: two bits encode the place, thirty the FNV-1a hash of the
// word. Of a hundred thousand words about five collide; in return no word is stored, and a
// link takes four bytes per word.
type feature uint32

// A place is where a word of a link occurs. The same word in another place is another feature.
type place uint32

const (
	inContext place = iota // around the link
	inURL                  // in the path or the query of its address
	inAnchor               // in its text
	inWeb                  // not a word: a property of its host or its page
	places
)

const placeBits = 30

func (f feature) place() place { return place(f >> placeBits) }

// featureOf returns the feature of word in place in.
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

// Bounds of the text read of a link, in bytes: pages may link a whole paragraph, or be one
// block.
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

// aim sets the language of the links to that of the topic.
func (w *linkWords) aim(t *topic.Topic) (err error) {
	w.analyzer, err = t.Analyzer()
	return err
}

// stems appends the distinct stems of s as features.
func (w *linkWords) stems(dst []feature, in place, s string, limit int) []feature {
	if w.analyzer == nil {
		w.analyzer, _ = text.New("", "") // English: cannot fail
	}
	w.analyzer.Trim()
	w.terms = w.analyzer.Append(w.terms[:0], clip(s, limit))
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

// unique sorts s[from:] and removes duplicates from it.
func unique(s []feature, from int) []feature {
	slices.Sort(s[from:])
	return s[:from+len(slices.Compact(s[from:]))]
}

// clip returns at most the first n bytes of s, cut at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// pathAndQuery returns the unescaped path and query of a canonical address.
func pathAndQuery(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	_, rest, _ = strings.Cut(rest, "/")
	if plain, err := url.PathUnescape(clip(rest, readURL)); err == nil {
		return plain
	}
	return clip(rest, readURL)
}

// A linkStore holds the features of unfetched links. The first page with a link determines
// them.
type linkStore struct {
	features []feature // of all links, one after the other
	spans    []span    // by graph.ID
	unused   int       // features of dropped links

	fresh   []graph.ID // added since the last delta
	gone    []graph.ID // to be dropped after the next delta, which still needs them
	aliases int        // aliases of the memory seen so far
}

// A span is the location of the features of a link. from is one more than the index; 0 was
// never added.
type span struct{ from, n uint32 }

// maxFeatures is the maximum number of features of a link in a delta.
const maxFeatures = int(places) * maxWords

// has reports whether the link was ever added.
func (l *linkStore) has(id graph.ID) bool { return int(id) < len(l.spans) && l.spans[id].from > 0 }

// of returns the features of a link, or nil if there are none.
func (l *linkStore) of(id graph.ID) []feature {
	if !l.has(id) {
		return nil
	}
	s := l.spans[id]
	return l.features[s.from-1 : s.from-1+s.n]
}

// add stores the features of a new link.
func (l *linkStore) add(id graph.ID, features []feature) {
	l.spans = grown(l.spans, int(id)+1)
	l.spans[id] = span{uint32(len(l.features)) + 1, uint32(len(features))}
	l.features = append(l.features, features...)
	l.fresh = append(l.fresh, id)
}

// drop removes, after the next delta, the links to this generation's pages and to aliases
// found since. Links to failed pages stay, because they may be tried again.
func (l *linkStore) drop(m *memory) {
	for _, p := range m.pages[m.firstPage:] {
		if !p.failed {
			l.gone = append(l.gone, p.node, p.final)
		}
	}
	for _, t := range m.aliases[l.aliases:] {
		l.gone = append(l.gone, t.node)
	}
	l.aliases = len(m.aliases)
}

// code is that of the new links; links are dropped once they are written.
func (l *linkStore) code(c *codec) {
	var features []feature
	each(c, l.fresh, func(id *graph.ID) {
		if c.id(id); !c.reading {
			features = l.of(*id)
		}
		features = each(c, features, func(f *feature) { c.uint32((*uint32)(f)) })
		if c.check(len(features) <= maxFeatures && !l.has(*id)) {
			l.add(*id, features)
		}
	})
	if !c.reading {
		l.compact()
	}
}

// compact drops the links in gone, and reclaims their memory once it is half of all.
func (l *linkStore) compact() {
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
