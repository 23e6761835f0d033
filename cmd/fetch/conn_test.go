package main

import (
	"bytes"
	"testing"
)

func TestInterimResponsesAreNoAnswer(t *testing.T) {
	for _, c := range []struct{ received, head, body string }{
		{"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "body\r\n\r\n"},
		{"HTTP/1.1 200 OK\nA: b\n\nbody", "HTTP/1.1 200 OK\nA: b\n\n", "body"},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\n\r\n", "HTTP/1.1 404 No\r\n\r\n", ""},
		{"HTTP/1.1 200 OK\r\nA: ", "HTTP/1.1 200 OK\r\nA: ", ""},
		{"", "", ""},
	} {
		head, body := (&tape{received: []byte(c.received)}).answer()
		if string(head) != c.head || string(body) != c.body {
			t.Errorf("%q: head %q, body %q", c.received, head, body)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 103 \r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\n\r\nbody"))
	f.Add([]byte("HTTP/1.1 100\n\n"))
	f.Fuzz(func(t *testing.T, received []byte) {
		head, body := (&tape{received: received}).answer()
		if !bytes.HasSuffix(received, append(bytes.Clone(head), body...)) {
			t.Errorf("head %q and body %q are not the end of %q", head, body, received)
		}
	})
}
