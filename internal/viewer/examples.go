package viewer

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/report"
	"spoor/internal/run"
)

// Limits of examples, the pages that users have named as relevant or not.
const (
	maxExample = 2048 // bytes of an address that can be named
	maxNamed   = 200  // examples on a page
)

// An example is a named page.
type example struct {
	URL, Href string
	Address   string // as in the file; "" if no button can send it
	Relevant  bool
}

// teaches reports whether a crawl learns from examples: then crawl has given the stage evolve the flag -examples.
func teaches(s *run.Settings) bool {
	return !slices.Contains(s.Replaced, "evolve") && strings.Contains(s.Ran["evolve"], " -examples ")
}

// readExamples returns the examples of the run, nil if there are none.
func (c *crawl) readExamples() map[string]bool {
	list, err := c.examples.get(c.dir.Path(run.ExamplesFile), func() (map[string]bool, error) {
		list, _, err := run.ReadExamples(c.dir.Path(run.ExamplesFile)) // crawl reports the lines that it cannot parse
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return list, err
	})
	c.note(run.ExamplesFile, err)
	return list
}

// examplesSince returns the generation from which on the examples are used as they are now; 0 if none is.
func (c *crawl) examplesSince() int {
	last := run.LastExamples(c.dir.Generations(), c.totals.Generation+1)
	if last == "" {
		return 0
	}
	used, _ := readFile(last, run.MaxExamples)
	now, err := readFile(c.dir.Path(run.ExamplesFile), run.MaxExamples)
	if err != nil || !bytes.Equal(used, now) { // readExamples has noted the error
		return 0
	}
	generation, _ := strconv.Atoi(filepath.Base(filepath.Dir(last))) // its name is a number
	return generation
}

// name sets the examples of a page.
func (p *page) name(examples map[string]bool) {
	for _, address := range slices.Sorted(maps.Keys(examples)) {
		if len(p.Examples) == maxNamed {
			p.MoreNamed = len(examples) - maxNamed
			break
		}
		p.Examples = append(p.Examples, example{report.Text(address, maxURL), report.Link(address), nameable(address), examples[address]})
	}
	p.Generation.Found = slices.Clone(p.Generation.Found)
	for i := range p.Generation.Found {
		f := &p.Generation.Found[i]
		relevant, named := examples[f.Address]
		f.Named = map[bool]string{true: "yes", false: "no"}[relevant]
		if !named {
			f.Named = ""
		}
	}
}

// nameable returns the address if it can be a line of the file of examples, otherwise "".
func nameable(address string) string {
	if !run.IsAddress(address) || len(address) > maxExample || !isPrintable(address) || strings.Contains(address, " ") {
		return ""
	}
	return strings.Clone(address)
}

// signs are the first characters of lines of the file of examples, by the value of a button.
var signs = map[string]string{"yes": "+", "no": "-", "undo": "="}

// nameExample adds a line to the file of examples, and shows the run again.
func (c *crawl) nameExample(w http.ResponseWriter, r *http.Request, settings *run.Settings) {
	address, sign := nameable(r.PostFormValue("url")), signs[r.PostFormValue("about")]
	switch {
	case settings == nil || !teaches(settings):
		fail(w, http.StatusConflict, "The crawl does not learn from examples.", "The strategy forage does, on one machine.")
		return
	case address == "" || sign == "":
		fail(w, http.StatusBadRequest, "The request names no page.", "")
		return
	}
	c.mu.Lock()
	err := appendLine(c.dir.Path(run.ExamplesFile), sign+" "+address)
	c.looked = time.Time{} // look at the file at once
	c.mu.Unlock()
	if err != nil {
		c.server.log.Warn("an example could not be noted", "run", c.dir, "err", err)
		fail(w, http.StatusInternalServerError, "The example could not be noted.", "The messages of serve say why.")
		return
	}
	http.Redirect(w, r, "./#last", http.StatusSeeOther)
}

// errManyExamples is the error if a file of examples is too long.
var errManyExamples = errors.New("the file of examples would have more than 1 MiB: remove lines that no longer count")

// appendLine adds a line to a file, which others may write, too.
func appendLine(name, text string) error {
	f, err := atomicfile.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size+int64(len(text))+2 > run.MaxExamples {
		return errManyExamples
	}
	var last [1]byte
	if size > 0 {
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = "\n" + text
		}
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}
