//go:build unix

package main

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"spoor/cmd/internal/filter"
)

func TestASignalHasItsStatus(t *testing.T) {
	for sig, how := range map[syscall.Signal]string{syscall.SIGINT: "interrupted", syscall.SIGTERM: "terminated"} {
		want := 128 + int(sig)
		s := newSite()
		go func() {
			<-s.asked
			syscall.Kill(syscall.Getpid(), sig)
		}()
		// What is still to be read is not waited for.
		in, end := io.Pipe()
		go io.WriteString(end, s.URL+"/stall\n")
		var out strings.Builder
		err := run(loopback, in, &out, io.Discard)
		if got := filter.Status("fetch", io.Discard, err); got != want || !strings.Contains(out.String(), `"error":"budget","error_detail":"`+how+`"`) || err.Error() != how {
			t.Errorf("%v: status %d, %s", sig, got, &out)
		}
		end.Close()
		s.CloseClientConnections()
	}
}
