package report

// A Comparison is what several strategies had of the same webs, each track by
// itself: in one track all strategies are given the same.
type Comparison struct {
	Name      string  // of the file of results
	Reference string  // the strategy that the others are held against; "" if none
	Measure   string  // what is compared: nauc, harvest, recall, …
	Title     string  // Measure for people: nAUC; "" if it has no other name
	Meaning   string  // what it is, for a sentence; may be ""
	Lower     bool    // less is better
	Tie       float64 // differences up to this are ties
	Tracks    []Track // by name
}

// A Track is a comparison under one set of conditions. Figures that are unknown are
// NaN.
type Track struct {
	Name       string
	Runs       int        // judged runs in it
	Units      int        // topic × seed set, over which chance seeds are averaged
	Topics     []string   // the order of Strategy.Topics
	Costs      []int      // rising: the costs for which Harvest and Recall are given
	Strategies []Strategy // the best first

	// Means of the measure that crawlers have which see the relevance of the links that
	// wait, and of those behind them.
	Seeing, SeeingChildren float64
}

// A Strategy is what one strategy had in a track. Figures that are unknown are NaN.
type Strategy struct {
	Name  string
	Units int // of the track's, those in which it ran

	Mean, Low, High float64   // of the measure, with its 95 % bootstrap interval
	Topics          []float64 // the mean of each of Track.Topics
	Harvest, Recall []float64 // mean harvest and recall at each of Track.Costs

	// Against the reference, in the units that both have; of the reference itself the
	// floats are NaN, and the counts 0.
	Difference         float64 // of the means
	DiffLow, DiffHigh  float64 // where it lies with 95 % confidence
	A12                float64 // chance that a unit of it is better than one of the reference, in [0, 1]
	P                  float64 // of Wilcoxon's signed-rank test, two-sided, by Holm's correction
	Wins, Ties, Losses int     // of units
}
