package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
	"spoor/internal/wire"
)

// ownStrategy is the name of a strategy of the user for which no other is given.
const ownStrategy = "own"

// A Request is the command line of a crawl that is started or resumed.
type Request struct {
	Dir      Dir
	Topic    string // a file; "" only to resume
	Words    string // the words that the topic was made from; "" if the user gave a file
	Seeds    string // a file
	Settings Settings
	Given    map[string]bool   // the keys of the settings that the user gave
	Off      []string          // flags of fetch that the user switched off, as "-http1"
	Stages   map[string]string // commands that replace stages; "" is spoor's own
	Sized    bool              // the user gave the size
	Script   string            // a file: the loop that will run the crawl; "": the script crawl
}

// steady reports whether the loop can run a steady crawl: a loop of the user may lack this step.
func (r *Request) steady() bool {
	if r.Script == "" {
		return true
	}
	text, err := atomicfile.ReadFile(r.Script, maxSmall)
	return err == nil && bytes.Contains(text, []byte(stepSteady+")"))
}

// resumes reports whether the request has no flag that starts a new run. If so, the run keeps all
// settings that are not given.
func (r *Request) resumes() bool { return r.Topic == "" && r.Seeds == "" && !r.Given["seed-query"] }

// An Opener opens runs.
type Opener struct {
	Prefix       Prefix                                     // of the names of the commands
	Requirements func(strategy string) (Requirements, bool) // what a strategy requires; false if it is unknown
	Say          func(format string, args ...any)           // prints a message
	Stderr       io.Writer                                  // for the messages of stages that reject their flags
}

