package exchange

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"spoor/internal/run"
)

// A retryer repeats operations that fail while servers do not answer.
type retryer struct {
	patience time.Duration
	log      run.Log
}

// do calls op until it succeeds, its error is permanent, or it has failed for longer than r.patience.
func (r retryer) do(ctx context.Context, op func() error) error {
	begun, warned := time.Now(), time.Duration(0)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := op()
		if err == nil || errors.Is(err, errPermanent) || ctx.Err() != nil {
			return err
		}
		failing := time.Since(begun)
		if failing > r.patience {
			return fmt.Errorf("the servers have not answered for %v: %w\nhint: start them, and run the same command again; nothing is lost", failing.Round(time.Second), err)
		}
		if r.log != nil && (warned == 0 || failing > 2*warned+10*time.Second) {
			warned = max(failing, time.Second)
			r.log.Warn("the stream cannot be used: trying again", "err", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// messages yields the messages whose subject matches filter, in the order of the stream. If they cannot
// be read, it yields an error and ends.
func (r retryer) messages(ctx context.Context, s Stream, filter string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for from := uint64(1); ; {
			var list []Message
			err := r.do(ctx, func() (err error) {
				list, err = s.Range(ctx, filter, from, rangeLimit)
				return err
			})
			if err != nil {
				yield(Message{}, err)
				return
			}
			for _, m := range list {
				if !yield(m, nil) {
					return
				}
			}
			if len(list) < rangeLimit {
				return
			}
			from = list[len(list)-1].Seq + 1
		}
	}
}

// fetchBlocks returns the contents of the blocks for a destination, among the given blocks of a
// generation, in their order. It checks all of them.
func fetchBlocks(ctx context.Context, r retryer, s Stream, names subjects, to string, g int, blocks []Block) ([][]byte, error) {
	place := map[uint64]int{}
	var wanted []Block
	for _, b := range blocks {
		if b.To == to {
			place[b.Seq] = len(wanted)
			wanted = append(wanted, b)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	contents := make([][]byte, len(wanted))
	subject := fmt.Sprintf("spoor.%s.b.%s.%d.>", names.name, to, g)
	lowest := slices.MinFunc(wanted, func(a, b Block) int { return int(int64(a.Seq) - int64(b.Seq)) }).Seq
	from, missing := lowest, len(wanted)
	for begun := time.Now(); ; {
		var messages []Message
		err := r.do(ctx, func() (err error) {
			messages, err = s.Range(ctx, subject, from, rangeLimit)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			i, ok := place[m.Seq]
			if !ok || contents[i] != nil {
				continue
			}
			if contents[i], err = wanted[i].unpack(m.Data); err != nil {
				return nil, fmt.Errorf("message %d (%s): %w\nhint: a program other than spoor has published it, or the stream is damaged; nothing of it was used", m.Seq, m.Subject, err)
			}
			missing--
		}
		if missing == 0 {
			return contents, nil
		}
		if len(messages) == rangeLimit {
			from = messages[len(messages)-1].Seq + 1
			continue
		}
		from = lowest
		if time.Since(begun) > lostAfter {
			for i, b := range wanted {
				if contents[i] == nil {
					return nil, fmt.Errorf("message %d of the stream is missing: a commit of generation %d says that it is a block for %s\nhint: the stream has lost messages: restore it from a copy, or start a new crawl", b.Seq, g, to)
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// lostAfter is how long a server may lag behind the others before fetchBlocks reports a missing message.
const lostAfter = 30 * time.Second
