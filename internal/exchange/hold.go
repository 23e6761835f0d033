package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"spoor/internal/partition"
	"spoor/internal/run"
)

// This file shares the partitions of a crawl among its nodes, the machines that take part. Two nodes
// on one partition would be impolite and a waste, but the result of the crawl would be the same: it
// depends only on the commits.

// Leases are the leases of the nodes and the partitions of a crawl, as seen by one node.
type Leases interface {
	// Renew prolongs the lease of the node. A lease that is not renewed expires.
	Renew(ctx context.Context) error

	// Nodes returns the nodes whose leases have not expired.
	Nodes(ctx context.Context) ([]string, error)

	// Take leases a partition and returns true. It returns false if another node holds the partition
	// and the lease of that node has not expired.
	Take(ctx context.Context, p int) (bool, error)

	// Release gives a partition back, permanently if it is done.
	Release(ctx context.Context, p int, done bool) error

	// Done returns the partitions that are done.
	Done(ctx context.Context) (map[int]bool, error)

	// Leave gives up the lease of the node.
	Leave(ctx context.Context) error
}

// ErrNameTaken is returned by Renew if another process has the name of the node.
var ErrNameTaken = errors.New("another process has the name of this node")

// A Runner runs a command for each partition that a node holds.
type Runner interface {
	// Start starts the command of a partition.
	Start(p int) error

	// Leave asks the command of a partition to end after its next commit.
	Leave(p int) error

	// Alive tells the runner how long ago the lease of the node was renewed. When two thirds of a TTL
	// have passed since then, the runner kills all commands, even if this process hangs.
	Alive(age time.Duration) error

	// Exits returns a channel of the commands that have ended. It is closed if the runner fails.
	Exits() <-chan Exit
}

// An Exit is the end of a command.
type Exit struct {
	Partition, Status int // status 0: the partition is done
}

// A Holder runs the partitions of a node.
type Holder struct {
	Leases     Leases
	Runner     Runner
	Node       string
	Partitions int
	TTL        time.Duration               // lifetime of the lease of a node, which includes its partitions
	Check      func(context.Context) error // returns a warning, or a permanent error; may be nil
	Log        run.Log
}

// A holding is a partition that the node holds.
type holding struct {
	running  bool
	leaving  bool
	begun    time.Time
	failures int       // number of failures in a row
	retry    time.Time // when to start the command again
}

const (
	maxFailures    = 10          // failures of a partition in a row before the node ends
	longEnough     = time.Minute // if a command has run for this long, its failures are counted anew
	maxBackoff     = time.Minute // longest time before a command is started again
	permanentLimit = 2           // Run returns a permanent error of Check after this many TTLs
	leaveLimit     = 40          // maximum number of TTLs that a leaving node waits for its last commits
)

// holder is the state of a running Holder.
type holder struct {
	*Holder
	held           map[int]*holding
	leased         map[int]bool // partitions that this node may have leased
	begun          time.Time
	renewed        time.Time // time of the last renewal of the lease
	warned         bool      // it was logged that the servers do not answer
	checked        bool      // the error of Check was logged
	permanentSince time.Time // time of the first permanent error in a row; zero if there is none
	nodes          []string
}

