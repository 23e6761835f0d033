// Package browser renders pages in Chromium, which never uses the network.
//
// A [Browser] is a process of Chromium in a process group of its own, controlled by the Chrome
// DevTools Protocol over a pair of pipes, so that Chromium listens on no port. A Browser renders one
// page at a time, each in a new browser context, so that pages share no state. Every request of a page
// is intercepted and answered by the [Loader] of the caller, or refused. Some connections cannot be
// intercepted (WebSockets, workers, Chromium's own services). They fail, because Chromium is configured
// to resolve no name, and its only proxy has an invalid name.
//
// No other package uses the protocol. This package implements only the methods that it needs.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"spoor/internal/procgroup"
)

// A Loader answers a request of a page. It is called from several goroutines.
type Loader func(ctx context.Context, r *Request) (*Response, error)

// Options configure a [Browser]. All but NoSandbox are required.
type Options struct {
	Program   string        // Chromium, or a browser based on it
	NoSandbox bool          // run renderer processes without the sandbox of Chromium
	Load      Loader        // answers the requests of pages
	Time      time.Duration // maximum time to load one page
	Memory    int64         // maximum memory of the browser in bytes; measured on Linux only
	Requests  int           // maximum number of requests of one page
	Bytes     int64         // maximum total size of the responses for one page
	DOM       int64         // maximum length of the HTML of a page in bytes; longer HTML is truncated
}

const (
	startTime  = 30 * time.Second       // timeout for starting the browser, and for opening an empty page
	grace      = 10 * time.Second       // timeout for reading the HTML of a page
	idleTime   = 500 * time.Millisecond // a page is complete when it has had no requests for this time
	lateTime   = time.Second            // maximum wait for the load event of a page that was interrupted
	stuckTime  = 3 * time.Second        // requests that the browser has not ended after this time are ignored
	maxPending = 10_000                 // maximum number of pending requests that are tracked
	pollTime   = 50 * time.Millisecond  // interval between checks whether a page is complete
	memoryTime = 100 * time.Millisecond // interval between measurements of the memory
	concurrent = 6                      // maximum number of concurrent requests of a page
	maxTries   = 3                      // maximum number of attempts to start the browser
	maxStderr  = 16 << 10               // bytes of stderr that are kept
	maxProfile = 60                     // maximum length of the path of the profile; Chromium creates a socket in it, and crashes if the path is longer
)

// ErrSandbox is returned by [Start] if the system does not let Chromium confine its renderers.
var ErrSandbox = errors.New("the sandbox of Chromium cannot be used here")

// A PageError is returned when a page could not be rendered, because of the page or by chance.
type PageError struct{ Err error }

func (e *PageError) Error() string { return e.Err.Error() }
func (e *PageError) Unwrap() error { return e.Err }

var (
	errStart  = errors.New("the browser ended")
	errCrash  = errors.New("the browser crashed")
	errHang   = errors.New("a script did not end")
	errSlow   = errors.New("the browser does not respond")
	errMemory = errors.New("the page needs too much memory")
)

// A Browser is a process of Chromium. When Render returns an error, the caller must close the
// Browser. It is not safe for concurrent use.
type Browser struct {
	Options
	conn    *conn
	cmd     *exec.Cmd
	in, out *os.File
	profile string // temporary directory
	stderr  *stderrBuffer
	ended   chan struct{} // closed when the process has ended
	err     error         // result of cmd.Wait, valid once ended is closed

	mu    sync.Mutex
	tab   *tab  // the page that is being rendered, or nil
	cause error // why the browser was killed
}

// Start starts a browser. If the browser ends while it starts, which is rare, Start tries again.
func Start(ctx context.Context, o Options) (*Browser, error) {
	if os.Geteuid() == 0 && !o.NoSandbox {
		return nil, fmt.Errorf("%w: it never works for root", ErrSandbox)
	}
	for tries := 1; ; tries++ {
		b, err := start(ctx, o)
		if tries == maxTries || !errors.Is(err, errStart) || ctx.Err() != nil {
			return b, err
		}
	}
}

