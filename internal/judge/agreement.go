package judge

// An Agreement counts how often a crawl and a classifier agree on whether a page is relevant. It
// does not measure how good the crawl is.
type Agreement struct {
	both, onlyCrawl, onlyClassifier, neither int64 // number of pages that both, one or neither called relevant
}

// Add adds a page, given whether the crawl and the classifier called it relevant.
func (a *Agreement) Add(crawl, classifier bool) {
	switch {
	case crawl && classifier:
		a.both++
	case crawl:
		a.onlyCrawl++
	case classifier:
		a.onlyClassifier++
	default:
		a.neither++
	}
}

// AgreementFigures measure the agreement of a crawl with a classifier.
type AgreementFigures struct {
	With           string  `json:"with"`
	HeldOut        bool    `json:"held_out"` // whether the crawl was scored by another measure than the classifier
	Pages          int64   `json:"pages"`
	Both           int64   `json:"both"`
	OnlyCrawl      int64   `json:"only_crawl"`
	OnlyClassifier int64   `json:"only_classifier"`
	Neither        int64   `json:"neither"`
	Precision      float64 `json:"precision"` // the share of the crawl's relevant pages that the classifier calls relevant
	Recall         float64 `json:"recall"`    // the share of the classifier's relevant pages that the crawl calls relevant
	F1             float64 `json:"f1"`
	Kappa          float64 `json:"kappa"` // agreement beyond chance: J. Cohen, Educ. Psychol. Meas. 20(1), 1960
}

// Figures returns the figures of the pages added so far.
func (a *Agreement) Figures(heldOut bool) AgreementFigures {
	f := AgreementFigures{
		With: "classifier", HeldOut: heldOut,
		Pages: a.both + a.onlyCrawl + a.onlyClassifier + a.neither,
		Both:  a.both, OnlyCrawl: a.onlyCrawl, OnlyClassifier: a.onlyClassifier, Neither: a.neither,
	}
	crawl, classifier, n := float64(a.both+a.onlyCrawl), float64(a.both+a.onlyClassifier), float64(f.Pages)
	f.Precision = round(ratio(float64(a.both), crawl))
	f.Recall = round(ratio(float64(a.both), classifier))
	f.F1 = round(ratio(2*float64(a.both), crawl+classifier))
	observed := float64(a.both+a.neither) / max(1, n)
	chance := (float64(crawl*classifier) + float64((n-crawl)*(n-classifier))) / max(1, n*n)
	f.Kappa = round(ratio(observed-chance, 1-chance))
	return f
}

// An AgreementSummary is the output of judge -topic -summary. It does not measure the crawl.
type AgreementSummary struct {
	V         int              `json:"v"`
	Fetched   int64            `json:"fetched"`
	Cost      int64            `json:"cost"`
	Queries   int64            `json:"queries"`
	Free      int64            `json:"free"`
	Agreement AgreementFigures `json:"agreement"`
}
