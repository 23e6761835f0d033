package search

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"spoor/internal/text"
	"spoor/internal/weburl"
)

// An Index is a full-text index of pages in an SQLite database. The sqlite3 command can read the
// tables:
//
//	sqlite3 FILE "select url, title from pages where host = 'x.example' and language = 'de'"
//
// Words are stems, made by an analyzer of the page's language (see [text.Analyzer]). So from version
// 3.43 sqlite3 also searches for stems:
//
//	sqlite3 FILE "select url, title from words('jazz') join pages on page = words.rowid order by rank limit 10"
//
// Processes that call [Index.Add] wait for each other. If a process is killed during Add, the
// transaction is rolled back. An Index is safe for concurrent use; its methods wait for each other.
type Index struct {
	db *database

	mu        sync.Mutex // guards analyzers
	analyzers map[string]*text.Analyzer
}

// indexLayout has these tables: words and titles are full-text indexes, stems separated by spaces, without
// the texts; their rowid is the page. words has all words, titles those of titles again, so that BM25 takes
// the length of a title into account. pages has what an answer shows, and a digest of the main content by
// which copies are found, 0 if that is short. texts has the texts for snippets, which are compressed
// with zstd and apart from pages, so that pages are read fast; main is the number of bytes of the main
// content, which precedes the boilerplate. stemmers are the analyzers of
// all pages that were ever added. archives stores how far each archive was read.
//
// The tokenizer ascii splits at ASCII characters that are not letters or digits; signs are part of C++,
// C# and .NET. hashsize is the memory in bytes in which FTS5 collects words before it writes them.
var indexLayout = layout{"index", 0x73706f72, 3, // "spor"
	`
create virtual table words using fts5(title, body, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '.+#'");
create virtual table titles using fts5(title, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '.+#'");
insert into words(words, rank) values('hashsize', 16777216);
create table pages(page integer primary key, url text not null unique, title text not null, time text not null, language text not null,
	host text not null, archive text not null, relevance real not null default 0, authority real not null default 0,
	digest integer not null);
create table texts(page integer primary key, text blob not null, main integer not null);
create table stemmers(code text primary key) without rowid;
create table archives(name text primary key, size integer not null, modified integer not null, done integer not null, mark text not null) without rowid;
`}

// OpenIndex opens the index in a file. If create is true, it creates the file if it does not exist.
func OpenIndex(name string, create bool) (*Index, error) {
	db, err := openDatabase(indexLayout, name, create)
	if err != nil {
		return nil, err
	}
	return &Index{db: db, analyzers: map[string]*text.Analyzer{}}, nil
}

// Close closes the database.
func (x *Index) Close() error { return x.db.Close() }

// Name returns "", because answers of an index are not cached.
func (x *Index) Name() string { return "" }

// A Document is a page to be indexed.
type Document struct {
	URL      string    // canonical
	Title    string    // its first maxTitle bytes are used
	Text     string    // the main content if it is known; its first maxText bytes are used
	Language string    // BCP 47 tag; "" if unknown
	Time     time.Time // time of the capture; searches find the newest capture of an address

	// Boilerplate is the text of menus and the like. It is searched like Text, but not quoted if Text has a
	// word of the query, and two pages with the same Text are copies whatever it is. Text and Boilerplate
	// together are cut to maxText bytes.
	Boilerplate string
}

const (
	maxTitle = 1 << 10
	maxText  = 1 << 20

	// minCopy is the minimum number of bytes of the main content of copies. Pages that show only "Loading" or
	// "JavaScript is required" may have different contents.
	minCopy = 200
)

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
	if err = x.db.QueryRow("select count(*) from pages").Scan(&n); err != nil {
		return 0, x.db.fail("reading", err)
	}
	return n, nil
}

