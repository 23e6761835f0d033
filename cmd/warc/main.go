// Warc looks after web archives: it lists, reads, indexes, checks, repairs and
// packs them.
package main

import (
	"bufio"
	"flag"
	"io"
	"log/slog"
	"strings"

	"spoor/cmd/internal/filter"
)

const version = "0.1"

// A subcommand is one of the commands of warc.
type subcommand struct {
	name, manual string
	new          func(*command) action
}

// An action is what a subcommand does, once its flags have been parsed.
type action func() error

func subcommands() []subcommand {
	return []subcommand{
		{"pack", packManual, newPack},
	}
}

func main() { filter.Main("warc", run) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var names []string
	for _, s := range subcommands() {
		if len(args) > 0 && args[0] == s.name {
			return s.run(args[1:], stdin, stdout, stderr)
		}
		names = append(names, s.name)
	}
	if err := filter.Parse(filter.Flags("warc", manual, stderr), args); err != nil {
		return err
	}
	known := strings.Join(names, ", ")
	if len(args) == 0 {
		return filter.Usagef("what to do? %s\nhint: warc -h tells more", known)
	}
	return filter.Usagef("no command %q; there are %s\nhint: warc -h tells more", args[0], known)
}

// A command is what the subcommands share.
type command struct {
	flags  *flag.FlagSet
	args   []string // that are no flags
	stdin  io.Reader
	stdout *bufio.Writer
	log    *slog.Logger
	tally  *filter.Tally
}

func (s subcommand) run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c := &command{flags: filter.Flags("warc "+s.name, s.manual, stderr), stdin: stdin, stdout: bufio.NewWriterSize(stdout, 1<<16)}
	format := c.flags.String("log", "text", "log `format`, text or json")
	do := s.new(c)
	if err := c.parse(args); err != nil {
		return err
	}
	c.log = filter.Logger(stderr, "warc "+s.name, *format)
	c.tally = filter.NewTally(c.log)
	err := do()
	if e := c.stdout.Flush(); err == nil {
		err = e
	}
	return err
}

// parse parses args, in which flags may also follow what is none, up to a --.
func (c *command) parse(args []string) error {
	for {
		if err := filter.Parse(c.flags, args); err != nil {
			return err
		}
		rest := c.flags.Args()
		read := args[:len(args)-len(rest)]
		if len(rest) == 0 || len(read) > 0 && read[len(read)-1] == "--" {
			c.args = append(c.args, rest...)
			return nil
		}
		c.args = append(c.args, rest[0])
		args = rest[1:]
	}
}

// fault reports what is wrong with an archive.
func (c *command) fault(file string, err error) {
	c.tally.Skipped["fault"]++
	c.log.Warn("fault in an archive", "file", file, "err", err)
}
