// Fetch asks the web, or an archive of it, for pages.
//
// Usage:
//
//	fetch [flags] [FILE…] < addresses
//	fetch -archive FILE [-archive FILE…] [-archive-first] [flags] [FILE…] < addresses
//	fetch -archive FILE [-archive FILE…] -all [-mime TYPES] [-status CODES]
//
// Fetch reads address records, or plain lines with a URL each, and writes every
// one of them back with what became of it: the answer and its body, or an error.
//
// # Live
//
// Without -archive it asks the web, politely: robots.txt is obeyed (RFC 9309), a
// host is asked one thing at a time and rests in between (-delay, its
// crawl-delay, -slowness times as long as it took; -max-delay at most), and is left
// alone after it failed, 5xx included. Hosts take turns; -j bounds how many are asked
// at once, -rate and -host-rate how many in a second.
// Records leave in the order in which they are done. A host that asked to be
// left alone, or failed, is not waited for: its other addresses are handed back
// with the error "budget" and not_before. An address that comes with not_before
// (frontier next -horizon) is: it is asked for then, or handed back if that is
// after -deadline, or more than a day off. So are those of a host whose robots.txt
// answers 429 or 5xx, breaks off, or redirects to where nobody answers: that forbids
// everything only until it is asked for again, an hour later, or when the host is not held
// any more to which it redirects. An address that redirects
// to a host that must be left alone is a failed try (connect) with the not_before of
// that host, which is the host of final_url. The error "robots" is a rule that forbids.
//
// With -state DIR what is known of hosts outlives the run, in DIR/polite.ndjson:
// when each may be asked again, its failures and holds. So does robots.txt, for a
// day at most, in robots.ndjson: in the directory of -cache if that was given, which
// several runs may share, else in that of -state. Both are read when a run begins
// and written when it ends, be it by -deadline or a first signal; of what other
// runs have put into the cache meanwhile nothing is lost. What has expired is
// dropped, and what is more than 50,000 hosts, 50,000 robots.txt or 64 MiB of them.
// A file that is damaged, or that of another version, is reported and begun anew.
// robots.txt that was known is not archived again.
//
// Two flags open the way to a host. Addresses that are not on the public internet,
// loopback included, are refused when the connection is made, whatever name or
// redirect led there, unless -allow-private is given. And who asks strangers says
// who they are, and takes their time: without -contact, or with -delay 0s, nobody
// outside loopback is asked. Each address that is refused costs its record only
// (blocked_address), and the closing line counts them (strangers). Nobody was asked
// then, so no host rests for it. If all addresses are refused that is misuse.
//
// Up to ten redirects are followed, each of them checked like an address of its
// own; error_detail of redirect_loop names the loop. Bodies are taken off gzip, deflate, br and zstd, and cut at -max-body
// (truncated: length). A body that takes too long or breaks off stays as far as
// it came (truncated: time, disconnect). Media types other than those of -mime
// (text/* is all of a kind) are not downloaded (error unsupported_type). Answers of more than 256 KiB share some
// 64 MiB of memory while they come and wait for each other when it is used up; what got
// none within -timeout is handed back (budget). With the usual -j and -max-body a run
// stays below 300 MiB, whatever servers do; GOMEMLIMIT is heeded.
//
// An address with etag or last_modified, as an earlier answer had them in its headers,
// is asked for only if it has changed: else its status_code is 304, without a body.
// Behind a redirect the page is asked for as it is.
//
// # Transport
//
// HTTP/2 is spoken where the server offers it (-http1: never), and HTTP/1.1. Cookies
// are neither kept nor sent. A name is looked up once in five minutes, and all its
// addresses are tried by turns. Reaching a server may take -connect-timeout, making
// the connection secure as long again, the header -header-timeout, all together
// -timeout. Certificates are verified; with -insecure an answer comes all the same,
// and error_detail, without an error, and the metadata in the WARC file say what was
// wrong.
//
// With -proxy all goes through a proxy: http or https (plain addresses as they are,
// secure ones by CONNECT), socks5, socks5h; user:password@ before its host is shown to
// it and written nowhere. The environment (HTTP_PROXY) is not read. Where the proxy
// itself stands is not judged. With socks5 names are resolved here and addresses are
// refused as without a proxy. The other three resolve names themselves: then those
// addresses only are refused that stand in the URL, and localhost; that no other name
// leads into a private network is for the proxy to see to. The ip of a record is that
// of the server, and missing if only the proxy knows it. What the proxy does not reach
// is the error connect, and its host not blamed; a proxy that itself cannot be reached,
// or wants another password, ends the run, and what was not done is handed back
// (budget).
//
// # WARC
//
// With -warc PREFIX every exchange, those for robots.txt and redirects included,
// is written to a WARC 1.1 file as it was received, before its record leaves.
// A run goes on with the newest file of earlier ones, unless somebody has cut its end
// since, which is told of: it is left as it is, and another begun.
// Answers whose body was not downloaded are left out. An answer over HTTP/2 is written
// as one of HTTP/1.1, its fields sorted and in lower case; WARC-Protocol says so. What
// was written before, with this PREFIX or into the archives of -warc-dedup, becomes a
// reference (revisit) if it has 1 KiB or more, and so does the answer 304. -warc-zstd
// packs with zstd instead of gzip: large pages as small in half the time. -warc-level
// is gzip's, from 1, fast, to 9, small, or 0, which packs nothing; or zstd's, of which
// there are four: to 2, to 5, to 9, and above. -digest sha256 replaces SHA-1.
//
// With -noarchive, answers whose X-Robots-Tag header or meta robots (of the first
// 64 KiB) says noarchive are left out too, but for a metadata record with the
// reason. Without it they are kept: an archive for research is no public copy, and
// a page that was judged is to be there for whoever judges again.
//
// # Sitemaps
//
// With -sitemaps each origin that has answered is asked for its sitemaps, once a
// run and, with -state, once a day: those that its robots.txt names, else
// /sitemap.xml. They are asked for as pages are; sitemaps, indexes of them (three
// deep), plain text, RSS and Atom are understood, with gzip or without. Each file
// leaves as one further record, whether it was there or not: url is the file's,
// operator sitemap, via robots.txt, the index or the page, and depth that of the
// page. It has no body but links, as parse makes them, with tag sitemap, lastmod
// and priority; parse passes it on, score and evolve take it for a page with these
// links. They are those of the origin's registrable domain: a sitemap may stand
// anywhere, but is believed about those only who named it. An origin has 50 files,
// with names of 16 KiB in all, and 50,000 addresses at most; what is left out of a file
// its error_detail tells, without an error. -max-body is not about them: a file is read,
// and archived, up to the 50 MiB that the protocol allows, as received and as decoded (of
// what -archive-first finds in archives, up to -max-body). Longer ones than pages may be
// are received one at a time. The pages of a host wait for its sitemaps.
//
// A sitemap that could not be asked for, because its host was held, there was no memory
// for it or the time was up, has a record as well, with the error "budget"; so has one, of
// /sitemap.xml, where robots.txt was not to be had. If that is so of all, the host is
// asked for them once more after a later page, when it is not held. And an address that
// comes with the operator sitemap is read as a sitemap, of the domain of its via: that is
// how a frontier gives back what was handed back to it. If it is an index that another
// one named, the files that it names are left out then.
//
// # Replay
//
// With -archive it asks WARC files (plain, gzip, zstd), ARC files and WACZ files;
// a directory stands for all in it, and so does a pattern ('crawl/*.warc.gz') that
// the shell has left as it is. Redirects are followed inside them. What they do
// not hold is the error "not_archived". Records leave in the order in which they
// came. Of several captures of an address the newest answers, or with -capture the
// first, or the one nearest to a date: of 4 to 14 digits (UTC), all captures of
// that year, month, day, … being equally near, or as in RFC 3339. Of captures that
// are equally near the newest answers. Each redirect picks anew.
//
// With -archive-first what the archives do not hold is asked of the web, and stored if
// -warc is given; so is the end of a redirect that they do not hold, and what they hold
// behind one of the web is taken from them. Records leave in the order in which they
// are done. robots.txt is the web's.
//
// With -all it reads no addresses and writes a record for every response in the
// files, in the order of the files, revisits left out. An archive may come through
// a pipe then (-archive -), except a WACZ. What is wrong with an archive costs
// the records that it concerns: each fault is reported, and the closing line counts
// them.
//
// # Record
//
// In: url, and the rest of the address section. Out: the fetch section and the
// body; parse and score sections of earlier stages are dropped, as they are of
// another body. The digest is that of the WARC file: of the payload as
// received, with chunks and content coding. A line with a query but no url passes.
//
// Headers of more than 32 KiB in all, or of more than 1,000 names, are not all in the
// record, the longest of them missing: error_detail tells how many, without an error.
// The WARC has them.
//
// # Example
//
//	echo https://go.dev/ | fetch -contact me@example.org -warc crawl/go | parse
//	fetch -archive web.warc.gz -all | parse | score -topic topic.json
//
// # Exit status
//
// 0 done, whatever became of the single pages; 1 failed, as when an archive does not
// exist or the proxy is not there; 2 misuse, which includes that nobody was asked for
// want of -contact or -allow-private; 3 disk full; 130 and 143 interrupted: what was
// not done has been handed back with the error "budget" and the WARC file is closed. A
// second signal ends the command at once.
//
// # Limitations
//
// No cookies, no HTTP/3. An archive inside a WACZ that the zip
// file packs again is left out: it cannot be read in place. A -state is for one
// run at a time, for which others wait (-wait), and a run that is killed leaves that
// of the run before.
package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/polite"
	"spoor/internal/web"
	"spoor/internal/wire"
)

