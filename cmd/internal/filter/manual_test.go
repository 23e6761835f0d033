package filter

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
)

const testManual = `
x - does this

Usage: x [flags]

Flags:
  size   n missing
  order  reverse

# Chapter

More.
`

func TestHelp(t *testing.T) {
	help := func(args ...string) string {
		fs := Flags("x", testManual, io.Discard)
		fs.Int("n", 3, "take `count` lines; 0 is all of them")
		fs.Bool("reverse", false, "print the last of all lines first, and so on, until there are no more lines to print")
		fs.Bool("odd", false, "odd lines")
		fs.Bool("prime", false, "see sieve -h; slow")
		fs.Bool("square", false, "see sieve -h")
		err := Parse(fs, args)
		if !errors.Is(err, flag.ErrHelp) {
			t.Fatalf("%q: %v", args, err)
		}
		return err.Error()
	}
	want := `x - does this

Usage: x [flags]

Flags, size:
  -n count                take count lines (default 3)

Flags, order:
  -reverse                print the last of all lines first, and so on, until
                          there are no more lines to print

Flags, other:
  -help                   print this, and with -help=all the whole manual
  -odd                    odd lines
  -prime -square          see sieve -h
  -version                print the version and end
`
	for _, arg := range []string{"-h", "-help", "--help"} {
		if got := help(arg); got != want {
			t.Errorf("%s prints\n%s", arg, got)
		}
	}
	all := help("-help=all")
	for _, part := range []string{"x - does this\n", "\n# Chapter\n\nMore.\n", "\n# Flags\n\n## size\n\n  -n count\n    \ttake count lines; 0 is all of them (default 3)\n", "\n## other\n"} {
		if !strings.Contains(all, part) {
			t.Errorf("-help=all has no %q:\n%s", part, all)
		}
	}
	if err := Parse(Flags("x", testManual, io.Discard), []string{"-help=some"}); !errors.Is(err, ErrUsage) {
		t.Errorf("-help=some: %v", err)
	}
}

func TestHelpNamesCommandsAsInstalled(t *testing.T) {
	t.Setenv("PROGRAM_PREFIX", "my-")
	err := Parse(Flags("parse", `
parse - parse pages

Usage: parse [flags]
       parse COMMAND [flags]

Parse reads what fetch writes; parse COMMAND -h says more.

Examples:
  fetch URL | parse |
    score -topic parse
`, io.Discard), []string{"-h"})
	want := `parse - parse pages

Usage: my-parse [flags]
       my-parse COMMAND [flags]

Parse reads what fetch writes; my-parse COMMAND -h says more.

Examples:
  my-fetch URL | my-parse |
    my-score -topic parse

Flags:
`
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%s", err)
	}
}

// A list of subcommands is no list of commands, although some have the same names.
func TestPrefixesOfCommands(t *testing.T) {
	m := parseManual("frontier - keep\n\nUsage: frontier COMMAND\n\n    serve         do\n\nfrontier COMMAND -h says more, and serve nothing.\n\nExamples:\n  serve . &\n  frontier next | fetch |\n    parse\n")
	m.addPrefix("x-")
	want := "frontier - keep\n\nUsage: x-frontier COMMAND\n\n    serve         do\n\nx-frontier COMMAND -h says more, and serve nothing.\n\nExamples:\n  x-serve . &\n  x-frontier next | x-fetch |\n    x-parse\n"
	if m.head != want {
		t.Errorf("the manual is\n%s", m.head)
	}
}
