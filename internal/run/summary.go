package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"spoor/internal/atomicfile"
	"spoor/internal/frontier"
	"spoor/internal/robots"
	"spoor/internal/terminal"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A Summary counts the records of one generation, or of one run of frontier add, and what
// the store holds after it. The same records give the same counts.
type Summary struct {
	Generation   int              `json:"generation"`              // given by the caller, or the highest in an outcome if that is higher
	Outcomes     int              `json:"outcomes"`                // records with status_code or error
	Cost         int              `json:"cost"`                    // outcomes that cost a fetch, and the cost of queries
	Queries      int              `json:"queries"`                 // answered queries
	Failed       int              `json:"failed"`                  // outcomes that cost a fetch and gave no page: errors, and statuses other than 2xx
	NeedsBrowser int              `json:"needs_browser,omitempty"` // outcomes with needs_browser, which parse sets
	PDF          int              `json:"pdf,omitempty"`           // outcomes of type application/pdf
	NoFollow     int              `json:"nofollow,omitempty"`      // outcomes that forbid to follow their links
	Relevant     int              `json:"relevant"`                // outcomes that score marks as relevant
	Unjudged     int              `json:"unjudged,omitempty"`      // pages without the field relevant, which score sets
	Estimated    int              `json:"estimated,omitempty"`     // pages whose relevance the strategy itself has estimated
	Estimates    int              `json:"estimates,omitempty"`     // the sum of these estimates, in ten-thousandths
	Errors       map[string]int   `json:"errors"`                  // outcomes with error, by error
	Operators    map[string]Yield `json:"operators"`               // outcomes by the operator that chose them
	Addresses    int              `json:"addresses"`               // records that propose an address
	Refused      int              `json:"refused,omitempty"`       // records whose address is invalid; only of frontier add
	FirstRefused string           `json:"first_refused,omitempty"` // address of the first of these, and why it is invalid
	URLs         int              `json:"urls"`                    // URLs in the store
	Hosts        int              `json:"hosts"`                   // hosts with a fetched page
	Waiting      int              `json:"waiting"`                 // URLs in the store that wait to be leased
	Skipped      map[string]int   `json:"skipped,omitempty"`       // URLs in the store that are not fetched, by reason
	Growth       *topic.Growth    `json:"growth,omitempty"`        // of the topic's table since the crawl began, if pages of the generation could make it grow
	Visited      int              `json:"visited,omitempty"`       // visited pages in the store, if Keep is set
	Day          string           `json:"day,omitempty"`           // day in UTC, if the crawl has a budget per day
	Seconds      seconds          `json:"seconds,omitempty"`

	strategy string // its estimates are counted
}

// A Yield counts the outcomes of the addresses that an operator chose.
type Yield struct {
	Cost     int `json:"cost"`
	Relevant int `json:"relevant"`
}

// seconds is a duration, written with six decimals.
type seconds float64

func (s seconds) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%.6f", float64(s)), nil }

// NewSummary returns an empty summary of a generation.
func NewSummary(generation int) *Summary {
	return &Summary{Generation: generation, Errors: map[string]int{}, Operators: map[string]Yield{}}
}

// newSummary is like [NewSummary], but also counts the estimates of a strategy.
func newSummary(generation int, strategy string) *Summary {
	s := NewSummary(generation)
	s.strategy = strategy
	return s
}

// meanEstimate returns the mean of n estimates with three decimals, given their sum in ten-thousandths.
func meanEstimate(sum, n int) string {
	if n == 0 {
		return "–"
	}
	return ratio(sum, 10_000*n)
}

func (c *Crawl) newSummary(generation int) *Summary {
	return newSummary(generation, c.Settings.Strategy)
}

