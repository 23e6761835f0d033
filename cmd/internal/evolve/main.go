// Package evolve is the command evolve, which breeds the next generation of addresses from a scored one.
package evolve

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/partition"
	"spoor/internal/robots"
	"spoor/internal/run"
	"spoor/internal/strategy"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

//go:embed manual.md
var manual string

// Command is the command evolve.
var Command = filter.Command{Name: "evolve", Manual: manual, Run: evolve}

func evolve(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var opt options
	fs := filter.Flags("evolve", manual, stderr)
	fs.StringVar(&opt.strategy, "strategy", "", "`name` of the strategy; required, except with -strategies")
	fs.StringVar(&opt.state, "state", "", "`directory` of the strategy's state; without it no state is kept")
	fs.StringVar(&opt.topic, "topic", "", "the topic of the crawl, a `file` or words as for score; required by strategies that use its words")
	fs.IntVar(&opt.generation, "generation", 0, "`number` of the generation that is read, from 1; 0: the one after the last")
	fs.IntVar(&opt.n, "n", 20, "`number` of addresses that a generation fetches")
	fs.BoolVar(&opt.grow, "grow", false, "propose at least one address for every 1000 fetched pages, so that large crawls have larger generations")
	fs.Uint64Var(&opt.seed, "seed", 1, "random `seed`")
	fs.Var(&opt.params, "param", "set a parameter of the strategy, `name=value`; may be repeated")
	fs.BoolVar(&opt.nofollow, "nofollow", true, "do not follow the links of pages that say nofollow")
	fs.StringVar(&opt.agent, "agent", "spoor", "`name` of the crawler in directives, as for fetch")
	fs.BoolVar(&opt.alternates, "alternates", false, "follow links in the head of a page to other languages")
	fs.Var(&opt.partition, "partition", "in a crawl on several machines: the partition `p/P`; proposals for hosts of other partitions are handed over, and their outcomes do not come back")
	window := fs.Int("window", 0, "read windows of `N` addresses instead of one generation; each is ended by a window mark of frontier serve")
	fs.StringVar(&opt.dir, "windows", "", "with -window: keep the input and output of each window G in `DIR`/G; they are scored.ndjson.zst and next.ndjson.zst")
	fs.StringVar(&opt.examples, "examples", "", "learn from the fetched pages in this `file`, lines of + or - and an address; in a directory, it is DIR/G/examples of the newest generation G up to the present one")
	list := fs.Bool("strategies", false, "list the strategies, a line each; with names of strategies after it: their sources, needs and parameters")
	asJSON := fs.Bool("json", false, "with -strategies: as JSON, one per line")
	fs.Func("scope", "show the strategy no links that are out of scope by the rules in this `file`; they are those of fetch -scope", func(name string) (err error) {
		opt.outside.scope, err = readScope(name)
		return err
	})
	opt.stream.CommonFlags(fs)
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	switch {
	case *list:
		return describe(stdout, *asJSON, fs.Args())
	case opt.strategy == "":
		return filter.Usagef("-strategy is required\nhint: evolve -strategies lists the strategies")
	case *window > 0 && (filter.Given(fs)["generation"] || filter.Given(fs)["n"]):
		return filter.Usagef("-window cannot be used with -n and -generation: it sets the size, and the window marks give the generation")
	case *window < 0, *window == 0 && opt.dir != "":
		return filter.Usagef("-windows requires -window N, which must be positive")
	case opt.generation < 0 || opt.n < 1:
		return filter.Usagef("-generation must not be negative, and -n must be positive")
	}
	in, err := filter.Open(stdin, fs.Args())
	if err != nil {
		return err
	}
	defer in.Close()
	if *window > 0 {
		opt.n, opt.windowed = *window, true
		filter.EndWithReader(stdout)
	}
	return opt.run(in, stdout, stderr)
}

type options struct {
	strategy, state, topic string
	generation, n          int
	seed                   uint64
	params                 filter.Strings
	agent                  string
	nofollow, alternates   bool
	outside                outside
	windowed, grow         bool
	dir                    string // of the windows kept
	examples               string // a file, or the directory of the generations
	partition              partition.Partition
	stream                 filter.Stream

	pages, scored int // pages passed to the strategy, and those with a score
}

