package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/run"
	"spoor/internal/topic"
)

// inline makes files of a topic given as words and of seeds given as arguments, and names the run
// if it has no name. The files are needed until the run was opened; remove, which is never nil,
// removes them. What topic says of the words is written to stderr.
func (o *opening) inline(ctx context.Context, prefix run.Prefix, seeds []string, stderr io.Writer) (remove func(), err error) {
	remove = func() {}
	words := o.topic != "" && topic.IsWords(o.topic)
	if !words && o.language != "" {
		return remove, filter.Usagef("-language is for a topic of words: a topic file has its own language (topic -language)")
	}
	if !words && len(seeds) == 0 {
		return remove, nil
	}
	dir, err := os.MkdirTemp("", "spoor-crawl-*")
	if err != nil {
		return remove, err
	}
	remove = func() { os.RemoveAll(dir) }
	if len(seeds) > 0 {
		var list bytes.Buffer
		if o.seeds != "" {
			b, err := atomicfile.ReadFile(o.seeds, atomicfile.MaxInput)
			if err != nil {
				return remove, filter.Usagef("cannot read %s%s", o.seeds, seedsHint(o.seeds))
			}
			list.Write(append(bytes.TrimRight(b, "\n"), '\n'))
		}
		for _, seed := range seeds {
			fmt.Fprintln(&list, strings.TrimSpace(seed))
		}
		o.seeds = filepath.Join(dir, "seeds.txt")
		if err := os.WriteFile(o.seeds, list.Bytes(), 0o600); err != nil {
			return remove, err
		}
	}
	if !words {
		return remove, nil
	}
	var messages bytes.Buffer
	cmd := prefix.Command(ctx, "topic", "-query", o.topic, "-language", o.language)
	cmd.Stderr = &messages
	made, err := cmd.Output()
	if ctx.Err() != nil {
		return remove, context.Cause(ctx)
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return remove, fmt.Errorf("making the topic: %w", err)
	}
	if err != nil {
		return remove, filter.Usagef("-topic %q is not a file, and not a query: %s", o.topic, cmp.Or(strings.TrimSpace(messages.String()), err.Error()))
	}
	if !o.quiet {
		stderr.Write(messages.Bytes())
	}
	if o.dir == "" {
		o.dir = run.NameOf(o.topic)
	}
	o.words = o.topic
	o.topic = filepath.Join(dir, "topic.json")
	return remove, os.WriteFile(o.topic, made, 0o600)
}

// topicHint says how to give a topic that is not a file.
func topicHint(topic string) string {
	return ": it is a file, as topic -query 'WORDS' writes it, or words\nhint: if you mean words: topic -query " + run.Quote(topic) + " >topic.json, and -topic topic.json"
}
