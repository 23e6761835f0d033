package stores

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"spoor/internal/wire"
)

// The first byte of a key of Pebble's says what it is of.
const (
	pebbleSeen   = 's' // fingerprint → nothing
	pebbleQueue  = 'q' // place → URL
	pebbleLeased = 'l' // fingerprint → end of the lease, URL
)

type pebbleStore struct {
	db    *pebble.DB
	batch *pebble.Batch
	fresh map[uint64]bool // in the batch: asking the database is faster if the batch need not be searched
	key   []byte
}

func openPebble(dir string) (Store, error) {
	o := &pebble.Options{
		CacheSize:          cache,
		MemTableSize:       tail,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             quiet{},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &pebbleStore{db: db, batch: db.NewBatch(), fresh: map[uint64]bool{}}, nil
}

// seen is the key of a fingerprint, until the next call.
func (s *pebbleStore) seen(f uint64) []byte {
	s.key = binary.BigEndian.AppendUint64(append(s.key[:0], pebbleSeen), f)
	return s.key
}

func (s *pebbleStore) Add(rec *wire.Record) (bool, error) {
	f := fingerprint(rec.URL)
	if s.fresh[f] {
		return false, nil
	}
	key := s.seen(f)
	switch _, closer, err := s.db.Get(key); {
	case err == nil:
		return false, closer.Close()
	case !errors.Is(err, pebble.ErrNotFound):
		return false, err
	}
	s.fresh[f] = true
	return true, errors.Join(s.batch.Set(key, nil, nil), s.batch.Set(waits(rec, f), []byte(rec.URL), nil))
}

// waits is the key of a link that waits.
func waits(rec *wire.Record, f uint64) []byte {
	return append([]byte{pebbleQueue}, place(rec.Priority.Value, f)...)
}

func (s *pebbleStore) Commit(durable bool) error {
	err := s.batch.Commit(&pebble.WriteOptions{Sync: durable})
	s.batch.Reset()
	clear(s.fresh)
	return err
}

func (s *pebbleStore) Next(n, perHost int, until time.Time) ([]byte, error) {
	c := choose(n, perHost)
	i, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{pebbleQueue}, UpperBound: []byte{pebbleQueue + 1}})
	if err != nil {
		return nil, err
	}
	for ok := i.First(); ok && !c.full(); ok = i.Next() {
		c.offer(i.Key(), i.Value())
	}
	if err := i.Close(); err != nil {
		return nil, err
	}
	for j, key := range c.keys {
		leased := append([]byte{pebbleLeased}, key[9:]...)
		if err := errors.Join(s.batch.Delete(key, nil), s.batch.Set(leased, c.leased(j, until), nil)); err != nil {
			return nil, err
		}
	}
	return c.lines(), s.Commit(true)
}

func (s *pebbleStore) Forget(rec *wire.Record) error {
	f := fingerprint(rec.URL)
	leased := binary.BigEndian.AppendUint64([]byte{pebbleLeased}, f)
	return errors.Join(s.batch.Delete(s.seen(f), nil), s.batch.Delete(waits(rec, f), nil), s.batch.Delete(leased, nil))
}

func (s *pebbleStore) Compact() error {
	return s.db.Compact(context.Background(), []byte{0}, []byte{0xff}, true)
}

func (s *pebbleStore) Close() error { return errors.Join(s.batch.Close(), s.db.Close()) }

// quiet is a log that nobody reads.
type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }
