package frontier

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"spoor/internal/trap"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file bars addresses that are traps: none of them is asked for.
//
// What is a trap often shows only beside other addresses, and then it must not
// depend on which came first. So nothing is decided when an address is added, but
// when what was added is committed, all at once and in the order in which it would
// be handed out. What was added since the last generation was handed out is decided
// on together: killed before the end of its commit, and added again, it comes to the
// same. A decision is a record in the log, an outcome without a fetch, and replaying
// the log decides nothing.
//
// What was handed out is not barred any more, nor what a person asks for.

// The budgets of traps that are known by many addresses.
const (
	maxDates    = 64      // addresses that differ in nothing but dates
	maxCombined = 16      // addresses of a path that only combine what others have
	manyValues  = 32      // of a parameter: it names things, and settings no more
	maxPages    = 1 << 15 // of a host, that are compared with each other
)

// bar bars what is a trap.
func (s *Store) bar() error {
	if !s.traps || !s.undecided || s.readOnly {
		return nil
	}
	b := barring{s: s, x: s.x, hosts: map[uint32]*suspect{}, sessions: map[trap.Key]bool{}, calendars: map[trap.Key]int{}, paths: map[trap.Key]*combination{}}
	b.collect()
	if len(b.hosts) > 0 {
		b.remember()
		b.judge()
	}
	if b.err != nil {
		return b.err
	}
	if err := s.pass(b.verdicts); err != nil {
		return err
	}
	s.undecided = false
	return nil
}

// pass writes verdicts down.
func (s *Store) pass(verdicts []verdict) error {
	undecided := s.undecided
	for _, v := range verdicts {
		rec := wire.Record{V: wire.Version, URL: s.x.url(v.id), Generation: int(s.x.cold.at(v.id).asked), Error: string(v.rule), ErrorDetail: v.why}
		if verdict, err := s.add(&rec); verdict == Failed {
			return err
		}
	}
	s.barred += len(verdicts)
	s.undecided = undecided
	return nil
}

// Barred is how many addresses were barred since the store was opened.
func (s *Store) Barred() int { return s.barred }

// barring is what is known while it is decided.
type barring struct {
	s        *Store
	x        *index
	since    place             // what is behind it is to be decided on
	order    func(place) place // places as they stand in the log
	fresh    []fresh
	hosts    map[uint32]*suspect
	verdicts []verdict
	buf, key []byte
	err      error

	// What addresses that were let pass have in common with those to be decided on.
	sessions  map[trap.Key]bool
	calendars map[trap.Key]int
	paths     map[trap.Key]*combination
}

// fresh is a URL that is to be decided on, with what it has in common with others,
// or 0.
type fresh struct {
	id, host                uint32
	session, calendar, path trap.Key
}

// A suspect is a host with something to decide on.
type suspect struct {
	pages     []trap.Page
	condemned trap.Condemnation
	links     trap.Links
}

// A combination is a path whose addresses have parameters.
type combination struct {
	addresses int               // that were let pass
	distinct  int               // how many pairs these have
	pairs     map[trap.Key]bool // of all addresses; whether these have it
	values    map[trap.Key]int  // how many each parameter has
}

// verdict is that an address is barred.
type verdict struct {
	id   uint32
	rule trap.Rule
	why  string
}

// collect finds what is to be decided on, and bars what needs no others for that.
func (b *barring) collect() {
	b.order = b.s.log.order()
	b.since = b.order(b.s.handed)
	for _, h := range b.x.handouts {
		b.since = max(b.since, b.order(h.at))
	}
	for id := range uint32(b.x.len()) {
		h := b.x.hot.at(id)
		if !b.isFresh(id) {
			if h.flags&flagPast != 0 && b.order(b.x.past(id).outcome) > b.since {
				b.suspect(h.host)
			}
			continue
		}
		b.suspect(h.host)
		path, query := b.pathOf(id)
		if rule := trap.Lexical(path, query); rule != "" {
			b.verdicts = append(b.verdicts, verdict{id, rule, ""})
			continue
		}
		f := fresh{id: id, host: h.host}
		f.session, f.calendar, f.path = b.keys(h.host, path, query)
		b.fresh = append(b.fresh, f)
	}
}

// suspect makes a host a suspect.
func (b *barring) suspect(host uint32) {
	if b.hosts[host] == nil {
		b.hosts[host] = &suspect{links: trap.Links{}}
	}
}

// mayBar tells whether a URL waits and was never handed out.
func (b *barring) mayBar(id uint32) bool {
	h := b.x.hot.at(id)
	return h.flags&(flagWish|flagOver|flagNull|flagLeased) == flagWish && b.x.past(id).class < classFailed && !b.x.isSeed(id)
}

func (b *barring) isFresh(id uint32) bool {
	return b.mayBar(id) && b.x.hot.at(id).flags&flagPassed == 0 && b.order(b.x.cold.at(id).wish) > b.since
}

