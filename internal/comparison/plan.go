package comparison

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/atomicfile"
	"spoor/internal/judge"
	"spoor/internal/measure"
	"spoor/internal/text"
	"spoor/internal/wire"
)

// A Misuse is an error in the plan or on the command line.
type Misuse string

func (m Misuse) Error() string { return string(m) }

func misusef(format string, args ...any) error { return Misuse(fmt.Sprintf(format, args...)) }

// A Plan describes the crawls to compare.
type Plan struct {
	file       string
	data       string   // the directory of the files that the plan names
	strategies []string // the strategies of evolve
	check      ParamCheck
	webs       map[string]*web
	topics     []*topic
	seeds      []seedSet
	judges     []measured
	lacking    map[[2]string]bool // topics without a set of seeds: both names
	evolve     map[string]string  // the command of each strategy that is a command
	score      map[string]string  // the command in place of score, by name
	crawlers   []crawler
	chance     []int  // random seeds
	pages      int    // budget of each crawl; 0: T of judge -budget
	relevant   int    // number of relevant pages, by its own measure, at which a crawl ends; 0: no limit
	reference  string // "" for none
	jobs       []*job
	names      map[string]bool // the names that are in use, with their kinds, such as "web webkb"
}

// A web is an archived web.
type web struct{ name, archive, labels, graph, classes string }

// A topic is what crawls of a web search for.
type topic struct {
	name                      string
	web                       *web
	label                     string
	query, positive, negative string // files
}

// A seedSet is a set of seeds of each topic: a file, or the first results of a search for its query.
type seedSet struct {
	name    string
	file    string // with {topic} and {set} in its name; "" for a search
	results int    // of the search
}

// A measured is a second judge: a page is relevant if its score by a measure of score reaches a limit.
type measured struct {
	name    string
	measure string
	limit   string // "" for the default of the measure
	compat  bool
}

// A crawler is a strategy with its flags, on a track.
type crawler struct {
	track    string // K, E or Q
	name     string // the strategy and the flags, as in the plan
	strategy string
	flags    []string // flags of crawl
	evolve   string   // the command in place of evolve; "" for evolve
	score    string   // the command in place of score; "" for score
	scored   bool     // -score or -fitness was given
}

// A job is a crawl.
type job struct {
	name    string // name of the directory
	crawler *crawler
	topic   *topic
	set     string
	seeds   string // a file; "" for a search
	results int    // of the search
	chance  int
}

// A statement describes the syntax of one keyword of a plan.
type statement struct {
	form     string
	min, max int // number of words; a max of 0 stands for any number
	read     func(p *Plan, words []string) error
}

var statements = map[string]statement{
	"web":       {"web NAME ARCHIVE LABELS [GRAPH]", 3, 4, (*Plan).readWeb},
	"classes":   {"classes WEB FILE", 2, 2, (*Plan).readClasses},
	"topic":     {"topic NAME WEB LABEL QUERY [POSITIVE NEGATIVE]", 4, 6, (*Plan).readTopic},
	"seeds":     {"seeds FILE SET...", 2, 0, (*Plan).readSeeds},
	"search":    {"search SET N", 2, 2, (*Plan).readSearch},
	"judged-by": {"judged-by NAME MEASURE[=LIMIT] [-compat]", 2, 3, (*Plan).readJudge},
	"lacking":   {"lacking TOPIC SET...", 2, 0, (*Plan).readLacking},
	"evolve":    {"evolve NAME COMMAND", 2, 2, (*Plan).readEvolve},
	"score":     {"score NAME COMMAND", 2, 2, (*Plan).readScore},
	"track":     {"track K|E|Q [STRATEGY...] [-FLAG...]", 1, 0, (*Plan).readTrack},
	"chance":    {"chance N...", 1, 0, (*Plan).readChance},
	"pages":     {"pages N", 1, 1, func(p *Plan, words []string) error { return readCount(words, &p.pages) }},
	"relevant":  {"relevant N", 1, 1, func(p *Plan, words []string) error { return readCount(words, &p.relevant) }},
	"reference": {"reference NAME", 1, 0, func(p *Plan, words []string) error { p.reference = strings.Join(words, " "); return nil }},
}

// errForm is returned for a statement with wrong syntax; readLine replaces it by an error that
// shows the syntax.
var errForm = errors.New("not of this form")

// maxSmall bounds plans, queries and the small files of a crawl, in bytes.
const maxSmall = 64 << 20

// A ParamCheck returns an error if a strategy of evolve does not accept the parameters, each of the form
// name=value.
type ParamCheck func(strategy string, params []string) error

