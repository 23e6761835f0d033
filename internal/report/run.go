// Package report makes a page about crawls, and about comparisons of strategies, with charts.
//
// [Read] makes a [Run] from the files of a run directory and from a judge's results; the
// caller makes a [Comparison]. [Write] writes them as one HTML file. The package opens no
// files and uses no clock: the same records give the same page, and dates are those of the
// records.
//
// All input is untrusted. Text is cleaned and shortened when it is read, lists are bounded,
// and the page can run no script but its own.
package report

// Bounds of a [Run], however long the crawl was, so that its page stays small.
const (
	MaxGenerations = 120 // consecutive generations are merged if there are more
	MaxOperators   = 8   // others are merged as [Rest]
	MaxNiches      = 8   // others are merged as [Rest]
	MaxHosts       = 40  // in Run.Hosts and in Run.Slowest
	MaxPages       = 300 // in Run.Pages
	MaxSteps       = 12  // of a lineage: steps before the last are left out if there are more
	MaxReasons     = 16  // of a step
	MaxParents     = 16  // of a step
	MaxPoints      = 400 // of a curve
	MaxSettings    = 64  // in Run.Settings
)

// Rest is the name of merged operators or niches. No operator or niche has this name.
const Rest = "…"

// A Run holds what a crawl did, according to its records, and the results of a judge if
// there are any. All text is untrusted (titles, addresses, names of operators and niches),
// but valid UTF-8 of bounded length.
//
// A page is relevant according to the judge's labels if Judged, and otherwise according to
// the measure of the crawl itself, which need not have steered it. SelfRelevant always counts by
// the latter.
type Run struct {
	Name       string    // of the run directory
	Topic      string    // the words of the topic; "" if unknown
	Strategy   string    // "" if unknown
	Settings   []Setting // in the order of the file
	StopReason string    // pages, generations, frontier_empty, not_due, stop_file or no_page; "" if the crawl has not ended

	First, Last string // times in RFC 3339 of the first and the last fetch (in an archive: capture); "" if unknown

	Records      int // outcomes of addresses
	Fetched      int // cost: fetched pages, including failures and repetitions, and Queries
	Queries      int // part of Fetched: the cost of queries
	Failed       int // part of Fetched: errors, and statuses other than 2xx
	NeedsBrowser int // pages whose text scripts would make
	Relevant     int // relevant pages, without repetitions if Judged
	SelfRelevant int
	Seconds      float64 // total of the generations; 0 if unknown

	Judged   bool      // whether there are verdicts by labels
	Measures *Measures // nil without a judge's summary

	Agreement *Agreement // with a classifier, in place of labels; nil if there is none

	Curves      Curves
	Generations []Generation // in order, at most MaxGenerations
	Operators   []Yield      // of the whole run: by Fetched descending, then by name, Rest last; at most MaxOperators+1
	Niches      []Yield      // the same, by Relevant descending; empty if the strategy has none

	Signals []Signal // by Fetched descending, then by name; empty if the strategy gives no reasons

	HostsTotal int
	Hosts      []Host // by Relevant descending, then Fetched descending, then name; at most MaxHosts
	Slowest    []Host // of the hosts with 3 or more fetches: by MedianMS descending, then name; empty in a replay

	Errors   []Count // failures that cost something, by error, or by "status 404"
	Skipped  []Count // records that cost nothing, by error, and malformed lines, by "stage: reason"
	Verdicts []Count // relevant, irrelevant, unlabelled, repeated, free, in this order; empty unless Judged

	Fitness Histogram

	PagesTotal int     // relevant pages
	Pages      []Found // the best of these, by Score descending, then by address; at most MaxPages
}

// A Setting is a line of the run directory's settings. File names are without directory,
// for the page may be published.
type Setting struct{ Name, Value string }

// A Count is a number of occurrences. Lists are sorted by N descending, then by name.
type Count struct {
	Name string
	N    int
}

// A Yield holds the cost of an operator or niche and the relevant pages it found.
type Yield struct {
	Name     string // "unknown" if the records do not say
	Fetched  int
	Relevant int // at most Fetched
}

// A Generation is one generation of the crawl, or several merged ones.
type Generation struct {
	First, Last int // the same number if it is one generation
	Fetched     int
	Relevant    int

	Operators []Yield // one for each of Run.Operators, in the same order
	Niches    []Yield // one for each of Run.Niches
}

// A Host is a server, with its port if that is not the default.
type Host struct {
	Name     string
	Fetched  int
	Failed   int
	Relevant int
	MedianMS int // median milliseconds from request to last byte; 0 if unknown
}