const version = "0.1"

const manual = `fetch - ask the web, or an archive of it, for pages

Usage: fetch [flags] [FILE…] < addresses
       fetch -archive FILE [-archive FILE…] [-archive-first] [flags] [FILE…] < addresses
       fetch -archive FILE [-archive FILE…] -all [-mime TYPES] [-status CODES]

In:  address records, or plain lines with a URL each.
Out: each of them with its fetch section (final_url, status_code, headers,
     timestamp, digest, …, error) and its body, which is body_base64 where it is
     not UTF-8. One record out for every record in.

Live, it obeys robots.txt, asks a host one thing at a time with a pause between,
leaves alone a host that failed, follows up to ten redirects, refuses addresses
that are not public, and gives records in the order in which they are done.
Addresses that are not public, loopback too, need -allow-private; all but loopback
need -contact and a -delay. What lacks them costs its record (blocked_address); if
all do it is misuse.
With -warc it keeps what it received, with -state DIR, for the next run, until when
hosts rest and what robots.txt says. An address with etag or last_modified may be
answered by 304, without a body. HTTP/2 is spoken where a server offers it.

With -sitemaps each host is asked for its sitemaps too, once a run (once a day with
-state). Each file is one further record: operator sitemap, no body, and the
addresses of that site as links with lastmod and priority. With -noarchive what
says noarchive is left out of -warc.

From archives (-archive) it answers in the order of the addresses, and with
"not_archived" what they do not hold, or asks the web for that (-archive-first).
With -all it gives all they hold.

Errors: robots dns connect tls timeout http too_large not_archived
blocked_address bad_url redirect_loop unsupported_type budget. A status such as
404 is no error. "budget" hands an address back untried.

Example:
  echo https://go.dev/ | fetch -contact me@example.org -warc crawl/go | parse
  fetch -archive web.warc.gz -all | parse | score -topic topic.json

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130/143 interrupted after
handing back what was not done and closing the WARC file. go doc ./cmd/fetch tells
more.`

