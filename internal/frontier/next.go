package frontier

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A State is what a URL is in.
type State uint8

// The states.
const (
	Waiting   State = iota // to be handed out
	Leased                 // handed out, and its outcome is awaited
	Visited                // a final outcome with a status
	Skipped                // a final error, or given up after its retries
	Withdrawn              // its priority is null
	states
)

// String is the state as it stands in an export.
func (s State) String() string {
	return [...]string{"waiting", "leased", "visited", "skipped", "withdrawn"}[s]
}

// States are the names of all states.
func States() (names []string) {
	for state := range states {
		names = append(names, state.String())
	}
	return names
}

// state is the state of a URL that is known.
func (s *Store) state(id uint32, now time.Time) State {
	h := s.x.hot.at(id)
	switch {
	case h.flags&flagFinished != 0:
		if p := s.x.history(id); p.class == classDone || p.class == classFailed && p.visits > 0 {
			return Visited
		}
		return Skipped
	case h.flags&flagWithdrawn != 0:
		return Withdrawn
	case h.flags&flagLeased != 0 && s.leased(h, s.x.history(id).lease, s.nextGeneration-1, now):
		return Leased
	}
	return Waiting
}

// leased tells whether a lease holds at a time at which generation is the latest
// one to be handed out.
func (s *Store) leased(h *hot, lease uint32, generation uint64, now time.Time) bool {
	return h.flags&flagLeasedByGeneration != 0 && uint64(lease) == generation ||
		h.flags&flagLeasedByClock != 0 && int64(lease) > now.Unix()
}

// A Request asks for addresses.
type Request struct {
	N                       int           // at most so many
	PerHost                 int           // at most so many of one host; 0: no limit
	PerNiche                int           // at most so many of one niche; an address without is in that of its host
	MaxPerHost, MaxPerNiche int           // the same for the whole crawl; see budget.go
	Fair                    Group         // what shares the batch in proportion to its priority
	Recrawl                 bool          // also what was visited and is due again; see recrawl.go
	Horizon                 time.Duration // also what is due within so long, with its not_before
	Generation              int           // that they are for; -1: none, so the lease is by the clock
	Lease                   time.Duration // by the clock
	Now                     time.Time
}

// NothingDue says that no address can be handed out.
type NothingDue struct {
	Earliest time.Time // when one will be; zero if none waits
	Leased   int       // addresses whose outcomes are awaited
}

func (e *NothingDue) Error() string {
	switch {
	case !e.Earliest.IsZero():
		return "nothing is due before " + e.Earliest.UTC().Format(time.RFC3339)
	case e.Leased > 0:
		return fmt.Sprintf("nothing waits; the outcomes of %d addresses are awaited", e.Leased)
	}
	return "nothing waits"
}

// Next hands addresses out, the best first: by worth (see fair.go), which is
// priority unless the batch is shared, then by URL. It returns
// their records, a line each. When it returns they are on disk as handed out, and
// a generation that has been handed out is given the same lines again, whatever
// has happened since.
//
// An address that was handed out to an earlier generation and has no outcome
// comes back with the next. The error is [*NothingDue] if there is no line.
func (s *Store) Next(q Request) ([]byte, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if err := s.checkpoint(); err != nil {
		return nil, err
	}
	if q.Generation >= 0 {
		if q.Generation >= math.MaxUint32 {
			return nil, fmt.Errorf("generation %d is beyond what a store can number", q.Generation)
		}
		if lines, err := s.readGeneration(uint64(q.Generation)); lines != nil || err != nil {
			return lines, err
		}
	}
	if err := s.excludeTrapURLs(); err != nil {
		s.failed = err
		return nil, err
	}
	ids, err := s.chooseBatch(q)
	if err != nil {
		return nil, err
	}
	b := batch{generation: q.Generation, leaseEnd: secondsOf(q.Now.Add(q.Lease))}
	if q.Generation >= 0 {
		b.leaseEnd = 0
	}
	if b.lines, err = s.renderBatch(ids, q); err != nil {
		return nil, err
	}
	at, err := s.log.writeBatch(&b)
	if err == nil {
		err = s.Commit()
	}
	if err != nil {
		s.failed = err
		return nil, err
	}
	for _, id := range ids {
		b.lease(s.x, id)
	}
	s.recordBatch(&b, at)
	s.unsaved += len(ids)
	return bytes.Join(b.lines, nil), nil
}

