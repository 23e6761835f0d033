// Package report shows what crawls have done, and how strategies compare, on a page that
// people would rather look at than read.
//
// [Read] makes a [Run] of the files of a run directory and of what a judge says of it. A
// [Comparison] is made by who knows how to compare. [Write] makes one file of HTML of
// them. The package draws its charts itself. It opens no file, asks nobody and knows no
// clock: the same records give the same page, whose date is theirs.
//
// Everything that it is given may be from strangers. Text is cut and cleaned when it is
// read, lists have a bounded length, and the page may run no script but its own.
package report

// Bounds of what a [Run] holds, however long the crawl was, so that its page
// stays one that can be opened.
const (
	MaxGenerations = 120 // more are put together, several in a row
	MaxOperators   = 8   // further ones are put together as [Rest]
	MaxNiches      = 8   // the same
	MaxHosts       = 40  // in Run.Hosts and in Run.Slowest
	MaxPages       = 300 // in Run.Pages
	MaxSteps       = 12  // of a lineage: of a longer one steps before the last are left out
	MaxReasons     = 12  // of a step
	MaxParents     = 16  // of a step
	MaxPoints      = 400 // of a curve
	MaxSettings    = 64  // in Run.Settings
)

// Rest is the name of what is put together because there is too much of it. No
// operator and no niche of a strategy is called like this.
const Rest = "…"

// A Run is what a crawl did, as its own records tell it, and what a judge says of
// that if there was one. All text is from strangers (titles, addresses, names of
// operators and niches): it is valid UTF-8 of bounded length, and nothing else is
// promised of it.
//
// Relevant means: by the judge's labels if Judged, else by the measure that steered
// the crawl, a judge in its own cause. SelfRelevant always means the latter.
type Run struct {
	Name       string    // of the run directory
	Topic      string    // the words that were sought; "" if unknown
	Strategy   string    // "" if unknown
	Settings   []Setting // of the crawl, in the order in which it wrote them down
	StopReason string    // pages, generations, frontier_empty, not_due or stop_file; "" if the crawl has not ended

	First, Last string // RFC 3339: when the first and the last of its pages were fetched (in an archive: captured); "" if no page says so

	Records      int // lines that tell what came of an address
	Fetched      int // what the crawl paid for: pages asked for, failures and repetitions too, and Queries
	Queries      int // of Fetched, what queries cost
	Failed       int // of Fetched, what gave no page: errors, and statuses other than 2xx
	Relevant     int // pages, each once if Judged
	SelfRelevant int
	Waiting      int     // addresses that waited in the end; -1 if unknown
	Seconds      float64 // that the generations took in all; 0 if unknown

	Judged   bool      // there are verdicts of labels
	Measures *Measures // nil if there is no summary of a judge

	Agreement *Agreement // with a classifier, where there are no labels; nil if nobody asked

	Curves      Curves
	Generations []Generation // in order, at most MaxGenerations
	Operators   []Yield      // over the whole run: by Fetched falling, then by name, Rest last; at most MaxOperators+1
	Niches      []Yield      // the same, with those that have most relevant pages first; empty if the strategy has none

	HostsTotal int
	Hosts      []Host // by Relevant falling, then Fetched falling, then name; at most MaxHosts
	Slowest    []Host // of those that were asked for 3 pages or more: by MedianMS falling, then name; empty in a replay, which takes no time

	Errors   []Count // what was paid for and gave no page: an error of the record's vocabulary, or "status 404"
	Skipped  []Count // what cost nothing, for nobody was asked: by error; and lines that stages took for no record, by "stage: reason"
	Verdicts []Count // the judge's: relevant, irrelevant, unlabelled, repeated, free, in this order; empty unless Judged

	Fitness Histogram

	PagesTotal int     // relevant pages
	Pages      []Found // of these, by Score falling, then by address; at most MaxPages
}

// A Setting is a line of the run directory's settings. Of files that it names the
// directories are left out: a page is shown to others.
type Setting struct{ Name, Value string }

// A Count is how often something was there. Lists of them are by N falling, then by
// name.
type Count struct {
	Name string
	N    int
}

// A Yield is what was paid for, and what it was worth.
type Yield struct {
	Name     string // of the operator or niche; "unknown" if a record does not say
	Fetched  int
	Relevant int // at most Fetched
}

// A Generation is a turn of the crawl, or in a long crawl several in a row.
type Generation struct {
	First, Last  int // their numbers; the same if it is one
	Fetched      int
	Failed       int
	Relevant     int
	SelfRelevant int
	Seconds      float64 // 0 if unknown: the crawl is still at it
	Hosts        int     // of which a page was had until then; 0 if unknown
	Waiting      int     // addresses that waited after it; -1 if unknown

	Operators []Yield // one for each of Run.Operators, in the same order
	Niches    []Yield // one for each of Run.Niches
}

// A Host is a server, with its port if that is not the usual one.
type Host struct {
	Name     string
	Fetched  int
	Failed   int
	Relevant int
	MedianMS int // milliseconds from request to last byte, over all fetches that say so; 0 if none does
}

