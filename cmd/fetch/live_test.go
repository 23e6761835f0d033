package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// lines gives n lines, each made when it is read, and then tells so.
type lines struct {
	n, i int
	line func(i int) string
	rest string
	done func()
}

func (l *lines) Read(p []byte) (int, error) {
	if l.rest == "" {
		if l.i == l.n {
			l.done()
			return 0, io.EOF
		}
		l.rest = l.line(l.i)
		l.i++
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func TestWhatWaitsTakesNoMemoryForOldBodies(t *testing.T) {
	const number, size = 400, 200 << 10
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	read := make(chan struct{})
	var once sync.Once
	var before, after uint64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { // everything waits behind robots.txt
			<-read
			after = heap()
		})
	}))
	defer server.Close()
	body := strings.Repeat("old ", size/4)
	in := &lines{n: number, done: func() { close(read) }, line: func(i int) string {
		return fmt.Sprintf(`{"url":"%s/%d","mine":%d,"status_code":200,"body":"%s","text":"%[4]s"}`+"\n", server.URL, i, i, body)
	}}
	before = heap()
	var out strings.Builder
	if err := run(loopback, in, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if grown := int64(after) - int64(before); grown > 16<<20 {
		t.Errorf("%d addresses that wait take %d bytes", number, grown)
	}
	if n := strings.Count(out.String(), `"mine":`); n != number || strings.Contains(out.String(), "old ") {
		t.Errorf("%d of %d records", n, number)
	}
}
