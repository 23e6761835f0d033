package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// maxWaiting bounds how many addresses are read ahead, so that hosts can take
// turns. Each may be of a host of its own, and waiting for one takes up to 20 KiB.
const maxWaiting = 1 << 13

// live asks the web.
func live(o *options) (err error) {
	log := filter.Logger(o.stream.Stderr, "fetch", o.stream.Log)
	defer o.limitHeap()()
	out, closeOut, err := filter.Tee(o.stream.Stdout, o.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()
	ctx, stop := signals()
	defer stop()
	release, err := o.holdState(ctx)
	if sig, ok := errors.AsType[interrupted](err); ok {
		return filter.Exit(sig.status, sig)
	}
	if err != nil {
		return err
	}
	defer release()
	var warc *archive.Writer
	if o.warc != "" {
		host, _ := os.Hostname()
		info := []archive.Field{
			{Name: "software", Value: "spoor/" + version},
			{Name: "robots", Value: "obey"},
			{Name: "http-header-user-agent", Value: o.userAgent()},
		}
		if o.contact != "" {
			info = append(info, archive.Field{Name: "operator", Value: o.contact})
		}
		w := archive.WriterOptions{Prefix: o.warc, Host: host, MaxSize: int64(o.warcSize), Digest: o.digest, Zstd: o.warcZstd, Level: o.warcLevel, Info: info}
		w.Cut = func(path string) {
			log.Warn("the end of a WARC file is torn that was closed whole: it is left as it is, and another begun", "archive", path, "hint", "warc repair -w mends it")
		}
		if len(o.dedup) > 0 {
			earlier, err := openEarlier(o, log)
			if err != nil {
				return err
			}
			defer earlier.Close()
			w.Known = func(url, digest string) (archive.Original, bool) { return original(earlier, url, digest) }
		}
		warc, err = archive.NewWriter(w)
		if err != nil {
			return fmt.Errorf("opening the WARC file: %w", err)
		}
		defer func() { err = errors.Join(err, warc.Close()) }()
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var archives *archive.Replay
	if o.first {
		archives, err = openArchives(o, log)
		if err != nil {
			return err
		}
		defer archives.Close()
	}
	tally := filter.NewTally(log)
	web := newFetcher(o, archives, warc)
	web.polite.Clamped = func(host string, asked, granted time.Duration) {
		log.Warn("a crawl-delay is longer than -max-delay", "host", host, "asked", asked, "granted", granted)
	}
	defer web.web.CloseIdleConnections()
	if err := web.loadState(log, time.Now()); err != nil {
		return err
	}
	c := &crawl{
		web: web, tally: tally, cancel: cancel,
		waiting: make(chan struct{}, maxWaiting), done: make(chan finished, o.workers),
		queues: map[string]*queue{},
	}
	c.width = 1
	if o.delay == 0 {
		c.width = o.workers
	}
	if o.sitemaps {
		c.sites = web.sitemaps()
		c.sites.loadState(o.state, log, time.Now())
	}
	err = errors.Join(hintProxy(c.run(ctx, o, out)), web.saveState(time.Now()))
	if o.sitemaps {
		err = errors.Join(err, c.sites.saveState(o.state, time.Now()))
	}
	tally.Close(c.notes()...)
	if sig, ok := errors.AsType[interrupted](context.Cause(ctx)); ok && err == nil {
		return filter.Exit(sig.status, sig)
	}
	strangers, guarded := web.strangers.Load(), web.guarded.Load()
	if n := strangers + guarded; err == nil && n > 0 && n == tally.Out-c.marks && !web.asked.Load() {
		return o.misuse(strangers > 0, guarded > 0)
	}
	if err == nil {
		err = tally.Misfit()
	}
	return err
}

// openEarlier opens the archives of -warc-dedup.
func openEarlier(o *options, log *slog.Logger) (*archive.Replay, error) {
	earlier := *o
	earlier.archives = o.dedup
	return openArchives(&earlier, log)
}

// original finds a capture in earlier archives that can be referred to.
func original(earlier *archive.Replay, url, digest string) (archive.Original, bool) {
	url, err := weburl.Canonical(url)
	if err != nil {
		return archive.Original{}, false
	}
	c, ok := earlier.Original(url, digest)
	return archive.Original{URL: c.URL, Date: c.Time()}, ok && !c.Time().IsZero()
}

// heapLimit is about what a run needs when every answer is as large as it may be. More
// than that is garbage, of which the heap would otherwise gather as much again.
const heapLimit = 200<<20 + filter.Headroom

// limitHeap has garbage collected before the heap is larger than it need be, until
// what it returns is called. It leaves a limit alone that is set from outside
// (GOMEMLIMIT).
func (o *options) limitHeap() (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if before != math.MaxInt64 {
		return func() {}
	}
	// Larger bodies than usual are there as received, decoded, and as JSON, in which
	// every byte may take six.
	larger := max(0, min(int64(o.maxBody), math.MaxInt64>>8)-archive.DefaultBody)
	debug.SetMemoryLimit(heapLimit + 8*maxHeavy*larger)
	return func() { debug.SetMemoryLimit(before) }
}

// signals is a context that the first SIGINT or SIGTERM ends. The second one
// then does what signals do.
func signals() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	// A reader of stdout that went away is an error of the write, not the end:
	// the state must be saved and the WARC file closed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		select {
		case sig := <-ch:
			signal.Stop(ch)
			if sig == syscall.SIGTERM {
				cancel(interrupted{"terminated", filter.StatusTerminated})
			} else {
				cancel(interrupted{"interrupted", filter.StatusInterrupted})
			}
		case <-ctx.Done():
			signal.Stop(ch)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// A crawl is one run over a stream of addresses. Each host has a queue with a
// goroutine of its own, so that hosts wait for their turn side by side; what
// goes on at the same time is bounded by the places of the web.
type crawl struct {
	web     *fetcher
	tally   *filter.Tally
	cancel  context.CancelCauseFunc
	waiting chan struct{} // holds one for each record between reader and writer
	done    chan finished
	width   int       // goroutines a queue: 1, or more where there is no politeness
	sites   *sitemaps // nil: sitemaps are not asked for

	mu      sync.Mutex
	queues  map[string]*queue
	errs    map[string]int64 // records by error; only the writer touches it
	further int64            // records that nobody gave an address for; the same
	marks   int64            // only the reader touches it
	wg      sync.WaitGroup
	owed    sync.WaitGroup // what the window that is being read still has to send to done
}

// queue is what waits for one host.
type queue struct {
	waiting []queued
	busy    int // goroutines at work
}

// queued is an address in its queue. Its goroutine may have begun in an earlier window,
// which is over.
type queued struct {
	ctx context.Context // of its window
	rec *wire.Record
	due time.Time
}

// finished is a record that can be written.
type finished struct {
	rec     *wire.Record
	leave   func()
	further bool // nobody gave an address for it
}

// run reads, fetches and writes until everything is done or ctx has ended and
// all that was read is handed back.
func (c *crawl) run(ctx context.Context, o *options, out io.Writer) error {
	read := make(chan error, 1)
	c.wg.Go(func() {
		read <- c.read(ctx, o)
	})
	go func() {
		c.wg.Wait()
		close(c.done)
	}()

	w := wire.NewWriter(out)
	c.errs = map[string]int64{}
	var err error
	for f := range c.done {
		if err == nil {
			if err = c.write(w, f); err != nil {
				c.cancel(err)
			}
		}
		f.leave()
		if f.further {
			c.further++
		} else {
			<-c.waiting
		}
	}
	if e := w.Flush(); err == nil && e != nil {
		err = fmt.Errorf("writing records: %w", e)
	}
	if err != nil {
		return err
	}
	if err := <-read; err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errDeadline) {
		if _, ok := errors.AsType[interrupted](cause); !ok {
			return cause
		}
	}
	return nil
}

func (c *crawl) write(w *wire.Writer, f finished) error {
	err := w.Write(f.rec)
	if errors.Is(err, wire.ErrTooLong) { // every byte of a body may take six
		f.rec.Drop(wire.Body)
		fail(f.rec, wire.ErrorTooLarge, err)
		err = w.Write(f.rec)
	}
	if err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	c.tally.Out++
	if f.rec.Error != "" {
		c.errs[f.rec.Error]++
	}
	if len(c.done) == 0 {
		runtime.Gosched() // who is about to be done goes in the same write
	}
	if len(c.done) == 0 { // nobody is waiting to be written: let the next stage have it
		if err := w.Flush(); err != nil {
			return fmt.Errorf("writing records: %w", err)
		}
	}
	return nil
}

// notes are what the closing line says of errors.
func (c *crawl) notes() []slog.Attr {
	var all []slog.Attr
	for _, code := range []string{
		wire.ErrorRobots, wire.ErrorDNS, wire.ErrorConnect, wire.ErrorTLS, wire.ErrorTimeout, wire.ErrorHTTP,
		wire.ErrorTooLarge, wire.ErrorBlockedAddress, wire.ErrorBadURL, wire.ErrorRedirectLoop,
		wire.ErrorUnsupportedType, wire.ErrorBudget,
	} {
		if n := c.errs[code]; n > 0 {
			all = append(all, slog.Int64("error_"+code, n))
		}
	}
	if c.sites != nil {
		all = append(all, slog.Int64("sitemaps", c.further))
	}
	if n := c.web.strangers.Load(); n > 0 {
		all = append(all, slog.Int64("strangers", n))
	}
	return all
}

// read puts addresses into the queues of their hosts. It returns early when ctx
// ends, even if reading does not: whoever writes may be waiting for us to end. But a
// window that has begun is read to its mark, so that what is handed back is whole.
//
// A mark waits for all that was read before it, and what comes behind it has a
// deadline of its own.
func (c *crawl) read(ctx context.Context, o *options) error {
	window, end := c.within(ctx, o.deadline)
	defer func() {
		c.owed.Wait()
		end()
	}()
	add := c.add
	if c.web.archives != nil {
		var end func()
		add, end = c.recall()
		defer end()
	}
	left := make(chan struct{})
	defer close(left)
	r := wire.NewReader(o.stream.Stdin, o.stream.Want)
	if o.stream.Limit > 0 {
		r.Limit = int(o.stream.Limit)
	}
	type line struct {
		rec *wire.Record
		err error
	}
	lines := make(chan line)
	go func() {
		defer close(lines)
		var rec wire.Record
		for {
			l := line{err: r.Read(&rec)}
			if l.err == nil {
				if rec.URL != "" {
					renew(&rec) // or an old body would be kept until its page's turn
				}
				l.rec = rec.Clone()
			}
			select {
			case lines <- l:
			case <-left:
				return
			}
			if _, bad := errors.AsType[*wire.SyntaxError](l.err); l.err != nil && !bad {
				return
			}
		}
	}()
	ended := window.Done()
	inside := false // a window whose mark is still to come
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				return nil
			}
			bad, isBad := errors.AsType[*wire.SyntaxError](l.err)
			switch {
			case l.err == nil:
			case isBad && !o.stream.Strict:
				c.tally.Bad(bad)
				continue
			case errors.Is(l.err, io.EOF):
				return nil
			default:
				err := fmt.Errorf("reading records: %w", l.err)
				c.cancel(err)
				return err
			}
			c.tally.Count()
			c.waiting <- struct{}{}
			if l.rec.IsMark() {
				c.owed.Wait()
				c.done <- finished{rec: l.rec, leave: func() {}}
				c.marks++
				end()
				if ctx.Err() != nil {
					return nil
				}
				window, end = ctx, func() {}
				ended, inside = ctx.Done(), false
				continue
			}
			if c.marks > 0 && !inside {
				inside = true
				window, end = c.within(ctx, o.deadline)
				ended = window.Done()
			}
			c.owed.Add(1)
			add(window, l.rec)
		case <-ended:
			if !readsOn(window) && !inside {
				return nil
			}
			ended = nil // what is still to come is read and handed back
		}
	}
}