// Open starts a run, or checks that the request does not contradict the existing run. It adds the
// seeds to the frontier, and writes the settings and stages of the crawl. The run is locked as long
// as the returned file is open in any process.
func (o *Opener) Open(ctx context.Context, r *Request) (hold *os.File, err error) {
	d := r.Dir
	if err := d.requirePlainFiles(); err != nil {
		return nil, err
	}
	before, err := d.LoadSettings()
	if err != nil {
		return nil, err
	}
	if before == nil && r.resumes() {
		return nil, faultf(statusMisuse, "-run, -topic, and -seeds or -seed-query are needed: %s is not a run yet\nhint: see crawl -h", d)
	}
	if before != nil && before.Strategy == "" {
		return nil, fmt.Errorf("%s has no line strategy: it is empty or was damaged\nhint: restore it from a copy, or begin another run", d.Path(SettingsFile))
	}
	s := &r.Settings
	evolve, restored := r.Stages["evolve"]
	restored = restored && evolve == ""
	if before != nil {
		named := s.Strategy
		switch {
		case r.Given["strategy"] || !slices.Contains(before.Replaced, "evolve"):
		case restored && before.Strategy == ownStrategy:
			before.Strategy = named
		default:
			s.Strategy = before.Strategy
		}
		if before, err = o.match(r, before); err != nil {
			return nil, err
		}
		if before == nil {
			s.Strategy = named
		}
	}
	if before == nil && evolve != "" && !r.Given["strategy"] {
		s.Strategy = ownStrategy
	}
	if s.Closed() && len(s.Live) > 0 {
		name, _, _ := strings.Cut(s.Live[0], "=")
		return nil, faultf(statusMisuse, "%s is for the live web, not for -archive", name)
	}
	if !s.Closed() && !slices.ContainsFunc(s.Live, func(f string) bool { return strings.HasPrefix(f, "-deadline=") }) {
		s.Live = append(s.Live, "-deadline=10m")
	}
	requirements, known := o.Requirements(s.Strategy)
	requirements = s.withMeasures(requirements)
	if !known && (restored || evolve == "" && (before == nil || !slices.Contains(before.Replaced, "evolve"))) {
		return nil, o.unknownStrategy(ctx, s.Strategy)
	}
	s.Grows = before != nil && before.Grows
	if before == nil {
		s.Grows = requirements.Grows && !r.Sized && !s.Compat && !s.inCluster() && evolve == ""
		if s.Compat && requirements.Single && !r.Sized {
			s.Size = 1
		}
		if err := d.checkVacant(); err != nil {
			return nil, err
		}
	}
	if s.Watch {
		if _, err := exec.LookPath(o.Prefix.Words("report")[0]); err != nil {
			return nil, faultf(statusFailed, "-watch needs the command %sreport, which is not on the PATH", o.Prefix)
		}
	}
	file, err := d.loadStages()
	if err != nil {
		return nil, err
	}
	looping := *s
	looping.Steady = false
	s.Steady = true
	steadyStages, loopStages := ownStages(s, requirements, o.Prefix), ownStages(&looping, requirements, o.Prefix)
	stages, changes := resolveStages(steadyStages, loopStages, file, r.Stages, before)
	unable := s.checkSteady(stages, requirements)
	if err := s.chooseForm(unable, r.steady()); err != nil {
		return nil, err
	}
	if !s.Steady {
		stages, changes = resolveStages(loopStages, steadyStages, file, r.Stages, before)
		if unable != nil && s.Form == "" && (before == nil || before.Steady) {
			changes = append(changes, fmt.Sprintf("each generation starts all stages anew, which is slower: %v", unable))
		}
	}
	if before == nil && r.Words != "" { // a mistyped name of a file is taken for words, so show them
		changes = append(changes, fmt.Sprintf("the topic is the words %q", r.Words))
	}
	if before != nil && !slices.Equal(slices.Sorted(slices.Values(before.Live)), slices.Sorted(slices.Values(s.Live))) {
		changes = append(changes, fmt.Sprintf("flags of fetch are now: %s\n(before: %s)", strings.Join(s.Live, " "), strings.Join(before.Live, " ")))
	}
	if before != nil && before.Recrawl != s.Recrawl {
		changes = append(changes, fmt.Sprintf("-recrawl is now %t", s.Recrawl))
	}
	if before != nil && !slices.Equal(before.Scope, s.Scope) {
		changes = append(changes, fmt.Sprintf("scope is now: %s\n(before: %s; what was out of scope stays excluded, see %sfrontier forget -h)", showRules(s.Scope), showRules(before.Scope), o.Prefix))
	}
	if evolve := stages.find("evolve"); evolve.Own {
		if !requirements.Search && !requirements.Queries {
			stages = slices.DeleteFunc(stages, func(s Stage) bool { return s.Name == "search" && s.Own })
		} else if requirements.Search && s.Search == "" && stages.find("search") == nil {
			changes = append(changes, "the queries of "+s.Strategy+" are not asked: there is no -search")
		}
	}
	if text := s.unsteered(stages, requirements, before); text != "" {
		changes = append(changes, text)
	}
	if s.inCluster() {
		if err := s.checkCluster(stages); err != nil {
			return nil, err
		}
	}
	topic := cmp.Or(r.Topic, d.Path(Topic))
	learns, err := lacksSection(topic, requirements.Learn)
	if err != nil {
		return nil, err
	}
	if learns && s.inCluster() {
		return nil, faultf(statusMisuse, "%s with the measure %s needs a topic with a %s, which is learned from the pages of the seeds\nhint: make this topic once for all nodes, with topic -positive or with crawl -generations 1 without -cluster, which writes DIR/generations/0000/topic.json", s.Strategy, s.measure(requirements), requirements.Learn)
	}
	if !learns {
		stages = slices.DeleteFunc(stages, func(s Stage) bool { return s.Name == "learn" && s.Own })
	}
	if err := o.rehearse(ctx, r, stages, topic); err != nil {
		return nil, err
	}
	if err := s.checkContact(stages); err != nil {
		return nil, err
	}
	s.record(stages)
	return o.prepare(ctx, r, before, stages, changes)
}

const otherTopic = "the topic differs from topic.json"

