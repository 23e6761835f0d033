// Package run manages a crawl and its run directory: the files of the directory, the settings,
// which step of which generation comes next, when the crawl waits and why it ends.
//
//	settings           the settings, one a line
//	stages             the commands of the stages, one a line, for the user to edit
//	topic.json         the topic
//	seeds.txt          the seeds
//	scope              the rules of the scope, if any, with the hosts of the seeds
//	generations/0001/  one directory a generation:
//	    scored.ndjson.zst  its pages, as score wrote them
//	    topic.json         the topic expanded with these pages, if it changed
//	    examples           a copy of examples, if it has changed before the generation
//	    next.ndjson.zst    what evolve wrote: the pages in brief, then addresses and queries
//	    found.ndjson       the queries with their cost and what search found
//	    stats.json         the summary; the generation is committed once it exists
//	generations/0000/  before the first generation: the learned topic, results of the seed query
//	examples           pages that somebody has named as examples during the crawl, see [ExamplesFile]
//	frontier/          the store of the frontier
//	evolve/            the state of the strategy
//	fetch/  warc/      politeness state, and captures; live crawls only
//	log.ndjson         the summaries, a line a generation
//	stages.log         what the stages wrote to stderr; at 16 MiB it is renamed to stages.log.1
//	stop_reason        why the crawl ended
//	.stop              created by the user: end after the current generation
//
// There are also
//
//	lock         what the shell keeps locked while the crawl runs
//	now          the step being run, for the shell
//	step         the same, for the command run
//	ended        the exit statuses of the stages of the step
//	totals.json  the sum of all summaries
//	serve.log    messages of the commands that serve has started
//
// The shell runs the steps: [Crawl.Next] chooses the next one, [Stages] are the commands that it
// runs, and [Server] replaces the steps in a steady crawl.
package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"spoor/internal/atomicfile"
)

// A Dir is the name of a run directory.
type Dir string

// The files of a generation.
const (
	Addresses = "addresses.ndjson" // the batch to fetch; removed at the commit
	Parsed    = "parsed.ndjson"    // the pages of the seeds, to learn the topic from; removed after scoring
	Scored    = "scored.ndjson.zst"
	Topic     = "topic.json"
	Next      = "next.ndjson.zst"
	Found     = "found.ndjson"
	Stats     = "stats.json"
)

// The files of the run directory that other packages read.
const (
	SettingsFile = "settings"
	StagesFile   = "stages"
	LogFile      = "log.ndjson"
	StagesLog    = "stages.log"
	Judged       = "judge.json" // the summary of judge, if the user has it written here
	LoopFile     = "crawl"      // the script that loops, if the program contains it
	oldLog       = StagesLog + ".1"
	StopReason   = "stop_reason"
	StopFile     = ".stop"
	Captures     = "warc"      // a directory; live crawls only
	ServeLog     = "serve.log" // messages of the commands that serve has started
	generations  = "generations"
	nowFile      = "now"  // the step being run, for the shell
	stepFile     = "step" // the step being run, for the command run
	endedFile    = "ended"
	totalsFile   = "totals.json"
	lockFile     = "lock"
	seedsFile    = "seeds.txt"
	foundSeeds   = "0000/" + Found
	refusedFile  = "0000/refused.json" // the summary of the seeds, if some were refused
)

// NameOf returns the name of a run about words, of at most 60 bytes: "crawl-jazz-music".
func NameOf(words string) string {
	const maxLen = 60
	name := "crawl"
	for word := range strings.FieldsFuncSeq(strings.ToLower(words), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(name)+1+len(word) > maxLen {
			break
		}
		name += "-" + word
	}
	return name
}

// partSuffix ends the name of a file that a step is still writing.
const partSuffix = ".part"

// String returns the name as the user gave it.
func (d Dir) String() string { return strings.TrimPrefix(string(d), "./") }

// Path returns the name of a file of the run directory. The name never begins with a dash, so no
// command mistakes it for a flag.
func (d Dir) Path(elem ...string) string {
	name := filepath.Join(append([]string{string(d)}, elem...)...)
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return name
}

// Generations returns the directory of the generations.
func (d Dir) Generations() string { return d.Path(generations) }

// File returns the name of a file of a generation.
func (d Dir) File(generation int, name string) string {
	return File(d.Generations(), generation, name)
}

// File returns the name of a file of a generation, given the directory of all generations, which is
// the argument of the flag -windows of commands.
func File(generations string, generation int, name string) string {
	return filepath.Join(generations, generationName(generation), name)
}

func generationName(generation int) string { return fmt.Sprintf("%04d", generation) }

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// maxSmall limits the files of a run directory that are read into memory, in bytes. The largest
// are topic files, which [topic.Read] limits to the same size.
const maxSmall = 64 << 20

// readSmall returns the content of a regular file, nil if it does not exist. A file of more than
// maxSmall bytes is an error.
func readSmall(name string) ([]byte, error) {
	b, err := atomicfile.ReadFile(name, maxSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// LastTopic returns the name of the topic file of the last generation that has one; "" if none has.
func (d Dir) LastTopic() (string, error) {
	entries, err := os.ReadDir(d.Generations())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	last, name := -1, ""
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > last && exists(d.Path(generations, e.Name(), Topic)) {
			last, name = n, d.Path(generations, e.Name(), Topic)
		}
	}
	return name, err
}

// A Generation is a generation that has scored pages.
type Generation struct {
	Number    int
	Dir       Dir    // its run directory
	Partition int    // 0 if the crawl runs on one machine
	Scored    string // the file with its pages
	Stats     string // the file with its summary, which exists if the generation is committed
}

// List returns the generations of a run directory that have scored pages, in order. The
// error is [fs.ErrNotExist] if dir has no directory of generations.
func (d Dir) List() ([]Generation, error) {
	entries, err := os.ReadDir(d.Generations())
	if err != nil {
		return nil, err
	}
	var list []Generation
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil || n < 0 {
			continue
		}
		g := Generation{Number: n, Dir: d, Scored: d.Path(generations, e.Name(), Scored), Stats: d.Path(generations, e.Name(), Stats)}
		info, err := os.Stat(g.Scored)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: it is a %s, not a regular file", g.Scored, atomicfile.Kind(info.Mode()))
		}
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b Generation) int { return cmp.Compare(a.Number, b.Number) })
	return list, nil
}
