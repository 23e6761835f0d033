package report

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// maxCost is the maximum cost of one query, so that sums do not overflow.
const maxCost = 1 << 40

type collector struct {
	source   *Source
	run      Run
	verdicts *verdicts
	unjudged int // records without a verdict, if the run has verdicts

	turns     []generationCounts
	operators *names
	niches    *names
	hosts     map[string]*hostTally
	errors    map[string]int
	skipped   map[string]int
	judged    map[string]int // records by verdict
	classes   map[string]int // records by the judge's class
	copies    duplicateFinder

	finds  []int // the cost at which each relevant page was found, ascending
	scores []scored
	estimates

	lowestRelevant    float64 // lowest score of a page that the measure calls relevant; NaN for none
	highestIrrelevant float64 // highest score of another page; NaN for none
	threshold         float64 // of the topic; NaN for none

	steered  bool     // whether a record had scores
	steering []string // measures that may be the steering measure

	signals signals
	queries map[string][]Reason // by query: why it was issued
	pages   []*candidate        // pages to be shown so far, the best first
	shown   map[string]bool     // addresses of pages
}

type generationCounts struct {
	number            int
	parts             []*Part
	seconds           float64 // duration of the partition that took longest
	fetched, relevant int
	operators, niches map[int]pair // by id of the name
	good              []bool       // by record: whether it is a relevant page
	addresses         []uint32     // hashes of the addresses of pages, before and after redirects
}

// hasAny reports whether the generation may have a page whose hash has a count above 0.
func (t *generationCounts) hasAny(hashes map[uint32]int) bool {
	return slices.ContainsFunc(t.addresses, func(h uint32) bool { return hashes[h] > 0 })
}

// hashSeed has no effect on the page: a collision only makes backward read a generation in vain.
var hashSeed = maphash.MakeSeed()

func hashAddress(url string) uint32 { return uint32(maphash.String(hashSeed, url)) }

type pair struct{ fetched, relevant int }

func (p *pair) add(q pair) {
	p.fetched += q.fetched
	p.relevant += q.relevant
}

type hostTally struct {
	fetched, failed, relevant int
	ms                        []int32 // of each fetch that has a time
}

type scored struct {
	score   float64
	verdict byte // r, i or u
}

// A candidate is a page that may be shown.
type candidate struct {
	found Found
	url   string // as in the record
	turn  int    // index of its generation
	node  *node
}

// names numbers names, and counts records by name.
type names struct {
	limit int // further names are counted as Rest
	ids   map[string]int
	words []string
	total []pair
}

func newNames(limit int) *names { return &names{limit: limit, ids: map[string]int{}} }

// count counts a record with the name, in total and in one generation.
func (n *names) count(name string, cost, good int, in map[int]pair) {
	name = clean(name, maxName)
	id, ok := n.ids[name]
	if !ok && len(n.words) >= n.limit {
		name = Rest
		id, ok = n.ids[name]
	}
	if !ok {
		id = len(n.words)
		name = strings.Clone(name)
		n.ids[name] = id
		n.words = append(n.words, name)
		n.total = append(n.total, pair{})
	}
	n.total[id].add(pair{cost, good})
	p := in[id]
	p.add(pair{cost, good})
	in[id] = p
}

func (c *collector) add(rec *wire.Record) {
	t := &c.turns[len(c.turns)-1]
	said, class := c.verdicts.of(rec)
	if class != "" {
		tally(c.classes, class, 1)
	}
	switch {
	case said != "":
		c.judged[said]++
	case c.verdicts != nil && rec.URL != "":
		c.unjudged++
	}
	if rec.URL == "" {
		t.good = append(t.good, false)
		cost := min(max(1, rec.Cost), maxCost)
		c.run.Queries += cost
		c.run.Fetched += cost
		t.fetched += cost
		c.rememberQuery(rec)
		return
	}
	self := rec.Relevant == wire.True
	good := self
	if c.run.Judged {
		good = said == relevant
	}
	t.good = append(t.good, good)
	if !rec.IsOutcome() {
		return // an address: a user's own stage may emit addresses
	}
	c.run.Records++
	if isPage(rec) {
		t.addresses = append(t.addresses, hashAddress(rec.URL))
		if rec.FinalURL != "" && rec.FinalURL != rec.URL {
			t.addresses = append(t.addresses, hashAddress(rec.FinalURL))
		}
	}
	if self {
		c.run.SelfRelevant++
		if rec.Score.Kind == wire.Present && !(c.lowestRelevant <= rec.Score.Value) {
			c.lowestRelevant = rec.Score.Value
		}
	} else if rec.Score.Kind == wire.Present && !(c.highestIrrelevant >= rec.Score.Value) {
		c.highestIrrelevant = rec.Score.Value
	}
	numRelevant := 0 // 1 for a relevant page
	if good {
		numRelevant = 1
		c.run.Relevant++
		t.relevant++
	}
	if rec.NeedsBrowser == wire.True {
		c.run.NeedsBrowser++
	}
	for i := range rec.Links {
		if rec.Links[i].Archived == wire.False {
			c.run.LinksOutside++
		}
	}
	if rec.Free() {
		tally(c.skipped, rec.Error, 1)
	} else {
		c.paid(t, rec, numRelevant)
	}
	if good {
		c.finds = append(c.finds, c.run.Fetched)
		c.offer(rec)
	}
	c.steer(rec)
	if rec.Score.Kind == wire.Present && said != repeated && said != free && rec.Error == "" {
		v := byte('u')
		if said == relevant || said == irrelevant {
			v = said[0]
		}
		c.scores = append(c.scores, scored{rec.Score.Value, v})
		c.copies.add(rec)
		c.estimates.add(rec, c.run.Strategy, numRelevant)
	}
	c.date(rec.Timestamp)
}

// steer narrows steering to the measures whose values are equal to the score.
func (c *collector) steer(rec *wire.Record) {
	if rec.Score.Kind != wire.Present || len(rec.Scores) == 0 {
		return
	}
	if !c.steered {
		c.steered = true
		for _, m := range rec.Scores {
			c.steering = append(c.steering, strings.Clone(m.Name))
		}
	}
	c.steering = slices.DeleteFunc(c.steering, func(name string) bool {
		return !slices.ContainsFunc(rec.Scores, func(m wire.Scored) bool { return m.Name == name && m.Value == rec.Score.Value })
	})
}

// maxKinds limits the kinds of errors; all are shown. maxNames limits the operators, and the niches, that
// are counted separately. A run of our commands has a few of them; a crafted run may have a new one in
// each record.
const (
	maxKinds = 100
	maxNames = 1 << 17
)

// tally adds n to the count of a kind, or to the count of [Rest] if there are too many kinds.
func tally(counts map[string]int, kind string, n int) {
	kind = clean(kind, maxName)
	if _, ok := counts[kind]; !ok && len(counts) >= maxKinds {
		kind = Rest
	}
	counts[strings.Clone(kind)] += n
}

// paid counts a fetch, whose cost is 1.
func (c *collector) paid(t *generationCounts, rec *wire.Record, numRelevant int) {
	c.signals.add(rec, c.run.Fetched, numRelevant)
	c.run.Fetched++
	t.fetched++
	name := clean(weburl.Host(rec.URL), maxName)
	host := c.hosts[name]
	if host == nil {
		host = &hostTally{}
		c.hosts[strings.Clone(name)] = host
	}
	host.fetched++
	host.relevant += numRelevant
	if rec.FetchMS > 0 {
		host.ms = append(host.ms, int32(min(rec.FetchMS, math.MaxInt32)))
	}
	if rec.Error != "" || rec.StatusCode/100 != 2 {
		c.run.Failed++
		host.failed++
		kind := rec.Error
		if kind == "" {
			kind = fmt.Sprintf("status %d", rec.StatusCode)
		}
		tally(c.errors, kind, 1)
	}
	c.operators.count(cmp.Or(rec.Operator, "unknown"), 1, numRelevant, t.operators)
	if rec.Niche != "" {
		c.niches.count(rec.Niche, 1, numRelevant, t.niches)
	}
}

// date updates the times of the first and the last fetch.
func (c *collector) date(stamp string) {
	if c.run.First != "" && c.run.First <= stamp && stamp <= c.run.Last {
		return
	}
	if _, err := time.Parse(time.RFC3339, stamp); err != nil {
		return
	}
	if c.run.First == "" || stamp < c.run.First {
		c.run.First = strings.Clone(stamp)
	}
	if stamp > c.run.Last {
		c.run.Last = strings.Clone(stamp)
	}
}

// offer adds a relevant page to the pages that are shown, if it is among the best.
func (c *collector) offer(rec *wire.Record) {
	c.run.PagesTotal++
	score := rec.Score.Or(math.NaN())
	url := rec.URL[:min(len(rec.URL), weburl.MaxLength)]
	at, _ := slices.BinarySearchFunc(c.pages, candidate{url: url, found: Found{Score: score}}, func(a *candidate, b candidate) int {
		return cmp.Or(-cmp.Compare(a.found.Score, b.found.Score), strings.Compare(a.url, b.url)) // NaN is below all others
	})
	if at == MaxPages || c.shown[url] {
		return
	}
	n := c.newNode(rec, true)
	p := &candidate{
		found: Found{
			URL:        n.step.URL,
			Href:       href(rec.URL),
			Title:      n.step.Title,
			Score:      score,
			Generation: rec.Generation,
			Depth:      rec.Depth,
			Operator:   n.step.Operator,
			Niche:      strings.Clone(clean(rec.Niche, maxName)),
		},
		url:  strings.Clone(url),
		turn: len(c.turns) - 1,
		node: n,
	}
	c.pages = slices.Insert(c.pages, at, p)
	c.shown[p.url] = true
	if len(c.pages) > MaxPages {
		delete(c.shown, c.pages[MaxPages].url)
		c.pages = c.pages[:MaxPages]
	}
}

// finish returns the run after all records were read.
func (c *collector) finish() *Run {
	r := &c.run
	r.HostsTotal = len(c.hosts)
	r.Hosts, r.Slowest = c.servers()
	r.Errors, r.Skipped, r.Classes = counts(c.errors), counts(c.skipped), counts(c.classes)
	r.NearDuplicates = c.copies.n
	if r.Judged {
		for _, word := range allVerdicts() {
			if n := c.judged[word]; n > 0 {
				r.Verdicts = append(r.Verdicts, Count{word, n})
			}
		}
	}
	r.Fitness.Bins = bins(c.scores)
	r.Fitness.Threshold = threshold(r.Fitness.Bins, c.highestIrrelevant, c.lowestRelevant)
	if finite(c.threshold) && !(c.highestIrrelevant >= c.threshold) && !(c.lowestRelevant < c.threshold) {
		r.Fitness.Threshold = c.threshold
	}
	if r.Fitness.Measure == "" && len(c.steering) == 1 {
		r.Fitness.Measure = strings.Clone(clean(c.steering[0], maxName))
	}
	operators := c.operators.top(MaxOperators, func(p pair) int { return p.fetched })
	niches := c.niches.top(MaxNiches, func(p pair) int { return p.relevant })
	r.Operators = c.operators.yields(operators, c.operators.all())
	r.Niches = c.niches.yields(niches, c.niches.all())
	r.Signals = c.signals.list()
	r.Calibration = c.calibration()
	c.generations(operators, niches)
	c.curve()
	for _, p := range c.pages {
		p.found.Lineage = p.node.lineage()
		r.Pages = append(r.Pages, p.found)
	}
	return r
}

