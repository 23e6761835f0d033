package run

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"spoor/internal/atomicfile"
	"spoor/internal/measure"
)

// stageNames are the stages that a run may have, in the order of the pipeline.
var stageNames = []string{"fetch", "parse", "learn", "score", "grow", "evolve", "search"}

// userStage matches the names of stages that only a user's own loop runs.
var userStage = regexp.MustCompile(`^my_[a-z0-9_]+$`)

// otherNames returns the names in commands that are not in stageNames, sorted.
func otherNames(commands map[string]string) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for name := range commands {
			if !slices.Contains(stageNames, name) && !yield(name) {
				return
			}
		}
	})
}

// Requirements is what a strategy requires of the other stages.
type Requirements struct {
	Fitness  string // the measure: score -fitness
	Context  string // the words around links: parse -context
	Learn    string // a section of the topic that is learned from the seeds' pages: table or reference
	Expand   string // the rule that expands the topic: topic -expand
	Search   bool   // the strategy emits queries
	Queries  bool   // the strategy emits queries if its parameter queries is true
	Examples bool   // the strategy learns from pages that are named as examples during the crawl
	Grows    bool   // generations may grow with the crawl
	Single   bool   // with -compat, each generation has one page
	Unscored bool   // the score does not steer the strategy
	Compat   bool   // the strategy has the parameter compat
	Numbers  bool   // priorities are ranks within a generation, not comparable between partitions
}

// unsteered returns a message if the scores of the user's command, or the given measure, do not steer
// the strategy. It returns "" if they do, or if the user was told before.
func (s *Settings) unsteered(stages Stages, w Requirements, before *Settings) string {
	if evolve := stages.find("evolve"); !w.Unscored || evolve == nil || !evolve.Own {
		return ""
	}
	score := stages.find("score")
	scored := score != nil && !score.Own && (before == nil || before.Ran["score"] != score.Command)
	measured := before == nil && s.Fitness != ""
	what := "the scores of your command change"
	switch {
	case scored && measured:
		what = "the scores of your command, and -fitness, change"
	case measured:
		what = "-fitness changes"
	case !scored:
		return ""
	}
	return fmt.Sprintf("the score does not steer the strategy %s: %s what is reported, not what is fetched\nhint: a new crawl with -strategy bestfirst follows the score", s.Strategy, what)
}

// A Stage is the shell command of a stage.
type Stage struct {
	Name    string
	Command string
	Own     bool // the command follows from the settings; the user has not replaced it
}

// Stages are the stages of a run.
type Stages []Stage

// find returns the stage of that name, nil if the run has none.
func (s Stages) find(name string) *Stage {
	for i := range s {
		if s[i].Name == name {
			return &s[i]
		}
	}
	return nil
}

// command returns the command of a stage, "" if the run has none of that name.
func (s Stages) command(name string) string {
	if stage := s.find(name); stage != nil {
		return stage.Command
	}
	return ""
}

func (s Stages) addsSitemaps() bool { return strings.Contains(s.command("fetch"), " -sitemaps") }

// inRun returns the name of a file of the run directory for the commands of stages. It contains a
// variable, so that the directory can be moved.
func inRun(name string) string { return `"$SPOOR_RUN"/` + name }

// scopeFlag is the flag of fetch for the scope of the run.
var scopeFlag = "-scope " + inRun(ScopeFile)

