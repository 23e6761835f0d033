package stores

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"spoor/internal/wire"
)

// The first bytes of the keys of Pebble.
const (
	pebbleKnown  = 'k' // fingerprint → nothing
	pebbleQueue  = 'q' // place → URL
	pebbleLeased = 'l' // fingerprint → end of the lease, URL
)

type pebbleStore struct{ *pebble.DB }

func openPebble(dir string) (Store, error) {
	o := &pebble.Options{
		CacheSize:          cacheSize,
		MemTableSize:       logSize,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             noLog{},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, o)
	return pebbleStore{db}, err
}

func (s pebbleStore) Add(links []wire.Record) (int, error) {
	batch := s.NewBatch()
	added := map[uint64]bool{} // faster than an indexed batch
	for i := range links {
		link := &links[i]
		f := fingerprint(link.URL)
		if added[f] {
			continue
		}
		key := binary.BigEndian.AppendUint64([]byte{pebbleKnown}, f)
		switch _, closer, err := s.Get(key); {
		case err == nil:
			closer.Close()
			continue
		case !errors.Is(err, pebble.ErrNotFound):
			return 0, err
		}
		added[f] = true
		waiting := append([]byte{pebbleQueue}, place(link.Priority.Value, f)...)
		if err := errors.Join(batch.Set(key, nil, nil), batch.Set(waiting, []byte(link.URL), nil)); err != nil {
			return 0, err
		}
	}
	return len(added), errors.Join(batch.Commit(pebble.Sync), batch.Close())
}

func (s pebbleStore) Lease(n, perHost int, until time.Time) ([]byte, error) {
	c := choose(n, perHost)
	i, err := s.NewIter(&pebble.IterOptions{LowerBound: []byte{pebbleQueue}, UpperBound: []byte{pebbleQueue + 1}})
	if err != nil {
		return nil, err
	}
	for ok := i.First(); ok && !c.full(); ok = i.Next() {
		c.offer(i.Key(), i.Value())
	}
	if err := i.Close(); err != nil {
		return nil, err
	}
	batch := s.NewBatch()
	for j, key := range c.keys {
		leased := append([]byte{pebbleLeased}, key[9:]...)
		if err := errors.Join(batch.Delete(key, nil), batch.Set(leased, c.leased(j, until), nil)); err != nil {
			return nil, err
		}
	}
	return c.lines(), errors.Join(batch.Commit(pebble.Sync), batch.Close())
}

// noLog discards the log of Pebble.
type noLog struct{}

func (noLog) Infof(string, ...any)      {}
func (noLog) Errorf(string, ...any)     {}
func (noLog) Fatalf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }
