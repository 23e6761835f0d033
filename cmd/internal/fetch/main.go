// Package fetch is the command fetch, which fetches pages from the web or from archives.
package fetch

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/atomicfile"
	"spoor/internal/crawler"
	"spoor/internal/polite"
	"spoor/internal/scope"
	"spoor/internal/wire"
)

//go:embed manual.md
var manual string

// maxCredentials is the maximum size of a file of cookies or header fields, in bytes.
const maxCredentials = 1 << 20

// The media types that are accepted unless -mime is given.
const (
	liveTypes = "text/html, application/xhtml+xml, text/plain, application/xml, text/xml"
	allTypes  = "text/html, application/xhtml+xml"
)

// A command holds the values of the flags.
type command struct {
	crawler.Options
	stream       filter.Stream
	files        filter.Strings // with addresses
	addresses    []string       // given as arguments, a line each
	archiveFirst bool
	all          bool
	status       []int // nil: any
}

// Command is the command fetch.
var Command = filter.Command{Name: "fetch", Manual: manual, Run: run}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	c.stream.Name, c.stream.Want, c.stream.NoBatching = "fetch", wire.Address, true
	c.stream.Stdout, c.stream.Stderr = stdout, stderr
	logger := filter.Logger(stderr, "fetch", c.stream.Log)
	faults := filter.Faults{Log: logger}
	c.Warn = logger.Warn
	c.Fault = func(archive string, err error) {
		if faults.ShouldLog(archive) {
			logger.Warn("part of an archive cannot be read", "archive", archive, "err", err)
		}
	}
	if c.all {
		return c.writeAll(stdin, logger)
	}
	var in io.Reader = strings.NewReader(strings.Join(c.addresses, ""))
	if len(c.addresses) == 0 || len(c.files) > 0 {
		if len(c.files) == 0 && len(c.Archives) > 0 && filter.IsTerminal(stdin) {
			fmt.Fprintln(stderr, "fetch: addresses of pages in the archives are expected; -all writes all pages")
		}
		files, err := filter.Open(stdin, c.files)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w\nhint: an address begins with http:// or https://", err)
		} else if err != nil {
			return err
		}
		defer files.Close()
		in = io.MultiReader(in, files)
	}
	c.stream.Stdin = filter.Addresses(in)
	if slices.Contains(c.Archives, archive.Input) || slices.Contains(c.Dedup, archive.Input) {
		return filter.Usagef("addresses cannot be looked up in an archive on stdin\nhint: save the archive to a file, or use -all")
	}
	if len(c.Archives) > 0 && !c.archiveFirst {
		return c.replay()
	}
	return c.live(logger)
}

// live fetches addresses from the web.
func (c *command) live(logger *slog.Logger) (err error) {
	defer limitMemory(c.MemoryLimit() + filter.Headroom)()
	out, closeOut, err := filter.Tee(c.stream.Stdout, c.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()
	ctx, stop := filter.NotifyContext("")
	defer stop()
	filter.IgnorePipe()
	tally := filter.NewTally(logger)
	if !c.stream.Strict {
		c.Malformed = func(bad *wire.SyntaxError) {
			bad.Outcome = false // fetch skips the line
			tally.Bad(bad)
		}
	}
	crawl, err := crawler.Open(ctx, c.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, crawl.Close()) }()
	in := wire.NewReader(c.stream.Stdin, c.stream.Want|wire.Fetch) // for not_before
	if c.stream.Limit > 0 {
		in.Limit = int(c.stream.Limit)
	}
	stats, err := crawl.Run(ctx, in, out)
	tally.In, tally.Out = stats.In, stats.Out
	tally.Close(c.closingNotes(&stats)...)
	switch {
	case err != nil:
		return err
	case stats.NoneAllowed():
		return c.noneAllowed(&stats)
	}
	return tally.ErrIfNoneValid()
}

// closingNotes returns the attributes of the closing line, except the numbers of records.
func (c *command) closingNotes(stats *crawler.Stats) []slog.Attr {
	var notes []slog.Attr
	for _, code := range []string{
		wire.ErrorRobots, wire.ErrorDNS, wire.ErrorConnect, wire.ErrorTLS, wire.ErrorTimeout, wire.ErrorHTTP,
		wire.ErrorTooLarge, wire.ErrorBlockedAddress, wire.ErrorBadURL, wire.ErrorRedirectLoop,
		wire.ErrorUnsupportedType, wire.ErrorBudget,
	} {
		if n := stats.Errors[code]; n > 0 {
			notes = append(notes, slog.Int64("error_"+code, n))
		}
	}
	if c.Sitemaps {
		notes = append(notes, slog.Int64("sitemaps", stats.Sitemaps))
	}
	if n := stats.PolicyRefused; n > 0 {
		notes = append(notes, slog.Int64("policy_refused", n))
	}
	return notes
}

