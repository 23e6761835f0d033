package closedweb

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"spoor/internal/judge"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// maxLabelLine is the maximum length of a line of labels, in bytes.
const maxLabelLine = 1 << 20

// Labels holds a verdict for each page of a web: whether it has a given label.
type Labels struct {
	Lines   int // number of lines that were read
	Unknown int // how many of these are about pages outside the web

	// An address outside the web, and the address of a page of the web that differs from it only in
	// scheme, www. or trailing slash. Nearest is "" if no such address was found.
	Example, Nearest string

	label    string
	web      *Web
	verdicts []Verdict      // of each page
	count    map[string]int // number of lines with each label
}

// NewLabels returns labels of w, in which all pages are unlabelled.
func NewLabels(w *Web, label string) *Labels {
	return &Labels{label: label, web: w, verdicts: make([]Verdict, w.Len()), count: map[string]int{}}
}

// Labels returns the labels in the graph file that the web was read from.
func (w *Web) Labels(label string) *Labels {
	l := NewLabels(w, label)
	for _, of := range w.labelled {
		l.add(of.page, of.labels)
	}
	return l
}

// add adds the labels of a page, or of an address outside the web. A page is relevant if any of
// its addresses has the label.
func (l *Labels) add(page int32, labels []string) {
	l.Lines++
	for _, name := range labels {
		l.count[name]++
	}
	if page == judge.None {
		l.Unknown++
		return
	}
	v := Irrelevant
	if slices.Contains(labels, l.label) {
		v = Relevant
	}
	l.verdicts[page] = max(l.verdicts[page], v)
}

// Verdict returns Relevant if the page has the label, Irrelevant if it has other labels or an
// empty list of labels, and Unlabelled if no line is about the page.
func (l *Labels) Verdict(page int32) Verdict {
	if page == judge.None {
		return Unlabelled
	}
	return l.verdicts[page]
}

// Apply marks the relevant pages of the web. It returns an error if no line has the label, or no line
// is about a page of the web.
func (l *Labels) Apply() error {
	if err := l.check(); err != nil {
		return err
	}
	for page, v := range l.verdicts {
		l.web.Relevant[page] = v == Relevant
	}
	return nil
}

// check returns an error that lists the existing labels, if no line has the label, or one of
// checkAddresses.
func (l *Labels) check() error {
	if l.count[l.label] > 0 {
		return l.checkAddresses()
	}
	const maxListed = 20
	names := slices.Sorted(maps.Keys(l.count))
	list := strings.Join(names[:min(maxListed, len(names))], ", ")
	if len(names) > maxListed {
		list += ", …"
	}
	if list == "" {
		return errors.New("there are no labels\nhint: labels are lines as {\"url\":\"http://a.example/\",\"labels\":[\"topic\"]}")
	}
	return fmt.Errorf("no page has the label %q\nhint: there are %s", l.label, list)
}

// checkAddresses returns an error with an example, if all addresses are outside the web.
func (l *Labels) checkAddresses() error {
	switch {
	case l.Unknown < l.Lines:
		return nil
	case l.Nearest != "":
		return fmt.Errorf("none of the labels' addresses is in the web: not %s, but %s is", l.Example, l.Nearest)
	}
	return fmt.Errorf("none of the labels' addresses is in the web: not %s\nhint: are they labels of this web?", l.Example)
}

// Read reads lines such as {"url":"http://a.example/","labels":["jazz"]}. It skips other
// lines and calls badLine for each.
func (l *Labels) Read(r io.Reader, badLine func(line int, err error)) error {
	return eachLine(r, badLine, l.addLine)
}

// eachLine calls add with each line of r that is not empty. It calls badLine for lines that are too
// long, and if add returns an error.
func eachLine(r io.Reader, badLine func(line int, err error), add func(text string) error) error {
	lines := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, tooLong, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if tooLong {
			badLine(n, errors.New("the line is too long"))
		} else if text := strings.TrimSpace(wire.TrimBOM(string(line))); text != "" {
			if err := add(text); err != nil {
				badLine(n, err)
			}
		}
		if err != nil {
			return nil
		}
	}
}

func (l *Labels) addLine(text string) error {
	var line struct {
		URL    string   `json:"url"`
		Labels []string `json:"labels"`
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		return err
	}
	if line.URL == "" {
		return errors.New("it has no url")
	}
	page := l.web.Find(line.URL).Page
	l.add(page, line.Labels)
	if page == judge.None && l.Nearest == "" && l.Unknown <= maxCompared {
		l.compare(line.URL)
	}
	return nil
}

// maxCompared is the number of unknown addresses for which a similar page is looked for.
const maxCompared = 1000

// compare makes an unknown address the example, if it is the first or has a similar page.
func (l *Labels) compare(address string) {
	for _, other := range weburl.Similar(address) {
		if l.web.Find(other).Page != judge.None {
			l.Example, l.Nearest = address, other
			return
		}
	}
	if l.Example == "" {
		l.Example = address
	}
}

// readLine reads a line. It discards a line that is too long.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(piece) > maxLabelLine; tooLong {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}
