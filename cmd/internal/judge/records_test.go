package judge

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/cmd/internal/filter"
	"spoor/internal/closedweb"
	"spoor/internal/wire"
)

// TestRepeatedPages would fail if pages were remembered by memory that is reused for the next
// record.
func TestRepeatedPages(t *testing.T) {
	var in strings.Builder
	for range 2 {
		for i := range 500 {
			fmt.Fprintf(&in, "http://a.example/%s\n", strings.Repeat("x", i))
		}
	}
	var out bytes.Buffer
	var account closedweb.Account
	o := options{stream: filter.Stream{Want: wire.Address, Limit: wire.DefaultLimit}}
	tally := filter.NewTally(filter.Logger(t.Output(), "test", filter.LogOptions{}))
	err := o.copyRecords(strings.NewReader(in.String()), &out, tally, func(rec *wire.Record) (closedweb.Verdict, string) {
		v, _ := account.Pay(rec, closedweb.IDWithoutWeb(rec)).Verdict()
		return v, "a class"
	}, &account)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n") {
		want := closedweb.Unlabelled
		if i >= 500 {
			want = closedweb.Repeated
		}
		if !strings.Contains(line, fmt.Sprintf(`,"verdict":"%s","class":"a class",`, want)) {
			t.Fatalf("line %d: %s, want verdict %s", i+1, line, want)
		}
	}
	if tally.Out != 1000 || account.Spent != 1000 {
		t.Errorf("%d records, %d spent", tally.Out, account.Spent)
	}
}

func TestFailedSummaryLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	o := options{summary: filepath.Join(dir, "x")}
	if err := o.writeSummary(func() {}); err == nil {
		t.Error("no error for a value that JSON cannot express")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// brokenWriter is a writer that always fails.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("no space") }

func TestWriteErrorIsReturned(t *testing.T) {
	o := options{stream: filter.Stream{Limit: wire.DefaultLimit}}
	tally := filter.NewTally(filter.Logger(t.Output(), "test", filter.LogOptions{}))
	err := o.copyRecords(strings.NewReader("http://a.example/\n"), brokenWriter{}, tally, func(*wire.Record) (closedweb.Verdict, string) {
		return closedweb.Free, ""
	}, new(closedweb.Account))
	if err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("%v", err)
	}
}
