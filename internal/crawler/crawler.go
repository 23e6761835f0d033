// Package crawler fetches pages from the live web and from archives.
//
// A [Crawler] reads address records and writes each record back with its outcome: the
// response and its body, or an error. It obeys robots.txt, sends one request at a time to
// each host with a pause in between, follows redirects, fetches sitemaps, and writes the
// responses to WARC files. [Options.Answer] and [Options.Responses] fill the same records
// from archives.
//
// The package neither logs nor catches signals: it reports through [Options] and [Stats],
// and stops when its context ends. The error texts in records name the flags of the fetch
// command, because users can change these.
package crawler

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"spoor/internal/archive"
	"spoor/internal/atomicfile"
	"spoor/internal/partition"
	"spoor/internal/polite"
	"spoor/internal/scope"
	"spoor/internal/web"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Options configure a [Crawler]. Workers, MaxBody and the three timeouts must be positive.
type Options struct {
	Version string // version of this software, for User-Agent and WARC files
	Agent   string // name of the crawler, for User-Agent and robots.txt
	Contact string // mail address or URL of the operator; without it only loopback is fetched

	// Politeness; see [polite.Transport]. If Delay is 0, only loopback is fetched, and if
	// HostRate is 0 too, the requests to one host are concurrent.
	Delay, MaxDelay time.Duration
	Slowness        float64  // 0: the pause does not depend on the duration of the last request
	Rate, HostRate  float64  // requests per second; 0 means unlimited
	AddressRate     float64  // requests per second to each public IP address, whatever the host; 0 means unlimited
	AddressBurst    int      // requests to an address that was not asked for some time, without a wait; 0 means 1
	Seed            uint64   // random seed for the jitter of back-offs
	AllowPrivate    bool     // connect to addresses that are not on the public internet
	AllowPorts      []uint16 // ports that are requested although [polite.BlockedPort] blocks them

	// Requests; see [web.Transport].
	Workers                                int // concurrent requests
	ConnectTimeout, HeaderTimeout, Timeout time.Duration
	Proxy                                  *url.URL // nil: none
	Insecure, HTTP1                        bool
	TLS                                    *tls.Config  // nil: the root certificates of the system
	Resolver                               web.Resolver // nil: the resolver of the system

	Credentials *Credentials // fields and cookies for some addresses; nil: none

	Scope    *scope.Scope  // which addresses may be requested; nil: all
	MaxBody  int64         // bytes at which bodies are cut, as received and as decoded
	MIME     []string      // media types to download; nil: all
	Deadline time.Duration // time after which the rest of a window is returned unfetched; 0: no limit
	Sitemaps bool          // fetch the sitemaps of every origin too

	Partition partition.Partition // redirects to hosts of other partitions are not followed

	// Archives are searched for a response before the web is requested. Capture selects among
	// several captures of an address. ArchiveCache is the directory for indexes of archives.
	Archives     []string
	Capture      archive.Pick
	ArchiveCache string

	// WARC says where and how to store exchanges; nothing is stored if its Prefix is empty.
	// A payload that the Dedup archives hold is stored as a reference to them. With NoArchive,
	// responses that forbid a copy are not stored. Open sets WARC.Host, Info, Cut and Known.
	WARC      archive.WriterOptions
	Dedup     []string
	NoArchive bool

	// WARCDone is a shell command that gets each finished WARC file as its last argument.
	WARCDone string

	// State is the directory for the state of hosts, for one process at a time; StateWait is
	// how long to wait for another process to release it. RobotsDir is the directory of
	// robots.ndjson, which processes may share. If State or RobotsDir is "", the files that
	// belong there are not kept.
	State     string
	StateWait time.Duration
	RobotsDir string

	// Malformed is called for every input line that is not a record; the line is skipped. If
	// Malformed is nil, such a line ends the run.
	Malformed func(*wire.SyntaxError)

	// Fault is called with every part of an archive that cannot be read.
	Fault func(archive string, err error)

	// Revisit is called for every revisit record that Responses skips. It may be nil.
	Revisit func()

	// ArchiveRecord is called for every record that Responses reads. It may be nil.
	ArchiveRecord func()

	// Warn logs a warning for the operator, with arguments as for slog.Warn. It may be called
	// from several goroutines.
	Warn func(msg string, keysAndValues ...any)

	ports *ports // set by newFetcher
}

