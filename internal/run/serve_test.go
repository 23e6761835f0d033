package run

import (
	"context"
	"errors"
	"testing"
	"time"

	"spoor/internal/frontier"
)

// TestYield checks that a server leaves its store to a process that waits for it, and that a signal
// ends the wait for the store.
func TestYield(t *testing.T) {
	dir := t.TempDir()
	open := func() *frontier.Store {
		t.Helper()
		s, err := frontier.Open(dir, frontier.Options{Create: true, Wait: time.Minute})
		if err != nil {
			t.Error(err)
		}
		return s
	}
	v := &server{Server: &Server{Store: dir}, s: open()}
	frontier.IsAwaited(dir) // waiting processes announce themselves from now on
	other := make(chan *frontier.Store)
	await := func() {
		go func() { other <- open() }()
		for !frontier.IsAwaited(dir) {
			time.Sleep(time.Millisecond)
		}
	}
	yielded := make(chan error)

	await()
	go func() { yielded <- v.yield(t.Context()) }()
	s := <-other
	select {
	case err := <-yielded:
		t.Fatalf("yield returned %v while the other process has the store", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-yielded; err != nil || v.s == nil {
		t.Fatal(err)
	}

	await()
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { yielded <- v.yield(ctx) }()
	s = <-other
	cancel(interrupted)
	select {
	case err := <-yielded:
		if !errors.Is(err, interrupted) || v.s != nil {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a signal does not end the wait for the store")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