// ReadPlan reads a plan. Names of files in the plan are relative to the directory data;
// strategies are the strategies of evolve, whose parameters check checks.
func ReadPlan(file, data string, strategies []string, check ParamCheck) (*Plan, error) {
	b, err := atomicfile.ReadFile(file, maxSmall)
	if err != nil {
		return nil, misusef("cannot read the plan: %v", err)
	}
	p := &Plan{file: file, data: data, strategies: strategies, check: check, webs: map[string]*web{}, evolve: map[string]string{}, score: map[string]string{}, names: map[string]bool{}, lacking: map[[2]string]bool{}}
	number := 0
	for line := range strings.Lines(string(b)) {
		number++
		if err := p.readLine(line); err != nil {
			return nil, misusef("%s:%d: %v", file, number, err)
		}
	}
	if err := p.listJobs(); err != nil {
		return nil, misusef("%s: %v", file, err)
	}
	return p, nil
}

// ReadReference returns the reference of the plan in a file, "" if it has none. It does not check the plan.
func ReadReference(file string) (string, error) {
	b, err := atomicfile.ReadFile(file, maxSmall)
	if err != nil {
		return "", err
	}
	reference := ""
	for line := range strings.Lines(string(b)) {
		if words := words(line); len(words) > 1 && words[0] == "reference" {
			reference = strings.Join(words[1:], " ")
		}
	}
	return reference, nil
}

// words returns the words of a line of a plan before its comment.
func words(line string) []string {
	words := strings.Fields(wire.TrimBOM(line))
	if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "#") }); i >= 0 {
		words = words[:i]
	}
	return words
}

// Jobs returns the names of the crawls, in the order in which they are started.
func (p *Plan) Jobs() (names []string) {
	for _, j := range p.jobs {
		names = append(names, j.name)
	}
	return names
}

