// Package strategy decides where a crawl looks next. One file is one paper, or
// one baseline that the papers are compared with; memory.go is what they all
// remember, journal.go how that survives between two runs of evolve.
//
// A strategy sees scored records, never a label: who steers does not judge.
package strategy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A Strategy reads one scored generation after the other and breeds the
// addresses of the next.
type Strategy interface {
	// Visit learns what came of one address of this generation, in fetch order:
	// a page with its score and links, or a failure. It keeps nothing of rec.
	Visit(rec *wire.Record)

	// Breed ends the generation and returns the addresses to wait for next, and
	// the queries to answer. n is how many addresses will be fetched in a
	// generation. A generation without any outcome means that the frontier had
	// nothing left: what the strategy was still waiting for will not come.
	Breed(n int, rng *rand.Rand) []Address

	// AppendDelta appends to b what the strategy has learned since the last
	// delta; Replay takes the deltas back, in order, into a new strategy with
	// the same parameters.
	AppendDelta(b []byte) []byte
	Replay(b []byte) error

	// Params are the strategy's parameters, bound to its fields.
	Params() []Param
}

// An aimed strategy goes by the words of the topic and not by scores alone.
type aimed interface {
	Strategy
	// aim tells the topic, before anything else but the parameters, and again
	// whenever it has grown between two generations.
	aim(*topic.Topic) error
}

// An Address is what a strategy proposes to fetch, or, without a URL, a query
// whose results are to be fetched.
type Address struct {
	URL      string
	Query    string
	Via      string   // the page it was found on
	Parents  []string // all pages that brought it, if there are several
	Operator string
	Niche    string
	Depth    int
	Priority float64       // higher is sooner; the first result of a query has that of the query
	Reasons  []wire.Scored // the numbers that chose it, sorted by name
}

// Fill makes rec the address, asked for by generation.
func (a *Address) Fill(rec *wire.Record, generation int) {
	rec.Reset()
	rec.V, rec.URL, rec.Generation, rec.Depth = wire.Version, a.URL, generation, a.Depth
	rec.Query, rec.Via, rec.Operator, rec.Niche = a.Query, a.Via, a.Operator, a.Niche
	rec.Parents = append(rec.Parents, a.Parents...)
	rec.Reasons = append(rec.Reasons, a.Reasons...)
	rec.Priority = wire.Num(a.Priority)
}

// Operators, as they stand in the records. Seeds come from elsewhere.
const (
	opLink      = "link"
	opChild     = "child"
	opCrossover = "crossover"
	opMutation  = "mutation"
	opRestart   = "restart"
)

// maxParents bounds the lineage that a record carries.
const maxParents = 16

// New returns the strategy called name, with parameters set by "name=value", for a
// topic, which may be nil for a strategy that goes by scores alone.
func New(name string, t *topic.Topic, params []string) (Strategy, error) {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.Name)
		}
		return nil, fmt.Errorf("unknown strategy %q\nhint: the strategies are %s", name, strings.Join(names, ", "))
	}
	s := kinds[i].New()
	for _, p := range params {
		key, value, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("parameter %q is not name=value\nhint: evolve -strategies lists the parameters of %s", p, name)
		}
		if err := setParam(s, key, value); err != nil {
			return nil, fmt.Errorf("strategy %s: %w", name, err)
		}
	}
	if _, ok := s.(aimed); ok && t == nil {
		return nil, fmt.Errorf("strategy %s goes by the words of the topic\nhint: -topic FILE", name)
	}
	if err := Aim(s, t); err != nil {
		return nil, fmt.Errorf("strategy %s: %w", name, err)
	}
	return s, nil
}

// Aim tells s that the topic has become t, between two generations: after Breed and
// before the next Visit. Only the table of a topic grows; its language and its keywords
// stay. To a strategy that goes by scores alone it says nothing.
func Aim(s Strategy, t *topic.Topic) error {
	if s, ok := s.(aimed); ok {
		return s.aim(t)
	}
	return nil
}

// A Param is a parameter of a strategy.
type Param struct {
	Name  string
	Doc   string
	Value any // *float64, *int, *bool or *string, in the strategy
	Range [2]float64
	Words []string // what a string may be
}

// String returns the present value.
func (p Param) String() string {
	switch v := p.Value.(type) {
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case *int:
		return strconv.Itoa(*v)
	case *bool:
		return strconv.FormatBool(*v)
	case *string:
		return *v
	}
	return ""
}

func setParam(s Strategy, name, value string) error {
	var names []string
	for _, p := range s.Params() {
		if p.Name == name {
			return p.set(value)
		}
		names = append(names, p.Name)
	}
	if names == nil {
		return fmt.Errorf("no parameter %q: it has none", name)
	}
	return fmt.Errorf("no parameter %q\nhint: its parameters are %s", name, strings.Join(names, ", "))
}

func (p Param) set(value string) (err error) {
	var x float64
	switch v := p.Value.(type) {
	case *float64:
		x, err = strconv.ParseFloat(value, 64)
		*v = x
	case *int:
		*v, err = strconv.Atoi(value)
		x = float64(*v)
	case *bool:
		*v, err = strconv.ParseBool(value)
		return p.explain(value, err != nil, "true or false")
	case *string:
		*v = value
		return p.explain(value, !slices.Contains(p.Words, value), strings.Join(p.Words, " or "))
	}
	outside := !(p.Range[0] <= x && x <= p.Range[1]) // NaN too
	return p.explain(value, err != nil || outside, fmt.Sprintf("a number from %g to %g", p.Range[0], p.Range[1]))
}

func (p Param) explain(value string, bad bool, want string) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("parameter %s=%q: want %s", p.Name, value, want)
}

// Signature returns the strategy's name with all its parameters: two strategies with
// one signature understand each other's state.
func Signature(name string, s Strategy) string {
	var b strings.Builder
	b.WriteString(name)
	for _, p := range s.Params() {
		fmt.Fprintf(&b, " %s=%s", p.Name, p)
	}
	return b.String()
}
