package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"spoor/internal/wire"
)

// A Source holds the files of a run directory, or as many as exist.
type Source struct {
	Name        string
	Settings    []byte    // a name, a space and a value on each line
	Topic       []byte    // the topic file, the last one if pages have expanded the topic
	StopReason  []byte    // one word
	Summary     []byte    // the judge's summary, a JSON object
	Stages      io.Reader // the log of the stages; nil if unknown
	Verdicts    io.Reader // the judge's records, in the order of the run; nil without a judge
	Generations []Part    // sorted by Number; in a crawl on several machines, then by partition

	// Estimate adds what the strategy itself estimated of a page to its scores, under the name of the
	// strategy. It is called with records in the order of fetching. nil: the records have it, or there is none.
	Estimate func(*wire.Record) error

	// Fault is called for each error that affects only a part of the report.
	Fault func(error)
}

// A Part holds the files of one generation, or of one partition in a generation.
type Part struct {
	Number int
	Stats  []byte                        // the crawl's summary of the part, a JSON object; nil if the generation is not complete
	Open   func() (io.ReadCloser, error) // opens the scored records, in the order of fetching; called at most twice
}

// Read reads a run.
//
// It reads the records twice: in order, to count them, and by generation in reverse order,
// for the lineages of the pages that are shown. It needs up to 45 bytes of memory for each
// record and 115 more for each host. Malformed lines and damaged small files are skipped and passed to
// Fault. Records and verdicts are matched by address. It is an error if verdicts have no record,
// because they belong to another run, or if a part cannot be read. Fault also receives an error if the run
// has continued after it was judged.
func Read(s *Source) (*Run, error) {
	c := collector{
		source:    s,
		operators: newNames(maxNames),
		niches:    newNames(maxNames),
		hosts:     map[string]*hostTally{},
		errors:    map[string]int{},
		skipped:   map[string]int{},
		judged:    map[string]int{},
		classes:   map[string]int{},
		queries:   map[string][]Reason{},
		shown:     map[string]bool{},

		lowestRelevant:    math.NaN(),
		highestIrrelevant: math.NaN(),
		threshold:         math.NaN(),
	}
	c.run = Run{Name: clean(s.Name, maxWords)}
	c.settings()
	c.topic()
	c.stages()
	c.judge()
	c.run.StopReason = clean(strings.TrimSpace(string(s.StopReason)), maxName)
	for i := range s.Generations {
		if err := c.forward(&s.Generations[i]); err != nil {
			return nil, err
		}
	}
	if err := c.verdicts.end(); err != nil {
		return nil, err
	}
	if c.unjudged > 0 {
		c.fault(fmt.Errorf("%d records have no verdict: judge the run again", c.unjudged))
	} else if m := c.run.Measures; m != nil && m.Cost < c.run.Fetched {
		c.fault(fmt.Errorf("the judge's summary is about the first %d of %d fetches: judge the run again", m.Cost, c.run.Fetched))
	}
	if err := c.backward(); err != nil {
		return nil, err
	}
	return c.finish(), nil
}

func (c *collector) fault(err error) {
	if c.source.Fault != nil {
		c.source.Fault(err)
	}
}

// maxFaults is the maximum number of malformed lines that are passed to Fault.
const maxFaults = 10

func (c *collector) malformed(err error) {
	c.skipped[malformed]++
	if c.skipped[malformed] <= maxFaults {
		c.fault(err)
	}
}

// malformed is the name of malformed lines in the log of the stages.
const malformed = "malformed"

const sections = wire.Address | wire.Fetch | wire.Parse | wire.Score

// each calls f with every record of the part.
func (p *Part) each(fault func(error), f func(*wire.Record)) error {
	file, err := p.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	r := wire.NewReader(file, sections)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		bad, isBad := errors.AsType[*wire.SyntaxError](err)
		switch {
		case err == nil:
			f(&rec)
		case isBad:
			fault(fmt.Errorf("generation %d: %w", p.Number, bad))
		case errors.Is(err, io.EOF):
			return nil
		default:
			return fmt.Errorf("generation %d: %w", p.Number, err)
		}
	}
}