// Curves are numbers of relevant pages found, by cost. All curves that are not empty are as
// long as Cost.
//
// Harvest at Cost[i] is Run[i]/Cost[i], recall Run[i]/R.
type Curves struct {
	By   string    `json:"-"` // what says which pages are relevant: ByLabels or ByMeasure
	R    int       `json:"-"` // relevant pages that can be reached; 0 if unknown
	Cost []int     // ascending, from 1 or more; at most MaxPoints
	Run  []float64 // this crawl

	// What a judge adds; empty without one.
	Random         []float64 // mean of random crawls
	RandomLow      []float64 `json:"random_low"`  // 5 % quantile of random crawls
	RandomHigh     []float64 `json:"random_high"` // 95 % quantile
	Clairvoyant    []float64 // the clairvoyant crawler
	Bound          []float64 // upper bound for any crawler
	Seeing         []float64 // a crawler that sees the relevance of waiting links
	SeeingChildren []float64 `json:"seeing_children"` // and also of the links on their pages
}

// The values of [Curves].By.
const (
	ByLabels  = "labels"
	ByMeasure = "measure"
)

// Measures are a judge's figures of a run, for its first T units of cost.
type Measures struct {
	T              int     // the budget: the cost up to which the run is judged
	R              int     // relevant pages that can be reached
	Reachable      int     // pages that can be reached
	Label          string  // of relevant pages
	Graph          string  // where the links come from
	Harvest        float64 // relevant pages per unit of cost, in [0, 1]
	Recall         float64 // relevant pages as a share of R; above 1 if a search found unreachable ones
	NAUC           float64 // area under recall: 0 for a random crawl, 1 for the clairvoyant one; may be negative
	AUCClairvoyant float64 `json:"auc_clairvoyant"` // area under recall (AUC) as a share of the clairvoyant crawler's
	AUCBound       float64 `json:"auc_bound"`       // AUC as a share of the bound's
	Cost50         int     `json:"cost_50"`         // cost of 50, 80 and 90 % recall; 0 if it was not reached
	Cost80         int     `json:"cost_80"`
	Cost90         int     `json:"cost_90"`
	RelevantHosts  int     `json:"relevant_hosts"` // hosts of relevant pages
	SelfHarvest    float64 `json:"-"`              // harvest by the steering measure; NaN if unknown
	MeanScore      float64 `json:"-"`              // of the pages, by the steering measure; NaN if unknown

	Seeing            *Reference // nil if unknown
	SeeingChildren    *Reference `json:"seeing_children"`
	ClairvoyantRecall float64    `json:"clairvoyant_recall"` // recall of the clairvoyant crawler at T
}

// A Reference holds the nAUC of a crawler that sees more than a real one can.
type Reference struct {
	NAUC float64
}

// An Agreement compares the verdicts of the steering measure with those of a classifier. It
// says nothing about how good the crawl is.
type Agreement struct {
	HeldOut        bool `json:"held_out"` // false: the classifier steered the crawl, so the agreement means nothing
	Pages          int  // with both verdicts
	Both           int  // of Pages, by who calls them relevant
	OnlyCrawl      int  `json:"only_crawl"`
	OnlyClassifier int  `json:"only_classifier"`
	Neither        int
	Kappa          float64 // Cohen's kappa: 0 for agreement by chance, 1 for full agreement
}

// A Histogram counts pages by the steering score, and by the judge's verdict.
type Histogram struct {
	Measure string // the steering measure; "" if unknown
	Bins    []Bin  // ascending, of equal width except the last, which is open; empty if no page has a score
	// Threshold is an estimate of the score from which the measure calls pages relevant: the
	// lowest bin border between relevant and other pages or, if there is none, the lowest score
	// of a relevant page; NaN if there is none.
	Threshold float64
}

// A Bin counts the pages with From ≤ score < To. The last bin has no upper limit, and its To
// is the highest score.
type Bin struct {
	From, To   float64
	Relevant   int
	Irrelevant int
	Unlabelled int // no label, or no judge
}

// A Found is a relevant page.
type Found struct {
	URL        string  // shortened with … if it is long
	Href       string  // the whole address for a link; "" if it is not http or https, or too long
	Title      string  // with single spaces; "" if unknown
	Score      float64 // NaN if unknown
	Generation int
	Depth      int // links from a seed
	Operator   string
	Niche      string
	Lineage    []Step // from the page itself to the seed or query that led to it, as far as known; at most MaxSteps
}

// A Step is an address on the way from a seed to a page, and how it was found.
type Step struct {
	Omitted    int    // steps left out before this one
	URL        string // shortened if it is long
	Known      bool   // whether the run has a record of it; if not, the rest is empty
	Title      string
	Generation int
	Operator   string
	Query      string   // the query that found it; "" for none
	Parents    []string // the pages that led to it, if there are several
	Score      float64  // of the page; NaN if unknown
	Relevant   bool     // by the judge if Judged, else by the steering measure
	Reasons    []Reason // why it was chosen or, if unknown, why its query was; sorted by name
}

// A Reason is a number that a strategy chose an address by.
type Reason struct {
	Name  string
	Value float64
}
