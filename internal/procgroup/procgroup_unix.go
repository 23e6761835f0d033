//go:build unix

// Package procgroup starts commands in process groups, so that all that they have started can be
// ended with them.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Lead makes cmd, which was not started yet, the leader of a process group. The end of its context
// sends the group sig.
func Lead(cmd *exec.Cmd, sig syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, sig) }
	}
}

// Kill kills what is left of the group of cmd.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nothing may be left
	}
}