func start(ctx context.Context, o Options) (_ *Browser, err error) {
	b := &Browser{Options: o, stderr: new(stderrBuffer), ended: make(chan struct{})}
	if b.profile, err = os.MkdirTemp("", "spoor-browser-"); err != nil {
		return nil, err
	}
	if n := len(b.profile); n > maxProfile {
		err = fmt.Errorf("the path of its profile directory, %s, is longer than %d bytes (hint: set TMPDIR to /tmp)", b.profile, maxProfile)
	}
	if err == nil {
		err = b.start()
	}
	if err != nil {
		os.RemoveAll(b.profile)
		return nil, fmt.Errorf("starting %s: %w", o.Program, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := b.conn.call(ctx, "", "Target.setDiscoverTargets", map[string]any{"discover": true}, nil); err != nil {
		b.Close()
		stderr := b.stderr.String()
		if strings.Contains(stderr, "--no-sandbox") || strings.Contains(stderr, "No usable sandbox") {
			return nil, ErrSandbox
		}
		return nil, fmt.Errorf("starting %s: %w: %v\n%s", o.Program, errStart, err, stderr) // %v, not %w: callers treat EPIPE as a broken stdout
	}
	return b, nil
}

func (b *Browser) start() error {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return err
	}
	defer theirOut.Close()
	b.in, b.out = in, out
	b.cmd = exec.Command(b.Program, b.flags()...)
	b.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	b.cmd.Stderr = b.stderr
	b.cmd.WaitDelay = time.Second // a process that left the group could keep stderr open
	b.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.profile, "TMPDIR=" + b.profile, "LANG=C.UTF-8"}
	b.cmd.Dir = b.profile
	procgroup.Lead(b.cmd, syscall.SIGKILL)
	if err := b.cmd.Start(); err != nil {
		in.Close()
		out.Close()
		return err
	}
	b.conn = newConn(in, b.receive)
	go b.conn.read(out, int(6*b.DOM)+1<<20) // JSON may need six bytes for each byte
	go func() {
		b.err = b.cmd.Wait()
		close(b.ended)
	}()
	return nil
}

// flags returns the arguments of Chromium.
func (b *Browser) flags() []string {
	flags := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + b.profile,
		// No network: no name or address resolves, not even the name of the proxy.
		"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://proxy.invalid:1", "--proxy-bypass-list=<-loopback>",
		"--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--dns-prefetch-disable", "--no-pings",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-domain-reliability",
		"--disable-client-side-phishing-detection", "--disable-extensions", "--disable-default-apps", "--no-first-run",
		"--no-default-browser-check", "--metrics-recording-only", "--disable-breakpad", "--disable-crash-reporter",
		"--password-store=basic", "--use-mock-keychain", "--mute-audio", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,Translate,AcceptCHFrame,WebTransport,LocalNetworkAccessChecks",
		"--blink-settings=imagesEnabled=false", "--window-size=1280,1024",
		fmt.Sprintf("--js-flags=--max-old-space-size=%d", max(64, b.Memory>>20)),
	}
	if b.NoSandbox {
		flags = append(flags, "--no-sandbox")
	}
	return append(flags, "about:blank")
}

// kill ends the browser at once, and stores cause unless a cause is stored already.
func (b *Browser) kill(cause error) {
	b.mu.Lock()
	if b.cause == nil {
		b.cause = cause
	}
	b.mu.Unlock()
	procgroup.Kill(b.cmd)
	_ = b.cmd.Process.Kill() // where there are no process groups
}

