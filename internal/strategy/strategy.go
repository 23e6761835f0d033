// Package strategy decides which addresses a crawl fetches next. Each file implements one
// paper, or one baseline that the papers are compared with. memory.go holds the state that all
// strategies share, and journal.go saves the state between two runs of evolve.
//
// A strategy reads scored records and never labels: the labels that judge a crawl must not steer
// it.
package strategy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A Strategy reads one scored generation after another and proposes the addresses of the next.
type Strategy interface {
	// Visit records the outcome of one address of this generation, in fetch order: a page
	// with its score and links, or a failure. It does not retain rec.
	Visit(rec *wire.Record)

	// Breed ends the generation and returns the addresses to fetch and the queries to
	// answer. n is the number of addresses that a generation fetches. A generation without
	// any outcome means that the frontier was empty: addresses that are still pending will
	// not be fetched.
	Breed(n int, rng *rand.Rand) []Address

	// AppendDelta appends to b what the strategy has learned since the last delta. Replay
	// restores a delta; a new strategy with the same parameters replays all deltas in order.
	AppendDelta(b []byte) []byte
	Replay(b []byte) error

	// Params are the strategy's parameters, bound to its fields.
	Params() []Param
}

// An aimed strategy uses scores and the words of the topic.
type aimed interface {
	Strategy
	// aim sets the topic. It is called after the parameters are set and again whenever the
	// topic has grown between two generations.
	aim(*topic.Topic) error
}

// A teachable strategy learns from pages that the user has named as examples.
type teachable interface {
	Strategy
	// teach sets the examples: whether each is about the topic, by address. It is called after Breed and before the
	// next Visit. Addresses that are no fetched pages do not count.
	teach(relevant map[string]bool)
}

// A partitioned strategy keeps track of proposals whose outcomes are pending.
type partitioned interface {
	setForeign(func(url string) bool)
}

// Copies returns the number of known addresses that s held back in the last generation, because they
// probably lead to copies of pages that it knows: it proposes them when there are no others.
func Copies(s Strategy) int {
	if s, ok := s.(interface{ copies() int }); ok {
		return s.copies()
	}
	return 0
}

// An estimating strategy estimates how relevant pages are.
type estimating interface {
	estimate() (relevance float64, ok bool)
}

// Pages returns the number of addresses that s knows to be fetched, or to have failed.
func Pages(s Strategy) int {
	if s, ok := s.(interface{ outcomes() int }); ok {
		return s.outcomes()
	}
	return 0
}

// Restrict sets the function that reports whether another partition of the crawl fetches an address:
// s may propose such addresses, but gets no outcomes of them. Restrict is called before the first
// Visit and before the state is restored.
func Restrict(s Strategy, foreign func(url string) bool) {
	if s, ok := s.(partitioned); ok {
		s.setForeign(foreign)
	}
}

// Estimate returns the estimate, in [0, 1), of how relevant the page is that s has visited last. ok is
// false if s makes no estimates, or has none of this page: because it has not learned from enough pages
// yet, or because the page failed or was known.
func Estimate(s Strategy) (relevance float64, ok bool) {
	if s, is := s.(estimating); is {
		return s.estimate()
	}
	return 0, false
}

// Comparable reports whether priorities from different partitions of a crawl can be compared. They
// cannot be compared if they are only ranks within a generation.
func (k *Kind) Comparable() bool {
	_, numbers := k.New().(partitioned)
	return !numbers
}

// An Address is a proposal: an address to fetch or, without a URL, a query whose results are
// to be fetched.
type Address struct {
	URL      string
	Query    string
	Via      string   // the page it was found on
	Parents  []string // all pages that led to the address, if there are several
	Operator string
	Niche    string
	Depth    int
	Priority float64       // higher is fetched sooner; the first result of a query inherits it
	Reasons  []wire.Scored // the numbers behind the choice, sorted by name
}

