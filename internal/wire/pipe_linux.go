package wire

import (
	"os"

	"golang.org/x/sys/unix"
)

// GrowPipe makes the buffer of a pipe as large as an ordinary user may have it,
// 1 MiB, so that the two processes at its ends wait for each other less. It does
// nothing to a file that is not a pipe, and nothing where the system refuses.
func GrowPipe(f *os.File) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	// Note: f.Fd would make the file blocking.
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Control(func(fd uintptr) {
		unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20)
	})
}
