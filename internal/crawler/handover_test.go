package crawler

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestASlowHandOverIsReported(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	defer func(d time.Duration) { slowHandOver = d }(slowHandOver)
	slowHandOver = 10 * time.Millisecond
	said := make(chan string, 2)
	h := &handOver{command: "sleep 1;:", warn: func(text string, _ ...any) { said <- text }}
	if err := h.give(t.Context(), "x.warc.gz"); err != nil {
		t.Error(err)
	}
	select {
	case text := <-said:
		if !strings.Contains(text, "has not ended yet") {
			t.Errorf("said %q", text)
		}
	default:
		t.Error("nothing was said")
	}
}
