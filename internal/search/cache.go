package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
)

// A Cache is an SQLite database of answers, so that no query is sent twice. It does not store
// errors.
type Cache struct{ db *database }

var cacheLayout = layout{"cache", 0x73706f71, 1, // "spoq"
	`
create table answers(source text, query text, wanted integer not null, urls text not null, primary key(source, query)) without rowid;
`}

// OpenCache opens the cache in a file, and creates the file if it does not exist. If name is
// empty, the cache is in memory.
func OpenCache(name string) (*Cache, error) {
	db, err := openDatabase(cacheLayout, name, true)
	if err != nil {
		return nil, err
	}
	return &Cache{db}, nil
}

// Close closes the file.
func (c *Cache) Close() error { return c.db.Close() }

// Of returns a source that answers from the cache if possible, and otherwise queries s.
func (c *Cache) Of(s Source) Source { return &cached{s, c.db} }

type cached struct {
	Source
	db *database
}

func (c *cached) Search(ctx context.Context, query string, n int) ([]string, error) {
	var wanted int
	var urls []string
	var list []byte
	err := c.db.QueryRowContext(ctx, "select wanted, urls from answers where source = ? and query = ?", c.Name(), query).Scan(&wanted, &list)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return nil, &SetupError{c.db.fail("reading", err)}
	case wanted >= n && json.Unmarshal(list, &urls) == nil:
		return urls[:min(n, len(urls))], nil
	}
	if urls, err = c.Source.Search(ctx, query, n); err != nil {
		return nil, err
	}
	if list, err = json.Marshal(urls); err != nil {
		return nil, err
	}
	if _, err := c.db.ExecContext(ctx, "insert or replace into answers(source, query, wanted, urls) values(?, ?, ?, ?)", c.Name(), query, n, string(list)); err != nil {
		return nil, &SetupError{c.db.fail("writing", err)}
	}
	return urls, nil
}