// match compares the request with the settings of the run, the parameter before. If they agree, it
// copies to the request the settings that are not given, and returns before. If they do not agree and
// the run has no page yet, it clears the run, so that it begins again, and returns nil. Otherwise it
// returns an error.
func (o *Opener) match(r *Request, before *Settings) (*Settings, error) {
	d := r.Dir
	full := !r.resumes()
	words := before.differences(&r.Settings, func(key string) bool {
		switch key {
		case "archive-content":
			return full || r.Given["archive"]
		case "traps":
			if !r.Given["traps"] && before.Closed() != r.Settings.Closed() { // as of size
				return false
			}
		case "size":
			if !r.Sized && before.Closed() != r.Settings.Closed() { // the default depends on the archives
				return false
			}
			return r.Sized || full && !(before.Compat && before.Size == 1)
		}
		return full || r.Given[key]
	})
	if before.inCluster() {
		words = append(words, before.changes(&r.Settings, r.Given)...)
	}
	if r.Topic != "" && len(words) == 0 {
		given, err := atomicfile.ReadFile(r.Topic, maxSmall)
		if err != nil {
			return nil, err
		}
		was, err := readSmall(d.Path(Topic))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(given, was) {
			words = append(words, otherTopic)
		}
	}
	if before.inCluster() && r.Given["live"] {
		live := r.Settings.Live
		if !full {
			live = mergeFlags(before.Live, live, r.Off)
		}
		if err := before.checkFetchFlags(live); err != nil {
			return nil, err
		}
	}
	if len(words) > 0 {
		totals, _, err := d.readTotals()
		if err != nil {
			return nil, err
		}
		if full && !before.inCluster() && !d.mayHavePages(totals) {
			hold, err := d.Hold()
			if err != nil {
				return nil, err
			}
			defer hold.Close()
			return nil, d.clear(nil)
		}
		what := "other settings"
		if len(words) == 1 && words[0] == otherTopic {
			what = "another topic"
		}
		return nil, faultf(statusMisuse, "%s was begun with %s: %s\nhint: crawl -run %s resumes it as it was; another crawl needs another -run", d, what, strings.Join(words, "; "), d)
	}
	for _, f := range settings { // copy the settings that are not given
		if f.key == "live" && !full {
			r.Settings.Live = mergeFlags(before.Live, r.Settings.Live, r.Off)
			continue
		}
		if f.key == "scope" && (!full || !r.Given["scope"]) { // a forgotten flag must not widen the crawl
			r.Settings.Scope = appendRules(before.Scope, r.Settings.Scope)
			continue
		}
		if r.Given[f.key] || full && !f.fixed {
			continue
		}
		if err := f.put(&r.Settings, f.get(before)); err != nil {
			return nil, err
		}
	}
	return before, nil
}

// appendRules returns rules followed by given, or only rules if they end with given already.
func appendRules(rules, given []string) []string {
	if n := len(rules) - len(given); n >= 0 && slices.Equal(rules[n:], given) {
		return rules
	}
	return slices.Concat(rules, given)
}

// mergeFlags returns flags, without those that are in off or also in given, followed by given.
func mergeFlags(flags, given, off []string) []string {
	name := func(f string) string { name, _, _ := strings.Cut(f, "="); return name }
	replaced := func(f string) bool {
		return slices.Contains(off, name(f)) || slices.ContainsFunc(given, func(g string) bool { return name(g) == name(f) })
	}
	return append(slices.DeleteFunc(slices.Clone(flags), replaced), given...)
}

// unknownStrategy returns the error for an unknown strategy. Before, it runs evolve, which lists the
// known strategies on stderr.
func (o *Opener) unknownStrategy(ctx context.Context, name string) error {
	cmd := o.Prefix.Command(ctx, "evolve", "-strategy", name)
	output, err := cmd.CombinedOutput()
	if err == nil {
		return faultf(statusMisuse, "there is no strategy %s", name)
	}
	o.Stderr.Write(output)
	return faultf(statusMisuse, "stage evolve cannot start: see its message above")
}

