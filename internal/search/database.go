package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"spoor/internal/atomicfile"
)

// A database is an SQLite database with the tables of this package. The file may come from an
// untrusted source.
type database struct {
	*sql.DB
	kind string // index or cache
	name string // name of the file
}

const (
	// busyTimeout is the maximum wait for another process that is writing.
	busyTimeout = 10 * time.Minute

	// cacheSize is the maximum size of SQLite's page cache in KiB. With its default of 2 MiB, an
	// index takes about 7 % more processor time to build (50,000 pages).
	cacheSize = 64 << 10

	// maxValue limits the length of a text or blob in bytes. The longest is the text of a page.
	maxValue = 64 << 20
)

// A refusal is an error that states why a file is not opened, and what to do.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	errForeign refusal = "it is a database that search did not make\nhint: give another name, or remove the file"
	errNoDB    refusal = "it is not a database\nhint: give another name, or remove the file"
	errVersion refusal = "it was made by another version of search\nhint: remove the file, and search creates it again (an index needs -archive)"
	errEmpty   refusal = "it is empty\nhint: -archive FILE creates an index"
)

// A layout is the tables of a kind of database.
type layout struct {
	kind        string // index or cache
	application int    // distinguishes the files from other databases
	version     int    // of the schema
	schema      string
}

// openDatabase opens a database with the tables of a layout. If create is true, it creates the file
// and the tables if they do not exist. If name is empty, the database is in memory.
func openDatabase(l layout, name string, create bool) (*database, error) {
	db, err := connect(name, create)
	if err != nil {
		return nil, fmt.Errorf("opening the %s %s: %w", l.kind, name, err)
	}
	d := &database{db, l.kind, name}
	err = d.prepare(l, create)
	if err == nil {
		_, err = d.Exec(fmt.Sprintf("pragma cache_size = -%d", cacheSize))
	}
	if err != nil {
		db.Close()
		return nil, d.fail("opening", err)
	}
	return d, nil
}

// connect opens an SQLite database. Transactions acquire the write lock when they begin; by
// default they would acquire it later, when two transactions could block each other.
func connect(name string, create bool) (*sql.DB, error) {
	path, mode := "/memory", "memory"
	if name != "" {
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("it is a %s, not a regular file", atomicfile.Kind(info.Mode()))
		}
		full, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		if path = filepath.ToSlash(full); !strings.HasPrefix(path, "/") {
			path = "/" + path // C:/…
		}
		mode = "rw"
	}
	if create && name != "" {
		mode = "rwc"
	}
	settings := url.Values{
		"mode": {mode}, "_txlock": {"immediate"},
		// Untrusted files: the schema must not run functions, and SQLite checks pages.
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "trusted_schema(0)", "cell_size_check(1)"},
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // a second connection could wait for a lock of the first
	c, err := db.Conn(context.Background())
	if err == nil {
		_, err = sqlite.Limit(c, sqlite3.SQLITE_LIMIT_LENGTH, maxValue)
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// prepare creates the tables of an empty database if create is true. It checks that a
// non-empty database has exactly the tables of the layout.
func (d *database) prepare(l layout, create bool) error {
	id, version, objects, err := d.describe()
	switch {
	case err != nil:
		return err
	case id == l.application && version != l.version:
		return errVersion
	case id == l.application:
		return requireSchema(objects, l.schema)
	case id != 0 || len(objects) > 0:
		return errForeign
	case !create:
		return errEmpty
	}
	tx, err := d.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// Another process may have created the tables meanwhile.
	var tables int
	if err := tx.QueryRow("select count(*) from sqlite_schema").Scan(&tables); err != nil || tables > 0 {
		return err
	}
	if _, err := tx.Exec(fmt.Sprintf("pragma application_id = %d; pragma user_version = %d; %s", l.application, l.version, l.schema)); err != nil {
		return err
	}
	return tx.Commit()
}

// requireSchema returns an error if objects differ from the objects of a new database: views,
// triggers, generated columns and other virtual tables would change the effect of the statements of
// this package.
func requireSchema(objects []string, schema string) error {
	db, err := connect("", true)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(schema); err != nil {
		return err
	}
	_, _, want, err := (&database{DB: db}).describe()
	if err == nil && !slices.Equal(objects, want) {
		err = errForeign
	}
	return err
}

// maxObjects limits the number of definitions that are read. Databases of this package have fewer.
const maxObjects = 32

// describe returns the application and version of a database, and the definitions of all tables,
// indexes, views and triggers, without the statistics of the query planner.
func (d *database) describe() (application, version int, objects []string, err error) {
	rows, err := d.Query(`
select application_id, user_version, concat_ws(' ', type, name, tbl_name, sql)
from pragma_application_id, pragma_user_version
	left join (select * from sqlite_schema where name not like 'sqlite\_stat%' escape '\')
order by name limit ?`, maxObjects)
	if err != nil {
		return 0, 0, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var object string
		if err := rows.Scan(&application, &version, &object); err != nil {
			return 0, 0, nil, err
		}
		if object != "" { // empty if the database has no objects
			objects = append(objects, object)
		}
	}
	return application, version, objects, rows.Err()
}

// fail returns err with the name of the file, and with a hint if the file is damaged or unusable.
func (d *database) fail(doing string, err error) error {
	code := sqlite3.SQLITE_CORRUPT // also if a value has another type than its column
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code() != sqlite3.SQLITE_IOERR_SHORT_READ {
		code = e.Code() & 0xff // the other bits are details
	}
	switch code {
	case sqlite3.SQLITE_NOTADB:
		err = errNoDB
	case sqlite3.SQLITE_FULL:
		err = fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM:
	case sqlite3.SQLITE_READONLY: // also if a later version of SQLite has written it
		err = fmt.Errorf("%w\nhint: make the file writable; if it is, remove it, and search creates it again (an index needs -archive)", err)
	default:
		if _, ok := errors.AsType[refusal](err); !ok && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w\nhint: the file is damaged: remove it, and search creates it again (an index needs -archive)", err)
		}
	}
	return fmt.Errorf("%s the %s %s: %w", doing, d.kind, d.name, err)
}
