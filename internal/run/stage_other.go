//go:build !unix

package run

import (
	"errors"
	"os"
	"os/exec"
)

// terminate asks a process to end.
var terminate = os.Kill

// isPipe reports whether err says that nobody reads what was written.
func isPipe(error) bool { return false }

// replaceProcess runs a shell command and returns how it ended.
func replaceProcess(command string, env []string) error {
	cmd := exec.Command("bash", "-c", command)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	if status := exitStatus(cmd.Run()); status != 0 {
		return faultf(status, "")
	}
	return nil
}

// shellStatus returns the exit status.
func shellStatus(p *os.ProcessState) int { return p.ExitCode() }

// makeFIFO makes a named pipe.
func makeFIFO(string) error { return errors.ErrUnsupported }
