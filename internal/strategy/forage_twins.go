package strategy

// This file predicts which waiting addresses lead to pages that were fetched under another address.
// Two similar addresses are twins. Not all twins are the same page: for each host and kind of twins,
// the crawl learns how often the later twin was the same page, or a page with nearly the same words.
// Compare Z. Bar-Yossef, I. Keidar, U. Schonfeld: Do Not Crawl in the DUST: Different URLs with
// Similar Text, WWW 2007, which learns rules that rewrite addresses.

import (
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"spoor/internal/graph"
)

// Two addresses are twins in one of these ways. An address is compared with its twins of the first kind
// that has any.
const (
	twinAddress   = iota // they differ by scheme, www, a final slash, a name like index.html, the ending of the file, or in case
	twinMirror           // they differ by the directory, and other pages of these two directories were the same
	twinParameter        // they differ by the value of one of several parameters
	twinQuery            // they differ by the query
	twinName             // they have the same host and the same last part
	twinKinds
)

// twinPrior is the assumed share of twins that are the same page, before any twins of a kind were
// fetched. What all hosts show has the weight of twinWeight fetches for a host.
var (
	twinPrior  = [twinKinds]float64{0.5, 0.2, 0.2, 0.2, 0.1}
	twinWeight = [twinKinds]float64{2, 2, 2, 2, 5}
)

const (
	maxTwinParameters = 4       // parameters of an address that are compared
	maxTwinClasses    = 1 << 16 // kinds of twins of hosts that are counted
	copyBits          = 3       // fingerprints of copies differ by at most this number of bits
)

// twins holds the keys of addresses, and the counts of twins. All of it is derived from the pages, their
// aliases and their fingerprints.
type twins struct {
	keys    [][2]uint64 // by graph.ID: the keys of twinAddress and twinName; 0 is none
	queries map[graph.ID][]twinKey
	mirrors map[int32]int32      // by directory: the directory that has the same pages
	mapped  map[graph.ID]twinKey // what mirrored has returned since the last mirror was found
	prints  map[uint64]graph.ID  // by fingerprint: the first page
	fetched map[uint64]int32     // by key: place of the latest page plus one
	classes map[uint64]*twinCount
	all     [twinKinds]twinCount
	pages   int // number of pages counted so far
	aliases int
}

// A twinKey is what an address has in common with its twins of a kind. How often they are the same page
// is counted by class.
type twinKey struct {
	kind       int
	key, class uint64
}

// A twinCount counts the addresses that had a twin when they were fetched, and how many of them led to
// the same page.
type twinCount struct{ fetched, same float64 }

// share returns the share that led to the same page, where prior counts as weight addresses.
func (c *twinCount) share(prior, weight float64) float64 {
	return (c.same + float64(weight*prior)) / (c.fetched + weight)
}

// Endings that servers often leave out, and numbers in the names of parameters.
var (
	fileEnding = regexp.MustCompile(`\.(html?|php[345]?|aspx?|jsp|cfm|shtml)$`)
	digits     = regexp.MustCompile(`\d+`)
)

// simplified returns the host and the path of an address, without what differs between twins of the
// kind twinAddress, and its query.
func simplified(url string) (page, query string) {
	_, url, _ = strings.Cut(strings.ToLower(url), "://")
	url, query, _ = strings.Cut(strings.TrimPrefix(url, "www."), "?")
	url = strings.TrimRight(url, "/")
	if at := strings.LastIndexByte(url, '/'); at >= 0 {
		if ending := fileEnding.FindStringIndex(url[at:]); ending != nil {
			url = url[:at+ending[0]]
		}
		if url[at:] == "/index" || url[at:] == "/default" {
			url = strings.TrimRight(url[:at], "/")
		}
	}
	return url, query
}

