package frontier

import (
	"slices"
	"strings"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file shortens outcomes that do not fit into the log: whatever a server sends, the store must
// record that the URL was requested. The parts that are removed depend only on the record, so the
// same record always gives the same line.

// maxText is the largest number of bytes of a string, other than a URL, in a minimal outcome.
const maxText = 1 << 10

// shorten shortens an outcome that is too long for the log. It removes headers. If the outcome is
// still too long, it keeps only the fields of minimalOutcome, and then fewer and fewer redirects.
func (s *Store) shorten(f *update) error {
	rec := f.rec
	rec.Headers, rec.ErrorDetail = nil, clip(rec.ErrorDetail)
	rec.Touch(wire.Fetch)
	err := s.encodeUpdate(f, rec)
	if err != nil {
		rec = minimalOutcome(rec)
		err = s.encodeUpdate(f, rec)
	}
	for ; err != nil && len(rec.Redirects) > 0; err = s.encodeUpdate(f, rec) {
		rec.Redirects = rec.Redirects[:len(rec.Redirects)/2]
	}
	if err == nil {
		s.shortened++
	}
	return err
}

// encodeUpdate sets f from rec, and encodes its line.
func (s *Store) encodeUpdate(f *update, rec *wire.Record) error {
	if err := f.set(rec); err != nil {
		return err
	}
	_, err := s.lineOf(f)
	return err
}

// minimalOutcome returns an outcome of bounded length with the same effect on the store as
// rec. Its URLs are canonical; it has only the parents and redirects that the index keeps.
func minimalOutcome(rec *wire.Record) *wire.Record {
	short := &wire.Record{
		V: rec.V, URL: rec.URL, Generation: rec.Generation, Depth: rec.Depth,
		Via: canonicalURL(rec.Via), Operator: clip(rec.Operator), Priority: rec.Priority,
		Niche: clip(rec.Niche), Query: clip(rec.Query), Retries: rec.Retries, Revision: rec.Revision,
		ETag: clip(rec.ETag), LastModified: clip(rec.LastModified), LastDigest: clip(rec.LastDigest),
		LastMod: clip(rec.LastMod), Visits: rec.Visits, Interval: rec.Interval,

		FinalURL: canonicalURL(rec.FinalURL), StatusCode: rec.StatusCode, Timestamp: clip(rec.Timestamp),
		ContentType: clip(rec.ContentType), Charset: clip(rec.Charset), ContentLength: rec.ContentLength,
		Truncated: clip(rec.Truncated), FetchMS: rec.FetchMS, IP: clip(rec.IP), Digest: clip(rec.Digest),
		WARCFilename: clip(rec.WARCFilename), WARCOffset: rec.WARCOffset, WARCLength: rec.WARCLength,
		NotBefore: clip(rec.NotBefore), Error: clip(rec.Error), ErrorDetail: clip(rec.ErrorDetail),

		Score: rec.Score, Relevant: rec.Relevant,
	}
	for _, p := range rec.Parents {
		if p = canonicalURL(p); p != "" {
			short.Parents = append(short.Parents, p)
		}
	}
	slices.Sort(short.Parents)
	short.Parents = slices.Compact(short.Parents)
	short.Parents = short.Parents[:min(len(short.Parents), maxParents)]
	for _, hop := range rec.Redirects[:min(len(rec.Redirects), maxHops)] {
		if u := canonicalURL(hop.URL); u != "" {
			short.Redirects = append(short.Redirects, wire.Redirect{URL: u, StatusCode: hop.StatusCode})
		}
	}
	return short
}

// canonicalURL returns the canonical form of a URL, or "" if the URL is invalid.
func canonicalURL(s string) string {
	u, err := weburl.Parse(s)
	if err != nil {
		return ""
	}
	return u.String()
}

// clip returns the first maxText bytes of s as valid UTF-8.
func clip(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "\ufffd")
}
