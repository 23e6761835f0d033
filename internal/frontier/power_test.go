package frontier

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

var (
	cuts = flag.Int("cuts", 200, "how often TestPowerCuts cuts the power")
	seed = flag.Uint64("seed", 1, "of what it does")
)

// A powerDisk is a disk whose power can be cut. Processes see their changes in the directory;
// the disk also records what is durable and what is not synced yet.
type powerDisk struct {
	dir            string
	operationsLeft int // until the power goes
	mu             sync.Mutex
	files          map[string]*inode // as processes see them
	durable        map[string]*inode // as they are on disk
	unsyncedNames  []nameChange      // since the last sync of the directory
}

// An inode is a file, independent of its name, with its durable content and the unsynced
// changes.
type inode struct {
	durable  []byte
	unsynced []change
}

// A change writes data at an offset or, if data is nil, truncates the file there.
type change struct {
	at   int64
	data []byte
}

// A nameChange creates, removes or renames a file.
type nameChange struct {
	from, to string
	file     *inode
}

func (n nameChange) apply(names map[string]*inode) {
	file := n.file
	if n.from != "" {
		if file = names[n.from]; file == nil {
			return
		}
		delete(names, n.from)
	}
	if n.to != "" {
		names[n.to] = file
	}
}

var errPower = errors.New("the power is gone")

// use counts an operation, or returns errPower if the power is gone.
func (c *powerDisk) use() error {
	if c.operationsLeft <= 0 {
		return errPower
	}
	c.operationsLeft--
	return nil
}

// newCircuit returns a disk with the files in dir.
func newCircuit(t *testing.T, dir string) *powerDisk {
	c := &powerDisk{dir: dir, files: map[string]*inode{}, durable: map[string]*inode{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b := testfile.Read(t, filepath.Join(dir, e.Name()))
		file := &inode{durable: b}
		c.files[e.Name()], c.durable[e.Name()] = file, file
	}
	return c
}

func (c *powerDisk) name(n nameChange) {
	n.apply(c.files)
	c.unsyncedNames = append(c.unsyncedNames, n)
}

func (c *powerDisk) mkdir(dir string) error { return nil } // it exists

func (c *powerDisk) open(name string, at int64) (file, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	base := filepath.Base(name)
	if c.files[base] == nil {
		if err := c.use(); err != nil {
			return nil, err
		}
		c.name(nameChange{to: base, file: &inode{}})
	}
	f, err := osDisk{}.open(name, at)
	return &powerFile{file: f, c: c, inode: c.files[base], at: at}, err
}

func (c *powerDisk) rename(from, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.use(); err != nil {
		return err
	}
	c.name(nameChange{from: filepath.Base(from), to: filepath.Base(to)})
	return os.Rename(from, to)
}

func (c *powerDisk) remove(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.use(); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	c.name(nameChange{from: filepath.Base(name)})
	return nil
}

func (c *powerDisk) sync(string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.use(); err != nil {
		return err
	}
	c.durable, c.unsyncedNames = maps.Clone(c.files), nil
	return nil
}

// A powerFile is an open file on a powerDisk.
type powerFile struct {
	file
	c     *powerDisk
	inode *inode
	at    int64
}

// Write writes half of p if the power goes.
func (f *powerFile) Write(p []byte) (int, error) {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	gone := f.c.use()
	if gone != nil {
		p = p[:len(p)/2]
	}
	f.inode.unsynced = append(f.inode.unsynced, change{f.at, slices.Clone(p)})
	f.at += int64(len(p))
	n, err := f.file.Write(p)
	return n, errors.Join(gone, err)
}

func (f *powerFile) Truncate(size int64) error {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if err := f.c.use(); err != nil {
		return err
	}
	f.inode.unsynced = append(f.inode.unsynced, change{at: size})
	return f.file.Truncate(size)
}

func (f *powerFile) Sync() error {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if err := f.c.use(); err != nil {
		return err
	}
	for _, change := range f.inode.unsynced {
		f.inode.durable = change.apply(f.inode.durable)
	}
	f.inode.unsynced = nil
	return nil
}

func (c change) apply(b []byte) []byte {
	end := c.at + int64(len(c.data))
	if c.data == nil {
		return slices.Grow(b, max(0, int(c.at)-len(b)))[:c.at]
	}
	if n := int64(len(b)); end > n {
		b = append(b, make([]byte, end-n)...)
	}
	copy(b[c.at:], c.data)
	return b
}

// events counts what happened in power cuts. The test prints it.
type events map[string]int

func (t events) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "%8d  %s\n", t[what], what)
	}
	return b.String()
}