// twinKeys returns the keys of an address. Twins have equal keys.
func twinKeys(url string) (keys [2]uint64, queries []twinKey) {
	page, query := simplified(url)
	keys[0] = max(1, fnv64(page+"?"+query))
	host, _, _ := strings.Cut(page, "/")
	if at := strings.LastIndexByte(page, '/'); at >= 0 {
		keys[1] = max(1, fnv64(host+"\x00"+page[at:]+"?"+query))
	}
	if query == "" {
		return keys, nil
	}
	parameters := strings.Split(query, "&")
	var names []string
	for _, p := range parameters {
		name, _, _ := strings.Cut(p, "=")
		names = append(names, digits.ReplaceAllString(name, "0"))
	}
	if len(parameters) > 1 {
		for i := range parameters[:min(len(parameters), maxTwinParameters)] {
			others := strings.Join(slices.Delete(slices.Clone(parameters), i, i+1), "&")
			queries = append(queries, twinKey{twinParameter, fnv64(page + "?" + others + "\x00" + names[i]), fnv64(page + "\x00" + names[i])})
		}
	}
	slices.Sort(names)
	return keys, append(queries, twinKey{twinQuery, fnv64(page + "?"), fnv64(host + "?" + strings.Join(names, "&"))})
}

// twinsOf yields the keys of an address, in the order of the kinds.
func (s *forage) twinsOf(id graph.ID, yield func(twinKey) bool) {
	t := &s.twins
	host := s.hostDirectory(id)
	keys := t.keys[id]
	if !yield(twinKey{twinAddress, keys[0], uint64(host)}) {
		return
	}
	if k := s.mirrored(id); k.key != 0 && !yield(k) {
		return
	}
	queries := t.queries[id]
	for _, k := range queries {
		if !yield(k) {
			return
		}
	}
	if queries == nil && !yield(twinKey{twinQuery, keys[0], uint64(host)}) {
		return
	}
	if keys[1] != 0 {
		yield(twinKey{twinName, keys[1], uint64(host)})
	}
}

// fetchedKey returns the index of a key in the map fetched. The key of a mirror is the key of an address.
func (k twinKey) fetchedKey() uint64 {
	if k.kind == twinMirror {
		return k.key
	}
	return k.key ^ uint64(k.kind)<<60
}

// classKey returns the index of the class in the map classes.
func (k twinKey) classKey() uint64 { return k.class ^ uint64(k.kind+1)<<56 }

// countTwins counts the addresses fetched since the last call, in the order in which they were
// fetched.
func (s *forage) countTwins() {
	t := &s.twins
	if t.fetched == nil {
		*t = twins{queries: map[graph.ID][]twinKey{}, mirrors: map[int32]int32{}, prints: map[uint64]graph.ID{}, fetched: map[uint64]int32{}, classes: map[uint64]*twinCount{}}
	}
	for id := len(t.keys); id < s.web.Len(); id++ {
		keys, queries := twinKeys(s.web.URL(graph.ID(id)))
		t.keys = append(t.keys, keys)
		if queries != nil {
			t.queries[graph.ID(id)] = queries
		}
	}
	for {
		switch {
		case t.aliases < len(s.aliases) && int(s.aliases[t.aliases].since) <= t.pages:
			a := s.aliases[t.aliases]
			// The aliases of a page fetched just before are the redirects that led to it.
			s.countTwin(a.node, int(a.place), a.place < a.since-1)
			t.aliases++
		case t.pages < len(s.pages):
			p := &s.pages[t.pages]
			s.countTwin(p.node, t.pages, false)
			if p.final != p.node {
				s.addTwin(p.final, t.pages)
			}
			s.mirror(t.pages)
			t.pages++
		default:
			return
		}
	}
}

// countTwin counts a fetched address, of the page at place.
func (s *forage) countTwin(id graph.ID, place int, same bool) {
	t := &s.twins
	s.twinsOf(id, func(k twinKey) bool {
		twin := t.fetched[k.fetchedKey()]
		if twin == 0 {
			return true
		}
		c := t.classes[k.classKey()]
		if c == nil && len(t.classes) < maxTwinClasses {
			c = new(twinCount)
			t.classes[k.classKey()] = c
		}
		for _, c := range []*twinCount{c, &t.all[k.kind]} {
			if c != nil {
				c.fetched++
				if same || s.isCopy(int(twin-1), place) {
					c.same++
				}
			}
		}
		return false // the other kinds follow from it
	})
	s.addTwin(id, place)
}

