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
	"spoor/internal/wire"
)

// A feature is a word in a place: two bits encode the place, thirty the FNV-1a hash of the
// word. Of a hundred thousand words about five collide. But words do not have to be stored: a
// link takes four bytes per word.
type feature uint32

// A place is where a word of a link occurs. The same word in another place is another feature.
type place uint32

const (
	inContext place = iota // around the link
	inURL                  // in the path or the query of the link's address
	inAnchor               // in the text of the link
	inWeb                  // not a word: a property of the host of the link, or of its page
	places
)

const placeBits = 30

func (f feature) place() place { return place(f >> placeBits) }

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

// Limits of the text of a link that is read, in bytes. A whole paragraph may be a link, and the
// context of a link may be the whole page.
const (
	readAnchor  = 512
	readContext = 2048
	readURL     = 1024
	maxWords    = 64 // words of one place
)

// linkWords turns links into features.
type linkWords struct {
	analyzer *text.Analyzer
	terms    []text.Term
}

// aim sets the language of the links to the language of the topic.
func (w *linkWords) aim(t *topic.Topic) (err error) {
	w.analyzer, err = t.Analyzer()
	return err
}

// stems appends the distinct stems of s as features.
func (w *linkWords) stems(dst []feature, in place, s string, limit int) []feature {
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

// link appends the words of a link as features: of its context, its address and its anchor.
func (w *linkWords) link(dst []feature, link *wire.Link) []feature {
	dst = w.stems(dst, inContext, link.Context, readContext)
	dst = w.stems(dst, inURL, pathAndQuery(link.URL), readURL)
	return w.stems(dst, inAnchor, link.Anchor, readAnchor)
}

// names returns the stems of the last text given to stems, in its order, without stop words.
func (w *linkWords) names() (names []string) {
	for _, t := range w.terms {
		if !t.Silent() {
			names = append(names, w.analyzer.Name(t))
		}
	}
	return names
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

// A linkStore holds the features of unfetched links. They are taken from the first page with the
// link.
type linkStore struct {
	features [][]feature // by graph.ID; nil: never added

	fresh   []graph.ID // added since the last delta
	gone    []graph.ID // to be dropped after the next delta, which still contains them
	aliases int        // aliases of the memory seen so far
}

// maxFeatures is the maximum number of features of a link in a delta.
const maxFeatures = int(places) * maxWords

func (l *linkStore) has(id graph.ID) bool { return l.of(id) != nil }

// of returns the features of a link, or none if it was dropped or never added.
func (l *linkStore) of(id graph.ID) []feature {
	if int(id) < len(l.features) {
		return l.features[id]
	}
	return nil
}

func (l *linkStore) add(id graph.ID, features []feature) {
	l.features = grown(l.features, int(id)+1)
	l.features[id] = append(make([]feature, 0, len(features)), features...)
	l.fresh = append(l.fresh, id)
}

// addNew adds a link with the features of its anchor, context and address, unless it was added before.
func (l *linkStore) addNew(id graph.ID, link *wire.Link, words *linkWords) {
	if !l.has(id) {
		var features [maxFeatures]feature
		l.add(id, words.link(features[:0], link))
	}
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

// code encodes or decodes the new links; links are dropped once they are written.
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
		l.dropGone()
	}
}

func (l *linkStore) dropGone() {
	for _, id := range l.gone {
		if l.has(id) {
			l.features[id] = []feature{}
		}
	}
	l.fresh, l.gone = l.fresh[:0], l.gone[:0]
}
