package exchange

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// twoNodes are the leases of the nodes a and b as the servers have them, and b sees them, and the commands
// of b, which run until they are asked to leave.
type twoNodes struct {
	mu      sync.Mutex
	nodes   []string
	away    bool // the servers do not answer
	mute    bool // they do not answer Take, but obey it
	holders map[int]string
	running map[int]bool
	deaf    bool // commands do not leave
	exits   chan Exit
}

var errAway = errors.New("no answer")

func newTwoNodes() *twoNodes {
	return &twoNodes{nodes: []string{"b"}, holders: map[int]string{}, running: map[int]bool{}, exits: make(chan Exit, 8)}
}

// locked calls f, which may read and write the fields.
func (n *twoNodes) locked(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

// answer calls f unless the servers are away.
func (n *twoNodes) answer(f func()) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away {
		return errAway
	}
	f()
	return nil
}

func (n *twoNodes) Renew(context.Context) error { return n.answer(func() {}) }
func (n *twoNodes) Leave(context.Context) error { return n.answer(func() {}) }

func (n *twoNodes) Nodes(context.Context) (nodes []string, err error) {
	err = n.answer(func() { nodes = slices.Clone(n.nodes) })
	return nodes, err
}

func (n *twoNodes) Done(context.Context) (map[int]bool, error) { return nil, n.answer(func() {}) }

func (n *twoNodes) Release(_ context.Context, p int, _ bool) error {
	return n.answer(func() {
		if n.holders[p] == "b" {
			delete(n.holders, p)
		}
	})
}

func (n *twoNodes) Take(_ context.Context, p int) (taken bool, err error) {
	mute := false
	err = n.answer(func() {
		if mute = n.mute; n.holders[p] == "" {
			n.holders[p] = "b"
		}
		taken = n.holders[p] == "b"
	})
	if mute {
		return false, errAway
	}
	return taken, err
}

// commandsOf are the commands as their runner.
type commandsOf struct{ *twoNodes }

func (c commandsOf) Alive(time.Duration) error { return nil }
func (c commandsOf) Exits() <-chan Exit        { return c.exits }
func (c commandsOf) Start(p int) error {
	c.locked(func() { c.running[p] = true })
	return nil
}

func (c commandsOf) Leave(p int) error {
	c.locked(func() {
		if !c.deaf {
			delete(c.running, p)
			c.exits <- Exit{p, 143}
		}
	})
	return nil
}

// A node that has lost its commands because the servers did not answer, or the answer to a request for a
// partition, gives the partitions back that then fall to another node, which could not take them otherwise.
func TestPartitionsOfANewNodeAreGivenBack(t *testing.T) {
	const ttl = 3 * time.Second
	for name, disturb := range map[string]func(*twoNodes){
		"nothing": func(*twoNodes) { time.Sleep(2 * ttl) },
		"the commands were killed": func(n *twoNodes) {
			time.Sleep(ttl)
			n.locked(func() { n.away = true })
			time.Sleep(ttl)
			n.locked(func() {
				for p := range n.running {
					n.exits <- Exit{p, 137}
				}
				clear(n.running)
			})
			time.Sleep(ttl)
			n.locked(func() { n.away = false })
		},
		"the answer was lost": func(n *twoNodes) {
			n.locked(func() { n.mute = true })
			time.Sleep(ttl / 2)
			n.locked(func() { n.mute = false }) // nothing was answered, and the node b has a partition
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newTwoNodes()
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				h := Holder{Leases: n, Runner: commandsOf{n}, Node: "b", Partitions: 4, TTL: ttl, Log: quiet}
				go func() { ended <- h.Run(ctx) }()
				disturb(n)
				n.locked(func() {
					if name != "nothing" && n.holders[0] != "b" {
						t.Error("the node has nothing to give back")
					}
					n.nodes = []string{"a", "b"}
				})
				time.Sleep(3 * ttl)
				n.locked(func() {
					owners := assign(4, n.nodes)
					for p, owner := range owners {
						if holder := n.holders[p]; (owner == "b") != (holder == "b") {
							t.Errorf("partition %d falls to %s, and %q holds it", p, owner, holder)
						}
						if (owner == "b") != n.running[p] {
							t.Errorf("partition %d falls to %s, and runs: %v", p, owner, n.running[p])
						}
					}
					if owners[0] != "a" || !slices.Contains(owners, "b") {
						t.Error("the partitions do not fall to both nodes: ", owners)
					}
				})
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		})
	}
}

// A node ends if the stream of the crawl is gone, but not if the servers say so for a moment.
func TestAStreamThatIsGoneEndsTheNode(t *testing.T) {
	const ttl = 3 * time.Second
	gone := permanent{errors.New("there is no crawl")}
	for _, test := range []struct {
		name string
		gone time.Duration // in every 20 s
		want error
	}{{"for a moment", permanentLimit*ttl - ttl, context.Canceled}, {"for good", time.Minute, gone}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, begun := newTwoNodes(), time.Now()
				check := func(context.Context) error {
					if time.Since(begun)%(20*time.Second) < test.gone {
						return gone
					}
					return nil
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(context.Canceled) })
				h := Holder{Leases: n, Runner: commandsOf{n}, Node: "b", Partitions: 4, TTL: ttl, Check: check, Log: quiet}
				if err := h.Run(ctx); !errors.Is(err, test.want) {
					t.Errorf("got %v, want %v", err, test.want)
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
		n := newTwoNodes()
		n.deaf = true
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		h := Holder{Leases: n, Runner: commandsOf{n}, Node: "b", Partitions: 4, TTL: ttl, Log: quiet}
		go func() { ended <- h.Run(ctx) }()
		time.Sleep(ttl)
		cancel()
		begun := time.Now()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if took := time.Since(begun); took < leaveLimit*ttl || took > (leaveLimit+1)*ttl {
			t.Errorf("it took %v", took)
		}
	})
}