// inMemory returns a new directory, in memory if possible.
func inMemory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "spoor-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// cutPower returns the disk as found when the power is back. Of the unsynced names and sectors
// some are there, in any order, and some of those sectors are zero, torn, or have a flipped
// bit.
func (c *powerDisk) cutPower(t *testing.T, rng *rand.Rand, seen events) *powerDisk {
	names := maps.Clone(c.durable)
	share := rng.Float64()
	if rng.IntN(4) == 0 {
		share = float64(rng.IntN(2)) // none, or all
	}
	for _, n := range c.unsyncedNames {
		if rng.Float64() < share {
			n.apply(names)
		} else {
			seen["names lost"]++
		}
	}
	dir := inMemory(t)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		testfile.Write(t, filepath.Join(dir, name), names[name].cutPower(rng, share, seen))
	}
	return newCircuit(t, dir)
}

func (n *inode) cutPower(rng *rand.Rand, share float64, seen events) []byte {
	b := slices.Clone(n.durable)
	firm := int64(len(b)) // durable sectors have their old or their new content
	sector := []int64{16, 64, 512, 4096}[rng.IntN(4)]
	for _, c := range n.unsynced {
		if c.data == nil {
			if rng.Float64() < share {
				b = c.apply(b)
				firm = min(firm, c.at)
			}
			continue
		}
		for from := int64(0); from < int64(len(c.data)); {
			at := c.at + from
			to := min(int64(len(c.data)), from+sector-at%sector)
			part := slices.Clone(c.data[from:to])
			from = to
			if rng.Float64() >= share {
				seen["sectors dropped"]++
				continue
			}
			if at >= firm {
				switch rng.IntN(12) {
				case 0:
					clear(part)
					seen["sectors zeroed"]++
				case 1:
					part[rng.IntN(len(part))] ^= 1 << rng.IntN(8)
					seen["sectors with a flipped bit"]++
				case 2:
					part = part[:rng.IntN(len(part))+1]
					seen["sectors torn"]++
				}
			}
			b = change{at, part}.apply(b)
			seen["sectors written"]++
		}
	}
	return b
}

// A model is a simple implementation of the queue, without disk or limits.
type model map[string]*modelURL

// A modelURL is the state of a URL.
type modelURL struct {
	generation, revision, lease, retries int
	priority                             float64
	done, over                           bool // over: the attempt it was leased for has ended
}

func (m model) add(url string, generation int, priority float64) {
	if m[url] == nil {
		m[url] = &modelURL{generation: -1, lease: -1}
	}
	if e := m[url]; generation > e.generation || generation == e.generation && e.revision == 0 && priority > e.priority {
		e.generation, e.revision, e.priority = generation, 0, priority
	}
}

func (m model) reprioritise(url string, priority float64) {
	if e := m[url]; e != nil && !e.done && e.retries <= maxRetries && priority != e.priority {
		e.priority = priority
		e.revision++
	}
}

func (m model) next(generation, n int) (urls []string) {
	for u, e := range m {
		if !e.done && e.retries <= maxRetries && e.lease < generation {
			urls = append(urls, u)
		}
	}
	slices.SortFunc(urls, func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b].priority, m[a].priority), strings.Compare(a, b))
	})
	urls = urls[:min(n, len(urls))]
	for _, u := range urls {
		m[u].lease, m[u].over = generation, false
	}
	return urls
}

func (m model) clone() model {
	c := maps.Clone(m)
	for u, e := range m {
		e := *e
		c[u] = &e
	}
	return c
}

// A modelState is the expected content of a store.
type modelState struct {
	model
	generation int // latest leased generation; -1: none
}

func (w modelState) clone() modelState { return modelState{w.model.clone(), w.generation} }

// An act applies an operation on a store to the model.
type act func(*modelState)

