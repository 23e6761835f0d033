package main

import (
	"encoding/json"
	"os"
	"strings"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// A summary tells what one run of add was given, and what the store holds after
// it. Adding the same records again gives the same counts of what was given.
type summary struct {
	Generation int              `json:"generation"` // whose outcomes these are: as add was told, else the latest that one names
	Outcomes   int              `json:"outcomes"`   // records that tell what came of an address
	Cost       int              `json:"cost"`       // outcomes for which somebody was asked, and what queries cost
	Queries    int              `json:"queries"`    // that were answered
	Failed     int              `json:"failed"`     // of these, what gave no page: errors, and statuses other than 2xx
	Relevant   int              `json:"relevant"`   // outcomes that the score stage calls relevant
	Errors     map[string]int   `json:"errors"`     // outcomes that are errors, by kind
	Operators  map[string]yield `json:"operators"`  // outcomes by what brought them
	Addresses  int              `json:"addresses"`  // records that ask for an address
	URLs       int              `json:"urls"`       // known to the store
	Hosts      int              `json:"hosts"`      // of which a page was fetched
	Waiting    int              `json:"waiting"`
}

// A yield is what an operator brought.
type yield struct {
	Cost     int `json:"cost"`
	Relevant int `json:"relevant"`
}

// count counts a record that add was given.
func (s *summary) count(rec *wire.Record) {
	switch {
	case rec.URL == "":
		if later := s.Generation > 0 && rec.Generation > s.Generation; rec.Cost > 0 && !later { // it was answered
			s.Queries++
			s.Cost += rec.Cost
		}
		return
	case !rec.IsOutcome():
		s.Addresses++
		return
	}
	s.Generation = max(s.Generation, rec.Generation)
	s.Outcomes++
	if rec.Error != "" {
		s.Errors[strings.Clone(rec.Error)]++
	}
	operator := strings.Clone(rec.Operator) // the record will be read into again
	by := s.Operators[operator]
	if !rec.Free() {
		s.Cost++
		by.Cost++
		if rec.Error != "" || rec.StatusCode/100 != 2 {
			s.Failed++
		}
	}
	if rec.Relevant == wire.True {
		s.Relevant++
		by.Relevant++
	}
	s.Operators[operator] = by
}

// write writes the summary, with the counts of the store, as one line.
func (s *summary) write(name string, store frontier.Stats) error {
	s.store(store)
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(line, '\n'), 0o666)
}

// store adds the counts of the store.
func (s *summary) store(store frontier.Stats) {
	s.URLs, s.Hosts = store.URLs, store.HostsVisited
	s.Waiting = store.States[frontier.Waiting.String()]
}
