package frontier

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/trap"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file excludes crawler traps: URLs without useful pages are never requested.
//
// Most traps are recognised only by comparison with other URLs, and the decision must not depend on
// which URL was added first. So nothing is decided when a URL is added. [Store.Commit] checks
// all URLs added since the last batch was leased, in the order in which they would be leased.
// If the process is killed before the commit ends and the same records are added again, the
// result is the same. An exclusion is a record in the log, an outcome without a fetch;
// replaying the log runs no trap rules.
//
// A URL that was leased before is not excluded any more. Seeds are never excluded.

// The limits of traps that are recognised only in many URLs.
const (
	maxDates         = 64      // URLs that differ only in dates
	maxCombinations  = 16      // URLs of a path that only recombine parameter values of other URLs
	minItemValues    = 32      // a parameter with this many values names items, such as topics of a forum
	maxComparedPages = 1 << 15 // pages of a host that are compared with each other
	maxCounted       = 1 << 20 // paths and parameter values of a host; if there are more, none are counted
)

// excludeTrapURLs excludes the traps among the URLs added since the last batch.
func (s *Store) excludeTrapURLs() error {
	if !s.options.ExcludeTraps || !s.trapsPending || s.options.ReadOnly {
		return nil
	}
	f := trapFinder{s: s, x: s.x, hosts: make([]*hostURLs, s.x.hosts.n)}
	f.collect()
	for _, host := range f.hosts {
		if host != nil { // one host at a time bounds the memory
			f.countAccepted(host)
			f.decide(host)
		}
	}
	if f.err != nil {
		return f.err
	}
	if err := s.exclude(f.exclusions); err != nil {
		return err
	}
	s.trapsPending = false
	return nil
}

// excludeURLs excludes URLs that are out of scope, and traps among the others.
func (s *Store) excludeURLs() error {
	if err := s.excludeOutOfScope(); err != nil {
		return err
	}
	return s.excludeTrapURLs()
}

// exclude adds exclusions to the log as outcomes.
func (s *Store) exclude(exclusions []exclusion) error {
	pending := s.trapsPending
	for _, e := range exclusions {
		rec := wire.Record{V: wire.Version, URL: s.x.url(e.id), Generation: int(s.x.cold.at(e.id).generation), Error: string(e.rule), ErrorDetail: e.why}
		if verdict, err := s.add(&rec); verdict == Failed {
			return err
		}
	}
	s.excluded += len(exclusions)
	s.trapsPending = pending
	return nil
}

// Excluded returns the number of URLs excluded since the store was opened.
func (s *Store) Excluded() int { return s.excluded }

type trapFinder struct {
	s          *Store
	x          *index
	since      place       // position of the last batch; later proposals are new
	hosts      []*hostURLs // by host number; nil for hosts without new URLs or outcomes
	exclusions []exclusion
	buf, key   []byte
	err        error
}

// A newURL is a URL to decide on, with the keys that it shares with similar URLs. A key may be 0;
// see trapFinder.keys.
type newURL struct {
	id                      uint32
	session, calendar, path trap.Key
}

// hostURLs holds the URLs of a host that has new URLs or outcomes.
type hostURLs struct {
	number  uint32
	ids     []uint32 // of all URLs of the host
	newURLs []newURL

	// Set by countAccepted.
	pages  []trap.Page
	copies trap.Condemnation
	links  trap.Links

	// Keys that accepted URLs share with new ones.
	sessions   map[trap.Key]bool
	calendars  map[trap.Key]int
	parameters parameterCounts
}

// parameterCounts counts the query parameters of a host's URLs, by path.
type parameterCounts struct {
	paths  map[trap.Key]*pathCounts
	pairs  map[trap.Key]bool // parameters with values, of all URLs; true if an accepted URL has the pair
	values map[trap.Key]int  // number of values of each parameter
}

// pathCounts counts the accepted URLs of one path.
type pathCounts struct {
	accepted int // accepted URLs
	pairs    int // distinct parameter values in accepted URLs
}

// An exclusion is the decision not to request a URL.
type exclusion struct {
	id   uint32
	rule trap.Rule
	why  string
}

