package frontier

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/frontier"
	"spoor/internal/interchange"
	"spoor/internal/run"
	"spoor/internal/scope"
	"spoor/internal/wire"
)

// A command is one invocation of a subcommand, with its flags.
type command struct {
	subcommand
	flags  *flag.FlagSet
	args   []string // without flags
	stdin  io.Reader
	stdout io.Writer
	logger *slog.Logger

	store   string
	wait    time.Duration
	strict  bool
	limit   filter.Size
	summary string
	traps   bool
	repair  bool
	scope   []string // rules

	request   frontier.Request
	selection frontier.Selection
	states    []frontier.State
	format    string
	server    run.Server
	compactAt filter.Size
}

// run parses the flags and runs the subcommand.
func (sub subcommand) run(args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	c := &command{subcommand: sub, stdin: stdin, stdout: stdout, limit: wire.DefaultLimit, format: formatRecords}
	c.flags = filter.Flags("frontier "+sub.name, manual(sub.name), stderr)
	c.flags.StringVar(&c.store, "store", "", "the `directory` of the store; required")
	c.flags.DurationVar(&c.wait, "wait", 30*time.Second, "maximum `time` to wait for another process to release the store")
	var log filter.LogOptions
	filter.LogFlags(c.flags, &log)
	sub.flags(c)
	if c.args, err = filter.ParseMixed(c.flags, args); err != nil {
		return err
	}
	if c.store == "" {
		return filter.Usagef("-store DIR is missing")
	}
	if len(c.args) > 0 && !sub.takesArgs {
		return filter.Usagef("%s takes no arguments, but got %q", sub.name, c.args[0])
	}
	c.logger = filter.Logger(stderr, "frontier "+sub.name, log)
	if c.request.Now.IsZero() {
		c.request.Now = time.Now()
	}
	return sub.do(c)
}

// inputFlags defines the flags of commands that read records.
func (c *command) inputFlags() {
	c.flags.BoolVar(&c.strict, "strict", false, "end with status 1 at a line that is not a record")
	c.flags.Var(&c.limit, "limit", "maximum length of a line, in `bytes` (KiB, MiB)")
}

func (c *command) addFlags() {
	c.inputFlags()
	c.trapsFlag()
	c.scopeFlags()
	c.flags.StringVar(&c.summary, "summary", "", "write counts of the added records and of the store to `file`; they are one JSON object")
	c.flags.IntVar(&c.request.Generation, "generation", 0, "with -summary: the `number` of the generation of the outcomes; 0: as given in the records")
}

func (c *command) importFlags() {
	c.addFlags()
	c.formatFlag()
}

func (c *command) exportFlags() {
	c.nowFlag()
	c.formatFlag()
	c.flags.Func("state", "export only URLs in these `states`, separated by commas; they are "+strings.Join(frontier.States(), ", "), func(list string) error {
		c.states = nil
		for name := range strings.SplitSeq(list, ",") {
			state, err := frontier.ParseState(name)
			if err != nil {
				return err
			}
			c.states = append(c.states, state)
		}
		return nil
	})
}

func (c *command) formatFlag() {
	c.flags.Func("format", "the `format`: ndjson, url-frontier or list (default ndjson)", func(name string) error {
		if name != formatRecords && name != formatURLFrontier && name != formatList {
			return fmt.Errorf("no format %q; there are %s, %s and %s", name, formatRecords, formatURLFrontier, formatList)
		}
		c.format = name
		return nil
	})
}

func (c *command) forgetFlags() {
	c.inputFlags()
	c.flags.Var((*filter.Strings)(&c.selection.Hosts), "host", "forget every URL of this `host` (host:port unless it is the default port); may be repeated")
	c.flags.Var((*filter.Strings)(&c.selection.Prefixes), "prefix", "forget every URL that begins with this `URL`; may be repeated")
}

func (c *command) checkFlags() {
	c.flags.BoolVar(&c.repair, "repair", false, "remove damaged places from the log, and keep their bytes in separate files")
}

func (c *command) nowFlag() {
	c.flags.Func("now", "use this `time` (RFC 3339) in place of the current time; it decides what is due and which leases have ended", func(v string) (err error) {
		c.request.Now, err = time.Parse(time.RFC3339, v)
		return err
	})
}

func (c *command) trapsFlag() {
	c.flags.BoolVar(&c.traps, "traps", false, "exclude crawler traps; these are endless calendars, sessions, combinations of parameters, copies, wrong relative links, and URLs that are too long, too deep or repetitive; frontier skipped lists them")
}

func (c *command) scopeFlags() { filter.ScopeFlags(c.flags, &c.scope, scope.Check) }

func (c *command) nextFlags() {
	c.nowFlag()
	c.scopeFlags()
	c.leaseFlags()
	c.flags.IntVar(&c.request.Generation, "generation", -1, "set the generation of the leased addresses to this `number`; it is at least 0 and increases from call to call; default: their generation is not changed")
	c.flags.Lookup("generation").DefValue = "0" // is not printed
	c.flags.DurationVar(&c.request.Lease, "lease", 10*time.Minute, "without -generation: `time` after which an address without an outcome is leased again")
}

