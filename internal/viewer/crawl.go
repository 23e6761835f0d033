package viewer

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"spoor/internal/report"
	"spoor/internal/run"
)

// A crawl is what the server has read of a run.
type crawl struct {
	server *Server
	name   string // in addresses
	dir    run.Dir
	feed   feed

	settings cached[*run.Settings]
	topic    cached[string]
	saved    cached[*run.Totals]
	examples cached[map[string]bool]
	judged   cached[judgement]

	mu     sync.Mutex // of all below
	used   time.Time  // when it was last looked at
	looked time.Time
	log    tail
	totals *run.Totals // the sum of the lines of log
	charts report.Progress
	recent []span // the last generations
	state  run.State
	report os.FileInfo // of report.html; nil if there is none
	last   generation  // the last one
	labels judgement   // of judge.json
	failed string      // what could not be read; "" if nothing
	shown  shown       // what view depends on, when it was made
	view   view
}

// A span is the cost and the duration of a generation.
type span struct {
	cost    int
	seconds float64
}

// rateOver is the time over which the rate of a crawl is measured, in seconds.
const rateOver = 60

// maxRecent limits the generations that are remembered for the rate.
const maxRecent = 4096

// shown identifies the state of the files that a view was made from.
type shown struct {
	state    run.State
	changed  time.Time // of the log
	offset   int64     // in the log
	report   time.Time
	pages    int // the limit
	topic    string
	strategy string
	failed   string
	notice   string
	named    string // the file of examples: size and time of the last change
}

// A view is the part of a page that is loaded again when the crawl has changed.
type view struct {
	version string // identifies the content
	html    []byte
	gzip    []byte
}

func newView(html []byte) view {
	sum := sha256.Sum256(html)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(html) // the errors are those of a buffer, which has none
	z.Close()
	return view{hex.EncodeToString(sum[:12]), html, packed.Bytes()}
}

func newCrawl(s *Server, name string, dir run.Dir) *crawl {
	c := &crawl{server: s, name: name, dir: dir}
	c.feed = feed{places: s.places, look: c.event}
	c.forget()
	return c
}

// forget forgets what was read of the log.
func (c *crawl) forget() {
	c.log = tail{name: c.dir.Path(run.LogFile)}
	c.reset()
}

func (c *crawl) reset() {
	c.totals, c.charts, c.recent, c.last = run.NewTotals(), report.Progress{}, nil, generation{}
}

// loadSettings returns the settings of the run.
func (c *crawl) loadSettings() (*run.Settings, error) {
	return c.settings.get(c.dir.Path(run.SettingsFile), c.dir.LoadSettings)
}

