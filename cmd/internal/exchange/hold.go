package exchange

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/exchange"
)

// hold runs a command for each partition that falls to this node.
//
// The commands are the children of a second process, which this one talks to through pipes: it
// kills them when this one dies, or hangs for so long that its lease may have expired.
func (c *command) hold(ctx context.Context) error {
	s, err := exchange.Load(ctx, c.stream, c.crawl, c.patience, c.logger)
	if err != nil {
		return err
	}
	if s == nil {
		return c.noSettings()
	}
	leases, err := c.stream.Leases(ctx, c.node, c.lease)
	if err != nil {
		return err
	}
	r, err := startCommands(c.argv, s.Partitions, c.lease, c.stdout, c.stderr)
	if err != nil {
		return err
	}
	h := exchange.Holder{Leases: leases, Runner: r, Node: c.node, Partitions: s.Partitions, TTL: c.lease, Check: c.stream.CheckSize, Log: c.logger}
	err = errors.Join(h.Run(ctx), r.close())
	if err != nil {
		return err
	}
	st, err := exchange.Summarize(ctx, c.stream, c.crawl)
	if err != nil {
		return err
	}
	c.logger.Info("the crawl is over", "crawl", c.crawl, "pages", st.Spent, "relevant", st.Relevant)
	return nil
}

// commandsName is the name by which exchange starts itself as the parent of the commands.
const commandsName = "commands-of-hold"

// commands is the process that is the parent of the commands, as its parent sees it. It implements
// [exchange.Runner].
type commands struct {
	process *exec.Cmd
	in      io.WriteCloser
	exits   chan exchange.Exit
	groups  map[int]int // by partition: the process group of its command; complete when exits is closed
}

// startCommands starts the process. Its input is a line for each order, its output a line for each
// command that has ended:
//
//	start 7      start the command of partition 7
//	leave 7      send it SIGTERM
//	alive 12     the lease was renewed 12 ms ago
//	begun 7 PID  it was started, and leads a process group
//	exit 7 143   it has ended with status 143
func startCommands(argv []string, partitions int, lease time.Duration, stdout, stderr io.Writer) (*commands, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &commands{exits: make(chan exchange.Exit, partitions), groups: map[int]int{}}
	c.process = exec.Command(self, append([]string{commandsName, strconv.Itoa(partitions), lease.String()}, argv...)...)
	c.process.Args[0] = os.Args[0] // by which spoor knows the command
	c.process.Stderr = stderr
	out, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.in, err = c.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e exchange.Exit
			var group int
			if n, _ := fmt.Sscanf(lines.Text(), "begun %d %d", &e.Partition, &group); n == 2 {
				c.groups[e.Partition] = group
			}
			if n, _ := fmt.Sscanf(lines.Text(), "exit %d %d", &e.Partition, &e.Status); n == 2 {
				delete(c.groups, e.Partition)
				c.exits <- e
			}
		}
		close(c.exits)
	}()
	return c, nil
}

func (c *commands) Start(p int) error { return c.order("start", p) }
func (c *commands) Leave(p int) error { return c.order("leave", p) }
func (c *commands) Alive(age time.Duration) error {
	return c.order("alive", int(age.Milliseconds()))
}
func (c *commands) Exits() <-chan exchange.Exit { return c.exits }

func (c *commands) order(word string, n int) error {
	_, err := fmt.Fprintf(c.in, "%s %d\n", word, n)
	return err
}

// close ends the process, which kills the commands that still run. If it was killed itself, they are
// killed here.
func (c *commands) close() error {
	err := c.in.Close()
	for range c.exits { // until it has ended
	}
	for _, group := range c.groups {
		killGroup(group)
	}
	return errors.Join(err, c.process.Wait())
}

// checkHold checks the flags of hold.
func (c *command) checkHold() error {
	switch {
	case len(c.argv) == 0:
		return filter.Usagef("the command is missing: exchange hold … -- COMMAND")
	case c.node == "":
		return filter.Usagef("-node is missing: a name of this machine, unique in the crawl")
	case c.lease < time.Second || c.lease > time.Hour:
		return filter.Usagef("-lease %v: want 1s to 1h", c.lease)
	}
	return nil
}
