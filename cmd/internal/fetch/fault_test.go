//go:build linux

package fetch_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"spoor/internal/archive"
	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// What a fault may cost a run of 64 workers whose addresses all have it.
const (
	maxMemory = 300 << 20        // resident, of the process at its peak
	slack     = 30 * time.Second // beyond what its flags allow, on a busy machine
	hopeless  = 5 * time.Minute  // then it is killed
)

// A fault is something that servers do, and the expected outcome.
type fault struct {
	name    string
	server  *server
	scheme  string        // "http" if empty
	paths   []string      // {"/page"} if empty
	hosts   int           // how many have the fault at once, 64 if 0
	flags   []string      // PORT is the server's
	timeout time.Duration // -timeout, 30s if 0
	waits   int           // how many successive requests may take that long

	files     int      // sitemap records of each host, with -sitemaps
	wantFiles []string // their possible outcomes, as summary returns them

	want   []string // possible outcomes, as summary returns them
	status int      // exit status of the command
	detail string   // substring of error_detail
	body   string   // prefix of the body
	check  func(*testing.T, *fault, []*wire.Record)
}

// summary returns status, error and truncated of a record.
func summary(r *wire.Record) string {
	var words []string
	if r.StatusCode != 0 {
		words = append(words, strconv.Itoa(r.StatusCode))
	}
	if r.Error != "" {
		words = append(words, r.Error)
	}
	if r.Truncated != "" {
		words = append(words, "truncated "+r.Truncated)
	}
	return strings.Join(words, ", ")
}

// answer returns a server that answers all requests for pages with steps.
func answer(steps ...step) *server { return &server{answers: map[string][]step{"": steps}} }

// robots returns a server with a valid page that answers robots.txt with steps.
func robots(steps ...step) *server {
	return &server{answers: map[string][]step{"": {page("the page")}, "/robots.txt": steps}}
}

const disallow = "User-agent: *\nDisallow: /page\n"

var (
	// The outcomes of a bomb: the body is cut at -max-body, or the compression ratio is
	// too high.
	defused = []string{"200, truncated length", "200, too_large", "200, too_large, truncated length"}
	refused = []string{"http"}
	torn    = []string{"200, truncated disconnect"}
	sound   = []string{"200"}
)

