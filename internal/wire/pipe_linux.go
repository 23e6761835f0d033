package wire

import (
	"os"

	"golang.org/x/sys/unix"
)

// GrowPipe sets the size of a pipe's buffer to 1 MiB, the default maximum for unprivileged
// processes, so that the processes at its ends block less often. It does nothing if f is not
// a pipe or the system refuses.
func GrowPipe(f *os.File) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	// SyscallConn, not f.Fd, which would set the file to blocking mode.
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Control(func(fd uintptr) {
		unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20)
	})
}
