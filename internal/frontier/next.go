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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A State is the state of a URL.
type State uint8

// The states.
const (
	Waiting   State = iota // to be leased
	Leased                 // leased, without an outcome yet
	Visited                // has a final outcome with a status
	Skipped                // has a final error, was given up after its retries, or is excluded
	Withdrawn              // has priority null
	states
)

// String returns the state as it is written in exports.
func (s State) String() string {
	return [...]string{"waiting", "leased", "visited", "skipped", "withdrawn"}[s]
}

// States returns the names of all states.
func States() (names []string) {
	for state := range states {
		names = append(names, state.String())
	}
	return names
}

// ParseState returns the state with the given name.
func ParseState(name string) (State, error) {
	for state := range states {
		if state.String() == name {
			return state, nil
		}
	}
	return 0, fmt.Errorf("no state %q; there are %s", name, strings.Join(States(), ", "))
}

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

// HasVisited reports whether a URL is in the state [Visited].
func (s *Store) HasVisited(url string) bool {
	id, ok := s.lookup(url)
	return ok && s.state(id, time.Time{}) == Visited
}

// leased reports whether a lease is in force. generation is the latest generation that was leased.
func (s *Store) leased(h *hot, lease uint32, generation uint64, now time.Time) bool {
	return h.flags&flagLeasedByGeneration != 0 && uint64(lease) == generation ||
		h.flags&flagLeasedByClock != 0 && int64(lease) > now.Unix()
}

// A Request describes a batch of addresses to lease.
type Request struct {
	N                       int           // largest number of addresses
	PerHost                 int           // largest number of addresses of one host; 0: no limit
	PerNiche                int           // the same of one niche; an address without a niche is in the niche of its host
	MaxPerHost, MaxPerNiche int           // the same limits for the whole crawl; see budget.go
	Fair                    Group         // groups that share the batch in proportion to their priorities
	Recrawl                 bool          // include visited pages that are due again; see recrawl.go
	KnownOnly               bool          // include only visited pages that are due again
	Horizon                 time.Duration // also include addresses that are due within this time; they get not_before
	Generation              int           // generation of the batch; -1: none, the lease ends after Lease
	Lease                   time.Duration // duration of a lease without a generation
	Now                     time.Time
}

// A NothingDue is returned when no address can be leased.
type NothingDue struct {
	Earliest time.Time // when the first address will be due; zero if no address waits
	Leased   int       // number of leased addresses
}

func (e *NothingDue) Error() string {
	switch {
	case !e.Earliest.IsZero():
		return "nothing is due before " + e.Earliest.UTC().Format(time.RFC3339)
	case e.Leased > 0:
		return fmt.Sprintf("nothing waits; %d addresses are leased and have no outcome yet", e.Leased)
	}
	return "nothing waits"
}