// Unsteered returns the names of the crawlers for which the plan has a score command or a measure that
// does not steer them, because their strategies are among unscored.
func (p *Plan) Unsteered(unscored []string) (names []string) {
	for _, c := range p.crawlers {
		if c.scored && c.evolve == "" && slices.Contains(unscored, c.strategy) && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

func (p *Plan) readLine(line string) error {
	words := words(line)
	if len(words) == 0 {
		return nil
	}
	key, words := words[0], words[1:]
	s, known := statements[key]
	switch {
	case !known:
		return fmt.Errorf("%s: lines begin with web, classes, topic, seeds, search, lacking, judged-by, evolve, score, track, chance, pages, relevant or reference", key)
	case (key == "evolve" || key == "score") && len(words) > 1:
		_, line, _ = strings.Cut(line, key)
		_, line, _ = strings.Cut(line, words[0])
		words = []string{words[0], strings.TrimSpace(line)}
	case strings.ContainsAny(strings.Join(words, ""), `"\`):
		return errors.New("words must not contain quotes or backslashes")
	}
	err := errForm
	if n := len(words); n >= s.min && (s.max == 0 || n <= s.max) {
		err = s.read(p, words)
	}
	if errors.Is(err, errForm) {
		return errors.New(s.form)
	}
	return err
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// addName adds a name. It returns an error if the name cannot be part of a file name, or is in use.
func (p *Plan) addName(what, name string) error {
	key := what + " " + name
	switch {
	case !validName.MatchString(name):
		return fmt.Errorf("%s cannot be a name: use letters, digits, - and _", name)
	case p.names[key]:
		return fmt.Errorf("the %s is defined twice", key)
	}
	p.names[key] = true
	return nil
}

// locate makes the names of files absolute, and checks that the files can be read. Empty names stay
// empty.
func (p *Plan) locate(names ...*string) error {
	for _, name := range names {
		if *name == "" {
			continue
		}
		if !filepath.IsAbs(*name) {
			*name = filepath.Join(p.data, *name)
		}
		info, err := os.Stat(*name)
		if err == nil && !info.IsDir() { // a directory may contain archives
			var f *os.File
			if f, err = atomicfile.OpenFile(*name, os.O_RDONLY, 0); err == nil {
				f.Close()
			}
		}
		if err != nil {
			return fmt.Errorf("cannot read %s (files are looked for beside the plan, or in -data DIR)", *name)
		}
	}
	return nil
}

func (p *Plan) readWeb(words []string) error {
	w := &web{name: words[0], archive: words[1], labels: words[2]}
	if len(words) == 4 {
		w.graph = words[3]
	}
	p.webs[w.name] = w
	return cmp.Or(p.addName("web", w.name), p.locate(&w.archive, &w.labels, &w.graph))
}

func (p *Plan) readClasses(words []string) error {
	w := p.webs[words[0]]
	if w == nil {
		return fmt.Errorf("web %s is not defined above this line", words[0])
	}
	if w.classes != "" {
		return fmt.Errorf("the web %s has classes already", w.name)
	}
	w.classes = words[1]
	return p.locate(&w.classes)
}

func (p *Plan) readTopic(words []string) error {
	label, err := url.PathUnescape(words[2])
	t := &topic{name: words[0], web: p.webs[words[1]], label: label, query: words[3]}
	switch {
	case err != nil:
		return fmt.Errorf("label %s: %w", words[2], err)
	case len(words) == 5:
		return errForm
	case len(words) == 6:
		t.positive, t.negative = words[4], words[5]
	}
	if t.web == nil {
		return fmt.Errorf("web %s is not defined above this line", words[1])
	}
	p.topics = append(p.topics, t)
	return cmp.Or(p.addName("topic", t.name), p.locate(&t.query, &t.positive, &t.negative))
}

func (p *Plan) readSeeds(words []string) error {
	for _, name := range words[1:] {
		if err := p.addName("set of seeds", name); err != nil {
			return err
		}
		p.seeds = append(p.seeds, seedSet{name: name, file: words[0]})
	}
	return nil
}

// maxResults is the maximum number of seeds that a search finds.
const maxResults = 1000

func (p *Plan) readSearch(words []string) error {
	n, err := strconv.ParseUint(words[1], 10, 31)
	if err != nil || n == 0 || n > maxResults {
		return fmt.Errorf("%s: want a number of results from 1 to %d", words[1], maxResults)
	}
	if err := p.addName("set of seeds", words[0]); err != nil {
		return err
	}
	p.seeds = append(p.seeds, seedSet{name: words[0], results: int(n)})
	return nil
}

func (p *Plan) readJudge(words []string) error {
	m := measured{name: words[0], compat: len(words) == 3}
	if m.compat && words[2] != "-compat" {
		return errForm
	}
	m.measure, m.limit, _ = strings.Cut(words[1], "=")
	if !slices.Contains(measure.Names(), m.measure) {
		return fmt.Errorf("there is no measure %s: there are %s", m.measure, strings.Join(measure.Names(), ", "))
	}
	if m.measure == "classifier" {
		return errors.New("the measure classifier cannot judge: it needs example pages, and a judge has those of the seeds only")
	}
	if m.limit != "" {
		if v, err := strconv.ParseFloat(m.limit, 64); err != nil || !(v > 0 && v <= 1e6) {
			return fmt.Errorf("%s: want a score above 0 and at most 1,000,000, from which a page is relevant", m.limit)
		}
	}
	if err := p.addName("judge", m.name); err != nil {
		return err
	}
	p.judges = append(p.judges, m)
	return nil
}

// readLacking reads the sets of seeds that a topic does not have.
func (p *Plan) readLacking(words []string) error {
	if !p.names["topic "+words[0]] {
		return fmt.Errorf("topic %s is not defined above this line", words[0])
	}
	for _, set := range words[1:] {
		if !p.names["set of seeds "+set] {
			return fmt.Errorf("there is no set of seeds %s above this line", set)
		}
		p.lacking[[2]string{words[0], set}] = true
	}
	return nil
}

func (p *Plan) readEvolve(words []string) error {
	if slices.Contains(p.strategies, words[0]) {
		return fmt.Errorf("%s is a strategy of evolve: use another name", words[0])
	}
	p.evolve[words[0]] = words[1]
	return p.addName("strategy", words[0])
}

func (p *Plan) readScore(words []string) error {
	p.score[words[0]] = words[1]
	return p.addName("score", words[0])
}

func (p *Plan) readChance(words []string) error {
	for _, word := range words {
		n, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			return fmt.Errorf("%s is not a random seed: use a number", word)
		}
		p.chance = append(p.chance, int(n))
	}
	return nil
}

func readCount(words []string, count *int) error {
	n, err := strconv.ParseUint(words[0], 10, 31)
	if err != nil || n == 0 {
		return errForm
	}
	*count = int(n)
	return nil
}

// trackFlags are the flags of crawl with a value that a track may have.
var trackFlags = []string{"-param", "-fitness", "-norm", "-size", "-generations", "-fair", "-per-host", "-per-niche"}

func (p *Plan) readTrack(words []string) error {
	track, words := words[0], words[1:]
	if !slices.Contains([]string{"K", "E", "Q"}, track) {
		return fmt.Errorf("there is no track %s: K is words, E examples, Q a search", track)
	}
	n := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	if n < 0 {
		n = len(words)
	}
	chosen, words := words[:n], words[n:]
	if n == 0 {
		chosen = p.strategies
	}
	var name []string  // flags in the name of the crawler
	var flags []string // flags passed to crawl
	var params []string
	scored, measured := "", false
	for len(words) > 0 {
		flag, value, joined := strings.Cut(words[0], "=")
		words = words[1:]
		switch {
		case flag == "-compat" && !joined:
			name, flags = append(name, flag), append(flags, flag)
			continue
		case flag != "-score" && !slices.Contains(trackFlags, flag):
			return fmt.Errorf("%s is not a flag of a track: use -compat -score %s", flag, strings.Join(trackFlags, " "))
		case !joined && len(words) == 0:
			return fmt.Errorf("%s needs a value", flag)
		case !joined:
			value, words = words[0], words[1:]
		}
		if err := checkFlag(flag, value); err != nil {
			return err
		}
		if flag == "-param" {
			params = append(params, value)
		}
		name = append(name, flag, value)
		measured = measured || flag == "-score" || flag == "-fitness"
		if flag != "-score" {
			flags = append(flags, flag, value)
		} else if scored = p.score[value]; scored == "" {
			return fmt.Errorf("score %s is not defined above this line: add score %[1]s COMMAND", value)
		}
	}
	if track == "E" && !slices.Contains(flags, "-fitness") {
		flags = append(flags, "-fitness", "classifier")
	}
	for _, strategy := range chosen {
		command := p.evolve[strategy]
		switch {
		case command == "" && !slices.Contains(p.strategies, strategy):
			known := slices.Concat(p.strategies, slices.Sorted(maps.Keys(p.evolve)))
			if near := text.Nearest(strategy, known); near != "" {
				return fmt.Errorf("there is no strategy %s: did you mean %s? (evolve -strategies lists them)", strategy, near)
			}
			return fmt.Errorf("there is no strategy %s (evolve -strategies lists them)", strategy)
		case command != "" && slices.Contains(flags, "-param"):
			return fmt.Errorf("-param is for strategies of evolve, and %s is a command", strategy)
		}
		if params != nil {
			if err := p.check(strategy, params); err != nil {
				return err
			}
		}
		p.crawlers = append(p.crawlers, crawler{track, strings.Join(append([]string{strategy}, name...), " "), strategy, flags, command, scored, measured})
	}
	return nil
}

// checkFlag returns an error if crawl would refuse the value of a flag of a track, as far as that does not
// depend on the topic or the strategy.
func checkFlag(flag, value string) error {
	want := map[string][]string{"-fair": {"host", "niche"}, "-norm": {"page", "topic"}}[flag]
	switch flag {
	case "-size", "-generations", "-per-host", "-per-niche":
		if _, err := strconv.ParseUint(value, 10, 31); err != nil {
			return fmt.Errorf("%s %s: want a number", flag, value)
		}
	case "-fair", "-norm":
		if !slices.Contains(want, value) {
			return fmt.Errorf("%s %s: want %s", flag, value, strings.Join(want, " or "))
		}
	}
	return nil
}

var notInFileName = regexp.MustCompile(`[^A-Za-z0-9._=-]`)

// jobName returns the name of the directory of a job.
func jobName(track, crawler, topic, set string, chance int64) string {
	words := notInFileName.ReplaceAllString(strings.ReplaceAll(crawler, " -", "-"), "-")
	return fmt.Sprintf("%s.%s.%s.%s.%d", track, words, topic, set, chance)
}

// JobDir returns the directory of the crawl with a result, in the directory of a comparison.
func JobDir(dir string, r *judge.Result) string {
	return filepath.Join(dir, "jobs", jobName(r.Track, r.Name, r.Topic, string(r.Seeds), r.Seed))
}

// listJobs checks the plan as a whole, and lists its jobs.
func (p *Plan) listJobs() error {
	if len(p.topics) == 0 || len(p.seeds) == 0 || len(p.crawlers) == 0 {
		return errors.New("a plan needs a web, a topic, seeds and a track (compare -help=all tells more)")
	}
	if p.chance == nil {
		p.chance = []int{1}
	}
	if p.reference != "" && !slices.ContainsFunc(p.crawlers, func(c crawler) bool { return c.name == p.reference }) {
		return fmt.Errorf("the reference %s is not on any track: name a strategy, and its flags as judge table shows them (%s)", p.reference, p.crawlers[0].name)
	}
	seen := map[string]bool{}
	for i := range p.crawlers {
		c := &p.crawlers[i]
		for _, t := range p.topics {
			if c.track == "E" && t.negative == "" {
				return fmt.Errorf("track E needs example pages of %s: %s", t.name, statements["topic"].form)
			}
			for _, s := range p.seeds {
				if p.lacking[[2]string{t.name, s.name}] {
					continue
				}
				set, seeds := s.name, strings.NewReplacer("{topic}", t.name, "{set}", s.name).Replace(s.file)
				if err := p.locate(&seeds); err != nil {
					return err
				}
				for _, n := range p.chance {
					j := &job{jobName(c.track, c.name, t.name, set, int64(n)), c, t, set, seeds, s.results, n}
					if seen[j.name] {
						return fmt.Errorf("%s is planned twice", j.name)
					}
					seen[j.name] = true
					p.jobs = append(p.jobs, j)
				}
			}
		}
	}
	return nil
}

// Title returns the name of the plan's file without its extension.
func (p *Plan) Title() string {
	base := filepath.Base(p.file)
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
}