// chooseForm sets Steady. unable is the error of checkSteady; known reports whether the loop can run a
// steady crawl. A crawl on several machines is always steady, as the stages of a cluster need it, also if
// its settings are of an earlier version or it is resumed with -steady=false.
func (s *Settings) chooseForm(unable error, known bool) error {
	if s.inCluster() {
		s.Form = FormSteady
	}
	switch {
	case s.Form != FormSteady:
		s.Steady = unable == nil && s.Form != FormLoop && known
		return nil
	case unable != nil && s.inCluster():
		return faultf(statusMisuse, "-cluster keeps all stages running from one generation to the next, but %v", unable)
	case unable != nil:
		return faultf(statusMisuse, "-steady is not possible: %v\nhint: omit -steady", unable)
	}
	s.Steady = true
	return nil
}

// checkSteady returns an error if the settings and stages do not allow a steady crawl.
func (s *Settings) checkSteady(stages Stages, w Requirements) error {
	for _, stage := range stages {
		if !stage.Own && !slices.Contains([]string{"fetch", "parse", "learn", "score"}, stage.Name) {
			return fmt.Errorf("the command of the stage %s is run once for each generation", stage.Name)
		}
	}
	if s.Search != "" && !s.Closed() && !IsAddress(s.Search) && (w.Search || w.Queries) {
		return fmt.Errorf("the index %s of -search grows with each generation of a live crawl", s.Search)
	}
	return nil
}

// checkContact returns an error if fetch would refuse every address.
func (s *Settings) checkContact(stages Stages) error {
	allowed := func(f string) bool {
		return f == "-allow-private" || strings.HasPrefix(f, "-contact=") && f != "-contact="
	}
	if len(s.Archives) > 0 || slices.ContainsFunc(s.Live, allowed) || !stages.find("fetch").Own {
		return nil
	}
	return faultf(statusMisuse, "-contact is missing\nhint: give -contact you@example.org, a mail address or URL by which the owner of a site can reach you; a site on loopback needs -allow-private instead")
}

// lacksSection reports whether a topic file lacks a section that the strategy requires. Such a
// section is learned from the seeds' pages.
func lacksSection(topic, section string) (bool, error) {
	if section == "" {
		return false, nil
	}
	b, err := atomicfile.ReadFile(topic, maxSmall)
	if err != nil {
		return false, err
	}
	var sections map[string]json.RawMessage
	if json.Unmarshal(wire.TrimBOM(b), &sections) != nil {
		return false, nil // the stages report the error
	}
	var compact bytes.Buffer
	if json.Compact(&compact, sections[section]) != nil {
		return true, nil
	}
	return slices.Contains([]string{"", "null", "{}", "[]"}, compact.String()), nil
}

// rehearse runs each of spoor's own stages without pages, so that they check their flags before the
// files of the run are written.
func (o *Opener) rehearse(ctx context.Context, r *Request, stages Stages, topic string) error {
	s := &r.Settings
	scratch, remove, err := r.Dir.scratch()
	if err != nil {
		return err
	}
	defer remove()
	if learn := stages.find("learn"); learn != nil && learn.Own {
		// One page takes the place of the pages of the seeds.
		page := `{"v":1,"url":"http://example.test/","status_code":200,"text":"spoor"}` + "\n"
		learned := filepath.Join(scratch, "topic.json")
		command := o.Prefix.Quote("topic") + " -topic " + Quote(topic) + " -positive - >" + Quote(learned)
		if err := o.try(ctx, "topic", command, strings.NewReader(page), topic); err != nil {
			return err
		}
		topic = learned
	}
	// moved redirects file flags to scratch, or removes them, so that no file of the run is
	// written, read or resumed.
	moved := func(command string) string {
		command = strings.ReplaceAll(command, inRun("warc/crawl"), Quote(filepath.Join(scratch, "crawl")))
		for _, flag := range []string{"-state", "-windows", "-examples"} {
			for _, name := range []string{"fetch", "evolve", generations} {
				command = strings.ReplaceAll(command, " "+flag+" "+inRun(name), "")
			}
		}
		command = strings.ReplaceAll(command, " "+scopeFlag, "")
		return strings.ReplaceAll(command, ` -generation "$SPOOR_GENERATION"`, "")
	}
	for _, stage := range stages {
		if !stage.Own || stage.Name == "learn" || stage.Name == "search" {
			continue
		}
		command := moved(stage.Command)
		command = strings.TrimSuffix(command, " | "+moved(s.searchCommand(o.Prefix.Quote("search")))) // tried below
		command = strings.TrimSuffix(command, " | "+moved(s.passCommand(o.Prefix)))                   // the servers are contacted later
		if err := o.try(ctx, "stage "+stage.Name, command, nil, topic); err != nil {
			return err
		}
	}
	if search := stages.find("search"); search != nil && search.Own || s.Search != "" && search == nil {
		command := s.searchCommand(o.Prefix.Quote("search"))
		command = strings.ReplaceAll(command, inRun("search.db"), Quote(filepath.Join(scratch, "search.db")))
		command = strings.ReplaceAll(command, " -archive "+inRun(Captures), "")
		if IsAddress(s.Search) || exists(s.Search) || len(s.Archives) > 0 {
			return o.try(ctx, string(o.Prefix)+"search", command, nil, topic)
		}
	}
	return nil
}

