//go:build !unix

// Package procgroup starts commands in process groups, so that all that they have started can be
// ended with them. On this system there are none, and only the command itself is ended.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Lead does nothing.
func Lead(*exec.Cmd, syscall.Signal) {}

// Kill does nothing.
func Kill(*exec.Cmd) {}