func (o *options) run(in io.Reader, stdout, stderr io.Writer) (err error) {
	defer collectOften()()
	var target *topic.Topic
	if o.topic != "" {
		if target, _, err = topic.LoadOrMake(o.topic); err != nil {
			return filter.Usagef("%w", err)
		}
	}
	s, err := strategy.New(o.strategy, target, o.params)
	if err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	if o.partition.Of > 1 {
		strategy.Restrict(s, func(url string) bool { return !o.partition.Owns(weburl.Host(url)) })
		o.seed ^= partition.Mix(uint64(o.partition.Number)) // each partition has random choices of its own
	}
	if o.windowed {
		return o.runWindows(in, stdout, stderr, s)
	}
	var journal *strategy.Journal
	generation := max(1, o.generation)
	if o.state != "" {
		journal, generation, err = strategy.OpenJournal(o.state, strategy.Signature(o.strategy, s), s, o.generation)
		if err != nil {
			return err
		}
	}
	if err := o.teach(s, generation, stderr); err != nil {
		return err
	}
	// The output must be written before the state is saved: without -generation, a run that
	// failed is repeated as the same generation.
	if err := o.emit(in, stdout, stderr, s, generation); err != nil || journal == nil {
		return err
	}
	if err := journal.Append(generation, s); err != nil {
		return fmt.Errorf("saving the state: %w", err)
	}
	return nil
}

// teach gives the strategy the examples of a generation.
func (o *options) teach(s strategy.Strategy, generation int, stderr io.Writer) error {
	name := o.examples
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = run.LastExamples(name, generation)
	}
	if name == "" {
		return nil
	}
	relevant, bad, err := run.ReadExamples(name)
	if err != nil {
		return filter.Usagef("-examples: %w", err)
	}
	log := filter.Logger(stderr, "evolve", o.stream.Log)
	for _, line := range bad {
		log.Warn("skipped a line that is not + or - and an address", "file", name, "line", line)
	}
	if !strategy.Learns(s) {
		log.Warn("the strategy does not learn from examples", "strategy", o.strategy)
	}
	strategy.Teach(s, relevant)
	return nil
}

// emit runs one generation: it writes the records in brief and then the proposals of s.
func (o *options) emit(in io.Reader, stdout, stderr io.Writer, s strategy.Strategy, generation int) (err error) {
	out, closeTee, err := filter.Tee(stdout, o.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTee()) }()
	tally := filter.NewTally(filter.Logger(stderr, "evolve", o.stream.Log))
	w := wire.NewWriter(out)
	unfollowed, err := o.visit(in, w, s, tally)
	if err == nil {
		err = tally.ErrIfNoneValid()
	}
	if err != nil {
		return err
	}
	operators, err := o.breed(w, s, o.n, generation, tally)
	if err != nil {
		return err
	}
	notes := []slog.Attr{slog.Int("generation", generation)}
	for _, op := range slices.Sorted(maps.Keys(operators)) {
		notes = append(notes, slog.Int64("bred_"+op, operators[op]))
	}
	if unfollowed > 0 {
		notes = append(notes, slog.Int64("nofollow", unfollowed))
	}
	if n := strategy.Copies(s); n > 0 {
		notes = append(notes, slog.Int("held_copies", n))
	}
	o.warnUnscored(stderr)
	tally.Close(notes...)
	return nil
}

// warnUnscored logs a warning if no page has the score that the strategy follows.
func (o *options) warnUnscored(stderr io.Writer) {
	unscored := slices.ContainsFunc(strategy.Kinds(), func(k strategy.Kind) bool { return k.Name == o.strategy && k.Unscored })
	if o.pages > 0 && o.scored == 0 && !unscored {
		filter.Logger(stderr, "evolve", o.stream.Log).Warn("no page has a score, which the strategy follows", "strategy", o.strategy, "pages", o.pages, "hint", "score comes before evolve")
	}
}

