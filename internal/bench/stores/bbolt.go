package stores

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"spoor/internal/wire"
)

// The buckets of bbolt.
var (
	boltKnown  = []byte("known")  // fingerprint → nothing
	boltQueue  = []byte("queue")  // place → URL
	boltLeased = []byte("leased") // fingerprint → end of the lease, URL
)

type boltStore struct{ *bbolt.DB }

// openBolt opens the database with the options of etcd.
func openBolt(dir string) (Store, error) {
	db, err := bbolt.Open(filepath.Join(dir, "db"), 0o666, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	return boltStore{db}, db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{boltKnown, boltQueue, boltLeased} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s boltStore) Add(links []wire.Record) (added int, err error) {
	err = s.Update(func(tx *bbolt.Tx) error {
		known, queue := tx.Bucket(boltKnown), tx.Bucket(boltQueue)
		for i := range links {
			link := &links[i]
			f := fingerprint(link.URL)
			key := binary.BigEndian.AppendUint64(nil, f)
			if known.Get(key) != nil {
				continue
			}
			added++
			if err := errors.Join(known.Put(key, []byte{}), queue.Put(place(link.Priority.Value, f), []byte(link.URL))); err != nil {
				return err
			}
		}
		return nil
	})
	return added, err
}

func (s boltStore) Lease(n, perHost int, until time.Time) ([]byte, error) {
	c := choose(n, perHost)
	err := s.Update(func(tx *bbolt.Tx) error {
		queue, leased := tx.Bucket(boltQueue), tx.Bucket(boltLeased)
		i := queue.Cursor()
		for key, url := i.First(); key != nil && !c.full(); key, url = i.Next() {
			c.offer(key, url)
		}
		for j, key := range c.keys {
			if err := errors.Join(queue.Delete(key), leased.Put(key[8:], c.leased(j, until))); err != nil {
				return err
			}
		}
		return nil
	})
	return c.lines(), err
}
