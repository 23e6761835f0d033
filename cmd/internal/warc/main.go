// Package warc is the command warc, which lists, reads, indexes, verifies, repairs and packs web archives.
package warc

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
)

// The manuals of warc and its subcommands.
var (
	//go:embed manual.md
	manual string
	//go:embed manual_ls.md
	lsManual string
	//go:embed manual_cat.md
	catManual string
	//go:embed manual_index.md
	indexManual string
	//go:embed manual_verify.md
	verifyManual string
	//go:embed manual_repair.md
	repairManual string
	//go:embed manual_pack.md
	packManual string
)

// interrupted is the error of repair and pack when a signal ends them.
const interrupted = "interrupted: the current file is unchanged"

// A subcommand is a command of warc. new defines its flags and returns its body.
type subcommand struct {
	name, manual string
	new          func(*command) func() error
}

var subcommands = []subcommand{
	{"ls", lsManual, newList},
	{"cat", catManual, newCat},
	{"index", indexManual, newIndex},
	{"verify", verifyManual, newVerify},
	{"repair", repairManual, newRepair},
	{"pack", packManual, newPack},
}

// Command is the command warc.
var Command = filter.Command{Name: "warc", Manual: manual, Run: run}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var names []string
	for _, s := range subcommands {
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
		return filter.Usagef("no command given; there are %s\nhint: warc -h tells more", known)
	}
	return filter.Usagef("no command %q; there are %s\nhint: warc -h tells more", args[0], known)
}

// A command is the common part of a running subcommand.
type command struct {
	flags   *flag.FlagSet
	args    []string // without flags
	stdin   io.Reader
	stdout  *bufio.Writer
	log     *slog.Logger
	faults  filter.Faults // limits the log
	tally   *filter.Tally
	skipped error  // why the first of the skipped archives could not be read
	damaged string // message about a fault, if it is another than usual
}

func (s subcommand) run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c := &command{flags: filter.Flags("warc "+s.name, s.manual, stderr), stdin: stdin, stdout: bufio.NewWriterSize(stdout, 1<<16)}
	var logs filter.LogOptions
	filter.LogFlags(c.flags, &logs)
	body := s.new(c)
	var err error
	if c.args, err = filter.ParseMixed(c.flags, args); err != nil {
		return err
	}
	c.log = filter.Logger(stderr, "warc "+s.name, logs)
	c.faults.Log = c.log
	c.tally = filter.NewTally(c.log)
	err = body()
	if e := c.stdout.Flush(); e != nil {
		return e
	}
	return err
}

// files returns the archives named by the arguments, or stdin if there are none.
func (c *command) files() []string {
	if len(c.args) == 0 {
		return []string{archive.Input}
	}
	return c.args
}

// errIfEmpty returns an error if no record was read.
func (c *command) errIfEmpty(records, faults int64) error {
	switch {
	case records > 0:
		return nil
	case faults > 0:
		return archive.ErrNoRecords
	}
	return archive.EmptyError(c.files())
}

// skipArchive logs that an archive cannot be read, or not to its end. The command continues
// with the next archive, and fails in the end. It returns false for an error without a path,
// which is not about an archive.
func (c *command) skipArchive(path string, err error) bool {
	if path == "" {
		return false
	}
	c.log.Warn("left out what could not be read", "archive", path, "err", err)
	c.skipped = cmp.Or(c.skipped, err)
	return true
}

// fault counts and logs a fault of an archive. It returns false for any other error.
func (c *command) fault(path string, err error) bool {
	fault, ok := errors.AsType[*archive.FormatError](err)
	if ok {
		c.tally.Skipped["fault"]++
		if c.faults.ShouldLog(path) {
			message := "archive damaged: a record there is missing or incomplete"
			if errors.Is(fault, archive.ErrNotWARC) {
				message = "no record found in the archive so far"
			}
			c.log.Warn(cmp.Or(c.damaged, message), "archive", path, "err", fault)
		}
	}
	return ok
}

// printLine writes v as a line: as JSON, or by its String method.
func (c *command) printLine(asJSON bool, v fmt.Stringer) (err error) {
	if !asJSON {
		_, err = fmt.Fprintln(filter.Text(c.stdout), v)
		return err
	}
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// checkOutput returns an error if the directory of the file out does not exist, or if writing the file
// would overwrite an input or, unless force is true, any other file that is not empty.
func checkOutput(out string, force bool, inputs []string) error {
	target, err := os.Stat(out)
	if err != nil {
		dir := filepath.Dir(out)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("writing %s: there is no directory %s", out, dir)
		}
		return nil // it does not exist
	}
	for _, input := range inputs {
		if info, err := os.Stat(input); err == nil && os.SameFile(target, info) {
			return filter.Usagef("%s is read, so it cannot be written\nhint: another name for -o, or remove the file first if it is from an earlier run", out)
		}
	}
	if !force && target.Mode().IsRegular() && target.Size() > 0 {
		return filter.Usagef("%s exists\nhint: -force replaces it", out)
	}
	return nil
}
