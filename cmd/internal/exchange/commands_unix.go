//go:build unix

package exchange

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"spoor/internal/partition"
	"spoor/internal/procgroup"
)

// runCommands is the process that startCommands starts: it runs a command for each partition, in
// process groups of their own, and kills them all when the input ends, or when no line alive has come
// for two thirds of the lease.
func runCommands(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) < 3 {
		return errors.New("exchange hold starts this command")
	}
	partitions, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	lease, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // its parent says when to end
	orders := make(chan string)
	go func() {
		for lines := bufio.NewScanner(stdin); lines.Scan(); {
			orders <- lines.Text()
		}
		close(orders)
	}()
	type end struct{ partition, status int }
	ends := make(chan end)
	running := map[int]*exec.Cmd{}
	killAll := func() {
		for _, cmd := range running {
			procgroup.Kill(cmd)
		}
	}
	defer killAll()
	start := func(p int) error {
		cmd := exec.Command(args[2], args[3:]...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // stdout is for the parent, which escapes the rest
		cmd.Env = append(os.Environ(), "SPOOR_PARTITION="+partition.Partition{Number: p, Of: partitions}.String())
		procgroup.Lead(cmd, syscall.SIGKILL)
		if err := cmd.Start(); err != nil {
			return err
		}
		running[p] = cmd
		if _, err := fmt.Fprintf(stdout, "begun %d %d\n", p, cmd.Process.Pid); err != nil {
			return err
		}
		go func() {
			cmd.Wait() // the status is in ProcessState
			status := cmd.ProcessState.ExitCode()
			if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
				status = 128 + int(ws.Signal())
			}
			procgroup.Kill(cmd) // what it has left running
			ends <- end{p, status}
		}()
		return nil
	}
	deadline := time.NewTimer(lease)
	defer deadline.Stop()
	for {
		select {
		case line, ok := <-orders:
			if !ok {
				return nil
			}
			var word string
			var n int
			if _, err := fmt.Sscanf(line, "%s %d", &word, &n); err != nil {
				return fmt.Errorf("the order %q: %w", line, err)
			}
			switch cmd := running[n]; {
			case word == "alive":
				deadline.Reset(lease*2/3 - time.Duration(n)*time.Millisecond)
			case word == "leave" && cmd != nil:
				cmd.Process.Signal(syscall.SIGTERM) // it may have ended
			case word == "start" && cmd == nil:
				if err := start(n); err != nil {
					return fmt.Errorf("the command %s: %w", args[2], err)
				}
			}
		case e := <-ends:
			delete(running, e.partition)
			if _, err := fmt.Fprintf(stdout, "exit %d %d\n", e.partition, e.status); err != nil {
				return err
			}
		case <-deadline.C:
			if len(running) > 0 {
				fmt.Fprintln(stderr, "exchange hold: the lease was not renewed: the commands are killed, and started again when the servers answer")
			}
			killAll()
		}
	}
}

// killGroup kills a process group.
func killGroup(leader int) { syscall.Kill(-leader, syscall.SIGKILL) }
