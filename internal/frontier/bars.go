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
	maxDates         = 64      // addresses that differ in nothing but dates
	maxCombinations  = 16      // addresses of a path that only combine what others have
	minItemValues    = 32      // of a parameter: it names things, and settings no more
	maxComparedPages = 1 << 15 // of a host, that are compared with each other
	maxCounted       = 1 << 20 // of a host, paths and pairs on them: where there are more nothing is counted
)

// bar bars what is a trap.
func (s *Store) excludeTrapURLs() error {
	if !s.excludeTraps || !s.trapsPending || s.readOnly {
		return nil
	}
	b := trapFinder{s: s, x: s.x, hosts: make([]*hostURLs, s.x.hosts.n)}
	b.collect()
	for _, suspect := range b.hosts {
		if suspect != nil { // one after the other, or what is known of all would need memory together
			b.countAccepted(suspect)
			b.decide(suspect)
		}
	}
	if b.err != nil {
		return b.err
	}
	if err := s.exclude(b.exclusions); err != nil {
		return err
	}
	s.trapsPending = false
	return nil
}

// pass writes verdicts down.
func (s *Store) exclude(verdicts []exclusion) error {
	undecided := s.trapsPending
	for _, v := range verdicts {
		rec := wire.Record{V: wire.Version, URL: s.x.url(v.id), Generation: int(s.x.cold.at(v.id).generation), Error: string(v.rule), ErrorDetail: v.why}
		if verdict, err := s.add(&rec); verdict == Failed {
			return err
		}
	}
	s.excluded += len(verdicts)
	s.trapsPending = undecided
	return nil
}

// Barred is how many addresses were barred since the store was opened.
func (s *Store) Excluded() int { return s.excluded }

// barring is what is known while it is decided.
type trapFinder struct {
	s          *Store
	x          *index
	since      place             // what is behind it is to be decided on
	order      func(place) place // places as they stand in the log
	hosts      []*hostURLs       // by host
	exclusions []exclusion
	buf, key   []byte
	err        error
}

// fresh is a URL that is to be decided on, with what it has in common with others,
// or 0.
type newURL struct {
	id                      uint32
	session, calendar, path trap.Key
}

// A suspect is a host with something to decide on.
type hostURLs struct {
	host    uint32
	ids     []uint32 // all of its URLs
	newURLs []newURL

	// What it takes to decide.
	pages  []trap.Page
	copies trap.Condemnation
	links  trap.Links

	// What addresses that were let pass have in common with those to be decided on.
	sessions   map[trap.Key]bool
	calendars  map[trap.Key]int
	parameters parameterCounts
}

// settings are the paths of a host whose addresses have parameters, and these.
type parameterCounts struct {
	paths  map[trap.Key]*pathCounts
	pairs  map[trap.Key]bool // of all addresses; whether those that were let pass have it
	values map[trap.Key]int  // how many each parameter has
}

// A combination is a path whose addresses have parameters.
type pathCounts struct {
	accepted int // that were let pass
	pairs    int // how many pairs these have
}

// verdict is that an address is barred.
type exclusion struct {
	id   uint32
	rule trap.Rule
	why  string
}

// collect finds what is to be decided on, and bars what needs no others for that.
func (b *trapFinder) collect() {
	b.order = b.s.log.order()
	b.since = b.order(b.s.lastBatch)
	for _, h := range b.x.batches {
		b.since = max(b.since, b.order(h.place))
	}
	t := &b.s.changed
	if !t.complete {
		t.ids = t.ids[:0]
		for id := range uint32(b.x.len()) {
			if b.isNew(id) || b.hasNewOutcome(id) {
				t.ids = append(t.ids, id)
			}
		}
		t.complete = true
	}
	slices.Sort(t.ids)
	t.ids = slices.Compact(t.ids)
	for _, id := range t.ids {
		host := b.x.hot.at(id).host
		if !b.isNew(id) {
			if b.hasNewOutcome(id) {
				b.hostOf(host)
			}
			continue
		}
		suspect := b.hostOf(host)
		path, query := b.pathAndQuery(id)
		if rule := trap.Lexical(path, query); rule != "" {
			b.exclusions = append(b.exclusions, exclusion{id, rule, ""})
			continue
		}
		f := newURL{id: id}
		f.session, f.calendar, f.path = b.keys(host, path, query)
		suspect.newURLs = append(suspect.newURLs, f)
	}
	if len(t.ids) == 0 {
		return
	}
	for id := range uint32(b.x.len()) {
		if suspect := b.hosts[b.x.hot.at(id).host]; suspect != nil {
			suspect.ids = append(suspect.ids, id)
		}
	}
}

