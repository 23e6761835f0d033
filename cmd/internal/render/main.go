// Package render is the command render, which runs the scripts of pages in a browser.
package render

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/browser"
	"spoor/internal/crawler"
	"spoor/internal/message"
	"spoor/internal/polite"
	"spoor/internal/web"
	"spoor/internal/wire"
)

//go:embed manual.md
var manual string

// Command is the command render.
var Command = filter.Command{Name: "render", Manual: manual, Run: run}

// cacheSize is the size of the scripts that are kept for further pages, in bytes.
const cacheSize = 32 << 20

// A command holds the values of the flags, and what the workers share.
type command struct {
	crawler.Options
	stream     filter.Stream
	files      []string
	onlyMarked bool
	browser    browser.Options

	ctx   context.Context
	fail  context.CancelCauseFunc // of ctx
	first atomic.Pointer[browser.Browser]

	rendered, failed, incomplete, overBudget atomic.Int64 // pages
	overPace                                 atomic.Int64 // requests
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	c, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	in, err := filter.Open(stdin, c.files)
	if err != nil {
		return err
	}
	defer in.Close()
	logger := filter.Logger(stderr, "render", c.stream.Log)
	faults := filter.Faults{Log: logger}
	c.Warn = logger.Warn
	c.Fault = func(archive string, err error) {
		if faults.ShouldLog(archive) {
			logger.Warn("part of an archive cannot be read", "archive", archive, "err", err)
		}
	}
	ctx := context.Background()
	if !filter.IgnoresTerm() {
		var stop func()
		ctx, stop = filter.NotifyContext("")
		defer stop()
	}
	filter.IgnorePipe()
	c.ctx, c.fail = context.WithCancelCause(ctx)
	defer c.fail(nil)

	load, closeLoader, err := c.loader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLoader()) }()
	c.browser.Load = browser.Cached(load, cacheSize)
	first, err := c.start() // fail now rather than after hours
	if err != nil {
		return err
	}
	c.first.Store(first)
	var browsers workers
	defer func() { err = errors.Join(err, browsers.close(), c.closeFirst()) }()
	c.stream.Name, c.stream.NoBatching = "render", true
	c.stream.Want = wire.Address | wire.Fetch | wire.Parse | wire.Body
	c.stream.Stdin, c.stream.Stdout, c.stream.Stderr = filter.Interruptible(c.ctx, in), stdout, stderr
	c.stream.Notes = c.notes
	return c.stream.Each(func() func(*wire.Record) error { return browsers.add(&worker{command: c}).render })
}

func parseFlags(args []string, stderr io.Writer) (*command, error) {
	c := &command{
		Options: crawler.Options{
			Version: filter.Version, MaxBody: archive.DefaultBody,
			Delay: polite.DefaultDelay, MaxDelay: polite.DefaultMaxDelay, // not used: there are no pauses
		},
		browser: browser.Options{Program: "chromium", Time: 15 * time.Second, Memory: 1 << 30, Requests: 100, Bytes: 32 << 20},
	}
	c.WARC.MaxSize, c.WARC.Digest = archive.DefaultMaxSize, "sha1"
	fs := filter.Flags("render", manual, stderr)
	c.stream.Flags(fs)
	c.stream.Workers = min(runtime.GOMAXPROCS(0), 4)
	fs.Lookup("j").Usage = "use `n` browsers; each renders a page at a time"
	fs.Lookup("j").DefValue = "one for each processor, at most 4"
	fs.BoolVar(&c.onlyMarked, "only-marked", false, "render only pages that parse has marked (needs_browser)")
	fs.StringVar(&c.browser.Program, "browser", c.browser.Program, "`program` of the browser: Chromium, or one based on it")
	fs.BoolVar(&c.browser.NoSandbox, "no-sandbox", false, "run scripts without the sandbox of Chromium; as root, or in a container that does not allow it")
	fs.DurationVar(&c.browser.Time, "render-time", c.browser.Time, "maximum `time` for a page; after it, the page is taken as it is")
	fs.Var((*filter.Size)(&c.browser.Memory), "render-memory", "maximum memory of each browser, in `bytes`; only on Linux")
	fs.IntVar(&c.browser.Requests, "max-requests", c.browser.Requests, "maximum `number` of requests of a page")
	fs.Float64Var(&c.HostRate, "host-rate", 10, "at most `n` requests per second to each host and each public IP address; by all browsers together, after a burst of 30; 0: no limit")
	fs.Var((*filter.Size)(&c.browser.Bytes), "max-loaded", "maximum size of all that a page requests, in `bytes`")
	fs.Var((*filter.Size)(&c.MaxBody), "max-body", "cut documents, and refuse responses, at this many `bytes`")
	fs.Var((*filter.Strings)(&c.Archives), "archive", "answer from this `file` (WARC, ARC, WACZ), pattern or directory instead of the web; may be repeated")
	filter.CacheFlag(fs, &c.ArchiveCache, "indexes of archives")
	fs.StringVar(&c.WARC.Prefix, "warc", "", "store what is received in PREFIX-*.warc.gz; `prefix` may begin with a directory")
	fs.StringVar(&c.Contact, "contact", "", "`address` (mail or URL) by which site owners can reach you; needed for all but loopback, which needs -allow-private")
	fs.StringVar(&c.Agent, "agent", "spoor", "`name` of the crawler, in User-Agent")
	proxy := fs.String("proxy", "", "send requests through this proxy: `URL` with http, https, socks5 (names are resolved here) or socks5h (there), or a file that holds it, so that its password is not shown")
	fs.BoolVar(&c.Insecure, "insecure", false, "accept invalid certificates")
	fs.BoolVar(&c.AllowPrivate, "allow-private", false, "connect to loopback and private addresses too")
	fs.Func("allow-port", "request this `port`, which is blocked by default (such as 22 or 25); may be repeated", c.AllowPort)
	if err := filter.Parse(fs, args); err != nil {
		return nil, err
	}
	c.files = fs.Args()
	if *proxy != "" {
		u, err := crawler.ParseProxy(*proxy)
		if err != nil {
			return nil, filter.Usagef("%v", err)
		}
		c.Proxy = u
	}
	c.stream.Workers = max(1, c.stream.Workers)
	c.Workers = 8 * c.stream.Workers // requests
	c.ConnectTimeout, c.HeaderTimeout, c.Timeout = c.browser.Time, c.browser.Time, c.browser.Time
	c.browser.DOM = c.MaxBody
	c.AddressRate, c.AddressBurst = c.HostRate, browser.Burst
	return c, c.check()
}