// scratch creates a temporary directory in the run directory, and the run directory if it does not
// exist. The function remove deletes the temporary directory, and those other directories that
// scratch has created and that are empty. If this process is killed, the next crawl deletes the
// temporary directory.
func (d Dir) scratch() (name string, remove func(), err error) {
	missing := filepath.Clean(string(d)) // the first directory on the path that does not exist
	for parent := filepath.Dir(missing); !exists(parent) && parent != missing; parent = filepath.Dir(parent) {
		missing = parent
	}
	existed := exists(missing)
	if err = os.MkdirAll(string(d), 0o777); err == nil {
		name, err = os.MkdirTemp(string(d), "rehearsal-*"+partSuffix)
	}
	if err != nil {
		return "", nil, cannotWrite(d, err)
	}
	return name, func() {
		os.RemoveAll(name)
		dir := filepath.Clean(string(d))
		for !existed && os.Remove(dir) == nil && dir != missing {
			dir = filepath.Dir(dir)
		}
	}, nil
}

// cannotWrite returns the error for a run directory that cannot be written because of err.
func cannotWrite(d Dir, err error) error {
	return faultf(statusFailed, "cannot write to %s: %v: choose another -run, or correct this", d, err)
}

// try runs a command, and returns an error if the command rejects its flags or the files that they name.
func (o *Opener) try(ctx context.Context, name, command string, stdin io.Reader, topic string) error {
	cmd := exec.CommandContext(ctx, "bash", "-c", "set -o pipefail\n"+command)
	cmd.Stdin = stdin
	cmd.Env = append(os.Environ(), "SPOOR_TOPIC="+topic, "SPOOR_PARTITION=0/1")
	output, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	status, err := childStatus(ctx, err)
	if err != nil {
		return err
	}
	o.Stderr.Write(output)
	return faultf(status, "%s cannot start: see its message above", name)
}

// childStatus returns the status of a command that failed with err, or an error if it was
// interrupted.
func childStatus(ctx context.Context, err error) (int, error) {
	status := exitStatus(err)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if status == statusInterrupted || status == statusTerminated { // this process is about to get the signal, too
		return 0, faultf(status, "interrupted")
	}
	return status, nil
}

// checkVacant returns an error if the directory contains a file that does not belong to a run.
func (d Dir) checkVacant() error {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return faultf(statusMisuse, "%s is not a run: %v\nhint: choose another -run, a directory that is empty or does not exist", d, err)
	}
	for _, e := range entries {
		if !isRunFile(e.Name()) {
			return faultf(statusMisuse, "%s is not a run, and holds %s: choose another -run, a directory that is empty or does not exist", d, e.Name())
		}
	}
	return nil
}

var runFiles = []string{
	SettingsFile, StagesFile, Topic, seedsFile, ScopeFile, generations, "frontier", "evolve", "fetch", Captures, "search.db",
	LogFile, StagesLog, StopReason, StopFile, nowFile, stepFile, endedFile, totalsFile, lockFile, loopFile, oldLog, "report.html", "report.lock", "lost+found", partitionsDir, CrawlLog, ServeLog, ExamplesFile,
}