// hasNews tells whether a URL has an outcome since the latest batch.
func (b *trapFinder) hasNewOutcome(id uint32) bool {
	return b.x.hot.at(id).flags&flagHistory != 0 && b.order(b.x.history(id).outcome) > b.since
}

// touched are the URLs that were asked for, or have an outcome, since the latest batch,
// so that not all need be looked at for them.
type changedURLs struct {
	ids      []uint32 // in any order, and more than once; they may have become others
	complete bool     // or all are to be looked at
}

// touch remembers that what is known of a URL changes.
func (s *Store) recordChange(id uint32) {
	t := &s.changed
	if !s.excludeTraps || !t.complete {
		return
	}
	t.ids = append(t.ids, id)
	if len(t.ids) > s.x.len()+1<<16 { // the same again and again
		*t = changedURLs{}
	}
}

// suspect makes a host a suspect.
func (b *trapFinder) hostOf(host uint32) *hostURLs {
	if b.hosts[host] == nil {
		b.hosts[host] = &hostURLs{host: host}
	}
	return b.hosts[host]
}

// mayBar tells whether a URL waits and was never handed out.
func (b *trapFinder) isExcludable(id uint32) bool {
	h := b.x.hot.at(id)
	return h.flags&(flagProposed|flagFinished|flagWithdrawn|flagLeased) == flagProposed && b.x.history(id).class < classFailed && !b.x.isSeed(id)
}

func (b *trapFinder) isNew(id uint32) bool {
	return b.isExcludable(id) && b.x.hot.at(id).flags&flagTrapChecked == 0 && b.order(b.x.cold.at(id).proposal) > b.since
}

// isDecided tells whether what stands at p was added before the latest batch, and
// decided on then: who asks for it once more does not make it a trap.
func (s *Store) isBeforeLastBatch(p place) bool {
	latest := s.log.at(s.lastBatch)
	if n := len(s.x.batches); n > 0 {
		latest = max(latest, s.log.at(s.x.batches[n-1].place))
	}
	return s.log.at(p) <= latest
}

