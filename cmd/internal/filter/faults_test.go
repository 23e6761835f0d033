package filter

import (
	"bytes"
	"strings"
	"testing"
)

func TestFaultsBeyondAThousandAreNotReportedOneByOne(t *testing.T) {
	var log bytes.Buffer
	f := Faults{Log: Logger(&log, "test", "text")}
	told := 0
	for range 5 * maxFaults {
		if f.ShouldLog("a.warc") {
			told++
		}
	}
	if !f.ShouldLog("b.warc") {
		t.Error("another archive is not told of")
	}
	if told != maxFaults || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "archive=a.warc") {
		t.Errorf("%d are told of, and %q", told, log.String())
	}
}

func TestALogIsTextOrJSON(t *testing.T) {
	for format, good := range map[string]bool{"text": true, "json": true, "xml": false, "": false} {
		var got string
		var stderr bytes.Buffer
		fs := Flags("test", "", &stderr)
		LogFlag(fs, &got)
		err := Parse(fs, []string{"-log", format})
		if (err == nil) != good || good && got != format || !good && Status("test", &stderr, err) != StatusMisuse {
			t.Errorf("%q: %q, %v", format, got, err)
		}
	}
}