func (c *collector) forward(p *Part) error {
	if len(c.turns) == 0 || c.turns[len(c.turns)-1].number != p.Number {
		c.turns = append(c.turns, generationCounts{number: p.Number, operators: map[int]pair{}, niches: map[int]pair{}})
	}
	t := &c.turns[len(c.turns)-1]
	t.parts = append(t.parts, p)
	err := p.each(c.malformed, func(rec *wire.Record) {
		if c.source.Estimate != nil {
			if err := c.source.Estimate(rec); err != nil {
				c.source.Estimate = nil
				c.fault(fmt.Errorf("the estimates of the strategy: %w", err))
			}
		}
		c.add(rec)
	})
	if err != nil {
		return err
	}
	if len(p.Stats) == 0 {
		return nil
	}
	var stats struct{ Seconds float64 }
	if err := json.Unmarshal(p.Stats, &stats); err != nil {
		c.fault(fmt.Errorf("generation %d: stats: %w", p.Number, err))
		return nil
	}
	t.seconds = max(t.seconds, stats.Seconds)
	return nil
}

func (c *collector) settings() {
	own := false // whether the strategy is one of the user
	for line := range strings.Lines(string(c.source.Settings)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if value == "" || value == "-param" || name == "seeds" || len(c.run.Settings) == MaxSettings {
			continue // a separator line before the parameters, or the checksum of the seeds
		}
		if strings.HasPrefix(value, "/") {
			value = path.Base(value)
		}
		if stage, command, ok := strings.Cut(value, " "); ok && name == "stage" {
			name, value = name+" "+stage, command
		}
		c.run.Expands = c.run.Expands || strings.HasPrefix(name, "stage ") && strings.Contains(value, " -expand ")
		s := Setting{clean(name, maxName), clean(value, maxWords)}
		c.run.Settings = append(c.run.Settings, s)
		switch {
		case name == "strategy" && c.run.Strategy == "":
			c.run.Strategy = s.Value
		case name == "replaced" && value == "evolve":
			own = true
		case name == "fitness" && value != "default":
			c.run.Fitness.Measure, _, _ = strings.Cut(s.Value, ",") // the first one steers
		}
	}
	if !own {
		return
	}
	if c.run.Strategy == "" || c.run.Strategy == "own" || c.run.Strategy == "forage" { // runs of earlier versions have the default
		c.run.Strategy = "own"
	} else {
		c.run.Strategy += " (own)"
	}
	for i := range c.run.Settings {
		if c.run.Settings[i].Name == "strategy" {
			c.run.Settings[i].Value = c.run.Strategy
		}
	}
}

// held is the name of addresses that the strategy held back.
const held = "evolve: probable copies"

// stages counts what the stages have skipped, according to their closing lines:
//
//	level=INFO msg=done cmd=parse in=20 out=19 skipped_malformed=1 seconds=0.1
//
// The queries that frontier add skips are ignored: they are meant for search.
func (c *collector) stages() {
	if c.source.Stages == nil {
		return
	}
	lines := bufio.NewScanner(c.source.Stages)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line, closing := strings.CutPrefix(lines.Text(), "level=INFO msg=done cmd=")
		if !closing {
			continue
		}
		cmd, rest, _ := strings.Cut(line, " ")
		if quoted, ok := strings.CutPrefix(line, `"`); ok {
			cmd, rest, _ = strings.Cut(quoted, `"`)
		}
		if cmd == "evolve" {
			delete(c.skipped, held) // only those of the last generation count
		}
		for field := range strings.FieldsSeq(rest) {
			reason, number, _ := strings.Cut(field, "=")
			reason, skipped := strings.CutPrefix(reason, "skipped_")
			n, err := strconv.Atoi(number)
			if cmd == "evolve" && reason == "held_copies" && err == nil && 0 < n && n < maxCost {
				c.skipped[held] = n
			}
			if skipped && err == nil && n > 0 && n < maxCost && reason != "query" {
				tally(c.skipped, cmd+": "+reason, n)
			}
		}
	}
	if err := lines.Err(); err != nil {
		c.fault(fmt.Errorf("log of the stages: %w", err))
	}
}

// topic reads the words of the topic, and its table.
func (c *collector) topic() {
	if len(c.source.Topic) == 0 {
		return
	}
	var topic struct {
		Query     string
		Keywords  []struct{ Text string }
		Threshold *float64
		Table     []topicWord
		Growth    *Growth
	}
	if err := json.Unmarshal(wire.TrimBOM(c.source.Topic), &topic); err != nil {
		c.fault(fmt.Errorf("topic: %w", err))
		return
	}
	if topic.Threshold != nil {
		c.threshold = *topic.Threshold
	}
	c.run.TableTotal, c.run.Table, c.run.Growth = len(topic.Table), table(topic.Table), topic.Growth
	words := topic.Query
	if words == "" {
		var all []string
		for _, k := range topic.Keywords[:min(maxWords, len(topic.Keywords))] {
			all = append(all, k.Text)
		}
		words = strings.Join(all, ", ")
	}
	c.run.Topic = clean(words, maxWords)
}
