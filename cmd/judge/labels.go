package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
)

// What labels say of a page.
type mark uint8

const (
	unlabelled mark = iota // nothing
	irrelevant             // it has other labels, or none
	relevant
)

// String is the verdict on a page of that mark.
func (m mark) String() string {
	switch m {
	case relevant:
		return sayRelevant
	case irrelevant:
		return sayIrrelevant
	}
	return sayUnlabelled
}

// maxLabelLine is how many bytes a line of labels may have.
const maxLabelLine = 1 << 20

// marks is what labels say of the pages of a web, with respect to one label.
type marks struct {
	label   string
	of      []mark         // by page
	lines   int            // that are labels
	unknown int            // of these, of addresses that are not in the web
	found   map[string]int // how often there is which label
}

func newMarks(label string, pages int) *marks {
	return &marks{label: label, of: make([]mark, pages), found: map[string]int{}}
}

// add takes in what is said of a page, or of an address that is none. That a page is
// relevant is not unsaid by a second line, of another address of it.
func (m *marks) add(page int32, labels []string) {
	m.lines++
	for _, l := range labels {
		m.found[l]++
	}
	if page == none {
		m.unknown++
		return
	}
	said := irrelevant
	if slices.Contains(labels, m.label) {
		said = relevant
	}
	m.of[page] = max(m.of[page], said)
}

// check says which labels there are if there is none of that name.
func (m *marks) check() error {
	if m.found[m.label] > 0 {
		return nil
	}
	const most = 20
	names := slices.Sorted(maps.Keys(m.found))
	list := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		list += ", …"
	}
	if list == "" {
		return errors.New("there are no labels\nhint: labels are lines as {\"url\":\"http://a.example/\",\"labels\":[\"topic\"]}")
	}
	return fmt.Errorf("no page has the label %q\nhint: there are %s", m.label, list)
}

// readLabels reads lines as {"url":…,"labels":[…]}. A line that is none is reported
// and skipped.
func readLabels(r io.Reader, m *marks, find func(address string) int32, log *slog.Logger) error {
	strays := filter.Strays{Log: log}
	defer strays.Close()
	lines := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, long, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if text := strings.TrimSpace(string(line)); text != "" || long {
			var l struct {
				URL    string   `json:"url"`
				Labels []string `json:"labels"`
			}
			bad := errors.New("the line is too long")
			if !long {
				bad = json.Unmarshal([]byte(text), &l)
			}
			if bad == nil && l.URL == "" {
				bad = errors.New("it has no url")
			}
			if bad != nil {
				strays.Report("skipped a line that is no label", "line", n, "err", bad)
			} else {
				m.add(find(l.URL), l.Labels)
			}
		}
		if err != nil {
			return nil
		}
	}
}

// readLine reads a line; of one that is too long nothing is kept.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLabelLine; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// labelsOf reads a file of labels.
func labelsOf(name string, m *marks, find func(address string) int32, log *slog.Logger) error {
	f, err := filter.Open(nil, []string{name})
	if err == nil {
		defer f.Close()
		err = readLabels(f, m, find, log)
	}
	if err != nil {
		return fmt.Errorf("-labels: %w", err)
	}
	return nil
}