// isDecided tells whether what stands at p was added before the latest batch, and
// decided on then: who asks for it once more does not make it a trap.
func (s *Store) isDecided(p place) bool {
	latest := s.log.at(s.handed)
	if n := len(s.x.handouts); n > 0 {
		latest = max(latest, s.log.at(s.x.handouts[n-1].at))
	}
	return s.log.at(p) <= latest
}

// pathOf is path and query of a URL, until it is asked for those of the next.
func (b *barring) pathOf(id uint32) (path, query string) {
	c := b.x.cold.at(id)
	b.buf = append(append(b.buf[:0], b.x.bytesAt(b.x.dirs.at(c.dir).text)...), b.x.restOf(c)...)
	path, query, _ = strings.Cut(unsafeString(b.buf), "?")
	return path, query
}

// The kinds of keys.
const (
	keySession  = 'S'
	keyCalendar = 'C'
	keyPath     = 'P'
	keyPair     = 'A'
	keyName     = 'N'
)

// keys are what an address has in common with others: of the same page in another
// session, of other dates, of the same path with other parameters; 0 for what it has
// not.
func (b *barring) keys(host uint32, path, query string) (session, calendar, combined trap.Key) {
	if p, q, found := trap.WithoutSession(path, query); found {
		b.key = append(append(append(b.key[:0], p...), '?'), q...)
		session = trap.KeyOf(keySession, host, unsafeString(b.key))
	}
	var found bool
	if b.key, found = trap.WithoutDates(b.key[:0], path, query); found {
		calendar = trap.KeyOf(keyCalendar, host, unsafeString(b.key))
	}
	if strings.IndexByte(query, '&') >= 0 {
		combined = trap.KeyOf(keyPath, host, path)
	}
	return session, calendar, combined
}

// hasPage tells whether the page behind a session is known, and not barred.
func (b *barring) hasPage(id uint32, path, query string) bool {
	p, q, _ := trap.WithoutSession(path, query)
	address := strings.TrimSuffix(b.x.url(id), unsafeString(b.buf)) + p
	if q != "" {
		address += "?" + q
	}
	u, err := weburl.Parse(address)
	if err != nil {
		return false
	}
	page, ok := b.x.find(u)
	return ok && b.x.known(page) && !b.isBarred(page)
}

func (b *barring) isBarred(id uint32) bool {
	return b.x.hot.at(id).flags&flagOver != 0 && b.x.past(id).class == classBarred
}

// remember counts what was let pass before, as far as it has to do with what is to
// be decided on.
func (b *barring) remember() {
	for _, f := range b.fresh {
		if f.session != 0 {
			b.sessions[f.session] = false
		}
		if f.calendar != 0 {
			b.calendars[f.calendar] = 0
		}
		if f.path != 0 {
			if b.paths[f.path] == nil {
				b.paths[f.path] = &combination{pairs: map[trap.Key]bool{}, values: map[trap.Key]int{}}
			}
			_, query := b.pathOf(f.id)
			b.paths[f.path].name(query)
		}
	}
	for id := range uint32(b.x.len()) {
		host := b.x.hot.at(id).host
		suspect := b.hosts[host]
		if suspect == nil || !b.x.known(id) {
			continue
		}
		path, query := b.pathOf(id)
		suspect.links.Add(host, path) // also of what is barred, which a page has led to all the same
		if b.isFresh(id) || b.isBarred(id) {
			continue
		}
		if hash := b.x.past(id).simhash; hash != 0 {
			suspect.pages = append(suspect.pages, trap.Page{Path: strings.Clone(path), Query: strings.Clone(query), Hash: hash})
		}
		session, calendar, combined := b.keys(host, path, query)
		if _, ok := b.sessions[session]; ok {
			b.sessions[session] = true
		}
		if n, ok := b.calendars[calendar]; ok {
			b.calendars[calendar] = n + 1
		}
		if c := b.paths[combined]; c != nil {
			c.add(query)
		}
	}
	for host, suspect := range b.hosts {
		suspect.condemned = trap.Condemned(host, b.sample(suspect.pages))
	}
}

// sample is as many pages as can be compared, always the same ones.
func (b *barring) sample(pages []trap.Page) []trap.Page {
	if len(pages) <= maxPages {
		return pages
	}
	lot := func(p trap.Page) uint64 { return digest(digest(b.x.seed, p.Path), p.Query) }
	slices.SortFunc(pages, func(p, q trap.Page) int { return cmp.Compare(lot(p), lot(q)) })
	return pages[:maxPages]
}

// add counts an address.
func (c *combination) add(query string) {
	c.addresses++
	c.name(query)
	for pair := range trap.Pairs(query) {
		if key := trap.KeyOf(keyPair, 0, pair); !c.pairs[key] {
			c.pairs[key] = true
			c.distinct++
		}
	}
}

