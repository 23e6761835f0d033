//go:build unix

package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminate is the signal that asks a process to end.
var terminate = syscall.SIGTERM

// KillSignal is what the script crawl sends to all stages when it gets a second signal. Commands of spoor
// ignore it, but for run stage.
var KillSignal os.Signal = syscall.SIGUSR1

// isPipe reports whether err is the error of a write to a closed pipe.
func isPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// Become replaces this process by a command (exec). In the command, file descriptor 9 is f and, if log is
// not nil, stderr is log.
func Become(f, log *os.File, command ...string) error {
	name, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	if err := unix.Dup2(int(f.Fd()), 9); err != nil {
		return os.NewSyscallError("dup2", err)
	}
	if log != nil {
		if err := unix.Dup2(int(log.Fd()), 2); err != nil {
			return os.NewSyscallError("dup2", err)
		}
	}
	if _, err := unix.FcntlInt(9, unix.F_SETFD, 0); err != nil { // f may have been 9 before
		return os.NewSyscallError("fcntl", err)
	}
	return syscall.Exec(name, command, os.Environ())
}

// BecomeLoop replaces this process by the script that loops over the generations of a locked run. If
// log is not nil, stderr is log.
func (d Dir) BecomeLoop(lock, log *os.File, script string) error {
	name := d.Path(jobsFile)
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := makeFIFO(name); err != nil {
		return fmt.Errorf("making a named pipe in %s: %w\nhint: crawl needs one; choose a -run on another file system", d, err)
	}
	return Become(lock, log, "bash", script, "-opened", string(d))
}

// shellStatus returns the exit status, or 128 plus the number of the signal.
func shellStatus(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.ExitCode()
}

func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o600) }
