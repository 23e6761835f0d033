package comparison

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Misuse is an error in the plan or on the command line.
type Misuse string

func (m Misuse) Error() string { return string(m) }

func misusef(format string, args ...any) error { return Misuse(fmt.Sprintf(format, args...)) }

// A Plan says what is compared.
type Plan struct {
	file       string
	data       string   // the directory of the files that the plan names
	strategies []string // those of evolve
	webs       []*web
	topics     []*topic
	sets       []set
	evolve     []command // strategies by command
	score      []command
	crawlers   []crawler
	chance     []int
	pages      int    // 0 for what judge -budget says
	reference  string // "" for none
	jobs       []*job
}

// A web is an archived web.
type web struct{ name, archive, labels, graph string }

// A topic is what crawls of a web search for.
type topic struct {
	name                      string
	web                       *web
	label                     string
	query, positive, negative string // files
}

// A set is a set of seeds. Its file contains {topic} and {set}.
type set struct{ name, file string }

// A command is a program of the user in the place of a stage.
type command struct{ name, line string }

// A crawler is a strategy with its flags, on a track.
type crawler struct {
	track    string // K, E or Q
	name     string // the strategy and the flags as the plan gives them
	strategy string
	flags    []string // of crawl
	evolve   string   // the command of the strategy, "" for one of evolve
	score    string   // the command in the place of score, "" for score
}

// A job is a crawl.
type job struct {
	name    string // of its directory
	crawler *crawler
	topic   *topic
	set     string
	seeds   string // a file
	chance  int
}

// forms are the lines of a plan.
var forms = map[string]string{
	"web":       "web NAME ARCHIVE LABELS [GRAPH]",
	"topic":     "topic NAME WEB LABEL QUERY [POSITIVE NEGATIVE]",
	"seeds":     "seeds FILE SET...",
	"evolve":    "evolve NAME COMMAND",
	"score":     "score NAME COMMAND",
	"track":     "track K|E|Q [STRATEGY...] [-FLAG...]",
	"chance":    "chance N...",
	"pages":     "pages N",
	"reference": "reference NAME",
}

// trackFlags are the flags of crawl with a value that a track may have.
var trackFlags = []string{"-param", "-fitness", "-norm", "-size", "-generations", "-fair", "-per-host", "-per-niche"}

// ReadPlan reads a plan. The files that it names are in the directory data; strategies are
// those that evolve has.
func ReadPlan(file, data string, strategies []string) (*Plan, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, misusef("cannot read the plan %s", file)
	}
	p := &Plan{file: file, data: data, strategies: strategies}
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

// Jobs returns the names of the crawls, in the order in which they are started.
func (p *Plan) Jobs() (names []string) {
	for _, j := range p.jobs {
		names = append(names, j.name)
	}
	return names
}

