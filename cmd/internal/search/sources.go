package search

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/pageindex"
	"spoor/internal/polite"
	"spoor/internal/search"
	"spoor/internal/web"
	"spoor/internal/wire"
)

// agent is the User-Agent of requests to a search server.
const agent = "spoor/" + filter.Version

// connectTimeout bounds resolving and connecting to a server.
const connectTimeout = 10 * time.Second

// openIndex opens an index, and brings it up to date with archives if there are any.
func openIndex(name string, archives []string, log *slog.Logger) (*search.Index, error) {
	started := time.Now()
	faults := filter.Faults{Log: log}
	return pageindex.Open(name, archives, pageindex.Options{
		Waiting: func(lockFile string) {
			log.Info("waiting for another process, which brings the index up to date", "lock", lockFile)
		},
		BadRecord: func(archive string, err error) {
			if faults.ShouldLog(archive) {
				log.Warn("left out what cannot be read of an archive", "err", err)
			}
		},
		Updated: func(archives int, pages int64) {
			log.Info(fmt.Sprintf("%d pages were added to the index", pages), "archives", archives, "pages", pages,
				"seconds", float64(time.Since(started).Milliseconds())/1000)
		},
	})
}

// transport returns the transport for requests to a SearXNG.
func (o *options) transport() *web.Transport {
	return &web.Transport{
		Guard: o.guard, ConnectTimeout: min(connectTimeout, o.timeout), HeaderTimeout: o.timeout, Timeout: o.timeout,
		MaxIdle: 1,
	}
}

// guard refuses addresses that are not public unless -allow-private is given.
func (o *options) guard(at netip.AddrPort) error {
	if o.private {
		return nil
	}
	if err := polite.Guard(at); err != nil {
		return &search.SetupError{Err: fmt.Errorf("%w\nhint: -allow-private allows servers at private addresses", err)}
	}
	return nil
}

// queryRecord returns a stream of one record, a query for words.
func queryRecord(words string) (io.Reader, error) {
	var b bytes.Buffer
	w := wire.NewWriter(&b)
	err := w.Write(&wire.Record{V: wire.Version, Query: words})
	return &b, cmp.Or(err, w.Flush())
}
