package strategy

// This file reads and writes priors. A prior holds what forage learned in finished crawls; the next
// crawl starts from it. forage_learn.go makes priors, forage_prior.go uses them.

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"spoor/internal/atomicfile"
)

// PriorFormat and PriorVersion identify a prior.
const (
	PriorFormat  = "spoor-prior"
	PriorVersion = 1
)

// Limits of a prior that is read or written.
const (
	maxPriorFile      = 16 << 20 // bytes
	maxLearned        = 20_000   // entries of a list
	maxLearnedWord    = 1024     // bytes
	maxLearnedWeight  = 10
	maxPriorPrecision = 1000
)

// A Prior holds the weights learned in crawls. It has no addresses and no labels.
type Prior struct {
	Format   string             `json:"format"`   // [PriorFormat]
	Version  int                `json:"version"`  // [PriorVersion]
	Language string             `json:"language"` // of the words, as in the topics of the crawls
	Stemmer  string             `json:"stemmer"`
	Runs     int                `json:"runs"`     // number of runs from which the prior was learned
	Webs     int                `json:"webs"`     // number of webs of the runs
	Pages    int                `json:"pages"`    // number of pages fetched by the runs
	Signals  map[string]float64 `json:"signals"`  // weights of all signals
	Relevant []Learned          `json:"relevant"` // links that lead to relevant pages
	Hubs     []Learned          `json:"hubs"`     // links that lead to pages with links to relevant pages
	Lists    []Learned          `json:"lists"`    // pages with links to relevant pages
}

// Learned is a feature of a link or of a page, with its expected weight in a crawl: how much its
// presence adds to the relevance of the pages that the link or page leads to.
type Learned struct {
	In        string  `json:"in"`   // anchor, address, context or path; of pages: text or title
	Word      string  `json:"word"` // a stem; of in path, a path of tags
	Weight    float64 `json:"weight"`
	Precision float64 `json:"precision"` // precision of the weight, relative to a weight without a prior
}

// lists returns the lists of a prior with their names, and the places that their words may be in.
func (p *Prior) lists() [priorLists]priorList {
	links := featureNames[:featureDirectory]
	return [priorLists]priorList{
		priorRelevant: {"relevant", &p.Relevant, links},
		priorHubs:     {"hubs", &p.Hubs, links},
		priorKinds:    {"lists", &p.Lists, kindNames[:]},
	}
}

// The lists of a prior.
const (
	priorRelevant = iota
	priorHubs
	priorKinds
	priorLists
)

type priorList struct {
	name   string
	list   *[]Learned
	places []string
}

// compareLearned orders the entries of a list by the words.
func compareLearned(a, b Learned) int {
	return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Word, b.Word))
}

// Write writes the prior as JSON with one entry per line.
func (p *Prior) Write(w io.Writer) error {
	var b bytes.Buffer
	field := func(name string, value any) {
		text, err := json.Marshal(value)
		if err != nil { // NaN: check excludes it
			panic(err)
		}
		fmt.Fprintf(&b, "  %q: %s,\n", name, text)
	}
	if err := p.check(); err != nil {
		return err
	}
	b.WriteString("{\n")
	field("format", p.Format)
	field("version", p.Version)
	field("language", p.Language)
	field("stemmer", p.Stemmer)
	field("runs", p.Runs)
	field("webs", p.Webs)
	field("pages", p.Pages)
	field("signals", p.Signals)
	for _, l := range p.lists() {
		fmt.Fprintf(&b, "  %q: [", l.name)
		for i, e := range *l.list {
			text, err := json.Marshal(e)
			if err != nil {
				return err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "\n    %s", text)
		}
		b.WriteString("],\n")
	}
	b.Truncate(b.Len() - len(",\n"))
	b.WriteString("\n}\n")
	if b.Len() > maxPriorFile {
		return fmt.Errorf("the prior would be larger than %d MiB", maxPriorFile>>20)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// LoadPrior reads the prior called name. Its errors contain the name.
func LoadPrior(name string) (*Prior, error) {
	data, err := atomicfile.ReadFile(name, maxPriorFile)
	if err != nil {
		return nil, fmt.Errorf("prior: %w\nhint: evolve -learn RUN… > %s makes one", err, name)
	}
	p, err := readPrior(data)
	if err != nil {
		return nil, fmt.Errorf("prior %s: %w", name, err)
	}
	return p, nil
}

// readPrior decodes and checks a prior.
func readPrior(data []byte) (*Prior, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	err := json.Unmarshal(data, &head)
	if err == nil && head.Format != PriorFormat {
		err = fmt.Errorf("its format is %q, not %q", head.Format, PriorFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("not a prior: %w\nhint: evolve -learn makes one", err)
	}
	if head.Version != PriorVersion {
		return nil, fmt.Errorf("version %d is not the one that this program reads (%d)\nhint: make the prior again, with evolve -learn", head.Version, PriorVersion)
	}
	p := new(Prior)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, err
	}
	return p, p.check()
}

// check returns an error if the prior is not valid.
func (p *Prior) check() error {
	if p.Runs < 0 || p.Webs < 0 || p.Pages < 0 {
		return errors.New("runs, webs and pages must not be negative")
	}
	if len(p.Signals) != signals {
		return fmt.Errorf("signals has %d weights, not %d", len(p.Signals), signals)
	}
	for _, name := range signalNames {
		if w, ok := p.Signals[name]; !ok || !within(w, maxLearnedWeight) {
			return fmt.Errorf("signals: the weight of %q must be a number from -%d to %[2]d", name, maxLearnedWeight)
		}
	}
	for _, l := range p.lists() {
		if len(*l.list) > maxLearned {
			return fmt.Errorf("%s has %d entries, and at most %d are read", l.name, len(*l.list), maxLearned)
		}
		for i, e := range *l.list {
			switch {
			case !slices.Contains(l.places, e.In):
				return fmt.Errorf("%s, entry %d: in is %q, not one of %s", l.name, i+1, e.In, strings.Join(l.places, ", "))
			case len(e.Word) > maxLearnedWord:
				return fmt.Errorf("%s, entry %d: the word has %d bytes, and at most %d are read", l.name, i+1, len(e.Word), maxLearnedWord)
			case !within(e.Weight, maxLearnedWeight):
				return fmt.Errorf("%s, entry %d: the weight %g is not from -%d to %[4]d", l.name, i+1, e.Weight, maxLearnedWeight)
			case !(0 < e.Precision && e.Precision <= maxPriorPrecision):
				return fmt.Errorf("%s, entry %d: the precision %g is not above 0 and at most %d", l.name, i+1, e.Precision, maxPriorPrecision)
			case i > 0 && compareLearned((*l.list)[i-1], e) >= 0:
				return fmt.Errorf("%s, entry %d: entries must be ordered by in and word, each once", l.name, i+1)
			}
		}
	}
	return nil
}

func within(x, bound float64) bool { return math.Abs(x) <= bound } // false for NaN

// digest returns a digest of the prior's content.
func (p *Prior) digest() (string, error) {
	h := sha256.New()
	if err := p.Write(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// A primed strategy can start from a prior.
type primed interface {
	Strategy
	// start sets the prior. It is called before anything is visited or restored.
	start(*Prior) error
	// origin returns the digest of the prior, or "" if there is none.
	origin() string
}

// Start sets the prior of a new strategy.
func Start(s Strategy, p *Prior) error {
	if s, ok := s.(primed); ok {
		return s.start(p)
	}
	return errors.New("the strategy does not use a prior\nhint: -strategy forage does")
}