// The media types that are taken if -mime does not say otherwise.
const (
	liveTypes = "text/html,application/xhtml+xml,text/plain,application/xml,text/xml"
	allTypes  = "text/html,application/xhtml+xml"
)

// options are the flags.
type options struct {
	stream     filter.Stream
	files      []string // with addresses
	archives   filter.Strings
	first      bool // ask the archives, then the web
	all        bool
	capture    archive.Pick
	mime       []string // nil: any
	status     []int    // nil: any
	cache      string
	cacheGiven bool // -cache was named: what may be shared is kept there

	warc      string
	state     string
	wait      time.Duration // for the state
	warcSize  filter.Size
	warcZstd  bool
	warcLevel int
	dedup     filter.Strings
	digest    string
	contact   string
	agent     string
	deadline  time.Duration
	maxBody   filter.Size
	private   bool
	seed      uint64
	workers   int

	delay, maxDelay time.Duration
	slowness        float64
	rate, hostRate  float64 // requests a second

	connectTimeout, headerTimeout, timeout time.Duration

	proxy     *url.URL // nil: none
	insecure  bool
	sitemaps  bool
	noArchive bool
	http1     bool

	// Of tests; nil is the system's.
	tls      *tls.Config
	resolver web.Resolver
}

func main() {
	log.SetOutput(io.Discard) // net/http reports there what strangers send
	filter.Main("fetch", run)
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	o, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	return o.run(stdin, stdout, stderr)
}