func isRunFile(name string) bool {
	return slices.Contains(runFiles, name) || strings.HasSuffix(name, partSuffix) || strings.HasPrefix(name, "search.db")
}

// requirePlainFiles returns an error if the run directory contains a symbolic link, or anything else
// that a run does not create: this program and the shell would write through a link to a file
// elsewhere. It ignores files that cannot be read; the code that needs them reports the error.
func (d Dir) requirePlainFiles() error {
	entries, _ := os.ReadDir(string(d))
	for _, e := range entries {
		if !isRunFile(e.Name()) || e.Name() == partitionsDir && e.IsDir() { // each partition is checked when it is opened
			continue
		}
		err := filepath.WalkDir(d.Path(e.Name()), func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil, e.IsDir(), e.Type().IsRegular(), e.Type() == fs.ModeNamedPipe && (name == d.Path(loopFile) || name == d.Path(jobsFile)):
				return nil
			case e.Type() == fs.ModeSymlink:
				return faultf(statusFailed, "%s is a symbolic link, and a crawl does not write through links\nhint: remove it, or replace it by what it leads to", name)
			}
			return faultf(statusFailed, "%s is neither a file nor a directory\nhint: remove it", name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mayHavePages reports whether a run has fetched a page, or may have fetched one in the generation
// that is not committed.
func (d Dir) mayHavePages(t *Totals) bool {
	g := t.Generation + 1
	if t.Fetched > t.Failed || exists(d.File(g, Scored)) || exists(d.File(g, Parsed)) {
		return true
	}
	captures, err := os.ReadDir(d.Path(Captures))
	return err == nil && len(captures) > 0 && (g == 1 || exists(d.File(g, Addresses)))
}

// clear removes the files of a run that has no page, except those in keep and those that others write, so that the
// run can be started anew.
func (d Dir) clear(keep []string) error {
	keep = append(keep, lockFile, StopFile, ServeLog, ExamplesFile, "lost+found")
	for _, name := range runFiles {
		if slices.Contains(keep, name) {
			continue
		}
		if err := os.RemoveAll(d.Path(name)); err != nil {
			return err
		}
	}
	return nil
}

// prepare creates and locks the run directory, and writes its files.
func (o *Opener) prepare(ctx context.Context, r *Request, before *Settings, stages Stages, changes []string) (*os.File, error) {
	d := r.Dir
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return nil, cannotWrite(d, err)
	}
	hold, err := d.Hold()
	if err != nil {
		return nil, err
	}
	err = o.restart(d)
	if err == nil {
		err = o.write(ctx, r, before, stages, changes)
	}
	if err != nil {
		return nil, errors.Join(err, hold.Close())
	}
	return hold, nil
}

// restart removes the files of a crawl that ended without a page, so that its seeds are fetched again.
func (o *Opener) restart(d Dir) error {
	reason, err := readSmall(d.Path(StopReason))
	if err != nil || strings.TrimSpace(string(reason)) != EndNoPage {
		return err
	}
	o.Say("%s has no page: its seeds are fetched again", d)
	return d.clear([]string{SettingsFile, StagesFile, Topic, seedsFile, ScopeFile, StagesLog})
}

// write writes the files of the run, which must be locked.
func (o *Opener) write(ctx context.Context, r *Request, before *Settings, stages Stages, changes []string) error {
	d, s := r.Dir, &r.Settings
	if before == nil && !exists(d.File(1, "")) { // an attempt with another scope may have excluded seeds
		if err := os.RemoveAll(d.Path("frontier")); err != nil {
			return err
		}
	}
	dirs := []string{generations, "frontier", "evolve"}
	if s.inCluster() {
		dirs = []string{partitionsDir}
	} else if !s.Closed() {
		dirs = append(dirs, "fetch", Captures)
	}
	for _, name := range dirs {
		if err := os.MkdirAll(d.Path(name), 0o777); err != nil {
			return cannotWrite(d, err)
		}
	}
	for _, text := range changes {
		o.Say("%s", text)
	}
	if before == nil {
		topic, err := atomicfile.ReadFile(r.Topic, maxSmall)
		if err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(d.Path(Topic), topic); err != nil {
			return err
		}
	}
	if before != nil && !slices.Equal(before.Scope, s.Scope) {
		if err := d.saveScope(s, true); err != nil { // before the settings are saved, in case this process is killed
			return err
		}
	}
	if err := stages.save(d); err != nil {
		return err
	}
	if err := s.save(d); err != nil {
		return err
	}
	if exists(d.File(1, Stats)) {
		if !exists(d.Path(ScopeFile)) {
			return d.saveScope(s, false)
		}
		return nil
	}
	if r.Seeds != "" {
		seeds, err := atomicfile.OpenInput(r.Seeds, atomicfile.MaxInput)
		if err != nil {
			return err
		}
		defer seeds.Close()
		if err := atomicfile.Replace(d.Path(seedsFile), func(w io.Writer) error { return copySecret(w.(*os.File), seeds) }); err != nil {
			return err
		}
	}
	if s.inCluster() && !exists(d.Path(seedsFile)) { // only the node that has begun the crawl has seeds
		return nil
	}
	err := o.addSeeds(ctx, r, stages)
	if s.inCluster() { // the addresses are in the stores of the partitions
		err = errors.Join(err, os.RemoveAll(d.Path("frontier")))
	}
	if err != nil && before == nil && !exists(d.File(1, "")) {
		os.Remove(d.Path(SettingsFile)) // no crawl was begun
		os.Remove(d.Path(StagesLog))
	}
	return err
}

// copySecret copies a file. If not all users can read it, only the owner can read the copy: addresses
// may have passwords.
func copySecret(to, from *os.File) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o044 != 0o044 { // not readable by all
		if err := to.Chmod(0o600); err != nil {
			return err
		}
	}
	_, err = io.Copy(to, from)
	return err
}

// addSeeds adds the seeds to the frontier: the seed file and the results of the seed query.
func (o *Opener) addSeeds(ctx context.Context, r *Request, stages Stages) error {
	d, s := r.Dir, &r.Settings
	var files []string
	if exists(d.Path(seedsFile)) {
		files = append(files, d.Path(seedsFile))
	}
	found := d.Path(generations, foundSeeds)
	if s.SeedQuery != "" {
		if !exists(found) {
			if err := o.searchSeeds(ctx, d, s, stages, found); err != nil {
				return err
			}
		}
		files = append(files, found)
	}
	summary := d.Path("seeds" + partSuffix)
	os.Remove(summary)
	args := []string{"add", "-store", d.Path("frontier"), "-summary", summary}
	if s.Traps {
		args = append(args, "-traps")
	}
	if len(s.Scope) > 0 {
		if err := d.writeScope(s.Scope); err != nil {
			return err
		}
		args = append(args, "-scope", d.Path(ScopeFile))
	}
	messages, err := o.Prefix.Command(ctx, "frontier", append(args, files...)...).CombinedOutput()
	if err := d.appendTo(StagesLog, messages); err != nil {
		return err
	}
	var sum Summary
	if b, err := readSmall(summary); err == nil && b != nil {
		_ = json.Unmarshal(b, &sum) // if the summary is unreadable, sum.URLs stays 0
	}
	added := exists(summary)
	os.Remove(summary)
	if err == nil && sum.URLs > 0 {
		if err := o.warnRefused(d, &sum); err != nil {
			return err
		}
		return o.checkSeeds(d, s)
	}
	if !added || sum.URLs > 0 {
		status, err := childStatus(ctx, err)
		if err != nil {
			return err
		}
		o.Stderr.Write(lastMessages(messages))
		return faultf(cmp.Or(status, statusFailed), "the frontier did not take the seeds")
	}
	o.Stderr.Write(lastMessages(messages))
	os.Remove(found) // the next attempt searches again
	if r.Seeds == "" && s.SeedQuery != "" {
		return faultf(statusFailed, "the search for «%s» found nothing: give other words, or -seeds", s.SeedQuery)
	}
	return faultf(statusFailed, "%s has no address that can be fetched: give one http or https URL a line", cmp.Or(r.Seeds, d.Path(seedsFile)))
}

// warnRefused prints a line about refused seeds, and stores their summary for the end of the crawl.
func (o *Opener) warnRefused(d Dir, sum *Summary) error {
	name := d.Path(generations, refusedFile)
	if sum.Refused == 0 {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	o.Say("%s", sum.refusedSeeds())
	line, err := sum.Line()
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), atomicfile.WriteBytes(name, line))
}