func (p *Plan) readLine(line string) error {
	words := strings.Fields(line)
	if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "#") }); i >= 0 {
		words = words[:i]
	}
	if len(words) == 0 {
		return nil
	}
	key, words := words[0], words[1:]
	form, n := forms[key], len(words)
	bad := n == 0
	switch key {
	case "web":
		bad = n != 3 && n != 4
	case "topic":
		bad = n != 4 && n != 6
	case "seeds", "evolve", "score":
		bad = n < 2
	case "pages":
		bad = n != 1
	}
	isCommand := key == "evolve" || key == "score"
	switch {
	case form == "":
		return fmt.Errorf("%s: lines begin with web, topic, seeds, evolve, score, track, chance, pages or reference", key)
	case bad:
		return errors.New(form)
	case !isCommand && strings.ContainsAny(strings.Join(words, ""), `"\`):
		return errors.New("words have no quotes and no backslashes")
	}
	switch key {
	case "web":
		return p.readWeb(words)
	case "topic":
		return p.readTopic(words)
	case "seeds":
		for _, name := range words[1:] {
			if err := nameable("set of seeds", name, slices.ContainsFunc(p.sets, func(s set) bool { return s.name == name })); err != nil {
				return err
			}
			p.sets = append(p.sets, set{name, words[0]})
		}
	case "evolve", "score":
		_, line, _ = strings.Cut(line, key)
		_, line, _ = strings.Cut(line, words[0])
		return p.readCommand(key, words[0], strings.TrimSpace(line))
	case "track":
		return p.readTrack(words[0], words[1:])
	case "chance":
		for _, word := range words {
			n, err := strconv.ParseUint(word, 10, 31)
			if err != nil {
				return fmt.Errorf("%s is no seed of chance: use a number", word)
			}
			p.chance = append(p.chance, int(n))
		}
	case "pages":
		n, err := strconv.ParseUint(words[0], 10, 31)
		if err != nil || n == 0 {
			return errors.New(form)
		}
		p.pages = int(n)
	case "reference":
		p.reference = strings.Join(words, " ")
	}
	return nil
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// nameable returns an error if a name cannot become part of file names, or is taken.
func nameable(what, name string, taken bool) error {
	switch {
	case !validName.MatchString(name):
		return fmt.Errorf("%s cannot be a name: use letters, digits, - and _", name)
	case taken:
		return fmt.Errorf("the %s %s is there twice", what, name)
	}
	return nil
}

// locate makes the names of files absolute. Empty names stay empty.
func (p *Plan) locate(names ...*string) error {
	for _, name := range names {
		if *name == "" {
			continue
		}
		if !filepath.IsAbs(*name) {
			*name = filepath.Join(p.data, *name)
		}
		f, err := os.Open(*name)
		if err != nil {
			return fmt.Errorf("cannot read %s (files are looked for beside the plan, or in -data DIR)", *name)
		}
		f.Close()
	}
	return nil
}

func (p *Plan) web(name string) *web {
	for _, w := range p.webs {
		if w.name == name {
			return w
		}
	}
	return nil
}

func (p *Plan) readWeb(words []string) error {
	w := &web{name: words[0], archive: words[1], labels: words[2]}
	if len(words) == 4 {
		w.graph = words[3]
	}
	if err := nameable("web", w.name, p.web(w.name) != nil); err != nil {
		return err
	}
	p.webs = append(p.webs, w)
	return p.locate(&w.archive, &w.labels, &w.graph)
}

func (p *Plan) readTopic(words []string) error {
	t := &topic{name: words[0], web: p.web(words[1]), label: words[2], query: words[3]}
	if len(words) == 6 {
		t.positive, t.negative = words[4], words[5]
	}
	if err := nameable("topic", t.name, slices.ContainsFunc(p.topics, func(u *topic) bool { return u.name == t.name })); err != nil {
		return err
	}
	if t.web == nil {
		return fmt.Errorf("there is no web %s yet", words[1])
	}
	p.topics = append(p.topics, t)
	return p.locate(&t.query, &t.positive, &t.negative)
}

// find returns the command of a name, "" if there is none.
func find(commands []command, name string) string {
	for _, c := range commands {
		if c.name == name {
			return c.line
		}
	}
	return ""
}

// readCommand reads a line of shell that takes the place of a stage.
func (p *Plan) readCommand(stage, name, line string) error {
	commands, what := &p.evolve, "strategy"
	if stage == "score" {
		commands, what = &p.score, "score"
	} else if slices.Contains(p.strategies, name) {
		return fmt.Errorf("%s is a strategy of evolve: use another name", name)
	}
	if err := nameable(what, name, find(*commands, name) != ""); err != nil {
		return err
	}
	*commands = append(*commands, command{name, line})
	return nil
}

func (p *Plan) readTrack(track string, words []string) error {
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
	var name, flags []string // as in the name of the crawler, and as crawl is given them
	scored := ""
	for len(words) > 0 {
		flag, value, joined := strings.Cut(words[0], "=")
		words = words[1:]
		switch {
		case flag == "-compat" && !joined:
			name, flags = append(name, flag), append(flags, flag)
			continue
		case flag != "-score" && !slices.Contains(trackFlags, flag):
			return fmt.Errorf("%s is no flag for a track: -compat -score %s are", flag, strings.Join(trackFlags, " "))
		case !joined && len(words) == 0:
			return fmt.Errorf("%s wants a value", flag)
		case !joined:
			value, words = words[0], words[1:]
		}
		name = append(name, flag, value)
		if flag != "-score" {
			flags = append(flags, flag, value)
		} else if scored = find(p.score, value); scored == "" {
			return fmt.Errorf("there is no score %s yet: score %[1]s COMMAND", value)
		}
	}
	if track == "E" && !slices.Contains(flags, "-fitness") {
		flags = append(flags, "-fitness", "classifier")
	}
	for _, strategy := range chosen {
		command := find(p.evolve, strategy)
		switch {
		case command == "" && !slices.Contains(p.strategies, strategy):
			return fmt.Errorf("there is no strategy %s (evolve -strategies lists them)", strategy)
		case command != "" && slices.Contains(flags, "-param"):
			return fmt.Errorf("-param is for strategies of evolve, and %s is a command", strategy)
		}
		p.crawlers = append(p.crawlers, crawler{
			track: track, name: strings.Join(append([]string{strategy}, name...), " "),
			strategy: strategy, flags: flags, evolve: command, score: scored,
		})
	}
	return nil
}

var notInFileName = regexp.MustCompile(`[^A-Za-z0-9._=-]`)

// listJobs completes the plan.
func (p *Plan) listJobs() error {
	if len(p.topics) == 0 || len(p.sets) == 0 || len(p.crawlers) == 0 {
		return errors.New("a plan needs a web, a topic, seeds and a track (compare -h tells more)")
	}
	if p.chance == nil {
		p.chance = []int{1}
	}
	if p.reference != "" && !slices.ContainsFunc(p.crawlers, func(c crawler) bool { return c.name == p.reference }) {
		return fmt.Errorf("the reference %s is on no track: name a strategy, and its flags as judge table shows them (%s)", p.reference, p.crawlers[0].name)
	}
	seen := map[string]bool{}
	for i := range p.crawlers {
		c := &p.crawlers[i]
		for _, t := range p.topics {
			if c.track == "E" && t.negative == "" {
				return fmt.Errorf("track E needs example pages of %s: %s", t.name, forms["topic"])
			}
			for _, s := range p.sets {
				seeds := strings.NewReplacer("{topic}", t.name, "{set}", s.name).Replace(s.file)
				if err := p.locate(&seeds); err != nil {
					return err
				}
				for _, n := range p.chance {
					words := notInFileName.ReplaceAllString(strings.ReplaceAll(c.name, " -", "-"), "-")
					j := &job{fmt.Sprintf("%s.%s.%s.%s.%d", c.track, words, t.name, s.name, n), c, t, s.name, seeds, n}
					if seen[j.name] {
						return fmt.Errorf("%s is there twice", j.name)
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
