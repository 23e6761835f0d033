package crawler

import (
	"net/http"

	"spoor/internal/archive"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// endAtPartition ends rec at the first redirect that leaves the hosts of the partition, if there is
// one: the record has the status of that redirect, and its target as header location. target is
// where hops lead. The host of the target is requested by another machine, which keeps its delay.
func (o *Options) endAtPartition(rec *wire.Record, hops []archive.Hop, target string) bool {
	for i, h := range hops {
		to := target
		if i+1 < len(hops) {
			to = hops[i+1].URL
		}
		if o.Partition.Owns(weburl.Host(to)) {
			continue
		}
		setRedirects(rec, h.URL, hops[:i])
		rec.StatusCode = h.StatusCode
		if rec.StatusCode/100 != 3 { // a redirect by other means
			rec.StatusCode = http.StatusFound
		}
		rec.Headers = append(rec.Headers[:0], wire.Values{Name: "location", Values: []string{to}})
		return true
	}
	return false
}