// searchSeeds runs the search with the seed query, and writes its output to found.
func (o *Opener) searchSeeds(ctx context.Context, d Dir, s *Settings, stages Stages, found string) error {
	if err := os.MkdirAll(filepath.Dir(found), 0o777); err != nil {
		return err
	}
	query, err := json.Marshal(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s.SeedQuery))
	if err != nil {
		return err
	}
	command := s.searchCommand(o.Prefix.Quote("search")) + " -only -"
	if len(s.Archives) == 0 {
		command = strings.ReplaceAll(command, " -archive "+inRun(Captures), "")
	}
	replaced := slices.Contains(s.Replaced, "search")
	if replaced {
		command = stages.command("search")
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Stdin = strings.NewReader(`{"v":1,"operator":"seed","priority":1000000,"query":` + string(query) + "}\n")
	cmd.Env = append(os.Environ(), "SPOOR_RUN="+string(d), "SPOOR_GENERATION=0")
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err = cmd.Run()
	if err := d.appendTo(StagesLog, messages.Bytes()); err != nil {
		return err
	}
	if err != nil {
		status, err := childStatus(ctx, err)
		if err != nil {
			return err
		}
		o.Stderr.Write(lastMessages(messages.Bytes()))
		text := fmt.Sprintf("searching for seeds: search ended with status %d", status)
		if replaced {
			status = stageStatus(status)
		}
		return &Fault{status, text}
	}
	return atomicfile.WriteBytes(found, out.Bytes())
}

