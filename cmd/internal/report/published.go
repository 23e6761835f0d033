package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/comparison"
	"spoor/internal/judge"
	"spoor/internal/report"
)

// figures returns a figure for each judge of the comparison in dir: its curves beside the values of the tables
// in a file of published values that are about it.
func figures(file, dir string, log *slog.Logger) ([]report.Figure, error) {
	f, err := filter.OpenInput(file)
	if err != nil {
		return nil, fmt.Errorf("-published: %w", err)
	}
	defer f.Close()
	published, err := judge.ReadPublished(f)
	if err != nil {
		return nil, fmt.Errorf("-published: %s: %w", file, err)
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	judges, err := filepath.Glob(filepath.Join(dir, "results*.ndjson"))
	if err != nil {
		return nil, err
	}
	var list []report.Figure
	for _, results := range judges {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(results), "results"), ".ndjson")
		figure, budget, err := curves(dir, results, "judge"+name+".json", log)
		if err != nil {
			return nil, err
		}
		if figure.Title = "Harvest by labels"; name != "" {
			figure.Title = "Harvest judged by " + name[1:]
		}
		names := map[string]string{}
		figure.Points = points(published, filepath.Base(full), budget, names)
		for i, l := range figure.Lines {
			figure.Lines[i].Name = cmp.Or(names[l.Name], l.Name)
		}
		list = append(list, figure)
	}
	return list, nil
}

// points returns the values of harvest of the tables of a plan, and sets the names that crawlers have in the
// paper.
func points(published *judge.Published, plan string, budget int, names map[string]string) (list []report.FigurePoint) {
	seen := map[report.FigurePoint]bool{}
	for _, paper := range published.Papers {
		for _, t := range paper.Tables {
			if t.Plan != plan || t.Own != "harvest" && t.Own != "self_harvest" {
				continue
			}
			for _, r := range t.Rows {
				names[r.Crawler] = r.Name
				for _, v := range r.Values {
					at := budget
					if t.Cost > 0 {
						at = t.Cost
					}
					if p := (report.FigurePoint{Name: r.Name, Cost: at, Y: v}); !seen[p] {
						seen[p] = true
						list = append(list, p)
					}
				}
			}
		}
	}
	return list
}

// curves returns the mean harvest by cost of each crawler, of the crawls that have not ended, and the budget. Crawls with another budget than the
// first are left out.
func curves(dir, file, summary string, log *slog.Logger) (f report.Figure, budget int, err error) {
	results, err := readResults(file, log)
	if err != nil {
		return f, 0, err
	}
	crawls := map[string][]*judge.Summary{}
	var names []string
	for _, r := range results {
		name := filepath.Join(comparison.JobDir(dir, r), summary)
		b, err := atomicfile.ReadFile(name, 64<<20)
		if os.IsNotExist(err) {
			return f, 0, fmt.Errorf("%w\nhint: -published needs the whole directory that compare -into writes", err)
		} else if err != nil {
			return f, 0, err
		}
		s := new(judge.Summary)
		if err := json.Unmarshal(b, s); err != nil {
			return f, 0, fmt.Errorf("%s is not as judge writes it: %w", name, err)
		}
		if budget == 0 {
			budget, f.Costs = s.T, s.Curves.Cost
		}
		if s.T != budget || len(s.Curves.Run) != len(f.Costs) {
			continue
		}
		if crawls[r.Name] == nil {
			names = append(names, r.Name)
		}
		crawls[r.Name] = append(crawls[r.Name], s)
	}
	for _, name := range names {
		line := report.FigureLine{Name: name, Crawls: len(crawls[name])}
		for i, cost := range f.Costs {
			sum, n := 0.0, 0
			for _, s := range crawls[name] {
				if s.Cost >= int64(cost) {
					sum, n = sum+float64(s.Curves.Run[i])/float64(cost), n+1
				}
			}
			line.Y = append(line.Y, sum/float64(n)) // NaN if all have ended
			line.Ended = line.Crawls - n
		}
		f.Lines = append(f.Lines, line)
	}
	return f, budget, nil
}
