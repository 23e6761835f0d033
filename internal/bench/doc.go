// Package bench compares the commands with programs of about twenty lines that do the same
// with other libraries: goquery, bleve, lxml and cheerio. Its package stores compares the
// frontier with Pebble, bbolt and SQLite. It is a separate module; scripts/bench runs it.
package bench
