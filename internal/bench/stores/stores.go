// Package stores is the frontier of a crawl kept in our own store and in other
// people's databases, to measure one beside the other: known URLs are told from
// new ones, new ones wait by their priority, and the best are handed out, at most
// so many of a host, and leased.
//
// The databases are set up as their documentation advises for much writing, and
// keep no more than the job needs: a fingerprint, a priority and a URL, whose host
// is read from it. Ours keeps the whole record.
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

// A Store is an open frontier of one process.
type Store interface {
	// Add adds a link whose URL is canonical, and tells whether it is new.
	Add(rec *wire.Record) (fresh bool, err error)
	// Commit ends a batch. If it is durable all that was added before is on disk.
	Commit(durable bool) error
	// Next hands out n addresses, the best first, at most perHost of a host, and
	// returns a line for each. They are on disk as leased then, until a time.
	Next(n, perHost int, until time.Time) ([]byte, error)
	// Forget makes it know nothing of a link that was added, as of the next Commit.
	Forget(rec *wire.Record) error
	// Compact takes from the files what is no longer known, whatever that costs. They
	// are on disk then.
	Compact() error
	Close() error
}

// Names are the stores there are, ours first.
func Names() []string { return []string{"spoor", "pebble", "bbolt", "sqlite"} }

// cache is how many bytes a database may keep of its file, and how many it may
// write before it tidies them into it.
const (
	cache = 256 << 20
	tail  = 64 << 20
)

// Open opens the store of a name in a directory, and makes what is missing.
func Open(name, dir string) (Store, error) {
	switch name {
	case "spoor":
		s, err := frontier.Open(dir, frontier.Options{Create: true})
		return &ours{Store: s}, err
	case "pebble":
		return openPebble(dir)
	case "bbolt":
		return openBolt(dir)
	case "sqlite":
		return openSQLite(dir)
	}
	return nil, fmt.Errorf("no store is called %q", name)
}

// ours is the frontier of this project.
type ours struct {
	*frontier.Store
	gone []string // what is forgotten at the next Commit
}

func (s *ours) Add(rec *wire.Record) (bool, error) {
	verdict, err := s.Store.Add(rec)
	return verdict == frontier.Changed, err
}

// Commit of a batch that need not be durable has nothing to do but to forget.
func (s *ours) Commit(durable bool) error {
	if _, err := s.Store.Forget(frontier.Selection{URLs: s.gone}); err != nil {
		return err
	}
	s.gone = s.gone[:0]
	if !durable {
		return nil
	}
	return s.Store.Commit()
}

func (s *ours) Next(n, perHost int, until time.Time) ([]byte, error) {
	const lease = time.Hour
	return s.Store.Next(frontier.Request{N: n, PerHost: perHost, Generation: -1, Lease: lease, Now: until.Add(-lease)})
}

func (s *ours) Forget(rec *wire.Record) error {
	s.gone = append(s.gone, strings.Clone(rec.URL))
	return nil
}

func (s *ours) Compact() error {
	var c frontier.Compaction
	for {
		if more, err := s.Store.Compact(&c); !more || err != nil {
			return err
		}
	}
}

// fingerprint is what a database knows a URL by.
func fingerprint(url string) uint64 { return xxhash.Sum64String(url) }

// place is where a URL waits in a database that is ordered by bytes: better
// priorities come first.
func place(priority float64, fingerprint uint64) []byte {
	bits := math.Float64bits(priority)
	if bits>>63 == 0 {
		bits = ^bits &^ (1 << 63)
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16), bits)
	return binary.BigEndian.AppendUint64(b, fingerprint)
}

// A choice is what is taken of all that waits, told the best first.
type choice struct {
	n, perHost int
	hosts      map[string]int
	keys       [][]byte
	urls       []string
}

func choose(n, perHost int) *choice {
	return &choice{n: n, perHost: perHost, hosts: map[string]int{}}
}

// full tells whether nothing more is needed.
func (c *choice) full() bool { return len(c.urls) == c.n }

// offer takes a URL, with its place, unless its host has given enough. Both are copied.
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

// leased is what a database keeps of the ith that was taken.
func (c *choice) leased(i int, until time.Time) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(until.Unix())), c.urls[i]...)
}

// lines are the URLs that were taken, a line each.
func (c *choice) lines() []byte {
	var b []byte
	for _, url := range c.urls {
		b = append(append(b, url...), '\n')
	}
	return b
}