// Count adds a record.
func (s *Summary) Count(rec *wire.Record) {
	switch {
	case rec.URL == "":
		if later := s.Generation > 0 && rec.Generation > s.Generation; rec.Cost > 0 && !later {
			s.Queries++
			s.Cost += rec.Cost
		}
		return
	case !rec.IsOutcome():
		s.Addresses++
		return
	}
	s.Generation = max(s.Generation, rec.Generation)
	s.Outcomes++
	if rec.Error != "" {
		s.Errors[kind(s.Errors, rec.Error)]++
	}
	operator := kind(s.Operators, rec.Operator)
	by := s.Operators[operator]
	if !rec.Free() {
		s.Cost++
		by.Cost++
		if rec.Error != "" || rec.StatusCode/100 != 2 {
			s.Failed++
		} else if rec.Relevant.Kind != wire.Present {
			s.Unjudged++
		}
	}
	if rec.NeedsBrowser == wire.True {
		s.NeedsBrowser++
	}
	if strings.HasPrefix(rec.ContentType, pdf) {
		s.PDF++
	}
	if robots.Meta("", "robots", rec.RobotsMeta).NoFollow {
		s.NoFollow++
	}
	if rec.Relevant == wire.True {
		s.Relevant++
		by.Relevant++
	}
	if v, ok := rec.ScoreOf(s.strategy); ok && s.strategy != "" {
		s.Estimated++
		s.Estimates += int(math.Round(1e4 * max(0, min(v, 1))))
	}
	s.Operators[operator] = by
}

// Refuse counts a record, which Count has counted too, whose address the store has refused because of err.
func (s *Summary) Refuse(url string, err error) {
	if s.Refused++; s.Refused > 1 {
		return
	}
	const longest = 200 // in bytes
	if len(url) > longest {
		url = strings.ToValidUTF8(url[:longest], "") + "…"
	}
	s.FirstRefused = fmt.Sprintf("%s: %v", url, err)
}

// refusedSeeds returns a line about seeds that the frontier has refused, "" if there are none. s is the
// summary of the seeds.
func (s *Summary) refusedSeeds() string {
	if s.Refused == 0 {
		return ""
	}
	were, first := "was", ""
	if s.Refused > 1 {
		were, first = "were", "the first is "
	}
	return fmt.Sprintf("%d of %d seeds %s refused: %s%s", s.Refused, s.Addresses+s.Outcomes, were, first, terminal.Line(s.FirstRefused))
}

const pdf = "application/pdf"

// Limits of the words by which records are counted; more and longer ones are counted as otherKind.
const (
	maxKinds      = 256
	maxKindLength = 256 // in bytes
	otherKind     = "other"
)

// kind returns the key of counts by which a record with this word is counted: a copy, because the record
// will be read into again.
func kind[V any](counts map[string]V, word string) string {
	if _, ok := counts[word]; !ok && (len(word) > maxKindLength || len(counts) >= maxKinds) {
		return otherKind
	}
	return strings.Clone(word)
}

// SetStore sets the counts of the store.
func (s *Summary) SetStore(store frontier.Counts) {
	s.URLs, s.Hosts, s.Waiting = store.URLs, store.HostsVisited, store.Waiting
	s.Skipped = map[string]int{}
	s.addSkipped(store.Reasons)
}

// addSkipped adds counts by reason.
func (s *Summary) addSkipped(reasons map[string]int) {
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		word, _, _ := strings.Cut(reason, " ") // without the depth of scope_depth
		s.Skipped[kind(s.Skipped, word)] += reasons[reason]
	}
}

// setGrowth sets the growth that the topic file of the generation holds, if the generation has one.
func (s *Summary) setGrowth(file string) error {
	b, err := readSmall(file)
	if b == nil || err != nil {
		return err
	}
	var t struct{ Growth *topic.Growth }
	if err := json.Unmarshal(b, &t); err != nil {
		return fmt.Errorf("topic file %s: %w", file, err)
	}
	s.Growth = t.Growth
	return nil
}

// Line returns the summary as a line of JSON.
func (s *Summary) Line() ([]byte, error) {
	b, err := json.Marshal(s)
	return append(b, '\n'), err
}

