package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"spoor/cmd/internal/filter"
	"spoor/internal/run"
	"spoor/internal/strategy"
	"spoor/internal/topic"
)

// learnFrom writes a prior of the runs in directories.
func learnFrom(dirs []string, stdout io.Writer) error {
	if len(dirs) == 0 {
		return filter.Usagef("-learn requires the directories of runs")
	}
	var l strategy.Learner
	for _, dir := range dirs {
		s, err := restored(run.Dir(dir))
		if err == nil {
			err = l.Add(s)
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", dir, err)
		}
	}
	prior, err := l.Prior()
	if err != nil {
		return err
	}
	return prior.Write(stdout)
}

// restored returns the strategy of a run as it was after the last generation.
func restored(d run.Dir) (strategy.Strategy, error) {
	settings, err := d.LoadSettings()
	if err != nil {
		return nil, err
	}
	if settings == nil {
		return nil, errors.New("not a run directory, as crawl makes it")
	}
	t, err := topic.Load(d.Path(run.Topic))
	if err != nil {
		return nil, err
	}
	s, err := strategy.New(settings.Strategy, t, settings.Params)
	if err != nil {
		return nil, err
	}
	if settings.Prior != "" { // it is part of the signature; nothing is learned from it again
		prior, err := strategy.LoadPrior(d.Path(run.Prior))
		if err == nil {
			err = strategy.Start(s, prior)
		}
		if err != nil {
			return nil, err
		}
	}
	state := d.Path("evolve")
	if _, err := os.Stat(state); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it has no directory evolve: the crawl has not begun")
	}
	_, _, err = strategy.OpenJournal(state, strategy.Signature(settings.Strategy, s), s, 0)
	return s, err
}
