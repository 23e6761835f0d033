package stores

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"spoor/internal/wire"
)

// boltBuckets are what bbolt has: fingerprints; URLs by place; and by fingerprint,
// behind the end of the lease, those that are leased.
var boltBuckets = [...]string{"seen", "queue", "leased"}

type boltStore struct {
	db                  *bbolt.DB
	tx                  *bbolt.Tx // nil between two batches
	seen, queue, leased *bbolt.Bucket
}

// openBoltFile opens a file as etcd does: what is free in it is found then.
func openBoltFile(name string) (*bbolt.DB, error) {
	return bbolt.Open(name, 0o666, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
}

func openBolt(dir string) (Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	db, err := openBoltFile(filepath.Join(dir, "db"))
	if err != nil {
		return nil, err
	}
	s := &boltStore{db: db}
	return s, db.Update(func(tx *bbolt.Tx) error {
		for _, name := range boltBuckets {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// begin begins a batch if there is none.
func (s *boltStore) begin() (err error) {
	if s.tx != nil {
		return nil
	}
	if s.tx, err = s.db.Begin(true); err != nil {
		return err
	}
	for i, b := range []**bbolt.Bucket{&s.seen, &s.queue, &s.leased} {
		*b = s.tx.Bucket([]byte(boltBuckets[i]))
	}
	return nil
}

func (s *boltStore) Add(rec *wire.Record) (bool, error) {
	if err := s.begin(); err != nil {
		return false, err
	}
	f := fingerprint(rec.URL)
	key := binary.BigEndian.AppendUint64(nil, f)
	if s.seen.Get(key) != nil {
		return false, nil
	}
	return true, errors.Join(s.seen.Put(key, []byte{}), s.queue.Put(place(rec.Priority.Value, f), []byte(rec.URL)))
}

func (s *boltStore) Commit(durable bool) error {
	if err := s.begin(); err != nil {
		return err
	}
	s.db.NoSync = !durable
	err := s.tx.Commit()
	s.tx = nil
	return err
}

func (s *boltStore) Next(n, perHost int, until time.Time) ([]byte, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	c := choose(n, perHost)
	i := s.queue.Cursor()
	for key, url := i.First(); key != nil && !c.full(); key, url = i.Next() {
		c.offer(key, url)
	}
	for j, key := range c.keys {
		if err := errors.Join(s.queue.Delete(key), s.leased.Put(key[8:], c.leased(j, until))); err != nil {
			return nil, err
		}
	}
	return c.lines(), s.Commit(true)
}

func (s *boltStore) Forget(rec *wire.Record) error {
	if err := s.begin(); err != nil {
		return err
	}
	f := fingerprint(rec.URL)
	key := binary.BigEndian.AppendUint64(nil, f)
	return errors.Join(s.seen.Delete(key), s.queue.Delete(place(rec.Priority.Value, f)), s.leased.Delete(key))
}

// Compact copies the file, between two batches, to one that is synced at the end
// and takes its place.
func (s *boltStore) Compact() error {
	name := s.db.Path()
	short, err := openBoltFile(name + ".part")
	if err != nil {
		return err
	}
	short.NoSync = true
	if err := errors.Join(bbolt.Compact(short, s.db, tail), short.Sync(), short.Close(), s.db.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+".part", name); err != nil {
		return err
	}
	s.db, err = openBoltFile(name)
	return err
}

func (s *boltStore) Close() error {
	if s.tx != nil {
		if err := s.Commit(true); err != nil {
			return err
		}
	}
	return s.db.Close()
}
