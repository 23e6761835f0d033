package run

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"spoor/internal/atomicfile"
)

// ExamplesFile is the file of a run directory in which the user names fetched pages as examples. A line is a sign, a
// space and an address: + for a page about the topic, - for a page that is not, = for one that is no example any
// more. The last line of an address counts. A generation has a copy with the same name if the file has changed
// before it began.
const ExamplesFile = "examples"

// maxExamples limits the size of a file of examples, in bytes.
const maxExamples = 4 << 20

// ReadExamples reads a file of examples. It returns whether each page is about the topic, by address, and the
// lines that it could not parse.
func ReadExamples(name string) (relevant map[string]bool, bad []string, err error) {
	b, err := atomicfile.ReadFile(name, maxExamples)
	if err != nil {
		return nil, nil, err
	}
	relevant, bad = parseExamples(b)
	return relevant, bad, nil
}

func parseExamples(b []byte) (relevant map[string]bool, bad []string) {
	relevant = map[string]bool{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		sign, url, _ := strings.Cut(line, " ")
		url = strings.TrimSpace(url)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !IsAddress(url) || strings.ContainsAny(url, " \t"):
			bad = append(bad, line)
		case sign == "+", sign == "-":
			relevant[url] = sign == "+"
		case sign == "=":
			delete(relevant, url)
		default:
			bad = append(bad, line)
		}
	}
	return relevant, bad
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

// keepExamples copies the examples to generation g, if they have changed since they were last copied. A file that
// cannot be read does not end the crawl: the user may write it at any time.
func (c *Crawl) keepExamples(g int) error {
	name := c.Dir.Path(ExamplesFile)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.examples == nil:
		return nil
	case err == nil && c.examples != nil && info.Size() == c.examples.Size() && info.ModTime().Equal(c.examples.ModTime()):
		return nil
	}
	c.examples = info
	now, err := atomicfile.ReadFile(name, maxExamples)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.View.Say("%s is not used, and earlier examples stay: %v", name, err)
		return nil
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
	relevant, bad := parseExamples(now)
	for _, line := range bad[:min(len(bad), 3)] {
		c.View.Say("%s: a line is not + or - and an address: %.100q", name, line)
	}
	if evolve := c.Stages.find("evolve"); !c.teaches || evolve == nil || !evolve.Own || c.Settings.Partition != "" {
		why := "the strategy " + c.Settings.Strategy + " does not learn from examples"
		switch {
		case evolve == nil || !evolve.Own:
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
