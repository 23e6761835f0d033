package exchange

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// leasesOfTwo are the leases of the nodes a and b as the servers have them, and b sees them.
type leasesOfTwo struct {
	nodes   []string
	away    bool // the servers do not answer
	mute    bool // they do not answer Take, but obey it
	holders map[int]string
}

var errAway = errors.New("no answer")

func (l *leasesOfTwo) answer() error {
	if l.away {
		return errAway
	}
	return nil
}

func (l *leasesOfTwo) Renew(context.Context) error                { return l.answer() }
func (l *leasesOfTwo) Nodes(context.Context) ([]string, error)    { return l.nodes, l.answer() }
func (l *leasesOfTwo) Done(context.Context) (map[int]bool, error) { return nil, l.answer() }
func (l *leasesOfTwo) Leave(context.Context) error                { return l.answer() }
func (l *leasesOfTwo) Release(_ context.Context, p int, _ bool) error {
	if !l.away && l.holders[p] == "b" {
		delete(l.holders, p)
	}
	return l.answer()
}

func (l *leasesOfTwo) Take(_ context.Context, p int) (bool, error) {
	if !l.away && l.holders[p] == "" {
		l.holders[p] = "b"
	}
	if l.mute {
		return false, errAway
	}
	return l.holders[p] == "b", l.answer()
}

// obedient is a Runner whose commands run until they are asked to leave, or killed because Alive was
// not called for two thirds of a lease.
type obedient struct {
	ttl     time.Duration
	renewed time.Time
	running map[int]bool
	exits   chan Exit
	deaf    bool // commands do not leave
}

func (r *obedient) Start(p int) error { r.running[p] = true; return nil }
func (r *obedient) Leave(p int) error {
	if !r.deaf {
		r.end(p, 143)
	}
	return nil
}

func (r *obedient) Alive(age time.Duration) error { r.renewed = time.Now().Add(-age); return nil }
func (r *obedient) Exits() <-chan Exit            { return r.exits }
func (r *obedient) end(p, status int) {
	delete(r.running, p)
	r.exits <- Exit{p, status}
}

// A node that has lost its commands because the servers did not answer, or the answer to a request for a
// partition, gives the partitions back that then fall to another node: no partition stays with nobody.
func TestPartitionsOfANewNodeAreGivenBack(t *testing.T) {
	const ttl = 3 * time.Second
	for name, disturb := range map[string]func(*leasesOfTwo, *obedient){
		"nothing": func(*leasesOfTwo, *obedient) { time.Sleep(2 * ttl) },
		"the commands were killed": func(l *leasesOfTwo, r *obedient) {
			time.Sleep(ttl)
			l.away = true
			time.Sleep(ttl)
			for p := range maps.Clone(r.running) {
				r.end(p, 137)
			}
			time.Sleep(ttl)
			l.away = false
		},
		"the answer was lost": func(l *leasesOfTwo, r *obedient) {
			l.mute = true
			time.Sleep(ttl / 2)
			l.mute = false // nothing was answered, and the node b has a partition
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &leasesOfTwo{nodes: []string{"b"}, holders: map[int]string{}}
				r := &obedient{ttl: ttl, running: map[int]bool{}, exits: make(chan Exit, 8)}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				h := Holder{Leases: l, Runner: r, Node: "b", Partitions: 4, TTL: ttl, Log: quiet}
				go func() { ended <- h.Run(ctx) }()
				disturb(l, r)
				if name != "nothing" && l.holders[0] != "b" {
					t.Fatal("the node has nothing to give back")
				}
				l.nodes = []string{"a", "b"}
				time.Sleep(3 * ttl)
				owners := assign(4, l.nodes)
				for p, owner := range owners {
					if holder := l.holders[p]; (owner == "b") != (holder == "b") {
						t.Errorf("partition %d falls to %s, and %q holds it", p, owner, holder)
					}
					if (owner == "b") != r.running[p] {
						t.Errorf("partition %d falls to %s, and runs: %v", p, owner, r.running[p])
					}
				}
				if owners[0] != "a" || !slices.Contains(owners, "b") {
					t.Fatal("the partitions do not fall to both nodes: ", owners)
				}
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		})
	}
}

// A node whose commands do not end when it leaves, because they wait for each other, leaves without their
// last commit.
func TestLeavingEndsAtLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl = 3 * time.Second
		l := &leasesOfTwo{nodes: []string{"b"}, holders: map[int]string{}}
		r := &obedient{ttl: ttl, running: map[int]bool{}, exits: make(chan Exit, 8), deaf: true}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		h := Holder{Leases: l, Runner: r, Node: "b", Partitions: 4, TTL: ttl, Log: quiet}
		go func() { ended <- h.Run(ctx) }()
		time.Sleep(ttl)
		cancel()
		begun := time.Now()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if took := time.Since(begun); took < mostToLeave*ttl || took > (mostToLeave+1)*ttl {
			t.Errorf("it took %v", took)
		}
	})
}
