package viewer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"spoor/internal/atomicfile"
	"spoor/internal/report"
	"spoor/internal/run"
	"spoor/internal/wire"
)

// Limits of what is shown of a generation.
const (
	maxFound    = 12        // pages
	maxProposed = 20        // addresses
	maxReasons  = 6         // of an address, those of the largest magnitude
	maxTitles   = 4096      // of the pages that may have led to an address
	maxRead     = 512 << 20 // bytes of decompressed records
)

// A generation is what is shown of the records of one generation.
type generation struct {
	Number   int
	Pages    int     // all of them
	Found    []found // those with the highest scores
	Proposed []proposal
	Queries  int // that it has asked for
	Total    int // addresses that it has proposed
}

// A found is a page.
type found struct {
	Title, URL, Href, Operator string
	Score                      float64 // NaN if unknown
	Estimate                   float64 // of the strategy; NaN if unknown
	Relevant                   bool
	Address                    string // to name the page by as an example; "" if that is not possible
	Named                      string // yes or no, if somebody has said whether it is about the topic
	order                      float64
}

// A proposal is an address that the generation has proposed, and why.
type proposal struct {
	URL, Href, Operator string
	Priority            float64
	Depth, Parents      int
	Via, ViaTitle       string
	Query               string
	Reasons             []report.Reason
}

// readGeneration reads the records of a generation. Its time and memory depend on its size, not on that of
// the crawl.
func readGeneration(d run.Dir, number int, strategy string) (generation, error) {
	g := generation{Number: number}
	titles, estimates := map[string]string{}, map[string]float64{}
	var proposed []proposal
	err := eachRecord(d.File(number, run.Next), wire.Address|wire.Fetch|wire.Score, func(rec *wire.Record) {
		switch {
		case rec.URL == "":
			if rec.Query != "" && rec.Cost == 0 {
				g.Queries++
			}
		case rec.IsOutcome():
			if v, ok := rec.ScoreOf(strategy); ok && len(estimates) < maxTitles {
				estimates[strings.Clone(rec.URL)] = v
			}
		case rec.Priority.Kind == wire.Present:
			g.Total++
			proposed = insert(proposed, maxProposed, rec.Priority.Value, func(p *proposal) float64 { return p.Priority }, func() proposal { return propose(rec) })
		}
	})
	if err != nil {
		return g, err
	}
	err = eachRecord(d.File(number, run.Scored), wire.Address|wire.Fetch|wire.Parse|wire.Score, func(rec *wire.Record) {
		if !rec.IsOutcome() || rec.Error != "" || rec.StatusCode/100 != 2 {
			return
		}
		g.Pages++
		if rec.Title != "" && len(titles) < maxTitles {
			titles[report.Text(rec.URL, maxURL)] = report.Text(rec.Title, maxTitle)
		}
		estimate, ok := estimates[rec.URL]
		if !ok {
			estimate = math.NaN()
		}
		score := rec.Score.Or(math.NaN())
		order := score
		if ok {
			order = estimate
		}
		g.Found = insert(g.Found, maxFound, order, func(f *found) float64 { return f.order }, func() found {
			return found{
				Title: report.Text(rec.Title, maxTitle), URL: report.Text(rec.URL, maxURL), Href: report.Link(rec.URL), Operator: report.Text(rec.Operator, maxName),
				Score: score, Estimate: estimate, Relevant: rec.Relevant == wire.True, Address: nameable(rec.URL), order: order,
			}
		})
	})
	for i := range proposed {
		proposed[i].ViaTitle = titles[proposed[i].Via]
	}
	g.Proposed = proposed
	return g, err
}

// Limits of text, in characters.
const (
	maxName  = 60
	maxTitle = 200
	maxURL   = 300
)

// insert inserts what create returns into a list that is sorted by descending values, unless it would be
// after the first limit elements. NaN is less than all numbers.
func insert[T any](list []T, limit int, value float64, of func(*T) float64, create func() T) []T {
	at, _ := slices.BinarySearchFunc(list, value, func(e T, v float64) int {
		if c := cmp.Compare(v, of(&e)); c != 0 {
			return c
		}
		return -1 // after its equals
	})
	if at == limit {
		return list
	}
	list = slices.Insert(list, at, create())
	return list[:min(limit, len(list))]
}

func propose(rec *wire.Record) proposal {
	p := proposal{
		URL: report.Text(rec.URL, maxURL), Href: report.Link(rec.URL), Operator: report.Text(rec.Operator, maxName),
		Priority: rec.Priority.Value, Depth: rec.Depth, Parents: len(rec.Parents), Via: report.Text(rec.Via, maxURL), Query: report.Text(rec.Query, maxTitle),
	}
	reasons := slices.Clone(rec.Reasons)
	slices.SortStableFunc(reasons, func(a, b wire.Scored) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	for _, r := range reasons[:min(len(reasons), maxReasons)] {
		p.Reasons = append(p.Reasons, report.Reason{Name: report.Text(r.Name, maxName), Value: r.Value})
	}
	return p
}

// eachRecord calls f with each record of a file that ends in .zst, if the file exists.
func eachRecord(name string, sections wire.Section, f func(*wire.Record)) error {
	file, err := atomicfile.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	r := wire.NewReader(io.LimitReader(z, maxRead), sections)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if _, bad := errors.AsType[*wire.SyntaxError](err); bad {
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f(&rec)
	}
}

// readFile returns the content of a regular file of at most limit bytes, nil if it does not exist.
func readFile(name string, limit int64) ([]byte, error) {
	b, err := atomicfile.ReadFile(name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