// A powerTest is a store on a powerDisk with its expected content: everything acknowledged,
// and any number of the operations after that, from the first.
type powerTest struct {
	t                   *testing.T
	rng                 *rand.Rand
	seen                events
	disk                *powerDisk
	acknowledgedState   modelState
	pending             []act
	acknowledgedBatches map[int]string // by generation
	leased              []string       // URLs without outcome
	generation          int            // to lease next
	snapshotDamaged     bool           // by a power cut

	compacted bool // only the last two batches need be there
}

// TestPowerCuts performs the operations of a crawl on a store and cuts the power or kills the
// process at any moment. After each cut the store holds everything acknowledged and a prefix
// of the rest, leases and batches included, and Check finds nothing. A bit flipped in
// acknowledged data is detected, and the repair loses no more than its frame.
func TestPowerCuts(t *testing.T) {
	n := *cuts
	if testing.Short() {
		n = min(n, 25)
	}
	seen := events{}
	for life := uint64(0); seen["power cuts"] < n; life++ {
		rng := rand.New(rand.NewPCG(*seed, life))
		if !t.Run(fmt.Sprint(life), func(t *testing.T) {
			h := &powerTest{t: t, rng: rng, seen: seen, disk: newCircuit(t, inMemory(t)), acknowledgedState: modelState{model{}, -1}, acknowledgedBatches: map[int]string{}}
			for i := rng.IntN(12); i >= 0 && !t.Failed(); i-- {
				h.session()
			}
			if !t.Failed() {
				h.flipBit()
			}
		}) {
			t.FailNow()
		}
	}
	t.Logf("-cuts %d -seed %d\n%s", n, *seed, seen)
}

func (h *powerTest) options() Options {
	return Options{Create: true, segmentSize: 4000, disk: h.disk, shouldYield: func(string) bool { return h.rng.IntN(4) == 0 }}
}

// session runs one process on the store, and checks what it leaves behind.
func (h *powerTest) session() {
	h.disk.operationsLeft = 1 << 30
	if h.rng.IntN(4) > 0 {
		h.disk.operationsLeft = h.rng.IntN(60)
	}
	s, err := Open(h.disk.dir, h.options())
	if err == nil {
		h.seen["sessions"]++
		for range h.rng.IntN(12) {
			if err = h.step(s); err != nil {
				break
			}
		}
		if err == nil && h.rng.IntN(2) == 0 {
			if h.rng.IntN(2) == 0 {
				s.unsaved = 1 << 30 // makes the snapshot stale
			}
			if err = s.Close(); err == nil {
				h.acknowledge()
			} else if _, only := errors.AsType[*SnapshotError](err); only {
				h.acknowledge()
			}
		} else {
			s.abandon()
		}
	}
	if err != nil && !errors.Is(err, errPower) {
		h.t.Errorf("%v", err)
		return
	}
	if h.disk.operationsLeft <= 0 || h.rng.IntN(3) == 0 {
		h.seen["power cuts"]++
		h.disk = h.disk.cutPower(h.t, h.rng, h.seen)
		h.checkStore(true)
	} else {
		h.seen["processes killed or closed"]++
		h.checkStore(false)
	}
}

