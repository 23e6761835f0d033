// Package bench compares the commands with programs of about twenty lines that do the same
// with other libraries: goquery, bleve, lxml and cheerio. Its package stores compares the
// frontier with Pebble, bbolt and SQLite. content compares the main content of pages with that of
// go-trafilatura and go-readability. charsets and languages compare the recognition of charsets
// and languages, on the texts that translations writes. search compares the index of search with
// bleve. watchers measures by how much browsers that watch a crawl slow it down. It is a separate
// module; scripts/bench and the Makefile run it.
package bench
