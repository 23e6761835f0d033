// Package serve is the command serve, which shows crawls in a browser.
package serve

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"spoor/cmd/internal/filter"
	"spoor/internal/run"
	"spoor/internal/viewer"
)

//go:embed manual.md
var manual string

// Command is the command serve.
var Command = filter.Command{Name: "serve", Manual: manual, Run: serve}

// Limits of connections, so that no client can hold many resources.
const (
	maxConnections = 1000
	maxHeader      = 16 << 10 // bytes
	headerTimeout  = 10 * time.Second
	readTimeout    = 30 * time.Second // of a request with its body
	answerTimeout  = time.Minute      // a report has megabytes; events have a timeout of their own
	idleTimeout    = 2 * time.Minute
	lastAnswers    = 2 * time.Second // when the command ends
)

// options are the flags.
type options struct {
	addr, cert, key, tokenFile string
	hosts                      filter.Strings
	index                      string
	archives                   filter.Strings
	control                    bool
	crawlFlags                 filter.Strings
	log                        filter.LogOptions
}

func serve(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	var o options
	fs := filter.Flags("serve", manual, stderr)
	fs.StringVar(&o.addr, "addr", "127.0.0.1:8390", "serve on `HOST:PORT`; port 0 is a free port")
	fs.Var(&o.hosts, "host", "answer requests for this `name`, too, by which browsers reach the server; may be repeated")
	fs.StringVar(&o.tokenFile, "token-file", "", "require the token in this `file`; it is made if it does not exist")
	fs.StringVar(&o.cert, "cert", "", "serve by TLS, with the certificate in this PEM `file`")
	fs.StringVar(&o.key, "key", "", "the private key of -cert, a PEM `file`")
	fs.BoolVar(&o.control, "control", false, "permit to begin, stop and continue crawls, to name examples, and to make reports")
	fs.Var(&o.crawlFlags, "crawl-flag", "with -control: begin all crawls with this `flag`, such as -crawl-flag -search=index.db; may be repeated")
	fs.StringVar(&o.index, "index", "", "search the pages that the crawls have captured, by the index in this `file`; it is made if it does not exist")
	fs.Var(&o.archives, "archive", "with -index: search the pages of this `file` (WARC, ARC, WACZ), pattern or directory, too; may be repeated")
	filter.LogFlags(fs, &o.log)
	dirs, err := filter.ParseMixed(fs, args)
	if err != nil {
		return err
	}
	if err := o.check(dirs, stderr); err != nil {
		return err
	}
	access := viewer.Access{Hosts: o.hosts}
	l, err := net.Listen("tcp", o.addr)
	if err != nil {
		return fmt.Errorf("%w\nhint: -addr 127.0.0.1:0 uses a free port", err)
	}
	defer l.Close()
	public, err := o.public(l.Addr())
	if err != nil {
		return err
	}
	if public || o.control || len(o.hosts) > 0 || o.tokenFile != "" {
		if access.Token, err = token(o.tokenFile); err != nil {
			return err
		}
	}
	if host, _, err := net.SplitHostPort(o.addr); err == nil && public {
		access.Hosts = append(access.Hosts, host)
	}
	prefix, err := filter.Installed("serve")
	if err != nil {
		return err
	}
	options := &viewer.Options{Dirs: dirs, Access: access, Prefix: run.Prefix(prefix), Log: filter.Logger(stderr, "serve", o.log)}
	if o.index != "" {
		if options.Search, err = viewer.OpenSearch(o.index, o.archives, filter.Cache(), options.Log); err != nil {
			return err
		}
		defer options.Search.Close()
	}
	if o.control {
		if options.Control, err = control(run.Prefix(prefix)); err != nil {
			return err
		}
		options.Control.Flags = o.crawlFlags
	}
	link := o.link(l.Addr())
	if _, err := fmt.Fprintln(stdout, link); err != nil {
		return err
	}
	if access.Token != "" {
		fmt.Fprintf(stderr, "serve: open %s?token=%s\n", link, access.Token)
	}
	return o.listen(l, viewer.New(options).Handler())
}