// noneAllowed returns the error of a run in which every address was refused.
func (c *command) noneAllowed(stats *crawler.Stats) error {
	const private = "-allow-private is needed to fetch private addresses, including loopback"
	if stats.PolicyRefused == 0 {
		return filter.Usagef("all addresses are private\nhint: %s", private)
	}
	missing, hint := "without -contact", "give -contact you@example.org, a mail address or URL by which the owner of a site can reach you"
	if c.Contact != "" {
		missing, hint = "with -delay 0s", fmt.Sprintf("without -delay it is %v", polite.DefaultDelay)
	}
	if stats.PrivateRefused > 0 {
		return filter.Usagef("some addresses are private, and the others cannot be fetched %s\nhint: %s\nhint: %s", missing, hint, private)
	}
	return filter.Usagef("only loopback can be fetched %s, and no address is on loopback\nhint: %s", missing, hint)
}

// limitMemory makes the collector keep the heap below limit, until restore is called. A
// limit that is set from outside (GOMEMLIMIT) is left alone.
func limitMemory(limit int64) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if before != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(limit)
	return func() { debug.SetMemoryLimit(before) }
}

// replay answers addresses from archives, in the order in which they are read.
func (c *command) replay() error {
	r, err := c.OpenReplay()
	if err != nil {
		return err
	}
	defer r.Close()
	c.stream.Notes = func() []slog.Attr {
		if n := r.Faults(); n > 0 { // found now, or when the index was made
			return []slog.Attr{slog.Int64("archive_faults", n)}
		}
		return nil
	}
	return c.stream.Each(func() func(*wire.Record) error {
		return func(rec *wire.Record) error {
			if rec.URL != "" {
				c.Answer(r, rec)
			}
			return nil
		}
	})
}

