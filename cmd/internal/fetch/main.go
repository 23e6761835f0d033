// Fetch fetches pages from the web or from archives.
//
// Usage:
//
//	fetch [flags] URL…
//	fetch [flags] [-f FILE…] < addresses
//	fetch -archive FILE [-archive FILE…] [-archive-first] [flags] [URL…] < addresses
//	fetch -archive FILE [-archive FILE…] -all [-mime TYPES] [-status CODES]
//
// Fetch takes addresses from its arguments, or reads address records or plain lines with one URL
// each from the files of -f or from stdin, and writes each of them back with its outcome: the
// response and its body, or an error. An argument without :// is the name of a file too.
//
// # Live
//
// Without -archive, fetch requests pages from the web. It obeys robots.txt (RFC 9309),
// sends one request at a time to each host, a name and a port, and pauses in between: for -delay, for the
// host's crawl-delay, or for -slowness times as long as the last request took, whichever
// is longest; the latter two are limited by -max-delay. After a failure, including 5xx,
// it sends the host no requests for a while. Hosts take turns; -j limits concurrent requests,
// -rate and -host-rate limit requests per second. Many names may lead to one server, as with blogs
// on one domain or a wildcard in DNS; -address-rate limits the requests per second to each public IP
// address, whatever the names. An address whose turn is more than a minute away is returned with the error
// "budget" and not_before. Each run of fetch (in a crawl without -steady, each generation) and each
// partition counts for itself, and there is no such limit behind a proxy that resolves the names.
//
// Records are written in the order in which they are done. Fetch does not wait for a host that
// has failed or requested a pause (Retry-After): it returns the other addresses of that host with
// the error "budget" and not_before. It does wait for an address that is read with not_before
// (frontier next -horizon), unless that is after -deadline or more than a day away. If robots.txt
// answers 429 or 5xx, or is incomplete, everything on the host is forbidden for an hour, until
// robots.txt is fetched again; if it redirects to a host that does not answer, until that host
// may be requested. The addresses of the forbidden host are returned with the error "budget" and
// not_before. An address that redirects to a host that must not be requested yet is returned in
// the same way; its not_before is when the host of final_url may be requested, and a frontier
// does not lease the address earlier. The error "robots" means that a rule forbids the address.
//
// With -state DIR, what is known about hosts is kept from run to run in
// DIR/polite.ndjson: when each may be requested again, its failures and back-off.
// robots.txt is kept for up to a day in robots.ndjson: in the directory of -cache if that
// flag is given (several runs may share it), otherwise in that of -state. Both files are
// read at the start and written at the end, including an end by -deadline or a signal;
// what other runs have added to a shared cache is kept. Expired entries are dropped, and
// entries beyond 50,000 hosts, 50,000 robots.txt or 64 MiB. A damaged file, or one of
// another version, is reported and replaced. A robots.txt that was cached is not archived
// again.
//
// Three flags decide which hosts are requested. Addresses that are not on the public internet,
// including loopback, are refused when connecting, whatever name or redirect led there, unless
// -allow-private is given. Hosts other than loopback are requested only with -contact, so that
// their owners can reach you, and only with a -delay above 0. Each refused address has the error
// blocked_address, and the last line on stderr counts those refused because -contact is missing
// or -delay is 0 (policy_refused). Refused addresses cause no pause. If all addresses are
// refused, the exit status is 2.
//
// Ports on which other services are usual, such as 22, 25 and 6667, are never requested:
// those that browsers block (https://fetch.spec.whatwg.org/#port-blocking). This applies to
// redirects, robots.txt, sitemaps and through a proxy too; the error is blocked_address.
// -allow-port N allows one of them. Each port of a host is a host of its own for pauses and robots.txt.
// So that the links of a page cannot make fetch scan ports, one run of fetch (of a crawl without -steady: one
// generation) requests at most eight ports of a name besides the default ones and those of -allow-port.
// Loopback has no such limit.
//
// A response whose status is not a number of three digits, from 200 to 999, is the error
// http and is not stored. Statuses above 599 are invalid too, but some sites use them:
// they are recorded as they are, and the host gets a back-off as after 5xx.
//
// Fetch follows up to ten redirects and checks each like an address of its own; for redirect_loop,
// error_detail lists the loop; for scope_redirect (with -scope), error_detail is the address that
// does not belong to the crawl. Bodies in gzip, deflate, br and zstd are decoded, and cut at
// -max-body (truncated: length). A body that takes too long or is interrupted is kept as far as it
// came (truncated: time, disconnect). Bodies of media types other than those of -mime (text/*
// means all text types) are not downloaded (error unsupported_type). Responses of more than 256
// KiB share a buffer of about 64 MiB while they are received. While it is full they wait; after
// -timeout the address is returned (budget). With the defaults of -j and -max-body a run needs
// less than 300 MiB, whatever servers send; GOMEMLIMIT is respected.
//
// An address with etag or last_modified, from the headers of an earlier response, is
// requested conditionally: if the page has not changed, status_code is 304 and there is
// no body. The target of a redirect is requested unconditionally.
//
// # Transport
//
// Fetch uses HTTP/2 where the server offers it (unless -http1 is given), and HTTP/1.1. A
// request that the server did not process (RFC 9113, section 8.7) is sent again up to three
// times, over HTTP/1.1 if the server requires it. DNS answers are cached for five minutes, and
// all addresses of a name are tried. Connecting may take -connect-timeout, the TLS handshake as
// long again, the response header -header-timeout, and everything together -timeout.
//
// Cookies that servers set are sent back within one chain of redirects (RFC 6265) and then
// deleted, so a site that sets a cookie and redirects to itself is read. The WARC file has them
// as received and sent. Certificates are verified; with -insecure an invalid one is reported in
// error_detail (error stays empty) and in the metadata of the WARC file.
//
// With -proxy all requests go through a proxy: http or https (which forward http requests, and
// tunnel https by CONNECT), socks5 or socks5h. A user:password@ in its URL is sent to the proxy,
// and never stored. All users of a machine can read arguments of commands, so the URL can also be in a
// file, -proxy FILE, and crawl takes a password only from there. The environment (HTTP_PROXY) is
// ignored. The proxy itself may be on a private address. With every proxy, fetch refuses localhost, the names below it, and private addresses in
// the URLs of pages, redirects, robots.txt and sitemaps, in any spelling (127.1, 0x7f000001,
// [::ffff:127.0.0.1]), before it sends anything to the proxy, unless -allow-private is given. With
// socks5, names are resolved locally and their addresses are refused as without a proxy. Proxies
// of http, https and socks5h resolve names themselves: fetch cannot see the addresses, so the
// proxy must refuse names that lead into a private network. The ip of a record is that of the
// server, and is missing if only the proxy knows it. If the proxy cannot reach a server, the error
// is connect, and it does not count as a failure of the host. If the proxy cannot be reached or
// rejects the password, the run ends, and what is not done is returned (budget).
//
// # Logins
//
// -cookies FILE has cookies as browsers and curl export them. -headers FILE has a header field a line:
// an address, a blank, and NAME: VALUE. The field is sent to that address and those below it; * stands
// for all addresses.
//
//	https://wiki.example.org/ Authorization: Bearer 0123456789
//	https://example.org/private X-Key: 4711
//	* DNT: 1
//
// They are sent to these addresses only; a request for a redirect, a robots.txt or a sitemap has
// them only if its own address matches. The WARC file omits them; its metadata record names the
// fields (requestFieldsRemoved), as a warning that the response may be meant for one person.
// Cookies that servers set are kept within one chain of redirects only, so a session that
// depends on renewed cookies expires.
//
// # WARC
//
// With -warc PREFIX every exchange, including those for robots.txt and redirects, is
// written to a WARC 1.1 file as received, before its record is written. A run continues
// the newest file of earlier runs, unless that has been truncated since it was closed:
// then it is left as it is, a warning is logged, and a new file is started. Responses
// whose body was not downloaded are omitted. A response over HTTP/2 is written as
// HTTP/1.1, with header fields sorted and in lower case; WARC-Protocol records the
// protocol. A payload of 1 KiB or more that was written before, with this PREFIX or in
// the archives of -warc-dedup, is stored as a revisit record, and so is a 304.
// -warc-zstd compresses with zstd instead of gzip: large pages in half the time, at the
// same size. -warc-level is the gzip level, 1 (fast) to 9 (small), or 0 for no
// compression. With -warc-zstd it is the zstd level; there are four: 1 to 2, 3 to 5, 6
// to 9, and 10 to 22 compress alike. -digest sha256 replaces SHA-1.
//
// With -warc-done COMMAND each WARC file is passed to a shell command, as its last
// argument, when the next file has been started: 'mv -t /srv/captures', for example.
// The command runs beside fetching, for one file at a time; in the end fetch waits for
// it, for -deadline at most. PREFIX.done has the names of the files that were passed,
// so a file that the command does not move is passed only once. If the command fails,
// there is a warning, and the file is passed again, also by the next run. Processes
// that the command leaves behind are killed.
//
// With -noarchive, responses whose X-Robots-Tag header or meta robots element (in the
// first 64 KiB) says noarchive are omitted, except for a metadata record with the reason.
// Without it they are stored: a research archive is not a public copy, and pages that
// were judged should remain available for judging them again.
//
// # Sitemaps
//
// With -sitemaps, fetch asks each origin that has responded for its sitemaps, once per run, or
// once per day with -state: those that robots.txt lists, or else /sitemap.xml. They are fetched as
// politely as pages, and the pages of a host wait for its sitemaps. XML sitemaps, indexes (up to
// three deep), plain text, RSS and Atom are understood, with or without gzip. Each file becomes an
// additional record, whether it exists or not: url is that of the file, operator is sitemap, via
// is robots.txt, the index or the page, and depth is that of the page for which the origin was
// asked. The record has no body. Its links have the form that parse writes, with tag sitemap,
// lastmod and priority; parse passes it on, and score and evolve treat it as a page with these
// links. A sitemap may be on any host, but only its links within the registrable domain of the
// origin that listed it are taken. An origin may have 50 files, with names of 16 KiB in total, and
// 50,000 addresses; error_detail says what was omitted (error stays empty). -max-body applies only
// to sitemaps that -archive-first reads from an archive; all others are read and archived up to 50
// MiB, the limit of the protocol, which applies both to the received and to the decoded body.
// Sitemaps that exceed the size limit of pages are received one at a time.
//
// A sitemap that could not be fetched, because its host was held, there was no memory or
// the time was up, has a record with the error "budget"; so has /sitemap.xml of an origin
// whose robots.txt was not available. If this happens to all sitemaps of a host, fetch
// requests them once more after a later page, when the host is not held. An input address
// with the operator sitemap is fetched as a sitemap of the domain in its field via, so a
// frontier can retry sitemaps that were returned. If it is an index that was itself
// listed by an index, its files are not fetched.
//
// # Replay
//
// With -archive, fetch answers from WARC files (plain, gzip, zstd), ARC files and WACZ
// files; a directory stands for all archives in it, and so does a pattern
// ('crawl/*.warc.gz') that the shell has not expanded. Redirects are followed within the
// archives. An address that they do not hold has the error "not_archived". Records are
// written in the order in which they were read. Of several captures of an address the
// newest is used, or with -capture the first, or the nearest to a date (RFC 3339, or 4
// to 14 digits in UTC: with fewer than 14, all captures in that year, month, day, … are
// equally near). If several are equally near, the newest is used. Whatever the dates, whole
// pages come first, then parts (status 206, truncated), then 304 responses; a revisit without
// its original is skipped. The capture is selected anew for each redirect.
//
// With -archive-first, what the archives do not hold is requested from the web, and
// stored if -warc is given. This applies to each step of a redirect: an archived page may
// redirect to a live one, and a live page to an archived one. Records are written in the
// order in which they are done. robots.txt comes from the web.
//
// With -all, fetch reads no addresses and writes a record for every response in the
// archives, in the order of the files, except revisits. The last line on stderr counts those
// (revisits); warc cat URL prints a revisit with the body of its original, and so does fetch
// if the address is in its input. One archive may be stdin (-archive -), unless it is a
// WACZ. A fault in an archive affects only the records in that place: each is reported, and
// the last line on stderr counts them.
//
// # Record
//
// In: url, and the rest of the address section. Out: the fetch section and the body; the
// parse and score sections of earlier stages are dropped, since they describe another
// body. The digest is the payload digest of the WARC file, computed from the body without
// its chunks, but with its content coding. A line with a query but no url is passed on.
//
// Invalid responses are read as browsers do: a malformed header line is skipped, chunks are
// removed in HTTP/1.0 too, and of several Content-Type values the last valid one is used.
// Conflicting lengths and bodies that cannot be decoded have the error http. The WARC file has
// the bytes that were received.
//
// If the headers exceed 32 KiB in total or 1,000 names, the longest are omitted from the record:
// error_detail says how many (error stays empty). The WARC file has them.
//
// # Example
//
//	fetch https://go.dev/ -contact me@example.org -warc crawl/go | parse
//	fetch -archive web.warc.gz -all | parse | score -topic topic.json
//
// # Exit status
//
// 0 done, whatever the outcome of single pages; 1 failed, as when an archive does not
// exist or the proxy cannot be reached; with -all also if a part of an archive could
// not be read (all else is written); 2 misuse, including that all addresses were
// refused because -contact or -allow-private is missing; 3 disk full; 130 and 143
// interrupted: what was not done has been returned with the error "budget" and the WARC
// file is closed. A second signal kills the process.
//
// # Limitations
//
// Not supported: keeping cookies beyond a chain of redirects, HTTP/3, and archives that are
// compressed inside a WACZ, which cannot be read in place. A -state is for one run at a time,
// others wait for it (-wait). A run that is killed loses the pauses that hosts requested
// (Retry-After) in the last ten seconds.
package fetch