// faults returns all faults: those of HTTP/1.1, TLS, proxies and robots.txt, of HTTP/2, and of
// sitemaps.
func faults(certs certificates) []*fault {
	h2 := "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\x00\x04\x00\x01\x00\x00\x00\x05\x00\xff\xff\xff"
	list := []*fault{
		// Connections.
		{name: "connection refused", server: &server{closed: true}, want: []string{"connect"}},
		{name: "connection reset at once", server: &server{greet: []step{reset}}, want: []string{"http", "connect"}},
		{name: "connection reset in the header", server: answer(say(html, "X-Half: "), reset), want: refused},
		{name: "connection reset in the body", server: answer(say(html, "Content-Length: 100\r\n\r\nthe beginning"), reset), want: torn, body: "the beginning"},
		{name: "connection closed without a response", server: answer(), want: refused},
		{name: "connection closed in the header", server: answer(say(html, "X-Half: ")), want: refused},
		{name: "connection closed in a chunk", server: answer(say(html, "Transfer-Encoding: chunked\r\n\r\n3\r\nthe\r\n20\r\n beginning")), want: torn, body: "the beginning"},
		{name: "connection closed between chunks", server: answer(say(html, "Transfer-Encoding: chunked\r\n\r\n3\r\nthe\r\n")), want: torn, body: "the"},
		{name: "no answer", server: answer(hush), timeout: time.Second, want: []string{"timeout"}, detail: "1s"},
		{name: "no answer, -header-timeout 1s", server: answer(hush), flags: []string{"-header-timeout", "1s"}, want: []string{"timeout"}, detail: "-header-timeout (1s)"},
		{name: "no connection, -connect-timeout 1s", server: &server{full: true}, flags: []string{"-connect-timeout", "1s"}, want: []string{"timeout"}, detail: "-connect-timeout (1s)"},

		// Bodies without end.
		{name: "endless body", server: answer(say(html, "\r\n"), flood("words and words\n")), want: []string{"200, truncated length"}, check: cutAt(10 << 20)},
		{name: "endless body, -max-body 64 KiB", server: answer(say(html, "\r\n"), flood("words and words\n")), flags: []string{"-max-body", "64KiB"}, want: []string{"200, truncated length"}, check: cutAt(64 << 10)},
		// 64 records have 4 GB, which takes a slow machine longer than 30 s; robots.txt is answered at once.
		{name: "endless body of NUL", server: answer(say(html, "\r\n"), flood("\x00")), timeout: time.Minute, waits: 1, want: []string{"200, truncated length"}, check: cutAt(10 << 20)},
		{name: "endless body in one chunk", server: answer(say(html, "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n"), flood("words and words\n")), want: []string{"200, truncated length"}, check: cutAt(10 << 20)},
		{name: "endless body in chunks of a byte", server: answer(say(html, "Transfer-Encoding: chunked\r\n\r\n"), flood("1\r\nx\r\n")), flags: []string{"-max-body", "2MiB"}, want: []string{"200, truncated length"}},
		{name: "endless chunk extension", server: answer(say(html, "Transfer-Encoding: chunked\r\n\r\n3\r\nthe\r\n1;"), flood("x")), want: torn, body: "the"},
		{name: "endless trailer", server: answer(say(html, "Transfer-Encoding: chunked\r\n\r\n3\r\nthe\r\n0\r\n"), flood("X: y\r\n")), want: []string{"200, truncated disconnect", "200"}, body: "the"},
		{name: "endless body, a byte at a time", server: answer(say(html, "\r\nthe beginning"), trickle(".", 100*time.Millisecond)), timeout: time.Second, want: []string{"200, truncated time"}, body: "the beginning"},
		{name: "endless body of an unaccepted type", server: answer(say("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n"), flood("frame")), want: []string{"200, unsupported_type"}, detail: "video/mp4", check: notDownloaded},

		{name: "2 MiB, then a byte at a time, except from one host", server: answer(func(p *peer) {
			long := strings.Repeat("words and words\n", 2<<16)
			if strings.HasPrefix(p.request.Host, "127.0.0.1:") {
				page(long)(p)
				return
			}
			say(html, "\r\n", long)(p)
			trickle(".", 100*time.Millisecond)(p)
		}), hosts: 32, timeout: 2 * time.Second, want: []string{"200", "200, truncated time"}, check: spared},
		{name: "unsolicited responses", server: &server{persist: true, answers: map[string][]step{"": {func(p *peer) {
			// In one write: what is sent after the next request answers that.
			say(keptAlive(p.request.URL.Path), keptAlive("forged"))(p)
		}}}}, paths: []string{"/a", "/b", "/c", "/d"}, flags: []string{"-delay", "1ms"}, want: sound, check: own},

		// Headers without end.
		{name: "endless header lines", server: answer(say(html), flood("X-Name: value\r\n")), want: refused},
		{name: "endless header line", server: answer(say(html, "X-Name: "), flood("value ")), want: refused},
		{name: "endless status line", server: answer(say("HTTP/1.1 200 "), flood("OK ")), want: refused},
		{name: "endless header, a line at a time", server: answer(say(html), trickle("X-Name: value\r\n", 100*time.Millisecond)), timeout: time.Second, want: []string{"timeout"}},
		{name: "100,000 headers", server: answer(say(html, manyHeaders(100_000), "\r\nbody")), want: refused},
		{name: "3,000 headers", server: answer(say(html, manyHeaders(3_000), "Content-Length: 4\r\n\r\nbody")), want: sound, detail: "headers left out", body: "body"},
		{name: "header of 200 KiB in a line", server: answer(say(html, "X-Long: ", strings.Repeat("x", 200<<10), "\r\nContent-Length: 4\r\n\r\nbody")), want: sound, detail: "1 of 3 headers left out", body: "body"},
		{name: "endless 1xx", server: answer(flood("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")), want: refused},
		{name: "endless 100, one at a time", server: answer(trickle("HTTP/1.1 100 Continue\r\n\r\n", 100*time.Millisecond)), timeout: time.Second, want: []string{"http", "timeout"}},
		{name: "one byte a second, header", server: answer(trickle("H", time.Second)), timeout: 1500 * time.Millisecond, want: []string{"timeout"}},
		{name: "one byte a second, body", server: answer(say(html, "Content-Length: 1000\r\n\r\n"), trickle("b", time.Second)), timeout: 1500 * time.Millisecond, want: []string{"200, truncated time"}},

		{name: "one byte a second, header, -header-timeout 1s", server: answer(trickle("H", time.Second)), flags: []string{"-header-timeout", "1s"}, want: []string{"timeout"}, detail: "-header-timeout (1s)"},

		// Redirects.
		{name: "endless redirects", server: answer(func(p *peer) { redirect(p.request.URL.Path + "x")(p) }), waits: 11, want: []string{"redirect_loop"}, check: hops(11)},
		{name: "redirect to itself", server: answer(redirect("/page")), want: []string{"redirect_loop"}, check: hops(1)},
		{name: "redirect there and back", server: &server{answers: map[string][]step{"/page": {redirect("/b")}, "/b": {redirect("/page")}}}, want: []string{"redirect_loop"}, check: hops(2)},
		{name: "redirect to itself by a fragment", server: answer(redirect("#top")), want: []string{"redirect_loop"}, check: hops(1)},
		{name: "redirect without Location", server: answer(status(http.StatusFound)), want: []string{"302"}, body: "sorry"},
		{name: "redirect to no web address", server: answer(redirect("file:///etc/passwd")), want: []string{"bad_url"}, detail: "file:///etc/passwd"},
		{name: "redirect to an incomplete address", server: answer(redirect("http://[::1")), want: []string{"bad_url"}, detail: "http://[::1"},
		{name: "redirect to 169.254.169.254", server: answer(redirect("http://169.254.169.254/latest/meta-data/")), want: []string{"blocked_address"}},
		{name: "redirect of 65,000 bytes", server: answer(redirect("/" + strings.Repeat("x", 65_000))), want: []string{"bad_url"}, check: shortRecords},
		{name: "redirect with control characters", server: &server{answers: map[string][]step{"/page": {redirect("/\x01\x1b[2J\x7f\tb\x0b")}, "": {page("behind")}}}, want: []string{"200", "http", "bad_url"}, check: noControls},
		{name: "redirect with a carriage return", server: &server{answers: map[string][]step{"/page": {redirect("/b\rX-Injected: yes")}, "": {page("behind")}}}, want: []string{"200", "http", "bad_url"}, check: noControls},
		{name: "redirect with a NUL", server: &server{answers: map[string][]step{"/page": {redirect("/b\x00c")}, "": {page("behind")}}}, want: []string{"200", "http", "bad_url"}, check: noControls},

		// Bombs of 4 GiB.
		{name: "gzip bomb", server: answer(coded("gzip", gzipBomb())), want: defused, check: cutAt(10 << 20)},
		{name: "deflate bomb", server: answer(coded("deflate", deflateBomb())), want: defused, check: cutAt(10 << 20)},
		{name: "br bomb", server: answer(coded("br", brotliBomb())), want: defused, check: cutAt(10 << 20)},
		{name: "zstd bomb", server: answer(coded("zstd", zstdBomb())), want: defused, check: cutAt(10 << 20)},
		{name: "gzip bomb in gzip", server: answer(coded("gzip, gzip", nestedBomb())), want: defused, check: cutAt(10 << 20)},
		{name: "gzip bomb in gzip, -max-body 20 MiB", server: answer(coded("gzip, gzip", nestedBomb())), flags: []string{"-max-body", "20MiB"}, want: []string{"200, too_large, truncated length"}},
		{name: "short br bomb, -max-body 20 MiB", server: answer(coded("br", brotliBomb()[:12<<10])), flags: []string{"-max-body", "20MiB"}, want: []string{"200, too_large, truncated length"}},
		{name: "endless body of NUL, -max-body 12 MiB", server: answer(say(html, "\r\n"), flood("\x00")), hosts: 1, flags: []string{"-max-body", "12MiB"}, want: []string{"200, too_large, truncated length"}, detail: "record"},
		{name: "gzip a thousand times", server: answer(coded(strings.Repeat("gzip, ", 999)+"gzip", nestedBomb())), want: append([]string{"200", "200, truncated disconnect"}, defused...)},
		{name: "declared as gzip, but not gzip", server: answer(coded("gzip", []byte("plain words"))), want: sound, body: "plain words"},
		{name: "truncated gzip", server: answer(coded("gzip", gzipBomb()[:1000])), want: torn},

		// Lengths.
		{name: "Content-Length too long", server: answer(say(html, "Content-Length: 100\r\n\r\nthe beginning")), want: torn, body: "the beginning"},
		{name: "Content-Length too short", server: answer(say(html, "Content-Length: 3\r\n\r\nthe rest is too much")), want: sound, body: "the", check: cutAt(3)},
		{name: "Content-Length enormous", server: answer(say(html, "Content-Length: 9223372036854775807\r\n\r\nthe beginning")), want: torn, body: "the beginning"},
		{name: "Content-Length beyond 64 bits", server: answer(say(html, "Content-Length: 92233720368547758070\r\n\r\nthe beginning")), want: sound, body: "the beginning"},
		{name: "Content-Length negative", server: answer(say(html, "Content-Length: -3\r\n\r\nthe beginning")), want: sound, body: "the beginning"},
		{name: "Content-Length no number", server: answer(say(html, "Content-Length: many\r\n\r\nthe beginning")), want: sound, body: "the beginning"},
		{name: "Content-Length twice, different", server: answer(say(html, "Content-Length: 3\r\nContent-Length: 4\r\n\r\nthe beginning")), want: refused},
		{name: "Content-Length twice, the same", server: answer(say(html, "Content-Length: 3\r\nContent-Length: 3\r\n\r\nthe")), want: sound, body: "the"},
		{name: "Content-Length beside chunks", server: answer(say(html, "Content-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nthe\r\n0\r\n\r\n")), want: []string{"200", "http"}},
		{name: "chunk without a length", server: answer(say(html, "Transfer-Encoding: chunked\r\n\r\n3\r\nthe\r\nmany\r\n")), want: torn, body: "the"},

		// Other protocols and malformed responses.
		{name: "garbage instead of HTTP", server: answer(say("\x9d\x00\xff\xfeI do not speak HTTP\r\n\r\n")), want: refused},
		{name: "endless garbage", server: answer(flood("\x9d\x00\xff\xfe garbage")), want: refused},
		{name: "HTTP/0.9", server: answer(say("<html><p>a page of 1992</html>\n")), want: refused},
		{name: "HTTP/2 on a plain port", server: answer(say(h2), hush), timeout: time.Second, want: []string{"http", "timeout"}},
		{name: "HTTP/2 on a plain port, and closed", server: answer(say(h2)), want: refused},
		{name: "SSH", server: &server{greet: []step{say("SSH-2.0-OpenSSH_9.9\r\n")}}, want: refused},
		{name: "status 99999", server: answer(say("HTTP/1.1 99999 OK\r\n\r\nbody")), want: refused},
		{name: "status in words", server: answer(say("HTTP/1.1 fine\r\n\r\nbody")), want: refused},
		{name: "101 Switching Protocols", server: answer(say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), flood("x")), want: []string{"101", "101, truncated length", "http", "101, unsupported_type"}},
		{name: "NUL in a header", server: answer(say(html, "X-Name: a\x00b\r\nContent-Length: 4\r\n\r\nbody")), want: []string{"200", "http"}},
		{name: "CR in a header", server: answer(say(html, "X-Name: a\rX-Other: b\r\nContent-Length: 4\r\n\r\nbody")), want: []string{"200", "http"}},
		{name: "header without a colon", server: answer(say(html, "X-Name\r\nContent-Length: 4\r\n\r\nbody")), want: []string{"200", "http"}},
		{name: "image as HTML", server: answer(typed("text/html", "\x89PNG\r\n\x1a\n\x00\x00")), want: sound},
		{name: "HTML as image", server: answer(typed("image/png", "<p>words")), want: []string{"200, unsupported_type"}, detail: "image/png"},
		{name: "Content-Type of 100 KiB", server: answer(typed(strings.Repeat("x", 100<<10)+"/html", "<p>words")), want: []string{"200", "200, unsupported_type"}, check: shortRecords},
		{name: "cookies", server: &server{answers: map[string][]step{"/a": {status(http.StatusFound, "Set-Cookie: a=b; Path=/", "Location: /c")}, "": {status(http.StatusOK, "Set-Cookie: c=d; Path=/")}}}, paths: []string{"/a", "/b", "/d"}, want: sound, check: cookiesOfChains},

		// Servers that want to be left alone.
		{name: "429, Retry-After in seconds", server: answer(status(429, "Retry-After: 3600")), flags: politely, want: []string{"429"}, check: held(time.Hour, time.Hour)},
		{name: "429, Retry-After as a date", server: answer(func(p *peer) {
			status(429, "Retry-After: "+time.Now().Add(2*time.Hour).UTC().Format(http.TimeFormat))(p)
		}), flags: politely, want: []string{"429"}, check: held(2*time.Hour, 2*time.Hour)},
		{name: "429, Retry-After in the past", server: answer(status(429, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT")), flags: politely, want: []string{"429"}, check: held(54*time.Second, 66*time.Second)},
		{name: "429, Retry-After rubbish", server: answer(status(429, "Retry-After: tomorrow, perhaps")), flags: politely, want: []string{"429"}, check: held(54*time.Second, 66*time.Second)},
		{name: "429, Retry-After negative", server: answer(status(429, "Retry-After: -5")), flags: politely, want: []string{"429"}, check: held(54*time.Second, 66*time.Second)},
		{name: "429, Retry-After enormous", server: answer(status(429, "Retry-After: 99999999999999999999")), flags: politely, want: []string{"429"}, check: held(54*time.Second, 367*24*time.Hour)},
		{name: "503 of 1,000 hosts", server: answer(status(503, "Retry-After: 3600")), flags: politely, hosts: 1000, paths: []string{"/a", "/b", "/c"}, want: []string{"503", "budget"}, check: stormed},

		// TLS.
		{name: "TLS stalled", server: &server{greet: []step{hush}}, scheme: "https", timeout: time.Second, want: []string{"timeout"}},
		{name: "TLS stalled, -connect-timeout 1s", server: &server{greet: []step{hush}}, scheme: "https", flags: []string{"-connect-timeout", "1s"}, want: []string{"timeout"}, detail: "-connect-timeout (1s)"},
		{name: "TLS, a byte a second, -connect-timeout 1s", server: &server{greet: []step{trickle("\x16", time.Second)}}, scheme: "https", flags: []string{"-connect-timeout", "1s"}, want: []string{"timeout", "tls"}},
		{name: "TLS reset", server: &server{greet: []step{reset}}, scheme: "https", want: []string{"tls", "connect"}},
		{name: "TLS with plain HTTP", server: answer(page("plain")), scheme: "https", want: []string{"tls"}},
		{name: "TLS with garbage", server: &server{greet: []step{flood("garbage")}}, scheme: "https", want: []string{"tls"}},
		{name: "TLS on a port for plain HTTP", server: secure(certs.valid, page("the page")), want: refused},
		{name: "TLS, a valid certificate", server: secure(certs.valid, page("the page")), scheme: "https", want: sound, body: "the page"},
		{name: "TLS, self-signed", server: secure(certs.selfSigned, page("the page")), scheme: "https", want: []string{"tls"}, detail: "unknown authority"},
		{name: "TLS, expired", server: secure(certs.expired, page("the page")), scheme: "https", want: []string{"tls"}, detail: "expired"},
		{name: "TLS, certificate for another name", server: secure(certs.wrongName, page("the page")), scheme: "https", want: []string{"tls"}, detail: "127.0."},
		{name: "TLS, self-signed, -insecure", server: secure(certs.selfSigned, page("the page")), scheme: "https", flags: []string{"-insecure"}, want: sound, body: "the page", detail: "unknown authority"},
		{name: "TLS, expired, -insecure", server: secure(certs.expired, page("the page")), scheme: "https", flags: []string{"-insecure"}, want: sound, body: "the page", detail: "expired"},
		{name: "TLS, certificate for another name, -insecure", server: secure(certs.wrongName, page("the page")), scheme: "https", flags: []string{"-insecure"}, want: sound, body: "the page", detail: "127.0."},

		// Proxies.
		{name: "proxy, working", server: answer(page("the page")), flags: []string{"-proxy", "http://127.0.0.1:PORT"}, want: sound, body: "the page"},
		{name: "proxy, refused", server: &server{closed: true}, flags: []string{"-proxy", "http://127.0.0.1:PORT"}, want: []string{"budget"}, status: 1, detail: "the proxy: "},
		{name: "proxy, garbage", server: &server{greet: []step{say("garbage\r\n\r\n")}}, flags: []string{"-proxy", "http://127.0.0.1:PORT"}, want: refused},
		{name: "proxy, 407", server: robots(status(http.StatusProxyAuthRequired)), flags: []string{"-proxy", "http://127.0.0.1:PORT"}, want: []string{"budget"}, status: 1, detail: "407"},
		{name: "proxy, CONNECT, 502", server: &server{greet: []step{status(http.StatusBadGateway)}}, scheme: "https", flags: []string{"-proxy", "http://127.0.0.1:PORT"}, want: []string{"connect"}, detail: "502"},
		{name: "proxy, CONNECT, no answer", server: &server{greet: []step{hush}}, scheme: "https", flags: []string{"-proxy", "http://127.0.0.1:PORT", "-connect-timeout", "1s"}, want: []string{"timeout", "connect"}, detail: "1s"},
		{name: "proxy, CONNECT, endless header", server: &server{greet: []step{say("HTTP/1.1 200 OK\r\n"), flood("X-Name: value\r\n")}}, scheme: "https", flags: []string{"-proxy", "http://127.0.0.1:PORT"}, want: []string{"connect"}},
		{name: "proxy, CONNECT, endless 1xx", server: &server{greet: []step{flood("HTTP/1.1 100 Continue\r\n\r\n")}}, scheme: "https", flags: []string{"-proxy", "http://127.0.0.1:PORT"}, want: []string{"connect"}},
		{name: "proxy, CONNECT, a second response", server: &server{greet: []step{say("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), hush}}, scheme: "https", flags: []string{"-proxy", "http://127.0.0.1:PORT"}, want: []string{"connect", "tls"}},
		{name: "SOCKS5, garbage", server: &server{greet: []step{flood("garbage")}}, flags: []string{"-proxy", "socks5://127.0.0.1:PORT"}, want: []string{"connect"}},
		{name: "SOCKS5, no answer", server: &server{greet: []step{hush}}, flags: []string{"-proxy", "socks5h://127.0.0.1:PORT", "-connect-timeout", "1s"}, want: []string{"timeout", "connect"}, detail: "1s"},
		{name: "SOCKS5, refuses", server: &server{greet: []step{say("\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"), hush}}, flags: []string{"-proxy", "socks5h://127.0.0.1:PORT"}, want: []string{"connect"}},

		// robots.txt.
		{name: "robots.txt 500", server: robots(status(500)), want: []string{"budget"}, detail: "500", check: both(notAsked("/page"), held(50*time.Minute, 70*time.Minute))},
		{name: "robots.txt 503, Retry-After", server: robots(status(503, "Retry-After: 7200")), flags: politely, want: []string{"budget"}, detail: "503", check: both(notAsked("/page"), held(2*time.Hour, 2*time.Hour))},
		{name: "robots.txt 404", server: robots(status(404)), want: sound, body: "the page"},
		{name: "robots.txt 403", server: robots(status(403)), want: sound, body: "the page"},
		{name: "robots.txt forbids", server: robots(typed("text/plain", disallow)), want: []string{"robots"}, detail: "line 2", check: notAsked("/page")},
		{name: "robots.txt after 1 redirect", server: robotsBehind(1), want: []string{"robots"}, check: notAsked("/page")},
		{name: "robots.txt after 5 redirects", server: robotsBehind(5), waits: 6, want: []string{"robots"}, check: notAsked("/page")},
		{name: "robots.txt after 6 redirects", server: robotsBehind(6), waits: 6, want: sound, body: "the page"},
		{name: "robots.txt redirects to itself", server: robots(redirect("/robots.txt")), waits: 6, want: sound, body: "the page"},
		{name: "robots.txt on another host", server: &server{answers: map[string][]step{
			"":            {page("the page")},
			"/robots.txt": {func(p *peer) { redirect(fmt.Sprintf("http://127.0.1.1:%d/rules", p.server.port()))(p) }},
			"/rules":      {typed("text/plain", disallow)},
		}}, waits: 3, want: []string{"robots"}, check: notAsked("/page")},
		{name: "robots.txt of 4 MB, forbids early", server: robots(typed("text/plain", disallow+strings.Repeat("# nothing\n", 400_000))), want: []string{"robots"}, check: notAsked("/page")},
		{name: "robots.txt of 4 MB, forbids late", server: robots(typed("text/plain", strings.Repeat("# nothing\n", 400_000)+disallow)), want: sound, body: "the page"},
		{name: "robots.txt endless", server: robots(say("HTTP/1.1 200 OK\r\n\r\n", disallow), flood("# nothing\n")), want: []string{"robots"}, check: notAsked("/page")},
		{name: "robots.txt, a gzip bomb", server: robots(coded("gzip", gzipBomb())), want: sound, body: "the page"},
		{name: "robots.txt of binary", server: robots(typed("application/octet-stream", strings.Repeat("\x00\xff\r\x1b\n", 10_000))), want: sound, body: "the page"},
		{name: "robots.txt of garbage", server: robots(say("I do not speak HTTP\r\n\r\n")), want: refused, detail: "robots.txt", check: notAsked("/page")},
		{name: "robots.txt never answers", server: robots(hush), timeout: time.Second, want: []string{"timeout"}, detail: "robots.txt", check: notAsked("/page")},
		{name: "robots.txt, a byte at a time", server: robots(say(html, "\r\n"), trickle("#", 100*time.Millisecond)), timeout: time.Second, want: []string{"timeout"}, detail: "robots.txt", check: notAsked("/page")},
		{name: "robots.txt reset", server: robots(reset), want: refused, detail: "robots.txt", check: notAsked("/page")},
		{name: "half of robots.txt, then reset", server: robots(say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\n"), reset), want: refused, detail: "robots.txt", check: notAsked("/page")},
	}
	list = append(list, http2Faults(certs)...)
	list = append(list, sitemapFaults()...)
	for _, f := range list {
		f.scheme = cmp.Or(f.scheme, "http")
		f.hosts = cmp.Or(f.hosts, 64)
		f.timeout = cmp.Or(f.timeout, 30*time.Second)
		f.waits = cmp.Or(f.waits, 2) // robots.txt and the page
		if f.paths == nil {
			f.paths = []string{"/page"}
		}
		if !slices.Contains(f.flags, "-delay") {
			f.flags = append([]string{"-delay", "0s"}, f.flags...)
		}
	}
	return list
}

// politely are the flags for short pauses and normal holds.
var politely = []string{"-delay", "1ms"}

// sitemapFaults returns the faults of sitemaps.
func sitemapFaults() []*fault {
	const head = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"
	list := []*fault{
		// These files are large and wait for one another's memory: 16 hosts with 0.8 GB, and time for a slow machine.
		// robots.txt and the page are answered at once.
		{name: "endless", server: sitemap(say("HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n", head), flood("<url><loc>/page</loc></url>")), timeout: 2 * time.Minute, waits: 1, hosts: 16, wantFiles: []string{"200, truncated length"}, check: longFiles},
		{name: "endless tag", server: sitemap(say("HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n", head, "<url"), flood(" a='b'")), timeout: 2 * time.Minute, waits: 1, hosts: 16, wantFiles: []string{"200, truncated length"}, check: longFiles},
		{name: "endless nesting", server: sitemap(say("HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n", head), flood("<url>")), timeout: 2 * time.Minute, waits: 1, hosts: 16, wantFiles: []string{"200, truncated length"}, check: longFiles},
		{name: "a byte at a time", server: sitemap(say(html, "\r\n"), trickle("<", 100*time.Millisecond)), timeout: time.Second, wantFiles: []string{"200, truncated time"}},
		{name: "endless noise in gzip", server: sitemap(say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffff\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), flood(storedNoise())), timeout: 2 * time.Minute, waits: 1, hosts: 8, wantFiles: []string{"200, truncated length"}, check: longFiles},
		{name: "of the maximum size", server: sitemap(func(p *peer) {
			long := strings.Repeat("x", 940)
			say("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")(p)
			for i := range 50_000 {
				line := fmt.Sprintf("http://%s/%d-%s\n", p.request.Host, i, long)
				say(fmt.Sprintf("%x\r\n%s\r\n", len(line), line))(p)
			}
			say("0\r\n\r\n")(p)
		}), timeout: time.Minute, waits: 1, hosts: 4, wantFiles: sound, check: longFiles},
		{name: "2 MiB, then a byte at a time", server: sitemap(say(html, "\r\n", strings.Repeat("<url></url>\n", 2<<20/12)), trickle(".", 100*time.Millisecond)), timeout: 2 * time.Second, wantFiles: []string{"200, truncated time", "budget"}, check: crowded},
		{name: "gzip bomb", server: sitemap(typed("application/gzip", string(gzipBomb()))), timeout: 2 * time.Minute, waits: 1, hosts: 16, wantFiles: sound},
		{name: "gzip bomb in gzip", server: sitemap(coded("gzip", gzipBomb())), timeout: 2 * time.Minute, waits: 1, hosts: 16, wantFiles: defused},
		{name: "bomb of entities", server: sitemap(typed("application/xml", entityBomb)), wantFiles: sound},
		{name: "index of itself", server: sitemap(typed("application/xml", sitemapIndex("/sitemap.xml"))), wantFiles: sound},
		{name: "indexes without end", server: sitemap(func(p *peer) {
			var names []string
			for i := range 100 {
				names = append(names, fmt.Sprintf("%s-%d", p.request.URL.Path, i))
			}
			typed("application/xml", sitemapIndex(names...))(p)
		}), files: 50, hosts: 4, waits: 52, timeout: 10 * time.Second, wantFiles: sound},
		{name: "addresses of 8,000 bytes", server: sitemap(func(p *peer) {
			if p.request.URL.Path == "/sitemap.xml" {
				var names []string
				for i := range 33 {
					names = append(names, fmt.Sprintf("/sitemap-%d", i))
				}
				typed("application/xml", sitemapIndex(names...))(p)
				return
			}
			long := strings.Repeat("x", 7_900)
			var b strings.Builder
			for i := range 1_200 {
				fmt.Fprintf(&b, "http://%s%s-%d-%s\n", p.request.Host, p.request.URL.Path, i, long)
			}
			typed("text/plain", b.String())(p)
		}), files: 34, hosts: 1, waits: 36, wantFiles: sound},
	}
	for _, f := range list {
		f.name, f.want = "sitemap, "+f.name, sound
		f.flags = []string{"-delay", "0s", "-sitemaps"}
		f.files = cmp.Or(f.files, 1)
		f.waits = cmp.Or(f.waits, 3)
	}
	return list
}

// storedNoise returns random bytes in stored blocks of deflate (RFC 1951, section 3.2.4).
func storedNoise() string {
	noise := make([]byte, 1<<16-1)
	var b strings.Builder
	for i := range 8 {
		rand.NewChaCha8([32]byte{byte(i)}).Read(noise)
		b.WriteString("\x00\xff\xff\x00\x00" + string(noise))
	}
	return b.String()
}

// sitemap returns a server with a valid page that answers all other requests with steps.
func sitemap(steps ...step) *server {
	return &server{answers: map[string][]step{"/page": {page("the page")}, "": steps}}
}

func sitemapIndex(files ...string) string {
	var b strings.Builder
	b.WriteString("<sitemapindex>")
	for _, f := range files {
		b.WriteString("<sitemap><loc>" + f + "</loc></sitemap>")
	}
	b.WriteString("</sitemapindex>")
	return b.String()
}

// entityBomb would expand to 3 GB in a parser that expands entities.
var entityBomb = func() string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE urlset [<!ENTITY e0 \"http://a.test/\">")
	for i := range 9 {
		fmt.Fprintf(&b, "<!ENTITY e%d \"%s\">", i+1, strings.Repeat(fmt.Sprintf("&e%d;", i), 10))
	}
	return b.String() + "]><urlset><url><loc>&e9;</loc></url></urlset>"
}()

func manyHeaders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "X-Header-%d: value\r\n", i)
	}
	return b.String()
}

func secure(config *tls.Config, steps ...step) *server {
	s := answer(steps...)
	s.tls = config
	return s
}

// robotsBehind returns a server whose robots.txt, n redirects away, disallows the page.
func robotsBehind(n int) *server {
	s := robots(redirect("/1"))
	for i := 1; i < n; i++ {
		s.answers[fmt.Sprintf("/%d", i)] = []step{redirect(fmt.Sprintf("/%d", i+1))}
	}
	s.answers[fmt.Sprintf("/%d", n)] = []step{typed("text/plain", disallow)}
	return s
}

// A check tests the records of a fault further.
type check = func(*testing.T, *fault, []*wire.Record)

func both(checks ...check) check {
	return func(t *testing.T, f *fault, recs []*wire.Record) {
		for _, c := range checks {
			c(t, f, recs)
		}
	}
}

// each returns a check of every record, which reports the first message that is not empty.
func each(message func(*wire.Record) string) check {
	return func(t *testing.T, f *fault, recs []*wire.Record) {
		for _, r := range recs {
			if s := message(r); s != "" {
				t.Errorf("%s: %s", r.URL, s)
				return // the others are probably the same
			}
		}
	}
}

// cutAt checks that bodies have n bytes, unless there is an error.
func cutAt(n int64) check {
	return each(func(r *wire.Record) string {
		if r.ContentLength != n && r.Error == "" {
			return fmt.Sprintf("content_length %d, want %d", r.ContentLength, n)
		}
		return ""
	})
}

// longFiles checks that sitemaps are longer than a page can be.
func longFiles(t *testing.T, f *fault, recs []*wire.Record) {
	each(func(r *wire.Record) string {
		if r.Operator == "sitemap" && (r.ContentLength < 45<<20 || r.ContentLength > 50<<20) {
			return fmt.Sprintf("content_length %d", r.ContentLength)
		}
		return ""
	})(t, f, recs)
}

// crowded checks that there was no memory for some sitemaps.
func crowded(t *testing.T, _ *fault, recs []*wire.Record) {
	if !slices.ContainsFunc(recs, func(r *wire.Record) bool { return strings.Contains(r.ErrorDetail, "no memory") }) {
		t.Error("there was memory for all")
	}
}

// spared checks that the page of the one host without the fault is complete.
func spared(t *testing.T, _ *fault, recs []*wire.Record) {
	sound := func(r *wire.Record) bool { return r.StatusCode == 200 && r.Truncated == "" && r.ContentLength == 2<<20 }
	for _, r := range recs {
		if strings.HasPrefix(r.URL, "http://127.0.0.1:") != sound(r) {
			t.Errorf("%s: %s, %d bytes", r.URL, summary(r), r.ContentLength)
		}
	}
}

// own checks that the body of each page is its path.
func own(t *testing.T, f *fault, recs []*wire.Record) {
	each(func(r *wire.Record) string {
		if want := int64(len("/a")); r.ContentLength != want {
			return fmt.Sprintf("the answer to another request: %d bytes, want %d", r.ContentLength, want)
		}
		return ""
	})(t, f, recs)
}

func hops(n int) check {
	return each(func(r *wire.Record) string {
		if len(r.Redirects) != n {
			return fmt.Sprintf("%d redirects, want %d", len(r.Redirects), n)
		}
		return ""
	})
}

func shortRecords(t *testing.T, f *fault, recs []*wire.Record) {
	each(func(r *wire.Record) string {
		if n := len(r.ErrorDetail) + len(r.FinalURL) + len(r.ContentType); n > 10<<10 {
			return fmt.Sprintf("%d bytes of a header in a record", n)
		}
		return ""
	})(t, f, recs)
}

func noControls(t *testing.T, f *fault, recs []*wire.Record) {
	each(func(r *wire.Record) string {
		if strings.IndexFunc(r.FinalURL, func(c rune) bool { return c <= ' ' || c == 0x7f }) >= 0 {
			return fmt.Sprintf("final_url %q", r.FinalURL)
		}
		return ""
	})(t, f, recs)
	if f.server.forged > 0 {
		t.Error("a Location put a line into the next request")
	}
}

// held checks that not_before is between least and most away.
func held(least, most time.Duration) check {
	return each(func(r *wire.Record) string {
		until, err := time.Parse(time.RFC3339, r.NotBefore)
		if d := time.Until(until); err != nil || d < least-time.Minute || d > most+time.Minute {
			return fmt.Sprintf("not_before %q is %v away, want %v to %v", r.NotBefore, d, least, most)
		}
		return ""
	})
}

func stormed(t *testing.T, f *fault, recs []*wire.Record) {
	held(time.Hour, time.Hour)(t, f, recs)
	asked := f.server.asked["/a"] + f.server.asked["/b"] + f.server.asked["/c"]
	if n := slices.IndexFunc(recs, func(r *wire.Record) bool { return r.StatusCode == 503 }); n < 0 || asked != f.hosts {
		t.Errorf("asked for %d pages at %d hosts that fail", asked, f.hosts)
	}
}

func notAsked(path string) check {
	return func(t *testing.T, f *fault, _ []*wire.Record) {
		if n := f.server.asked[path]; n > 0 {
			t.Errorf("asked for %s %d times", path, n)
		}
	}
}

func notDownloaded(t *testing.T, f *fault, _ []*wire.Record) {
	// Only what is sent before the client has read the header.
	if most := int64(f.hosts) * 8 << 20; f.server.flooded > most {
		t.Errorf("the server sent %d bytes of unwanted bodies", f.server.flooded)
	}
}

// cookiesOfChains checks that a cookie is sent to the target of the redirect that sets it, and
// never again.
func cookiesOfChains(t *testing.T, f *fault, _ []*wire.Record) {
	if f.server.cookies != f.hosts {
		t.Errorf("%d requests with cookies, want %d", f.server.cookies, f.hosts)
	}
}

// A run is the result of one process of the command.
type run struct {
	records []*wire.Record
	bodies  []string // the beginning of each
	log     string
	status  int
	took    time.Duration
	memory  int64 // peak, resident
	written int64 // bytes to stdout
}

// start runs program on addresses. It closes its input once there is a record of each address
// and further ones, so that the memory of the process can be read while it is running.
func start(t *testing.T, program string, env []string, addresses []string, further int, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hopeless)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append([]string{"HOME=" + t.TempDir()}, env...)
	var log bytes.Buffer
	cmd.Stderr = &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A process that needs far too much memory must fail before the machine runs out of it.
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: 4 << 30, Max: 4 << 30}, nil); err != nil {
		t.Error(err)
	}
	var feeding sync.WaitGroup
	feeding.Go(func() { io.WriteString(stdin, strings.Join(addresses, "\n")+"\n") })

	r := run{}
	in := bufio.NewReaderSize(stdout, 1<<20)
	for {
		if len(r.records) == len(addresses)+further && r.took == 0 {
			r.took, r.memory = time.Since(began), peak(t, cmd.Process.Pid)
			feeding.Wait()
			stdin.Close()
		}
		line, size, err := readLine(in)
		r.written += size
		if errors.Is(err, io.EOF) && size == 0 {
			break
		}
		if err != nil {
			t.Errorf("stdout ends after %d bytes: %v", r.written, err)
			break
		}
		rec := new(wire.Record)
		if err := wire.NewReader(bytes.NewReader(line), wire.Address|wire.Fetch|wire.Body).Read(rec); err != nil {
			t.Errorf("stdout has a malformed record: %v", err)
			continue
		}
		body, err := rec.Bytes()
		if err != nil {
			t.Error(err)
		}
		if rec.Error == "" && rec.Operator != "sitemap" && int64(len(line)) == size && int64(len(body)) != rec.ContentLength {
			t.Errorf("%s: %d bytes of body, content_length %d", rec.URL, len(body), rec.ContentLength)
		}
		r.bodies = append(r.bodies, string(body[:min(len(body), 100)]))
		rec.Drop(wire.Body)
		r.records = append(r.records, rec)
	}
	stdin.Close()
	feeding.Wait()
	err = cmd.Wait()
	r.log = log.String()
	if ctx.Err() != nil {
		t.Fatalf("did not end within %v: %d records for %d addresses\n%s", hopeless, len(r.records), len(addresses), r.log)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Errorf("%v\n%s", err, r.log)
	}
	r.status = cmd.ProcessState.ExitCode()
	return r
}