// ownStages returns the stages that the settings of a run and its strategy require. Their
// commands use the variables of [Crawl.saveStep].
func ownStages(s *Settings, w Requirements, prefix Prefix) Stages {
	var list Stages
	add := func(name string, words ...string) {
		list = append(list, Stage{name, strings.Join(words, " "), true})
	}
	windows := "-windows " + inRun(generations)

	fetch := []string{prefix.Quote("fetch")}
	parse := []string{prefix.Quote("parse")}
	if s.ArchiveFirst {
		fetch = append(fetch, "-archive-first")
	}
	for _, a := range s.Archives {
		fetch = append(fetch, "-archive "+Quote(a))
	}
	if s.Capture != "" {
		fetch = append(fetch, "-capture "+Quote(s.Capture))
	}
	if w.Context != "" {
		parse = append(parse, "-context "+Quote(w.Context))
	}
	agent := ""
	if !s.Closed() {
		fetch = append(fetch, "-warc "+inRun("warc/crawl"), "-state "+inRun("fetch"), fmt.Sprintf("-seed %d", s.Seed))
	}
	if len(s.Scope) > 0 {
		fetch = append(fetch, scopeFlag)
	}
	if types := s.convertedTypes(); types != "" {
		fetch = append(fetch, "-mime "+Quote("+"+types))
	}
	partition := ""
	if s.inCluster() {
		partition = ` -partition "$SPOOR_PARTITION"`
		fetch[0] += partition
	}
	for _, f := range s.Live {
		fetch = append(fetch, Quote(f))
		if value, ok := strings.CutPrefix(f, "-agent="); ok {
			agent = "-agent " + Quote(value)
		}
	}
	if agent != "" {
		parse = append(parse, agent)
	}
	if s.Closed() {
		for _, a := range s.Archives {
			parse = append(parse, "-within "+Quote(a))
		}
	}
	if s.Main {
		parse = append(parse, "-main")
	}
	for _, c := range s.Convert {
		parse = append(parse, "-convert "+Quote(c))
	}
	add("fetch", fetch...)
	add("parse", parse...)

	compat := ""
	if s.Compat {
		compat = " -compat"
	}
	if w.Learn != "" {
		literal := compat
		if !measure.LearnsLiterally(strings.Split(s.measure(w), ",")) {
			literal = ""
		}
		add("learn", prefix.Quote("topic")+" -topic "+inRun(Topic)+literal+" -positive -")
	}
	score := prefix.Quote("score") + ` -topic "$SPOOR_TOPIC"`
	if fitness := s.measure(w); fitness != "" {
		score += " -fitness " + Quote(fitness)
	}
	if s.Norm != "" {
		score += " -norm " + Quote(s.Norm)
	}
	score += compat
	grow := prefix.Quote("topic") + ` -topic "$SPOOR_TOPIC"` + compat + " -expand " + Quote(w.Expand)
	switch {
	case w.Expand == "":
		add("score", score)
	case s.Steady:
		add("score", score, windows, "|", grow, windows)
	default:
		add("score", score)
		add("grow", grow)
	}

	var evolve strings.Builder
	evolve.WriteString(prefix.Quote("evolve") + " -strategy " + Quote(s.Strategy) + ` -topic "$SPOOR_TOPIC"` + fmt.Sprintf(" -seed %d", s.Seed) + partition)
	if agent != "" {
		evolve.WriteString(" " + agent)
	}
	if len(s.Scope) > 0 {
		evolve.WriteString(" " + scopeFlag)
	}
	for _, p := range s.Params {
		evolve.WriteString(" -param " + Quote(p))
	}
	if s.Compat && w.Compat {
		evolve.WriteString(" -param compat=true")
	}
	if s.Search != "" && w.Queries {
		evolve.WriteString(" -param queries=true")
	}
	if s.Grows {
		evolve.WriteString(" -grow")
	}
	if w.Examples && !s.inCluster() {
		evolve.WriteString(" -examples " + inRun(generations))
	}
	state := "-state " + inRun("evolve")
	search := s.searchCommand(prefix.Quote("search"))
	switch {
	case s.inCluster():
		add("evolve", evolve.String(), fmt.Sprintf("-window %d", s.Size), state, windows, "|", s.passCommand(prefix))
	case !s.Steady:
		add("evolve", evolve.String(), fmt.Sprintf("-n %d", s.Size), state, `-generation "$SPOOR_GENERATION"`)
		if search != "" {
			add("search", search, "-only -")
		}
	case search != "" && (w.Search || w.Queries):
		add("evolve", evolve.String(), fmt.Sprintf("-window %d", s.Size), state, windows, "|", search)
	default:
		add("evolve", evolve.String(), fmt.Sprintf("-window %d", s.Size), state, windows)
	}
	return list
}

// convertedTypes returns the types of Convert that fetch must be told to accept.
func (s *Settings) convertedTypes() string {
	if s.Closed() || slices.ContainsFunc(s.Live, func(f string) bool { return strings.HasPrefix(f, "-mime=") }) {
		return ""
	}
	var types []string
	for _, c := range s.Convert {
		t, _, _ := strings.Cut(c, "=")
		types = append(types, t)
	}
	return strings.Join(types, ",")
}

// measure returns the measures of score, the steering one first.
func (s *Settings) measure(w Requirements) string {
	fitness := s.Fitness
	if fitness == "" {
		return w.Fitness
	}
	if w.Expand != "" && !strings.Contains(","+fitness+",", ","+w.Fitness+",") {
		fitness += "," + w.Fitness // the topic is expanded with this measure
	}
	return fitness
}

// withMeasures adds the requirements of the measures to those of a strategy: a section of the topic that only a
// measure needs is also learned from the seeds.
func (s *Settings) withMeasures(w Requirements) Requirements {
	for name := range strings.SplitSeq(s.measure(w), ",") {
		w.Learn = cmp.Or(w.Learn, measure.Section(name))
	}
	return w
}

// searchCommand returns the command that answers queries, "" if there is no search.
func (s *Settings) searchCommand(command string) string {
	switch {
	case s.Search == "":
		return ""
	case IsAddress(s.Search):
		command += " -searxng " + Quote(s.Search) + " -cache " + inRun("search.db")
		if slices.Contains(s.Live, "-allow-private") {
			command += " -allow-private"
		}
		return command
	}
	command += " -index " + Quote(s.Search)
	for _, a := range s.Archives {
		command += " -archive " + Quote(a)
	}
	if !s.Closed() {
		command += " -archive " + inRun("warc")
	}
	return command
}