// OpenLog opens stages.log to append to it.
func (d Dir) OpenLog() (*os.File, error) {
	return atomicfile.OpenFile(d.Path(StagesLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
}

// maxLog is a size in bytes: a larger stages.log is renamed before the next step.
const maxLog = 16 << 20

// limitLog renames stages.log if it is too long. No stage may be running.
func (d Dir) limitLog() error {
	info, err := os.Lstat(d.Path(StagesLog))
	if err != nil || info.Size() < maxLog {
		return nil //nolint:nilerr // the next process that writes to the file reports the error
	}
	return os.Rename(d.Path(StagesLog), d.Path(oldLog))
}

// lastMessages returns the last lines of a log, indented, without messages of level INFO.
func lastMessages(log []byte) []byte {
	lines := bytes.SplitAfter(log, []byte("\n"))
	lines = lines[max(0, len(lines)-21):]
	var messages []byte
	for _, line := range lines {
		if len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("level=INFO")) {
			messages = append(append(messages, "  "...), line...)
		}
	}
	return messages
}

// holdPatience is how long Hold waits for the lock before it returns an error.
const holdPatience = 2 * time.Second

// Hold locks the run directory as long as the returned file is open, in this process or in one that
// has inherited the file. The file contains the number of this process. The stages of a killed crawl
// may end a moment after the crawl, and hold the lock until then: therefore Hold waits for up to
// holdPatience.
func (d Dir) Hold() (*os.File, error) {
	f, err := atomicfile.OpenFile(d.Path(lockFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, cannotWrite(d, err)
	}
	for begun := time.Now(); ; time.Sleep(holdPatience / 40) {
		if err = lock.Try(f, true); !errors.Is(err, lock.ErrHeld) || time.Since(begun) > holdPatience {
			break
		}
	}
	if errors.Is(err, lock.ErrHeld) {
		owner, _ := readSmall(d.Path(lockFile))
		err = faultf(statusFailed, "process %s is at work on %s: wait for it, or end it", cmp.Or(strings.TrimSpace(string(owner)), "another"), d)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
