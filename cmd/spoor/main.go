// Spoor is all commands in one program: spoor fetch is fetch, spoor crawl is crawl, …
//
// It is a single command if a link to it has the name of that command, with or without a prefix:
// fetch, or spoor-fetch.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spoor/cmd/internal/compare"
	"spoor/cmd/internal/conform"
	"spoor/cmd/internal/evolve"
	"spoor/cmd/internal/exchange"
	"spoor/cmd/internal/fetch"
	"spoor/cmd/internal/filter"
	"spoor/cmd/internal/frontier"
	"spoor/cmd/internal/gosite"
	"spoor/cmd/internal/judge"
	"spoor/cmd/internal/parse"
	"spoor/cmd/internal/render"
	"spoor/cmd/internal/report"
	"spoor/cmd/internal/run"
	"spoor/cmd/internal/score"
	"spoor/cmd/internal/search"
	"spoor/cmd/internal/serve"
	"spoor/cmd/internal/topic"
	"spoor/cmd/internal/warc"
)

// commands are the commands, in the order of a crawl.
var commands = []filter.Command{
	run.Crawl, fetch.Command, parse.Command, score.Command, evolve.Command, frontier.Command,
	topic.Command, search.Command, render.Command, warc.Command,
	report.Command, serve.Command, judge.Command, compare.Command, conform.Command, exchange.Command, gosite.Command,
	loop,
}

// loop is run, which the script of crawl calls. It is not listed.
var loop = filter.Command{Name: "run", Run: run.Command.Run}

func main() {
	program := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	for _, c := range commands {
		if strings.HasSuffix(program, c.Name) { // a link
			c.Main()
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "help" { // spoor help fetch is spoor fetch -h
		os.Args = slices.Concat(os.Args[:1], os.Args[2:], []string{"-h"})
	}
	if len(os.Args) > 1 {
		if i := slices.IndexFunc(commands, func(c filter.Command) bool { return c.Name == os.Args[1] }); i >= 0 {
			os.Args = append([]string{os.Args[0] + " " + os.Args[1]}, os.Args[2:]...)
			commands[i].Main()
		}
	}
	filter.Command{Name: "spoor", Run: overview}.Main()
}

// overview prints what the commands are.
func overview(args []string, _ io.Reader, _, stderr io.Writer) error {
	var b strings.Builder
	b.WriteString("spoor - a focused web crawler made of Unix filters\n\nUsage: spoor COMMAND [ARGUMENT...]\n\n")
	for _, c := range commands {
		if c.Manual != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", c.Name, c.Summary())
		}
	}
	b.WriteString("\nspoor COMMAND -h and spoor help COMMAND describe a command and its flags, and\nspoor COMMAND -help=all is its whole manual. spoor version prints the version.\nA link to spoor with the name of a command is that command.\n")
	fs := filter.Flags("spoor", b.String(), stderr)
	switch {
	case len(args) == 0:
		args = []string{"-h"}
	case args[0] == "version":
		args = []string{"-version"}
	}
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	return filter.Usagef("there is no command %s\nhint: spoor -h lists them", fs.Arg(0))
}