// Close kills the browser and removes its profile.
func (b *Browser) Close() error {
	b.kill(os.ErrClosed)
	<-b.ended
	b.in.Close()
	b.out.Close()
	var err error
	for range 500 { // other processes of the group may still be ending, and write to the profile
		if err = os.RemoveAll(b.profile); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// A Page is a page to be rendered.
type Page struct {
	URL        string // after redirects
	StatusCode int
	Header     http.Header
	Body       []byte // decoded
}

// A Rendered is a page after its scripts have run.
type Rendered struct {
	HTML      []byte // in UTF-8
	Truncated string // "time" or "length" as in a record, or ""
	Refused   int    // number of requests that were refused because of Requests or Bytes
}

// Render loads a page, runs its scripts until there was no pending request for half a second or
// Options.Time has passed, and returns the document as HTML. It does not follow a navigation by a
// script, but appends a meta refresh element with its target to the document.
//
// The error is a *[PageError], unless ctx has ended.
func (b *Browser) Render(ctx context.Context, page *Page) (*Rendered, error) {
	outer := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, startTime+b.Time+2*grace, errSlow) // for a browser that does not even read its input
	defer cancel()
	t := &tab{
		b: b, page: page, loaded: make(chan struct{}), crashed: make(chan struct{}), slots: make(chan struct{}, concurrent),
		budget: budget{requests: b.Requests, bytes: b.Bytes, last: time.Now()}, pending: map[string]time.Time{}, changed: time.Now(),
	}
	t.ctx, t.cancel = context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { b.kill(context.Cause(ctx)) })()
	defer t.stopAnswers()
	defer b.watchMemory()()
	r, err := t.render(ctx)
	b.setTab(nil)
	if err == nil {
		return r, nil
	}
	if outer.Err() != nil {
		return nil, context.Cause(outer)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != nil {
		return nil, &PageError{b.cause}
	}
	if closed := b.conn.closed(); closed != nil && !errors.Is(closed, errMessage) {
		return nil, &PageError{errCrash}
	}
	return nil, &PageError{err}
}

// watchMemory starts a goroutine that kills the browser if it uses too much memory. stop ends the
// goroutine.
func (b *Browser) watchMemory() (stop func()) {
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		tick := time.NewTicker(memoryTime)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if groupMemory(b.cmd.Process.Pid) > b.Memory {
				b.kill(errMemory)
				return
			}
		}
	})
	return func() {
		close(done)
		watcher.Wait()
	}
}

// setTab sets the tab that receives events.
func (b *Browser) setTab(t *tab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tab = t
}

// receive passes an event to the current tab.
func (b *Browser) receive(e *event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tab != nil {
		b.tab.receive(e)
	}
}

// A stderrBuffer is a writer that keeps the first maxStderr bytes that are written to it.
type stderrBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *stderrBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.Write(p[:min(len(p), maxStderr-t.b.Len())])
	return len(p), nil
}