// Run takes the partitions that are assigned to the node and runs their commands until the crawl is
// done. If ctx is done, it asks the commands to end, releases the partitions and returns the cause. It
// waits for the commands for at most leaveLimit TTLs; the caller must kill those that still run. A
// command may still run because it waits for another partition of this node, if that has ended without
// a commit and no other node takes it.
func (o *Holder) Run(ctx context.Context) error {
	h := &holder{Holder: o, held: map[int]*holding{}, leased: map[int]bool{}, begun: time.Now()}
	background := context.WithoutCancel(ctx)
	next := time.NewTimer(0)
	defer next.Stop()
	leave := ctx.Done()
	var left time.Time
	for {
		select {
		case <-next.C:
			next.Reset(h.TTL / 3)
			done, err := h.turn(background, ctx.Err() != nil)
			switch {
			case err != nil:
				return err
			case ctx.Err() != nil && len(h.held) == 0:
				return errors.Join(context.Cause(ctx), h.leave(background))
			case !left.IsZero() && time.Since(left) > leaveLimit*h.TTL:
				h.Log.Warn("some partitions have not committed: they are ended without a commit; nothing is lost", "node", h.Node, "partitions", len(h.held))
				return context.Cause(ctx) // the lease expires
			case done:
				return h.leave(background)
			}
		case <-leave:
			leave, left = nil, time.Now()
			h.Log.Info("leaving after the next commit of each partition; a second signal ends it at once, and nothing is lost", "node", h.Node, "partitions", len(h.held))
			next.Reset(0)
		case e, ok := <-h.Runner.Exits():
			if !ok {
				return errors.New("the process that runs the commands has ended\nhint: run the same command again; nothing is lost")
			}
			if err := h.ended(background, e); err != nil {
				return err
			}
			if ctx.Err() != nil || e.Status == 0 {
				next.Reset(0)
			}
		}
	}
}

// leave gives up the lease of the node.
func (h *holder) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return h.Leases.Leave(ctx)
}

// turn renews the lease, and takes and releases partitions. It reports whether all partitions of the
// crawl are done. Errors of the servers are logged, and the next turn tries again.
func (h *holder) turn(ctx context.Context, leaving bool) (done bool, err error) {
	begun := time.Now()
	short, cancel := context.WithTimeout(ctx, h.TTL/3)
	defer cancel()
	err = h.Leases.Renew(short)
	if err == nil {
		h.renewed = begun
		err = h.Runner.Alive(time.Since(begun))
		if err != nil {
			return false, err
		}
		done, err = h.share(ctx, leaving)
		if err == nil {
			err = h.check(short)
		}
	}
	switch {
	case errors.Is(err, ErrNameTaken) && h.renewed.IsZero() && time.Since(h.begun) < 2*h.TTL: // the lease of a killed process of this node has not expired yet
	case errors.Is(err, ErrNameTaken), errors.Is(err, errPermanent):
		return false, err
	case err != nil && !h.warned:
		h.Log.Warn("the servers do not answer: trying again; if they do not answer in time, the commands will be killed", "node", h.Node, "err", err)
		h.warned = true
	case err == nil && h.warned:
		h.Log.Info("the servers answer again", "node", h.Node)
		h.warned = false
	}
	return done, nil
}

// check logs the error of Check, once, as a warning. It returns a permanent error only if that lasts,
// because servers that have just been started may not know all streams yet.
func (h *holder) check(ctx context.Context) error {
	if h.Check == nil {
		return nil
	}
	err := h.Check(ctx)
	switch {
	case errors.Is(err, errPermanent):
		if h.permanentSince.IsZero() {
			h.permanentSince = time.Now()
		}
		if time.Since(h.permanentSince) >= permanentLimit*h.TTL {
			return err
		}
		return nil
	case err != nil && ctx.Err() == nil && !h.checked:
		h.Log.Warn("the crawl will soon have to wait", "err", err)
		h.checked = true
	}
	h.permanentSince = time.Time{}
	return nil
}