// collect finds the URLs to decide on, and excludes those that are traps by themselves.
func (f *trapFinder) collect() {
	f.since = f.s.lastBatchPosition()
	changed := &f.s.changed
	if !changed.complete {
		changed.ids = changed.ids[:0]
		for id := range uint32(f.x.len()) {
			if f.isNew(id) || f.hasNewOutcome(id) {
				changed.ids = append(changed.ids, id)
			}
		}
		changed.complete = true
	}
	slices.Sort(changed.ids)
	changed.ids = slices.Compact(changed.ids)
	for _, id := range changed.ids {
		if !f.isNew(id) && !f.hasNewOutcome(id) {
			continue
		}
		host := f.hostOf(id)
		if !f.isNew(id) {
			continue
		}
		path, query := f.pathAndQuery(id)
		if rule := trap.Lexical(path, query); rule != "" {
			f.exclusions = append(f.exclusions, exclusion{id, rule, ""})
			continue
		}
		u := newURL{id: id}
		u.session, u.calendar, u.path = f.keys(host.number, path, query)
		host.newURLs = append(host.newURLs, u)
	}
	if len(changed.ids) == 0 {
		return
	}
	for id := range uint32(f.x.len()) {
		if host := f.hosts[f.x.hot.at(id).host]; host != nil {
			host.ids = append(host.ids, id)
		}
	}
}

// hasNewOutcome reports whether a URL has an outcome that is later than the last batch.
func (f *trapFinder) hasNewOutcome(id uint32) bool {
	return f.x.hot.at(id).flags&flagHistory != 0 && f.s.log.position(f.x.history(id).outcome) > f.since
}

// changedURLs lists the URLs that were proposed or got an outcome since the last batch, so
// that only these have to be checked.
type changedURLs struct {
	ids      []uint32 // unordered, with duplicates and with URLs that no longer qualify
	complete bool     // whether ids holds all of these URLs
}

// recordChange notes that a URL has a new proposal or outcome.
func (s *Store) recordChange(id uint32) {
	t := &s.changed
	if !s.options.ExcludeTraps || !t.complete {
		return
	}
	t.ids = append(t.ids, id)
	if len(t.ids) > s.x.len()+1<<16 { // mostly duplicates
		*t = changedURLs{}
	}
}

// hostOf returns the host of a URL, and registers the host to be checked.
func (f *trapFinder) hostOf(id uint32) *hostURLs {
	number := f.x.hot.at(id).host
	if f.hosts[number] == nil {
		f.hosts[number] = &hostURLs{number: number}
	}
	return f.hosts[number]
}

// isExcludable reports whether a URL waits and was never leased.
func (f *trapFinder) isExcludable(id uint32) bool {
	h := f.x.hot.at(id)
	return h.flags&(flagProposed|flagFinished|flagWithdrawn|flagLeased) == flagProposed && f.x.history(id).class < classFailed && !f.x.isSeed(id)
}

func (f *trapFinder) isNew(id uint32) bool {
	return f.isExcludable(id) && f.x.hot.at(id).flags&flagTrapChecked == 0 && f.s.log.position(f.x.cold.at(id).proposal) > f.since
}

// isBeforeLastBatch reports whether the record at p precedes the last batch. The URL of such a
// record was already checked; proposing the URL again does not make it a trap.
func (s *Store) isBeforeLastBatch(p place) bool {
	return s.log.position(p) <= s.lastBatchPosition()
}

func (s *Store) lastBatchPosition() place {
	latest := s.log.position(s.lastBatch)
	if n := len(s.x.batches); n > 0 {
		latest = max(latest, s.log.position(s.x.batches[n-1].place))
	}
	return latest
}