// Totals is the sum of the summaries of all committed generations.
type Totals struct {
	Generation   int              `json:"generation"` // the last generation
	Fetched      int              `json:"fetched"`    // cost of all generations
	Failed       int              `json:"failed"`
	Relevant     int              `json:"relevant"`
	Unjudged     int              `json:"unjudged,omitempty"`
	Estimated    int              `json:"estimated,omitempty"`
	Estimates    int              `json:"estimates,omitempty"`
	NeedsBrowser int              `json:"needs_browser,omitempty"`
	PDF          int              `json:"pdf,omitempty"`
	NoFollow     int              `json:"nofollow,omitempty"`
	Seconds      float64          `json:"seconds"`
	Growth       *topic.Growth    `json:"growth,omitempty"` // the last one
	Errors       map[string]int   `json:"errors"`
	Operators    map[string]Yield `json:"operators"`
	Harvests     []int            `json:"harvests"`        // harvest rates of the last generations with a cost, or their mean estimates, in thousandths
	Empty        int              `json:"empty"`           // number of generations without outcomes at the end
	Today        int              `json:"today,omitempty"` // cost of the generations on the day of the last generation
	Last         *Summary         `json:"last"`

	HandOverFailed bool `json:"hand_over_failed,omitempty"` // the user was told that the command of -warc-done has failed
}

// maxHarvests is how many harvests are kept: the width of the curve on a terminal.
const maxHarvests = 32

// NewTotals returns the totals of no generation.
func NewTotals() *Totals {
	return &Totals{Errors: map[string]int{}, Operators: map[string]Yield{}, Last: NewSummary(0)}
}

// Add adds the summary of the next generation.
func (t *Totals) Add(s *Summary) {
	t.Generation = s.Generation
	t.Fetched += s.Cost
	if s.Day != t.Last.Day {
		t.Today = 0
	}
	if s.Day != "" {
		t.Today += s.Cost
	}
	t.Failed += s.Failed
	t.Relevant += s.Relevant
	t.Unjudged += s.Unjudged
	t.Estimated += s.Estimated
	t.Estimates += s.Estimates
	t.NeedsBrowser += s.NeedsBrowser
	t.PDF += s.PDF
	t.NoFollow += s.NoFollow
	t.Seconds += float64(s.Seconds)
	t.Growth = cmp.Or(s.Growth, t.Growth)
	for _, word := range slices.Sorted(maps.Keys(s.Errors)) {
		t.Errors[kind(t.Errors, word)] += s.Errors[word]
	}
	for _, word := range slices.Sorted(maps.Keys(s.Operators)) {
		y, operator := s.Operators[word], kind(t.Operators, word)
		sum := t.Operators[operator]
		t.Operators[operator] = Yield{sum.Cost + y.Cost, sum.Relevant + y.Relevant}
	}
	switch {
	case s.Estimated > 0:
		if t.Estimated == s.Estimated { // the first estimates
			t.Harvests = nil
		}
		t.Harvests = append(t.Harvests, s.Estimates/(10*s.Estimated))
	case s.Cost > 0 && t.Estimated == 0:
		t.Harvests = append(t.Harvests, min(1000, 1000*s.Relevant/s.Cost))
	}
	if len(t.Harvests) > maxHarvests {
		t.Harvests = t.Harvests[max(0, len(t.Harvests)-maxHarvests):]
	}
	if s.Outcomes > 0 {
		t.Empty = 0
	} else {
		t.Empty++
	}
	t.Last = s
}

// with returns the totals as if the generation being fetched were committed.
func (t *Totals) with(s *Summary) *Totals {
	sum := *t
	sum.Errors, sum.Operators = maps.Clone(t.Errors), maps.Clone(t.Operators)
	sum.Harvests = slices.Clone(t.Harvests)
	sum.Add(s)
	return &sum
}

// exhausted reports whether the crawl has no addresses left.
func (t *Totals) exhausted() bool { return exhausted(t.Empty, t.Last) }

// MostEmpty is the number of generations without outcomes in a row after which a crawl ends at the
// latest, even if the strategy goes on proposing addresses.
const MostEmpty = 4

// exhausted reports whether a crawl has no addresses left, given the number of generations without
// outcomes at its end: in the first of them the strategy proposed no address, or later no address waits.
func exhausted(empty int, last *Summary) bool {
	return empty == 1 && last.Addresses == 0 || empty > 1 && last.Waiting == 0 || empty >= MostEmpty
}