// Forget removes the pages of an archive that has changed.
func (x *Index) Forget(name string) error {
	return x.change(func(tx *sql.Tx) error {
		for _, statement := range []string{
			"delete from words where rowid in (select page from pages where archive = ?)",
			"delete from titles where rowid in (select page from pages where archive = ?)",
			"delete from texts where page in (select page from pages where archive = ?)",
			"delete from pages where archive = ?",
			"delete from archives where name = ?",
		} {
			if _, err := tx.Exec(statement, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// A Rank is what a crawl knows of a page. Both numbers are in [0, 1]; others are replaced by the
// nearest of these, and NaN by 0. A page without a rank has 0.
type Rank struct {
	URL       string  // canonical
	Relevance float64 // relevance of the page to the topic of the crawl
	Authority float64 // see [Authority]
}

// SetRanks sets the ranks of pages in one transaction. Pages that are not in the index are omitted, and
// all others keep their ranks. A page keeps its rank if it is replaced by a newer capture.
func (x *Index) SetRanks(ranks iter.Seq[Rank]) error {
	return x.change(func(tx *sql.Tx) error {
		set, err := tx.Prepare("update pages set relevance = ?, authority = ? where url = ?")
		if err != nil {
			return err
		}
		defer set.Close()
		for r := range ranks {
			if _, err := set.Exec(unit(r.Relevance), unit(r.Authority), r.URL); err != nil {
				return err
			}
		}
		return nil
	})
}

// Add adds documents of an archive and stores how far it was read, in one transaction.
func (x *Index) Add(a Archive, documents []Document) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.change(func(tx *sql.Tx) error {
		if err := x.insert(tx, a.Name, documents); err != nil {
			return err
		}
		_, err := tx.Exec("insert or replace into archives(name, size, modified, done, mark) values(?, ?, ?, ?, ?)",
			a.Name, a.Size, a.Modified.UnixNano(), a.Done, a.Mark)
		return err
	})
}

// An entry is a document as it is stored.
type entry struct {
	url, title, time, language, host string
	stemmer                          string // code of the analyzer
	titleWords, words                string // stems
	text                             []byte // the main content and the boilerplate, compressed
	main                             int    // bytes of the main content
	digest                           int64  // of the main content; 0 if it is shorter than minCopy
}

// entries yields the entries of documents. They are made on another goroutine while the caller stores
// the previous ones.
func (x *Index) entries(documents []Document) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		made, stop := make(chan *entry, 16), make(chan struct{})
		var maker sync.WaitGroup
		maker.Go(func() {
			defer close(made)
			for i := range documents {
				select {
				case made <- x.entry(&documents[i]):
				case <-stop:
					return
				}
			}
		})
		defer maker.Wait()
		defer close(stop)
		for e := range made {
			if !yield(e) {
				return
			}
		}
	}
}

var compressor, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))

func (x *Index) entry(d *Document) *entry {
	content := cut(d.Text, maxText)
	boilerplate := cut(d.Boilerplate, maxText-len(content))
	whole := content + "\n" + boilerplate
	e := &entry{
		url: d.URL, title: clean(cut(d.Title, maxTitle)), time: d.Time.UTC().Format(time.RFC3339), language: primary(d.Language),
		host: weburl.Host(d.URL), text: compressor.EncodeAll([]byte(whole), nil), main: len(content),
	}
	if len(content) >= minCopy {
		e.digest = digest(content)
	}
	e.stemmer = stemmerOf(e.language)
	a := x.analyzer(e.stemmer)
	e.titleWords, e.words = stems(a, cut(d.Title, maxTitle), true), stems(a, whole, false)
	a.Trim()
	return e
}

// digest returns a hash of s.
func digest(s string) int64 {
	sum := sha256.Sum256([]byte(s))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// insert replaces older captures of the documents' addresses.
func (x *Index) insert(tx *sql.Tx, archive string, documents []Document) error {
	var statements [9]*sql.Stmt
	for i, s := range []string{
		"select page, time from pages where url = ?",
		"delete from words where rowid = ?",
		"update pages set title = ?, time = ?, language = ?, host = ?, archive = ?, digest = ? where page = ?",
		"insert into pages(title, time, language, host, archive, digest, url) values(?, ?, ?, ?, ?, ?, ?)",
		"insert into words(rowid, title, body) values(?, ?, ?)",
		"insert or replace into texts(page, text, main) values(?, ?, ?)",
		"insert or ignore into stemmers(code) values(?)",
		"delete from titles where rowid = ?",
		"insert into titles(rowid, title) values(?, ?)",
	} {
		var err error
		if statements[i], err = tx.Prepare(s); err != nil {
			return err
		}
		defer statements[i].Close()
	}
	known, drop, update, add, index, keep, note := statements[0], statements[1], statements[2], statements[3], statements[4], statements[5], statements[6]
	dropTitle, indexTitle := statements[7], statements[8]
	used := map[string]bool{}
	for e := range x.entries(documents) {
		var page int64
		var before string
		err := known.QueryRow(e.url).Scan(&page, &before)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			var result sql.Result
			if result, err = add.Exec(e.title, e.time, e.language, e.host, archive, e.digest, e.url); err == nil {
				page, err = result.LastInsertId()
			}
		case err == nil && before >= e.time:
			continue
		case err == nil:
			if _, err = drop.Exec(page); err == nil {
				_, err = dropTitle.Exec(page)
			}
			if err == nil {
				_, err = update.Exec(e.title, e.time, e.language, e.host, archive, e.digest, page)
			}
		}
		if err != nil {
			return err
		}
		if _, err := index.Exec(page, e.titleWords, e.words); err != nil {
			return err
		}
		if _, err := indexTitle.Exec(page, e.titleWords); err != nil {
			return err
		}
		if _, err := keep.Exec(page, e.text, e.main); err != nil {
			return err
		}
		if !used[e.stemmer] {
			used[e.stemmer] = true
			if _, err := note.Exec(e.stemmer); err != nil {
				return err
			}
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
