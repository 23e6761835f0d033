package frontier

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
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

// known tells whether e is more than a URL that was named as a parent.
func (e *entry) known() bool { return e.wish != 0 || e.outcome != 0 }

// state is the state of an entry that is known.
func (s *Store) state(e *entry, now time.Time) State {
	switch {
	case e.class == classDone:
		return Visited
	case e.class == classRefused, e.retries > maxRetries:
		return Skipped
	case e.flags&flagNull != 0:
		return Withdrawn
	case s.leased(e, s.last-1, now):
		return Leased
	}
	return Waiting
}

// leased tells whether e is leased at a time at which generation is the latest
// one to be handed out.
func (s *Store) leased(e *entry, generation uint64, now time.Time) bool {
	return e.flags&flagByNumber != 0 && uint64(e.lease) == generation ||
		e.flags&flagByClock != 0 && int64(e.lease) > now.Unix()
}

// A Request asks for addresses.
type Request struct {
	N          int           // at most so many
	PerHost    int           // at most so many of one host; 0: no limit
	Generation int           // that they are for; -1: none, so the lease is by the clock
	Lease      time.Duration // by the clock
	Now        time.Time
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

// Next hands addresses out, the best first: by priority, then by URL. It returns
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
	if q.Generation >= 0 {
		if q.Generation >= math.MaxUint32 {
			return nil, fmt.Errorf("generation %d is beyond what a store can number", q.Generation)
		}
		if lines, err := s.again(uint64(q.Generation)); lines != nil || err != nil {
			return lines, err
		}
	}
	ids, err := s.choose(q)
	if err != nil {
		return nil, err
	}
	b := batch{generation: q.Generation, until: secondsOf(q.Now.Add(q.Lease))}
	if q.Generation >= 0 {
		b.until = 0
	}
	if b.lines, err = s.lineup(ids, q.Generation); err != nil {
		return nil, err
	}
	at, err := s.writeBatch(&b)
	if err == nil {
		err = s.Commit()
	}
	if err != nil {
		s.failed = err
		return nil, err
	}
	for _, id := range ids {
		b.lease(s.x.at(id))
	}
	s.record(&b, at)
	s.fresh += len(ids)
	return bytes.Join(b.lines, nil), nil
}

// choose picks the addresses of a request, best first.
//
// It looks at every entry: that takes a few milliseconds a million and costs no
// memory between two calls, and a process that hands out once has to read the
// index anyway.
func (s *Store) choose(q Request) ([]uint32, error) {
	x := s.x
	generation := s.last - 1
	if q.Generation >= 0 {
		generation = uint64(q.Generation)
	}
	now := q.Now.Unix()
	earliest, leased := int64(math.MaxInt64), 0
	var best ranking
	var hosts []ranking
	if q.PerHost > 0 {
		hosts = make([]ranking, len(x.hosts))
	}
	for id := range uint32(x.len()) {
		e := x.at(id)
		if e.wish == 0 || e.class >= classRefused || e.retries > maxRetries || e.flags&flagNull != 0 {
			continue
		}
		due := int64(max(e.due, x.hosts[e.host].notBefore))
		if e.flags&flagLeased != 0 && s.leased(e, generation, q.Now) {
			leased++
			if e.flags&flagByClock == 0 {
				continue
			}
			due = max(due, int64(e.lease))
		}
		switch {
		case due > now:
			earliest = min(earliest, due)
		case q.PerHost > 0:
			hosts[e.host].offer(x, ranked{e.priority, id}, q.PerHost)
		default:
			best.offer(x, ranked{e.priority, id}, q.N)
		}
	}
	for _, h := range hosts {
		for _, r := range h {
			best.offer(x, r, q.N)
		}
	}
	if len(best) == 0 {
		err := &NothingDue{Leased: leased}
		if earliest < math.MaxInt64 {
			err.Earliest = time.Unix(earliest, 0)
		}
		return nil, err
	}
	slices.SortFunc(best, func(a, b ranked) int { return boolCompare(a.after(x, b), b.after(x, a)) })
	ids := make([]uint32, len(best))
	for i, r := range best {
		ids[i] = r.id
	}
	return ids, nil
}

// ranked is an entry with what it is ranked by; ties are broken by URL.
type ranked struct {
	priority float64
	id       uint32
}

// after tells whether a is handed out after b.
func (a ranked) after(x *index, b ranked) bool {
	if a.priority != b.priority {
		return a.priority < b.priority
	}
	return a.id != b.id && x.less(x.at(b.id), x.at(a.id))
}

// A ranking keeps the best of what it is offered: a heap with the last on top.
type ranking []ranked

// offer keeps r if it is among the n best.
func (h *ranking) offer(x *index, r ranked, n int) {
	q := *h
	if len(q) < n {
		q = append(q, r)
		i := len(q) - 1
		for up := (i - 1) / 2; i > 0 && r.after(x, q[up]); i, up = up, (up-1)/2 {
			q[i] = q[up]
		}
		q[i] = r
		*h = q
		return
	}
	if len(q) == 0 || !q[0].after(x, r) {
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down+1 < len(q) && q[down+1].after(x, q[down]) {
			down++
		}
		if down >= len(q) || !q[down].after(x, r) {
			break
		}
		q[i] = q[down]
		i = down
	}
	q[i] = r
}

