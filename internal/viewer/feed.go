package viewer

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"
)

// Intervals of a feed.
const (
	lookEvery    = time.Second      // between two looks at the files, at least
	keepAlive    = 20 * time.Second // between two events, at most: a proxy may close a silent connection
	writeTimeout = 10 * time.Second // of an event
	share        = 20               // between two looks pass so many times as long as the last one took
)

// A feed sends the same events to all who watch a crawl. One goroutine looks at the files, only while
// somebody watches.
type feed struct {
	look     func() []byte // returns the event for the present state of the files; nil if there is none
	places   chan struct{} // a token for each watcher of the server, and its capacity their maximum
	mu       sync.Mutex
	watchers map[chan []byte]bool
	event    []byte // the last one
	stop     context.CancelFunc
}

// join adds a watcher. Its channel holds the newest event that it has not received. The function leave,
// which removes it, is nil if the server has too many watchers.
func (f *feed) join() (events <-chan []byte, leave func()) {
	select {
	case f.places <- struct{}{}:
	default:
		return nil, nil
	}
	c := make(chan []byte, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.event != nil {
		c <- f.event
	}
	if f.watchers == nil {
		f.watchers = map[chan []byte]bool{}
	}
	f.watchers[c] = true
	if len(f.watchers) == 1 {
		var ctx context.Context
		ctx, f.stop = context.WithCancel(context.Background())
		go f.follow(ctx)
	}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers, c)
		if len(f.watchers) == 0 {
			f.stop()
			f.event = nil // it would be old for the next watcher
		}
		<-f.places
	}
}

// isWatched reports whether somebody watches.
func (f *feed) isWatched() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers) > 0
}

// follow sends an event whenever it has changed, until ctx ends.
func (f *feed) follow(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		f.send(ctx, f.look())
		select {
		case <-ctx.Done():
		case <-time.After(max(lookEvery, share*time.Since(begun))):
		}
	}
}

// send gives an event to all watchers, in place of one that they have not received.
func (f *feed) send(ctx context.Context, event []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil || event == nil || bytes.Equal(event, f.event) {
		return
	}
	f.event = event
	for c := range f.watchers {
		select {
		case <-c:
		default:
		}
		c <- event
	}
}

// ServeHTTP sends the events to a browser until the connection ends.
func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		return
	}
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(time.Time{}); err != nil { // that of the server is for requests
		return
	}
	events, leave := f.join()
	if leave == nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many watchers", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would collect events
	write := func(text []byte) bool {
		if connection.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
			return false
		}
		_, err := w.Write(text)
		return err == nil && connection.Flush() == nil
	}
	if !write([]byte("retry: 2000\n\n")) {
		return
	}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		text := []byte(":\n\n")
		select {
		case <-r.Context().Done():
			return
		case text = <-events:
			alive.Reset(keepAlive)
		case <-alive.C:
		}
		if !write(text) {
			return
		}
	}
}
