package archive

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"io"
	"net/http"
	"slices"
	"strings"

	"spoor/internal/weburl"
)

const (
	// maxRevisits limits chains of revisits of revisits. Such chains are not allowed, but occur.
	maxRevisits = 5

	// maxIdentified limits how many records can be found by their identifiers, in about 80 MiB
	// of memory.
	maxIdentified = 2 << 20
)

// A referral is the reference of a revisit to its original.
type referral struct {
	Capture       // the revisit
	url, date, id string
	notModified   bool // the server confirmed an earlier page, by a response 304
}

func newReferral(c Capture, rec *Record) referral {
	h := rec.Header
	ref := referral{c, unbracket(h.Get("WARC-Refers-To-Target-URI")), h.Get("WARC-Refers-To-Date"), h.Get("WARC-Refers-To"),
		c.Status == http.StatusNotModified || strings.HasSuffix(h.Get("WARC-Profile"), "/server-not-modified")}
	if claim, err := parseClaim(payloadDigest, c.Digest); ref.notModified && err == nil && claim.is(claim.make()) {
		ref.Digest = "" // some programs write the digest of the empty body of the 304
	}
	return ref
}

// Original returns the newest capture of a canonical URL whose payload has that digest. If digest
// is empty, it returns the newest capture with a status of 2xx. It never returns a revisit, so that
// revisits can refer to the result.
func (r *Replay) Original(url, digest string) (Capture, bool) {
	return r.confirmed(func() (Capture, bool) {
		for _, c := range r.lookup(url, Pick{}) {
			if !c.Revisit() && (digest == "" && c.Status/100 == 2 || sameDigest(c.Digest, digest)) {
				return c, true
			}
		}
		return Capture{}, false
	})
}

// confirmed returns the capture that choose returns. If the record of the capture differs from the
// index, the index is rebuilt, and confirmed calls choose again.
func (r *Replay) confirmed(choose func() (Capture, bool)) (c Capture, ok bool) {
	err := r.retry(func() error {
		if c, ok = choose(); !ok {
			return nil
		}
		return r.confirm(c)
	})
	return c, ok && !errors.Is(err, errOtherRecord)
}

// original finds the original of a revisit. It returns the first of these that exists: the capture
// with the URL and date in the reference, if its payload does not differ; a capture with the same
// payload, of that URL or of the URL of the revisit; the record with the identifier in the
// reference, for which the archives are read, because indexes do not contain identifiers. If the
// server confirmed the page, or if there are neither date nor digest, it returns the newest capture
// of the URL before the revisit.
func (r *Replay) original(ref *referral) (Capture, bool) {
	c, ok := r.indexedOriginal(ref)
	if !ok {
		for _, url := range ref.urls() {
			r.Lookup(url) // the index may hide it
		}
		c, ok = r.indexedOriginal(ref)
	}
	return c, ok
}

// urls returns the URLs under which the original may have been captured, the most likely one first.
func (ref *referral) urls() []string {
	if u, err := weburl.Canonical(ref.url); err == nil && u != ref.URL {
		return []string{u, ref.URL}
	}
	return []string{ref.URL}
}

// indexedOriginal is like original, but does not compare the index with the archive.
func (r *Replay) indexedOriginal(ref *referral) (Capture, bool) {
	urls := ref.urls()
	timestamp := ""
	if t, ok := parseDate(ref.date); ok {
		timestamp = t.Format(timestampLayout)
	}
	since := timestamp
	var again *Capture // a revisit in place of the original
	for i, url := range urls {
		var same *Capture
		for _, c := range r.lookup(url, Pick{}) {
			named := i == 0 && c.Timestamp == timestamp
			switch {
			case c.rank() == noPage:
				if named {
					since = "" // the page is still older
				}
			case c.Revisit():
				if named && !c.is(&ref.Capture) {
					again = &c
				}
			case named && !contradict(c.Digest, ref.Digest):
				return c, true
			case sameDigest(c.Digest, ref.Digest) && (same == nil || same.Timestamp > ref.Timestamp):
				same = &c // prefer the newest capture that is not newer than the revisit
			}
		}
		if same != nil {
			return *same, true
		}
	}
	if again != nil {
		return *again, true
	}
	if ref.id != "" {
		c, ok := r.records().find(r, ref.id)
		if ok && !c.is(&ref.Capture) && !contradict(c.Digest, ref.Digest) {
			return c, true
		}
	}
	if ref.notModified || ref.date == "" && ref.Digest == "" && ref.id == "" {
		return r.lastBefore(ref, since)
	}
	return Capture{}, false
}