// readLine reads a record. It cuts a long one before the links and the body, which come last,
// so that the test need not decode gigabytes.
func readLine(r *bufio.Reader) (line []byte, size int64, err error) {
	const long = 256 << 10
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		line = append(line, part[:min(len(part), max(0, long-len(line)))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return line, size, err
		case size == int64(len(line)):
			return line, size, nil
		}
		end := len(line)
		for _, name := range []string{`,"links":[`, `,"body":"`, `,"body_base64":"`} {
			if i := bytes.Index(line[:end], []byte(name)); i >= 0 { // in a string its quotes would be escaped
				end = i
			}
		}
		return append(line[:end], "}\n"...), size, nil
	}
}

// peak returns the peak resident memory of a process. The one of wait4 includes that of the
// process that forked.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Errorf("the command ended before its input did: %v", err)
		return 0
	}
	var kib int64
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Errorf("no VmHWM in /proc/%d/status: %v", pid, err)
	}
	return kib << 10
}

// build compiles the command without the race detector, which needs memory.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fetch")
	cmd := exec.Command("go", "build", "-o", program, "../../fetch")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return program
}

// verify checks that the WARC files in a directory have no fault, and that every record that
// refers to one of them refers to a response or revisit. It returns their size.
func verify(t *testing.T, dir string, recs []*wire.Record) (size int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Errorf("no WARC files: %v", err)
	}
	targets := map[string]string{} // by file and offset
	for _, name := range files {
		f := testfile.Open(t, name)
		if info, err := f.Stat(); err == nil {
			size += info.Size()
		}
		r, err := archive.NewReader(f)
		for err == nil {
			var w *archive.Record
			if w, err = r.Next(); err != nil {
				break
			}
			if k := w.Type(); k == "response" || k == "revisit" {
				targets[fmt.Sprintf("%s %d", filepath.Base(name), w.Offset)] = w.TargetURI()
			}
			err = w.Close()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
	for _, r := range recs {
		if r.WARCFilename == "" {
			continue
		}
		if got := targets[fmt.Sprintf("%s %d", r.WARCFilename, r.WARCOffset)]; got != cmp.Or(r.FinalURL, r.URL) {
			t.Errorf("%s: at byte %d of %s there is %q", r.URL, r.WARCOffset, r.WARCFilename, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.open")); len(left) > 0 {
		t.Errorf("left open: %v", left)
	}
	return size
}

// tableRow returns a line of the table: the fault, its outcomes with their number, seconds and
// memory.
func tableRow(name string, counts map[string]int, r run) string {
	var outcomes []string
	for s, n := range counts {
		outcomes = append(outcomes, fmt.Sprintf("%s ×%d", s, n))
	}
	slices.Sort(outcomes)
	return fmt.Sprintf("| %s | %s | %.1f | %d |\n", name, strings.Join(outcomes, "; "), r.took.Seconds(), r.memory>>20)
}

// A fault affects its own records only, and takes neither more time than the flags allow nor
// too much memory. With -v the test prints the table of what happens.
func TestFault(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	program := build(t)
	certs := newCertificates(t, filepath.Join(t.TempDir(), "authority.pem"))
	var mu sync.Mutex
	rows := map[string]string{}
	list := faults(certs)
	t.Cleanup(func() {
		if !testing.Verbose() {
			return
		}
		fmt.Println("\n| fault | record | seconds | MiB |\n|---|---|---|---|")
		for _, f := range list {
			fmt.Print(rows[f.name])
		}
	})
	for _, f := range list {
		t.Run(strings.ReplaceAll(f.name, "/", " "), func(t *testing.T) {
			t.Parallel()
			f.server.listen(t)
			dir := t.TempDir()
			var addresses []string
			for _, path := range f.paths {
				for i := range f.hosts {
					addresses = append(addresses, fmt.Sprintf("%s://127.0.%d.%d:%d%s", f.scheme, i/250, i%250+1, f.server.port(), path))
				}
			}
			args := append([]string{"-allow-private", "-timeout", f.timeout.String(), "-warc", filepath.Join(dir, "w")}, f.flags...)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "PORT", strconv.Itoa(f.server.port()))
			}
			r := start(t, program, []string{"SSL_CERT_FILE=" + certs.file}, addresses, f.hosts*f.files, args...)
			if r.status != f.status {
				t.Errorf("status %d, want %d\n%s", r.status, f.status, r.log)
			}

			var got, want []string
			files := 0
			for _, rec := range r.records {
				if rec.Operator == "sitemap" {
					files++
					continue
				}
				got = append(got, rec.URL)
			}
			want = slices.Sorted(slices.Values(addresses))
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("%d records for %d addresses\n%s", len(got), len(want), r.log)
			}
			if files != f.hosts*f.files {
				t.Errorf("%d records of sitemaps, want %d", files, f.hosts*f.files)
			}
			seen := map[string]int{}
			for i, rec := range r.records {
				s := summary(rec)
				if rec.Operator == "sitemap" {
					if s = "sitemap: " + s; !slices.Contains(f.wantFiles, summary(rec)) && seen[s] == 0 {
						t.Errorf("%s: %s (%s), want %s", rec.URL, s, rec.ErrorDetail, strings.Join(f.wantFiles, " or "))
					}
					seen[s]++
					continue
				}
				if seen[s]++; seen[s] > 1 {
					continue // the others are probably the same
				}
				if !slices.Contains(f.want, s) {
					t.Errorf("%s: %s (%s), want %s", rec.URL, s, rec.ErrorDetail, strings.Join(f.want, " or "))
				}
				if !strings.Contains(rec.ErrorDetail, f.detail) {
					t.Errorf("%s: error_detail %q lacks %q", rec.URL, rec.ErrorDetail, f.detail)
				}
				if !strings.HasPrefix(r.bodies[i], f.body) {
					t.Errorf("%s: body %q, want %q", rec.URL, r.bodies[i], f.body)
				}
			}
			if within := time.Duration(f.waits)*f.timeout + slack; r.took > within {
				t.Errorf("took %v, want %v at most", r.took, within)
			}
			if r.memory > maxMemory {
				t.Errorf("%d MiB of memory, want %d at most", r.memory>>20, maxMemory>>20)
			}
			// A NUL becomes six characters in JSON; headers have 32 KiB.
			if most := int64(len(r.records)) * (6*10<<20 + 1<<20); r.written > most {
				t.Errorf("%d bytes on stdout", r.written)
			}
			if size := verify(t, dir, r.records); size > int64(len(r.records)-files)*(11<<20)+int64(files)*(51<<20) {
				t.Errorf("%d bytes of WARC", size)
			}
			if f.check != nil {
				f.server.mu.Lock()
				defer f.server.mu.Unlock()
				f.check(t, f, r.records)
			}

			mu.Lock()
			defer mu.Unlock()
			rows[f.name] = tableRow(f.name, seen, r)
		})
	}
}