// LoadTotals returns the totals of the committed generations. If totals.json does not agree with
// the summaries, it rewrites that file and log.ndjson. The caller must hold the lock of the run.
func (d Dir) LoadTotals() (*Totals, error) {
	t, log, err := d.readTotals()
	if err != nil || log == nil {
		return t, err
	}
	if err := atomicfile.WriteBytes(d.Path(LogFile), log); err != nil {
		return nil, err
	}
	return t, t.save(d)
}

// readTotals returns the totals of the committed generations, from totals.json. If that file does not
// agree with the summaries, it computes the totals from the summaries, and also returns the content
// that log.ndjson should have; otherwise log is nil.
func (d Dir) readTotals() (_ *Totals, log []byte, err error) {
	if b, err := readSmall(d.Path(totalsFile)); err == nil && b != nil {
		t := NewTotals()
		if json.Unmarshal(b, t) == nil && t.Last != nil && !exists(d.File(t.Generation+1, Stats)) && (t.Generation == 0 || exists(d.File(t.Generation, Stats))) {
			return t, nil, nil
		}
	}
	t := NewTotals()
	log = []byte{}
	for {
		name := d.File(t.Generation+1, Stats)
		b, err := readSmall(name)
		if err != nil {
			return nil, nil, err
		}
		if b == nil {
			break
		}
		s := NewSummary(t.Generation + 1)
		if err := json.Unmarshal(b, s); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		s.Generation = t.Generation + 1
		t.Add(s)
		log = append(log, b...)
	}
	return t, log, nil
}

// SavedTotals returns the content of totals.json, nil if that file does not exist. Other than
// [Dirs.Totals] it reads no summary, so it may lack a generation that is being committed.
func (d Dir) SavedTotals() (*Totals, error) {
	b, err := readSmall(d.Path(totalsFile))
	if b == nil || err != nil {
		return nil, err
	}
	t := NewTotals()
	if err := json.Unmarshal(b, t); err != nil || t.Last == nil {
		return nil, fmt.Errorf("%s is not a file of totals: %v", d.Path(totalsFile), err)
	}
	return t, nil
}

func (t *Totals) save(d Dir) error {
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(d.Path(totalsFile), append(b, '\n'))
}

// Totals returns the totals of the crawl. If the crawl ran on several nodes, Last is the summary of the
// last generation of one partition, but its counts of the stores (URLs, Hosts, Waiting) are sums over
// all partitions, and so is Growth. Totals changes no file, so the crawl may be running.
func (ds Dirs) Totals() (*Totals, error) {
	if len(ds) == 1 && !ds[0].IsNode() {
		t, _, err := ds[0].readTotals()
		return t, err
	}
	list, _, err := ds.List()
	if err != nil {
		return nil, err
	}
	t, last, growth := NewTotals(), map[int]*Summary{}, map[int]*topic.Growth{}
	for i := range list {
		g := &list[i]
		b, err := readSmall(g.Stats)
		if err != nil {
			return nil, err
		}
		if b == nil {
			continue // the generation is not committed
		}
		s := NewSummary(g.Number)
		if err := json.Unmarshal(b, s); err != nil {
			return nil, fmt.Errorf("%s: %w", g.Stats, err)
		}
		s.Generation = g.Number
		t.Add(s)
		last[g.Partition], growth[g.Partition] = s, cmp.Or(s.Growth, growth[g.Partition])
	}
	t.Growth = nil
	for _, p := range slices.Sorted(maps.Keys(growth)) { // each partition has its own table
		t.Growth = addGrowth(t.Growth, growth[p])
	}
	sum := *t.Last
	sum.URLs, sum.Hosts, sum.Waiting, sum.Skipped = 0, 0, 0, map[string]int{}
	for _, s := range last {
		sum.URLs += s.URLs
		sum.Hosts += s.Hosts
		sum.Waiting += s.Waiting
		sum.addSkipped(s.Skipped)
	}
	t.Last = &sum
	return t, nil
}

// addGrowth returns the sum of two growths, which may be nil, with the limit of b.
func addGrowth(a, b *topic.Growth) *topic.Growth {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &topic.Growth{Limit: b.Limit, Pages: a.Pages + b.Pages, Known: a.Known + b.Known, Words: a.Words + b.Words}
}
