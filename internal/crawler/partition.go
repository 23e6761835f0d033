package crawler

import (
	"net/http"

	"spoor/internal/archive"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// endAtPartition reports whether one of the redirects hops leads to a host of another partition; target
// is the address to which the last of them leads. If so, the outcome of rec is the first such redirect:
// its status, and its target as header location. The machine of the other partition requests the
// target, because it keeps the delay of that host.
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
