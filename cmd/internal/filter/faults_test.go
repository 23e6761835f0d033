package filter

import (
	"bytes"
	"strings"
	"testing"
)

func TestFaultsBeyondAThousandAreNotReportedOneByOne(t *testing.T) {
	var log bytes.Buffer
	f := Faults{Log: Logger(&log, "test", LogOptions{})}
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
		var got LogOptions
		var stderr bytes.Buffer
		fs := Flags("test", "", &stderr)
		LogFlags(fs, &got)
		err := Parse(fs, []string{"-log", format, "-q"})
		if (err == nil) != good || got.JSON != (format == "json") || got.Quiet != good || !good && Status("test", &stderr, err) != StatusMisuse {
			t.Errorf("%q: %+v, %v", format, got, err)
		}
	}
	for _, o := range []LogOptions{{Quiet: true}, {JSON: true, Quiet: true}} {
		var stderr bytes.Buffer
		log := Logger(&stderr, "test", o)
		log.Info("done")
		if log.Warn("few"); strings.Contains(stderr.String(), "done") || !strings.Contains(stderr.String(), "few") {
			t.Errorf("%+v: %s", o, stderr.String())
		}
	}
}
