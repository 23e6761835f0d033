package stores

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver

	"spoor/internal/wire"
)

type sqliteStore struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	begun bool
	wal   string
}

// The SQL statements. With synchronous = NORMAL, SQLite syncs only at checkpoints; a durable
// commit also syncs the log, as synchronous = FULL would do at every commit.
const (
	sqliteSchema = `
		PRAGMA journal_mode = WAL;
		PRAGMA synchronous = NORMAL;
		PRAGMA cache_size = -%d;
		PRAGMA wal_autocheckpoint = %d;
		CREATE TABLE IF NOT EXISTS link (
			fingerprint INTEGER PRIMARY KEY,
			priority REAL NOT NULL,
			url TEXT NOT NULL,
			lease INTEGER -- when it ends
		);
		CREATE INDEX IF NOT EXISTS waiting ON link (priority DESC) WHERE lease IS NULL`
	sqlitePage   = 4096
	sqliteAdd    = `INSERT INTO link (fingerprint, priority, url) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	sqliteBest   = `SELECT fingerprint, url FROM link WHERE lease IS NULL ORDER BY priority DESC`
	sqliteForget = `DELETE FROM link WHERE fingerprint = ?`
	sqliteShort  = `VACUUM; PRAGMA wal_checkpoint(TRUNCATE)`
	sqliteLease  = `UPDATE link SET lease = ? WHERE fingerprint = ?`
	sqliteBegin  = `BEGIN IMMEDIATE`
	sqliteCommit = `COMMIT`
)

func openSQLite(dir string) (_ Store, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "db")
	s := &sqliteStore{stmts: map[string]*sql.Stmt{}, wal: name + "-wal"}
	if s.db, err = sql.Open("sqlite", name); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.db.Close()
		}
	}()
	if s.conn, err = s.db.Conn(context.Background()); err != nil {
		return nil, err
	}
	if _, err = s.conn.ExecContext(context.Background(), fmt.Sprintf(sqliteSchema, cache/1024, tail/sqlitePage)); err != nil {
		return nil, err
	}
	for _, q := range []string{sqliteAdd, sqliteBest, sqliteForget, sqliteLease, sqliteBegin, sqliteCommit} {
		if s.stmts[q], err = s.conn.PrepareContext(context.Background(), q); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// exec executes a statement, and begins a batch if there is none.
func (s *sqliteStore) exec(query string, args ...any) (changed int64, err error) {
	if !s.begun {
		if _, err := s.stmts[sqliteBegin].Exec(); err != nil {
			return 0, err
		}
		s.begun = true
	}
	result, err := s.stmts[query].Exec(args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *sqliteStore) Add(rec *wire.Record) (bool, error) {
	n, err := s.exec(sqliteAdd, int64(fingerprint(rec.URL)), rec.Priority.Value, rec.URL)
	return n > 0, err
}

func (s *sqliteStore) Commit(durable bool) error {
	if s.begun {
		s.begun = false
		if _, err := s.stmts[sqliteCommit].Exec(); err != nil {
			return err
		}
	}
	if !durable {
		return nil
	}
	f, err := os.OpenFile(s.wal, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (s *sqliteStore) Next(n, perHost int, until time.Time) ([]byte, error) {
	c := choose(n, perHost)
	rows, err := s.stmts[sqliteBest].Query()
	if err != nil {
		return nil, err
	}
	var fingerprint int64
	for !c.full() && err == nil && rows.Next() {
		var url sql.RawBytes
		if err = rows.Scan(&fingerprint, &url); err == nil {
			c.offer(binary.BigEndian.AppendUint64(nil, uint64(fingerprint)), url)
		}
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, key := range c.keys {
		if _, err := s.exec(sqliteLease, until.Unix(), int64(binary.BigEndian.Uint64(key))); err != nil {
			return nil, err
		}
	}
	return c.lines(), s.Commit(true)
}

func (s *sqliteStore) Forget(rec *wire.Record) error {
	_, err := s.exec(sqliteForget, int64(fingerprint(rec.URL)))
	return err
}

// Compact writes the database anew, into the log and from there into the file.
func (s *sqliteStore) Compact() error {
	_, err := s.conn.ExecContext(context.Background(), sqliteShort)
	return err
}

func (s *sqliteStore) Close() error {
	err := s.Commit(false)
	for _, stmt := range s.stmts { // or SQLite would stay open
		err = errors.Join(err, stmt.Close())
	}
	return errors.Join(err, s.conn.Close(), s.db.Close())
}