// look reads what is new in the files, and makes the view anew if they have changed.
func (c *crawl) look(now time.Time) {
	c.used = now
	if now.Sub(c.looked) < lookEvery/2 {
		return
	}
	c.looked = now
	c.failed = ""
	settings, err := c.loadSettings()
	c.note(run.SettingsFile, err)
	if settings == nil {
		settings = new(run.Settings)
	}
	grown, err := c.log.read(c.reset, c.count)
	c.note(run.LogFile, err)
	state, err := c.dir.State()
	c.note("the files of its state", err)
	c.state = state
	c.report, err = os.Lstat(c.dir.Path(reportFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !c.report.Mode().IsRegular() {
		c.report, err = nil, nil
	}
	c.note(reportFile, err)
	c.labels, err = c.judged.get(c.dir.Path(run.Judged), func() (judgement, error) { return readJudgement(c.dir.Path(run.Judged)) })
	c.note(run.Judged, err)
	if grown && c.totals.Generation > 0 {
		c.last, err = readGeneration(c.dir, c.totals.Generation, settings.Strategy)
		c.note(fmt.Sprintf("the pages of generation %d", c.totals.Generation), err)
	}
	var examples map[string]bool
	if teaches(settings) {
		examples = c.readExamples()
	}
	is := shown{state: c.state, changed: c.log.changed(), offset: c.log.offset, pages: settings.Pages, topic: c.words(), strategy: settings.Strategy, failed: c.failed, notice: c.server.notice(c)}
	if c.report != nil {
		is.report = c.report.ModTime()
	}
	if info := c.examples.info; info != nil {
		is.named = fmt.Sprint(info.Size(), info.ModTime())
	}
	if is == c.shown && c.view.html != nil {
		return
	}
	c.shown = is
	var html bytes.Buffer
	if err := pages.ExecuteTemplate(&html, "live", c.page(settings, examples)); err != nil {
		c.server.log.Warn("a page could not be made", "run", c.dir, "err", err)
		return
	}
	c.view = newView(html.Bytes())
}

// note notes that a file could not be read, for the page. The reason is logged only: it may quote the file,
// which may not be what its name says.
func (c *crawl) note(file string, err error) {
	if err == nil {
		return
	}
	c.failed = file
	c.server.warnOnce("a file could not be read", "run", c.dir, "err", err)
}

// words returns the words of the topic.
func (c *crawl) words() string {
	words, err := c.topic.get(c.dir.Path(run.Topic), func() (string, error) { return readWords(c.dir.Path(run.Topic)) })
	c.note(run.Topic, err)
	return words
}

// count adds a line of the log. Generations that were counted already are skipped: after a crash, a line may
// occur twice until crawl has mended the file.
func (c *crawl) count(line []byte) {
	sum := run.NewSummary(0)
	if err := json.Unmarshal(line, sum); err != nil {
		c.note(run.LogFile, err)
		return
	}
	if sum.Generation <= c.totals.Generation {
		return
	}
	bound(&sum.Cost, &sum.Relevant, &sum.Failed, &sum.Queries, &sum.Estimated, &sum.Estimates, &sum.URLs, &sum.Hosts, &sum.Waiting, &sum.NoFollow)
	for name, y := range sum.Operators {
		bound(&y.Cost, &y.Relevant)
		sum.Operators[name] = y
	}
	if !(sum.Seconds >= 0 && sum.Seconds < maxCount) {
		sum.Seconds = 0
	}
	c.totals.Add(sum)
	g := report.Generation{First: sum.Generation, Last: sum.Generation, Fetched: sum.Cost, Relevant: sum.Relevant}
	for _, name := range slices.Sorted(maps.Keys(sum.Operators)) {
		y := sum.Operators[name]
		g.Operators = append(g.Operators, report.Yield{Name: name, Fetched: y.Cost, Relevant: y.Relevant})
	}
	if sum.Queries > 0 {
		queries := sum.Cost
		for _, y := range sum.Operators {
			queries -= y.Cost
		}
		g.Operators = append(g.Operators, report.Yield{Name: "queries", Fetched: max(0, queries)})
	}
	c.charts.Add(&g)
	c.recent = append(c.recent, span{sum.Cost, float64(sum.Seconds)})
	for first := c.recent[1:]; len(first) > 0 && (seconds(first) >= rateOver || len(first) > maxRecent); first = first[1:] {
		c.recent = first
	}
}

// maxCount is the maximum of the counts of a generation: their sums do not overflow.
const maxCount = 1 << 40

// bound sets counts that no crawl has to the nearest one that it may have.
func bound(counts ...*int) {
	for _, n := range counts {
		*n = min(max(0, *n), maxCount)
	}
}

func seconds(list []span) (s float64) {
	for i := range list {
		s += list[i].seconds
	}
	return s
}

// event returns the event for the present state of the run.
func (c *crawl) event() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.look(now)
	return newEvent(c.view.version, c.numbers(now))
}

// newEvent returns a server-sent event. Its data are a JSON object, which has no line breaks.
func newEvent(version string, numbers any) []byte {
	b, err := json.Marshal(struct {
		Version string `json:"version"`
		Numbers any    `json:"numbers"`
	}{version, numbers})
	if err != nil {
		return nil
	}
	return slices.Concat([]byte("data: "), b, []byte("\n\n"))
}

// Numbers are the numbers at the top of a page, as text. Their keys are the values of the attribute data-number
// in pages.tmpl.
type numbers struct {
	State      string `json:"state"` // running, stopping, ended or idle
	Doing      string `json:"doing"` // a sentence about the state
	Status     string `json:"status"`
	Fetched    string `json:"fetched"`
	Of         string `json:"of"`
	Relevant   string `json:"relevant"`
	Harvest    string `json:"harvest"`
	Rate       string `json:"rate"`
	Over       string `json:"over"`
	Waiting    string `json:"waiting"`
	Known      string `json:"known"`
	Generation string `json:"generation"`
	Since      string `json:"since"`
	Failed     string `json:"failed"`
	FailedOf   string `json:"failed-of"`
	Hosts      string `json:"hosts"`
	Estimate   string `json:"estimate,omitempty"`
	Judged     string `json:"judged,omitempty"`
	JudgedOf   string `json:"judged-of,omitempty"`
}

// State words of pages.
const (
	running  = "running"
	stopping = "stopping"
	ended    = "ended"
	idle     = "idle" // it was killed, or has not begun
)

func stateOf(s run.State) string {
	switch {
	case s.Stopping:
		return stopping
	case s.Running:
		return running
	case s.Reason != "":
		return ended
	}
	return idle
}

// doing says what a crawl does at the time now, or why it has ended.
func doing(s run.State, now time.Time) string {
	switch stateOf(s) {
	case stopping:
		return "It ends after this generation."
	case ended:
		return report.Ended(s.Reason)
	case idle:
		return "It is not running: it was killed, it has failed with a message where it was started, or it has not begun."
	}
	if s.Until.After(now) {
		return "It waits until " + stamp(s.Until) + ", when the next address is due."
	}
	if words, ok := steps[s.Step]; ok {
		return "It is " + words + "."
	}
	return "It is running."
}

// steps describes the steps of a crawl.
var steps = map[string]string{
	"steady": "fetching", "visit": "fetching", "read": "fetching the seeds, to learn the topic", "learn": "learning the topic",
	"score": "scoring the pages of the seeds", "grow": "expanding the topic", "evolve": "choosing what is next", "search": "searching",
}

// numbers returns the numbers at the time now.
func (c *crawl) numbers(now time.Time) numbers {
	t, last := c.totals, c.totals.Last
	n := numbers{
		State: stateOf(c.state), Doing: doing(c.state, now),
		Fetched: report.Number(t.Fetched), Relevant: report.Number(t.Relevant), Failed: report.Number(t.Failed),
		Waiting: report.Number(last.Waiting), Known: "of " + report.Plural(last.URLs, "known address", "known addresses"),
		Hosts: report.Number(last.Hosts), Generation: report.Number(t.Generation),
		Harvest:  report.Share(t.Relevant, t.Fetched) + " by the score of the crawl itself, now " + report.Share(last.Relevant, last.Cost),
		FailedOf: report.Share(t.Failed, t.Fetched) + " of what was fetched",
	}
	if c.shown.pages > 0 && c.shown.pages < endless {
		n.Of = "of " + report.Number(c.shown.pages) + ", " + report.Share(t.Fetched, c.shown.pages)
	}
	if t.Estimated > 0 {
		n.Estimate = fmt.Sprintf("%.2f", float64(t.Estimates)/10_000/float64(t.Estimated))
	}
	n.Judged, n.JudgedOf = c.labels.words(t.Fetched)
	n.Status = fmt.Sprintf("%s %s fetched, %s relevant, in %s.", n.Doing, report.Plural(t.Fetched, "page", "pages"), n.Relevant, report.Plural(t.Generation, "generation", "generations"))
	if !c.state.Running {
		n.Rate, n.Over = report.PerSecond(t.Fetched, t.Seconds), "pages a second, on average"
		if !c.log.changed().IsZero() {
			n.Since = "until " + stamp(c.log.changed())
		}
		return n
	}
	pages, over := 0, 0.0
	if !c.log.changed().IsZero() { // of the last generation
		over = max(0, now.Sub(c.log.changed()).Seconds())
		n.Since = "ended " + ago(over)
	}
	for _, s := range slices.Backward(c.recent) {
		if over >= rateOver {
			break
		}
		pages, over = pages+s.cost, over+s.seconds
	}
	n.Rate, n.Over = report.PerSecond(pages, over), "pages a second, in the last minute"
	return n
}

// ago says how long ago something was.
func ago(seconds float64) string {
	if seconds < 120 {
		return strconv.Itoa(int(seconds)) + " s ago"
	}
	return report.Duration(seconds) + " ago"
}

// endless is the number of pages that crawl -per-day has as its limit: none.
const endless = 1_000_000_000

// maxTopic is the maximum size of a topic file of which the words are shown, in bytes.
const maxTopic = 64 << 20

// readWords returns the words of the topic in a file, "" if there is none.
func readWords(name string) (string, error) {
	b, err := readFile(name, maxTopic)
	if err != nil || b == nil {
		return "", err
	}
	var topic struct {
		Query    string
		Keywords []struct{ Text string }
	}
	if err := json.Unmarshal(b, &topic); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if topic.Query == "" {
		var words []string
		for _, k := range topic.Keywords[:min(len(topic.Keywords), 20)] {
			words = append(words, k.Text)
		}
		topic.Query = strings.Join(words, ", ")
	}
	return report.Text(topic.Query, 200), nil
}

// A tallied is a number of addresses with an outcome.
type tallied struct {
	Name, Meaning string
	N             int
}

// tally returns counts by outcome, the highest first.
func tally(counts map[string]int) (list []tallied) {
	for name, n := range counts {
		if n > 0 {
			list = append(list, tallied{report.Text(name, 60), run.Outcome(name), n})
		}
	}
	slices.SortFunc(list, func(a, b tallied) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return list
}

// tallies are a table of counts.
type tallies struct {
	Caption string
	List    []tallied
	Most    int
}

func newTallies(caption string, list []tallied) tallies {
	t := tallies{Caption: caption, List: list}
	for i := range list {
		t.Most = max(t.Most, list[i].N)
	}
	return t
}