// IsAddress reports whether s is the address of a server and not the name of a file.
func IsAddress(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// Quote quotes a word for bash. Words without special characters stay as they are.
func Quote(word string) string {
	plain := word != ""
	for _, r := range word {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("-_./:,=+@%", r):
		case r < ' ' || r == 0x7f:
			return quoteControl(word)
		default:
			plain = false
		}
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quoteControl quotes a word with control characters, on one line.
func quoteControl(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// replacement returns the command of a stage that the user replaces by command. A command in
// place of score may omit results; score -keep adds them.
func replacement(name, command string, own Stages) string {
	if name != "score" {
		return "bash -o pipefail -c " + Quote(command)
	}
	score, _, _ := strings.Cut(own.find("score").Command, " -windows ")
	return "bash -o pipefail -c " + Quote(command) + " | " + strings.Replace(score, " -topic ", " -keep -topic ", 1)
}

const stagesHeader = `# The stages of this crawl: a name, a tab, and a shell command on one line. A stage reads records
# from stdin and writes records to stdout, in the directory where crawl is called. To replace or
# extend a stage, edit its command and resume with crawl -run DIR; to restore the default, delete its
# line. A loop of your own may have more stages: their names begin with my_.
`

// loadStages reads the stages file; nil if there is none.
func (d Dir) loadStages() (map[string]string, error) {
	b, err := readSmall(d.Path(StagesFile))
	if b == nil || err != nil {
		return nil, err
	}
	commands := map[string]string{}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.IndexAny(line, " \t")
		if i < 0 || !slices.Contains(stageNames, line[:i]) && !userStage.MatchString(line[:i]) {
			return nil, faultf(statusMisuse, "%s:%d: a line is one of %s, or my_NAME for a loop of your own, a tab, and a shell command", d.Path(StagesFile), n, strings.Join(stageNames, ", "))
		}
		commands[line[:i]] = strings.TrimSpace(line[i:])
	}
	return commands, nil
}

// UncalledStages returns the stages of a user's own loop that the given script does not call: it may
// be the script of another loop.
func (d Dir) UncalledStages(script string) (names []string, err error) {
	commands, err := d.loadStages()
	if err != nil {
		return nil, err
	}
	text, err := atomicfile.ReadFile(script, maxSmall)
	if err != nil {
		return nil, err
	}
	for _, name := range otherNames(commands) {
		if !regexp.MustCompile(`\bstage\s+` + name + `\b`).Match(text) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (s Stages) save(d Dir) error {
	var b bytes.Buffer
	b.WriteString(stagesHeader)
	for _, stage := range s {
		fmt.Fprintf(&b, "%s\t%s\n", stage.Name, stage.Command)
	}
	return atomicfile.WriteBytes(d.Path(StagesFile), b.Bytes())
}

// resolveStages returns the stages of a run. The command of a stage is the one in env (by stage name;
// "" is spoor's own), otherwise the line that the user has edited in the stages file, otherwise spoor's
// own. A line that equals spoor's own command in the other mode, steady or looping, was not edited.
// changes describes the stages that differ from those with which the run was last opened.
func resolveStages(own, otherMode Stages, file, env map[string]string, before *Settings) (list Stages, changes []string) {
	replaced := func(name string) bool { return before != nil && slices.Contains(before.Replaced, name) }
	for _, name := range stageNames {
		stage := own.find(name)
		command, given := env[name]
		edited, inFile := file[name]
		switch {
		case given && command == "": // spoor's own
		case given:
			stage = &Stage{Name: name, Command: replacement(name, command, own)}
		case before == nil: // the file was left by a crawl that was killed at its start
		case stage != nil && (edited == stage.Command || edited == otherMode.command(name)): // not edited
		case inFile && (replaced(name) || edited != before.Ran[name]):
			stage = &Stage{Name: name, Command: edited}
		}
		if stage == nil {
			continue
		}
		if name == "grow" && list.find("score") != nil && !list.find("score").Own {
			continue // a topic is expanded only with the scores of spoor's own measures
		}
		list = append(list, *stage)
		if before == nil || before.Ran[name] == "" || before.Ran[name] == stage.Command || stage.Own && !replaced(name) {
			continue
		}
		changes = append(changes, fmt.Sprintf("stage %s is now: %s\n(before: %s)", name, stage.Command, before.Ran[name]))
	}
	for _, name := range otherNames(file) {
		list = append(list, Stage{Name: name, Command: file[name]})
		if before != nil && before.Ran[name] != file[name] {
			changes = append(changes, fmt.Sprintf("stage %s is now: %s", name, file[name]))
		}
	}
	return list, changes
}

func (s *Settings) record(list Stages) {
	s.Ran, s.Replaced = map[string]string{}, nil
	for _, stage := range list {
		s.Ran[stage.Name] = stage.Command
		if !stage.Own {
			s.Replaced = append(s.Replaced, stage.Name)
		}
	}
}
