package frontier

import (
	"math"
	"time"

	"spoor/internal/wire"
)

// This file says when a page that was visited is due again, for those who ask for
// that (Request.Recrawl), and what it is then handed out with.
//
// The interval adapts to how often the page was found changed, as
// AdaptiveFetchSchedule of Apache Nutch has it, with the rates that
// conf/nutch-default.xml ships: 0.4 longer after a visit that found no change, 0.2
// shorter after one that found one; half as long again if the page is gone
// (AbstractFetchSchedule). Visits of a page that changes every P then come to stand
// where three of five find a change, at about 0.6 P: 1.4² ≈ 0.8⁻³. The first
// interval is a tenth of the page's age where the server tells it, the heuristic of
// RFC 9111, section 4.2.2.
//
// All of it is a function of one outcome alone, so that the order of records does
// not matter: what earlier visits found travels in the address section, as
// visits, interval, last_digest, etag and last_modified, from the hand-out through
// the pipeline into the outcome.

const (
	firstInterval = 7 * 24 * time.Hour  // if the server does not tell the page's age
	minInterval   = time.Hour           // nobody is asked more often than that
	maxInterval   = 90 * 24 * time.Hour // db.fetch.interval.max of Nutch
)

// interval is how long to wait after the visit that rec is the outcome of.
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

// youth is the interval after the first visit.
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

// header is the first value of a header.
func header(rec *wire.Record, name string) string {
	for i := range rec.Headers {
		if h := &rec.Headers[i]; h.Name == name && len(h.Values) > 0 {
			return h.Values[0]
		}
	}
	return ""
}

// dueAgain is the second at which a page is due once more after the visit that rec is
// the final outcome of: after its interval, or as soon as may be if it has changed
// since, or if nobody knows when it was visited.
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

// changedAt reads the time at which a page changed, a date or a time; 0 if it is
// neither.
func parseLastMod(s string) uint32 {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return secondsOf(t)
	}
	return seconds(s)
}

// settled tells whether there is a final outcome: the latest, or one before a
// failure to visit the page once more.
func (p *history) isFinal() bool {
	return p.class >= classRefused || p.class == classFailed && p.visits > 0
}

// returns tells whether a URL that is not asked for any more is due again some day:
// not if it is known only as the end of a redirect, nor if it was never fetched.
func (x *index) isRecrawlable(id uint32) bool {
	if x.hot.at(id).flags&(flagProposed|flagFinished|flagWithdrawn|flagOwnOutcome) != flagProposed|flagFinished|flagOwnOutcome {
		return false
	}
	p := x.history(id)
	return p.isFinal() && p.due != 0
}

// visits is how many visits came before the one that rec tells of.
func visits(rec *wire.Record) uint32 { return uint32(clamp(rec.Visits, math.MaxInt32-1)) }

// revisit makes rec the address that is handed out to visit a URL, which is settled,
// once more: with what is needed to ask only for what has changed, and to see
// whether it has.
func (s *Store) readRevisit(id uint32, rec *wire.Record) error {
	p := s.x.history(id)
	line, err := s.log.line(p.outcome)
	if err != nil {
		return err
	}
	if err := s.decoder.decode(line, rec); err != nil {
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
			if rec.FinalURL == "" && rec.StatusCode/100 == 2 { // else they are of another address
				rec.ETag, rec.LastModified = header(rec, "etag"), header(rec, "last-modified")
			}
		}
		rec.Touch(wire.Address)
	}
	rec.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
	return s.setDerived(id, rec, retries)
}

// hint takes an address that tells when its page changed. If that was after the
// latest visit, the outcome of that is added once more with the time in lastmod, and
// is due sooner by it. Of a page that was not visited, or not yet when it was
// said, it says nothing: so the log's lines need no order.
func (s *Store) applyLastMod(rec *wire.Record) (Verdict, error) {
	id, ok := s.lookup(rec.URL)
	if !ok {
		return Known, nil
	}
	p := s.x.history(id)
	if p.class != classDone || s.x.hot.at(id).flags&flagOwnOutcome == 0 {
		return Known, nil
	}
	line, err := s.log.line(p.outcome)
	if err != nil {
		return s.fail(err)
	}
	var out wire.Record
	if err := s.decoder.decode(line, &out); err != nil {
		return s.fail(err)
	}
	if at := parseLastMod(rec.LastMod); at <= seconds(out.Timestamp) || at <= parseLastMod(out.LastMod) {
		return Known, nil
	}
	out.LastMod = rec.LastMod
	out.Touch(wire.Address)
	return s.Add(&out)
}
