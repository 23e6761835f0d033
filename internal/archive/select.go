package archive

import (
	"time"

	"spoor/internal/weburl"
)

// A Selection is a set of captures with all related records: redirects that lead to them, originals
// of revisits, requests and metadata. It uses about 300 bytes of memory per capture.
type Selection struct {
	replay *Replay
	places map[recordPlace]bool
	ids    map[string]bool // identifiers of the records in places
	named  map[string]bool // identifiers in the WARC-Concurrent-To fields of these records
}

type recordPlace struct {
	path         string
	offset, skip int64
}

// NewSelection returns an empty selection of captures in r.
func NewSelection(r *Replay) *Selection {
	return &Selection{r, map[recordPlace]bool{}, map[string]bool{}, map[string]bool{}}
}

// A Trace identifies a page that was read from archives; see [Page].
type Trace struct {
	URL      string
	Time     time.Time // zero: unknown
	Digest   string    // digest of the payload; empty: unknown
	Filename string    // name of the archive
	Offset   int64     // offset of the record in the archive
}

// Find returns the capture of a page: the capture at the position of the page, if the file still has
// that name. Because archives may have been renamed, repacked or piped, it otherwise returns a capture
// with the same URL and second whose digest does not differ.
func (r *Replay) Find(t Trace) (Capture, bool) {
	url, err := weburl.Canonical(t.URL)
	if err != nil {
		return Capture{}, false
	}
	var found *Capture
	best := 0
	for _, c := range r.Lookup(url) {
		rank := t.agrees(&c)
		here := c.Offset == t.Offset && r.Volume(c).Name == t.Filename
		switch { // files can share a name, or be replaced
		case rank < 0:
			continue
		case here:
			rank += 2
		}
		if rank > best {
			found, best = &c, rank
		}
	}
	if found == nil {
		return Capture{}, false
	}
	return *found, true
}

// agrees returns 1 if the capture has the time of the page or, if the page has no time, its digest.
// It returns -1 if the time or the digest differs, and otherwise 0.
func (t *Trace) agrees(c *Capture) int {
	same := sameDigest(c.Digest, t.Digest)
	switch {
	case contradict(c.Digest, t.Digest):
		return -1
	case !t.Time.IsZero() && c.Timestamp != t.Time.UTC().Format(timestampLayout):
		return -1
	case same, !t.Time.IsZero():
		return 1
	}
	return 0
}

// Add adds a capture. For each URL that redirected to the capture, it also adds the redirect that is
// nearest in time.
func (s *Selection) Add(c Capture, hops []string) error {
	if err := s.take(c, 0); err != nil {
		return err
	}
	for _, hop := range hops {
		if err := s.redirect(hop, c.Time()); err != nil {
			return err
		}
	}
	return nil
}

// redirect adds the redirect of a URL that is nearest to a time.
func (s *Selection) redirect(url string, t time.Time) error {
	url, err := weburl.Canonical(url)
	if err != nil {
		return nil
	}
	near := Pick{from: t, to: t}
	c, ok := s.replay.confirmed(func() (nearest Capture, ok bool) {
		for _, c := range s.replay.lookup(url, Pick{}) {
			if c.Redirect != "" && (!ok || near.distance(c) < near.distance(nearest)) {
				nearest, ok = c, true
			}
		}
		return nearest, ok
	})
	if !ok {
		return nil
	}
	return s.take(c, 0)
}

// take adds a capture, and its original if it is a revisit.
func (s *Selection) take(c Capture, depth int) error {
	place := recordPlace{s.replay.Volume(c).Path, c.Offset, c.Skip}
	if s.places[place] || depth > maxRevisits {
		return nil
	}
	rec, err := s.replay.archives[c.archive].record(new(scratch), c)
	if err != nil {
		return err
	}
	s.places[place] = true
	if id := rec.ID(); id != "" {
		s.ids[id] = true
	}
	for _, id := range rec.Header.Values("WARC-Concurrent-To") {
		s.named[id] = true
	}
	if !c.Revisit() {
		return nil
	}
	ref := newReferral(c, rec)
	original, ok := s.replay.confirmed(func() (Capture, bool) { return s.replay.original(&ref) })
	if !ok {
		return nil
	}
	return s.take(original, depth+1)
}

// From reports whether the selection contains a record of a volume.
func (s *Selection) From(v *Volume) bool {
	for p := range s.places {
		if p.path == v.Path {
			return true
		}
	}
	return false
}

// Has reports whether the selection contains a record of a volume. It contains all warcinfo
// records.
func (s *Selection) Has(v *Volume, rec *Record) bool {
	switch rec.Type() {
	case "warcinfo":
		return true
	case "request", "metadata":
		if s.named[rec.ID()] {
			return true
		}
		for _, id := range rec.Header.Values("WARC-Concurrent-To") {
			if s.ids[id] {
				return true
			}
		}
		return false
	}
	return s.places[recordPlace{v.Path, rec.Offset, rec.Skip}]
}
