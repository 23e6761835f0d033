//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the first of a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills cmd and its children, as kill -9 does. It is no error if they
// have ended meanwhile.
func killGroup(cmd *exec.Cmd) error {
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != syscall.ESRCH {
		return err
	}
	return nil
}

// shellStatus is 128 and the signal's number for a process that was killed.
func shellStatus(p *os.ProcessState) int {
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return p.ExitCode()
}
