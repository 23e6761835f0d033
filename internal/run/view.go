package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"spoor/internal/archive"
	"spoor/internal/terminal"
)

// A View shows a crawl to the person who runs it: on a terminal as a block that is redrawn in
// place, otherwise as a line for each generation.
type View struct {
	Out    io.Writer // for messages
	Screen io.Writer // the same terminal, which can be drawn on; nil if there is none
	ASCII  bool      // draw with ASCII characters only
	Quiet  bool      // show only warnings and errors; Screen is nil

	name    string // name of the run
	waiting time.Time
}

const blockLines = 7

func (v *View) begin(c *Crawl) { v.name = c.Dir.String() }

// Say writes a message. On a terminal it replaces the block.
func (v *View) Say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text == "" {
		return
	}
	v.Clear()
	for line := range strings.Lines(text) {
		fmt.Fprintf(v.Out, "crawl: %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// Note writes a message that is no warning, unless the view is quiet.
func (v *View) Note(format string, args ...any) {
	if !v.Quiet {
		v.Say(format, args...)
	}
}

// Clear erases the block, which is below the cursor.
func (v *View) Clear() {
	if v.Screen != nil {
		io.WriteString(v.Screen, "\x1b[J")
	}
}

// Step draws the block at the beginning of a step, before any record arrives. [Crawl.Keep] draws
// it during a visit and for the step after it, with the counts of the pages.
func (v *View) Step(c *Crawl, step string) {
	switch step {
	case stepRead:
		v.draw(c.Totals, c.Totals.Generation+1, "fetching the seeds", c)
	case stepVisit, stepSteady:
		v.draw(c.Totals, c.Totals.Generation+1, "fetching", c)
	}
}

// Progress draws the block during a generation; sum is the summary of the generation so far.
func (v *View) Progress(c *Crawl, what string, sum *Summary) {
	last := c.Totals.Last // the store is not counted meanwhile
	sum.Hosts, sum.Waiting, sum.Skipped = last.Hosts, last.Waiting, last.Skipped
	v.draw(c.Totals.with(sum), sum.Generation, what, c)
}

// Generation shows a generation that has just been committed.
func (v *View) Generation(c *Crawl) {
	t := c.Totals
	if v.Screen != nil {
		v.draw(t, t.Generation, "all done", c)
	}
	if v.Screen != nil || v.Quiet {
		return
	}
	opinion := fmt.Sprintf("relevant %6d  self-harvest %s (now %s)", t.Relevant, ratio(t.Relevant, t.Fetched), ratio(t.Last.Relevant, t.Last.Cost))
	if c.estimates(t) {
		opinion = fmt.Sprintf("estimate %s (now %s)", meanEstimate(t.Estimates, t.Estimated), meanEstimate(t.Last.Estimates, t.Last.Estimated))
	}
	fmt.Fprintf(v.Out, "crawl: generation %4d  fetched %6d  failed %4d  %s  hosts %4d  waiting %7d  %6s pages/s\n",
		t.Generation, t.Fetched, t.Failed, opinion, t.Last.Hosts, t.Last.Waiting, perSecond(t.Last.Cost, float64(t.Last.Seconds)))
}

// Waiting shows when the next address is due, and the errors so far: if no seed can be reached, they
// are the only explanation why the crawl waits.
func (v *View) Waiting(until time.Time, t *Totals) {
	text := "nothing is due before " + until.UTC().Format(time.RFC3339) + "; waiting"
	if errors := t.errorCounts(); errors != "" && v.Screen == nil { // the block shows the errors
		text += " (errors so far: " + errors + ")"
	}
	switch {
	case v.Screen != nil:
		fmt.Fprintf(v.Screen, "\x1b[?7l%s\x1b[K\x1b[?7h\r", text)
	case !until.Equal(v.waiting):
		v.Note("%s", text)
	}
	v.waiting = until
}

// Final draws the block for the last time: later output appears below it.
func (v *View) Final(c *Crawl, what string) {
	if v.Screen != nil {
		io.WriteString(v.Screen, v.block(c.Totals, c.Totals.Generation, what, c))
	}
}

// draw draws the block and moves the cursor back to its beginning, so that the next process that
// draws overwrites it.
func (v *View) draw(t *Totals, generation int, what string, c *Crawl) {
	if v.Screen != nil {
		fmt.Fprintf(v.Screen, "%s\r\x1b[%dA", v.block(t, generation, what, c), blockLines)
	}
}

// block returns the lines of the block. The terminal cuts long ones instead of wrapping them.
func (v *View) block(t *Totals, generation int, what string, c *Crawl) string {
	full, blank, steps := "█", "░", []rune("▁▂▃▄▅▆▇█")
	if v.ASCII {
		full, blank, steps = "#", ".", []rune("_.-:=+*#")
	}
	const width = 24
	done := min(width, width*t.Fetched/max(1, c.Settings.Pages))
	var curve strings.Builder
	for _, h := range t.Harvests {
		curve.WriteString(string(steps[h*(len(steps)-1)/1000]))
	}
	errors := t.errorCounts()
	if errors != "" {
		errors = "errors: " + errors
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\x1b[?7l\x1b[1mgeneration %d\x1b[m  %s  \x1b[2m%s  %s\x1b[m\x1b[K\n", generation, what, terminal.Line(c.strategy()), terminal.Line(v.name))
	row := func(name string, value any, words string) {
		fmt.Fprintf(&b, "  \x1b[2m%-8s\x1b[m %8v  %s\x1b[K\n", name, value, words)
	}
	row("fetched", t.Fetched, fmt.Sprintf("%s%s %d %% of %d", strings.Repeat(full, done), strings.Repeat(blank, width-done), 100*t.Fetched/max(1, c.Settings.Pages), c.Settings.Pages))
	if c.estimates(t) {
		row("estimate", meanEstimate(t.Estimates, t.Estimated), fmt.Sprintf("of relevance, mean; now %s  %s", meanEstimate(t.Last.Estimates, t.Last.Estimated), curve.String()))
	} else {
		row("relevant", t.Relevant, fmt.Sprintf("self-harvest %s, now %s  %s", ratio(t.Relevant, t.Fetched), ratio(t.Last.Relevant, t.Last.Cost), curve.String()))
	}
	row("pages/s", perSecond(t.Fetched, t.Seconds), "now "+perSecond(t.Last.Cost, float64(t.Last.Seconds)))
	row("waiting", t.Last.Waiting, fmt.Sprintf("hosts %d", t.Last.Hosts))
	row("failed", t.Failed, errors)
	skipped := 0
	for _, n := range t.Last.Skipped {
		skipped += n
	}
	row("skipped", skipped, reasonCounts(t.Last.Skipped))
	b.WriteString("\x1b[J\x1b[?7h")
	return b.String()
}

func (t *Totals) errorCounts() string { return reasonCounts(t.Errors) }

// reasonCounts returns counts in one line, such as "connect 1, timeout 2".
func reasonCounts(counts map[string]int) string {
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%s %d", terminal.Line(errorWord(kind)), counts[kind]))
	}
	return strings.Join(words, ", ")
}

// errorWord returns the name of an error on the terminal. The error "budget" is not a failure: fetch
// returned the address without trying it.
func errorWord(kind string) string {
	if kind == "budget" {
		return "put back"
	}
	return kind
}

// ratio returns a/b with three decimals.
func ratio(a, b int) string {
	if b == 0 {
		return "0.000"
	}
	thousandths := (1000*a + b/2) / b
	return fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000)
}

func perSecond(n int, s float64) string {
	if s <= 0 {
		return "0.0"
	}
	return fmt.Sprintf("%.1f", float64(n)/s)
}

// plural returns a number with its noun: 1 page, 2 pages.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// strategy returns the name of the strategy, marked if it is one of the user.
func (c *Crawl) strategy() string {
	switch name := c.Settings.Strategy; {
	case !slices.Contains(c.Settings.Replaced, "evolve"):
		return name
	case name == ownStrategy, name == "forage": // the default, which is also the name in runs of earlier versions
		return ownStrategy
	default:
		return name + " (own)"
	}
}

// text returns two or three lines about the whole crawl.
func (c *Crawl) text() string {
	t, score, unfollowed := c.Totals, "their score", ""
	if stage := c.Stages.find("score"); stage != nil && !stage.Own {
		score = "the score of your stage"
	} else if c.measure != "" {
		score += ", " + c.measure
	}
	if c.estimates(t) {
		return fmt.Sprintf("%s fetched, %d of them failed, %s in %s\n%s estimates the relevance of a page at %s in the mean: this orders pages, and is no share of them\n%d of these pages are relevant by %s (self-harvest %s), which did not steer",
			plural(t.Fetched, "page"), t.Failed, plural(t.Generation, "generation"), c.Dir, c.Settings.Strategy, meanEstimate(t.Estimates, t.Estimated), t.Relevant, score, ratio(t.Relevant, t.Fetched))
	}
	if c.unscored {
		unfollowed = fmt.Sprintf("; the strategy %s does not go by them, and the true number may be far from it", c.Settings.Strategy)
	}
	return fmt.Sprintf("%s fetched, %d of them failed, %s in %s\n%d of these pages are relevant by %s (self-harvest %s)%s",
		plural(t.Fetched, "page"), t.Failed, plural(t.Generation, "generation"), c.Dir, t.Relevant, score, ratio(t.Relevant, t.Fetched), unfollowed)
}

// estimates reports whether the strategy itself has estimated the pages, and no score steers it.
func (c *Crawl) estimates(t *Totals) bool { return c.unscored && t.Estimated > 0 }

// unjudged returns a warning about n pages that the user's stage score did not judge; "" if n is 0.
func (c *Crawl) unjudged(n int) string {
	if score := c.Stages.find("score"); n == 0 || score == nil || score.Own {
		return ""
	}
	return fmt.Sprintf("%d of the %d pages fetched do not have the field relevant, and count as not relevant\nhint: append to the stage score: | %s -topic \"$SPOOR_TOPIC\" -keep", n, c.Totals.Fetched, c.Prefix.Quote("score"))
}

// unreadPDF returns a line about the PDF files that could not be read without -convert, if there are any.
func (c *Crawl) unreadPDF() string {
	converts := func(s string) bool {
		list, _, _ := strings.Cut(s, "=")
		types, err := archive.ParseMediaTypes(list)
		return err == nil && archive.TakesMediaType(types, pdf)
	}
	if parse := c.Stages.find("parse"); c.Totals.PDF == 0 || parse == nil || !parse.Own || slices.ContainsFunc(c.Settings.Convert, converts) {
		return ""
	}
	return fmt.Sprintf("%d PDF files were not read\nhint: a new crawl reads them with -convert 'application/pdf=pdftotext -q - -'", c.Totals.PDF)
}

// outsideText returns a line about n links out of the archives, "" if n is 0.
func outsideText(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 link of these pages leads to a page that the archives do not hold"
	}
	return fmt.Sprintf("%d links of these pages lead to pages that the archives do not hold", n)
}

// limitHint returns a hint how to continue a crawl that has reached its limits, which the run keeps.
func (c *Crawl) limitHint() string {
	s, t, flags := c.Settings, c.Totals, ""
	if t.Fetched >= s.Pages {
		flags += fmt.Sprintf(" -pages %d", 2*s.Pages)
	}
	if s.Generations > 0 && t.Generation >= s.Generations {
		flags += " -generations 0"
	}
	relevant := ""
	if s.Relevant > 0 {
		relevant = fmt.Sprintf(" and -relevant %d", s.Relevant)
		if t.Relevant >= s.Relevant {
			flags += " -relevant 0"
		}
	}
	return fmt.Sprintf("hint: the run keeps -pages %d and -generations %d%s (0 is no limit); %scrawl -run %s%s continues it", s.Pages, s.Generations, relevant, c.Prefix, Quote(string(c.Dir)), flags)
}

// byOperator returns a line with the numbers of pages of each operator, the largest first, and the
// cost of the queries.
func (t *Totals) byOperator() string {
	if len(t.Operators) == 0 {
		return ""
	}
	operators := slices.SortedFunc(maps.Keys(t.Operators), func(a, b string) int {
		return cmp.Or(t.Operators[b].Cost-t.Operators[a].Cost, cmp.Compare(a, b))
	})
	var words []string
	queries := t.Fetched
	for _, operator := range operators {
		y := t.Operators[operator]
		words = append(words, fmt.Sprintf("%s %d, %d relevant", cmp.Or(operator, "unknown"), y.Cost, y.Relevant))
		queries -= y.Cost
	}
	if queries > 0 {
		words = append(words, fmt.Sprintf("queries cost %d", queries))
	}
	return "by operator: " + strings.Join(words, "; ")
}

// growth returns a line about the words that pages have added to the weight table, "" if the topic is not
// expanded.
func (c *Crawl) growth() string {
	expands := slices.ContainsFunc(c.Stages, func(s Stage) bool { return strings.Contains(s.Command, " -expand ") })
	switch g := c.Totals.Growth; {
	case g != nil:
		return fmt.Sprintf("the weight table grew by %s: %s scored %.4g or more, and the best word of %d was in the table already", plural(g.Words, "word"), plural(g.Pages, "page"), g.Limit, g.Known)
	case expands:
		return "the weight table did not grow: no page scored as high as topic -expand requires"
	}
	return ""
}

// notFetched returns a line for each group of reasons why addresses that are known, or that pages link to,
// were not fetched.
func (c *Crawl) notFetched() string {
	t := c.Totals
	var b strings.Builder
	reasons := slices.SortedFunc(maps.Keys(t.Last.Skipped), func(a, b string) int {
		return cmp.Or(t.Last.Skipped[b]-t.Last.Skipped[a], cmp.Compare(a, b))
	})
	all, words := 0, []string{}
	for _, reason := range reasons {
		n := t.Last.Skipped[reason]
		all += n
		what := outcomes[reason]
		if what == "" {
			what = "with this error or status at every attempt"
		}
		words = append(words, fmt.Sprintf("%d %s (%s)", n, what, terminal.Line(reason)))
	}
	store := Quote(c.Dir.Path("frontier"))
	if all > 0 {
		known := "1 known address was"
		if all > 1 {
			known = fmt.Sprintf("%d known addresses were", all)
		}
		if t.Last.Waiting > 0 {
			fmt.Fprintf(&b, "%d addresses are still waiting, and ", t.Last.Waiting)
		}
		fmt.Fprintf(&b, "%s not fetched: %s\n%sfrontier skipped -store %s lists them\n", known, strings.Join(words, ", "), c.Prefix, store)
	}
	if t.NoFollow > 0 {
		fmt.Fprintf(&b, "the links on %d pages were not followed, because the pages say nofollow: %sfrontier export -store %s | grep '\"robots_meta\"' lists the pages\n", t.NoFollow, c.Prefix, store)
	}
	if text := c.refusedSeeds(); text != "" {
		fmt.Fprintf(&b, "%s\n", text)
	}
	return b.String()
}

// refusedSeeds returns a line about the seeds that were refused when the crawl began, "" if there are
// none or if their summary cannot be read.
func (c *Crawl) refusedSeeds() string {
	var sum Summary
	if b, err := readSmall(c.Dir.Path(generations, refusedFile)); err != nil || json.Unmarshal(b, &sum) != nil {
		return ""
	}
	return sum.refusedSeeds()
}

// outcomes describes the addresses with each error, for notFetched and noPage.
var outcomes = map[string]string{
	"not_archived":     "that the archives do not hold",
	"robots":           "that robots.txt forbids",
	"blocked_address":  "at a private address (-allow-private permits these) or a port of another service (-allow-port), or at too many ports of a host",
	"bad_url":          "that cannot be requested",
	"budget":           "for which there was no time (-deadline)",
	"dns":              "whose host is unknown",
	"connect":          "without a connection",
	"tls":              "without a secure connection",
	"timeout":          "without an answer in time",
	"http":             "with an answer that is not HTTP",
	"too_large":        "longer than -max-body",
	"malformed":        "whose record a stage has made malformed (its fields are checked against doc/record.schema.json)",
	"redirect_loop":    "with redirects that do not end",
	"unsupported_type": "of a type that was not asked for (-mime)",
	"scope_redirect":   "that redirect out of scope",
	"out_of_scope":     "out of scope",
	"scope_excluded":   "out of scope",
	"scope_depth":      "out of scope",
	"host_budget":      "over the limit of a host (-max-per-host)",
	"niche_budget":     "over the limit of a niche (-max-per-niche)",
	"trap_length":      "that are too long",
	"trap_depth":       "in too many directories",
	"trap_repetition":  "that repeat directories or parameters",
	"trap_session":     "of known pages in other sessions",
	"trap_calendar":    "in calendars without end",
	"trap_parameters":  "that only combine the parameters of others",
	"trap_duplicates":  "that lead to copies of fetched pages",
}

// Outcome describes the addresses that have an error, or are not fetched for a reason: "that robots.txt
// forbids". It returns "" if it has no words for it.
func Outcome(reason string) string { return outcomes[reason] }

// free are the outcomes that cost nothing.
var free = []string{"not_archived", "robots", "blocked_address", "bad_url", "budget", "out_of_scope", "scope_excluded", "scope_depth"}

// noPage ends a crawl that has no page. The error lists the number of addresses with each error.
func (c *Crawl) noPage() error {
	t := c.Totals
	var words []string
	answered := t.Failed
	for _, kind := range slices.Sorted(maps.Keys(t.Errors)) {
		words = append(words, fmt.Sprintf("%d %s", t.Errors[kind], cmp.Or(outcomes[kind], kind)))
		if !slices.Contains(free, kind) {
			answered -= t.Errors[kind]
		}
	}
	if answered > 0 {
		words = append(words, fmt.Sprintf("%d answered by a failure (404, 500 and the like)", answered))
	}
	if len(words) == 0 {
		words = append(words, "the frontier has no addresses")
	}
	if err := c.Dir.writeReason(EndNoPage); err != nil {
		return err
	}
	c.View.Clear()
	c.writeFinalReport()
	return faultf(statusFailed, "no page could be fetched: %s\nhint: check the seeds; %sfrontier export -store %s prints the outcome of each, and %s has the messages of the stages; the same command tries them again, and other seeds can be used with the same -run",
		strings.Join(words, ", "), c.Prefix, c.Dir.Path("frontier"), c.Dir.Path(StagesLog))
}