// step performs a random operation on the store.
func (h *powerTest) step(s *Store) error {
	switch h.rng.IntN(11) {
	case 0, 1, 2:
		for range 1 + h.rng.IntN(12) {
			u, p := h.someURL(), float64(h.rng.IntN(5))
			generation := h.generation
			line := fmt.Sprintf(`{"v":1,"url":%q,"generation":%d,"priority":%g,"query":"%x"}`, u, generation, p, h.rng.Uint64())
			if err := h.add(s, line, func(w *modelState) { w.add(u, generation, p) }); err != nil {
				return err
			}
		}
	case 3:
		return h.leaseBatch(s)
	case 4:
		for len(h.leased) > 0 && h.rng.IntN(4) > 0 {
			u := h.leased[0]
			h.leased = h.leased[1:]
			e := h.expectedState().model[u]
			if e == nil || e.lease < 0 || e.over || e.done {
				continue
			}
			line, do := fmt.Sprintf(`{"v":1,"url":%q,"generation":%d,"retries":%d,`, u, e.lease, e.retries), act(nil)
			if retries := e.retries + 1; h.rng.IntN(3) == 0 {
				line += `"error":"tls"}`
				do = func(w *modelState) {
					e := w.model[u]
					e.retries, e.over = max(e.retries, retries), true
				}
			} else {
				line += `"status_code":200}`
				do = func(w *modelState) { w.model[u].done = true }
			}
			if err := h.add(s, line, do); err != nil {
				return err
			}
		}
	case 5:
		if err := s.Commit(); err != nil {
			return err
		}
		h.acknowledge()
	case 6:
		err := s.saveSnapshotNow()
		if _, only := errors.AsType[*SnapshotError](err); err == nil || only {
			h.acknowledge()
		}
		return err
	case 7:
		u, p := h.someURL(), float64(h.rng.IntN(5))
		h.pending = append(h.pending, func(w *modelState) { w.reprioritise(u, p) })
		_, err := s.Reprioritise(&wire.Record{URL: u, Priority: wire.Num(p)})
		if errors.Is(err, ErrUnknown) || errors.Is(err, ErrSettled) {
			return nil
		}
		return err
	case 8:
		u, prefix := h.someURL(), h.someURL()
		h.pending = append(h.pending, func(w *modelState) {
			maps.DeleteFunc(w.model, func(v string, _ *modelURL) bool { return v == u || strings.HasPrefix(v, prefix) })
		})
		_, err := s.Forget(Selection{URLs: []string{u}, Prefixes: []string{prefix}})
		return err
	case 9:
		for c := (Compaction{}); ; {
			h.compacted = true
			more, err := s.Compact(&c)
			if _, only := errors.AsType[*SnapshotError](err); err == nil || only {
				h.acknowledge()
			}
			if err != nil || !more {
				return err
			}
			if err := h.step(s); err != nil { // the store may be used between two steps
				return err
			}
		}
	case 10:
		return s.log.flush() // a frame that is not acknowledged
	}
	return nil
}

func (h *powerTest) someURL() string {
	return fmt.Sprintf("http://h%d.org/%d", h.rng.IntN(5), h.rng.IntN(300))
}

func (h *powerTest) add(s *Store, line string, do act) error {
	h.pending = append(h.pending, do)
	rec := record("http://a.org/")
	if err := decode([]byte(line), rec); err != nil {
		h.t.Fatal(err)
	}
	_, err := s.Add(rec)
	return err
}

// leaseBatch leases a generation, or repeats one.
func (h *powerTest) leaseBatch(s *Store) error {
	n := 1 + h.rng.IntN(20)
	generation := h.generation
	h.pending = append(h.pending, func(w *modelState) {
		if w.generation < generation && len(w.next(generation, n)) > 0 { // otherwise it was leased without being acknowledged
			w.generation = generation
		}
	})
	lines, err := s.Next(Request{N: n, Generation: generation, Now: noon})
	if _, none := errors.AsType[*NothingDue](err); none {
		h.pending = h.pending[:len(h.pending)-1]
		return nil
	}
	if err != nil {
		return err
	}
	h.acknowledge()
	h.acknowledgedBatches[generation] = string(lines)
	h.generation++
	for u := range strings.FieldsSeq(urls(string(lines))) {
		h.leased = append(h.leased, "http://"+u)
	}
	return nil
}

// acknowledge notes that all operations so far must survive.
func (h *powerTest) acknowledge() {
	for _, do := range h.pending {
		do(&h.acknowledgedState)
	}
	h.pending = nil
}

// expectedState returns the content of the store if nothing is lost.
func (h *powerTest) expectedState() modelState {
	w := h.acknowledgedState.clone()
	for _, do := range h.pending {
		do(&w)
	}
	return w
}

// states returns the state of each URL, as statesOf does for a store.
func (w modelState) states() map[string]string {
	states := map[string]string{}
	for u, e := range w.model {
		switch {
		case e.done:
			states[u] = "visited"
		case e.retries > maxRetries:
			states[u] = "skipped"
		case w.generation >= 0 && e.lease == w.generation && !e.over:
			states[u] = fmt.Sprintf("leased %g", e.priority)
		default:
			states[u] = fmt.Sprintf("waiting %g", e.priority)
		}
	}
	return states
}

