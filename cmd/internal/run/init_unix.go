//go:build unix

package run

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"spoor/cmd/internal/filter"
)

// asInit runs this command again in a child process, passes signals on to it, and ends with its status. It is for
// process 1 of a container, for which the kernel discards signals that have no handler: the script has none
// while it starts the stages of a step. Like every process 1, it also collects the processes that have
// lost their parent.
func asInit() error {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signals = append(signals, syscall.SIGHUP)
	}
	received := make(chan os.Signal, 16)
	signal.Notify(received, signals...)
	name, err := os.Executable()
	if err != nil {
		return err
	}
	child, err := os.StartProcess(name, os.Args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return err
	}
	go func() {
		for s := range received {
			switch {
			case s == syscall.SIGINT && term.IsTerminal(int(os.Stdin.Fd())):
				continue // Ctrl-C reaches the child from the terminal
			case s == syscall.SIGQUIT: // the script ignores it
				s = syscall.SIGTERM
			}
			child.Signal(s)
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err != nil && !errors.Is(err, syscall.EINTR):
			return os.NewSyscallError("wait4", err)
		case pid == child.Pid && status.Signaled():
			return filter.Exit(128+int(status.Signal()), filter.ErrSilent)
		case pid == child.Pid && status.ExitStatus() != 0:
			return filter.Exit(status.ExitStatus(), filter.ErrSilent)
		case pid == child.Pid:
			return nil
		}
	}
}
