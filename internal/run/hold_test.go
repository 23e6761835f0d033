package run

import (
	"strings"
	"testing"
	"time"
)

// The stages of a crawl that was killed may hold its lock a moment longer than their parent lived.
func TestHoldWaitsForDyingProcesses(t *testing.T) {
	d := Dir(t.TempDir())
	first, err := d.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Hold(); err == nil || !strings.Contains(err.Error(), "is at work on") {
		t.Errorf("held by a process that stays: %v", err)
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		first.Close()
	}()
	second, err := d.Hold()
	if err != nil {
		t.Fatalf("held by a process that ends: %v", err)
	}
	second.Close()
}