// AllowPort adds a port to AllowPorts.
func (o *Options) AllowPort(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return errors.New("not a port from 1 to 65535")
	}
	o.AllowPorts = append(o.AllowPorts, uint16(n))
	return nil
}

// maxProxy is the maximum size of a file that holds the URL of a proxy, in bytes.
const maxProxy = 64 << 10

// ParseProxy returns the URL of a proxy, the value of the flag -proxy: a URL, or the name of a file
// that holds one. The error does not quote the URL, because it may hold a password.
func ParseProxy(s string) (*url.URL, error) {
	if !strings.Contains(s, "://") {
		b, err := atomicfile.ReadFile(s, maxProxy)
		if err != nil && strings.Contains(s, "@") {
			return nil, errors.New("-proxy is not the URL of a proxy: it does not begin with http:// or another scheme\nhint: http, https, socks5 or socks5h")
		}
		if err != nil {
			return nil, fmt.Errorf("-proxy is not the URL of a proxy, and not a file that holds one: %w\nhint: -proxy socks5h://127.0.0.1:9050", err)
		}
		s = strings.TrimSpace(string(b))
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return nil, errors.New("-proxy is not the URL of a proxy\nhint: -proxy socks5h://127.0.0.1:9050")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, fmt.Errorf("-proxy: the scheme %s is not supported\nhint: http, https, socks5 or socks5h", u.Scheme)
}

// UserAgent returns the value of the User-Agent header.
func (o *Options) UserAgent() string {
	name := o.Agent
	if !strings.Contains(name, "/") {
		name += "/" + o.Version
	}
	if o.Contact == "" {
		return name
	}
	return fmt.Sprintf("%s (+%s)", name, o.Contact)
}

// MemoryLimit returns the approximate number of bytes of heap that a run needs when every
// response has the maximum size. If the heap is larger, the rest is garbage, which the
// collector should free.
func (o *Options) MemoryLimit() int64 {
	// A body is held as received, as decoded, and as JSON, in which one byte may need six.
	larger := max(0, min(o.MaxBody, math.MaxInt64>>8)-archive.DefaultBody)
	return 200<<20 + 8*maxDecoding*larger
}

// A policyError is returned for an address outside loopback if the options permit only
// loopback. It is not a failure of the host.
type policyError string

const (
	errNoContact policyError = "without -contact only loopback is asked"
	errZeroDelay policyError = "with -delay 0s only loopback is asked"
)

func (e policyError) Error() string { return string(e) }
func (e policyError) Unwrap() error { return &polite.BlockedError{} }

// policy returns an error that says why only loopback may be fetched, nil if all hosts may be.
func (o *Options) policy() error {
	switch {
	case o.Contact == "":
		return errNoContact
	case o.Delay == 0:
		return errZeroDelay
	}
	return nil
}

// A portError is returned for a port that must not be requested. It is not a failure of the
// host.
type portError string

func (e portError) Error() string {
	return "port " + string(e) + " is not a port of web servers (hint: -allow-port " + string(e) + ")"
}
func (e portError) Unwrap() error { return &polite.BlockedError{} }

// checkTarget returns an error if a host and port must not be requested, as far as this is
// known before the name is resolved. port is "" for the default port.
func (o *Options) checkTarget(name, port string) error {
	if err := o.policy(); err != nil && !isLoopback(name) {
		return err
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	switch {
	case port == "" || slices.Contains(o.AllowPorts, uint16(n)):
		return nil
	case polite.BlockedPort(uint16(n)):
		return portError(port)
	case isLoopback(name): // many servers of one machine are in a test
		return nil
	}
	return o.ports.check(name, port)
}

// guard refuses addresses that are not public, if AllowPrivate is not set. If only loopback
// may be fetched, it refuses all other addresses: a name such as x.localhost may resolve to
// any of them.
func (o *Options) guard(at netip.AddrPort) error {
	if err := o.policy(); err != nil && !at.Addr().Unmap().IsLoopback() {
		return err
	}
	if o.AllowPrivate {
		return nil
	}
	if err := polite.Guard(at); err != nil {
		return fmt.Errorf("%w (hint: -allow-private)", err)
	}
	return nil
}

// Stats counts the records of a run.
type Stats struct {
	In, Out  int64            // records read and written, window marks included
	Marks    int64            // number of window marks that were read
	Sitemaps int64            // records of sitemaps that were not in the input
	Errors   map[string]int64 // records by error

	// Numbers of records that were refused without a request.
	PolicyRefused  int64 // because only loopback may be fetched
	PrivateRefused int64 // because the address is not public

	Requested bool // a request was sent, or a connection tried
}

// NoneAllowed reports whether every address was refused without a request.
func (s *Stats) NoneAllowed() bool {
	refused := s.PolicyRefused + s.PrivateRefused
	return refused > 0 && refused == s.Out-s.Marks && !s.Requested
}

// A Crawler fetches the addresses of one stream.
type Crawler struct {
	*Options
	fetcher   *fetcher
	resources *fetcher
	sitemaps  *sitemaps // nil: sitemaps are not fetched
	state     stateLock
	handOver  *handOver // nil without WARCDone
	closers   []func() error
}

// Open locks the state, opens the archives and loads the state of earlier runs. It waits for
// the lock until ctx ends or StateWait has passed. The caller must call Close.
func Open(ctx context.Context, options Options) (_ *Crawler, err error) {
	c := &Crawler{Options: &options}
	o := c.Options
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.state, err = lockState(ctx, o.State, o.StateWait); err != nil {
		return nil, err
	}
	c.closers = append(c.closers, c.state.unlock)
	var warc *archive.Writer
	if o.WARC.Prefix != "" {
		if warc, err = c.openWARC(); err != nil {
			return nil, err
		}
	}
	var archives *archive.Replay
	if len(o.Archives) > 0 {
		if archives, err = c.openArchives(o.Archives); err != nil {
			return nil, err
		}
	}
	c.fetcher = newFetcher(o, archives, warc)
	c.resources = c.fetcher.forResources()
	c.closers = append(c.closers, func() error { c.fetcher.web.CloseIdleConnections(); return nil })
	if err := c.fetcher.loadState(time.Now(), c.state.killed); err != nil {
		return nil, err
	}
	if o.Sitemaps {
		c.sitemaps = c.fetcher.newSitemaps()
		if o.State != "" {
			loadFile(filepath.Join(o.State, sitemapsFile), o.Warn, func(r io.Reader) error { return c.sitemaps.load(r, time.Now()) })
		}
	}
	return c, nil
}

// Close closes the WARC file and the archives, and unlocks the state.
func (c *Crawler) Close() error {
	var err error
	for len(c.closers) > 0 {
		last := len(c.closers) - 1
		err = errors.Join(err, c.closers[last]())
		c.closers = c.closers[:last]
	}
	return err
}

// openArchives opens archives; Close closes them.
func (c *Crawler) openArchives(paths []string) (*archive.Replay, error) {
	r, err := c.openReplay(paths)
	if err == nil {
		c.closers = append(c.closers, r.Close)
	}
	return r, err
}

// openWARC opens the WARC file that exchanges are stored in.
func (c *Crawler) openWARC() (*archive.Writer, error) {
	w := c.WARC
	w.Host, _ = os.Hostname()
	w.Info = []archive.Field{
		{Name: "software", Value: "spoor/" + c.Version},
		{Name: "robots", Value: "obey"},
		{Name: "http-header-user-agent", Value: c.UserAgent()},
	}
	if c.Contact != "" {
		w.Info = append(w.Info, archive.Field{Name: "operator", Value: c.Contact})
	}
	w.Cut = func(path string) {
		c.Warn("a WARC file has lost its end, or is not a WARC file; leaving it as it is and starting another", "archive", path, "hint", "warc verify shows the damage, and warc repair -w repairs the file")
	}
	if len(c.Dedup) > 0 {
		earlier, err := c.openArchives(c.Dedup)
		if err != nil {
			return nil, err
		}
		w.Known = func(url, digest string) (archive.Original, bool) { return original(earlier, url, digest) }
	}
	var err error
	if c.WARCDone != "" {
		if c.handOver, err = newHandOver(c.Options); err != nil {
			return nil, fmt.Errorf("reading which WARC files were handed over: %w", err)
		}
		w.Rotated = c.handOver.notify
	}
	warc, err := archive.NewWriter(w)
	if err != nil {
		return nil, fmt.Errorf("opening the WARC file: %w", err)
	}
	if c.handOver != nil {
		c.handOver.warc = warc
	}
	c.closers = append(c.closers, warc.Close)
	return warc, nil
}

// original finds a dated capture with the same payload in earlier archives.
func original(earlier *archive.Replay, url, digest string) (archive.Original, bool) {
	url, err := weburl.Canonical(url)
	if err != nil {
		return archive.Original{}, false
	}
	capture, ok := earlier.Original(url, digest)
	if !ok || capture.Time().IsZero() {
		return archive.Original{}, false
	}
	id, err := earlier.RecordID(capture)
	return archive.Original{URL: capture.URL, Date: capture.Time(), ID: id}, err == nil
}

// Run reads records from in to its end, writes each of them to out with its outcome, and
// saves the state. Records are written in the order in which they are done.
//
// When ctx ends, Run writes back the records that it has read and not fetched, with the error
// "budget", and returns the cause. It reads no more input, except the rest of a window that
// has begun, up to its mark. It does the same when writing the WARC file, or to out, fails.
// When the proxy cannot be used, it also reads the rest of the input and returns it unfetched.
func (c *Crawler) Run(ctx context.Context, in *wire.Reader, out io.Writer) (Stats, error) {
	if err := c.state.begin(); err != nil {
		return Stats{}, err
	}
	running, stop := context.WithCancel(context.Background())
	hard, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	var background sync.WaitGroup
	background.Go(func() { c.fetcher.saveHostsUntil(running) })
	if c.handOver != nil {
		background.Go(func() { c.handOver.run(running, hard) })
	}
	stats, err := c.schedule(ctx, in, wire.NewWriter(out))
	stop()
	if c.Deadline > 0 {
		defer time.AfterFunc(c.Deadline, func() { kill(errHandOver) }).Stop()
	}
	background.Wait()
	if _, ok := errors.AsType[*web.ProxyError](err); ok {
		// %v hides the network error: callers could mistake it for a broken pipe of stdout.
		err = fmt.Errorf("%v\nhint: is it running? -proxy URL, or -proxy FILE if its URL has user:password@ before the host", err)
	}
	saveErr := c.fetcher.saveState(time.Now())
	if saveErr == nil {
		saveErr = c.state.end()
	}
	err = errors.Join(err, saveErr)
	if c.sitemaps != nil && c.State != "" {
		err = errors.Join(err, saveFile(filepath.Join(c.State, sitemapsFile), func(w io.Writer) error { return c.sitemaps.save(w, time.Now()) }))
	}
	f := c.fetcher
	stats.PolicyRefused, stats.PrivateRefused = f.counts.policy.Load(), f.counts.private.Load()
	stats.Requested = f.counts.requested.Load()
	return stats, err
}