// breed writes the proposals of s, about n, at the end of a generation, and counts them by operator.
func (o *options) breed(w *wire.Writer, s strategy.Strategy, n, generation int, tally *filter.Tally) (operators map[string]int64, err error) {
	operators = map[string]int64{}
	var rec wire.Record
	if o.grow {
		n = run.GrownSize(n, strategy.Pages(s))
	}
	next := s.Breed(n, rand.New(rand.NewPCG(o.seed, uint64(generation))))
	if err := o.outside.write(w, generation+1, tally); err != nil {
		return nil, err
	}
	slices.SortStableFunc(next, func(a, b strategy.Address) int { return queriesLast(a) - queriesLast(b) })
	for _, a := range next {
		a.Fill(&rec, generation+1)
		if err := w.Write(&rec); err != nil {
			return nil, fmt.Errorf("writing records: %w", err)
		}
		if a.URL == "" {
			operators["queries"]++
		} else {
			operators[a.Operator]++
		}
		tally.Out++
	}
	if err := w.Flush(); err != nil {
		return nil, fmt.Errorf("writing records: %w", err)
	}
	return operators, nil
}

// moreHeadroom is added to filter.Headroom: a large state needs less room for garbage than its own size,
// a small one more.
const moreHeadroom = 112 << 20

// collectOften makes the collector run when garbage takes a quarter of the state and of the headroom,
// until restore is called. A state has few pointers, so that this costs no time that could be measured.
// GOGC is left alone.
func collectOften() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	headroom := make([]byte, moreHeadroom) // never touched, so that it takes no memory
	before := debug.SetGCPercent(25)
	return func() {
		debug.SetGCPercent(before)
		runtime.KeepAlive(headroom)
	}
}

// queriesLast orders proposals: addresses first, then queries.
func queriesLast(a strategy.Address) int {
	if a.URL == "" {
		return 1
	}
	return 0
}

// isAlternate reports whether a link in a page's head leads to the page in another language.
func isAlternate(l wire.Link) bool {
	return l.Tag == "link" && l.Hreflang != "" && slices.Contains(strings.Fields(l.Rel), "alternate")
}

// sections are the sections that evolve reads of a record.
const sections = wire.Address | wire.Fetch | wire.Parse | wire.Score

// tooLong is the error_detail of records that are too long to be written.
const tooLong = "evolve: the record is longer than a line may be"

// visit passes the generation to s and writes it in brief. It returns the number of pages
// whose links were removed.
func (o *options) visit(in io.Reader, w *wire.Writer, s strategy.Strategy, tally *filter.Tally) (unfollowed int64, err error) {
	r := wire.NewReader(in, sections)
	r.Limit = int(o.stream.Limit)
	var rec wire.Record
	for {
		err := o.stream.Read(r, tally, &rec)
		switch {
		case errors.Is(err, io.EOF):
			return unfollowed, nil
		case err != nil:
			return unfollowed, err
		}
		if o.show(&rec, s) {
			unfollowed++
		}
		rec.Brief()
		if err := w.WriteOrFail(&rec, tooLong); err != nil {
			return unfollowed, fmt.Errorf("writing records: %w", err)
		}
		tally.Out++
	}
}

// show passes rec to s, and reports whether its links were removed because of nofollow.
func (o *options) show(rec *wire.Record, s strategy.Strategy) (unfollowed bool) {
	if o.nofollow && len(rec.Links) > 0 && robots.Meta(o.agent, "robots", rec.RobotsMeta).NoFollow {
		rec.Links = rec.Links[:0]
		unfollowed = true
	}
	if !o.alternates {
		rec.Links = slices.DeleteFunc(rec.Links, isAlternate)
	}
	o.outside.remove(rec)
	if rec.URL != "" && !unchanged(rec) && !isOverlong(rec) {
		if rec.StatusCode/100 == 2 && rec.Error == "" {
			o.pages++
		}
		if rec.Score.Kind == wire.Present {
			o.scored++
		}
		s.Visit(rec)
		if r, ok := strategy.Estimate(s); ok {
			rec.SetScore(o.strategy, math.Round(1e4*r)/1e4)
		}
	}
	return unfollowed
}

// isOverlong reports whether rec has an address that is too long to be requested. Strategies remember
// addresses, and no page has such a link.
func isOverlong(rec *wire.Record) bool {
	return max(len(rec.URL), len(rec.FinalURL)) > weburl.MaxLength ||
		slices.ContainsFunc(rec.Redirects, func(r wire.Redirect) bool { return len(r.URL) > weburl.MaxLength })
}

// unchanged reports whether rec is an unchanged page that was visited again, which the
// strategy knows already.
func unchanged(rec *wire.Record) bool {
	return rec.Visits > 0 && rec.Error == "" && (rec.StatusCode == http.StatusNotModified || rec.Digest != "" && rec.Digest == rec.LastDigest)
}

// describe lists the strategies, or describes those that are named.
func describe(stdout io.Writer, asJSON bool, names []string) error {
	type param struct {
		Name    string   `json:"name"`
		Default string   `json:"default"`
		Doc     string   `json:"doc"`
		Words   []string `json:"words,omitempty"` // the only ones possible
	}
	out := bufio.NewWriter(stdout) // keeps the first error
	lines := filter.Text(out)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var known []string
	for _, kind := range strategy.Kinds() {
		known = append(known, kind.Name)
		if len(names) > 0 && !slices.Contains(names, kind.Name) {
			continue
		}
		if len(names) == 0 && !asJSON {
			fmt.Fprintf(lines, "%s: %s (%s)\n", kind.Name, kind.Summary, kind.Source)
			continue
		}
		params, width := []param{}, 0
		for _, p := range kind.New().Params() {
			words := p.Words
			if p.Types {
				words = nil // other values are possible
			}
			params = append(params, param{p.Name, p.String(), p.Doc, words})
			width = max(width, len(p.Name+"="+p.String()))
		}
		st := kind.Stages
		if asJSON {
			if err := enc.Encode(struct {
				Name    string  `json:"name"`
				Summary string  `json:"summary"`
				Source  string  `json:"source"`
				Recon   string  `json:"reconstructed,omitempty"`
				Blind   bool    `json:"unscored,omitempty"`
				Fitness string  `json:"fitness,omitempty"`
				Context string  `json:"context,omitempty"`
				Learn   string  `json:"learn,omitempty"`
				Expand  string  `json:"expand,omitempty"`
				Search  bool    `json:"search,omitempty"`
				Single  bool    `json:"single,omitempty"`
				Chance  bool    `json:"chance"`
				Params  []param `json:"params"`

				Operators []strategy.Word `json:"operators"`
				Reasons   []strategy.Word `json:"reasons,omitempty"`
			}{kind.Name, kind.Summary, kind.Source, kind.Reconstructed, kind.Unscored, st.Fitness, st.Context, st.Learn, st.Expand, st.Search, st.Single, kind.Chance, params,
				kind.Operators, kind.Reasons}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(lines, "%s: %s\n    source: %s\n", kind.Name, kind.Summary, kind.Source)
		if kind.Reconstructed != "" {
			fmt.Fprintf(lines, "    reconstructed: %s\n", kind.Reconstructed)
		}
		if kind.Unscored {
			fmt.Fprintln(lines, "    the score does not steer it")
		}
		if needs := requirements(st); len(needs) > 0 {
			fmt.Fprintf(lines, "    needs: %s\n", strings.Join(needs, "; "))
		}
		chance := "no: the same pages with every -seed"
		if kind.Chance {
			chance = "yes: other pages with another -seed"
		}
		fmt.Fprintf(lines, "    chance: %s\n", chance)
		for _, w := range kind.Operators {
			fmt.Fprintf(lines, "    operator %-13s  %s\n", w.Name, w.Doc)
		}
		for _, w := range kind.Reasons {
			fmt.Fprintf(lines, "    reason   %-13s  %s\n", w.Name, w.Doc)
		}
		for _, p := range params {
			fmt.Fprintf(lines, "    -param %-*s  %s", width, p.Name+"="+p.Default, p.Doc)
			if p.Words != nil {
				fmt.Fprintf(lines, " (%s)", strings.Join(p.Words, ", "))
			}
			fmt.Fprintln(lines)
		}
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		hint := "evolve -strategies lists them"
		if near := text.Nearest(name, known); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return filter.Usagef("%q is no strategy\nhint: %s", name, hint)
	}
	return out.Flush()
}

// requirements describes what a strategy requires of the other stages.
func requirements(s strategy.Stages) (words []string) {
	for _, w := range []struct{ before, value, after string }{
		{"score -fitness ", s.Fitness, ""}, {"parse -context ", s.Context, ""},
		{"a topic with a ", s.Learn, " (or one learned from the seed pages)"}, {"topic -expand ", s.Expand, " after a generation"},
	} {
		if w.value != "" {
			words = append(words, w.before+w.value+w.after)
		}
	}
	if s.Search {
		words = append(words, "a search for its queries")
	}
	if s.Single {
		words = append(words, "with compat=true, generations of one page")
	}
	return words
}
