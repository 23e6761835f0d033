package topic

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"spoor/internal/terminal"
)

func TestReasonsAreLimited(t *testing.T) {
	var records, stderr strings.Builder
	records.WriteString(`{"url":"http://a.test/","title":"Frogs"}` + "\n")
	for i := range 1000 {
		fmt.Fprintf(&records, `{"url":"http://a.test/%d","error":"strange\u001b[31m %d"}`+"\n", i, i)
	}
	if err := invoke([]string{"-query", "frogs", "-positive", "-"}, strings.NewReader(records.String()), io.Discard, &terminal.Writer{W: &stderr}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(stderr.String(), "left out"); n != maxReasons+1 {
		t.Errorf("%d reasons", n)
	}
	if want := fmt.Sprintf("topic: -positive: left out %d: for other reasons\n", 1000-maxReasons); !strings.Contains(stderr.String(), want) {
		t.Errorf("no %q in\n%s", want, stderr.String())
	}
	if strings.ContainsRune(stderr.String(), '\x1b') || !strings.Contains(stderr.String(), `strange\u001b[31m 0`) {
		t.Error("a terminal would obey")
	}
}
