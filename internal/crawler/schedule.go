package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"spoor/internal/pace"
	"spoor/internal/web"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// maxInFlight is the maximum number of records that are read ahead, so that hosts can take
// turns. Each record may need a goroutine for its host, of up to 20 KiB.
const maxInFlight = 1 << 13

// A schedule distributes the records of a stream to hosts. Each host has a queue with its own
// goroutine, so that the pause of one host does not delay the others. The slots of the fetcher
// limit the number of concurrent requests.
type schedule struct {
	*Crawler
	cancel   context.CancelCauseFunc
	inFlight chan struct{} // has one element for each record that was read and not written yet
	done     chan result
	perHost  int // maximum number of goroutines per queue
	stats    Stats

	mu      sync.Mutex
	queues  map[string]*queue
	senders sync.WaitGroup // goroutines that send to done
	window  sync.WaitGroup // records of the current window that have not been sent to done
}

type result struct {
	rec     *wire.Record
	release func() // called when it has been written
	added   bool   // the record is of a sitemap and was not in the input
}

// schedule reads, fetches and writes records until all are done. If ctx ends earlier, it writes
// the records that it has read.
func (c *Crawler) schedule(ctx context.Context, in *wire.Reader, out *wire.Writer) (Stats, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &schedule{
		Crawler: c, cancel: cancel,
		inFlight: make(chan struct{}, maxInFlight), done: make(chan result, c.Workers),
		perHost: 1, queues: map[string]*queue{},
	}
	s.stats.Errors = map[string]int64{}
	if c.Delay == 0 {
		s.perHost = c.Workers
	}
	var readErr error
	s.senders.Go(func() { readErr = s.read(ctx, in) })
	go func() {
		s.senders.Wait()
		close(s.done)
	}()
	var err error
	for r := range s.done {
		if err == nil {
			if err = s.write(out, r); err != nil {
				cancel(err)
			}
		}
		r.release()
		if !r.added {
			<-s.inFlight
		}
	}
	if e := out.Flush(); err == nil && e != nil {
		err = fmt.Errorf("writing records: %w", e)
	}
	if err == nil {
		err = readErr
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return s.stats, err
}

func (s *schedule) write(w *wire.Writer, r result) error {
	// JSON may need six bytes for each byte of the body.
	if err := w.WriteOrFail(r.rec, "the record is longer than a line may be"); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	s.stats.Out++
	if r.rec.Error != "" {
		s.stats.Errors[r.rec.Error]++
	}
	if r.added {
		s.stats.Sitemaps++
	}
	if len(s.done) == 0 {
		runtime.Gosched() // a result that is almost ready can share the flush
	}
	if len(s.done) == 0 {
		if err := w.Flush(); err != nil {
			return fmt.Errorf("writing records: %w", err)
		}
	}
	return nil
}

// read reads records and adds them to the queues of their hosts. When ctx ends, it returns even
// if a read is blocked, because the process that writes the input may wait for this process to end. But
// a window that has begun is read up to its mark, so that each of its records is written, fetched or not.
//
// A mark is written when all records before it are done. Each window has its own deadline.
func (s *schedule) read(ctx context.Context, in *wire.Reader) error {
	window, end := s.withDeadline(ctx)
	defer func() {
		s.window.Wait()
		end()
	}()
	add := s.enqueue
	if s.fetcher.archives != nil {
		var stop func()
		add, stop = s.archiveFirst()
		defer stop()
	}
	stop := make(chan struct{})
	defer close(stop)
	lines := readLines(in, stop)
	ended := window.Done()
	inside := false // whether a window is open; false before the first mark
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				return nil
			}
			malformed, isMalformed := errors.AsType[*wire.SyntaxError](l.err)
			switch {
			case l.err == nil:
			case isMalformed && s.Malformed != nil:
				s.Malformed(malformed)
				continue
			case errors.Is(l.err, io.EOF):
				return nil
			default:
				s.cancel(l.err)
				return l.err
			}
			s.stats.In++
			s.inFlight <- struct{}{}
			if l.rec.IsMark() {
				s.window.Wait()
				s.done <- result{rec: l.rec, release: noRelease}
				s.stats.Marks++
				end()
				if ctx.Err() != nil {
					return nil
				}
				window, end = ctx, func() {}
				ended, inside = ctx.Done(), false
				continue
			}
			if s.stats.Marks > 0 && !inside {
				inside = true
				window, end = s.withDeadline(ctx)
				ended = window.Done()
			}
			s.window.Add(1)
			add(window, l.rec)
		case <-ended:
			if !inside && !readsOn(window) {
				return nil
			}
			ended = nil
		}
	}
}

// readsOn reports whether the remaining input must be read and returned unfetched, although ctx
// has ended.
func readsOn(ctx context.Context) bool {
	cause := context.Cause(ctx)
	_, proxy := errors.AsType[*web.ProxyError](cause)
	return proxy || cause == errDeadline
}

