// Package frontier is the command frontier, which keeps the durable queue of a crawl.
package frontier

import (
	"io"
	"strings"

	"spoor/cmd/internal/filter"
)

// A subcommand is one of the commands of frontier.
type subcommand struct {
	name      string
	flags     func(*command)
	do        func(*command) error
	takesArgs bool
}

func subcommands() []subcommand {
	return []subcommand{
		{"add", (*command).addFlags, (*command).add, true},
		{"next", (*command).nextFlags, (*command).next, false},
		{"serve", (*command).serveFlags, (*command).serve, false},
		{"stats", (*command).nowFlag, (*command).stats, false},
		{"skipped", (*command).nowFlag, (*command).skipped, false},
		{"export", (*command).exportFlags, (*command).export, false},
		{"import", (*command).importFlags, (*command).add, true},
		{"reprioritise", (*command).inputFlags, (*command).reprioritise, true},
		{"forget", (*command).forgetFlags, (*command).forget, true},
		{"lineage", (*command).nowFlag, (*command).lineage, true},
		{"compact", func(*command) {}, (*command).compact, false},
		{"check", (*command).checkFlags, (*command).check, false},
	}
}

// Command is the command frontier.
var Command = filter.Command{Name: "frontier", Manual: manual("frontier"), Run: invoke}

func invoke(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var names []string
	for _, sub := range subcommands() {
		if len(args) > 0 && args[0] == sub.name {
			return sub.run(args[1:], stdin, stdout, stderr)
		}
		names = append(names, sub.name)
	}
	if err := filter.Parse(filter.Flags("frontier", manual("frontier"), stderr), args); err != nil {
		return err
	}
	known := strings.Join(names, ", ")
	if len(args) == 0 {
		return filter.Usagef("a command is missing: %s\nhint: frontier -h describes them", known)
	}
	return filter.Usagef("no command %q; there are %s\nhint: frontier -h describes them", args[0], known)
}
