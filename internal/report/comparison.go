package report

// A Comparison is what several strategies had of the same webs, each track by
// itself: in one track all strategies are given the same.
type Comparison struct {
	Name      string  // of the file of results
	Reference string  // the strategy that the others are held against; "" if none
	Measure   string  // what is compared: nauc, harvest, recall, …
	Tie       float64 // differences up to this are ties
	Tracks    []Track // by name
}

// A Track is a comparison under one set of conditions.
type Track struct {
	Name       string
	Runs       int        // judged runs in it
	Units      int        // topic × seed set, over which chance seeds are averaged
	Topics     []string   // rising
	Costs      []int      // rising: the costs for which Strategy.Harvest is given
	Strategies []Strategy // by Mean falling, then by name
}

// A Strategy is what one strategy had in a track. Figures that are unknown are NaN.
type Strategy struct {
	Name  string
	Units int // of the track's, those in which it ran

	Mean, Low, High float64   // of the measure, with its 95 % bootstrap interval
	Topics          []float64 // the mean of each of Track.Topics
	Harvest         []float64 // mean harvest at each of Track.Costs

	// Against the reference; of the reference itself A12 and P are NaN, and the rest 0.
	A12                float64 // chance that a unit of it is above one of the reference, in [0, 1]
	P                  float64 // of Wilcoxon's signed-rank test, two-sided, by Holm's correction
	Wins, Ties, Losses int     // of units
}
