package run

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"spoor/internal/testfile"
)

func TestState(t *testing.T) {
	d := Dir(t.TempDir())
	check := func(when string, want State) {
		t.Helper()
		if got, err := d.State(); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", when, got, err, want)
		}
	}
	check("before it begins", State{})
	if err := d.Stop(); err == nil || exists(d.Path(StopFile)) {
		t.Errorf("stopping a crawl that is not running: %v", err)
	}
	hold, err := d.Hold()
	testfile.Check(t, err)
	n := now{step: stepVisit, generation: 3}
	testfile.Check(t, errors.Join(n.save(d), d.overwrite(StopReason, "pages\n"))) // as run next has not removed it yet
	check("while it runs", State{Running: true, Step: stepVisit})
	until := time.Date(2026, 11, 30, 12, 0, 0, 5, time.UTC)
	c := &Crawl{Dir: d, View: &View{Out: io.Discard}, Totals: NewTotals()}
	c.wait(until)
	check("while it waits", State{Running: true, Step: stepVisit, Until: until})
	testfile.Check(t, d.Stop())
	testfile.Check(t, d.Stop()) // again
	check("after stop", State{Running: true, Stopping: true, Step: stepVisit, Until: until})
	hold.Close()
	check("after its end", State{Reason: EndPages})
	if again, err := d.Hold(); err != nil {
		t.Errorf("State keeps the lock: %v", err)
	} else {
		again.Close()
	}
	testfile.Check(t, os.Remove(d.Path(StopReason)))
	check("after a kill", State{})
}

func TestSavedTotals(t *testing.T) {
	d := Dir(t.TempDir())
	if got, err := d.SavedTotals(); got != nil || err != nil {
		t.Errorf("without a file: %+v, %v", got, err)
	}
	want := NewTotals()
	want.Add(&Summary{Generation: 1, Cost: 3, Relevant: 2})
	testfile.Check(t, want.save(d))
	if got, err := d.SavedTotals(); err != nil || got.Fetched != 3 || got.Last.Relevant != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "{", `{"last":null}`} {
		testfile.Check(t, d.overwrite(totalsFile, text))
		if got, err := d.SavedTotals(); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