// check returns an error if the flags contradict each other or have invalid values.
func (c *command) check() error {
	switch {
	case len(c.Archives) > 0 && c.WARC.Prefix != "":
		return filter.Usagef("-warc cannot be used with -archive: it stores what comes from the web")
	case len(c.Archives) == 0 && c.Contact == "" && !c.AllowPrivate:
		return filter.Usagef("without -contact and -allow-private, every request of a page would be refused\nhint: give -contact you@example.org, or -archive FILE")
	case c.browser.Time <= 0 || c.browser.Requests < 0 || !(c.HostRate >= 0):
		return filter.Usagef("-render-time must be positive, and -max-requests and -host-rate not negative")
	case strings.IndexFunc(c.Agent+c.Contact, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 || strings.ContainsAny(c.Contact, "()"):
		return filter.Usagef("-agent and -contact become part of a header: only ASCII, and no parentheses")
	}
	return nil
}

// loader returns what answers the requests of pages, and closes it.
func (c *command) loader() (browser.Loader, func() error, error) {
	if len(c.Archives) > 0 {
		replay, err := c.OpenReplay()
		if err != nil {
			return nil, nil, err
		}
		return func(_ context.Context, r *browser.Request) (*browser.Response, error) {
			return response(crawler.ArchivedResource(replay, r.URL))
		}, replay.Close, nil
	}
	crawl, err := crawler.Open(c.ctx, c.Options)
	if err != nil {
		return nil, nil, err
	}
	live := func(ctx context.Context, r *browser.Request) (*browser.Response, error) {
		got, err := response(crawl.LoadResource(ctx, r.URL, r.Page, r.Header))
		if fatal(err) {
			c.fail(err)
		}
		return got, err
	}
	if c.HostRate > 0 {
		live = c.counted(browser.Paced(live, c.HostRate))
	}
	return live, crawl.Close, nil
}

// counted counts the requests that -host-rate prevents.
func (c *command) counted(load browser.Loader) browser.Loader {
	return func(ctx context.Context, r *browser.Request) (*browser.Response, error) {
		got, err := load(ctx, r)
		_, held := errors.AsType[*polite.HoldError](err) // all hosts of an IP address
		if held || errors.Is(err, browser.ErrPace) {
			c.overPace.Add(1)
		}
		return got, err
	}
}

// fatal reports whether err concerns all pages.
func fatal(err error) bool {
	_, warc := errors.AsType[*crawler.WARCError](err)
	proxy, ok := errors.AsType[*web.ProxyError](err)
	return warc || ok && proxy.Down
}

func response(r *crawler.Resource, err error) (*browser.Response, error) {
	if err != nil {
		return nil, err
	}
	return &browser.Response{StatusCode: r.StatusCode, Header: r.Header, Body: r.Body}, nil
}

// start starts a browser.
func (c *command) start() (*browser.Browser, error) {
	b, err := browser.Start(c.ctx, c.browser)
	switch {
	case errors.Is(err, browser.ErrSandbox):
		return nil, fmt.Errorf("%w\nhint: run render as a user for whom user namespaces are enabled, or give -no-sandbox if a container confines it", err)
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w\nhint: install Debian's chromium, or give -browser PROGRAM", err)
	}
	return b, err
}

// closeFirst closes the first browser, unless a worker has taken it.
func (c *command) closeFirst() error {
	if b := c.first.Swap(nil); b != nil {
		return b.Close()
	}
	return nil
}

// notes returns the counts for the closing line.
func (c *command) notes() []slog.Attr {
	notes := []slog.Attr{slog.Int64("rendered", c.rendered.Load())}
	for _, n := range []struct {
		name  string
		count *atomic.Int64
	}{{"not_rendered", &c.failed}, {"truncated", &c.incomplete}, {"limited_requests", &c.overBudget}, {"over_host_rate", &c.overPace}} {
		if got := n.count.Load(); got > 0 {
			notes = append(notes, slog.Int64(n.name, got))
		}
	}
	return notes
}

// A worker renders one page at a time.
type worker struct {
	*command
	browser *browser.Browser // nil: not started
}

// workers are closed together.
type workers struct {
	mu   sync.Mutex
	list []*worker
}

func (w *workers) add(one *worker) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, one)
	return one
}

