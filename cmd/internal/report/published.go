package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// figures returns a figure for each judge of the comparison in dir: the curves of the crawlers, and the values
// that the tables about this comparison have in a file of published values.
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
	judges, err := fs.Glob(os.DirFS(dir), "results.*ndjson")
	if err != nil {
		return nil, err
	}
	var list []report.Figure
	for _, results := range judges {
		name := strings.TrimSuffix(strings.TrimPrefix(results, "results."), "ndjson") // empty or, of a judge of the plan, NAME and a dot
		figure, budget, err := curves(dir, filepath.Join(dir, results), "judge."+name+"json", log)
		if err != nil {
			return nil, err
		}
		figure.Title = "Harvest by labels"
		if name != "" {
			figure.Title = "Harvest judged by " + strings.TrimSuffix(name, ".")
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

// points returns the values of harvest in the tables about a plan. It sets the names that crawlers have in the
// paper, by their names in the plan. Values without a cost are at the budget.
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
					if p := (report.FigurePoint{Name: r.Name, Cost: cmp.Or(t.Cost, budget), Y: v}); !seen[p] {
						seen[p] = true
						list = append(list, p)
					}
				}
			}
		}
	}
	return list
}

// curves returns the mean harvest by cost of each crawler, over its crawls that have not ended, and the budget.
// Crawls whose budget is not that of the first one are left out.
func curves(dir, file, summary string, log *slog.Logger) (f report.Figure, budget int, err error) {
	results, err := readResults(file, log)
	if err != nil {
		return f, 0, err
	}
	crawls := map[string][]*judge.Summary{}
	var names []string
	others := 0
	for _, r := range results {
		name := filepath.Join(comparison.JobDir(dir, r), summary)
		b, err := atomicfile.ReadFile(name, maxSmall)
		if errors.Is(err, fs.ErrNotExist) {
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
			others++
			continue
		}
		if crawls[r.Name] == nil {
			names = append(names, r.Name)
		}
		crawls[r.Name] = append(crawls[r.Name], s)
	}
	if others > 0 {
		log.Warn("crawls with another budget are left out of the curves", "file", file, "crawls", others, "budget", budget)
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
