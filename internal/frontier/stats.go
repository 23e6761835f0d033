package frontier

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Stats are counts over all that a store knows.
type Stats struct {
	URLs        int            `json:"urls"`
	States      map[string]int `json:"states"`  // by state, those of 0 included
	Reasons     map[string]int `json:"reasons"` // of the skipped: the error or the status
	Hosts       int            `json:"hosts"`   // of all URLs
	HostsDue    int            `json:"hosts_waiting"`
	HostsDone   int            `json:"hosts_visited"`
	Operators   map[string]int `json:"operators"` // of the records that ask for URLs
	Generations []Generation   `json:"generations"`
	HandedOut   int            `json:"last_generation"` // the latest that was handed out; -1: none
	Due         *time.Time     `json:"earliest_due,omitempty"`
	Bytes       Bytes          `json:"bytes"`
}

// Generation counts the URLs of a generation: those it fetched, and those that it
// asked for and that still wait.
type Generation struct {
	Generation int `json:"generation"`
	URLs       int `json:"urls"`
	Waiting    int `json:"waiting"`
}

// Bytes are the sizes of a store's files.
type Bytes struct {
	Log      int64 `json:"log"`
	Snapshot int64 `json:"snapshot"`
	Segments int   `json:"segments"`
}

// Stats counts, as of now.
func (s *Store) Stats(now time.Time) (Stats, error) {
	x := s.x
	st := Stats{
		States:    map[string]int{},
		Reasons:   map[string]int{},
		Operators: map[string]int{},
		HandedOut: int(int64(s.last) - 1),
	}
	for state := range states {
		st.States[state.String()] = 0
	}
	var operators, reasons [256]int
	generations := map[uint32]*Generation{}
	hosts := make([]struct{ known, due, done bool }, len(x.hosts))
	var due uint32
	for id := range uint32(x.len()) {
		e := x.at(id)
		if !e.known() {
			continue
		}
		st.URLs++
		state := s.state(e, now)
		st.States[state.String()]++
		hosts[e.host].known = true
		hosts[e.host].done = hosts[e.host].done || state == Visited
		if state == Skipped {
			reasons[e.reason]++
		}
		if e.wish == 0 {
			continue
		}
		operators[e.operator]++
		g := generations[e.asked]
		if g == nil {
			g = &Generation{Generation: int(e.asked)}
			generations[e.asked] = g
		}
		g.URLs++
		if state == Waiting {
			g.Waiting++
			hosts[e.host].due = true
			if at := max(e.due, x.hosts[e.host].notBefore, 1); due == 0 || at < due {
				due = at
			}
		}
	}
	if int64(due) > now.Unix() {
		at := time.Unix(int64(due), 0).UTC()
		st.Due = &at
	}
	for _, h := range hosts {
		st.Hosts += count(h.known)
		st.HostsDue += count(h.due)
		st.HostsDone += count(h.done)
	}
	for i, name := range x.names {
		if operators[i] > 0 {
			st.Operators[name] = operators[i]
		}
		if reasons[i] > 0 {
			st.Reasons[name] = reasons[i]
		}
	}
	st.Generations = byGeneration(generations)
	var err error
	st.Bytes, err = s.bytes()
	return st, err
}

// count is 1 for true.
func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bytes measures the files.
func (s *Store) bytes() (b Bytes, err error) {
	b.Segments = len(s.log.numbers)
	for _, n := range s.log.numbers {
		info, err := os.Stat(s.log.path(n))
		if err != nil {
			return b, err
		}
		b.Log += info.Size()
	}
	info, err := os.Stat(filepath.Join(s.dir, snapshotName))
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		b.Snapshot = info.Size()
	}
	return b, err
}

func byGeneration(m map[uint32]*Generation) []Generation {
	list := make([]Generation, 0, len(m))
	for _, n := range slices.Sorted(maps.Keys(m)) {
		list = append(list, *m[n])
	}
	return list
}
