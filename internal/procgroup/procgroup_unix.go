//go:build unix

// Package procgroup starts commands in process groups, so that a command can be ended together with its
// child processes.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Lead makes cmd the leader of a process group. It must be called before cmd is started. When the
// context of cmd ends, sig is sent to the group.
func Lead(cmd *exec.Cmd, sig syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, sig) }
	}
}

// Kill kills all processes of the group of cmd that still exist.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails if no process is left
	}
}