// Curves tell how many relevant pages there were after so much cost. All of them that
// are not empty are as long as Cost.
//
// Harvest at Cost[i] is Run[i]/Cost[i], recall Run[i]/R.
type Curves struct {
	By   string    // what says which page is relevant: ByLabels or ByMeasure
	R    int       // relevant pages that can be reached; 0 if unknown
	Cost []int     // rising, from 1 or more; at most MaxPoints
	Run  []float64 // this crawl

	// What a judge knows of the web; empty without one.
	Random, RandomLow, RandomHigh []float64 // mean of random crawls, and where the middle 90 % of them are
	Clairvoyant                   []float64 // the best crawler that could be thought of, knowing everything
	Bound                         []float64 // no crawler can be above
	Seeing, SeeingChildren        []float64 // crawlers that know which waiting link is relevant, and what its page links to
}

// The values of [Curves].By.
const (
	ByLabels  = "labels"
	ByMeasure = "measure"
)

// Measures are a judge's figures of a run. They are of its first T units of cost: of a
// run that went on they tell nothing, and its Fetched and Relevant are of more.
type Measures struct {
	T              int     // the cost up to which it is judged
	Spent          int     // of T, what the run spent
	Relevant       int     // pages that it found for that
	R              int     // relevant pages that can be reached
	Reachable      int     // pages that can be reached
	Label          string  // what is relevant
	Seeds          int     // that the judge knows
	Graph          string  // where it has the links from
	Harvest        float64 // relevant pages per unit of cost, in [0, 1]
	Recall         float64 // relevant pages by R: above 1 where a search found what no link reaches
	NAUC           float64 // area under recall: 0 as random, 1 as the clairvoyant crawler; can be negative
	AUC            float64 // area under recall, in [0, 1]
	AUCRandom      float64 // of the random crawls
	AUCClairvoyant float64 // share of the clairvoyant crawler's area
	AUCBound       float64 // share of the area under the bound
	Cost50         int     // cost of 50, 80 and 90 % recall; 0 if it was not reached
	Cost80         int
	Cost90         int
	RelevantHosts  int     // hosts of relevant pages
	SelfHarvest    float64 // as the measure that steered has it; NaN if it has no opinion
	MeanScore      float64 // of the pages, by the measure that steered; NaN if there is none

	Seeing, SeeingChildren *Reference // nil if the judge does not say
	ClairvoyantRecall      float64    // what the clairvoyant crawler has at T
}

// A Reference is how a crawler does that knows what no real one can.
type Reference struct{ NAUC, AUCClairvoyant, Recall float64 }

// An Agreement says how far the measure that steered a crawl and a classifier that did
// not call the same pages relevant. It says nothing of how good the crawl is.
type Agreement struct {
	HeldOut                                  bool    // false: the crawl went by this very classifier, and nothing follows
	Pages                                    int     // that both have an opinion of
	Both, OnlyCrawl, OnlyClassifier, Neither int     // of Pages, who calls them relevant
	Precision                                float64 // of what the crawl calls relevant, the share that the classifier does, in [0, 1]
	Recall                                   float64 // of what the classifier calls relevant, the share that the crawl does
	F1                                       float64 // of these two
	Kappa                                    float64 // Cohen's: 0 as by chance, 1 always
}

// A Histogram counts pages by the score that steered the crawl, and by what the judge
// says of them.
type Histogram struct {
	Measure string // its name, as the settings or the records tell; "" if they do not
	Bins    []Bin  // rising, of equal width but for the last, which takes all that is above; empty if no page has a score
	// Threshold is the score from which on the measure calls pages relevant, as far as the
	// pages tell: the lowest border of bins between those and the others, or, if there is
	// no border between them, the lowest score of a relevant page; NaN if there is none.
	Threshold float64
}

// A Bin is the pages with From ≤ score < To; the last has all from From on, and its
// To is the highest score of all.
type Bin struct {
	From, To   float64
	Relevant   int
	Irrelevant int
	Unlabelled int // no label tells, or no judge
}

// A Found is a relevant page.
type Found struct {
	URL        string  // cut if it is long, with … in the end
	Href       string  // the whole address if it is http or https and not too long; else "": it is not to be linked
	Title      string  // white space made single; "" if it has none
	Score      float64 // NaN if it has none
	Verdict    string  // the judge's; "" unless Judged
	Self       bool    // relevant by the measure that steered
	Generation int
	Depth      int // links from a seed
	Operator   string
	Niche      string
	Lineage    []Step // first the page itself, last the seed or query from which it came, if the records know it; at most MaxSteps
}

// A Step is an address on the way from a seed to a page, and what brought it in.
type Step struct {
	Omitted    int    // steps left out between the one before and this one
	URL        string // cut if it is long
	Known      bool   // false: the run has no record of it, and the rest is empty
	Title      string
	Generation int
	Depth      int
	Operator   string
	Query      string   // the query that found it, if one did
	Bred       string   // the operator that bred the query; "" if the run does not say
	Via        string   // the page that it was found on; the next step is of that page
	Parents    []string // the pages that brought it, if there are several; without Via the next step is of the first
	Score      float64  // of the page, as fetched; NaN if it has none
	Relevant   bool     // as the judge has it if Judged, else by the measure that steered
	Reasons    []Reason // the numbers that chose it or, if it has none, its query; by name
}

// A Reason is a number of a strategy's own.
type Reason struct {
	Name  string
	Value float64
}
