package viewer

import (
	"cmp"
	"hash/maphash"
	"strings"

	"spoor/internal/run"
	"spoor/internal/search"
	"spoor/internal/wire"
)

// Ranks are set again when a run has grown by rankGrowth, so that the work is a constant for each page.
const rankGrowth = 1.25

// maxTargets limits the targets of links that are counted: about 64 MB of memory.
const maxTargets = 2 << 20

// rank sets the relevance and the authority of the pages of a run: what the strategy itself estimated of a page or,
// if it estimates nothing, whether the measure of the crawl calls it relevant; and the number of fetched pages that
// link to it.
func (s *Search) rank(x *search.Index, d run.Dir) error {
	totals, err := d.SavedTotals()
	if err != nil || totals == nil || totals.Fetched == 0 || float64(totals.Fetched) < rankGrowth*float64(s.ranked[d]) {
		return err
	}
	settings, err := d.LoadSettings()
	if err != nil {
		return err
	}
	seed := maphash.MakeSeed()
	inlinks, most := map[uint64]int{}, 0
	for g := 1; g <= totals.Generation; g++ {
		err := eachRecord(d.File(g, run.Scored), wire.Address|wire.Fetch|wire.Parse, func(rec *wire.Record) {
			for i := range rec.Links {
				target := maphash.String(seed, rec.Links[i].URL)
				if n := inlinks[target]; n > 0 || len(inlinks) < maxTargets {
					inlinks[target] = n + 1
					most = max(most, n+1)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	var failed error
	err = x.SetRanks(func(yield func(search.Rank) bool) {
		for g := 1; g <= totals.Generation && failed == nil; g++ {
			failed = eachRank(d, g, settings.Strategy, func(rank search.Rank, found string) bool {
				n := max(inlinks[maphash.String(seed, rank.URL)], inlinks[maphash.String(seed, found)])
				rank.Authority = search.Authority(n, most)
				return yield(rank)
			})
		}
	})
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	s.ranked[d] = totals.Fetched
	return nil
}

// eachRank calls f with the rank of each page of a generation, without its authority, and with the address in the
// links to it, until f returns false.
func eachRank(d run.Dir, generation int, strategy string, f func(rank search.Rank, found string) bool) error {
	estimates := map[string]float64{}
	err := eachRecord(d.File(generation, run.Next), wire.Address|wire.Fetch|wire.Score, func(rec *wire.Record) {
		if v, ok := rec.ScoreOf(strategy); ok && rec.IsOutcome() && len(estimates) < maxTitles {
			estimates[strings.Clone(rec.URL)] = v
		}
	})
	if err != nil {
		return err
	}
	more := true
	return eachRecord(d.File(generation, run.Scored), wire.Address|wire.Fetch|wire.Score, func(rec *wire.Record) {
		if !more || !rec.IsOutcome() || rec.Error != "" || rec.StatusCode/100 != 2 {
			return
		}
		rank := search.Rank{URL: cmp.Or(rec.FinalURL, rec.URL)}
		if v, ok := estimates[rec.URL]; ok {
			rank.Relevance = v
		} else if rec.Relevant == wire.True {
			rank.Relevance = 1
		}
		more = f(rank, rec.URL)
	})
}
