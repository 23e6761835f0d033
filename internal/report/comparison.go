package report

// A Comparison holds the results of several strategies on the same webs, by track: all
// strategies of a track were given the same information.
type Comparison struct {
	Name      string  // of the file of results
	Reference string  // the strategy that others are compared with; "" for none
	Measure   string  // nauc, harvest, recall, …
	Title     string  // Measure as shown to people, such as nAUC; "" if it is the same
	Meaning   string  // a phrase that explains the measure; may be ""
	Lower     bool    // whether less is better
	Tie       float64 // a difference of at most Tie is a tie
	Tracks    []Track // by name
	Figures   []Figure
}

// A Figure shows the harvest of several crawlers, of any tracks, by cost, and values that papers print.
type Figure struct {
	Title  string
	Costs  []int // ascending
	Lines  []FigureLine
	Points []FigurePoint
}

// A FigureLine is the mean harvest of a crawler at each of the costs, over the crawls that have not ended. It is
// NaN where all have.
type FigureLine struct {
	Name   string
	Y      []float64
	Crawls int // in all
	Ended  int // before the last cost
}

// A FigurePoint is a value that a paper prints of the line with this name.
type FigurePoint struct {
	Name string
	Cost int
	Y    float64 // in [0, 1]
}

// A Track is a comparison under one set of conditions. Unknown figures are NaN.
type Track struct {
	Name       string
	Runs       int        // judged runs
	Units      int        // pairs of topic and seed set; the runs of a unit with different random seeds are averaged
	Topics     []string   // in the order of Strategy.Topics
	Costs      []int      // ascending: the costs of Harvest
	Strategies []Strategy // the best first

	// Means of the crawler that sees the relevance of waiting links, and of the crawler that also
	// sees the relevance of the links on their pages.
	Seeing, SeeingChildren float64
}

// A Strategy holds the results of one strategy in a track. Unknown figures are NaN.
type Strategy struct {
	Name  string
	Units int // units of the track in which the strategy ran

	Mean, Low, High float64   // mean of the measure, with its 95 % bootstrap interval
	Topics          []float64 // the mean in each of Track.Topics
	Harvest         []float64 // mean harvest at each of Track.Costs

	// The comparison with the reference, in the units in which both ran. For the reference
	// itself the floats are NaN and the counts 0.
	Difference         float64 // difference of the means
	DiffLow, DiffHigh  float64 // 95 % confidence interval of the difference
	A12                float64 // probability that a unit is better than a unit of the reference, in [0, 1]
	P                  float64 // p-value of Wilcoxon's signed-rank test, two-sided, adjusted by Holm's method
	Wins, Ties, Losses int     // numbers of units
}