// lastBefore returns the newest capture of a whole page between a timestamp and the revisit.
func (r *Replay) lastBefore(ref *referral, since string) (Capture, bool) {
	for _, c := range r.lookup(ref.urls()[0], Pick{}) {
		if c.rank() == wholePage && since <= c.Timestamp && c.Timestamp <= ref.Timestamp && ref.mayHave(&c) {
			return c, true
		}
	}
	return Capture{}, false
}

// mayHave reports whether a revisit that does not identify its original may have the page of c. A
// response 304 stands for a response 200 (RFC 9110, section 15.4.5). A revisit must identify its
// own original, so that chains of revisits terminate.
func (ref *referral) mayHave(c *Capture) bool {
	if c.Revisit() {
		return c.Digest != "" && c.Status != http.StatusNotModified && !c.is(&ref.Capture)
	}
	return !ref.notModified || c.Status/100 == 2
}

// is reports whether two captures of a Replay are the same.
func (c *Capture) is(d *Capture) bool {
	return c.archive == d.archive && c.source == d.source && c.Offset == d.Offset && c.Skip == d.Skip
}

// sameDigest reports whether two digests are known and equal. Their notations may differ.
func sameDigest(a, b string) bool {
	if a == b {
		return a != ""
	}
	x, y := digests(a, b)
	return x != nil && x.algorithm == y.algorithm && bytes.Equal(x.sum, y.sum)
}

// contradict reports whether two digests are known, have the same algorithm, and differ.
func contradict(a, b string) bool {
	x, y := digests(a, b)
	return x != nil && x.algorithm == y.algorithm && !bytes.Equal(x.sum, y.sum)
}

// digests parses two digests. It returns nil if one of them is missing or not supported.
func digests(a, b string) (x, y *claim) {
	x, errX := parseClaim("", a)
	y, errY := parseClaim("", b)
	if a == "" || b == "" || errX != nil || errY != nil {
		return nil, nil
	}
	return x, y
}

// records finds records by their identifiers. Few archives require it. It is built by reading all
// archives once.
type records struct {
	seed   maphash.Seed
	places []spot // sorted by hash
}

type spot struct {
	hash            uint64 // hash of the identifier
	archive, source int32
	offset, skip    int64
}

// identify collects the records of all archives. It omits records that cannot be read, as indexes
// do.
func (r *Replay) identify() *records {
	all := &records{seed: maphash.MakeSeed()}
	var in Reader
	for i, a := range r.archives {
		for j := range a.sources {
			s := &a.sources[j]
			if in.Reset(io.NewSectionReader(s.data, 0, s.data.Size())) != nil {
				continue
			}
			for rec, err := range in.all() {
				if len(all.places) == maxIdentified {
					break
				}
				if err != nil {
					continue
				}
				switch rec.Type() {
				case "response", "resource", "revisit":
					if id := rec.ID(); id != "" {
						all.places = append(all.places, spot{maphash.String(all.seed, id), int32(i), int32(j), rec.Offset, rec.Skip})
					}
				}
			}
		}
	}
	// Records with the same hash stay in the order of the archives.
	slices.SortStableFunc(all.places, func(a, b spot) int { return cmp.Compare(a.hash, b.hash) })
	return all
}

// find returns the capture in the first record with that identifier.
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
			e.finish(rec) // faults were reported when the archive was indexed
			e.archive, e.source = int(p.archive), int(p.source)
			return e.indexed(), true
		}
	}
	return Capture{}, false
}