// writeAll writes a record for every response in the archives. One of the archives may be stdin.
func (c *command) writeAll(stdin io.Reader, logger *slog.Logger) (err error) {
	out, closeOut, err := filter.Tee(c.stream.Stdout, c.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()
	revisits, read := int64(0), int64(0)
	c.Revisit = func() { revisits++ }
	c.ArchiveRecord = func() { read++ }
	records, err := c.Responses(stdin, c.status)
	if err != nil {
		return err
	}
	tally := filter.NewTally(logger)
	w := wire.NewWriter(out)
	var failed error
	for rec, err := range records {
		if err != nil {
			tally.Skip("fault")
			if unreadable, ok := errors.AsType[*crawler.ArchiveError](err); ok {
				c.Fault(unreadable.Archive, err)
			}
			if _, ok := errors.AsType[*archive.FormatError](err); !ok {
				failed = err
			}
			continue
		}
		tally.Count()
		if err := w.WriteOrFail(rec, "the record is longer than a line may be"); err != nil {
			return fmt.Errorf("writing records: %w", err)
		}
		tally.Out++
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	var notes []slog.Attr
	if revisits > 0 {
		notes = append(notes, slog.Int64("revisits", revisits))
	}
	tally.Close(notes...)
	switch n := tally.Skipped["fault"]; {
	case failed != nil:
		return failed
	case n == 0 && read == 0:
		return archive.EmptyError(c.Archives)
	case n == 0:
		return nil
	case tally.In == 0:
		return errors.New("no page could be read from the archives\n" + crawler.ArchiveHint)
	default:
		return fmt.Errorf("parts of the archives that could not be read: %d; all else was written\nhint: warc verify lists them, and warc repair makes a copy without them", n)
	}
}

func parseFlags(args []string, stderr io.Writer) (*command, error) {
	c := &command{Options: crawler.Options{Version: filter.Version, MaxBody: archive.DefaultBody}}
	c.WARC.MaxSize = archive.DefaultMaxSize
	fs := filter.Flags("fetch", manual, stderr)
	c.stream.CommonFlags(fs)
	fs.Var(&c.files, "f", "read addresses from this `file`; - is stdin; may be repeated")
	fs.IntVar(&c.Workers, "j", 0, "send `n` requests at a time (default 64 live, one for each processor from an archive)")
	fs.Var((*filter.Strings)(&c.Archives), "archive", "answer from this `file` (WARC, ARC, WACZ), pattern or directory instead of the web; with -all, - is stdin; may be repeated")
	fs.Func("capture", "with -archive: `which` of several captures to use: newest (default), first, or the nearest to a date (2024, 20240131, 2024-01-31T12:00:00Z)", func(s string) (err error) {
		c.Capture, err = archive.ParsePick(s)
		return err
	})
	fs.BoolVar(&c.archiveFirst, "archive-first", false, "with -archive: request from the web what the archives do not hold")
	fs.BoolVar(&c.all, "all", false, "with -archive: read no addresses, write every response in the archives, except revisits")
	mime := fs.String("mime", "", "media `types` to accept, separated by commas, image/* for all image types; '' is any; +TYPES adds to the default (default live "+liveTypes+"; with -all "+allTypes+"; else any)")
	status := fs.String("status", "200", "with -all: status `codes` to accept, separated by commas; '' is any")
	filter.CacheFlag(fs, &c.ArchiveCache, "indexes of archives and, if this flag is given, robots.txt, for runs to share")
	fs.StringVar(&c.WARC.Prefix, "warc", "", "store what is received in PREFIX-*.warc.gz; `prefix` may begin with a directory")
	fs.Var((*filter.Size)(&c.WARC.MaxSize), "warc-size", "`bytes` at which a WARC file is closed and the next one started")
	fs.BoolVar(&c.WARC.Zstd, "warc-zstd", false, "write PREFIX-*.warc.zst instead")
	fs.IntVar(&c.WARC.Level, "warc-level", 0, "compression `level` of -warc: 1 (fast) to 9 (small), or 0 for none (default 6); with -warc-zstd 1 to 22 (default 1)")
	fs.StringVar(&c.WARCDone, "warc-done", "", "run this shell `command` with each finished WARC file as its last argument, as in 'mv -t /srv/captures'; if it fails, there is a warning, and it is run again")
	fs.Var((*filter.Strings)(&c.Dedup), "warc-dedup", "write a revisit record if this `file` or directory of archives holds the payload; may be repeated")
	fs.StringVar(&c.WARC.Digest, "digest", "sha1", "`name` of the digest in WARC files: sha1 or sha256")
	fs.StringVar(&c.State, "state", "", "`directory` in which the state of hosts, and robots.txt unless -cache is given, is kept for the next run; without it nothing is kept")
	fs.DurationVar(&c.StateWait, "wait", 30*time.Second, "maximum `time` to wait for another fetch that uses -state")
	fs.StringVar(&c.Contact, "contact", "", "`address` (mail or URL) by which site owners can reach you; required, except for loopback (with -allow-private)")
	fs.StringVar(&c.Agent, "agent", "spoor", "`name` of the crawler, in User-Agent and for robots.txt")
	fs.DurationVar(&c.Delay, "delay", polite.DefaultDelay, "minimum pause between two requests to a host; 0s (loopback only): no pauses and, unless -host-rate is given, no crawl-delay and back-off")
	fs.DurationVar(&c.MaxDelay, "max-delay", polite.DefaultMaxDelay, "maximum pause for crawl-delay or slowness")
	fs.Float64Var(&c.Slowness, "slowness", polite.DefaultSlowness, "pause at least `n` times as long as the last request took; 0 disables this")
	fs.Float64Var(&c.Rate, "rate", 0, "at most `n` requests per second, over all hosts; 0: unlimited; with -partition each has an equal part of it")
	fs.Float64Var(&c.HostRate, "host-rate", 0, "at most `n` requests per second to each host; 0: limited by the pauses only")
	fs.Float64Var(&c.AddressRate, "address-rate", 10, "at most `n` requests per second, on average, to each public IP address, whatever the names of its hosts; 0: no limit")
	fs.DurationVar(&c.ConnectTimeout, "connect-timeout", 10*time.Second, "maximum `time` to look up and connect to a server, and again for the TLS handshake")
	fs.DurationVar(&c.HeaderTimeout, "header-timeout", 30*time.Second, "maximum `time` from a request to the end of the response header")
	fs.DurationVar(&c.Timeout, "timeout", 60*time.Second, "maximum `time` for one request and its response")
	proxy := fs.String("proxy", "", "send requests through this proxy: `URL` with http, https, socks5 (names are resolved here) or socks5h (there), or a file that holds it, so that its password is not shown")
	fs.BoolVar(&c.Insecure, "insecure", false, "accept invalid certificates; error_detail says why they are invalid")
	fs.BoolVar(&c.HTTP1, "http1", false, "use HTTP/1.1 only")
	fs.DurationVar(&c.Deadline, "deadline", 0, "after this `time`, return addresses that were not fetched with the error \"budget\"; live only; 0: no limit")
	fs.Var((*filter.Size)(&c.MaxBody), "max-body", "cut bodies at this many `bytes`, as received and as decoded")
	fs.BoolVar(&c.AllowPrivate, "allow-private", false, "connect to loopback and private addresses too")
	fs.Func("allow-port", "allow this `port`, which is blocked by default (such as 22 or 25); may be repeated", c.AllowPort)
	fs.Func("scope", "request only addresses that belong to the crawl by the rules in this `file`, also after redirects; same-host and same-site need a name (frontier add -h)", func(name string) (err error) {
		lines, err := filter.ReadScope(name, scope.Check)
		if err == nil {
			c.Scope, err = scope.Parse(lines)
		}
		if err == nil && c.Scope.NeedsSeeds() {
			err = fmt.Errorf("%s: same-host and same-site without a name: fetch does not know the seeds\nhint: same-host example.org", name)
		}
		return err
	})
	credentials := func(read func(*crawler.Credentials, io.Reader) error) func(string) error {
		return func(name string) error {
			b, err := atomicfile.ReadFile(name, maxCredentials)
			if err != nil {
				return err
			}
			if c.Credentials == nil {
				c.Credentials = new(crawler.Credentials)
			}
			if err := read(c.Credentials, bytes.NewReader(b)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
	}
	fs.Func("cookies", "send the cookies in this `file` (the cookies.txt of Netscape, browsers and curl); live only", credentials(func(k *crawler.Credentials, r io.Reader) error {
		return k.ReadCookies(r, time.Now())
	}))
	fs.Func("headers", "send the header fields in this `file`, one per line: ADDRESS NAME: VALUE, for that address and those below it (* for all); live only", credentials((*crawler.Credentials).ReadFields))
	fs.BoolVar(&c.Sitemaps, "sitemaps", false, "fetch the sitemaps of each host too; live only")
	fs.Var(&c.Partition, "partition", "in a crawl on several machines: the partition `p/P`; redirects to hosts of other partitions are not followed, and the record has the status of the redirect")
	fs.BoolVar(&c.NoArchive, "noarchive", false, "with -warc: do not store responses marked noarchive")
	fs.Uint64Var(&c.Seed, "seed", 1, "`seed` of the jitter of back-offs")
	rest, err := filter.ParseMixed(fs, args)
	if err != nil {
		return nil, err
	}
	for _, arg := range rest {
		if strings.Contains(arg, "://") {
			c.addresses = append(c.addresses, arg+"\n")
		} else {
			c.files = append(c.files, arg)
		}
	}
	given := filter.Given(fs)
	if err := c.check(given); err != nil {
		return nil, err
	}
	c.Rate /= float64(max(1, c.Partition.Of))

	replayed := len(c.Archives) > 0 && !c.archiveFirst
	if given["cache"] {
		c.RobotsDir = c.ArchiveCache
	} else {
		c.RobotsDir = c.State
	}
	if given["warc-level"] && c.WARC.Level == 0 {
		c.WARC.Level = archive.Stored
	}
	if *proxy != "" {
		u, err := crawler.ParseProxy(*proxy)
		if err != nil {
			return nil, filter.Usagef("%v", err)
		}
		c.Proxy = u
	}
	more, added := strings.CutPrefix(*mime, "+")
	if !given["mime"] || added {
		switch {
		case c.all:
			*mime = allTypes
		case !replayed:
			*mime = liveTypes
		case added: // to any
			*mime, more = "", ""
		}
		if more != "" {
			*mime += "," + more
		}
	}
	types, err := archive.ParseMediaTypes(*mime)
	if err != nil {
		return nil, filter.Usagef("-mime %s: %v", *mime, err)
	}
	c.MIME = types
	for s := range strings.SplitSeq(*status, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 100 || n > 999 {
			return nil, filter.Usagef("-status %s: %q is not a status code\nhint: -status 200,404", *status, s)
		}
		c.status = append(c.status, n)
	}
	switch {
	case c.Workers > 0:
	case replayed:
		c.Workers = runtime.GOMAXPROCS(0)
	default:
		c.Workers = 64
	}
	c.stream.Workers = c.Workers
	return c, nil
}

// check returns an error if the flags contradict each other or have invalid values. given
// are the names of the flags on the command line.
func (c *command) check(given map[string]bool) error {
	for _, name := range c.files {
		if archive.IsName(name) {
			return filter.Usagef("%s is an archive, not a list of addresses\nhint: -archive before each archive, or a pattern in quotes: -archive 'crawl/*.warc.gz'", name)
		}
	}
	replayed := len(c.Archives) > 0 && !c.archiveFirst
	switch {
	case c.archiveFirst && len(c.Archives) == 0:
		return filter.Usagef("-archive-first needs -archive FILE")
	case c.all && c.Scope != nil:
		return filter.Usagef("-scope cannot be used with -all, which writes every response\nhint: give the addresses to fetch, or filter the records")
	case c.archiveFirst && c.all:
		return filter.Usagef("-all and -archive-first cannot be used together")
	case c.all && !replayed:
		return filter.Usagef("-all needs -archive FILE")
	case given["capture"] && len(c.Archives) == 0:
		return filter.Usagef("-capture needs -archive FILE")
	case given["capture"] && c.all:
		return filter.Usagef("-capture cannot be used with -all, which writes every capture")
	case c.all && len(c.addresses)+len(c.files) > 0:
		return filter.Usagef("-all reads no addresses, but %s was given\nhint: an archive is given with -archive", strings.TrimSpace(append(c.addresses, c.files...)[0]))
	case replayed && c.WARC.Prefix != "":
		return filter.Usagef("-warc cannot be used with -archive: it stores pages from the web")
	case replayed && c.State != "":
		return filter.Usagef("-state cannot be used with -archive: it is for the web")
	case replayed && c.Credentials != nil:
		return filter.Usagef("-cookies and -headers are for requests, and -archive makes none\nhint: -archive-first requests what the archives do not hold")
	case replayed && c.Sitemaps:
		return filter.Usagef("-sitemaps cannot be used with -archive: it is for the web\nhint: fetch -archive FILE -all -mime '' includes archived sitemaps")
	case replayed && c.Deadline != 0:
		return filter.Usagef("-deadline cannot be used with -archive: it is for the web")
	case c.NoArchive && c.WARC.Prefix == "":
		return filter.Usagef("-noarchive needs -warc PREFIX")
	case c.WARC.Prefix == "" && (c.WARC.Zstd || len(c.Dedup) > 0 || c.WARCDone != "" || given["digest"] || given["warc-level"]):
		return filter.Usagef("-warc-zstd, -warc-level, -warc-dedup, -warc-done and -digest need -warc PREFIX")
	case given["warc-level"] && c.WARC.Zstd && (c.WARC.Level < 1 || c.WARC.Level > 22):
		return filter.Usagef("-warc-level %d: zstd has the levels 1 to 22", c.WARC.Level)
	case !c.WARC.Zstd && (c.WARC.Level < 0 || c.WARC.Level > 9):
		return filter.Usagef("-warc-level %d: gzip has the levels 0 to 9", c.WARC.Level)
	case c.WARC.Digest != "sha1" && c.WARC.Digest != "sha256":
		return filter.Usagef("-digest %s is not supported\nhint: sha1 or sha256", c.WARC.Digest)
	case c.Delay < 0 || c.MaxDelay < 0 || c.Deadline < 0:
		return filter.Usagef("-delay, -max-delay and -deadline must not be negative")
	case c.Timeout <= 0 || c.ConnectTimeout <= 0 || c.HeaderTimeout <= 0:
		return filter.Usagef("-timeout, -connect-timeout and -header-timeout must be positive")
	case !(c.Slowness >= 0 && c.Rate >= 0 && c.HostRate >= 0) || max(c.Slowness, c.Rate, c.HostRate) > 1e9:
		return filter.Usagef("-slowness, -rate and -host-rate must be between 0 and 1e9")
	case c.AddressRate != 0 && !(c.AddressRate >= 0.1 && c.AddressRate <= 1e9):
		return filter.Usagef("-address-rate must be 0, or between 0.1 and 1e9: -delay makes longer pauses")
	case c.Workers < 0:
		return filter.Usagef("-j must not be negative")
	case strings.IndexFunc(c.Agent+c.Contact, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 || strings.ContainsAny(c.Contact, "()"):
		return filter.Usagef("-agent and -contact become part of a header: only ASCII, and no parentheses")
	case c.Contact != "" && !strings.Contains(c.Contact, "@") && !strings.Contains(c.Contact, "://"):
		return filter.Usagef("-contact %s is neither a mail address nor a URL\nhint: -contact you@example.org", c.Contact)
	}
	return nil
}
