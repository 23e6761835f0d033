//go:build !unix

// Package procgroup starts commands in process groups, so that a command can be ended together with its
// child processes. This system has no process groups, so only the command itself is ended.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Lead does nothing.
func Lead(*exec.Cmd, syscall.Signal) {}

// Kill does nothing.
func Kill(*exec.Cmd) {}