// leaseFlags defines the flags that select what is leased.
func (c *command) leaseFlags() {
	fs, q := c.flags, &c.request
	fs.IntVar(&q.N, "n", 0, "lease at most `n` addresses; required")
	fs.IntVar(&q.PerHost, "per-host", 0, "lease at most `n` addresses of one host (and port) at a time; 0 is no limit")
	fs.IntVar(&q.PerNiche, "per-niche", 0, "lease at most `n` addresses of one niche at a time; an address without a niche is in the niche of its host; 0 is no limit")
	fs.IntVar(&q.MaxPerHost, "max-per-host", 0, "lease at most `n` addresses of one host in the whole crawl; further ones are excluded (host_budget in frontier skipped); 0 is no limit")
	fs.IntVar(&q.MaxPerNiche, "max-per-niche", 0, "lease at most `n` addresses of one niche in the whole crawl; further ones are excluded (niche_budget); 0 is no limit")
	fs.BoolVar(&q.Recrawl, "recrawl", false, "also lease visited pages that are due again; that depends on how often they change")
	fs.DurationVar(&q.Horizon, "horizon", 0, "also lease addresses that become due within this `time`; fetch waits for their not_before")
	fs.Func("fair", "share the batch among hosts or niches (`host|niche`); in proportion to the priorities of their addresses; without it only the priority decides", func(group string) error {
		switch group {
		case "":
			q.Fair = frontier.NoGroup
		case "host":
			q.Fair = frontier.ByHost
		case "niche":
			q.Fair = frontier.ByNiche
		default:
			return errors.New("neither host nor niche")
		}
		return nil
	})
}

// checkRequest returns an error if the flags that select what is leased are invalid.
func (c *command) checkRequest() error {
	q := &c.request
	switch {
	case q.N < 1:
		return filter.Usagef("-n is missing, or not positive: the number of addresses")
	case q.Generation < -1:
		return filter.Usagef("-generation must not be negative")
	case q.PerHost < 0 || q.PerNiche < 0 || q.MaxPerHost < 0 || q.MaxPerNiche < 0 || q.Horizon < 0 || c.name == "next" && q.Lease <= 0:
		return filter.Usagef("limits of hosts and niches and -horizon must not be negative, and -lease must be positive")
	}
	return nil
}

func (c *command) options() frontier.Options {
	return frontier.Options{Wait: c.wait, Holder: fmt.Sprintf("process %d, frontier %s", os.Getpid(), c.name)}
}

// scopedOptions returns the options with the scope that the flags describe.
func (c *command) scopedOptions() (frontier.Options, error) {
	o := c.options()
	rules, err := scope.Parse(c.scope)
	if err != nil {
		return o, filter.Usagef("the scope: %v", err)
	}
	o.Scope = run.FrontierScope(rules)
	return o, nil
}

// open opens the store and logs what that found.
func (c *command) open(o frontier.Options) (*frontier.Store, error) {
	s, err := frontier.Open(c.store, o)
	if err != nil {
		return nil, err
	}
	found := s.Opened()
	if found.Snapshot != nil {
		c.logger.Warn("rebuilt the index from the log", "err", found.Snapshot)
	}
	if found.Truncated > 0 && !o.ReadOnly {
		c.logger.Warn("cut off an unfinished write, which was never acknowledged", "bytes", found.Truncated)
	}
	return s, nil
}

// close closes s, and returns err or the error of closing. If only the snapshot could not be
// written, that is not an error.
func (c *command) close(s *frontier.Store, err error) error {
	closing := c.warnSnapshot(s.Close())
	if err != nil {
		return err
	}
	return closing
}

// warnSnapshot logs an error that concerns only the snapshot, and returns any other.
func (c *command) warnSnapshot(err error) error {
	if only, ok := errors.AsType[*frontier.SnapshotError](err); ok {
		c.logger.Warn("snapshot", "err", only)
		return nil
	}
	return err
}

// read runs f on the store, which is opened for reading only.
func (c *command) read(f func(*frontier.Store, *bufio.Writer) error) error {
	o := c.options()
	o.ReadOnly = true
	s, err := c.open(o)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(c.stdout, 1<<16)
	if err = f(s, w); err == nil {
		err = w.Flush()
	}
	return c.close(s, err)
}

// The formats of import and export.
const (
	formatRecords     = "ndjson"
	formatURLFrontier = "url-frontier"
	formatList        = "list"
)

// reader returns a reader of the input of add and import.
func (c *command) reader(r io.Reader) frontier.RecordReader {
	convert := interchange.FromURLFrontier
	switch c.format {
	case formatRecords:
		records := wire.NewReader(filter.Seeds(r), frontier.Sections)
		records.Limit = int(c.limit)
		return records
	case formatList:
		convert = interchange.FromList()
	}
	records := interchange.NewReader(r, frontier.Sections, convert)
	records.Limit = int(c.limit)
	return records
}
