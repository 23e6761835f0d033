package closedweb

import (
	"crypto/sha256"
	"encoding/binary"

	"spoor/internal/judge"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A Verdict is the judgement of one record of a crawl.
type Verdict uint8

const (
	Unlabelled Verdict = iota // the page has no labels, or it is outside the web
	Irrelevant
	Relevant
	Repeated  // the crawl has fetched this page before
	Free      // no request was sent to a server, so it costs nothing
	NoVerdict // the record is a query
)

// String returns the verdict in the form of records, "" for a query.
func (v Verdict) String() string {
	return [...]string{"unlabelled", "irrelevant", "relevant", "repeated", "free", ""}[v]
}

// A PageID identifies the page of a record: by its number in a web or, if Page is
// [judge.None], by Key.
type PageID struct {
	Page int32
	Key  string
}

// IDWithoutWeb identifies the page of a record by the canonical address at the end of the
// redirects.
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

// An Account adds up the costs of a crawl. The zero value is ready to use.
type Account struct {
	Spent   int64 // total cost, in units
	Free    int64 // number of records that cost nothing
	Queries int64

	paid map[pageDigest]struct{}
}

// A pageDigest identifies a page like a PageID, but needs a quarter of the memory: it is the number
// of the page, or part of the SHA-256 of its key.
type pageDigest [16]byte

func (id PageID) digest() (d pageDigest) {
	if id.Page != judge.None {
		binary.BigEndian.PutUint32(d[:], uint32(id.Page)) // no SHA-256 of a key has so many zeros at the end
		return d
	}
	sum := sha256.Sum256([]byte(id.Key))
	copy(d[:], sum[:])
	return d
}

// A Purchase describes the cost of one record.
type Purchase struct {
	Cost     int64
	Query    bool
	Repeated bool // the page was paid for before
}

// Pay adds the cost of a record about the page id: 1 for a fetch, the cost in the record
// for a query, and 0 if no request was sent.
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

// Verdict returns the verdict that follows from the cost alone; ok is false if the verdict
// depends on the page.
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
