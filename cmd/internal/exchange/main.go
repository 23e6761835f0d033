// Package exchange is the command exchange, which connects the partitions of a crawl on several machines.
package exchange

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/exchange"
	"spoor/internal/frontier"
	"spoor/internal/partition"
	"spoor/internal/run"
	"spoor/internal/scope"
	"spoor/internal/terminal"
	"spoor/internal/wire"
)

//go:embed manual/*.md
var manuals embed.FS

// manual returns the manual of a subcommand, or that of exchange itself.
func manual(name string) string {
	text, err := manuals.ReadFile("manual/" + name + ".md")
	if err != nil {
		panic(err) // a subcommand without a manual
	}
	return string(text)
}

// Command is the command exchange.
var Command = filter.Command{Name: "exchange", Manual: manual("exchange"), Run: invoke}

// A command is one invocation of a subcommand, with its flags.
type command struct {
	servers               exchange.Servers
	crawl                 string
	partition             partition.Partition
	patience              time.Duration
	settings              exchange.Settings
	replicas              int
	maxBytes              filter.Size
	store, state, windows string
	node                  string
	lease                 time.Duration
	argv                  []string // of hold
	files                 filter.Strings
	dir                   string
	options               frontier.Options
	scope                 []string
	log                   filter.LogOptions
	stdin                 io.Reader
	stdout, stderr        io.Writer
	stream                *exchange.JetStream
	logger                *slog.Logger
}

func invoke(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == commandsName {
		return runCommands(args[1:], stdin, stdout, stderr)
	}
	commands := map[string]func(*command, context.Context) error{
		"create": (*command).create, "pass": (*command).pass, "restore": (*command).restore, "status": (*command).status,
		"hold": (*command).hold, "files": (*command).writeFiles,
	}
	name := ""
	if len(args) > 0 && commands[args[0]] != nil {
		name, args = args[0], args[1:]
	}
	c := &command{stdin: stdin, stdout: stdout, stderr: stderr, maxBytes: 1 << 30}
	fs := filter.Flags(strings.TrimSpace("exchange "+name), manual(cmp.Or(name, "exchange")), stderr)
	c.define(fs, name)
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	if name == "hold" {
		c.argv = fs.Args()
		if err := c.checkHold(); err != nil {
			return err
		}
	}
	switch {
	case name == "":
		return filter.Usagef("a subcommand is missing: create, pass, restore, hold, files or status\nhint: exchange -h describes them")
	case fs.NArg() > len(c.argv):
		return filter.Usagef("unexpected argument %q", fs.Arg(0))
	case c.servers.URLs == "" || c.crawl == "":
		return filter.Usagef("-to and -crawl are needed: the servers, and the name of the crawl")
	case (name == "pass" || name == "restore") && c.partition.Of == 0:
		return filter.Usagef("-partition is missing, such as 7/16")
	case name == "files" && c.dir == "":
		return filter.Usagef("-dir is missing: the directory for the files")
	case name == "restore" && c.store == "":
		return filter.Usagef("-store is missing: the directory of the partition's store")
	}
	if err := exchange.CheckName(c.crawl); err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	c.logger = filter.Logger(stderr, strings.TrimSpace("exchange "+name+" "+c.partition.String()), c.log)
	c.servers.Name = strings.TrimSpace("spoor exchange " + name + " " + c.crawl + " " + c.partition.String())
	var err error
	if c.stream, err = exchange.Connect(c.servers, c.crawl); err != nil {
		return err
	}
	defer c.stream.Close()
	ctx := context.Background()
	if name != "pass" { // which ends when its input does
		var stop context.CancelFunc
		ctx, stop = filter.NotifyContext("interrupted")
		defer stop()
	}
	return commands[name](c, ctx)
}

