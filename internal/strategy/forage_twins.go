package strategy

// This file predicts which waiting addresses lead to pages that were fetched under another address.
// Two similar addresses are twins. Not all twins are the same page: for each host and kind of twins,
// the crawl learns how often the later twin was the same page. Compare Z. Bar-Yossef, I. Keidar, U.
// Schonfeld: Do Not Crawl in the DUST: Different URLs with Similar Text, WWW 2007, which learns
// rules that rewrite addresses.

import (
	"strings"

	"spoor/internal/graph"
)

// Two addresses are twins in one of these ways.
const (
	twinAddress = iota // the addresses differ by www, a final slash, a name like index.html, or in case
	twinName           // the addresses have the same host and the same last part
	twinKinds
)

// twinPrior is the assumed share of twins that are the same page, before any twins of a host were
// fetched. twinPriorWeight is the weight of this assumption, in fetches.
var (
	twinPrior       = [twinKinds]float64{0.5, 0.1}
	twinPriorWeight = [twinKinds]float64{2, 5}
)

// twins holds the keys of addresses, and the counts of twins. All of it is derived from the pages and
// their aliases.
type twins struct {
	keys    [][twinKinds]uint64 // by graph.ID; 0 is none
	fetched map[uint64]bool
	hosts   map[int32]*[twinKinds]twinCount // by hostDirectory
	pages   int                             // number of pages counted so far
	aliases int
}

// A twinCount counts the addresses of a host that had a twin when they were fetched, and how many
// of them led to a known page.
type twinCount struct{ fetched, same float64 }

// twinKeys returns the keys of an address. Twins have equal keys.
func twinKeys(url string) (keys [twinKinds]uint64) {
	_, url, _ = strings.Cut(strings.ToLower(url), "://")
	url, query, _ := strings.Cut(strings.TrimPrefix(url, "www."), "?")
	url = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(url, "/"), ".html"), ".htm")
	at := strings.LastIndexByte(url, '/')
	if at >= 0 && (url[at:] == "/index" || url[at:] == "/default") {
		url = strings.TrimRight(url[:at], "/")
		at = strings.LastIndexByte(url, '/')
	}
	keys[twinAddress] = max(1, fnv64(url+"?"+query))
	if at >= 0 {
		host, _, _ := strings.Cut(url, "/")
		keys[twinName] = max(1, fnv64(host+"\x00"+url[at:]+"?"+query))
	}
	return keys
}

// countTwins counts the addresses fetched since the last call, in the order in which they were
// fetched.
func (s *forage) countTwins() {
	t := &s.twins
	if t.fetched == nil {
		t.fetched, t.hosts = map[uint64]bool{}, map[int32]*[twinKinds]twinCount{}
	}
	for id := len(t.keys); id < s.web.Len(); id++ {
		t.keys = append(t.keys, twinKeys(s.web.URL(graph.ID(id))))
	}
	for {
		switch {
		case t.aliases < len(s.aliases) && int(s.aliases[t.aliases].since) <= t.pages:
			a := s.aliases[t.aliases]
			// The aliases of a page fetched just before are the redirects that led to it.
			s.countTwin(a.node, a.place < a.since-1)
			t.aliases++
		case t.pages < len(s.pages):
			p := &s.pages[t.pages]
			s.countTwin(p.node, false)
			s.addTwin(p.final)
			t.pages++
		default:
			return
		}
	}
}

// countTwin counts a fetched address.
func (s *forage) countTwin(id graph.ID, same bool) {
	t := &s.twins
	host := s.hostDirectory(id)
	for kind, key := range t.keys[id] {
		if key == 0 || !t.fetched[key] {
			continue
		}
		c := t.hosts[host]
		if c == nil {
			c = new([twinKinds]twinCount)
			t.hosts[host] = c
		}
		c[kind].fetched++
		if same {
			c[kind].same++
		}
		break // the other kinds follow from it
	}
	s.addTwin(id)
}

func (s *forage) addTwin(id graph.ID) {
	for _, key := range s.twins.keys[id] {
		s.twins.fetched[key] = true
	}
}

// hostDirectory returns the outermost directory of an address, or -1.
func (s *forage) hostDirectory(id graph.ID) int32 {
	d := s.directory[id]
	for d >= 0 && s.outer[d] >= 0 {
		d = s.outer[d]
	}
	return d
}

// isRepeat reports whether an address probably is the same page as a twin. among holds the keys of
// the addresses that are considered as twins.
func (s *forage) isRepeat(id graph.ID, among map[uint64]bool) bool {
	t := &s.twins
	for kind, key := range t.keys[id] {
		if key == 0 || !among[key] {
			continue
		}
		var n twinCount
		if c := t.hosts[s.hostDirectory(id)]; c != nil {
			n = c[kind]
		}
		weight := twinPriorWeight[kind]
		return n.same+float64(weight*twinPrior[kind]) > (n.fetched+weight)/2
	}
	return false
}
