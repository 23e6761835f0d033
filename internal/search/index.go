package search

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// An Index is a full-text index of pages in an SQLite database. The sqlite3 command can read the
// database too:
//
//	sqlite3 FILE "select url, title from pages where pages match 'jazz' order by rank limit 10"
//
// Words are split by Unicode rules, ignoring case and accents, and stemmed by Porter's
// algorithm. The algorithm is made for English; in other languages it changes query and pages
// in the same way.
//
// Processes that call [Index.Add] wait for each other. If a process is killed during Add, the
// transaction is rolled back.
type Index struct{ db *database }

// applicationID distinguishes files of an Index from other databases: "spor".
const applicationID = 0x73706f72

// The tables: pages is the full-text index; captures maps each address to its page; archives
// stores how far each archive was read. Combining marks (M*) are parts of words: otherwise the
// tokenizer would split words of Indian scripts at their vowels.
const schema = `
create virtual table pages using fts5(url unindexed, title, body,
	tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'");
create table captures(page integer primary key, url text not null unique, archive text not null, time text not null);
create table archives(name text primary key, size integer not null, modified integer not null, done integer not null, mark text not null) without rowid;
`

// match searches for any of several words. Words in the title have twice the weight. Lower
// scores are better. Scores are rounded, so that floating-point differences between processors
// do not affect the order, and ties are broken by address. Addresses are looked up only for
// candidates.
const match = `
with hits as materialized (
	select rowid as page, round(bm25(pages, 0, 2, 1), 6) as score from pages where pages match ?1
)
select url from hits join captures using (page)
where score <= coalesce((select score from hits order by score limit 1 offset ?2 - 1), 0)
order by score, url limit ?2`

// OpenIndex opens the index in a file. If create is true, it creates the file if it does not exist.
func OpenIndex(name string, create bool) (*Index, error) {
	db, err := openDatabase("index", name, applicationID, schema, create)
	if err != nil {
		return nil, err
	}
	return &Index{db}, nil
}

// Close closes the database.
func (x *Index) Close() error { return x.db.Close() }

// Name returns "", because answers of an index are not cached.
func (x *Index) Name() string { return "" }

// Search returns the addresses of the pages that contain any word of the query, in the order
// of Okapi BM25; ties are broken by address.
func (x *Index) Search(ctx context.Context, query string, n int) ([]string, error) {
	words := expression(query)
	if words == "" || n < 1 {
		return nil, nil
	}
	rows, err := x.db.QueryContext(ctx, match, words, n)
	if err != nil {
		return nil, x.db.fail("searching", err)
	}
	defer rows.Close()
	found := newResults(n)
	for rows.Next() {
		var url string
		if err := rows.Scan(&url); err != nil {
			return nil, x.db.fail("searching", err)
		}
		found.add(url)
	}
	if err := rows.Err(); err != nil {
		return nil, x.db.fail("searching", err)
	}
	return found.urls, nil
}

// A Document is a page to be indexed.
type Document struct {
	URL   string // canonical
	Title string
	Text  string
	Time  time.Time // time of the capture; searches find the newest capture of an address
}

// An Archive records how far an archive has been read.
type Archive struct {
	Name     string
	Size     int64
	Modified time.Time
	Done     int64  // offset up to which all pages are in the index
	Mark     string // fingerprint of the bytes up to Done
}

// Archive returns the state of an archive. If the archive was not read yet, only the name is set.
func (x *Index) Archive(name string) (Archive, error) {
	a := Archive{Name: name}
	var modified int64
	err := x.db.QueryRow("select size, modified, done, mark from archives where name = ?", name).Scan(&a.Size, &modified, &a.Done, &a.Mark)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return a, nil
	case err != nil:
		return a, x.db.fail("reading", err)
	}
	a.Modified = time.Unix(0, modified)
	return a, nil
}

// Len returns the number of pages.
func (x *Index) Len() (n int, err error) {
	if err = x.db.QueryRow("select count(*) from captures").Scan(&n); err != nil {
		return 0, x.db.fail("reading", err)
	}
	return n, nil
}

// Forget removes the pages of an archive that has changed.
func (x *Index) Forget(name string) error {
	return x.change(func(tx *sql.Tx) error {
		for _, statement := range []string{
			"delete from pages where rowid in (select page from captures where archive = ?)",
			"delete from captures where archive = ?",
			"delete from archives where name = ?",
		} {
			if _, err := tx.Exec(statement, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// Add adds documents of an archive and stores how far it was read, in one transaction.
func (x *Index) Add(a Archive, documents []Document) error {
	return x.change(func(tx *sql.Tx) error {
		if err := insert(tx, a.Name, documents); err != nil {
			return err
		}
		_, err := tx.Exec("insert or replace into archives(name, size, modified, done, mark) values(?, ?, ?, ?, ?)",
			a.Name, a.Size, a.Modified.UnixNano(), a.Done, a.Mark)
		return err
	})
}

// insert replaces older captures of the documents' addresses.
func insert(tx *sql.Tx, archive string, documents []Document) error {
	var statements [4]*sql.Stmt
	for i, s := range []string{
		"select page, time from captures where url = ?",
		"delete from pages where rowid = ?",
		"insert into pages(url, title, body) values(?, ?, ?)",
		"insert or replace into captures(url, page, archive, time) values(?, ?, ?, ?)",
	} {
		var err error
		if statements[i], err = tx.Prepare(s); err != nil {
			return err
		}
		defer statements[i].Close()
	}
	known, drop, add, note := statements[0], statements[1], statements[2], statements[3]
	for _, d := range documents {
		at := d.Time.UTC().Format(time.RFC3339)
		var page int64
		var before string
		switch err := known.QueryRow(d.URL).Scan(&page, &before); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case before >= at:
			continue
		default:
			if _, err := drop.Exec(page); err != nil {
				return err
			}
		}
		result, err := add.Exec(d.URL, spaced(d.Title), spaced(d.Text))
		if err != nil {
			return err
		}
		if page, err = result.LastInsertId(); err != nil {
			return err
		}
		if _, err := note.Exec(d.URL, page, archive, at); err != nil {
			return err
		}
	}
	return nil
}

// change runs f in a transaction.
func (x *Index) change(f func(*sql.Tx) error) error {
	tx, err := x.db.Begin()
	if err == nil {
		if err = f(tx); err == nil {
			err = tx.Commit()
		}
		tx.Rollback() // does nothing after a commit
	}
	if err != nil {
		return x.db.fail("writing", err)
	}
	return nil
}