type line struct {
	rec *wire.Record
	err error
}

// readLines reads records on a goroutine, until the input ends or stop is closed.
func readLines(in *wire.Reader, stop <-chan struct{}) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		var rec wire.Record
		for {
			l := line{err: in.Read(&rec)}
			if l.err == nil {
				if rec.URL != "" {
					renew(&rec) // otherwise an old body would stay in memory until the page is fetched
				}
				l.rec = rec.Clone()
			}
			select {
			case lines <- l:
			case <-stop:
				return
			}
			if _, malformed := errors.AsType[*wire.SyntaxError](l.err); l.err != nil && !malformed {
				return
			}
		}
	}()
	return lines
}

// withDeadline returns ctx with the deadline of a window that begins now.
func (s *schedule) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.Deadline <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, s.Deadline, errDeadline)
}

// archiveFirst returns a function add in place of enqueue. add looks records up in the archives
// at once, without waiting for their host, and enqueues those that the archives do not hold.
func (s *schedule) archiveFirst() (add func(context.Context, *wire.Record), stop func()) {
	type work struct {
		ctx context.Context
		rec *wire.Record
	}
	todo := make(chan work)
	for range runtime.GOMAXPROCS(0) {
		s.senders.Go(func() {
			for w := range todo {
				if u, err := weburl.Parse(w.rec.URL); err == nil && w.ctx.Err() == nil && !s.isSitemap(w.rec) {
					if release, _, ok := s.fetcher.fromArchives(w.ctx, w.rec, u, nil, w.rec.SetBody); ok {
						s.done <- result{rec: w.rec, release: release}
						s.window.Done()
						continue
					}
				}
				s.enqueue(w.ctx, w.rec)
			}
		})
	}
	return func(ctx context.Context, rec *wire.Record) { todo <- work{ctx, rec} }, func() { close(todo) }
}

// isSitemap reports whether the address of rec must be processed as a sitemap.
func (s *schedule) isSitemap(rec *wire.Record) bool {
	return s.sitemaps != nil && rec.Operator == sitemapOperator
}

// enqueue adds a record to the queue of its host. A query is returned at once.
func (s *schedule) enqueue(ctx context.Context, rec *wire.Record) {
	if rec.URL == "" { // a query, which is passed on
		s.senders.Go(func() {
			s.done <- result{rec: rec, release: noRelease}
			s.window.Done()
		})
		return
	}
	host := rec.URL
	if u, err := weburl.Parse(rec.URL); err == nil {
		host = u.Host()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[host]
	if q == nil {
		q = new(queue)
		s.queues[host] = q
	}
	q.push(ctx, rec)
	if q.workers < s.perHost {
		q.workers++
		s.senders.Go(func() { s.serve(host, q) })
	}
}

// serve fetches the addresses in the queue of a host until the queue is empty.
func (s *schedule) serve(host string, q *queue) {
	for {
		s.mu.Lock()
		if len(q.items) == 0 {
			if q.workers--; q.workers == 0 {
				delete(s.queues, host)
			}
			s.mu.Unlock()
			return
		}
		wait, err := q.items[0].wait()
		if wait > 0 {
			ctx := q.items[0].ctx
			s.mu.Unlock()
			pace.Sleep(ctx, min(wait, time.Second)) // an address that is due earlier may be added in the meantime
			continue
		}
		next := q.pop()
		s.mu.Unlock()
		if next.ctx.Err() != nil {
			err = context.Cause(next.ctx)
		}
		s.process(next.ctx, next.rec, err)
		s.window.Done()
	}
}

// process fetches the address of rec, and the sitemaps of its origin if they are due. If
// unfetched is not nil, process fetches nothing, and unfetched becomes the outcome of rec.
func (s *schedule) process(ctx context.Context, rec *wire.Record, unfetched error) {
	emit := func(made *wire.Record, release func()) {
		s.done <- result{rec: made, release: release, added: made != rec}
	}
	switch {
	case unfetched != nil:
		failUnfetched(rec, unfetched)
		emit(rec, noRelease)
	case s.isSitemap(rec):
		if err := s.sitemaps.fetchReturned(ctx, rec, emit); err != nil {
			s.cancel(err)
		}
	default:
		page := wire.Record{URL: rec.URL, Generation: rec.Generation, Depth: rec.Depth}
		release, err := s.fetcher.fetch(ctx, rec, rec.SetBody)
		if err != nil { // the WARC file could not be written, or the proxy failed
			s.cancel(err)
			failUnfetched(rec, err)
		}
		page.StatusCode, page.Error = rec.StatusCode, rec.Error
		emit(rec, release)
		if s.sitemaps == nil {
			return
		}
		if err := s.sitemaps.fetchOf(ctx, &page, time.Now(), emit); err != nil {
			s.cancel(err)
		}
	}
}
