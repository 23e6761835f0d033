package run

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"spoor/internal/atomicfile"
)

// ExamplesFile is the file of a run directory in which somebody names fetched pages as examples, a line each:
//
//   - https://example.org/jazz
//   - https://example.org/cookies
//
// The first is about the topic, the second is not. The last line of an address counts; = instead of + or - takes the
// others back. A generation has a copy with the same name if the file has changed before it began.
const ExamplesFile = "examples"

// maxExamples limits the size of a file of examples, in bytes.
const maxExamples = 4 << 20

// ReadExamples reads a file of examples. It returns whether each page is about the topic, by address, and the
// lines that it could not read.
func ReadExamples(name string) (relevant map[string]bool, bad []string, err error) {
	b, err := atomicfile.ReadFile(name, maxExamples)
	if err != nil {
		return nil, nil, err
	}
	relevant = map[string]bool{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		sign, url, _ := strings.Cut(line, " ")
		url = strings.TrimSpace(url)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case url == "":
			bad = append(bad, line)
		case sign == "+", sign == "-":
			relevant[url] = sign == "+"
		case sign == "=":
			delete(relevant, url)
		default:
			bad = append(bad, line)
		}
	}
	return relevant, bad, nil
}

// LastExamples returns the name of the newest file of examples of the generations up to g, "" if there is none.
func LastExamples(generations string, g int) string {
	for ; g > 0; g-- {
		if name := File(generations, g, ExamplesFile); exists(name) {
			return name
		}
	}
	return ""
}

// keepExamples copies the examples to generation g, if they have changed since they were last copied.
func (c *Crawl) keepExamples(g int) error {
	name := c.Dir.Path(ExamplesFile)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.examples == nil:
		return nil
	case err == nil && c.examples != nil && info.Size() == c.examples.Size() && info.ModTime().Equal(c.examples.ModTime()):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	c.examples = info
	now, err := readSmall(name)
	if err != nil {
		return err
	}
	before := []byte(nil)
	if last := LastExamples(c.Dir.Generations(), g); last != "" {
		if before, err = readSmall(last); err != nil {
			return err
		}
	}
	if bytes.Equal(before, now) {
		return nil
	}
	relevant, bad, err := ReadExamples(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	for _, line := range bad[:min(len(bad), 3)] {
		c.View.Say("%s: a line is not + or - and an address: %.100q", name, line)
	}
	if evolve := c.Stages.find("evolve"); !c.teaches || !evolve.Own || c.Settings.Partition != "" {
		why := "the strategy " + c.Settings.Strategy + " does not learn from examples"
		switch {
		case !evolve.Own:
			why = "the stage evolve is your command"
		case c.Settings.Partition != "":
			why = "the crawl runs on several machines"
		}
		c.View.Say("%s is not used: %s", name, why)
		return nil
	}
	about := 0
	for _, yes := range relevant {
		if yes {
			about++
		}
	}
	c.View.Note("learns from %s about the topic and %d on others, from generation %d on", plural(about, "page"), len(relevant)-about, g)
	if err := os.MkdirAll(c.Dir.File(g, ""), 0o777); err != nil {
		return err
	}
	return atomicfile.WriteBytes(c.Dir.File(g, ExamplesFile), now)
}
