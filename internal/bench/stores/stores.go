// Package stores keeps the frontier of a crawl in the store of this project and in databases, to
// compare their speed: links are added if their URL is new, and the best of those that wait are
// leased, at most a number from each host.
//
// The databases are configured as their documentation recommends for many writes. They store a
// fingerprint, a priority and a URL; the store of this project stores whole records.
package stores

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// A Store is the open frontier of one process.
type Store interface {
	// Add adds links with canonical URLs, and returns the number of new URLs. All are on
	// disk when it returns.
	Add(links []wire.Record) (added int, err error)
	// Lease leases the n best of the waiting links until a time, at most perHost from each
	// host, and returns a line for each. The leases are on disk when it returns.
	Lease(n, perHost int, until time.Time) (lines []byte, err error)
	Close() error
}

// Names returns the names of the stores, that of this project first.
func Names() []string { return []string{"spoor", "pebble", "bbolt", "sqlite"} }

// Limits of the databases, in bytes.
const (
	cacheSize = 256 << 20
	logSize   = 64 << 20 // written before it is moved to the tables
)

// Open opens the store of that name in an existing directory, and creates it if it is missing.
func Open(name, dir string) (Store, error) {
	switch name {
	case "spoor":
		s, err := frontier.Open(dir, frontier.Options{Create: true})
		return spoorStore{s}, err
	case "pebble":
		return openPebble(dir)
	case "bbolt":
		return openBolt(dir)
	case "sqlite":
		return openSQLite(dir)
	}
	return nil, fmt.Errorf("there is no store %q", name)
}

type spoorStore struct{ *frontier.Store }

func (s spoorStore) Add(links []wire.Record) (added int, err error) {
	var urls [frontier.MaxPrefetch]string
	for i := range links {
		if at := i % len(urls); at == 0 {
			n := min(len(urls), len(links)-i)
			for j := range n {
				urls[j] = links[i+j].URL
			}
			s.Prefetch(urls[:n])
		}
		outcome, err := s.Store.Add(&links[i])
		if err != nil {
			return 0, err
		}
		if outcome == frontier.Changed {
			added++
		}
	}
	return added, s.Commit()
}

func (s spoorStore) Lease(n, perHost int, until time.Time) ([]byte, error) {
	const lease = time.Hour
	return s.Next(frontier.Request{N: n, PerHost: perHost, Generation: -1, Lease: lease, Now: until.Add(-lease)})
}

// fingerprint is the key of a URL in a database.
func fingerprint(url string) uint64 { return xxhash.Sum64String(url) }

// place is the key of a waiting link in a database that sorts keys as bytes: by decreasing
// priority, then by fingerprint.
func place(priority float64, fingerprint uint64) []byte {
	bits := math.Float64bits(priority)
	if bits>>63 == 0 {
		bits = ^bits &^ (1 << 63)
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16), bits)
	return binary.BigEndian.AppendUint64(b, fingerprint)
}

// A choice selects links to lease from those that wait, offered by decreasing priority.
type choice struct {
	n, perHost int
	hosts      map[string]int
	keys       [][]byte
	urls       []string
}

func choose(n, perHost int) *choice {
	return &choice{n: n, perHost: perHost, hosts: map[string]int{}}
}

func (c *choice) full() bool { return len(c.urls) == c.n }

// offer copies a URL and its key, unless the maximum of its host is reached.
func (c *choice) offer(key, url []byte) {
	_, rest, _ := strings.Cut(string(url), "://")
	host, _, _ := strings.Cut(rest, "/")
	if c.hosts[host] == c.perHost {
		return
	}
	c.hosts[host]++
	c.keys = append(c.keys, append([]byte(nil), key...))
	c.urls = append(c.urls, string(url))
}

// leased returns what a database stores for the ith of the leased links.
func (c *choice) leased(i int, until time.Time) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(until.Unix())), c.urls[i]...)
}

// lines returns the leased URLs, each on a line.
func (c *choice) lines() []byte {
	var b []byte
	for _, url := range c.urls {
		b = append(append(b, url...), '\n')
	}
	return b
}