func (c *command) define(fs *flag.FlagSet, name string) {
	s := &c.servers
	fs.StringVar(&s.URLs, "to", "", "the `addresses` of the servers, separated by commas; an address is host, host:port or tls://host:port; required")
	fs.StringVar(&s.Credentials, "creds", "", "`file` with NATS credentials (.creds)")
	fs.StringVar(&s.NKey, "nkey", "", "`file` with the seed of an nkey")
	fs.StringVar(&s.CA, "ca", "", "`file` with the certificates of the authority that signs those of the servers")
	fs.StringVar(&s.Cert, "cert", "", "`file` with the certificate of this client")
	fs.StringVar(&s.Key, "key", "", "`file` with the key of -cert")
	fs.StringVar(&c.crawl, "crawl", "", "the `name` of the crawl; letters, digits, - and _; required")
	fs.DurationVar(&c.patience, "patience", 10*time.Minute, "maximum `time` to wait for servers that do not answer; with create also how long partitions wait for an address that becomes due (stored in the settings of the crawl)")
	filter.LogFlags(fs, &c.log)
	switch name {
	case "create":
		n := &c.settings
		fs.IntVar(&n.Partitions, "partitions", 16, "the `number` of partitions; it cannot be changed")
		fs.IntVar(&n.Size, "size", 20, "average `number` of addresses of a partition in a generation")
		fs.IntVar(&n.Pages, "pages", 0, "end when the cost reaches `n`; 0 is no limit")
		fs.IntVar(&n.Generations, "generations", 0, "end after `n` generations; 0 is no limit")
		fs.IntVar(&n.Lag, "lag", 0, "begin generation g+1 when all partitions have committed generation g-`S`, 0 to 16")
		fs.StringVar(&n.Share, "share", exchange.ByPriority, "`rule` that divides a generation among the partitions, priority or reward; priority (the highest priorities of all; for strategies whose priorities can be compared between partitions) or reward (by each partition's recent share of relevant pages)")
		fs.IntVar(&c.replicas, "replicas", 1, "store each message on `n` servers: 3 survive the loss of one")
		fs.Var(&c.maxBytes, "max-bytes", "maximum size of the stream in `bytes`; the servers reserve it, and a crawl waits while it is full")
		fs.Var(&c.files, "file", "publish a `file` for all nodes, such as the topic; repeatable")
	case "hold":
		fs.StringVar(&c.node, "node", "", "the `name` of this machine; letters, digits, - and _, unique in the crawl; required")
		fs.DurationVar(&c.lease, "lease", 3*time.Second, "the other nodes take the partitions over when this node is silent for this `time`")
	case "files":
		fs.StringVar(&c.dir, "dir", "", "the `directory` for the files")
	case "pass", "restore":
		fs.Var(&c.partition, "partition", "the partition, `p/P`, p from 0 to P-1")
		fs.StringVar(&c.state, "state", "", "the `directory` that evolve -state has")
		fs.StringVar(&c.windows, "windows", "", "the `directory` that evolve -windows has, if the topic grows")
		fs.StringVar(&c.store, "store", "", "with restore: the `directory` of the store")
		fs.StringVar(&c.node, "node", "", "a `name` of this machine, for status")
	}
	if name == "restore" {
		fs.BoolVar(&c.options.ExcludeTraps, "traps", false, "exclude crawler traps, as frontier add -traps does")
		filter.ScopeFlags(fs, &c.scope, scope.Check)
	}
}

// create begins a crawl.
func (c *command) create(ctx context.Context) error {
	c.settings.Patience = c.patience.Seconds()
	files := map[string]string{}
	for _, name := range c.files {
		b, err := atomicfile.ReadFile(name, maxFile)
		if err != nil {
			return err
		}
		files[filepath.Base(name)] = string(b)
	}
	if err := c.stream.Create(ctx, c.replicas, int64(c.maxBytes)); err != nil {
		return err
	}
	if err := c.stream.CreateLeases(ctx, c.replicas); err != nil {
		return err
	}
	s, err := exchange.Create(ctx, c.stream, c.crawl, c.settings, filter.Seeds(c.stdin), files, c.patience, c.logger)
	if err != nil {
		return err
	}
	return json.NewEncoder(c.stdout).Encode(s)
}

// maxFile is the maximum size of a file for all nodes, in bytes.
const maxFile = 64 << 20

// writeFiles writes the files for all nodes.
func (c *command) writeFiles(ctx context.Context) error {
	s, err := exchange.Load(ctx, c.stream, c.crawl, c.patience, c.logger)
	if err != nil {
		return err
	}
	if s == nil {
		return c.noSettings()
	}
	files, err := exchange.Files(ctx, c.stream, c.crawl, s, c.patience, c.logger)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return err
	}
	for name, content := range files {
		if err := atomicfile.WriteBytes(filepath.Join(c.dir, name), []byte(content)); err != nil {
			return err
		}
	}
	return json.NewEncoder(c.stdout).Encode(s)
}

func (c *command) noSettings() error {
	return fmt.Errorf("the stream of the crawl %s has no settings\nhint: exchange create writes them", c.crawl)
}