// statesOf returns the state and the priority of each URL in the export of a store.
func statesOf(t *testing.T, s *Store) map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Export(&b, noon); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for line := range bytes.Lines(b.Bytes()) {
		var rec struct {
			URL, State string
			Priority   float64
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatal(err)
		}
		if states[rec.URL] != "" {
			t.Fatalf("%s is there twice", rec.URL)
		}
		states[rec.URL] = rec.State
		if rec.State == "leased" || rec.State == "waiting" {
			states[rec.URL] += fmt.Sprintf(" %g", rec.Priority)
		}
	}
	return states
}

// checkStore compares the store, after a kill or a power cut, with the expected state.
func (h *powerTest) checkStore(cut bool) {
	copied := inMemory(h.t)
	if err := os.CopyFS(copied, os.DirFS(h.disk.dir)); err != nil {
		h.t.Fatal(err)
	}
	s, err := Open(copied, Options{segmentSize: 4000, disk: noSyncDisk{}})
	if err != nil {
		if len(h.acknowledgedState.model) > 0 || !strings.Contains(err.Error(), "no store") {
			h.t.Errorf("%v", err)
		}
		h.seen["found: no store yet"]++
		h.pending = nil
		return
	}
	opened := s.Opened()
	if opened.Truncated > 0 {
		h.seen["found: torn tail"]++
	}
	if opened.Snapshot != nil {
		h.seen["found: damaged snapshot"]++
		if !cut && !h.snapshotDamaged {
			h.t.Errorf("the snapshot %v", opened.Snapshot)
		}
	} else if _, err := os.Stat(filepath.Join(copied, snapshotName)); err == nil {
		h.seen["found: valid snapshot"]++
	}
	if _, err := os.Stat(filepath.Join(copied, snapshotName+".part")); err == nil {
		h.seen["found: unfinished snapshot"]++
	}
	h.seen["found: segments"] += len(s.log.numbers)
	got, want := statesOf(h.t, s), h.acknowledgedState.clone()
	kept := 0
	for ; int(s.nextGeneration)-1 != want.generation || !maps.Equal(got, want.states()); kept++ { // two generations may lease the same
		if kept == len(h.pending) {
			h.t.Errorf("after generation %d the store holds\n%v\ninstead of, after generation %d,\n%v\nor that with the beginning of %d acts",
				int(s.nextGeneration)-1, got, h.acknowledgedState.generation, h.acknowledgedState.states(), len(h.pending))
			return
		}
		h.pending[kept](&want)
	}
	if len(h.pending) > 0 {
		h.seen[map[bool]string{true: "found: all unacknowledged data", false: "found: part of the unacknowledged data"}[kept == len(h.pending)]]++
	}
	h.pending = h.pending[:kept]
	if cut {
		h.acknowledgedState, h.pending = want, nil
	}
	h.snapshotDamaged = opened.Snapshot != nil
	h.checkLeases(s, want)
	closeStore(h.t, s)
	h.check(h.disk.dir, opened)
}

// checkLeases repeats the leased generations, and leases everything that is not done.
func (h *powerTest) checkLeases(s *Store, w modelState) {
	for generation, was := range h.acknowledgedBatches {
		if h.compacted && generation < h.generation-1 { // one more may have been leased without being acknowledged
			continue
		}
		if is := next(h.t, s, Request{N: 1, Generation: generation}); is != was {
			h.t.Errorf("generation %d was\n%s\nand is\n%s", generation, was, is)
		}
	}
	var got []string
	for u := range strings.FieldsSeq(urls(next(h.t, s, Request{N: 1e6, Generation: h.generation + 1}))) {
		got = append(got, "http://"+u)
	}
	want := w.clone().next(h.generation+1, 1e6)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		h.t.Errorf("leased %d URLs, want %d", len(got), len(want))
	}
}

// check runs Check on a copy. It may only find a damaged snapshot, which is not used anyway.
func (h *powerTest) check(dir string, opened Opened) {
	copied := inMemory(h.t)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		h.t.Fatal(err)
	}
	found, err := Check(copied, Options{disk: noSyncDisk{}}, false)
	if err != nil || len(found.Damaged) > 0 || found.Index != "" && opened.Snapshot == nil {
		h.t.Errorf("check finds %+v, %v", found, err)
	}
	if found, err = Check(copied, Options{disk: noSyncDisk{}}, false); err != nil || found.Wrong() {
		h.t.Errorf("check finds a second time %+v, %v", found, err)
	}
}

