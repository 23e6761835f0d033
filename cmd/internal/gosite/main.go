// Package gosite is the command gosite, which serves the documentation of the local Go tree as a web site.
package gosite

import (
	"bufio"
	_ "embed"
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

//go:embed manual.md
var manual string

// Command is the command gosite.
var Command = filter.Command{Name: "gosite", Manual: manual, Run: run}

func run(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("gosite", manual, stderr)
	addr := fs.String("addr", "127.0.0.1:0", "serve on `HOST:PORT`; port 0 is a free port")
	root := fs.String("root", "", "`DIR` of the Go tree (default: go env GOROOT)")
	labels := fs.Bool("labels", false, "print the labels of the pages and exit")
	base := fs.String("base", "", "with -labels: `URL` of the site, as gosite printed it (default: paths only)")
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return filter.Usagef("unexpected argument %q\nhint: gosite takes only flags", fs.Arg(0))
	}
	if *base != "" && !*labels {
		return filter.Usagef("-base needs -labels")
	}
	if u, err := url.Parse(*base); err != nil || *base != "" && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return filter.Usagef("-base %q is not an http address\nhint: give the address that gosite printed when it started", *base)
	}

	dir, err := goRoot(*root)
	if err != nil {
		return err
	}
	site, err := gosite.New(dir)
	if err != nil {
		return err
	}
	if *labels {
		return writeLabels(stdout, site, strings.TrimSuffix(*base, "/"))
	}

	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return fmt.Errorf("%w\nhint: -addr 127.0.0.1:0 uses a free port", err)
	}
	if _, err := fmt.Fprintf(stdout, "http://%s/\n", l.Addr()); err != nil {
		return err
	}
	server := http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}

// goRoot returns dir, or the GOROOT of the go command if dir is empty.
func goRoot(dir string) (string, error) {
	if dir == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return "", fmt.Errorf("running go env GOROOT: %w\nhint: -root DIR is the Go tree", err)
		}
		dir = strings.TrimSpace(string(out))
	}
	info, err := os.Stat(filepath.Join(dir, "src"))
	if err == nil && !info.IsDir() {
		err = errors.New("src is not a directory")
	}
	if err != nil {
		return "", fmt.Errorf("%s is not a Go tree: %w\nhint: -root DIR is the directory that holds src", dir, err)
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
			labels = []string{} // written as [], not null
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
