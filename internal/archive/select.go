package archive

import (
	"time"

	"spoor/internal/weburl"
)

// A Selection is what of archives belongs to some of their pages: the captures,
// the redirects that led to them, the originals of revisits, and the requests and
// metadata of all of these. It takes about 300 bytes for each.
type Selection struct {
	replay *Replay
	places map[recordPlace]bool
	ids    map[string]bool // of the records in places
	named  map[string]bool // what these say they were made together with
}

type recordPlace struct {
	path         string
	offset, skip int64
}

// NewSelection returns an empty selection from archives.
func NewSelection(r *Replay) *Selection {
	return &Selection{r, map[recordPlace]bool{}, map[string]bool{}, map[string]bool{}}
}

// A Trace is what is known of a page that came out of archives, as [Page] tells it.
type Trace struct {
	URL      string
	Time     time.Time // zero: unknown
	Digest   string    // of the payload; empty: unknown
	Filename string    // of the archive
	Offset   int64     // of the record in it
}

// Find finds the capture that a page came from: the one at its place, if its file
// still has that name; else, as the file may have another by now, be packed anew or
// have come through a pipe, a capture of its address and second that has no other
// digest.
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
		switch { // two files may have one name, and a file may have been replaced
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

// agrees is 1 if a page has the time of a capture, or without one its digest, and
// nothing that speaks against it, -1 if something does, and else 0.
func (t *Trace) agrees(c *Capture) int {
	same := sameDigest(c.Digest, t.Digest)
	switch {
	case sameKind(c.Digest, t.Digest) && !same:
		return -1
	case !t.Time.IsZero() && c.Timestamp != t.Time.UTC().Format(timestampLayout):
		return -1
	case same, !t.Time.IsZero():
		return 1
	}
	return 0
}

// Add adds a capture of the archives, and for each of the addresses that redirected
// to it the redirect nearest to its time.
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

// redirect takes the redirect of an address that is nearest to a time.
func (s *Selection) redirect(url string, t time.Time) error {
	url, err := weburl.Canonical(url)
	if err != nil {
		return nil
	}
	for _, c := range s.replay.lookup(url, Pick{text: "nearest", from: t, to: t}) {
		if c.Redirect != "" {
			return s.take(c, 0)
		}
	}
	return nil
}

// take takes a capture, and what it refers to.
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
	ref := referral{c, unbracket(rec.Header.Get("WARC-Refers-To-Target-URI")), rec.Header.Get("WARC-Refers-To-Date"), rec.Header.Get("WARC-Refers-To")}
	if original, ok := s.replay.original(&ref); ok {
		return s.take(original, depth+1)
	}
	return nil
}

// Len is how many captures are selected.
func (s *Selection) Len() int { return len(s.places) }

// From tells whether something is selected from a volume.
func (s *Selection) From(v *Volume) bool {
	for p := range s.places {
		if p.path == v.Path {
			return true
		}
	}
	return false
}

// Has tells whether a record of a volume belongs to the selection. The records
// that describe a volume belong to any.
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