func (w *workers) close() (err error) {
	for _, one := range w.list {
		err = errors.Join(err, one.close())
	}
	return err
}

// close closes the browser.
func (w *worker) close() error {
	if w.browser == nil {
		return nil
	}
	err := w.browser.Close()
	w.browser = nil
	return err
}

// render renders the page of a record. Its errors end the command.
func (w *worker) render(rec *wire.Record) error {
	if context.Cause(w.ctx) != nil {
		return context.Cause(w.ctx)
	}
	if !w.wants(rec) {
		return nil
	}
	body, err := rec.Bytes()
	if err != nil {
		return nil // parse reports it
	}
	if w.browser == nil {
		if w.browser = w.first.Swap(nil); w.browser == nil {
			if w.browser, err = w.start(); err != nil {
				return err
			}
		}
	}
	r, err := w.browser.Render(w.ctx, pageOf(rec, body))
	if cause := context.Cause(w.ctx); cause != nil {
		return cause
	}
	if err != nil {
		w.failed.Add(1)
		note(rec, "render: "+err.Error())
		return w.close()
	}
	w.rendered.Add(1)
	if r.Refused > 0 {
		w.overBudget.Add(1)
	}
	if r.Truncated != "" {
		w.incomplete.Add(1)
		rec.Truncated = r.Truncated
	}
	rec.Drop(wire.Parse | wire.Score | wire.Body)
	rec.SetBody(r.HTML)
	rec.Charset, rec.ContentLength = "utf-8", int64(len(r.HTML))
	rec.Touch(wire.Fetch)
	return nil
}

// wants reports whether the page of a record is rendered.
func (w *worker) wants(rec *wire.Record) bool {
	if rec.URL == "" || rec.Error != "" || rec.Body == "" && rec.BodyBase64 == "" {
		return false
	}
	if rec.StatusCode != 0 && (rec.StatusCode < 200 || rec.StatusCode > 299) {
		return false
	}
	switch mediaType(rec) {
	case "text/html", "application/xhtml+xml":
		return !w.onlyMarked || rec.NeedsBrowser == wire.True
	}
	return false
}

// mediaType returns the media type of a page.
func mediaType(rec *wire.Record) string {
	if rec.ContentType != "" {
		return rec.ContentType
	}
	return message.MediaType(header(rec)["Content-Type"]...)
}

// pageOf returns the page of a record as the browser receives it.
func pageOf(rec *wire.Record, body []byte) *browser.Page {
	p := &browser.Page{URL: rec.FinalURL, StatusCode: rec.StatusCode, Header: header(rec), Body: body}
	if p.URL == "" {
		p.URL = rec.URL
	}
	if p.StatusCode == 0 {
		p.StatusCode = http.StatusOK
	}
	media := mediaType(rec)
	if rec.Charset != "" {
		media += "; charset=" + rec.Charset
	}
	p.Header.Set("Content-Type", media)
	return p
}

// header returns the header fields of a record.
func header(rec *wire.Record) http.Header {
	h := http.Header{}
	for _, field := range rec.Headers {
		for _, value := range field.Values {
			h.Add(field.Name, value)
		}
	}
	return h
}

// note adds a detail to a record, which has no error by it.
func note(rec *wire.Record, detail string) {
	if rec.ErrorDetail != "" {
		detail = rec.ErrorDetail + "; " + detail
	}
	rec.ErrorDetail = detail
	rec.Touch(wire.Fetch)
}
