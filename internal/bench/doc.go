// Package bench measures the commands beside programs of about twenty lines that do
// the same with other people's libraries: goquery, bleve, lxml and cheerio. Its package
// stores measures the frontier beside Pebble, bbolt and SQLite. It is a module of its
// own; scripts/bench runs it.
package bench
