// Render runs the scripts of pages in a browser.
//
// # Usage
//
//	render [-only-marked] -contact ADDRESS [-warc PREFIX] [flags] [FILE...] < pages
//	render [-only-marked] -archive FILE [-archive FILE...] [flags] [FILE...] < pages
//
// # Records
//
// Input: pages with their body, as written by fetch, or by parse -keep-body. Output: one record for
// each input record, in order. The body of a page becomes the document as it is after the scripts
// have run, as HTML in UTF-8, and charset and content_length are those of the new body. If the page
// has a parse section it is removed, since it describes another body. The rest of the fetch section
// is as fetch wrote it: status, headers and digest are those of the response.
//
// Render processes HTML pages with a status of 200 to 299 and without an error; with
// -only-marked only those that parse has marked (needs_browser). All other records are
// passed on unchanged.
//
//	truncated     time if the page was not complete within -render-time, length if the
//	              document was cut at -max-body
//	error_detail  why a page could not be rendered (error stays empty): it keeps its body
//	              and its parse section
//
// A page that could not be rendered does not affect others: its browser is killed, and
// the next page gets another one.
//
// # Pipelines
//
// Render follows fetch. It never fetches a page itself, so robots.txt, pauses, redirects and
// conditional requests are those of fetch.
//
//	fetch | render | parse                                  renders every page
//	fetch | parse -keep-body | render -only-marked | parse  renders those that need it
//
// A page takes a second or so instead of a millisecond, so use the pipeline with
// -only-marked. Its second parse parses all pages again; for pages that were not
// rendered, its output is that of the first one.
//
// # Network
//
// The browser never uses the network. Each request of a page is intercepted and answered by the code
// that fetch uses, or refused. The browser has no other access to the network: DNS is switched off
// in it, it is set to a proxy that does not exist, and it listens on no port.
//
// Only scripts, and what scripts request (XMLHttpRequest, fetch), are loaded, by GET: up to
// -max-requests, at most six at a time, with up to -max-loaded bytes together. Scripts are kept
// for the next pages (up to 32 MiB in total). Requests for style sheets get an empty answer. All
// else is refused: other methods, images, fonts, media, frames, workers, service workers,
// WebSockets, event streams, WebRTC, pings, downloads, new windows and file URLs. CORS
// preflights are answered with yes, and not sent. Dialogs are dismissed.
//
// As in fetch, addresses that are not on the public internet are refused without -allow-private,
// the ports of other services without -allow-port, and all but loopback without -contact.
// Neither cookies nor the browser's name are sent. If robots.txt permits a page, its scripts and
// data are requested without asking robots.txt again, also from other hosts, and without pauses. A page
// chooses whom its scripts ask, so each host, and each public IP address of many hosts, gets at most
// -host-rate requests per second of all pages together, after a burst of 30. A request that would have
// to wait longer than its page may take is refused, and counted in the last line on stderr
// (over_host_rate).
//
// The main document is not replaced. If a script or a meta element navigates to another address,
// this is not followed: render appends a meta refresh with the address to the document, and
// parse extracts it as a link, so that the address is fetched like any other.
//
// With -warc PREFIX what is requested is stored as by fetch -warc. It must be another prefix than
// that of fetch. The rendered document is not stored: it can be made again. With -archive nothing
// is requested, and the requests of pages are answered from archives, for example those that
// fetch -warc and render -warc have written.
//
// # Limits
//
// A page is complete when it has loaded and no request has been pending for half a second. After
// -render-time (15 s) its scripts are stopped, and the document is taken as it is. -j browsers work at a
// time, each on one page, in a context without anything from other pages. A browser whose
// processes use more memory than -render-memory is killed; this is measured every 100 ms, and only
// on Linux. Elsewhere only the heap of scripts is limited.
//
// Each browser has a process group of its own, which is killed at the end, and a temporary profile
// directory, which is removed. It ends by itself if render is killed, but then the directory remains.
//
// Chromium confines the processes that run scripts in a sandbox, for which it needs user
// namespaces (or the SUID helper), and another user than root. Where user namespaces are
// not available, as in most containers, render fails unless -no-sandbox is given. Then
// only the container confines them.
//
// # Example
//
//	$ fetch -contact me@example.org -warc crawl/pages < seeds.txt | parse -keep-body |
//	>   render -only-marked -contact me@example.org -warc crawl/render | parse
//
// # Exit status
//
// 0 done, 1 failed, as when the browser cannot be started; 2 misuse; 3 disk full; 130 and 143
// interrupted.
//
// # Limitations
//
// Render is not deterministic: a page may show the date, draw numbers at random, or depend on how fast
// it is. Content that appears on scrolling or clicking, or later than half a second after the last
// request, is missing, and so are frames, shadow trees, and content that pages show to other browsers
// only. Queries of links are encoded in UTF-8, whatever charset the page had. The flag -rate of fetch
// does not apply. It does not run on Windows, where processes inherit no pipes.
package render