import (
	"bytes"
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

const manual = `fetch - fetch pages from the web or from archives

Usage: fetch [flags] URL…
       fetch [flags] [-f FILE…] < addresses
       fetch -archive FILE [-archive FILE…] [-archive-first] [flags] [URL…] < addresses
       fetch -archive FILE [-archive FILE…] -all [-mime TYPES] [-status CODES]

In:  URLs as arguments, or address records or plain lines with one URL each, in files (-f;
     an argument without :// is a file too) or stdin.
Out: each of them with its fetch section (final_url, status_code, headers,
     timestamp, digest, …, error) and its body, which is body_base64 if it is
     not UTF-8. One record out for every record in, and one for each sitemap.

Live, fetch obeys robots.txt, sends one request at a time to each host with a pause
in between (with -delay 0s several at once, without a pause), backs off from hosts that
failed, follows up to ten redirects, refuses private addresses, and writes records in
the order in which they are done. With -warc it stores what it receives. With -state
DIR it saves the back-off of hosts and robots.txt for the next run. An address with etag
or last_modified may be answered by 304, without a body. HTTP/2 is used where a server offers it.

Addresses of these kinds are requested only with the flags named:
    public                   -contact, and a -delay above 0 (as by default)
    loopback                 -allow-private
    other private addresses  -allow-private, -contact, and a -delay above 0
    ports of mail, ssh, …    -allow-port N (22, 25, 6667, …)
With -proxy (http, https or socks5h) the proxy resolves names, so a name may lead to any
address that the proxy can reach; private addresses in URLs, localhost and these ports are
refused whatever the proxy. With socks5, names are resolved here and checked as usual.
An address that is refused has the error blocked_address. If all are refused for lack of
-contact, -delay or -allow-private, the exit status is 2.

With -sitemaps it fetches the sitemaps of each host too, once per run (once per day
with -state). Each file is an additional record: operator sitemap, no body, and the
addresses of that site as links with lastmod and priority. With -noarchive, -warc does
not store responses marked noarchive.

-cookies FILE (as browsers export them) and -headers FILE (lines of an address, a blank
and NAME: VALUE) are sent only to the addresses in the file and those below them, and
are not archived.

With -scope FILE it requests only addresses that belong to the crawl by the rules in FILE
(see frontier add). It does not follow a redirect to another address: the error is
scope_redirect. A robots.txt that redirects out of scope disallows everything.
scripts/crawl passes its rules on to fetch.

With -archive, records are written in the order of the addresses. An address that the
archives do not hold has the error not_archived, or is requested from the web
(-archive-first). With -all it writes every response that they hold, except revisits.
Those are only counted; warc cat URL prints them with the body of their original.

Errors: robots dns connect tls timeout http too_large not_archived blocked_address
bad_url redirect_loop scope_redirect unsupported_type budget, and with -scope also
out_of_scope scope_excluded scope_depth. A status such as 404 is not an error. "budget"
means that the address has no outcome yet and is to be tried later.

Example:
  fetch https://go.dev/ -contact me@example.org -warc crawl/go | parse
  fetch -archive web.warc.gz -all | parse | score -topic topic.json

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130/143 interrupted:
addresses that were not fetched have been returned with the error "budget", and the
WARC file is complete.`

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

// writeAll writes a record for every response in the archives, of which stdin may be one.
func (c *command) writeAll(stdin io.Reader, logger *slog.Logger) (err error) {
	out, closeOut, err := filter.Tee(c.stream.Stdout, c.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()
	revisits := int64(0)
	c.Revisit = func() { revisits++ }
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
	case failed != nil || n == 0:
		return failed
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
	fs.StringVar(&c.ArchiveCache, "cache", filter.Cache(), "`directory` for indexes of archives. If this flag is given, robots.txt is cached there too, and several runs may share it")
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
