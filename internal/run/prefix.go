package run

import (
	"context"
	"os/exec"
	"strings"
)

// A Prefix precedes the names of the commands: it is empty, or "spoor-" where they are installed as
// spoor-fetch, …; "spoor " if one program contains them all, which runs them as spoor fetch, …
type Prefix string

// Words returns the words of a command line: the program, perhaps the name of the command, and args.
func (p Prefix) Words(name string, args ...string) []string {
	words := []string{string(p) + name}
	if program, one := strings.CutSuffix(string(p), " "); one {
		words = []string{program, name}
	}
	return append(words, args...)
}

// Quote returns the words that run a command in a shell.
func (p Prefix) Quote(name string) string {
	words := p.Words(name)
	for i := range words {
		words[i] = Quote(words[i])
	}
	return strings.Join(words, " ")
}

// Command returns a command that is killed when ctx ends.
func (p Prefix) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	words := p.Words(name, args...)
	return exec.CommandContext(ctx, words[0], words[1:]...)
}