// check returns an error if the command line makes no sense.
func (o *options) check(dirs []string, stderr io.Writer) error {
	if len(o.archives) > 0 && o.index == "" {
		return filter.Usagef("-archive needs -index FILE, the index to which the pages are added")
	}
	if len(o.crawlFlags) > 0 && !o.control {
		return filter.Usagef("-crawl-flag needs -control, which permits to begin crawls")
	}
	for _, f := range o.crawlFlags {
		name, _, hasValue := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch {
		case name == "" || f[0] != '-' || strings.ContainsAny(f, "\n\r"):
			return filter.Usagef("-crawl-flag %q is not a flag of crawl\nhint: -crawl-flag -search=index.db, with the value after an equals sign", f)
		case name == "run" || name == "topic":
			return filter.Usagef("-crawl-flag %s: the form gives -%s", f, name)
		case !hasValue: // it would take the next word of the command line if it needs a value
			return filter.Usagef("-crawl-flag %s has no value\nhint: -crawl-flag %[1]s=VALUE, or %[1]s=true if it is a switch", f)
		}
	}
	if len(dirs) == 0 && len(o.archives) == 0 {
		return filter.Usagef("no directory: serve DIR..., of a crawl, or that holds some\nhint: serve . shows those in this directory")
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(stderr, "serve: %s does not exist yet: its crawls are shown when they begin\n", dir)
		} else if err != nil {
			return filter.Usagef("cannot read %s: %w", dir, err)
		} else if !info.IsDir() {
			return filter.Usagef("%s is not a directory", dir)
		}
	}
	if (o.cert == "") != (o.key == "") {
		return filter.Usagef("-cert and -key belong together")
	}
	for _, name := range o.hosts {
		if name == "" || strings.ContainsAny(name, "/@? ") || strings.Contains(name, ":") && !isIP(name) {
			return filter.Usagef("-host %q is not a name\nhint: a name is without https:// and port, as crawls.example.org", name)
		}
	}
	return nil
}

func isIP(name string) bool {
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil
}

// public reports whether other machines can connect to the address. Then a name of this machine must be known.
func (o *options) public(addr net.Addr) (bool, error) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return false, nil
	}
	if host, _, err := net.SplitHostPort(o.addr); err == nil && len(o.hosts) == 0 && (host == "" || tcp.IP.IsUnspecified()) {
		return true, filter.Usagef("-addr %s is all addresses of this machine: give -host NAME, the name by which browsers reach it\nhint: -addr with one of its addresses needs no name, and -addr 127.0.0.1:8390 is for this machine only", o.addr)
	}
	return true, nil
}

// link returns the address of the list of crawls.
func (o *options) link(addr net.Addr) string {
	host, port := "localhost", ""
	if h, p, err := net.SplitHostPort(addr.String()); err == nil {
		host, port = h, p
	}
	if given, _, err := net.SplitHostPort(o.addr); err == nil && len(o.hosts) > 0 && !isLoopback(given) {
		host = strings.Trim(o.hosts[0], "[]")
	}
	scheme := "http"
	if o.cert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// control returns the commands that -control permits.
func control(prefix run.Prefix) (*viewer.Control, error) {
	crawl, err := command(prefix, "crawl")
	if err != nil {
		return nil, err
	}
	report, err := command(prefix, "report")
	if err != nil {
		return nil, err
	}
	list, err := command(prefix, "evolve")
	if err != nil {
		return nil, err
	}
	c := &viewer.Control{Crawl: crawl, Report: report}
	list = append(list, "-strategies", "-json")
	described, err := exec.Command(list[0], list[1:]...).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		return nil, fmt.Errorf("-control: %s: %w", strings.Join(list, " "), err)
	}
	for d := json.NewDecoder(bytes.NewReader(described)); d.More(); {
		var s viewer.Strategy
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("-control: %s: %w", strings.Join(list, " "), err)
		}
		c.Strategies = append(c.Strategies, s)
	}
	return c, nil
}

// command returns a command of spoor. The first choice are those beside this program: crawl may also be the name of
// somebody else's.
func command(prefix run.Prefix, name string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	beside := func(name string) bool {
		_, err := exec.LookPath(filepath.Join(filepath.Dir(self), name))
		return err == nil
	}
	words := prefix.Words(name)
	if !beside(words[0]) && beside("spoor") {
		words = run.Prefix("spoor ").Words(name)
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, fmt.Errorf("-control needs the command %s: %w\nhint: put it on the PATH", words[0], err)
	}
	return words, nil
}

// listen serves until a signal ends it.
func (o *options) listen(l net.Listener, handler http.Handler) error {
	ctx, stop := filter.NotifyContext("")
	defer stop()
	server := http.Server{
		Handler: handler, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return ctx }, // the streams of events end with it
	}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.Background(), lastAnswers)
		defer cancel()
		ended <- cmp.Or(server.Shutdown(last), server.Close())
	}()
	l = netutil.LimitListener(l, maxConnections)
	var err error
	if o.cert != "" {
		err = server.ServeTLS(l, o.cert, o.key)
	} else {
		err = server.Serve(l)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-ended // connections that are still open are closed: that is no failure
	return context.Cause(ctx)
}
