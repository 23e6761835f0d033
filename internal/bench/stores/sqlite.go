package stores

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver

	"spoor/internal/wire"
)

const (
	sqlitePage   = 4096
	sqliteSchema = `
		PRAGMA journal_mode = WAL;
		PRAGMA synchronous = FULL;
		PRAGMA cache_size = -%d;
		PRAGMA wal_autocheckpoint = %d;
		CREATE TABLE IF NOT EXISTS link (
			fingerprint INTEGER PRIMARY KEY,
			priority REAL NOT NULL,
			url TEXT NOT NULL,
			lease INTEGER -- its end
		);
		CREATE INDEX IF NOT EXISTS waiting ON link (priority DESC) WHERE lease IS NULL`
)

type sqliteStore struct {
	*sql.DB
	add, best, lease *sql.Stmt
}

func openSQLite(dir string) (Store, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "db")+"?_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // so that the pragmas concern all transactions
	s := &sqliteStore{DB: db}
	_, err = db.Exec(fmt.Sprintf(sqliteSchema, cacheSize/1024, logSize/sqlitePage))
	for statement, query := range map[**sql.Stmt]string{
		&s.add:   `INSERT INTO link (fingerprint, priority, url) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		&s.best:  `SELECT fingerprint, url FROM link WHERE lease IS NULL ORDER BY priority DESC`,
		&s.lease: `UPDATE link SET lease = ? WHERE fingerprint = ?`,
	} {
		if err == nil {
			*statement, err = db.Prepare(query)
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// update runs f in a transaction.
func (s *sqliteStore) update(f func(*sql.Tx) error) error {
	tx, err := s.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *sqliteStore) Add(links []wire.Record) (added int, err error) {
	err = s.update(func(tx *sql.Tx) error {
		add := tx.Stmt(s.add)
		for i := range links {
			link := &links[i]
			result, err := add.Exec(int64(fingerprint(link.URL)), link.Priority.Value, link.URL)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if err != nil {
				return err
			}
			added += int(n)
		}
		return nil
	})
	return added, err
}

func (s *sqliteStore) Lease(n, perHost int, until time.Time) ([]byte, error) {
	c := choose(n, perHost)
	err := s.update(func(tx *sql.Tx) error {
		rows, err := tx.Stmt(s.best).Query()
		if err != nil {
			return err
		}
		for !c.full() && err == nil && rows.Next() {
			var fingerprint int64
			var url sql.RawBytes
			if err = rows.Scan(&fingerprint, &url); err == nil {
				c.offer(binary.BigEndian.AppendUint64(nil, uint64(fingerprint)), url)
			}
		}
		if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return err
		}
		lease := tx.Stmt(s.lease)
		for _, key := range c.keys {
			if _, err := lease.Exec(until.Unix(), int64(binary.BigEndian.Uint64(key))); err != nil {
				return err
			}
		}
		return nil
	})
	return c.lines(), err
}
