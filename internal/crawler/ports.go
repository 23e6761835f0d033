package crawler

import (
	"fmt"
	"slices"
	"sync"

	"spoor/internal/polite"
)

const (
	// maxPorts limits the ports of a host that are requested, besides the default ports. Each port is a
	// host of its own for pauses and robots.txt, so without a limit the links of a page could make
	// the crawler scan the ports of somebody else's host.
	maxPorts = 8

	maxPortHosts = 100_000 // hosts whose ports are remembered
)

// A manyPortsError is returned for a port of a host that has been requested at maxPorts others. It is not
// a failure of the host.
type manyPortsError string

func (e manyPortsError) Error() string {
	return fmt.Sprintf("the host has been asked at %d other ports (hint: -allow-port %s)", maxPorts, string(e))
}
func (e manyPortsError) Unwrap() error { return &polite.BlockedError{} }

// ports remembers which ports of hosts were requested.
type ports struct {
	mu   sync.Mutex
	seen map[string][]string // by host
}

// check returns an error if the host was requested at too many other ports.
func (p *ports) check(host, port string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen[host]
	switch {
	case slices.Contains(seen, port):
		return nil
	case len(seen) >= maxPorts:
		return manyPortsError(port)
	case p.seen == nil || seen == nil && len(p.seen) >= maxPortHosts:
		p.seen = map[string][]string{}
	}
	p.seen[host] = append(seen, port)
	return nil
}
