package run

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"spoor/internal/atomicfile"
	"spoor/internal/weburl"
)

// ExamplesFile is the file of a run directory in which the user names fetched pages as examples. A line is a sign, a
// space and an address: + for a page about the topic, - for a page that is not, = for one that is no example any
// more. The last line of an address counts, however it is spelled. A generation has a copy with the same name if
// the file has changed before it began, an empty one if it was removed.
const ExamplesFile = "examples"

// MaxExamples limits the size of a file of examples, in bytes.
const MaxExamples = 1 << 20

// ReadExamples reads a file of examples. It returns whether each page is about the topic, by canonical
// address, and the lines that it could not parse.
func ReadExamples(name string) (relevant map[string]bool, bad []string, err error) {
	b, err := atomicfile.ReadFile(name, MaxExamples)
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
		canonical, err := weburl.Canonical(url)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case err != nil || !IsAddress(canonical) || strings.ContainsAny(url, " \t"):
			bad = append(bad, line)
		case sign == "+", sign == "-":
			relevant[canonical] = sign == "+"
		case sign == "=":
			delete(relevant, canonical)
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

// keepExamples copies the examples to generation g, if they have changed since they were last copied. It copies them
// also if the crawl cannot use them, so that the warning is not repeated in each generation. A file that cannot be
// read does not end the crawl: the user may write it at any time.
func (c *Crawl) keepExamples(g int) error {
	name := c.Dir.Path(ExamplesFile)
	info, err := os.Lstat(name)
	switch {
	case !c.looked:
	case errors.Is(err, fs.ErrNotExist) && c.examples == nil:
		return nil
	case err == nil && c.examples != nil && info.Size() == c.examples.Size() && info.ModTime().Equal(c.examples.ModTime()):
		return nil
	}
	c.examples, c.looked = info, true
	now, err := atomicfile.ReadFile(name, MaxExamples)
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
	c.sayExamples(name, now, g)
	if err := os.MkdirAll(c.Dir.File(g, ""), 0o777); err != nil {
		return err
	}
	return atomicfile.WriteBytes(c.Dir.File(g, ExamplesFile), now)
}

// sayExamples says from which examples the crawl learns in generation g, or why from none.
func (c *Crawl) sayExamples(name string, text []byte, g int) {
	relevant, bad := parseExamples(text)
	for _, line := range bad[:min(len(bad), 3)] {
		c.View.Say("%s: a line is not + or - and an address: %.100q", name, line)
	}
	evolve := c.Stages.find("evolve")
	switch {
	case evolve == nil || !evolve.Own:
		c.View.Say("%s is not used: the stage evolve is your command", name)
	case c.Settings.Partition != "":
		c.View.Say("%s is not used: the crawl runs on several machines", name)
	case !c.teaches:
		c.View.Say("%s is not used: the strategy %s does not learn from examples", name, c.Settings.Strategy)
	default:
		about := 0
		for _, yes := range relevant {
			if yes {
				about++
			}
		}
		c.View.Note("learns from %s about the topic and %d on others, from generation %d on", plural(about, "page"), len(relevant)-about, g)
	}
}
