package run

import (
	"os"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// A report that took a minute is due nine minutes after it was written.
func TestReportDue(t *testing.T) {
	for _, tt := range []struct {
		name         string
		begun, ended time.Duration // ago; 0: there is no such file
		want         bool
	}{
		{"no report", 0, 0, true},
		{"the first is being written", time.Minute, 0, true},
		{"it took a minute", 9 * time.Minute, 8 * time.Minute, false},
		{"it took a minute, long ago", 11 * time.Minute, 10 * time.Minute, true},
		{"it seems to have taken days", 50 * time.Hour, 29 * time.Minute, false},
		{"so it seems, but it is old", 50 * time.Hour, 31 * time.Minute, true},
		{"the next is being written", time.Minute, 10 * time.Minute, true},
	} {
		c := &Crawl{Dir: Dir(t.TempDir())}
		for name, ago := range map[string]time.Duration{"report.lock": tt.begun, "report.html": tt.ended} {
			if ago == 0 {
				continue
			}
			testfile.Write(t, c.Dir.Path(name), "")
			if err := os.Chtimes(c.Dir.Path(name), time.Time{}, time.Now().Add(-ago)); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.reportDue(); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
