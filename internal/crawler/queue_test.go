package crawler

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/wire"
)

// An address with not_before is requested at that time, and does not delay others.
func TestNotBeforeDelaysAddress(t *testing.T) {
	s := newFaultySite(t)
	begun := time.Now()
	soon := begun.Add(2 * time.Second).UTC().Truncate(time.Second).Format(time.RFC3339)
	later := begun.Add(time.Hour).UTC().Format(time.RFC3339)
	line := `{"v":1,"url":"%s/%s",%s"not_before":%q}` + "\n"
	in := fmt.Sprintf(line, s.URL, "x", "", soon) + fmt.Sprintf(line, s.URL, "later", "", later) + s.URL + "/page\n" +
		fmt.Sprintf(line, s.URL, "redirect/1", `"status_code":503,`, later) // of an earlier outcome
	recs, _ := fetch(t, in, loopback, func(o *Options) { o.Deadline = 20 * time.Second })
	if took := time.Since(begun); took < time.Second || took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	if x := recs[s.URL+"/x"]; x.Error != "" || x.NotBefore != "" || x.Timestamp < soon[:len(soon)-1] {
		t.Errorf("not before %s: %+v", soon, x)
	}
	if l := recs[s.URL+"/later"]; l.Error != wire.ErrorBudget || l.NotBefore != "" || l.ErrorDetail != "not to be asked for before "+later {
		t.Errorf("after the deadline: %+v", l)
	}
	if got := s.requests(); slices.Contains(got, "/later") || got[len(got)-1] != "/x" {
		t.Errorf("requested %v", got)
	}
}

// An address that is due is requested before one that was read earlier and is not due.
func TestDueAddressOvertakes(t *testing.T) {
	s := newFaultySite(t)
	in, feed := io.Pipe()
	go func() {
		soon := time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339)
		fmt.Fprintf(feed, `{"v":1,"url":"%s/x","not_before":%q}`+"\n", s.URL, soon)
		time.Sleep(200 * time.Millisecond)
		fmt.Fprintf(feed, "%s/page\n", s.URL)
		feed.Close()
	}()
	if _, err := crawl(t.Context(), in, io.Discard, allowPrivate, delay(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if got := s.requests(); got[len(got)-1] != "/x" || !slices.Contains(got, "/page") {
		t.Errorf("requested %v", got)
	}
}

// Queues are ordered by time, in any notation.
func TestQueueOrder(t *testing.T) {
	var q queue
	for i, at := range []string{
		"2030-01-01T01:00:01Z", "2030-01-01T02:00:00+01:00", "2030-01-01T01:00:00.5Z", "2030-01-01T01:00:00Z", "", "soon",
	} {
		q.push(t.Context(), &wire.Record{URL: fmt.Sprint(i), NotBefore: at})
	}
	var order strings.Builder
	for _, w := range q.items {
		order.WriteString(w.rec.URL)
	}
	if order.String() != "451320" {
		t.Errorf("%s", order.String())
	}
}
