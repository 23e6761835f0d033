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

// Stats are counts over all known URLs.
type Stats struct {
	URLs           int            `json:"urls"`
	States         map[string]int `json:"states"`  // by state, including states without URLs
	Reasons        map[string]int `json:"reasons"` // of skipped URLs: the error or the status
	Hosts          int            `json:"hosts"`   // of all URLs
	HostsWaiting   int            `json:"hosts_waiting"`
	HostsVisited   int            `json:"hosts_visited"`
	Operators      map[string]int `json:"operators"` // of the proposals
	Niches         map[string]int `json:"niches"`    // of the proposals that have a niche
	Generations    []Generation   `json:"generations"`
	LastGeneration int            `json:"last_generation"` // the latest leased generation; -1: none
	Due            *time.Time     `json:"earliest_due,omitempty"`
	Bytes          Bytes          `json:"bytes"`
}

// A Generation counts the URLs of a generation: the URLs that were fetched in it, and the URLs that
// were proposed for it and still wait.
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

// LastGeneration returns the number of the latest leased generation, -1 if there is none.
func (s *Store) LastGeneration() int { return int(int64(s.nextGeneration) - 1) }

// Stats returns counts as of now.
func (s *Store) Stats(now time.Time) (Stats, error) {
	x := s.x
	st := Stats{
		States:         map[string]int{},
		Reasons:        map[string]int{},
		Operators:      map[string]int{},
		Niches:         map[string]int{},
		LastGeneration: s.LastGeneration(),
	}
	for state := range states {
		st.States[state.String()] = 0
	}
	operators, niches, reasons := make([]int, len(x.operators.list)), make([]int, len(x.niches.list)), make([]int, len(x.reasons.list))
	generations := map[uint32]*Generation{}
	hosts := make([]struct{ known, waiting, visited bool }, x.hosts.n)
	var due uint32
	for id := range uint32(x.len()) {
		if !x.isKnown(id) {
			continue
		}
		h, c, p := x.hot.at(id), x.cold.at(id), x.history(id)
		st.URLs++
		state := s.state(id, now)
		st.States[state.String()]++
		hosts[h.host].known = true
		hosts[h.host].visited = hosts[h.host].visited || state == Visited
		if state == Skipped {
			reasons[p.reason]++
		}
		if h.flags&flagProposed == 0 {
			continue
		}
		operators[c.operator]++
		niches[h.niche]++
		g := generations[c.generation]
		if g == nil {
			g = &Generation{Generation: int(c.generation)}
			generations[c.generation] = g
		}
		g.URLs++
		if state == Waiting {
			g.Waiting++
			hosts[h.host].waiting = true
			if at := max(p.due, x.hosts.at(h.host).notBefore, 1); due == 0 || at < due {
				due = at
			}
		}
	}
	if int64(due) > now.Unix() {
		at := time.Unix(int64(due), 0).UTC()
		st.Due = &at
	}
	for _, h := range hosts {
		st.Hosts += boolToInt(h.known)
		st.HostsWaiting += boolToInt(h.waiting)
		st.HostsVisited += boolToInt(h.visited)
	}
	niches[0] = 0
	x.operators.addCounts(st.Operators, operators)
	x.niches.addCounts(st.Niches, niches)
	x.reasons.addCounts(st.Reasons, reasons)
	st.Generations = make([]Generation, 0, len(generations))
	for _, n := range slices.Sorted(maps.Keys(generations)) {
		st.Generations = append(st.Generations, *generations[n])
	}
	var err error
	st.Bytes, err = s.bytes()
	return st, err
}

// addCounts adds the counts other than 0 to m under their names.
func (n *nameTable) addCounts(m map[string]int, counts []int) {
	for i, count := range counts {
		if count > 0 {
			m[n.list[i]] = count
		}
	}
}

// boolToInt returns 1 for true and 0 for false.
func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *Store) bytes() (b Bytes, err error) {
	b.Segments = len(s.log.numbers)
	if b.Log, err = s.LogSize(); err != nil {
		return b, err
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