// share releases the partitions that are assigned to other nodes or, if the node leaves, all of its
// partitions. Then it takes the partitions that are assigned to this node.
func (h *holder) share(ctx context.Context, leaving bool) (done bool, err error) {
	nodes, err := h.Leases.Nodes(ctx)
	if err != nil {
		return false, err
	}
	if !slices.Equal(nodes, h.nodes) {
		h.Log.Info("nodes have changed", "nodes", nodes)
		h.nodes = nodes
	}
	owners := assign(h.Partitions, nodes)
	var wanted []int
	for p, owner := range owners {
		held := h.held[p]
		switch mine := owner == h.Node && !leaving; {
		case held == nil && mine:
			wanted = append(wanted, p)
		case held != nil && !mine && held.running && !held.leaving:
			held.leaving = true
			if err := h.Runner.Leave(p); err != nil {
				return false, err
			}
		case held != nil && !mine && !held.running, held == nil && !mine && h.leased[p]:
			if err := h.release(ctx, p, false); err != nil {
				return false, err
			}
		case held != nil && mine && !held.running && time.Now().After(held.retry):
			if err := h.start(p, held); err != nil {
				return false, err
			}
		}
	}
	if len(wanted) == 0 && len(h.held) > 0 || leaving {
		return false, nil
	}
	finished, err := h.Leases.Done(ctx)
	if err != nil {
		return false, err
	}
	if len(finished) == h.Partitions && len(h.held) == 0 {
		return true, nil
	}
	for _, p := range wanted {
		if finished[p] {
			continue
		}
		h.leased[p] = true // before the request, because the answer may be lost
		ok, err := h.Leases.Take(ctx, p)
		if err != nil {
			return false, err
		}
		if !ok {
			delete(h.leased, p)
			continue
		}
		h.held[p] = new(holding)
		if err := h.start(p, h.held[p]); err != nil {
			return false, err
		}
	}
	return false, nil
}

// start starts the command of a partition.
func (h *holder) start(p int, held *holding) error {
	if time.Since(h.renewed) > h.TTL/2 { // the runner would kill it soon
		return nil
	}
	held.running, held.leaving, held.begun = true, false, time.Now()
	h.Log.Info("starting", "partition", p, "node", h.Node)
	return h.Runner.Start(p)
}

// ended handles the end of a command.
func (h *holder) ended(ctx context.Context, e Exit) error {
	held := h.held[e.Partition]
	if held == nil || !held.running {
		return nil
	}
	held.running = false
	switch {
	case e.Status == 0, held.leaving:
		h.Log.Info("ended", "partition", e.Partition, "status", e.Status, "node", h.Node)
		err := h.release(ctx, e.Partition, e.Status == 0)
		if err != nil { // the next turn tries again
			h.Log.Warn("the partition was not given back", "partition", e.Partition, "err", err)
		}
		return nil
	case time.Since(h.renewed) > h.TTL/2: // the runner killed it, because the lease was not renewed; another node may take the partition
		delete(h.held, e.Partition)
		return nil
	case time.Since(held.begun) > longEnough:
		held.failures = 0
	}
	held.failures++
	if held.failures == maxFailures {
		return fmt.Errorf("the command of partition %d has failed %d times, the last time with status %d\nhint: correct the cause, which its messages describe, and run the same command again; nothing is lost", e.Partition, maxFailures, e.Status)
	}
	wait := min(time.Second<<held.failures, maxBackoff)
	held.retry = time.Now().Add(wait)
	h.Log.Warn("the command has failed: starting it again", "partition", e.Partition, "status", e.Status, "seconds", int(wait.Seconds()))
	return nil
}

func (h *holder) release(ctx context.Context, p int, done bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := h.Leases.Release(ctx, p, done)
	if err == nil {
		delete(h.held, p)
		delete(h.leased, p)
	}
	return err
}

// assign returns the node of each partition, "" if there are no nodes. Each pair of a node and a
// partition has a weight, a hash of both. A partition is assigned to the node with the highest weight
// (rendezvous hashing) that does not have its full share yet. So when a node comes or goes, few
// partitions of the other nodes move.
func assign(partitions int, nodes []string) []string {
	owners := make([]string, partitions)
	if len(nodes) == 0 {
		return owners
	}
	share := (partitions + len(nodes) - 1) / len(nodes)
	count := map[string]int{}
	for p := range owners {
		best := uint64(0)
		for _, node := range nodes {
			if count[node] == share {
				continue
			}
			if w := partition.Mix(partition.Hash(node) ^ partition.Mix(uint64(p)+1)); owners[p] == "" || w > best || w == best && node < owners[p] {
				owners[p], best = node, w
			}
		}
		count[owners[p]]++
	}
	return owners
}