// candidates offers c every URL that may be handed out and is within the budget, but for
// those that cannot come into the batch. If there is none, waits says what is awaited.
//
// It looks at every URL there is, on several processors: that takes some ten milliseconds
// a million, costs no memory between two calls, and nothing whenever a priority changes.
func (s *Store) offerCandidates(q Request, c *chooser) (waits NothingDue) {
	var (
		mu       sync.Mutex // of all that is behind it
		earliest = int64(math.MaxInt64)
		floor    = c.minWeight
		next     int
	)
	// What is looked at before others have set the floor is all found: so in pieces that
	// are much smaller than a chunk.
	const piece = 1 << 12
	look := func() {
		l := scanner{s: s, q: q, generation: s.nextGeneration - 1, now: q.Now.Unix(), horizon: int64(q.Horizon / time.Second), otherNiche: s.x.niches.numbers[otherName], earliest: math.MaxInt64}
		if q.Generation >= 0 {
			l.generation = uint64(q.Generation)
		}
		mu.Lock()
		defer mu.Unlock()
		for next < s.x.hot.n {
			from := next
			next += piece
			l.minPriority = floor
			mu.Unlock()
			l.scan(from, min(piece, s.x.hot.n-from))
			mu.Lock()
			for _, e := range l.candidates {
				if c.limits.budget.admits(e, 0, 0) {
					c.offer(e)
				}
			}
			floor = c.minWeight
		}
		earliest, waits.Leased = min(earliest, l.earliest), waits.Leased+l.leased
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (s.x.hot.n+chunkSize-1)/chunkSize) - 1 { // less is not worth it
		others.Go(look)
	}
	look()
	others.Wait()
	if earliest < math.MaxInt64 {
		waits.Earliest = time.Unix(earliest, 0)
	}
	return waits
}

// looking is for what may be handed out.
type scanner struct {
	s            *Store
	q            Request
	generation   uint64
	now, horizon int64
	otherNiche   uint16
	minPriority  float64 // what is below it is passed over

	candidates []candidate // in one piece
	leased     int
	earliest   int64 // when something is due that is not yet
}

// look goes through n URLs from one on; they lie together.
func (l *scanner) scan(from, n int) {
	x := l.s.x
	l.candidates = l.candidates[:0]
	piece := x.hot.slice(uint64(from), n)
	for i := range piece {
		h := &piece[i]
		id := uint32(from + i)
		if h.flags&(flagProposed|flagFinished|flagWithdrawn) != flagProposed && !(l.q.Recrawl && x.isRecrawlable(id)) || h.priority < l.minPriority {
			continue
		}
		due := l.s.notBefore(id) - l.horizon
		if h.flags&flagLeased != 0 {
			if lease := x.history(id).lease; l.s.leased(h, lease, l.generation, l.q.Now) {
				l.leased++
				if h.flags&flagLeasedByClock == 0 {
					continue
				}
				due = max(due, int64(lease))
			}
		}
		if due > l.now {
			l.earliest = min(l.earliest, due)
			continue
		}
		l.candidates = append(l.candidates, candidate{h.priority, id, h.host, x.nicheOf(h, l.otherNiche)})
	}
}

// least is the lesser of two limits, of which 0 is none.
func lowerLimit(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// choose picks the addresses of a request; see fair.go for which.
func (s *Store) chooseBatch(q Request) ([]uint32, error) {
	budget, err := s.newBudget(q)
	if err != nil {
		s.failed = err
		return nil, err
	}
	l := limits{lowerLimit(q.PerHost, q.MaxPerHost), lowerLimit(q.PerNiche, q.MaxPerNiche), budget}
	c := newChooser(q.N, l, q.Fair, s.x.less)
	waits := s.offerCandidates(q, c)
	batch := c.choose()
	if len(batch) == 0 {
		return nil, &waits
	}
	ids := make([]uint32, len(batch))
	for i, b := range batch {
		ids[i] = b.id
	}
	return ids, nil
}

// due is the second before which a URL is not to be asked for: for its own sake, or
// for its host's.
func (s *Store) notBefore(id uint32) int64 {
	h := s.x.hot.at(id)
	due := s.x.hosts.at(h.host).notBefore
	if h.flags&flagHistory != 0 {
		due = max(due, s.x.histories.at(s.x.cold.at(id).history).due)
	}
	return int64(due)
}

// lineup makes the lines of entries, in their order. The log is read in its own
// order, so that hardly a frame is unpacked twice, and in portions, on all processors:
// to unpack frames is nearly all that it takes.
func (s *Store) renderBatch(ids []uint32, q Request) ([][]byte, error) {
	const portion = 32
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.sourcePlace(ids[a]), s.sourcePlace(ids[b])) })
	lines, errs := make([][]byte, len(ids)), make([]error, len(ids))
	var next atomic.Int64
	work := func(s *Store) {
		for at := int(next.Add(portion)) - portion; at < len(order); at = int(next.Add(portion)) - portion {
			for _, i := range order[at:min(at+portion, len(order))] {
				if lines[i], errs[i] = s.renderLine(ids[i], q); errs[i] != nil {
					return
				}
			}
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(ids)+portion-1)/portion) - 1 {
		others.Go(func() {
			reader := s.newReader()
			defer reader.log.close()
			work(reader)
		})
	}
	work(s)
	others.Wait()
	for _, i := range order { // portions are begun in order, so the first error is always the same
		if errs[i] != nil {
			return nil, errs[i]
		}
	}
	return lines, nil
}

