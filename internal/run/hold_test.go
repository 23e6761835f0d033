package run

import (
	"errors"
	"io"
	"os"
	"path/filepath"
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

// What a crawl that was killed was writing is removed by the next one, wherever it lies, so that
// kills do not fill the directory.
func TestUnfinishedFilesAreRemoved(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "run [*]?"))
	left := []string{"report.html.1-2.part", "generations/0001/stats.json", "fetch/hosts", "settings", "warc/crawl-0.warc.gz"}
	parts := []string{"settings.12-34.part", "totals.json.1-2.part", "now.part", "fetch/hosts.12-34.part", "generations/0001/stats.json.1-2.part"}
	for _, name := range append(parts, left...) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(d.Path(name)), 0o777), os.WriteFile(d.Path(name), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	c := &Crawl{Dir: d, Settings: &Settings{}, Totals: &Totals{}, View: &View{Out: io.Discard}}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	for _, name := range parts {
		if exists(d.Path(name)) {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range left {
		if !exists(d.Path(name)) {
			t.Errorf("%s was removed", name)
		}
	}
}
