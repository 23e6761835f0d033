//go:build !unix

package e2e

import (
	"os"
	"os/exec"
)

// Without process groups only the command itself is killed.
func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func shellStatus(p *os.ProcessState) int { return p.ExitCode() }
