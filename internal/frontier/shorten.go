package frontier

import (
	"slices"
	"strings"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file makes outcomes fit into the log: what strangers send must not keep
// the store from knowing that a URL was asked for. What is cut depends on the
// record alone, so the same record makes the same line again.

// maxWords bounds a string that is no URL in an outcome that is cut to its bones.
const maxText = 1 << 10

// shorten makes f the fact of an outcome that is too long for the log, without
// what nobody decides by: first without headers, then, if need be, without all
// but what the store, a strategy and a person may ask of it.
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

// retell makes f the fact of rec and its line.
func (s *Store) encodeUpdate(f *update, rec *wire.Record) error {
	if err := f.set(rec); err != nil {
		return err
	}
	_, err := s.lineOf(f)
	return err
}

// bones is an outcome of bounded length that says the same to the store as rec:
// its URLs are canonical, its parents those that the index keeps, its redirects
// those that count.
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

// address is s in canonical form; "" if it is no address.
func canonicalURL(s string) string {
	u, err := weburl.Parse(s)
	if err != nil {
		return ""
	}
	return u.String()
}

// clip is s up to maxWords; something stays of whatever is there.
func clip(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "\ufffd")
}
