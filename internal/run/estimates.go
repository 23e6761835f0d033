package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"spoor/internal/wire"
)

// Estimates are what the strategy of a crawl itself thought of pages. They are in what evolve wrote,
// because the pages were scored before.
type Estimates struct {
	open    func(name string) (io.ReadCloser, error)
	name    string             // of the strategy
	files   map[int][]string   // by generation
	current int                // the generation that was read last
	scores  map[string]float64 // by address: of that generation
}

// Estimates returns the estimates of the crawl; open opens and decompresses a file.
func (ds Dirs) Estimates(open func(name string) (io.ReadCloser, error)) (*Estimates, error) {
	generations, _, err := ds.List()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	e := &Estimates{open: open, files: map[int][]string{}}
	for _, g := range generations {
		e.files[g.Number] = append(e.files[g.Number], g.Dir.File(g.Number, Next))
		if e.name == "" {
			if s, err := g.Dir.LoadSettings(); err == nil && s != nil {
				e.name = s.Strategy
			}
		}
	}
	return e, nil
}

// Add adds the estimate to the scores of a page of the crawl, if there is one. Records of one generation
// should follow each other.
func (e *Estimates) Add(rec *wire.Record) error {
	if e.current != rec.Generation {
		if err := e.read(rec.Generation); err != nil {
			return err
		}
	}
	if v, ok := e.scores[rec.URL]; ok && rec.URL != "" {
		rec.SetScore(e.name, v)
	}
	return nil
}

func (e *Estimates) read(generation int) error {
	e.current, e.scores = generation, map[string]float64{}
	for _, name := range e.files[generation] {
		f, err := e.open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // evolve has not read the generation yet
		}
		if err != nil {
			return err
		}
		err = e.readFile(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (e *Estimates) readFile(in io.Reader) error {
	r := wire.NewReader(in, wire.Address|wire.Score)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if _, bad := errors.AsType[*wire.SyntaxError](err); bad {
			continue // commands that read the pages report it
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if v, ok := rec.ScoreOf(e.name); ok {
			e.scores[strings.Clone(rec.URL)] = v // the reader uses the memory of the record again
		}
	}
}
