//go:build unix

package filter

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// EndWithReader ends the process with [StatusPipe] when the reader of stdout has gone, even while the
// process waits for input. In a pipeline (a | b) | c, the shell that runs a | b keeps the output open until a
// ends. If b is killed, c sees no end of file, so a must notice. This was tested on Linux only; where poll
// does not report the end of the reader, the process ends when it next writes.
func EndWithReader(stdout io.Writer) {
	f, ok := stdout.(*os.File)
	if !ok {
		return
	}
	go func() {
		for {
			fds := []unix.PollFd{{Fd: int32(f.Fd())}}
			if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
				return
			}
			if fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
				noteEnd(StatusPipe)
				os.Exit(StatusPipe)
			}
			if fds[0].Revents != 0 { // POLLNVAL: stdout is not open
				return
			}
		}
	}()
}