// Next leases the best addresses that are due, ordered by weight and then by URL. The weight
// is the priority unless the batch is shared (see fair.go). Next makes the lease durable and
// returns the records of the addresses, one line each. If the generation was already leased,
// it returns the same lines again.
//
// An address that was leased to an earlier generation and has no outcome is leased again. If there
// are no lines, the error is a [*NothingDue].
func (s *Store) Next(q Request) ([]byte, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if err := s.checkpoint(); err != nil {
		return nil, err
	}
	if q.Generation >= 0 {
		if q.Generation >= math.MaxUint32 {
			return nil, fmt.Errorf("generation %d is too large", q.Generation)
		}
		if lines, err := s.readGeneration(uint64(q.Generation)); lines != nil || err != nil {
			return lines, err
		}
	}
	if err := s.excludeURLs(); err != nil {
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
	s.recordBatch(&b, at)
	for _, id := range ids {
		s.recount(id, func() error { b.lease(s.x, id); return nil })
	}
	s.unsaved += len(ids)
	return bytes.Join(b.lines, nil), nil
}

// offerCandidates offers c the URLs that are due and within the budget. It may omit URLs that
// cannot be in the batch. The result is used only to explain an empty batch.
//
// It scans all URLs, on several processors. That takes some ten milliseconds per million URLs,
// and unlike a priority queue it needs no memory between calls and no work when a priority
// changes.
func (s *Store) offerCandidates(q Request, c *chooser) (nothing NothingDue) {
	var (
		mu       sync.Mutex // of the variables below, c and nothing
		earliest = int64(math.MaxInt64)
		floor    = c.minWeight
		next     int
	)
	// Every due URL is a candidate until the chooser has set a minimum weight, so the pieces
	// are much smaller than a chunk.
	const piece = 1 << 12
	scan := func(int) {
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
		earliest, nothing.Leased = min(earliest, l.earliest), nothing.Leased+l.leased
	}
	parallel((s.x.hot.n+chunkSize-1)/chunkSize, scan) // one worker for each chunk
	if earliest < math.MaxInt64 {
		nothing.Earliest = time.Unix(earliest, 0)
	}
	return nothing
}

// parallel calls f on at most n goroutines, one for each processor, and waits for them. Worker
// 0 is the calling goroutine.
func parallel(n int, f func(worker int)) {
	var others sync.WaitGroup
	for worker := 1; worker < min(runtime.GOMAXPROCS(0), n); worker++ {
		others.Go(func() { f(worker) })
	}
	f(0)
	others.Wait()
}

// A scanner finds the candidates in a range of URLs.
type scanner struct {
	s            *Store
	q            Request
	generation   uint64
	now, horizon int64
	otherNiche   uint16
	minPriority  float64 // URLs of lower priority are skipped

	candidates []candidate // in the last range
	leased     int
	earliest   int64 // when the next URL will be due; MaxInt64: never
}

// scan scans n URLs, which must be in one chunk.
func (l *scanner) scan(from, n int) {
	x := l.s.x
	l.candidates = l.candidates[:0]
	urls := x.hot.slice(uint64(from), n)
	for i := range urls {
		h := &urls[i]
		id := uint32(from + i)
		isNew := h.flags&(flagProposed|flagFinished|flagWithdrawn) == flagProposed && !l.q.KnownOnly
		if !isNew && !(l.q.Recrawl && x.isRecrawlable(id)) || h.priority < l.minPriority {
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

// lowerLimit returns the lower of two limits, where 0 means no limit.
func lowerLimit(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// chooseBatch returns the URLs of the batch for a request; see fair.go.
func (s *Store) chooseBatch(q Request) ([]uint32, error) {
	budget, err := s.newBudget(q)
	if err != nil {
		s.failed = err
		return nil, err
	}
	l := limits{lowerLimit(q.PerHost, q.MaxPerHost), lowerLimit(q.PerNiche, q.MaxPerNiche), budget}
	c := newChooser(q.N, l, q.Fair, s.x.compareURLs)
	nothing := s.offerCandidates(q, c)
	batch := c.choose()
	if len(batch) == 0 {
		return nil, &nothing
	}
	ids := make([]uint32, len(batch))
	for i, b := range batch {
		ids[i] = b.id
	}
	return ids, nil
}

// notBefore returns the second before which a URL must not be requested, because of itself or
// its host.
func (s *Store) notBefore(id uint32) int64 {
	h := s.x.hot.at(id)
	due := s.x.hosts.at(h.host).notBefore
	if h.flags&flagHistory != 0 {
		due = max(due, s.x.histories.at(s.x.cold.at(id).history).due)
	}
	return int64(due)
}

// renderBatch returns the lines of the URLs, in their order. It reads the log in the order of
// places, so that few frames are decompressed twice, and in chunks on all processors, because
// decompression takes nearly all of the time.
func (s *Store) renderBatch(ids []uint32, q Request) ([][]byte, error) {
	const chunk = 32
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.sourcePlace(ids[a]), s.sourcePlace(ids[b])) })
	lines, errs := make([][]byte, len(ids)), make([]error, len(ids))
	var next atomic.Int64
	parallel((len(ids)+chunk-1)/chunk, func(worker int) {
		reader := s
		if worker > 0 {
			reader = &Store{x: s.x, log: s.log.newReader()}
			defer reader.log.close()
		}
		for at := int(next.Add(chunk)) - chunk; at < len(order); at = int(next.Add(chunk)) - chunk {
			for _, i := range order[at:min(at+chunk, len(order))] {
				if lines[i], errs[i] = reader.renderLine(ids[i], q); errs[i] != nil {
					return
				}
			}
		}
	})
	for _, i := range order { // chunks are started in this order, so the first error is always the same
		if errs[i] != nil {
			return nil, errs[i]
		}
	}
	return lines, nil
}

// sourcePlace returns the place of the record from which the line of a batch is rendered.
func (s *Store) sourcePlace(id uint32) place {
	if s.x.hot.at(id).flags&flagFinished != 0 {
		return s.x.history(id).outcome
	}
	return s.x.cold.at(id).proposal
}

func (s *Store) renderLine(id uint32, q Request) ([]byte, error) {
	fill := s.readProposal
	if s.x.hot.at(id).flags&flagFinished != 0 {
		fill = s.readRevisit
	}
	if err := fill(id, &s.rec); err != nil {
		return nil, err
	}
	if q.Generation >= 0 && s.rec.Generation != q.Generation {
		s.rec.Generation = q.Generation
		s.rec.Touch(wire.Address)
	}
	notBefore := ""
	if due := s.notBefore(id); due > q.Now.Unix() {
		notBefore = time.Unix(due, 0).UTC().Format(time.RFC3339)
	}
	if s.rec.NotBefore != notBefore { // a time in the past is omitted
		s.rec.NotBefore = notBefore
		s.rec.Touch(wire.Fetch)
	}
	line, err := s.encode(&s.rec)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(line), '\n'), nil
}

// readProposal sets rec to the proposal of a URL, with its parents and failed attempts.
func (s *Store) readProposal(id uint32, rec *wire.Record) error {
	if err := s.readRecord(s.x.cold.at(id).proposal, rec); err != nil {
		return err
	}
	if s.x.hot.at(id).flags&flagFromUnfinal != 0 {
		rec.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
	}
	return s.setDerived(id, rec, int(s.x.history(id).retries))
}

// setDerived sets the fields of rec that are derived from several lines of the log.
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

// A batch is a set of addresses leased together.
type batch struct {
	generation int
	leaseEnd   uint32 // second; 0 if the batch has a generation
	lines      [][]byte
	place      place // place of its first frame
}

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

// A batchHeader is the first line of each frame of a batch.
type batchHeader struct {
	Generation int    `json:"generation"` // -1: none
	Until      uint32 `json:"until"`
	Part       int    `json:"part"` // from 0
	Last       bool   `json:"last"` // a batch without its last part is ignored
}

// writeBatch writes b to the log, in as many frames as needed.
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

// readBatch adds the frame in s.payload to the batch being read, and returns the batch after its last frame.
func (s *Store) readBatch(at place) (*batch, error) {
	data, lines := s.payload, s.lineStarts
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
		return nil, nil // of an incomplete batch
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

// applyBatch applies the frame in s.payload.
func (s *Store) applyBatch(at place) error {
	b, err := s.readBatch(at)
	if b == nil {
		return err
	}
	for _, line := range b.lines {
		if err := decode(line[:len(line)-1], &s.rec); err != nil {
			return err
		}
		u, err := weburl.Parse(s.rec.URL)
		if err != nil {
			return err
		}
		id, _ := s.x.intern(u) // after a compaction the proposal of u may be later in the log
		b.lease(s.x, id)
	}
	s.recordBatch(b, b.place)
	return nil
}

func (s *Store) recordBatch(b *batch, at place) {
	s.lastBatch = at
	s.changed.ids = s.changed.ids[:0]
	if b.generation >= 0 {
		s.x.batches = append(s.x.batches, batchPlace{uint64(b.generation), at})
		if next := uint64(b.generation) + 1; next > s.nextGeneration {
			s.nextGeneration = next
			s.running.endLeases()
		}
	}
}

// readGeneration returns the lines of a leased generation, or nil if it was not leased.
func (s *Store) readGeneration(generation uint64) ([]byte, error) {
	i := slices.IndexFunc(s.x.batches, func(h batchPlace) bool { return h.generation == generation })
	switch {
	case i < 0 && s.nextGeneration > generation:
		return nil, fmt.Errorf("generation %d was not leased, but generation %d was\nhint: lease generations in ascending order; compaction keeps the last two", generation, s.nextGeneration-1)
	case i < 0:
		return nil, nil
	}
	if err := s.Commit(); err != nil { // the process that wrote it may have died before the sync
		return nil, err
	}
	at := s.x.batches[i].place
	data, err := s.log.readSegment(at.segment(), at.offset())
	if err != nil {
		return nil, err
	}
	var batch *batch
	_, err = scan(data, func(_ int64, f frame) error {
		if f.kind != frameBatch {
			return errFrame
		}
		if err := s.unpackLines(f); err != nil {
			return err
		}
		if batch, err = s.readBatch(at); batch != nil {
			return errFound
		}
		return err
	})
	s.partial = nil
	if batch == nil {
		err = cmp.Or(err, errFrame)
		return nil, fmt.Errorf("%s, byte %d: the batch of generation %d: %w"+checkHint, segmentName(at.segment()), at.offset(), generation, err)
	}
	return bytes.Join(batch.lines, nil), nil
}

// errFound ends a scan early.
var errFound = errors.New("found")
