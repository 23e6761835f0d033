package frontier

import (
	"math"
	"time"

	"spoor/internal/wire"
)

// This file computes when a visited page is due again (Request.Recrawl), and the address
// record for the revisit.
//
// The interval adapts to how often the page changed, like AdaptiveFetchSchedule of Apache Nutch
// with the rates of its conf/nutch-default.xml: the interval grows by 40 % after a visit without a
// change, and shrinks by 20 % after a visit with a change. It grows by 50 % if the page is gone
// (AbstractFetchSchedule). For a page that changes every P, the interval converges to about
// 0.6 P, where three of five visits find a change: 1.4² ≈ 0.8⁻³. If the server states the age of the
// page, the first interval is a tenth of the age, the heuristic of RFC 9111, section 4.2.2.
//
// The interval depends only on one outcome, so the order of records does not matter. The results
// of earlier visits are in the address section: visits, interval, last_digest, etag and
// last_modified go with the leased address through the pipeline into the outcome.

const (
	firstInterval = 7 * 24 * time.Hour  // if the age of the page is unknown
	minInterval   = time.Hour           // between two visits
	maxInterval   = 90 * 24 * time.Hour // db.fetch.interval.max of Nutch
)

// revisitInterval returns the time to wait after the visit with outcome rec.
func revisitInterval(rec *wire.Record) time.Duration {
	d := time.Duration(clamp(rec.Interval, int(maxInterval/time.Second))) * time.Second
	if d == 0 {
		d = firstRevisitInterval(rec)
	}
	switch {
	case rec.Error != "" || rec.StatusCode >= 400: // gone
		d += d / 2
	case rec.Visits <= 0 || rec.StatusCode != 304 && (rec.Digest == "" || rec.LastDigest == ""):
	case rec.StatusCode == 304 || rec.Digest == rec.LastDigest:
		d += d / 5 * 2
	default:
		d -= d / 5
	}
	return max(minInterval, min(d, maxInterval)).Truncate(time.Second)
}

// firstRevisitInterval returns the time to wait after the first visit.
func firstRevisitInterval(rec *wire.Record) time.Duration {
	visited, err := time.Parse(time.RFC3339, rec.Timestamp)
	if err != nil {
		return firstInterval
	}
	changed, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", header(rec, "last-modified"))
	if err != nil || !changed.Before(visited) {
		return firstInterval
	}
	return visited.Sub(changed) / 10
}

// header returns the first value of a header, or "" if there is none.
func header(rec *wire.Record, name string) string {
	for i := range rec.Headers {
		if h := &rec.Headers[i]; h.Name == name && len(h.Values) > 0 {
			return h.Values[0]
		}
	}
	return ""
}

// nextVisit returns the second at which a page with the final outcome rec is due again: after
// its interval, or as soon as possible if the page changed after the visit or the time of the visit
// is unknown.
func nextVisit(rec *wire.Record) uint32 {
	at := seconds(rec.Timestamp)
	switch {
	case at == 0:
		return 1
	case parseLastMod(rec.LastMod) > at:
		return addSeconds(at, minInterval)
	}
	return addSeconds(at, revisitInterval(rec))
}

// parseLastMod parses a date or an RFC 3339 time; it returns 0 if s is neither.
func parseLastMod(s string) uint32 {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return secondsOf(t)
	}
	return seconds(s)
}

// isFinal reports whether there is a final outcome, including one before a failed revisit.
func (p *history) isFinal() bool {
	return p.class >= classRefused || p.class == classFailed && p.visits > 0
}

// isRecrawlable reports whether a finished URL is revisited. A URL that was never fetched is not
// revisited, and neither is the target of a redirect that was not leased itself.
func (x *index) isRecrawlable(id uint32) bool {
	if x.hot.at(id).flags&(flagProposed|flagFinished|flagWithdrawn|flagOwnOutcome) != flagProposed|flagFinished|flagOwnOutcome {
		return false
	}
	p := x.history(id)
	return p.isFinal() && p.due != 0
}

// visits returns the number of visits before the visit of rec.
func visits(rec *wire.Record) uint32 { return uint32(clamp(rec.Visits, math.MaxInt32-1)) }

// readRevisit sets rec to the address record for revisiting a URL with a final outcome, with
// the fields for a conditional request and for detecting a change.
func (s *Store) readRevisit(id uint32, rec *wire.Record) error {
	p := s.x.history(id)
	if err := s.readRecord(p.outcome, rec); err != nil {
		return err
	}
	retries := int(p.retries)
	if p.class >= classRefused {
		retries = 0
		rec.Interval = int(revisitInterval(rec) / time.Second)
		rec.Visits = int(visits(rec)) + 1
		rec.LastMod = ""
		if rec.Error == "" && rec.StatusCode != 304 {
			rec.ETag, rec.LastModified, rec.LastDigest = "", "", rec.Digest
			if rec.FinalURL == "" && rec.StatusCode/100 == 2 { // after a redirect the headers belong to another URL
				rec.ETag, rec.LastModified = header(rec, "etag"), header(rec, "last-modified")
			}
		}
		rec.Touch(wire.Address)
	}
	rec.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
	return s.setDerived(id, rec, retries)
}

// applyLastMod applies the lastmod of an address. If the page changed after its latest visit, the
// outcome of the latest visit is added again with this lastmod, so that the page is due sooner.
// The lastmod of a page that was not visited yet is ignored, so that the order of lines in the
// log does not matter.
func (s *Store) applyLastMod(rec *wire.Record) (Verdict, error) {
	id, ok := s.lookup(rec.URL)
	if !ok {
		return Known, nil
	}
	p := s.x.history(id)
	if p.class != classDone || s.x.hot.at(id).flags&flagOwnOutcome == 0 {
		return Known, nil
	}
	var outcome wire.Record
	if err := s.readRecord(p.outcome, &outcome); err != nil {
		return s.fail(err)
	}
	if at := parseLastMod(rec.LastMod); at <= seconds(outcome.Timestamp) || at <= parseLastMod(outcome.LastMod) {
		return Known, nil
	}
	outcome.LastMod = rec.LastMod
	outcome.Touch(wire.Address)
	return s.add(&outcome)
}
