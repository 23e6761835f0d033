package main

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/polite"
	"spoor/internal/search"
	"spoor/internal/web"
	"spoor/internal/wire"
)

// agent is the User-Agent of requests to a search server.
const agent = "spoor/" + filter.Version

// connectTimeout bounds finding and reaching a server.
const connectTimeout = 10 * time.Second

// transport is the way to a SearXNG.
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
		return &search.SetupError{Err: fmt.Errorf("%w\nhint: -allow-private asks a server of your own network", err)}
	}
	return nil
}

// question is a stream of one record, a query for words.
func question(words string) io.Reader {
	var b bytes.Buffer
	w := wire.NewWriter(&b)
	err := w.Write(&wire.Record{V: wire.Version, Query: words})
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return failing{err}
	}
	return &b
}

// failing is a stream that cannot be read.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }
