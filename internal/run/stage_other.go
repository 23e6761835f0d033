//go:build !unix

package run

import (
	"errors"
	"os"
)

// terminate asks a process to end.
var terminate = os.Kill

// KillSignal is never received here.
var KillSignal = os.Kill

// isPipe returns false: here no error is known that a write to a closed pipe returns.
func isPipe(error) bool { return false }

// Become replaces this process by a command.
func Become(*os.File, *os.File, ...string) error { return errors.ErrUnsupported }

// BecomeLoop replaces this process by the script that loops over the generations.
func (Dir) BecomeLoop(_, _ *os.File, _ string) error { return errors.ErrUnsupported }

func shellStatus(p *os.ProcessState) int { return p.ExitCode() }

func makeFIFO(string) error { return errors.ErrUnsupported }
