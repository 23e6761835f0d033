package archive

import (
	"cmp"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"spoor/internal/weburl"
)

const (
	// maxRevisits is how many revisits of revisits are followed to a payload. They
	// ought not to exist, but do.
	maxRevisits = 5

	// maxIdentified bounds how many records of all archives are found by their
	// identifier, in some 80 MiB.
	maxIdentified = 2 << 20
)

// A referral is what a revisit says of the capture that holds its payload.
type referral struct {
	Capture       // the revisit
	url, date, id string
}

// Original is the newest capture of a canonical address that holds a payload of
// that digest, or any with a good status if the digest is empty, itself: no revisit.
// It is what a later revisit can refer to.
func (r *Replay) Original(url, digest string) (Capture, bool) {
	for _, c := range r.lookup(url, Pick{}) {
		if !c.Revisit() && (digest == "" && c.Status/100 == 2 || sameDigest(c.Digest, digest)) {
			return c, true
		}
	}
	return Capture{}, false
}

// original finds the capture that a revisit refers to: the one of the address and
// date that it names, unless that holds another payload; else one of that
// address, or of its own, that holds the same; else the record that it names,
// which no index knows.
func (r *Replay) original(ref *referral) (Capture, bool) {
	urls := []string{ref.URL}
	if u, err := weburl.Canonical(ref.url); err == nil && u != ref.URL {
		urls = []string{u, ref.URL}
	}
	timestamp := ""
	if t, ok := parseDate(ref.date); ok {
		timestamp = t.Format(timestampLayout)
	}
	var again *Capture // a revisit where the original should be
	for i, url := range urls {
		var same *Capture
		for _, c := range r.lookup(url, Pick{}) {
			named := i == 0 && c.Timestamp == timestamp
			switch {
			case c.Revisit():
				if named && !c.is(&ref.Capture) {
					again = &c
				}
			case named && (sameDigest(c.Digest, ref.Digest) || !sameKind(c.Digest, ref.Digest)):
				return c, true
			case sameDigest(c.Digest, ref.Digest) && (same == nil || same.Timestamp > ref.Timestamp):
				same = &c // the newest that is not newer than the revisit, if there is one
			}
		}
		if same != nil {
			return *same, true
		}
	}
	if again != nil {
		return *again, true
	}
	if ref.id == "" {
		return Capture{}, false
	}
	c, ok := r.records().find(r, ref.id)
	return c, ok && !c.is(&ref.Capture) && (sameDigest(c.Digest, ref.Digest) || !sameKind(c.Digest, ref.Digest))
}

// is tells whether two captures of a Replay are one.
func (c *Capture) is(d *Capture) bool {
	return c.archive == d.archive && c.source == d.source && c.Offset == d.Offset && c.Skip == d.Skip
}

// sameDigest tells whether two digests are known and the same, however they are
// spelled.
func sameDigest(a, b string) bool {
	return a != "" && b != "" && (a == b || plainDigest(a) == plainDigest(b))
}

// sameKind tells whether two digests are known and of the same function.
func sameKind(a, b string) bool {
	kindA, _, _ := strings.Cut(plainDigest(a), ":")
	kindB, _, _ := strings.Cut(plainDigest(b), ":")
	return a != "" && b != "" && kindA == kindB
}

// plainDigest spells a digest in one way: its label in lower case and without a
// hyphen, what it labels in hexadecimal, be it in that or in base32.
func plainDigest(s string) string {
	kind, text, ok := strings.Cut(s, ":")
	if !ok {
		kind, text = "sha1", s
	}
	kind = strings.ReplaceAll(strings.ToLower(kind), "-", "")
	size := map[string]int{"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}[kind]
	if b, err := hex.DecodeString(text); err == nil && len(b) == size {
		return kind + ":" + strings.ToLower(text)
	}
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(strings.ToUpper(text), "="))
	if err == nil && len(b) == size {
		return kind + ":" + hex.EncodeToString(b)
	}
	return kind + ":" + text
}

// records are the places of captures by the identifiers of their records. Few
// archives need them, so they are in no index but gathered when they do: by
// reading all archives once.
type records struct {
	seed   maphash.Seed
	places []spot // by hash
}

type spot struct {
	hash            uint64 // of the identifier
	archive, source int32
	offset, skip    int64
}

// identify gathers the records of all archives. What cannot be read is left out,
// as it is of the indexes.
func (r *Replay) identify() *records {
	all := &records{seed: maphash.MakeSeed()}
	var in Reader
	for i, a := range r.archives {
		for j := range a.sources {
			s := &a.sources[j]
			if in.Reset(io.NewSectionReader(s.data, 0, s.data.Size())) == nil {
				all.gather(&in, int32(i), int32(j))
			}
		}
	}
	// What shares a hash stays in the order of the archives.
	slices.SortStableFunc(all.places, func(a, b spot) int { return cmp.Compare(a.hash, b.hash) })
	return all
}

func (all *records) gather(in *Reader, archive, source int32) {
	for len(all.places) < maxIdentified {
		rec, err := in.Next()
		if _, ok := errors.AsType[*FormatError](err); ok {
			continue
		}
		if err != nil {
			return
		}
		switch rec.Type() {
		case "response", "resource", "revisit":
			if id := rec.ID(); id != "" {
				all.places = append(all.places, spot{maphash.String(all.seed, id), archive, source, rec.Offset, rec.Skip})
			}
		}
	}
}

// find is the capture in the first record of that identifier, and whether there
// is one.
func (all *records) find(r *Replay, id string) (Capture, bool) {
	h := maphash.String(all.seed, id)
	i, _ := slices.BinarySearchFunc(all.places, h, func(p spot, h uint64) int { return cmp.Compare(p.hash, h) })
	for ; i < len(all.places) && all.places[i].hash == h; i++ {
		p := all.places[i]
		a := r.archives[p.archive]
		rec, err := a.at(new(scratch), Capture{Offset: p.offset, Skip: p.skip, source: int(p.source)})
		if err != nil || rec.ID() != id {
			continue
		}
		b := indexer{name: a.sources[p.source].name}
		if e, err := b.entry(rec); e != nil && err == nil {
			e.archive, e.source = int(p.archive), int(p.source)
			return e.Capture, true
		}
	}
	return Capture{}, false
}
