package viewer

import (
	"encoding/json"
	"fmt"
	"math"

	"spoor/internal/report"
)

// A judgement is the part of a summary of judge that says how many pages are relevant by a label.
type judgement struct {
	Label   string   // "" if the pages were judged by a topic
	T       int      // the budget
	Cost    int      // cost of the whole crawl when it was judged, which may be more than T
	Harvest *float64 // relevant pages found per unit of cost, up to T, in [0, 1]; nil if it is not known
}

// maxJudgement is the maximum size of a summary in bytes. It has curves of some hundred points.
const maxJudgement = 16 << 20

// readJudgement reads a summary of judge. If the file does not exist, it returns the zero value.
func readJudgement(name string) (j judgement, err error) {
	b, err := readFile(name, maxJudgement)
	if err != nil || b == nil {
		return j, err
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return judgement{}, fmt.Errorf("%s: %w", name, err)
	}
	bound(&j.T, &j.Cost)
	return j, nil
}

// words returns the number of relevant pages, and their share in words, for a crawl with this cost. Both are "" if
// nobody has judged the crawl by a label, or if the judgement is of several partitions.
func (j *judgement) words(cost int) (number, share string) {
	judged := min(j.T, j.Cost)
	if j.Label == "" || j.Harvest == nil || judged == 0 || judged > cost {
		return "", ""
	}
	relevant, of := int(math.Round(max(0, min(*j.Harvest, 1))*float64(judged))), "what was spent"
	if judged < cost {
		of = "the first " + report.Number(judged) + " spent"
	}
	return report.Number(relevant), fmt.Sprintf("%s of %s, as judge found by the label %s", report.Share(relevant, judged), of, report.Text(j.Label, maxName))
}
