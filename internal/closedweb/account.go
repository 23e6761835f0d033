package closedweb

import (
	"crypto/sha256"
	"encoding/binary"

	"spoor/internal/judge"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A Verdict is what is said about one record of a crawl.
type Verdict uint8

const (
	Unlabelled Verdict = iota // no label tells what the page is about, or it is outside the web
	Irrelevant
	Relevant
	Repeated  // the crawl had this page before
	Free      // no server was asked, so it costs nothing
	NoVerdict // a query
)

// String returns the verdict as records have it, "" for a query.
func (v Verdict) String() string {
	return [...]string{"unlabelled", "irrelevant", "relevant", "repeated", "free", ""}[v]
}

// A PageID identifies the page that a record is about: by its number in a web or, if Page
// is [judge.None], by Key.
type PageID struct {
	Page int32
	Key  string
}

// IDWithoutWeb identifies the page of a record by the canonical address at which its
// redirects ended.
func IDWithoutWeb(rec *wire.Record) PageID {
	address := rec.FinalURL
	if address == "" {
		address = rec.URL
	}
	if url, err := weburl.Canonical(address); err == nil {
		address = url
	}
	return PageID{judge.None, address}
}

// maxCost bounds the cost of one query, so that no record can overflow the sum.
const maxCost = 1 << 40

// An Account adds up what a crawl has spent. The zero value is ready to use.
type Account struct {
	Spent   int64 // units of cost
	Free    int64 // records that cost nothing
	Queries int64

	paid map[pageDigest]struct{}
}

// A pageDigest stands for a PageID in a quarter of the memory: it is the number of the page, or
// part of the SHA-256 of its key.
type pageDigest [16]byte

func (id PageID) digest() (d pageDigest) {
	if id.Page != judge.None {
		binary.BigEndian.PutUint32(d[:], uint32(id.Page)) // no digest ends in so many zeros
		return d
	}
	sum := sha256.Sum256([]byte(id.Key))
	copy(d[:], sum[:])
	return d
}

// A Purchase is what one record has cost.
type Purchase struct {
	Cost     int64
	Query    bool
	Repeated bool // the page was paid for before
}

// Pay adds the cost of a record about the page id: 1 for a fetch, the cost in the record
// for a query, and nothing if no server was asked.
func (a *Account) Pay(rec *wire.Record, id PageID) (p Purchase) {
	switch {
	case rec.URL == "":
		p.Query, p.Cost = true, min(max(1, int64(rec.Cost)), maxCost)
		a.Queries++
	case rec.Free():
		a.Free++
	default:
		if a.paid == nil {
			a.paid = map[pageDigest]struct{}{}
		}
		page := id.digest()
		_, p.Repeated = a.paid[page]
		p.Cost, a.paid[page] = 1, struct{}{}
	}
	a.Spent += p.Cost
	return p
}

// Verdict returns the verdict that follows from the cost alone; ok is false if the page
// itself decides.
func (p Purchase) Verdict() (v Verdict, ok bool) {
	switch {
	case p.Query:
		return NoVerdict, true
	case p.Cost == 0:
		return Free, true
	case p.Repeated:
		return Repeated, true
	}
	return 0, false
}