// source is where the record stands that an entry is handed out by.
func (s *Store) sourcePlace(id uint32) place {
	if s.x.hot.at(id).flags&flagFinished != 0 {
		return s.x.history(id).outcome
	}
	return s.x.cold.at(id).proposal
}

// reader is s once more, for another goroutine to read lines of the log with.
func (s *Store) newReader() *Store {
	r := &Store{x: s.x, log: s.log.newReader()}
	r.init()
	return r
}

// lineFor makes the line of an entry.
func (s *Store) renderLine(id uint32, q Request) ([]byte, error) {
	read := s.readProposal
	if s.x.hot.at(id).flags&flagFinished != 0 {
		read = s.readRevisit
	}
	if err := read(id, &s.rec); err != nil {
		return nil, err
	}
	if q.Generation >= 0 && s.rec.Generation != q.Generation {
		s.rec.Generation = q.Generation
		s.rec.Touch(wire.Address)
	}
	before := ""
	if due := s.notBefore(id); due > q.Now.Unix() {
		before = time.Unix(due, 0).UTC().Format(time.RFC3339)
	}
	if s.rec.NotBefore != before { // of what is past nothing is said
		s.rec.NotBefore = before
		s.rec.Touch(wire.Fetch)
	}
	line, err := s.encode(&s.rec)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(line), '\n'), nil
}

// wishOf makes rec the address that id stands for: the record that asked for it,
// with all the parents that were named and the attempts that failed.
func (s *Store) readProposal(id uint32, rec *wire.Record) error {
	line, err := s.log.line(s.x.cold.at(id).proposal)
	if err != nil {
		return err
	}
	if err := s.decoder.decode(line, rec); err != nil {
		return err
	}
	if s.x.hot.at(id).flags&flagFromUnfinal != 0 {
		rec.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
	}
	return s.setDerived(id, rec, int(s.x.history(id).retries))
}

// complete gives rec what the index knows and a single line of the log does not.
func (s *Store) setDerived(id uint32, rec *wire.Record, retries int) error {
	if parents := s.x.parents(id); len(parents) > 0 {
		names := make([]string, len(parents))
		for i, p := range parents {
			names[i] = s.x.url(p)
		}
		if !slices.Equal(names, rec.Parents) {
			rec.Parents = names
			rec.Touch(wire.Address)
		}
	}
	if rec.Retries != retries {
		rec.Retries = retries
		rec.Touch(wire.Address)
	}
	return nil
}

// A batch is what was handed out at once.
type batch struct {
	generation int
	leaseEnd   uint32 // second at which the lease ends; 0 if it is of a generation
	lines      [][]byte
	place      place // of its first frame
}

// lease leases a URL to the batch.
func (b *batch) lease(x *index, id uint32) {
	p, h := x.mutableHistory(id), x.hot.at(id)
	h.flags &^= flagLeased
	if b.generation >= 0 {
		h.flags |= flagLeasedByGeneration
		p.lease = uint32(b.generation)
	} else {
		h.flags |= flagLeasedByClock
		p.lease = b.leaseEnd
	}
}

// batchHeader is the first line of a frame of a batch.
type batchHeader struct {
	Generation int    `json:"generation"` // -1: none
	Until      uint32 `json:"until"`
	Part       int    `json:"part"` // from 0
	Last       bool   `json:"last"` // the batch counts only if its last part is there
}

