// Gosite serves the documentation of the Go tree on this machine as a web site:
// a page for every package, type, function and source file, a few thousand
// pages linked as such sites are, with robots.txt and sitemap.xml. It is the
// default web of the demo and of the tests, and needs no network.
//
// # Usage
//
//	gosite [-addr HOST:PORT] [-root DIR]
//	gosite -labels [-base URL] [-root DIR]
//
// The first line of stdout is the address of the front page; the port 0 stands
// for one that is free. Then it serves until it is killed. The same Go tree
// gives the same pages to the byte, wherever they are served; only robots.txt
// and sitemap.xml name the host that was asked.
//
// With -labels it prints what each page is about, for judge, and ends:
//
//	{"url":"http://127.0.0.1:8080/crypto/tls/type.Conn.html","labels":["crypto"]}
//
// A page has the first element of its package's path as a label. Those of
// hash, encoding/asn1, encoding/pem and golang.org/x/crypto are labelled crypto
// too. The front page and the list of packages have no label. The lines are all
// pages of the site but those under /private/, the internal packages that
// robots.txt bars. -base is the address that gosite printed when it began to serve;
// without it the addresses are paths.
//
// # Example
//
//	$ gosite -addr 127.0.0.1:8080 &
//	$ gosite -labels -base http://127.0.0.1:8080/ > labels.ndjson
//
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full. SIGINT and SIGTERM kill it, which is
// how serving ends; to a shell that is 130 and 143.
//
// # Limitations
//
// A package is shown as on linux/amd64 without cgo; examples and tests are not
// shown. Whoever can reach the address can read the tree: serve on loopback.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/gosite"
)

const manual = `
gosite - serve the documentation of the local Go tree as a web site

Usage: gosite [-addr HOST:PORT] [-root DIR]
       gosite -labels [-base URL] [-root DIR]

In:   nothing
Out:  the address of the front page; with -labels what each page is about

Serves until it is killed: every package, type, function and source file is a
page, linked as such sites are. robots.txt bars /private/, the internal packages.

With -labels it prints a line for each page and ends:

    {"url":"http://127.0.0.1:8080/crypto/tls/type.Conn.html","labels":["crypto"]}

The labels are the first element of the package's path; hash, encoding/asn1,
encoding/pem and golang.org/x/crypto are labelled crypto too, and the front page and
the list of packages have none. Pages under /private/ have no line.

Example:

    gosite -addr 127.0.0.1:8080 &
    gosite -labels -base http://127.0.0.1:8080/ > labels.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 killed by
SIGINT or SIGTERM, which is how it ends. go doc ./cmd/gosite tells more.
`

func main() { filter.Main("gosite", run) }

func run(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("gosite", manual, stderr)
	addr := fs.String("addr", "127.0.0.1:0", "serve on `HOST:PORT`; port 0 is one that is free")
	root := fs.String("root", "", "the Go tree is in `DIR` (default: what go env GOROOT says)")
	labels := fs.Bool("labels", false, "print the labels of the pages and end")
	base := fs.String("base", "", "with -labels: the site is at `URL`")
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return filter.Usagef("unexpected argument %q\nhint: gosite takes flags alone", fs.Arg(0))
	}
	if *base != "" && !*labels {
		return filter.Usagef("-base says nothing without -labels")
	}
	if u, err := url.Parse(*base); err != nil || *base != "" && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return filter.Usagef("-base %q is no http address\nhint: give what gosite printed when it began to serve", *base)
	}

	dir, err := goRoot(*root)
	if err != nil {
		return err
	}
	site, err := gosite.New(os.DirFS(dir))
	if err != nil {
		return err
	}
	if *labels {
		return writeLabels(stdout, site, strings.TrimSuffix(*base, "/"))
	}

	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return fmt.Errorf("%w\nhint: -addr 127.0.0.1:0 takes a port that is free", err)
	}
	if _, err := fmt.Fprintf(stdout, "http://%s/\n", l.Addr()); err != nil {
		return err
	}
	server := http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}

// goRoot is dir, or the tree of the go command on the PATH if dir is empty.
func goRoot(dir string) (string, error) {
	if dir == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return "", fmt.Errorf("asking the go command for its tree: %w\nhint: -root DIR names the tree", err)
		}
		dir = strings.TrimSpace(string(out))
	}
	info, err := os.Stat(filepath.Join(dir, "src"))
	if err == nil && !info.IsDir() {
		err = errors.New("src is no directory")
	}
	if err != nil {
		return "", fmt.Errorf("%s is no Go tree: %w\nhint: -root DIR names the directory that holds src", dir, err)
	}
	return dir, nil
}

// writeLabels writes a line for every page.
func writeLabels(w io.Writer, site *gosite.Site, base string) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, p := range site.Pages() {
		labels := p.Labels
		if labels == nil {
			labels = []string{} // about nothing, which is not to say nothing
		}
		if err := enc.Encode(struct {
			URL    string   `json:"url"`
			Labels []string `json:"labels"`
		}{base + p.Path, labels}); err != nil {
			return err
		}
	}
	return out.Flush()
}