func (o *options) run(stdin io.Reader, stdout, stderr io.Writer) error {
	o.stream.Name, o.stream.Want, o.stream.Alone = "fetch", wire.Address, true
	o.stream.Stdout, o.stream.Stderr = stdout, stderr
	if o.all {
		return batch(o, stdin)
	}
	in, err := filter.Open(stdin, o.files)
	if err != nil {
		return err
	}
	defer in.Close()
	o.stream.Stdin = filter.Addresses(in)
	if len(o.archives) > 0 && !o.first {
		return replay(o)
	}
	o.stream.Want |= wire.Fetch // not_before
	return live(o)
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o := &options{maxBody: archive.DefaultBody, warcSize: archive.DefaultMaxSize}
	fs := filter.Flags("fetch", manual, stderr)
	o.stream.CommonFlags(fs)
	fs.IntVar(&o.workers, "j", 0, "ask for `n` pages at a time (default 64 live, one for each processor from an archive)")
	fs.Var(&o.archives, "archive", "answer from this `file` (WARC, ARC, WACZ), pattern or directory instead of the web, with -all - is stdin; may be repeated")
	fs.Func("capture", "with -archive: `which` of several captures answers: newest (default), first, or the nearest to a date (2024, 20240131, 2024-01-31T12:00:00Z)", func(s string) (err error) {
		o.capture, err = archive.ParsePick(s)
		return err
	})
	fs.BoolVar(&o.first, "archive-first", false, "with -archive: ask the web for what the archives do not hold")
	fs.BoolVar(&o.all, "all", false, "with -archive: read no addresses, give every response in the archives")
	mime := fs.String("mime", "", "media `types` to take, separated by commas, image/* for all of a kind; '' is any (default live "+liveTypes+"; with -all "+allTypes+"; else any)")
	status := fs.String("status", "200", "with -all: status `codes` to take, separated by commas; '' is any")
	fs.StringVar(&o.cache, "cache", filter.Cache(), "`directory` for indexes of archives beside which nothing can be written; if it is given, for robots.txt too, which runs may share")
	fs.StringVar(&o.warc, "warc", "", "write what is received to PREFIX-*.warc.gz; `prefix` may begin with a directory")
	fs.Var(&o.warcSize, "warc-size", "`bytes` at which a WARC file is closed and the next begun")
	fs.BoolVar(&o.warcZstd, "warc-zstd", false, "write PREFIX-*.warc.zst instead")
	fs.IntVar(&o.warcLevel, "warc-level", 0, "gzip's `level` for what -warc writes, from 1, fast, to 9, small, or 0, as it is (default 6); with -warc-zstd zstd's, 1 to 22 (default 1)")
	fs.Var(&o.dedup, "warc-dedup", "write what this `file` or directory of archives has already as a reference to it; may be repeated")
	fs.StringVar(&o.digest, "digest", "sha1", "`name` of the digest in WARC files: sha1 or sha256")
	fs.StringVar(&o.state, "state", "", "the `directory` of what is known of hosts, and of robots.txt unless -cache is given; without one hosts are forgotten")
	fs.DurationVar(&o.wait, "wait", 30*time.Second, "how `long` to wait for another fetch to let go of -state before giving up")
	fs.StringVar(&o.contact, "contact", "", "`address` (mail or URL) by which site owners can reach you; needed for all but loopback, which needs -allow-private")
	fs.StringVar(&o.agent, "agent", "spoor", "`name` of the crawler, in User-Agent and for robots.txt")
	fs.DurationVar(&o.delay, "delay", polite.DefaultDelay, "least pause between two requests to a host; 0s: no wait of any kind, loopback only; with -host-rate crawl-delay and holds count all the same")
	fs.DurationVar(&o.maxDelay, "max-delay", polite.DefaultMaxDelay, "most that crawl-delay or slowness can make of the pause")
	fs.Float64Var(&o.slowness, "slowness", polite.DefaultSlowness, "make the pause `n` times as long as the last request took; 0: whatever that was")
	fs.Float64Var(&o.rate, "rate", 0, "at most `n` requests a second, over all hosts; 0: any number")
	fs.Float64Var(&o.hostRate, "host-rate", 0, "at most `n` requests a second to each host; 0: as many as the pauses allow")
	fs.DurationVar(&o.connectTimeout, "connect-timeout", 10*time.Second, "`time` to find and reach a server, and again to make the connection secure")
	fs.DurationVar(&o.headerTimeout, "header-timeout", 30*time.Second, "`time` from a request to the end of the answer's header")
	fs.DurationVar(&o.timeout, "timeout", 60*time.Second, "`time` for one request and its answer, all in all")
	proxy := fs.String("proxy", "", "ask through this proxy: `URL` with http, https, socks5 (names are resolved here) or socks5h (there)")
	fs.BoolVar(&o.insecure, "insecure", false, "go on where the certificate of a server cannot be verified; error_detail says so")
	fs.BoolVar(&o.http1, "http1", false, "speak HTTP/1.1 only")
	fs.DurationVar(&o.deadline, "deadline", 0, "hand back, with the error \"budget\", what is not done after this `time`; live only")
	fs.Var(&o.maxBody, "max-body", "cut bodies at this many `bytes`, as received and as decoded")
	fs.BoolVar(&o.private, "allow-private", false, "connect to loopback and private addresses too")
	fs.BoolVar(&o.sitemaps, "sitemaps", false, "ask each host for its sitemaps too; live only")
	fs.BoolVar(&o.noArchive, "noarchive", false, "leave out of -warc the answers that say noarchive")
	fs.Uint64Var(&o.seed, "seed", 1, "`seed` of the jitter of back-offs")
	if err := filter.Parse(fs, args); err != nil {
		return nil, err
	}
	o.files = fs.Args()
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.cacheGiven = given["cache"]

	for _, name := range o.files {
		if archive.IsName(name) {
			return nil, filter.Usagef("%s is an archive, where a list of addresses should be\nhint: -archive before each archive, or a pattern in quotes: -archive 'crawl/*.warc.gz'", name)
		}
	}

	replayed := len(o.archives) > 0 && !o.first
	switch {
	case o.first && len(o.archives) == 0:
		return nil, filter.Usagef("-archive-first needs -archive FILE")
	case o.first && o.all:
		return nil, filter.Usagef("-all gives what the archives hold, -archive-first what they do not: one of them at a time")
	case o.all && !replayed:
		return nil, filter.Usagef("-all needs -archive FILE")
	case given["capture"] && len(o.archives) == 0:
		return nil, filter.Usagef("-capture needs -archive FILE")
	case given["capture"] && o.all:
		return nil, filter.Usagef("-capture is for addresses that are looked up: -all gives every capture")
	case o.all && len(o.files) > 0:
		return nil, filter.Usagef("-all reads no addresses, but %s was given\nhint: an archive is given with -archive", o.files[0])
	case replayed && o.warc != "":
		return nil, filter.Usagef("-warc is for pages from the web, not for those of -archive")
	case replayed && o.state != "":
		return nil, filter.Usagef("-state is for the web: an archive needs no rest")
	case replayed && o.sitemaps:
		return nil, filter.Usagef("-sitemaps is for the web: an archive is asked for pages\nhint: fetch -archive FILE -all -mime '' gives its sitemaps as well")
	case o.noArchive && o.warc == "":
		return nil, filter.Usagef("-noarchive is about what -warc writes\nhint: -warc PREFIX")
	case o.warc == "" && (o.warcZstd || len(o.dedup) > 0 || given["digest"] || given["warc-level"]):
		return nil, filter.Usagef("-warc-zstd, -warc-level, -warc-dedup and -digest are about what -warc writes\nhint: -warc PREFIX")
	case given["warc-level"] && o.warcZstd && (o.warcLevel < 1 || o.warcLevel > 22):
		return nil, filter.Usagef("-warc-level %d: zstd has the levels 1 to 22", o.warcLevel)
	case !o.warcZstd && (o.warcLevel < 0 || o.warcLevel > 9):
		return nil, filter.Usagef("-warc-level %d: gzip has the levels 0 to 9", o.warcLevel)
	case o.digest != "sha1" && o.digest != "sha256":
		return nil, filter.Usagef("-digest %s is not known\nhint: sha1 or sha256", o.digest)
	case replayed && o.deadline != 0:
		return nil, filter.Usagef("-deadline is for the web: an archive does not keep anybody waiting")
	case o.delay < 0 || o.maxDelay < 0 || o.deadline < 0:
		return nil, filter.Usagef("-delay, -max-delay and -deadline are not negative")
	case o.timeout <= 0 || o.connectTimeout <= 0 || o.headerTimeout <= 0:
		return nil, filter.Usagef("-timeout, -connect-timeout and -header-timeout are not negative, and not 0 either")
	case !(o.slowness >= 0 && o.rate >= 0 && o.hostRate >= 0) || max(o.slowness, o.rate, o.hostRate) > 1e9:
		return nil, filter.Usagef("-slowness, -rate and -host-rate are not negative")
	case o.workers < 0:
		return nil, filter.Usagef("-j is not negative")
	case strings.IndexFunc(o.agent+o.contact, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 || strings.ContainsAny(o.contact, "()"):
		return nil, filter.Usagef("-agent and -contact go into a header: plain ASCII, and no parentheses")
	case o.contact != "" && !strings.Contains(o.contact, "@") && !strings.Contains(o.contact, "://"):
		return nil, filter.Usagef("-contact %s is neither a mail address nor a URL\nhint: -contact you@example.org", o.contact)
	}

	if given["warc-level"] && o.warcLevel == 0 {
		o.warcLevel = archive.Stored
	}
	if *proxy != "" {
		u, err := proxyURL(*proxy)
		if err != nil {
			return nil, err
		}
		o.proxy = u
	}
	if !given["mime"] {
		switch {
		case o.all:
			*mime = allTypes
		case !replayed:
			*mime = liveTypes
		}
	}
	types, err := archive.ParseMediaTypes(*mime)
	if err != nil {
		return nil, filter.Usagef("-mime %s: %v", *mime, err)
	}
	o.mime = types
	for s := range strings.SplitSeq(*status, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 100 || n > 999 {
			return nil, filter.Usagef("-status %s: %q is no status\nhint: -status 200,404", *status, s)
		}
		o.status = append(o.status, n)
	}
	switch {
	case o.workers > 0:
	case replayed:
		o.workers = runtime.GOMAXPROCS(0)
	default:
		o.workers = 64
	}
	o.stream.Workers = o.workers
	return o, nil
}

// proxyURL reads the flag -proxy. The error does not repeat what may hold a password.
func proxyURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return nil, filter.Usagef("-proxy is not given the URL of a proxy\nhint: -proxy socks5h://127.0.0.1:9050")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, filter.Usagef("-proxy: %s is no scheme of a proxy\nhint: http, https, socks5 or socks5h", u.Scheme)
}

// userAgent is how the crawler calls itself.
func (o *options) userAgent() string {
	name := o.agent
	if !strings.Contains(name, "/") {
		name += "/" + version
	}
	if o.contact == "" {
		return name
	}
	return fmt.Sprintf("%s (+%s)", name, o.contact)
}

// limits are what one answer may take.
func (o *options) limits() archive.Limits { return archive.Limits{Body: int64(o.maxBody)} }

// isFault tells whether err is a fault in an archive, which costs a record.
func isFault(err error) bool {
	_, ok := errors.AsType[*archive.FormatError](err)
	return ok
}