// addTwin adds the keys of an address of the page at place, unless that has no words: it may only lead to
// its twin.
func (s *forage) addTwin(id graph.ID, place int) {
	if d := s.doc(place); d == nil || d.Length == 0 {
		return
	}
	s.twinsOf(id, func(k twinKey) bool {
		s.twins.fetched[k.fetchedKey()] = int32(place) + 1
		return true
	})
}

// isCopy reports whether the pages at two places have nearly the same words.
func (s *forage) isCopy(a, b int) bool {
	x, y := s.print(a), s.print(b)
	return x != 0 && y != 0 && bits.OnesCount64(x^y) <= copyBits
}

// mirror notes that the directories of two pages have the same pages, if the page at place is a copy of
// another page with the same name.
func (s *forage) mirror(place int) {
	print := s.print(place)
	if print == 0 {
		return
	}
	t := &s.twins
	id := s.pages[place].final
	first, ok := t.prints[print]
	if !ok {
		t.prints[print] = id
		return
	}
	from, to := s.differ(id, first)
	if from < 0 || to < 0 || from == to || len(t.classes) == maxTwinClasses {
		return
	}
	if _, known := t.mirrors[from]; known {
		return
	}
	if back, known := t.mirrors[to]; known && back == from {
		return
	}
	t.mirrors[from] = to
	t.classes[twinKey{kind: twinMirror, class: uint64(from)}.classKey()] = &twinCount{1, 1}
	t.mapped = map[graph.ID]twinKey{}
}

// differ returns the outermost directories by which two addresses differ, if the rest of the two is the
// same, or -1.
func (s *forage) differ(a, b graph.ID) (from, to int32) {
	pathA, queryA, _ := strings.Cut(withoutScheme(s.web.URL(a)), "?")
	pathB, queryB, _ := strings.Cut(withoutScheme(s.web.URL(b)), "?")
	x, y := strings.Split(pathA, "/"), strings.Split(pathB, "/")
	i, j := len(x)-1, len(y)-1
	if max(i, j) > maxLevels || queryA != queryB || !strings.EqualFold(x[i], y[j]) {
		return -1, -1
	}
	from, to = s.directory[a], s.directory[b]
	for i > 1 && j > 1 && from >= 0 && to >= 0 && strings.EqualFold(x[i-1], y[j-1]) {
		i, j = i-1, j-1
		from, to = s.outer[from], s.outer[to]
	}
	return from, to
}

func withoutScheme(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return rest
}

// mirrored returns the key of the address in the directory that has the same pages. It is 0 if there is
// none.
func (s *forage) mirrored(id graph.ID) (k twinKey) {
	t := &s.twins
	for d := s.directory[id]; d >= 0 && len(t.mirrors) > 0; d = s.outer[d] {
		to, ok := t.mirrors[d]
		if !ok {
			continue
		}
		k, ok := t.mapped[id]
		if !ok {
			rest := withoutScheme(s.web.URL(id))
			for x := d; x >= 0; x = s.outer[x] {
				_, rest, _ = strings.Cut(rest, "/")
			}
			page, query := simplified("://" + s.path(to) + "/" + rest)
			k = twinKey{twinMirror, max(1, fnv64(page+"?"+query)), uint64(d)}
			t.mapped[id] = k
		}
		return k
	}
	return k
}

// hostDirectory returns the outermost directory of an address, or -1.
func (f *foraged) hostDirectory(id graph.ID) int32 {
	d := f.directory[id]
	for d >= 0 && f.outer[d] >= 0 {
		d = f.outer[d]
	}
	return d
}

// isRepeat reports whether an address probably is the same page as a twin. among holds the keys of
// the addresses that are considered as twins.
func (s *forage) isRepeat(id graph.ID, among map[uint64]int32) (repeat bool) {
	if !s.SkipCopies {
		return false
	}
	t := &s.twins
	s.twinsOf(id, func(k twinKey) bool {
		if among[k.fetchedKey()] == 0 {
			return true
		}
		c := t.classes[k.classKey()]
		if c == nil {
			c = new(twinCount)
		}
		repeat = c.share(t.all[k.kind].share(twinPrior[k.kind], 2), twinWeight[k.kind]) > 0.5
		return false
	})
	return repeat
}