// pathOf is path and query of a URL, until it is asked for those of the next.
func (b *trapFinder) pathAndQuery(id uint32) (path, query string) {
	c := b.x.cold.at(id)
	b.buf = append(append(b.buf[:0], b.x.textAt(b.x.dirs.at(c.dir).text)...), b.x.suffixOf(c)...)
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
func (b *trapFinder) keys(host uint32, path, query string) (session, calendar, combined trap.Key) {
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
func (b *trapFinder) isPageKnown(id uint32, path, query string) bool {
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
	return ok && b.x.isKnown(page) && !b.isExcluded(page)
}

func (b *trapFinder) isExcluded(id uint32) bool {
	return b.x.hot.at(id).flags&flagFinished != 0 && b.x.history(id).class == classExcluded
}

// remember counts what was let pass before, as far as it has to do with what is to
// be decided on.
func (b *trapFinder) countAccepted(s *hostURLs) {
	s.links, s.sessions, s.calendars = trap.Links{}, map[trap.Key]bool{}, map[trap.Key]int{}
	s.parameters = parameterCounts{map[trap.Key]*pathCounts{}, map[trap.Key]bool{}, map[trap.Key]int{}}
	for _, f := range s.newURLs {
		if f.session != 0 {
			s.sessions[f.session] = false
		}
		if f.calendar != 0 {
			s.calendars[f.calendar] = 0
		}
		if f.path != 0 {
			_, query := b.pathAndQuery(f.id)
			s.parameters.addNew(f.path, query)
		}
	}
	for _, id := range s.ids {
		if !b.x.isKnown(id) {
			continue
		}
		path, query := b.pathAndQuery(id)
		s.links.Add(s.host, path, func() string { return b.foundOn(id).Path() }) // also of what is barred, which a page has led to all the same
		if b.isNew(id) || b.isExcluded(id) {
			continue
		}
		if hash := b.x.history(id).simhash; hash != 0 {
			s.pages = append(s.pages, trap.Page{Path: strings.Clone(path), Query: strings.Clone(query), Hash: hash})
		}
		session, calendar, combined := b.keys(s.host, path, query)
		if _, ok := s.sessions[session]; ok {
			s.sessions[session] = true
		}
		if n, ok := s.calendars[calendar]; ok {
			s.calendars[calendar] = n + 1
		}
		s.parameters.addAccepted(combined, query)
	}
	s.copies = trap.Condemned(s.host, b.sample(s.pages))
}

// sample is as many pages as can be compared, always the same ones.
func (b *trapFinder) sample(pages []trap.Page) []trap.Page {
	if len(pages) <= maxComparedPages {
		return pages
	}
	lot := func(p trap.Page) uint64 { return hash64(hash64(b.x.hashSeed, p.Path), p.Query) }
	slices.SortFunc(pages, func(p, q trap.Page) int { return cmp.Compare(lot(p), lot(q)) })
	return pages[:maxComparedPages]
}

// expect counts an address that is to be decided on.
func (s *parameterCounts) addNew(path trap.Key, query string) {
	if s.paths == nil {
		return
	}
	if s.paths[path] == nil {
		s.paths[path] = &pathCounts{}
	}
	s.countValues(path, query)
	s.checkLimit()
}

// add counts an address that was let pass.
func (s *parameterCounts) addAccepted(path trap.Key, query string) {
	c := s.paths[path]
	if c == nil {
		return
	}
	c.accepted++
	s.countValues(path, query)
	for pair := range trap.Pairs(query) {
		if key := pairKey(path, pair); !s.pairs[key] {
			s.pairs[key] = true
			c.pairs++
		}
	}
	s.checkLimit()
}

// name counts the values that an address, whatever becomes of it, gives parameters.
func (s *parameterCounts) countValues(path trap.Key, query string) {
	for pair := range trap.Pairs(query) {
		key := pairKey(path, pair)
		if _, ok := s.pairs[key]; !ok {
			s.pairs[key] = false
			s.values[nameKey(path, pair)]++
		}
	}
}

// bound gives up on a host whose addresses make up more than can be counted. It is
// all of them or none, for which came first must not matter.
func (s *parameterCounts) checkLimit() {
	if len(s.paths)+len(s.pairs) > maxCounted {
		*s = parameterCounts{}
	}
}

// pairOf and nameOf are the keys of a parameter on a path, with and without its value.
func pairKey(path trap.Key, pair string) trap.Key { return path ^ trap.KeyOf(keyPair, 0, pair) }

func nameKey(path trap.Key, pair string) trap.Key {
	name, _, _ := strings.Cut(pair, "=")
	return path ^ trap.KeyOf(keyName, 0, name)
}

// isOfMany tells whether an address is about one of many things, such as the topics
// of a forum: then its pages are no settings.
func (s *parameterCounts) namesItem(path trap.Key, query string) bool {
	for pair := range trap.Pairs(query) {
		if name, _, _ := strings.Cut(pair, "="); !trap.IsPage(name) && s.values[nameKey(path, pair)] >= minItemValues {
			return true
		}
	}
	return false
}

// exhausted tells whether an address has nothing that others have not, where there
// are too many such already.
func (s *parameterCounts) onlyRecombines(path trap.Key, query string) bool {
	c := s.paths[path]
	if c == nil || c.accepted < c.pairs+maxCombinations {
		return false
	}
	for pair := range trap.Pairs(query) {
		if !s.pairs[pairKey(path, pair)] {
			return false
		}
	}
	return true
}

// judge decides.
func (b *trapFinder) decide(s *hostURLs) {
	// The order matters only for what has something in common with others.
	together := s.newURLs[:0]
	for _, f := range s.newURLs {
		if !b.excludeByPath(s, f.id) && (f.session != 0 || f.calendar != 0 || f.path != 0) {
			together = append(together, f)
		}
	}
	slices.SortFunc(together, func(f, g newURL) int {
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
		if rule, why := b.ruleFor(s, f); rule != "" {
			b.exclusions = append(b.exclusions, exclusion{f.id, rule, why})
		}
	}
	// What was let pass before it was seen where it lies.
	if len(s.links) > 0 || s.copies.Any() {
		for _, id := range s.ids {
			if b.isExcludable(id) && !b.isNew(id) {
				b.excludeByPath(s, id)
			}
		}
	}
	*s = hostURLs{}
}

// condemn bars a URL that lies where pages are copies of others, or where a link
// leads that is relative and should not be.
func (b *trapFinder) excludeByPath(s *hostURLs, id uint32) bool {
	path, query := b.pathAndQuery(id)
	switch {
	case s.links.Lead(s.host, path):
		b.exclusions = append(b.exclusions, exclusion{id, trap.Repetition, "the link to here is relative and should not be"})
	case s.copies.Has(path, query):
		b.exclusions = append(b.exclusions, exclusion{id, trap.Duplicates, "the pages fetched from here say what other pages of the host say"})
	default:
		return false
	}
	return true
}

// isWalked tells whether a URL was found on a page of its host from which leads
// to it.
func (b *trapFinder) isFoundByWalking(id uint32, leads func(fromPath, fromQuery, path, query string) bool) bool {
	from := b.foundOn(id)
	if from.Host() == "" {
		return false
	}
	path, query := b.pathAndQuery(id)
	return leads(from.Path(), from.Query(), path, query)
}

// via is the page of its host that a URL was found on, nothing if it was found
// elsewhere.
func (b *trapFinder) foundOn(id uint32) (none weburl.URL) {
	wish := b.x.cold.at(id).proposal
	if wish == 0 {
		return none
	}
	var rec wire.Record
	line, err := b.s.log.line(wish)
	if err == nil {
		err = b.s.decoder.decode(line, &rec)
	}
	if err != nil {
		b.err = cmp.Or(b.err, err)
		return none
	}
	from, err := weburl.Parse(rec.Via)
	if err != nil || from.Host() != string(b.x.hostName(b.x.hot.at(id).host)) {
		return none
	}
	return from
}

// rule is why an address is barred by what it has in common with others; "" if it is
// not, and then it counts.
func (b *trapFinder) ruleFor(s *hostURLs, f newURL) (rule trap.Rule, why string) {
	path, query := b.pathAndQuery(f.id)
	if f.session != 0 && (s.sessions[f.session] || b.isPageKnown(f.id, path, query)) {
		return trap.Session, "the page is known without this session, or with another"
	}
	if f.calendar != 0 && s.calendars[f.calendar] >= maxDates && b.isFoundByWalking(f.id, trap.DatesLead) {
		return trap.Calendar, fmt.Sprintf("%d addresses that differ in dates only are enough", maxDates)
	}
	if f.path != 0 && s.parameters.onlyRecombines(f.path, query) && b.isFoundByWalking(f.id, func(fromPath, fromQuery, path, query string) bool {
		return trap.ParametersLead(fromPath, fromQuery, path, query) && !(s.parameters.namesItem(f.path, query) && trap.PagesOn(fromPath, fromQuery, path, query))
	}) {
		return trap.Parameters, fmt.Sprintf("%d addresses that only combine the parameters of others are enough", maxCombinations)
	}
	if f.session != 0 {
		s.sessions[f.session] = true
	}
	if f.calendar != 0 {
		s.calendars[f.calendar]++
	}
	if f.path != 0 {
		s.parameters.addAccepted(f.path, query)
	}
	return "", ""
}