// lineup makes the lines of entries, in their order. The log is read in its own
// order, so that no frame is unpacked twice.
func (s *Store) lineup(ids []uint32, generation int) ([][]byte, error) {
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		p, q := s.x.at(ids[a]).wish, s.x.at(ids[b]).wish
		return boolCompare(p > q, p < q)
	})
	lines := make([][]byte, len(ids))
	for _, i := range order {
		e := s.x.at(ids[i])
		if err := s.wishOf(e, &s.rec); err != nil {
			return nil, err
		}
		if generation >= 0 && s.rec.Generation != generation {
			s.rec.Generation = generation
			s.rec.Touch(wire.Address)
		}
		line, err := s.encode(&s.rec)
		if err != nil {
			return nil, err
		}
		lines[i] = append(slices.Clone(line), '\n')
	}
	return lines, nil
}

// wishOf makes rec the address that e stands for: the record that asked for it,
// with all the parents that were named and the attempts that failed.
func (s *Store) wishOf(e *entry, rec *wire.Record) error {
	line, err := s.log.line(e.wish)
	if err != nil {
		return err
	}
	if err := s.lines.decode(line, rec); err != nil {
		return err
	}
	if e.flags&flagEcho != 0 {
		rec.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
	}
	return s.complete(e, rec, int(e.retries))
}

// complete gives rec what the index knows and a single line of the log does not.
func (s *Store) complete(e *entry, rec *wire.Record, retries int) error {
	if parents := s.x.list(e); len(parents) > 0 {
		names := make([]string, len(parents))
		for i, p := range parents {
			names[i] = s.x.url(s.x.at(p))
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
	until      uint32 // second at which the lease ends; 0 if it is of a generation
	lines      [][]byte
	at         place // of its first frame
}

// lease leases e to the batch.
func (b *batch) lease(e *entry) {
	e.flags &^= flagLeased
	if b.generation >= 0 {
		e.flags |= flagByNumber
		e.lease = uint32(b.generation)
	} else {
		e.flags |= flagByClock
		e.lease = b.until
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
func (s *Store) writeBatch(b *batch) (at place, err error) {
	if err := s.log.flush(); err != nil {
		return 0, err
	}
	if at, err = s.log.next(); err != nil {
		return 0, err
	}
	lines := b.lines
	for part := 0; part == 0 || len(lines) > 0; part++ {
		n, size := 0, 0
		for n < len(lines) && (n == 0 || n < 0xfff0 && size+len(lines[n]) <= maxLine) {
			size += len(lines[n])
			n++
		}
		h, err := json.Marshal(batchHeader{b.generation, b.until, part, n == len(lines)})
		if err != nil {
			return 0, err
		}
		data := append(append(h, '\n'), bytes.Join(lines[:n], nil)...)
		if err := s.log.write(frameBatch, data, n+1); err != nil {
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
		s.batch = &batch{generation: h.Generation, until: h.Until, at: at}
	}
	if s.batch == nil || h.Generation < -1 || h.Generation >= math.MaxUint32 {
		return nil, nil // the rest of one that does not count
	}
	for i := 1; i < len(lines)-1; i++ {
		s.batch.lines = append(s.batch.lines, bytes.Clone(data[lines[i]:lines[i+1]]))
	}
	if !h.Last {
		return nil, nil
	}
	b := s.batch
	s.batch = nil
	return b, nil
}

// applyBatch applies a frame of a batch that was read from the log.
func (s *Store) applyBatch(at place, data []byte, lines []int) error {
	b, err := s.readBatch(at, data, lines)
	if b == nil {
		return err
	}
	for _, line := range b.lines {
		if err := s.lines.decode(line[:len(line)-1], &s.rec); err != nil {
			return err
		}
		u, err := weburl.Parse(s.rec.URL)
		if err != nil {
			return err
		}
		if id, ok := s.x.find(u); ok {
			b.lease(s.x.at(id))
		}
	}
	s.record(b, b.at)
	return nil
}

// record remembers where a batch stands, if it is a generation's.
func (s *Store) record(b *batch, at place) {
	if b.generation >= 0 {
		s.x.handouts = append(s.x.handouts, handout{uint64(b.generation), at})
		s.last = max(s.last, uint64(b.generation)+1)
	}
}

// again returns the lines of a generation that was handed out; nil if it was not.
func (s *Store) again(generation uint64) ([]byte, error) {
	i := slices.IndexFunc(s.x.handouts, func(h handout) bool { return h.generation == generation })
	switch {
	case i < 0 && s.last > generation:
		return nil, fmt.Errorf("generation %d was never handed out, and %d already was\nhint: generations are handed out in ascending order", generation, s.last-1)
	case i < 0:
		return nil, nil
	}
	if err := s.Commit(); err != nil { // it may have been written by one that died before it was on disk
		return nil, err
	}
	at := s.x.handouts[i].at
	data, err := s.log.load(at.segment(), at.offset())
	if err != nil {
		return nil, err
	}
	var found *batch
	_, err = scan(data, func(_ int64, f frame) error {
		if f.kind != frameBatch {
			return errFrame
		}
		if s.unpacked, err = s.log.unpack(s.unpacked, f); err != nil {
			return err
		}
		if found, err = s.readBatch(at, s.unpacked, starts(nil, s.unpacked)); found != nil {
			return errFound
		}
		return err
	})
	s.batch = nil
	if found == nil {
		err = cmp.Or(err, errFrame)
		return nil, fmt.Errorf("%s, byte %d: the batch of generation %d: %w\nhint: frontier check finds out what is wrong", segmentName(at.segment()), at.offset(), generation, err)
	}
	return bytes.Join(found.lines, nil), nil
}

// errFound ends a scan early.
var errFound = errors.New("found")