// within is ctx with a deadline, if there is one.
func (c *crawl) within(ctx context.Context, deadline time.Duration) (context.Context, context.CancelFunc) {
	if deadline <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, deadline, errDeadline)
}

// recall is an add that answers what the archives of -archive-first hold at once,
// without a turn of the host, and adds the rest.
func (c *crawl) recall() (add func(context.Context, *wire.Record), end func()) {
	type work struct {
		ctx context.Context
		rec *wire.Record
	}
	todo := make(chan work)
	for range runtime.GOMAXPROCS(0) {
		c.wg.Go(func() {
			for w := range todo {
				if u, err := weburl.Parse(w.rec.URL); err == nil && w.ctx.Err() == nil && !c.isSitemap(w.rec) {
					if leave, _, ok := c.web.recall(w.ctx, w.rec, u, nil, w.rec.SetBody); ok {
						c.done <- finished{rec: w.rec, leave: leave}
						c.owed.Done()
						continue
					}
				}
				c.add(w.ctx, w.rec)
			}
		})
	}
	return func(ctx context.Context, rec *wire.Record) { todo <- work{ctx, rec} }, func() { close(todo) }
}

// add puts a record into the queue of its host.
func (c *crawl) add(ctx context.Context, rec *wire.Record) {
	if rec.URL == "" { // a query passes
		c.wg.Go(func() {
			c.done <- finished{rec: rec, leave: func() {}}
			c.owed.Done()
		})
		return
	}
	host := rec.URL
	if u, err := weburl.Parse(rec.URL); err == nil {
		host = u.Host()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[host]
	if q == nil {
		q = new(queue)
		c.queues[host] = q
	}
	q.enqueue(ctx, rec)
	if q.busy < c.width {
		q.busy++
		c.wg.Go(func() { c.serve(host, q) })
	}
}

// isSitemap tells whether an address is that of a sitemap, and to be read as one.
func (c *crawl) isSitemap(rec *wire.Record) bool { return c.sites != nil && rec.Operator == opSitemap }

// serve asks for what waits for one host, until nothing does.
func (c *crawl) serve(host string, q *queue) {
	for {
		c.mu.Lock()
		if len(q.waiting) == 0 {
			if q.busy--; q.busy == 0 {
				delete(c.queues, host)
			}
			c.mu.Unlock()
			return
		}
		first := q.waiting[0]
		ctx, rec := first.ctx, first.rec
		left, err := first.wait()
		if left > 0 {
			c.mu.Unlock()
			pause(ctx, left)
			continue
		}
		q.waiting[0] = queued{} // or the queue would keep what becomes of it, body and all
		q.waiting = q.waiting[1:]
		c.mu.Unlock()

		leave := free
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		emit := func(made *wire.Record, leave func()) {
			c.done <- finished{rec: made, leave: leave, further: made != rec}
		}
		page := wire.Record{URL: rec.URL, Generation: rec.Generation, Depth: rec.Depth}
		switch {
		case err != nil:
			begin(rec)
			fail(rec, wire.ErrorBudget, err)
			emit(rec, leave)
		case c.isSitemap(rec):
			if err := c.sites.again(ctx, rec, emit); err != nil {
				c.cancel(err)
			}
		default:
			if leave, err = c.web.fetch(ctx, rec); err != nil {
				// What was not archived was not fetched.
				c.cancel(err)
				begin(rec)
				fail(rec, wire.ErrorBudget, err)
			}
			page.StatusCode, page.Error = rec.StatusCode, rec.Error
			emit(rec, leave)
			if c.sites == nil {
				break
			}
			if err := c.sites.after(ctx, &page, time.Now(), emit); err != nil {
				c.cancel(err)
			}
		}
		c.owed.Done()
	}
}