import (
	"context"
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

const manual = `
render - run the scripts of pages in a browser

Usage: render [-only-marked] -contact ADDRESS [-warc PREFIX] [FILE...] < pages
       render [-only-marked] -archive FILE [-archive FILE...] [FILE...] < pages

In:   pages with their body, as written by fetch, or by parse -keep-body
Out:  the same records in order; the body is the document after the scripts have run

HTML pages with a status of 200 to 299 are rendered in Chromium; with -only-marked only
those that parse has marked (needs_browser). All other records are passed on unchanged.
A page that could not be rendered keeps its body, and error_detail says why (error stays
empty). truncated is "time" if a page was not complete within -render-time.

Render stands after fetch:

    fetch | render | parse                                    renders every page
    fetch | parse -keep-body | render -only-marked | parse    renders those that need it

The browser never uses the network: its requests are answered by the code that fetch uses,
or refused. Only scripts, and what scripts request, are loaded, by GET, without asking
robots.txt again, and at -host-rate requests per second to each host. As in fetch, this
needs -contact, and -allow-private for loopback and private addresses. Images, frames,
workers, WebSockets, downloads, windows and other methods are refused. With -warc what is
requested is stored (not under the prefix of fetch); with -archive it comes from archives. A
navigation by a script is not followed, but becomes a link (meta refresh).

Chromium runs scripts in a sandbox, which needs another user than root. Where that is not
possible, as in most containers, -no-sandbox is needed.

Example:

    fetch -archive web -all | parse -keep-body | render -only-marked -archive web | parse

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130/143 interrupted.
`

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
	fs.Lookup("j").Usage = "use `n` browsers, each of which renders a page at a time"
	fs.Lookup("j").DefValue = "one for each processor, at most 4"
	fs.BoolVar(&c.onlyMarked, "only-marked", false, "render only pages that parse has marked with needs_browser")
	fs.StringVar(&c.browser.Program, "browser", c.browser.Program, "`program` of the browser: Chromium, or one based on it")
	fs.BoolVar(&c.browser.NoSandbox, "no-sandbox", false, "run scripts without the sandbox of Chromium, as root or in a container that does not allow it")
	fs.DurationVar(&c.browser.Time, "render-time", c.browser.Time, "maximum `time` for a page, after which it is taken as it is")
	fs.Var((*filter.Size)(&c.browser.Memory), "render-memory", "maximum memory of each browser in `bytes`, on Linux")
	fs.IntVar(&c.browser.Requests, "max-requests", c.browser.Requests, "maximum `number` of requests of a page")
	fs.Float64Var(&c.HostRate, "host-rate", 10, "after a burst of 30, at most `n` requests per second to each host and to each public IP address, by all browsers together; 0: no limit")
	fs.Var((*filter.Size)(&c.browser.Bytes), "max-loaded", "maximum size in `bytes` of all that a page requests")
	fs.Var((*filter.Size)(&c.MaxBody), "max-body", "cut documents, and refuse responses, at this many `bytes`")
	fs.Var((*filter.Strings)(&c.Archives), "archive", "answer from this `file` (WARC, ARC, WACZ), pattern or directory instead of the web; may be repeated")
	fs.StringVar(&c.ArchiveCache, "cache", filter.Cache(), "`directory` for indexes of archives")
	fs.StringVar(&c.WARC.Prefix, "warc", "", "store what is received in PREFIX-*.warc.gz; `prefix` may begin with a directory")
	fs.StringVar(&c.Contact, "contact", "", "`address` (mail or URL) by which site owners can reach you; needed for all but loopback, which needs -allow-private")
	fs.StringVar(&c.Agent, "agent", "spoor", "`name` of the crawler, in User-Agent")
	proxy := fs.String("proxy", "", "send requests through this proxy: `URL` with http, https, socks5 (names are resolved here) or socks5h (there), or a file that holds it, so that its password is not shown")
	fs.BoolVar(&c.Insecure, "insecure", false, "accept invalid certificates")
	fs.BoolVar(&c.AllowPrivate, "allow-private", false, "connect to loopback and private addresses too")
	fs.Func("allow-port", "request `port` although browsers block it, as they do 22 and 25; may be repeated", c.AllowPort)
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