// name counts the values that an address, whatever becomes of it, gives parameters.
func (c *combination) name(query string) {
	for pair := range trap.Pairs(query) {
		key := trap.KeyOf(keyPair, 0, pair)
		if _, ok := c.pairs[key]; !ok {
			c.pairs[key] = false
			name, _, _ := strings.Cut(pair, "=")
			c.values[trap.KeyOf(keyName, 0, name)]++
		}
	}
}

// isOfMany tells whether an address is about one of many things, such as the topics
// of a forum: then its pages are no settings.
func (c *combination) isOfMany(query string) bool {
	for pair := range trap.Pairs(query) {
		if name, _, _ := strings.Cut(pair, "="); !trap.IsPage(name) && c.values[trap.KeyOf(keyName, 0, name)] >= manyValues {
			return true
		}
	}
	return false
}

// exhausted tells whether an address has nothing that others have not, where there
// are too many such already.
func (c *combination) exhausted(query string) bool {
	if c.addresses < c.distinct+maxCombined {
		return false
	}
	for pair := range trap.Pairs(query) {
		if !c.pairs[trap.KeyOf(keyPair, 0, pair)] {
			return false
		}
	}
	return true
}

// judge decides.
func (b *barring) judge() {
	// The order matters only for what has something in common with others.
	together := b.fresh[:0]
	for _, f := range b.fresh {
		if !b.condemn(f.id, f.host) && (f.session != 0 || f.calendar != 0 || f.path != 0) {
			together = append(together, f)
		}
	}
	slices.SortFunc(together, func(f, g fresh) int {
		p, q := b.x.hot.at(f.id).priority, b.x.hot.at(g.id).priority
		switch {
		case p != q:
			return cmp.Compare(q, p)
		case b.x.less(f.id, g.id):
			return -1
		}
		return 1
	})
	for _, f := range together {
		if rule, why := b.rule(f); rule != "" {
			b.verdicts = append(b.verdicts, verdict{f.id, rule, why})
		}
	}
	// What was let pass before it was seen where it lies.
	for id := range uint32(b.x.len()) {
		host := b.x.hot.at(id).host
		if b.hosts[host] != nil && b.mayBar(id) && !b.isFresh(id) {
			b.condemn(id, host)
		}
	}
}

// condemn bars a URL that lies where pages are copies of others, or where a link
// leads that is relative and should not be.
func (b *barring) condemn(id, host uint32) bool {
	suspect := b.hosts[host]
	if len(suspect.links) == 0 && !suspect.condemned.Any() {
		return false
	}
	path, query := b.pathOf(id)
	switch {
	case suspect.links.Lead(host, path):
		b.verdicts = append(b.verdicts, verdict{id, trap.Repetition, "the link to here is relative and should not be"})
	case suspect.condemned.Has(path, query):
		b.verdicts = append(b.verdicts, verdict{id, trap.Duplicates, "the pages fetched from here say what other pages of the host say"})
	default:
		return false
	}
	return true
}

// isWalked tells whether a URL was found on a page of its host from which leads
// to it.
func (b *barring) isWalked(id uint32, leads func(fromPath, fromQuery, path, query string) bool) bool {
	var rec wire.Record
	line, err := b.s.log.line(b.x.cold.at(id).wish)
	if err == nil {
		err = b.s.lines.decode(line, &rec)
	}
	if err != nil {
		b.err = cmp.Or(b.err, err)
		return false
	}
	from, err := weburl.Parse(rec.Via)
	if err != nil || from.Host() != string(b.x.nameOf(b.x.hot.at(id).host)) {
		return false
	}
	path, query := b.pathOf(id)
	return leads(from.Path(), from.Query(), path, query)
}

// rule is why an address is barred by what it has in common with others; "" if it is
// not, and then it counts.
func (b *barring) rule(f fresh) (rule trap.Rule, why string) {
	path, query := b.pathOf(f.id)
	if f.session != 0 && (b.sessions[f.session] || b.hasPage(f.id, path, query)) {
		return trap.Session, "the page is known without this session, or with another"
	}
	if f.calendar != 0 && b.calendars[f.calendar] >= maxDates && b.isWalked(f.id, trap.DatesLead) {
		return trap.Calendar, fmt.Sprintf("%d addresses that differ in dates only are enough", maxDates)
	}
	if c := b.paths[f.path]; f.path != 0 && c.exhausted(query) && b.isWalked(f.id, func(fromPath, fromQuery, path, query string) bool {
		return trap.ParametersLead(fromPath, fromQuery, path, query) && !(c.isOfMany(query) && trap.PagesOn(fromPath, fromQuery, path, query))
	}) {
		return trap.Parameters, fmt.Sprintf("%d addresses that only combine the parameters of others are enough", maxCombined)
	}
	if f.session != 0 {
		b.sessions[f.session] = true
	}
	if f.calendar != 0 {
		b.calendars[f.calendar]++
	}
	if f.path != 0 {
		b.paths[f.path].add(query)
	}
	return "", ""
}