func (t *stderrBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// A tab is a page that is being rendered.
type tab struct {
	b      *Browser
	page   *Page
	budget budget
	slots  chan struct{} // limits the number of concurrent requests

	ctx     context.Context // ends the answers to requests
	cancel  context.CancelFunc
	answers sync.WaitGroup // goroutines that answer requests or call methods
	asks    sync.Once
	end     time.Time // when the time of the page is over, at the latest; set at the first request

	context, target, session, frame string // identifiers of the protocol

	// These are set by receive, which holds the mutex of the browser.
	navigated       bool
	loaded, crashed chan struct{}
	isLoaded        bool
	isCrashed       bool
	pending         map[string]time.Time // start times of the requests that Chromium has not reported as ended
	changed         time.Time            // time of the last event that started or ended a request

	mu        sync.Mutex
	navTarget string // target of the last navigation by a script, "" if there was none
}

// render renders the page.
func (t *tab) render(ctx context.Context) (*Rendered, error) {
	opening, cancel := context.WithTimeoutCause(ctx, startTime, errSlow)
	defer cancel()
	if err := t.open(opening); err != nil {
		return nil, err
	}
	r := new(Rendered)
	loading, cancel := context.WithTimeout(ctx, t.b.Time)
	defer cancel()
	if err := t.settle(loading, r); err != nil {
		return nil, err
	}
	t.cancel() // pending requests fail
	ctx, cancel = context.WithTimeoutCause(ctx, grace, errHang)
	defer cancel()
	if r.Truncated != "" {
		_ = t.call(ctx, "Runtime.terminateExecution", nil, nil) // a script could run forever
		select {
		case <-t.loaded: // the parser, which may have waited for a script, has reached the end of the page
		case <-time.After(lateTime):
		case <-ctx.Done():
		}
	}
	if err := t.read(ctx, r); err != nil {
		return nil, err
	}
	if err := t.dispose(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.navTarget != "" && r.Truncated != "length" {
		r.HTML = fmt.Appendf(r.HTML, "\n<meta http-equiv=\"refresh\" content=\"0; url=%s\">", html.EscapeString(t.navTarget))
	}
	r.Refused = t.budget.refused
	return r, nil
}

// call calls a method in the session of the page.
func (t *tab) call(ctx context.Context, method string, params, result any) error {
	if params == nil {
		params = struct{}{}
	}
	return t.b.conn.call(ctx, t.session, method, params, result)
}

// open opens an empty page in a new browser context, and intercepts its requests.
func (t *tab) open(ctx context.Context) error {
	type object = map[string]any
	c := t.b.conn
	var made struct{ BrowserContextID string }
	if err := c.call(ctx, "", "Target.createBrowserContext", object{"disposeOnDetach": true}, &made); err != nil {
		return err
	}
	t.context = made.BrowserContextID
	if err := c.call(ctx, "", "Browser.setDownloadBehavior", object{"behavior": "deny", "browserContextId": t.context}, nil); err != nil {
		return err
	}
	var target struct{ TargetID string }
	if err := c.call(ctx, "", "Target.createTarget", object{"url": "about:blank", "browserContextId": t.context}, &target); err != nil {
		return err
	}
	t.target, t.frame = target.TargetID, target.TargetID // the main frame has the identifier of its page
	t.b.setTab(t)
	var attached struct{ SessionID string }
	if err := c.call(ctx, "", "Target.attachToTarget", object{"targetId": t.target, "flatten": true}, &attached); err != nil {
		return err
	}
	t.b.mu.Lock()
	t.session = attached.SessionID
	t.b.mu.Unlock()
	for _, m := range []struct {
		method string
		params object
	}{
		// Workers, and frames with a process of their own, wait for a debugger that never starts them.
		{"Target.setAutoAttach", object{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}},
		{"Inspector.enable", object{}},
		{"Network.enable", object{"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}},
		{"Page.enable", object{}},
		{"Page.addScriptToEvaluateOnNewDocument", object{"source": withoutNetwork, "runImmediately": true}},
		{"Fetch.enable", object{"patterns": []object{{"urlPattern": "*", "requestStage": "Request"}}}},
	} {
		if err := t.call(ctx, m.method, m.params, nil); err != nil {
			return err
		}
	}
	return nil
}

// withoutNetwork is a script that removes interfaces that use the network in ways that Fetch.enable does not intercept, and
// disables new windows and the print dialog.
const withoutNetwork = `for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport", "SharedWorker"])
	delete globalThis[name];
delete Navigator.prototype.serviceWorker;
delete Navigator.prototype.sendBeacon;
globalThis.open = () => null;
globalThis.print = () => {};`

// navigate opens the page.
func (t *tab) navigate(ctx context.Context) error {
	var result struct{ ErrorText string }
	err := t.call(ctx, "Page.navigate", map[string]string{"url": t.page.URL}, &result)
	if err == nil && result.ErrorText != "" && result.ErrorText != "net::ERR_ABORTED" {
		err = fmt.Errorf("opening the page: %s", result.ErrorText)
	}
	return err
}

// settle opens the page and waits until the page is complete. If ctx ends first, settle sets
// r.Truncated.
func (t *tab) settle(ctx context.Context, r *Rendered) error {
	navigation, quiet := make(chan error, 1), make(chan error, 1)
	go func() { navigation <- t.navigate(ctx) }()
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	loaded, asking := t.loaded, false
	for {
		select {
		case err := <-navigation:
			if err != nil && ctx.Err() == nil {
				return err
			}
		case <-t.crashed:
			return errCrash
		case <-t.b.ended:
			return errCrash
		case <-loaded:
			loaded = nil
		case <-ctx.Done():
			r.Truncated = "time"
			return nil
		case err := <-quiet:
			if asking = false; err == nil && t.isQuiet() {
				return nil
			}
		case <-tick.C:
			if loaded == nil && t.isQuiet() && !asking {
				asking = true
				go func() { quiet <- t.runTasks(ctx) }()
			}
		}
	}
}

// isQuiet reports whether there was no pending request for idleTime. It checks both the
// budget and the events of Chromium, because on a busy machine Chromium handles an answer late.
func (t *tab) isQuiet() bool {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	for _, started := range t.pending {
		if time.Since(started) < stuckTime {
			return false
		}
	}
	return t.budget.idle() >= idleTime && time.Since(t.changed) >= idleTime
}

// runTasks waits until the page has run the tasks that were queued: on a busy machine, a task that sends
// a request may not have run yet.
func (t *tab) runTasks(ctx context.Context) error {
	return t.call(ctx, "Runtime.evaluate", map[string]any{"expression": "new Promise(done => setTimeout(done))", "awaitPromise": true}, nil)
}

// read reads the document from an isolated world, whose objects the scripts of the page cannot change.
func (t *tab) read(ctx context.Context, r *Rendered) error {
	var world struct{ ExecutionContextID int }
	if err := t.call(ctx, "Page.createIsolatedWorld", map[string]string{"frameId": t.frame}, &world); err != nil {
		return err
	}
	expression := fmt.Sprintf(`(max => {
		const type = document.doctype, root = document.documentElement, shadowRoots = [];
		let left = 100000; // elements that are searched: a page can have millions
		const find = node => {
			const walker = document.createTreeWalker(node, NodeFilter.SHOW_ELEMENT);
			for (let e = walker.nextNode(); e && left-- > 0; e = walker.nextNode()) {
				if (e.shadowRoot) { shadowRoots.push(e.shadowRoot); find(e.shadowRoot); }
			}
		};
		find(document);
		const tags = root ? root.cloneNode(false).outerHTML.split(/(?=<\/html>$)/i) : [];
		const all = !root ? "" : !shadowRoots.length ? root.outerHTML : tags[0] + root.getHTML({ shadowRoots, serializableShadowRoots: true }) + (tags[1] ?? "");
		const html = (type ? new XMLSerializer().serializeToString(type) + "\n" : "") + all;
		return { html: html.slice(0, max).toWellFormed(), more: html.length > max };
	})(%d)`, t.b.DOM)
	var answer struct {
		Result struct {
			Value struct {
				HTML string
				More bool
			}
		}
		ExceptionDetails json.RawMessage
	}
	err := t.call(ctx, "Runtime.evaluate", map[string]any{
		"expression": expression, "contextId": world.ExecutionContextID, "returnByValue": true,
		"timeout": grace.Milliseconds(),
	}, &answer)
	if err != nil {
		return err
	}
	if answer.ExceptionDetails != nil {
		return errors.New("the document could not be read")
	}
	v := answer.Result.Value
	r.HTML = []byte(v.HTML)
	if v.More || int64(len(r.HTML)) > t.b.DOM {
		r.HTML, r.Truncated = cut(r.HTML, t.b.DOM), "length"
	}
	return nil
}

// cut returns the first n bytes of text, or slightly fewer so as not to split a character.
func cut(text []byte, n int64) []byte {
	if int64(len(text)) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// dispose closes the page and its browser context.
func (t *tab) dispose(ctx context.Context) error {
	return t.b.conn.call(ctx, "", "Target.disposeBrowserContext", map[string]string{"browserContextId": t.context}, nil)
}

// stopAnswers cancels the answers to requests and waits until their goroutines have ended.
func (t *tab) stopAnswers() {
	t.cancel()
	t.answers.Wait()
}

// do calls a method without waiting for the result, because event handlers must not block.
func (t *tab) do(session, method string, params any) {
	t.answers.Go(func() {
		_, _ = t.b.conn.send(session, method, params, nil) // the browser may have ended
	})
}

// receive handles an event of the page, or of the browser.
func (t *tab) receive(e *event) {
	switch e.Method {
	case "Target.targetCreated":
		created, ok := decode[struct {
			TargetInfo struct{ TargetID, Type, BrowserContextID string }
		}](e)
		if info := created.TargetInfo; ok && info.Type == "page" && info.BrowserContextID == t.context && info.TargetID != t.target {
			t.do("", "Target.closeTarget", map[string]string{"targetId": info.TargetID})
		}
		return
	}
	if e.SessionID != t.session || t.session == "" {
		return
	}
	switch e.Method {
	case "Page.loadEventFired":
		if t.navigated { // the first load event belongs to about:blank
			t.setLoaded()
		}
	case "Network.requestWillBeSent", "Network.loadingFinished", "Network.loadingFailed":
		if r, ok := decode[struct{ RequestID string }](e); ok {
			t.changed = time.Now()
			if e.Method != "Network.requestWillBeSent" {
				delete(t.pending, r.RequestID)
			} else if len(t.pending) < maxPending {
				t.pending[r.RequestID] = t.changed
			}
		}
	case "Page.javascriptDialogOpening":
		t.do(t.session, "Page.handleJavaScriptDialog", map[string]bool{"accept": false})
	case "Inspector.targetCrashed":
		if !t.isCrashed {
			t.isCrashed = true
			close(t.crashed)
		}
	case "Fetch.requestPaused":
		if p, ok := decode[*paused](e); ok {
			t.handle(p)
		}
	}
}

// setLoaded records that the page has loaded.
func (t *tab) setLoaded() {
	if !t.isLoaded {
		t.isLoaded = true
		close(t.loaded)
	}
}

// handle answers a request, or refuses it.
func (t *tab) handle(p *paused) {
	answer := func(r *Response) { t.do(t.session, "Fetch.fulfillRequest", fulfilment(p, r)) }
	switch decide(p, t.frame, t.navigated) {
	case document:
		t.navigated = true
		answer(&Response{t.page.StatusCode, t.page.Header, t.page.Body})
	case blockNavigation:
		t.mu.Lock()
		if p.Request.URL != t.page.URL && p.Request.Method == http.MethodGet {
			t.navTarget = p.Request.URL
		}
		t.mu.Unlock()
		t.do(t.session, "Fetch.failRequest", failure(p, "Aborted"))
		t.setLoaded() // a navigation during loading prevents the load event
	case emptyStyle:
		answer(&Response{http.StatusOK, http.Header{"Content-Type": {"text/css"}, "Access-Control-Allow-Origin": {"*"}}, nil})
	case preflight:
		answer(permission(p))
	case load:
		if !t.budget.take() {
			t.do(t.session, "Fetch.failRequest", failure(p, "BlockedByClient"))
			return
		}
		t.budget.begin()
		t.answers.Go(func() { t.load(p) })
	default:
		t.do(t.session, "Fetch.failRequest", failure(p, "BlockedByClient"))
	}
}

// load answers a request with the response of the Loader.
func (t *tab) load(p *paused) {
	defer t.budget.end()
	fail := func(reason string) { _, _ = t.b.conn.send(t.session, "Fetch.failRequest", failure(p, reason), nil) }
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-t.ctx.Done():
		fail("Aborted")
		return
	}
	t.asks.Do(func() { t.end = time.Now().Add(t.b.Time) })
	ctx, cancel := context.WithDeadline(t.ctx, t.end) // a Loader can tell which requests would come too late
	defer cancel()
	r, err := t.b.Load(ctx, &Request{
		URL: p.Request.URL, Page: t.page.URL, Script: p.ResourceType == "Script", Header: requestHeader(p.Request.Headers),
	})
	switch {
	case err != nil:
		fail("Failed")
	case !t.budget.spend(len(r.Body)):
		fail("BlockedByClient")
	default:
		_, _ = t.b.conn.send(t.session, "Fetch.fulfillRequest", fulfilment(p, r), nil)
	}
}
