//go:build unix

package fetch

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"spoor/cmd/internal/filter"
)

func TestSignalExitStatus(t *testing.T) {
	for sig, word := range map[syscall.Signal]string{syscall.SIGINT: "interrupted", syscall.SIGTERM: "terminated"} {
		want := 128 + int(sig)
		s := newSite()
		go func() {
			<-s.requests
			syscall.Kill(syscall.Getpid(), sig)
		}()
		in, end := io.Pipe() // fetch must not wait for more input
		go io.WriteString(end, s.URL+"/stall\n")
		var out strings.Builder
		err := run([]string{"-allow-private", "-delay", "0s"}, in, &out, io.Discard)
		if got := filter.Status("fetch", io.Discard, err); got != want || !strings.Contains(out.String(), `"error":"budget","error_detail":"`+word+`"`) || err.Error() != word {
			t.Errorf("%v: status %d, %v, %s", sig, got, err, &out)
		}
		end.Close()
		s.CloseClientConnections()
	}
}