// writeBatch writes b to the log, in as many frames as it needs.
func (l *log) writeBatch(b *batch) (at place, err error) {
	if err := l.flush(); err != nil {
		return 0, err
	}
	if at, err = l.nextPlace(); err != nil {
		return 0, err
	}
	lines := b.lines
	for part := 0; part == 0 || len(lines) > 0; part++ {
		n, size := 0, 0
		for n < len(lines) && (n == 0 || n < 0xfff0 && size+len(lines[n]) <= maxLine) {
			size += len(lines[n])
			n++
		}
		h, err := json.Marshal(batchHeader{b.generation, b.leaseEnd, part, n == len(lines)})
		if err != nil {
			return 0, err
		}
		data := append(append(h, '\n'), bytes.Join(lines[:n], nil)...)
		if err := l.writeFrame(frameBatch, data, n+1); err != nil {
			return 0, err
		}
		lines = lines[n:]
	}
	return at, nil
}

// readBatch adds a frame of a batch to the one that is being read, and returns
// that when its last part is there.
func (s *Store) readBatch(at place, data []byte, lines []int) (*batch, error) {
	if len(lines) < 2 {
		return nil, errors.New("a batch without its header")
	}
	var h batchHeader
	if err := json.Unmarshal(data[:lines[1]], &h); err != nil {
		return nil, fmt.Errorf("the header of a batch: %w", err)
	}
	if h.Part == 0 {
		s.partial = &batch{generation: h.Generation, leaseEnd: h.Until, place: at}
	}
	if s.partial == nil || h.Generation < -1 || h.Generation >= math.MaxUint32 {
		return nil, nil // the rest of one that does not count
	}
	for i := 1; i < len(lines)-1; i++ {
		s.partial.lines = append(s.partial.lines, bytes.Clone(data[lines[i]:lines[i+1]]))
	}
	if !h.Last {
		return nil, nil
	}
	b := s.partial
	s.partial = nil
	return b, nil
}

// applyBatch applies a frame of a batch that was read from the log.
func (s *Store) applyBatch(at place, data []byte, lines []int) error {
	b, err := s.readBatch(at, data, lines)
	if b == nil {
		return err
	}
	for _, line := range b.lines {
		if err := s.decoder.decode(line[:len(line)-1], &s.rec); err != nil {
			return err
		}
		u, err := weburl.Parse(s.rec.URL)
		if err != nil {
			return err
		}
		id, _ := s.x.intern(u) // what asked for it may stand behind, since a compaction
		b.lease(s.x, id)
	}
	s.recordBatch(b, b.place)
	return nil
}

// record remembers where a batch stands, if it is a generation's.
func (s *Store) recordBatch(b *batch, at place) {
	s.lastBatch = at
	s.changed.ids = s.changed.ids[:0]
	if b.generation >= 0 {
		s.x.batches = append(s.x.batches, batchPlace{uint64(b.generation), at})
		s.nextGeneration = max(s.nextGeneration, uint64(b.generation)+1)
	}
}

// again returns the lines of a generation that was handed out; nil if it was not.
func (s *Store) readGeneration(generation uint64) ([]byte, error) {
	i := slices.IndexFunc(s.x.batches, func(h batchPlace) bool { return h.generation == generation })
	switch {
	case i < 0 && s.nextGeneration > generation:
		return nil, fmt.Errorf("generation %d was never handed out, and %d already was\nhint: generations are handed out in ascending order, and the last two are kept when the store is compacted", generation, s.nextGeneration-1)
	case i < 0:
		return nil, nil
	}
	if err := s.Commit(); err != nil { // it may have been written by one that died before it was on disk
		return nil, err
	}
	at := s.x.batches[i].place
	data, err := s.log.readSegment(at.segment(), at.offset())
	if err != nil {
		return nil, err
	}
	var found *batch
	_, err = scan(data, func(_ int64, f frame) error {
		if f.kind != frameBatch {
			return errFrame
		}
		if s.payload, err = s.log.unpack(s.payload, f); err != nil {
			return err
		}
		if found, err = s.readBatch(at, s.payload, lineStarts(nil, s.payload)); found != nil {
			return errFound
		}
		return err
	})
	s.partial = nil
	if found == nil {
		err = cmp.Or(err, errFrame)
		return nil, fmt.Errorf("%s, byte %d: the batch of generation %d: %w\nhint: frontier check finds out what is wrong", segmentName(at.segment()), at.offset(), generation, err)
	}
	return bytes.Join(found.lines, nil), nil
}

// errFound ends a scan early.
var errFound = errors.New("found")