// pathAndQuery returns path and query of a URL. Both are valid until the next call.
func (f *trapFinder) pathAndQuery(id uint32) (path, query string) {
	c := f.x.cold.at(id)
	f.buf = append(append(f.buf[:0], f.x.textAt(f.x.dirs.at(c.dir).text)...), f.x.suffixOf(c)...)
	path, query, _ = strings.Cut(unsafeString(f.buf), "?")
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

// keys returns the keys that a URL shares with similar ones: the same page in another
// session, with other dates, or with other parameters. A key is 0 if the URL has no session,
// no date, or fewer than two parameters.
func (f *trapFinder) keys(host uint32, path, query string) (session, calendar, combined trap.Key) {
	if p, q, found := trap.WithoutSession(path, query); found {
		f.key = append(append(append(f.key[:0], p...), '?'), q...)
		session = trap.KeyOf(keySession, host, unsafeString(f.key))
	}
	var found bool
	if f.key, found = trap.WithoutDates(f.key[:0], path, query); found {
		calendar = trap.KeyOf(keyCalendar, host, unsafeString(f.key))
	}
	if strings.IndexByte(query, '&') >= 0 {
		combined = trap.KeyOf(keyPath, host, path)
	}
	return session, calendar, combined
}

// isPageKnown reports whether the same URL without its session is known and not excluded.
func (f *trapFinder) isPageKnown(id uint32, path, query string) bool {
	p, q, _ := trap.WithoutSession(path, query)
	page, ok := f.find(f.x.hot.at(id).host, trap.URL{HTTPS: f.isHTTPS(id), Path: p, Query: q})
	return ok && f.x.isKnown(page) && !f.isExcluded(page)
}

func (f *trapFinder) isHTTPS(id uint32) bool { return f.x.dirs.at(f.x.cold.at(id).dir).https != 0 }

func (f *trapFinder) find(host uint32, u trap.URL) (id uint32, ok bool) {
	scheme := "http://"
	if u.HTTPS {
		scheme = "https://"
	}
	parsed, err := weburl.Parse(scheme + string(f.x.hostName(host)) + u.String())
	if err != nil {
		return 0, false
	}
	return f.x.find(parsed)
}

func (f *trapFinder) isExcluded(id uint32) bool {
	return f.x.hot.at(id).flags&flagFinished != 0 && f.x.history(id).class == classExcluded
}

// countAccepted counts the accepted URLs that share a key with a new one.
func (f *trapFinder) countAccepted(host *hostURLs) {
	host.links, host.sessions, host.calendars = trap.Links{}, map[trap.Key]bool{}, map[trap.Key]int{}
	host.parameters = parameterCounts{map[trap.Key]*pathCounts{}, map[trap.Key]bool{}, map[trap.Key]int{}}
	for _, u := range host.newURLs {
		if u.session != 0 {
			host.sessions[u.session] = false
		}
		if u.calendar != 0 {
			host.calendars[u.calendar] = 0
		}
		if u.path != 0 {
			_, query := f.pathAndQuery(u.id)
			host.parameters.addNew(u.path, query)
		}
	}
	for _, id := range host.ids {
		if !f.x.isKnown(id) {
			continue
		}
		path, query := f.pathAndQuery(id)
		host.links.Add(host.number, path, func() string { return f.foundOn(id).Path() }) // also if the URL is excluded: a page links to it
		if f.isNew(id) || f.isExcluded(id) {
			continue
		}
		if hash := f.x.history(id).simhash; hash != 0 {
			host.pages = append(host.pages, trap.Page{URL: trap.URL{HTTPS: f.isHTTPS(id), Path: strings.Clone(path), Query: strings.Clone(query)}, Hash: hash})
		}
		session, calendar, combined := f.keys(host.number, path, query)
		if _, ok := host.sessions[session]; ok {
			host.sessions[session] = true
		}
		if n, ok := host.calendars[calendar]; ok {
			host.calendars[calendar] = n + 1
		}
		host.parameters.addAccepted(combined, query)
	}
	host.copies = trap.Condemned(host.number, f.sample(host.pages))
}

// sample returns at most maxComparedPages of pages. The same pages always give the same sample.
func (f *trapFinder) sample(pages []trap.Page) []trap.Page {
	if len(pages) <= maxComparedPages {
		return pages
	}
	sampleKey := func(p trap.Page) uint64 {
		return hash64(hash64(f.x.hashSeed, p.URL.String()), strconv.FormatBool(p.HTTPS))
	}
	slices.SortFunc(pages, func(p, q trap.Page) int { return cmp.Compare(sampleKey(p), sampleKey(q)) })
	return pages[:maxComparedPages]
}

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

// countValues counts the parameter values of a URL, accepted or not.
func (s *parameterCounts) countValues(path trap.Key, query string) {
	for pair := range trap.Pairs(query) {
		key := pairKey(path, pair)
		if _, ok := s.pairs[key]; !ok {
			s.pairs[key] = false
			s.values[nameKey(path, pair)]++
		}
	}
}

// checkLimit gives up counting a host with too many parameter values. It drops all counts, so
// that the result does not depend on the order of URLs.
func (s *parameterCounts) checkLimit() {
	if len(s.paths)+len(s.pairs) > maxCounted {
		*s = parameterCounts{}
	}
}

// pairKey returns the key of a parameter with its value on a path. nameKey returns the key of the
// parameter without its value.
func pairKey(path trap.Key, pair string) trap.Key { return path ^ trap.KeyOf(keyPair, 0, pair) }

func nameKey(path trap.Key, pair string) trap.Key {
	name, _, _ := strings.Cut(pair, "=")
	return path ^ trap.KeyOf(keyName, 0, name)
}

// namesItem reports whether a URL is about one of many items, such as the topics of a forum.
// Such URLs combine page numbers with other parameters without being traps.
func (s *parameterCounts) namesItem(path trap.Key, query string) bool {
	for pair := range trap.Pairs(query) {
		if name, _, _ := strings.Cut(pair, "="); !trap.IsPage(name) && s.values[nameKey(path, pair)] >= minItemValues {
			return true
		}
	}
	return false
}

// onlyRecombines reports whether all parameter values of a URL are known from other URLs of
// its path, and there are too many such URLs already.
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

// decide excludes the traps among the new URLs of a host.
func (f *trapFinder) decide(host *hostURLs) {
	// The order matters only for URLs that share a key with others.
	related := host.newURLs[:0]
	for _, u := range host.newURLs {
		if !f.excludeByPath(host, u.id) && (u.session != 0 || u.calendar != 0 || u.path != 0) {
			related = append(related, u)
		}
	}
	slices.SortFunc(related, func(u, v newURL) int {
		p, q := f.x.hot.at(u.id).priority, f.x.hot.at(v.id).priority
		if p != q {
			return cmp.Compare(q, p)
		}
		return f.x.compareURLs(u.id, v.id)
	})
	for _, u := range related {
		if rule, why := f.ruleFor(host, u); rule != "" {
			f.exclusions = append(f.exclusions, exclusion{u.id, rule, why})
		}
	}
	// Also exclude URLs that were accepted before the trap at their path was found.
	if len(host.links) > 0 || host.copies.Any() {
		for _, id := range host.ids {
			if f.isExcludable(id) && !f.isNew(id) {
				f.excludeByPath(host, id)
			}
		}
	}
	*host = hostURLs{}
}

// excludeByPath excludes a URL that leads to a copy of a fetched page, or that a broken relative
// link leads to, and reports whether it did.
func (f *trapFinder) excludeByPath(host *hostURLs, id uint32) bool {
	path, query := f.pathAndQuery(id)
	if host.links.Lead(host.number, path) {
		f.exclusions = append(f.exclusions, exclusion{id, trap.Repetition, "the link to here is relative and should not be"})
		return true
	}
	why := host.copies.Reason(trap.URL{HTTPS: f.isHTTPS(id), Path: path, Query: query}, func(u trap.URL) bool {
		page, ok := f.find(host.number, u)
		return ok && f.x.history(page).simhash != 0
	})
	if why != "" {
		f.exclusions = append(f.exclusions, exclusion{id, trap.Duplicates, why})
	}
	return why != ""
}

// isFoundByWalking reports whether a URL was found on a page of its own host, and leads returns true
// for this page and the URL: a crawler reaches such URLs step by step, without end.
func (f *trapFinder) isFoundByWalking(id uint32, leads func(fromPath, fromQuery, path, query string) bool) bool {
	from := f.foundOn(id)
	if from.Host() == "" {
		return false
	}
	path, query := f.pathAndQuery(id)
	return leads(from.Path(), from.Query(), path, query)
}

// foundOn returns the page that a URL was found on, or the zero URL if this page is on another
// host.
func (f *trapFinder) foundOn(id uint32) (none weburl.URL) {
	proposal := f.x.cold.at(id).proposal
	if proposal == 0 {
		return none
	}
	var rec wire.Record
	if err := f.s.readRecord(proposal, &rec); err != nil {
		f.err = cmp.Or(f.err, err)
		return none
	}
	page, err := weburl.Parse(rec.Via)
	if err != nil || page.Host() != string(f.x.hostName(f.x.hot.at(id).host)) {
		return none
	}
	return page
}

// ruleFor returns the rule by which a URL is a trap in comparison with others, and the reason. If
// the rule is empty, the URL is accepted and counted.
func (f *trapFinder) ruleFor(host *hostURLs, u newURL) (rule trap.Rule, why string) {
	path, query := f.pathAndQuery(u.id)
	if u.session != 0 && (host.sessions[u.session] || f.isPageKnown(u.id, path, query)) {
		return trap.Session, "the page is known without this session, or with another"
	}
	if u.calendar != 0 && host.calendars[u.calendar] >= maxDates && f.isFoundByWalking(u.id, trap.DatesLead) {
		return trap.Calendar, fmt.Sprintf("%d addresses that differ in dates only are enough", maxDates)
	}
	if u.path != 0 && host.parameters.onlyRecombines(u.path, query) && f.isFoundByWalking(u.id, func(fromPath, fromQuery, path, query string) bool {
		return trap.ParametersLead(fromPath, fromQuery, path, query) && !(host.parameters.namesItem(u.path, query) && trap.PagesOn(fromPath, fromQuery, path, query))
	}) {
		return trap.Parameters, fmt.Sprintf("%d addresses that only combine the parameters of others are enough", maxCombinations)
	}
	if u.session != 0 {
		host.sessions[u.session] = true
	}
	if u.calendar != 0 {
		host.calendars[u.calendar]++
	}
	if u.path != 0 {
		host.parameters.addAccepted(u.path, query)
	}
	return "", ""
}
