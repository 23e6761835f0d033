package main

import (
	"bytes"
	"testing"
	"time"
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

func TestOnlyLoopbackIsConnectedToAnonymously(t *testing.T) {
	anonymous := newDialer(&options{private: true, delay: time.Second})
	hasty := newDialer(&options{private: true, contact: "me@example.org"})
	for _, d := range []*dialer{anonymous, hasty} {
		for addr, want := range map[string]bool{
			"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true,
			"93.184.216.34:80": false, "10.0.0.1:80": false, "[2606:2800::1]:80": false, "nonsense": false,
		} {
			err := d.net.Control("tcp", addr, nil)
			if (err == nil) != want || err != nil && classify(t.Context(), err) != "blocked_address" {
				t.Errorf("%s: %v", addr, err)
			}
		}
	}
	if err := newDialer(&options{contact: "me@example.org", delay: time.Second}).net.Control("tcp", "93.184.216.34:80", nil); err != nil {
		t.Error(err)
	}
}
