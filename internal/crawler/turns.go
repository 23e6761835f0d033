package crawler

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"spoor/internal/pace"
	"spoor/internal/polite"
)

// maxTurn is the longest time that a request waits for its turn at an IP address. The names of one
// owner must not make the hosts of another, at the same address, wait for ever.
const maxTurn = time.Minute

// turns are the turns of a request at IP addresses. All names of an address share the requests per second to
// it, because each of them is a host with a pause of its own: a wildcard in DNS could otherwise
// direct a flood of requests at somebody else's server.
type turns struct {
	end      time.Time    // deadline of the request; zero if there is none
	reserved []netip.Addr // addresses at which the request has a turn
}

type turnsKey struct{}

// A laterError is returned by admit if the turn of a request comes later.
type laterError struct{ at time.Time }

func (e *laterError) Error() string { return fmt.Sprintf("it is the turn of others until %v", e.at) }

func (e *laterError) wait(ctx context.Context) error { return pace.Sleep(ctx, time.Until(e.at)) }

// admit returns nil if the request of the context may be sent to an address. If its turn comes later,
// admit reserves the turn and returns a [*laterError]; the caller waits and asks again. If the turn
// comes too late, admit returns a [polite.HoldError].
func (f *fetcher) admit(ctx context.Context, a netip.Addr) error {
	t, ok := ctx.Value(turnsKey{}).(*turns)
	if a = polite.Destination(a); !ok || !polite.Public(a) || slices.Contains(t.reserved, a) {
		return nil
	}
	atMost := maxTurn
	if !t.end.IsZero() {
		atMost = min(atMost, max(time.Until(t.end), 0))
	}
	wait, ok := f.addresses.Reserve(a, atMost)
	at := time.Now().Add(wait)
	if !ok {
		return &polite.BlamelessError{Err: &polite.HoldError{Host: "the server at " + a.String(), Until: at}}
	}
	t.reserved = append(t.reserved, a)
	if wait > 0 {
		return &laterError{at}
	}
	return nil
}
