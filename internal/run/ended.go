package run

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/atomicfile"
)

// The file ended has a line for each stage of the current step that has ended: the name of the
// stage, its exit status, and a note.

// endedVariable is the environment variable that holds the name of the file ended. spoor's commands
// append their exit status to it, with SPOOR_STAGE as the name of the stage. See cmd/internal/filter.
const endedVariable = "SPOOR_ENDED"

// NoteEnd appends a line to the file ended. The note of the stage keep is [Kept.String].
func (d Dir) NoteEnd(stage string, status int, note string) error {
	f, err := atomicfile.OpenFile(d.Path(endedFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %d %s\n", stage, status, strings.ReplaceAll(note, "\n", " "))
	return errors.Join(err, f.Close())
}

// end is how a stage ended.
type end struct {
	status int
	note   string
}

// ended describes how the stages of a step ended, by name. A stage that was killed is missing.
type ended map[string]end

func (d Dir) loadEnded() (ended, error) {
	b, err := readSmall(d.Path(endedFile))
	if err != nil {
		return nil, err
	}
	e := ended{}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		status, note, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(status)
		if err == nil && (e[name].status == 0 || n == statusDiskFull) { // a stage may consist of several commands
			e[name] = end{n, note}
		}
	}
	return e, nil
}

// others returns the nonzero status of a stage that is not name, 0 if there is none.
func (e ended) others(name string) int {
	for _, other := range slices.Sorted(maps.Keys(e)) {
		if other != name && e[other].status != 0 {
			return e[other].status
		}
	}
	return 0
}

// kept returns the counts of the stage keep; they are -1 if keep failed or was killed.
func (e ended) kept() (k Kept) {
	keep, ok := e["keep"]
	if _, err := fmt.Sscan(keep.note, &k.Records, &k.Pages); !ok || err != nil || keep.status != 0 {
		return Kept{-1, -1}
	}
	return k
}

var stepStages = map[string][]string{
	stepVisit: {"fetch", "parse", "score"}, stepRead: {"fetch", "parse"}, stepLearn: {"learn"}, stepScore: {"score"},
	stepGrow: {"grow"}, stepEvolve: {"evolve"}, stepSearch: {"search"}, stepSteady: {"fetch", "parse", "score", "evolve", "frontier"},
}

// blame returns the error of a step that failed. It names the stages that failed, except those
// that failed only because the next stage had ended (141).
func (c *Crawl) blame(status int, e ended) error {
	stages := stepStages[c.now.step]
	var words, cutOff []string
	worst, how := 0, "the same command resumes the crawl"
	names := append(slices.Clone(stages), "keep")
	for _, name := range slices.Sorted(maps.Keys(e)) {
		if !slices.Contains(stageNames, name) && !slices.Contains(names, name) { // a stage of the user's loop
			names = append(names, name)
		}
	}
	for _, name := range names {
		end, ok := e[name]
		switch {
		case !ok && slices.Contains(stages, name) && status > 128 && status != statusPipe:
			end.status, end.note = status, fmt.Sprintf("was killed, or could not be started (status %d)", status)
		case end.status == 0:
			continue
		}
		text := fmt.Sprintf("%s ended with status %d", name, end.status)
		if end.note != "" && name != "keep" {
			text = name + " " + end.note
		}
		if end.status == statusPipe {
			cutOff = append(cutOff, text)
		} else {
			words = append(words, text)
		}
		if stage := c.stage(name); stage != nil && !stage.Own && end.status != statusPipe {
			how = "fix the stage, and the same command resumes the crawl"
		}
		if worst == 0 || worst == statusPipe || end.status == statusDiskFull {
			worst = end.status
		}
	}
	if worst == 0 {
		status = max(status, statusFailed)
		worst = stageStatus(status)
		if free, err := freeSpace(string(c.Dir)); status == statusDiskFull && err == nil && free < 1<<20 {
			worst = statusDiskFull // a command could not even note that
		}
		words = append(words, fmt.Sprintf("another process of the pipeline ended with status %d", status))
	}
	if worst == statusPipe { // otherwise the stages that ended with statusPipe are not the cause
		words = append(words, cutOff...)
	}
	step := strings.Join(stages, " | ")
	switch c.now.step {
	case stepLearn:
		step = "the topic cannot be learned from the seeds' pages (hint: give other seeds, or a topic that has a table or reference)"
		if worst == statusFailed { // fetch the seeds again the next time
			os.Remove(c.Dir.File(c.now.generation, Parsed))
			os.Remove(c.Dir.File(c.now.generation, Addresses))
		}
	case stepSteady:
		step = "fetch | parse | score | evolve"
	}
	messages, err := c.Dir.lastMessages(c.now.logged)
	if err != nil {
		return err
	}
	if worst == statusMisuse {
		how = "correct that, and the same command resumes the crawl"
	}
	return faultf(worst, "generation %d: %s: %s%s\nnothing that was acknowledged is lost: %s",
		max(c.now.generation, c.Totals.Generation+1), step, strings.Join(words, ", "), messages, how)
}

// lastMessages returns the name of stages.log and its last messages, as lines. The argument first is the
// size of the file before the step: these bytes are skipped.
func (d Dir) lastMessages(first int) (string, error) {
	f, err := atomicfile.OpenFile(d.Path(StagesLog), os.O_RDONLY, 0)
	if err != nil {
		return "", nil //nolint:nilerr // there are no messages
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	length := info.Size()
	if length >= int64(first) { // otherwise a new file was begun
		length -= int64(first)
	}
	b := make([]byte, min(length, 16<<10))
	if _, err := f.ReadAt(b, info.Size()-int64(len(b))); err != nil {
		return "", err
	}
	messages := strings.TrimRight(string(lastMessages(b)), "\n")
	if messages == "" {
		return "", nil
	}
	return fmt.Sprintf("\nlast messages of the stages, from %s:\n%s", d.Path(StagesLog), messages), nil
}

// countHint is the hint for a stage that has lost or added records.
const countHint = "every stage must write one record for each that it reads, including stages that you have added to the loop"

// checkCounts returns an error if a step has lost or added records.
func (c *Crawl) checkCounts(kept Kept) error {
	n := &c.now
	stages := strings.Join(stepStages[n.step], " | ")
	lost := ""
	switch {
	case n.step == stepEvolve && n.pages > 0 && kept.Pages >= 0 && kept.Pages != n.pages:
		lost = fmt.Sprintf("%d pages went into %s, and %d came out", n.pages, stages, kept.Pages)
	case n.step != stepVisit && n.step != stepRead || kept.Records == n.asked:
		return nil
	case kept.Records > n.asked && c.steps.addsSitemaps():
		return nil
	case kept.Records < 0:
		lost = fmt.Sprintf("the output of %s was not kept: the pipeline must end with keep", stages)
	case kept.Records == 0:
		lost = fmt.Sprintf("%d records went into %s, and none came out: find the stage that drops them", n.asked, stages)
	default:
		lost = fmt.Sprintf("%d records went into %s, and %d came out", n.asked, stages, kept.Records)
	}
	messages, err := c.Dir.lastMessages(c.now.logged)
	if err != nil {
		return err
	}
	return faultf(statusFailed, "generation %d: %s%s\nhint: %s", n.generation, lost, messages, countHint)
}
