//go:build unix

package filter

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// EndWithReader ends the process as a broken pipe does once nothing reads stdout anymore, also while it
// waits for input. In a shell's pipeline a | b within a longer one, the shell keeps the output of b open until
// a has ended: if b is killed, nobody else can tell that the pipeline is broken. It was tried on Linux; where
// poll does not tell, the process ends when it writes.
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
			if fds[0].Revents != 0 { // it is not open
				return
			}
		}
	}()
}