// load returns the settings of the crawl, which must have the partition.
func (c *command) load(ctx context.Context) (*exchange.Settings, error) {
	s, err := exchange.Load(ctx, c.stream, c.crawl, c.patience, c.logger)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, c.noSettings()
	case s.Partitions != c.partition.Of:
		return nil, filter.Usagef("-partition %v: the crawl %s has %d partitions", c.partition, c.crawl, s.Partitions)
	}
	return s, nil
}

// pass is the last stage of a partition.
func (c *command) pass(ctx context.Context) error {
	s, err := c.load(ctx)
	if err != nil {
		return err
	}
	tally := filter.NewTally(c.logger)
	f := exchange.Filter{
		Stream: c.stream, Name: c.crawl, Settings: s, Partition: c.partition.Number, Node: c.node, Attempt: rand.Text(),
		State: c.state, Windows: c.windows, In: c.stdin, Out: c.stdout, Limit: wire.DefaultLimit, Patience: c.patience, Log: c.logger, Tally: tally,
	}
	err = f.Run(ctx)
	tally.Close()
	return err
}

// restore adds to a store what it lacks.
func (c *command) restore(ctx context.Context) error {
	s, err := c.load(ctx)
	if err != nil {
		return err
	}
	after, err := run.LastWindow(c.store)
	if err != nil {
		return err
	}
	rules, err := scope.Parse(c.scope)
	if err != nil {
		return filter.Exit(filter.StatusMisuse, err)
	}
	o := c.options
	o.Create, o.Scope, o.Wait, o.Holder = true, run.FrontierScope(rules), 30*time.Second, fmt.Sprintf("process %d, exchange restore", os.Getpid())
	store, err := frontier.Open(c.store, o)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	restorer := exchange.Restorer{
		Stream: c.stream, Name: c.crawl, Settings: s, Partition: c.partition.Number, After: after,
		State: c.state, Windows: c.windows, Out: w, Patience: c.patience, Log: c.logger,
	}
	var last int
	var failed error
	done := make(chan struct{})
	go func() {
		last, failed = restorer.Run(ctx)
		w.CloseWithError(failed)
		close(done)
	}()
	tally := filter.NewTally(c.logger)
	err = store.AddFrom(wire.NewReader(r, frontier.Sections), func(rec *wire.Record, verdict frontier.Verdict, err error) {
		tally.Count()
		if verdict == frontier.Refused {
			tally.Refuse(rec.URL, err)
		}
	}, tally.Bad)
	r.CloseWithError(errors.New("the store has failed"))
	<-done
	err = cmp.Or(failed, err)
	if err == nil {
		err = store.Commit()
	}
	cerr := store.Close()
	if _, only := errors.AsType[*frontier.SnapshotError](cerr); only {
		c.logger.Warn("snapshot", "err", cerr)
		cerr = nil
	}
	if err = cmp.Or(err, cerr); err != nil {
		return err
	}
	if err := run.SetLastWindow(c.store, last); err != nil {
		return err
	}
	tally.Close(slog.Int("generation", last))
	return nil
}

// status prints what each partition has done.
func (c *command) status(ctx context.Context) error {
	st, err := c.stream.Describe(ctx)
	if err != nil {
		return err
	}
	_, ok := c.stdout.(*terminal.Writer)
	if f, isFile := c.stdout.(*os.File); !ok && !(isFile && term.IsTerminal(int(f.Fd()))) {
		return json.NewEncoder(c.stdout).Encode(st)
	}
	out := filter.Text(c.stdout)
	const row = "%9v  %10v  %6v  %8v  %8v  %-4v  %v\n"
	fmt.Fprintf(out, row, "partition", "generation", "behind", "spent", "relevant", "done", "last node")
	for _, p := range st.Partitions {
		done := ""
		if p.Done {
			done = "yes"
		}
		fmt.Fprintf(out, row, p.Partition, p.Generation, p.Behind, p.Spent, p.Relevant, done, p.Node)
	}
	state := "no node runs it now"
	switch {
	case st.Over:
		state = "it is over"
	case st.Leaderless:
		state = "too few servers answer; nodes wait for more than half of them"
	case len(st.Nodes) > 0:
		state = "run now by " + strings.Join(st.Nodes, ", ")
	}
	_, err = fmt.Fprintf(out, "%s: %s; %d pages, %d relevant; stream: %d messages, %d of %d bytes; digest %s\n",
		st.Name, state, st.Spent, st.Relevant, st.Messages, st.Bytes, st.MaxBytes, st.Digest)
	return err
}