// flipBit flips a bit in acknowledged data.
func (h *powerTest) flipBit() {
	s, err := Open(h.disk.dir, Options{disk: noSyncDisk{}})
	if err != nil {
		return // there is none
	}
	closeStore(h.t, s) // writes a mark, which says that everything is on disk
	h.acknowledge()
	number := s.log.numbers[h.rng.IntN(len(s.log.numbers))]
	name := s.log.path(number)
	b, err := os.ReadFile(name)
	if err != nil {
		h.t.Fatal(err)
	}
	var starts []int64
	synced := int64(segmentHeader)
	if number != s.log.numbers[len(s.log.numbers)-1] {
		synced = int64(len(b))
	}
	if _, err := scan(b[segmentHeader:], func(at int64, f frame) error {
		starts = append(starts, segmentHeader+at)
		synced = max(synced, f.synced)
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
	if synced <= segmentHeader {
		return
	}
	at := segmentHeader + h.rng.Int64N(synced-segmentHeader)
	i, _ := slices.BinarySearch(starts, at+1)
	f, _, err := parseFrame(b[starts[i-1]:])
	if err != nil {
		h.t.Fatal(err)
	}
	lines, err := s.log.unpack(nil, f)
	if err != nil {
		h.t.Fatal(err)
	}
	os.Remove(filepath.Join(h.disk.dir, snapshotName)) // otherwise the damage would be before the snapshot and not be read
	b[at] ^= 1 << h.rng.IntN(8)
	if err := os.WriteFile(name, b, 0o666); err != nil {
		h.t.Fatal(err)
	}
	h.seen["bits flipped in acknowledged data"]++
	_, err = Open(h.disk.dir, Options{disk: noSyncDisk{}})
	if d, ok := errors.AsType[*Damage](err); !ok || d.Offset != starts[i-1] {
		h.t.Errorf("a bit fell over at %d of %s, and opening says %v", at, name, err)
		return
	}
	found, err := Check(h.disk.dir, Options{disk: noSyncDisk{}}, true)
	if err != nil || found.Wrong() || len(found.Repaired) != 1 {
		h.t.Errorf("repair gives %+v, %v", found, err)
		return
	}
	h.seen["repaired"]++
	s = open(h.t, h.disk.dir, Options{})
	got := statesOf(h.t, s)
	for u, state := range h.acknowledgedState.states() {
		if f.kind == frameBatch { // without it an earlier batch is the last
			got[u], state = strings.Replace(got[u], "leased", "waiting", 1), strings.Replace(state, "leased", "waiting", 1)
		}
		if got[u] != state && !bytes.Contains(lines, fmt.Appendf(nil, "%q", u)) && !bytes.Contains(lines, []byte(u+"\n")) {
			h.t.Errorf("%s is %q instead of %q, and was not in the damage", u, got[u], state)
		}
	}
	closeStore(h.t, s)
}

// abandon releases the store as a killed process does.
func (s *Store) abandon() {
	if s.log.out != nil {
		s.log.out.Close()
	}
	s.freeIndex()
	s.lock.Close()
}

func TestRollSyncsTheSegment(t *testing.T) {
	c := newCircuit(t, t.TempDir())
	c.operationsLeft = 1000
	o := Options{segmentSize: 50, disk: c}
	for _, u := range []string{"http://a.org/1", "http://a.org/2"} {
		s := open(t, c.dir, o)
		add(t, s, fmt.Sprintf(`{"v":1,"url":%q}`, u))
		closeStore(t, s) // with a mark, which is not synced
	}
	if c.files[segmentName(2)] == nil || len(c.files[segmentName(1)].unsynced) > 0 {
		t.Error("a torn mark would be taken for damage")
	}
}

func TestSnapshotSyncsTheLog(t *testing.T) {
	c := newCircuit(t, t.TempDir())
	c.operationsLeft = 1000
	o := Options{Create: true, disk: c}
	closeStore(t, open(t, c.dir, o)) // with a mark, which is not synced
	s := open(t, c.dir, o)
	end := s.log.offset
	if err := s.saveSnapshot(); err != nil {
		t.Fatal(err)
	}
	if n := len(c.files[segmentName(1)].durable); int64(n) < end {
		t.Errorf("the snapshot stands on %d bytes, of which %d are on disk", end, n)
	}
	closeStore(t, s)
}
