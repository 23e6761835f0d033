package exchange

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// JetStreamLeases holds the leases of a crawl in a second stream, with one message per subject:
//
//	spoor.NAME.n.NODE  the lease of a node: the identifier of its process; it expires
//	spoor.NAME.p.P     the lease of a partition: a node and the identifier; valid while that is also in the node's lease
//	spoor.NAME.d.P     the partition is done
//
// Messages are read from the leader of the stream. The lease of a node or partition is written only if the
// message that was read is still the last one of its subject.
type JetStreamLeases struct {
	js      *JetStream
	stream  jetstream.Stream
	node    string
	process string
	ttl     time.Duration
	last    uint64 // sequence number of the message with the node's lease
}

// CreateLeases creates the stream of the leases, if it does not exist.
func (s *JetStream) CreateLeases(ctx context.Context, replicas int) error {
	prefix := "spoor." + s.crawl
	return s.create(ctx, jetstream.StreamConfig{
		Name: s.leases(), Subjects: []string{prefix + ".n.*", prefix + ".p.*", prefix + ".d.*"}, Storage: jetstream.FileStorage, Replicas: replicas,
		MaxMsgsPerSubject: 1, MaxMsgSize: 1024, MaxBytes: 16 << 20, AllowMsgTTL: true,
	})
}

func (s *JetStream) leases() string { return "SPOORNODES_" + s.crawl }

// Leases returns the leases as seen by a node. The lease of this node lasts for ttl.
func (s *JetStream) Leases(ctx context.Context, node string, ttl time.Duration) (*JetStreamLeases, error) {
	if err := CheckName(node); err != nil {
		return nil, fmt.Errorf("the node: %w", err)
	}
	l, err := s.openLeases(ctx)
	if err != nil {
		return nil, err
	}
	l.node, l.process, l.ttl = node, rand.Text(), ttl
	return l, nil
}

// openLeases returns the leases for reading.
func (s *JetStream) openLeases(ctx context.Context) (*JetStreamLeases, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stream, err := s.js.Stream(ctx, s.leases())
	if err != nil {
		return nil, s.explain(err)
	}
	return &JetStreamLeases{js: s, stream: stream}, nil
}

// Presence returns the nodes whose leases have not expired, and the partitions that are done.
func (s *JetStream) Presence(ctx context.Context) (nodes []string, done map[int]bool, err error) {
	l, err := s.openLeases(ctx)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if nodes, err = l.Nodes(ctx); err != nil {
		return nil, nil, err
	}
	done, err = l.Done(ctx)
	return nodes, done, err
}

func (l *JetStreamLeases) subject(kind, name string) string {
	return "spoor." + l.js.crawl + "." + kind + "." + name
}

// get returns the message of a subject and its sequence number, 0 if there is none.
func (l *JetStreamLeases) get(ctx context.Context, subject string) (string, uint64, error) {
	m, err := l.stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, l.js.explain(err)
	}
	return string(m.Data), m.Sequence, nil
}

// put replaces the message of a subject if its sequence number is still last, and returns the new number.
// It returns 0 if another message has been written in the meantime.
func (l *JetStreamLeases) put(ctx context.Context, subject, value string, last uint64, options ...jetstream.PublishOpt) (uint64, error) {
	options = append(options, jetstream.WithExpectLastSequencePerSubject(last), jetstream.WithExpectStream(l.js.leases()), jetstream.WithRetryAttempts(0))
	ack, err := l.js.js.Publish(ctx, subject, []byte(value), options...)
	if err == nil {
		return ack.Sequence, nil
	}
	if !isWrongSequence(err) {
		return 0, l.js.explain(err)
	}
	now, seq, err := l.get(ctx, subject)
	if err == nil && now == value && seq > last { // an earlier attempt of this process succeeded, and its answer was lost
		return seq, nil
	}
	return 0, err
}

// Renew implements [Leases].
func (l *JetStreamLeases) Renew(ctx context.Context) error {
	subject := l.subject("n", l.node)
	if l.last > 0 { // the lease may have expired
		value, last, err := l.get(ctx, subject)
		if err != nil {
			return err
		}
		if l.last = last; last > 0 && value != l.process {
			return l.taken()
		}
	}
	last, err := l.put(ctx, subject, l.process, l.last, jetstream.WithMsgTTL(l.ttl))
	if err != nil {
		return err
	}
	if last == 0 {
		switch value, _, err := l.get(ctx, subject); {
		case err != nil:
			return err
		case value != "" && value != l.process:
			return l.taken()
		}
		return errors.New("the servers have not decided about the last renewal of the lease") // more than half of the servers are needed
	}
	l.last = last
	return nil
}

func (l *JetStreamLeases) taken() error {
	return fmt.Errorf("%w: %s\nhint: give each machine a -node of its own; after a crash wait for %v", ErrNameTaken, l.node, l.ttl)
}

// Nodes implements [Leases].
func (l *JetStreamLeases) Nodes(ctx context.Context) ([]string, error) { return l.names(ctx, "n") }

// Done implements [Leases].
func (l *JetStreamLeases) Done(ctx context.Context) (map[int]bool, error) {
	names, err := l.names(ctx, "d")
	done := map[int]bool{}
	for _, name := range names {
		if p, err := strconv.Atoi(name); err == nil {
			done[p] = true
		}
	}
	return done, err
}

// names returns the last words of the subjects of a kind that have a message, in order.
func (l *JetStreamLeases) names(ctx context.Context, kind string) (names []string, err error) {
	prefix := l.subject(kind, "")
	info, err := l.stream.Info(ctx, jetstream.WithSubjectFilter(prefix+"*"))
	if err != nil {
		return nil, l.js.explain(err)
	}
	for subject := range info.State.Subjects {
		names = append(names, strings.TrimPrefix(subject, prefix))
	}
	slices.Sort(names)
	return names, nil
}

// Take implements [Leases].
func (l *JetStreamLeases) Take(ctx context.Context, p int) (bool, error) {
	subject := l.subject("p", strconv.Itoa(p))
	value, last, err := l.get(ctx, subject)
	if err != nil {
		return false, err
	}
	mine := l.node + " " + l.process
	if holder, process, ok := strings.Cut(value, " "); ok && value != mine {
		current, _, err := l.get(ctx, l.subject("n", holder))
		if err != nil || current == process {
			return false, err
		}
	}
	// Write the lease even if this node has it already: then a node that has read it earlier, when this
	// node's lease had expired, cannot take the partition.
	last, err = l.put(ctx, subject, mine, last)
	return last > 0, err
}

// Release implements [Leases].
func (l *JetStreamLeases) Release(ctx context.Context, p int, done bool) error {
	name := strconv.Itoa(p)
	if done {
		if _, err := l.js.js.Publish(ctx, l.subject("d", name), nil, jetstream.WithExpectStream(l.js.leases())); err != nil {
			return l.js.explain(err)
		}
	}
	value, last, err := l.get(ctx, l.subject("p", name))
	if err != nil || value != l.node+" "+l.process {
		return err
	}
	_, err = l.put(ctx, l.subject("p", name), "", last)
	return err
}

// Leave implements [Leases].
func (l *JetStreamLeases) Leave(ctx context.Context) error {
	value, last, err := l.get(ctx, l.subject("n", l.node))
	if err != nil || value != l.process {
		return err
	}
	return l.js.explain(l.stream.DeleteMsg(ctx, last))
}