// counts returns a map of counts as a sorted list.
func counts(m map[string]int) []Count {
	var list []Count
	for name, n := range m {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return list
}

// servers returns the hosts with the most relevant pages, and the slowest ones.
func (c *collector) servers() (relevant, slowest []Host) {
	byRelevant := func(a, b Host) int {
		return cmp.Or(cmp.Compare(b.Relevant, a.Relevant), cmp.Compare(b.Fetched, a.Fetched), strings.Compare(a.Name, b.Name))
	}
	bySlowness := func(a, b Host) int {
		return cmp.Or(cmp.Compare(b.MedianMS, a.MedianMS), strings.Compare(a.Name, b.Name))
	}
	for name, h := range c.hosts {
		slices.Sort(h.ms)
		host := Host{Name: name, Fetched: h.fetched, Failed: h.failed, Relevant: h.relevant}
		if n := len(h.ms); n > 0 {
			host.MedianMS = (int(h.ms[(n-1)/2]) + int(h.ms[n/2])) / 2
		}
		relevant = insertHost(relevant, host, byRelevant)
		if host.MedianMS > 0 && len(h.ms) >= 3 {
			slowest = insertHost(slowest, host, bySlowness)
		}
	}
	return relevant, slowest
}

// insertHost inserts a host into a sorted list and returns the first [MaxHosts] of it.
func insertHost(list []Host, host Host, compare func(a, b Host) int) []Host {
	at, _ := slices.BinarySearchFunc(list, host, compare)
	if at == MaxHosts {
		return list
	}
	list = slices.Insert(list, at, host)
	return list[:min(MaxHosts, len(list))]
}

// top returns the ids of the names for which count is highest, and -1 for all others.
func (n *names) top(limit int, count func(pair) int) []int {
	rest, counted := n.ids[Rest]
	ids := slices.DeleteFunc(slices.Collect(maps.Values(n.ids)), func(id int) bool { return counted && id == rest })
	slices.SortFunc(ids, func(a, b int) int {
		p, q := n.total[a], n.total[b]
		return cmp.Or(cmp.Compare(count(q), count(p)), cmp.Compare(q.fetched, p.fetched), strings.Compare(n.words[a], n.words[b]))
	})
	if len(ids) > limit || counted {
		ids = append(ids[:min(limit, len(ids))], -1)
	}
	return ids
}

// all returns the counts of the whole run by id.
func (n *names) all() map[int]pair {
	return maps.Collect(slices.All(n.total))
}

// yields returns the counts of the given ids.
func (n *names) yields(ids []int, in map[int]pair) []Yield {
	var list []Yield
	rest := pair{}
	for _, p := range in {
		rest.add(p)
	}
	for _, id := range ids {
		if id < 0 {
			list = append(list, Yield{Rest, rest.fetched, rest.relevant})
			break
		}
		p := in[id]
		list = append(list, Yield{n.words[id], p.fetched, p.relevant})
		rest.add(pair{-p.fetched, -p.relevant})
	}
	return list
}

// generations merges consecutive generations until there are at most MaxGenerations.
func (c *collector) generations(operators, niches []int) {
	size := (len(c.turns) + MaxGenerations - 1) / MaxGenerations
	for some := range slices.Chunk(c.turns, max(1, size)) {
		g := Generation{First: some[0].number, Last: some[len(some)-1].number}
		brought, lived := map[int]pair{}, map[int]pair{}
		for _, t := range some {
			g.Fetched += t.fetched
			g.Relevant += t.relevant
			c.run.Seconds += t.seconds
			sum(brought, t.operators)
			sum(lived, t.niches)
		}
		g.Operators = c.operators.yields(operators, brought)
		g.Niches = c.niches.yields(niches, lived)
		c.run.Generations = append(c.run.Generations, g)
	}
}

func sum(a, b map[int]pair) {
	for id, q := range b {
		p := a[id]
		p.add(q)
		a[id] = p
	}
}