// Fill sets rec to the address, requested by the given generation.
func (a *Address) Fill(rec *wire.Record, generation int) {
	rec.Reset()
	rec.V, rec.URL, rec.Generation, rec.Depth = wire.Version, a.URL, generation, min(a.Depth, wire.MaxCount)
	rec.Query, rec.Via, rec.Operator, rec.Niche = a.Query, a.Via, a.Operator, a.Niche
	rec.Parents = append(rec.Parents, a.Parents...)
	rec.Reasons = append(rec.Reasons, a.Reasons...)
	rec.Priority = wire.Num(a.Priority)
}

// Operators, as they appear in records. Seeds have another operator.
const (
	opLink      = "link"
	opChild     = "child"
	opCrossover = "crossover"
	opMutation  = "mutation"
	opRestart   = "restart"
	opTarget    = "target"
)

const maxParents = 16

// New returns the strategy called name for topic t, with parameters given as "name=value".
// Strategies that use only scores accept a nil topic.
func New(name string, t *topic.Topic, params []string) (Strategy, error) {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.Name)
		}
		return nil, fmt.Errorf("unknown strategy %q%s\nhint: the strategies are %s", name, didYouMean(name, names), strings.Join(names, ", "))
	}
	s := kinds[i].New()
	for _, p := range params {
		key, value, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("parameter %q is not name=value\nhint: evolve -strategies %s lists its parameters", p, name)
		}
		if err := setParam(s, key, value); err != nil {
			return nil, fmt.Errorf("strategy %s: %w", name, err)
		}
	}
	if _, ok := s.(aimed); ok && t == nil {
		return nil, fmt.Errorf("strategy %s uses the words of the topic\nhint: -topic FILE", name)
	}
	if err := Aim(s, t); err != nil {
		return nil, fmt.Errorf("strategy %s: %w", name, err)
	}
	return s, nil
}

// didYouMean returns ": did you mean NAME?" with the name that is most like word, or "" if none is.
func didYouMean(word string, names []string) string {
	if near := text.Nearest(word, names); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// Aim replaces the topic of s by t. It must be called after Breed and before the next Visit. Only
// the table of a topic may have grown; its language and keywords must be the same. Aim does nothing
// for a strategy that uses only scores.
func Aim(s Strategy, t *topic.Topic) error {
	if s, ok := s.(aimed); ok {
		return s.aim(t)
	}
	return nil
}

// Learns reports whether s learns from examples, see [Teach].
func Learns(s Strategy) bool {
	_, ok := s.(teachable)
	return ok
}

// Teach replaces the examples of s: fetched pages that the user has named as relevant (true) or irrelevant, by
// address. It must be called after Breed and before the next Visit. It does nothing for a strategy that does not
// learn from examples.
func Teach(s Strategy, relevant map[string]bool) {
	if s, ok := s.(teachable); ok {
		s.teach(relevant)
	}
}

// A Param is a parameter of a strategy.
type Param struct {
	Name  string
	Doc   string
	Value any // *float64, *int, *bool or *string, in the strategy
	Range [2]float64
	Words []string // permitted values of a string
	Types bool     // a string may also be media types, separated by commas
}

// String returns the current value.
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

// Ranges of many parameters.
var (
	unit  = [2]float64{0, 1}
	whole = [2]float64{0, 1e9}
)

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
		bad, want := !slices.Contains(p.Words, value), strings.Join(p.Words, " or ")
		if p.Types {
			bad, want = bad && !areMediaTypes(value), want+", or media types such as application/pdf,text/csv"
		}
		return p.explain(value, bad, want)
	}
	outside := !(p.Range[0] <= x && x <= p.Range[1]) // true for NaN
	return p.explain(value, err != nil || outside, fmt.Sprintf("a number from %g to %g", p.Range[0], p.Range[1]))
}

func (p Param) explain(value string, bad bool, want string) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("parameter %s=%q: want %s", p.Name, value, want)
}

// Signature returns the name of the strategy and all its parameters. Strategies with equal signatures can restore each other's state.
func Signature(name string, s Strategy) string {
	var b strings.Builder
	b.WriteString(name)
	for _, p := range s.Params() {
		fmt.Fprintf(&b, " %s=%s", p.Name, p)
	}
	return b.String()
}
