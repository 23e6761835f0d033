package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// A liveWeb is a source of pages for BenchmarkLiveFetch, with the number of pages of a run: so
// many that the start of a process takes a small part of the time.
type liveWeb struct {
	name  string
	pages int
}

// liveWebs returns the shared webs or, without them, the documentation of the Go tree.
func liveWebs() []liveWeb {
	if shared() == "" {
		return []liveWeb{{"godoc", 1000}}
	}
	return []liveWeb{{"modern", 1000}, {"planetmath", 3000}, {"webkb", 6000}}
}

// BenchmarkLiveFetch fetches the same pages from a server on loopback with fetch, wget2 and a loop
// over net/http. Each is a process with 32 connections. The pages are those of the shared webs, or
// the documentation of the Go tree; each is made unique, so that no archive deduplicates it. They
// are served without a content coding, in gzip, and in br, which net/http does not decode. Files
// are written to /dev/shm if it exists, because on a disk the figures of programs that write much
// differ by a factor of six, depending on what was written before.
//
// wget2 writes a file for each page, because it cannot write a WARC. fetch writes records to a
// pipe, whose reader discards them, and as "warc" also a WARC. The loop decodes gzip and discards
// the pages.
//
// pages/s is by wall time, and cpu-ms/page the user and system time of the client. Use
// -benchtime 1x.
func BenchmarkLiveFetch(b *testing.B) {
	bin := build(b)
	fetch := []string{filepath.Join(bin, "fetch"), "-j", "32", "-allow-private", "-delay", "0s", "addresses"}
	clients := []struct {
		name    string
		command []string
	}{
		{"warc", slices.Insert(slices.Clone(fetch), 1, "-warc", "crawl")},
		{"fetch", fetch},
		{"wget2", []string{"wget2", "-q", "--max-threads=32", "-i", "addresses"}},
		{"nethttp", []string{"httploop", "addresses"}},
	}
	for _, web := range liveWebs() {
		pages := realPages(b, bin, web)
		for _, coding := range []string{"identity", "gzip", "br"} {
			b.Run("web="+web.name+"/coding="+coding, func(b *testing.B) {
				server := serveRaw(b, pages, coding)
				for _, c := range clients {
					b.Run("program="+c.name, func(b *testing.B) {
						if _, err := exec.LookPath(c.command[0]); err != nil {
							b.Skipf("%s is missing", c.command[0])
						}
						if coding == "br" && c.name == "nethttp" {
							b.Skip("net/http does not decode br")
						}
						server.run(b, c.command)
					})
				}
			})
		}
	}
}

// run runs a client that fetches all pages, b.N times.
func (s *rawServer) run(b *testing.B, command []string) {
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		dir := memoryDir(b)
		testfile.Write(b, filepath.Join(dir, "addresses"), s.addresses)
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, in, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		wire.GrowPipe(in)
		cmd.Stdout = in
		s.served.Store(0)
		b.StartTimer()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		in.Close()
		discard(out)
		out.Close()
		if err := cmd.Wait(); err != nil {
			b.Fatalf("%v\n%s", err, stderr.String())
		}
		if n := s.served.Load(); n != int64(len(s.answers)) {
			b.Fatalf("%s fetched %d of %d pages\n%s", command[0], n, len(s.answers), stderr.String())
		}
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		b.StopTimer()
		os.RemoveAll(dir)
		b.StartTimer()
	}
	n := float64(len(s.answers) * b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(1000*cpu.Seconds()/n, "cpu-ms/page")
	b.ReportMetric(0, "ns/op")
}

// memoryDir returns a temporary directory in memory or, without /dev/shm, on disk.
func memoryDir(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "bench-fetch-")
	if err != nil {
		return b.TempDir()
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// discard reads r to the end, with a large buffer.
func discard(r io.Reader) {
	for buf := make([]byte, 1<<20); ; {
		if _, err := r.Read(buf); err != nil {
			return
		}
	}
}

// realPages returns the pages of a run.
func realPages(b *testing.B, bin string, web liveWeb) (pages []string) {
	b.Helper()
	var some []string
	if dir := shared(); dir != "" {
		some = archivedPages(b, bin, filepath.Join(dir, "webs", web.name+".warc.gz"))
	} else {
		some = goPages(b)
	}
	for i := range web.pages {
		pages = append(pages, some[i%len(some)]+"<!-- "+strconv.Itoa(i)+" -->")
	}
	return pages
}

// archivedPages returns the pages in an archive.
func archivedPages(b *testing.B, bin, file string) (pages []string) {
	b.Helper()
	cmd := exec.Command(filepath.Join(bin, "fetch"), "-archive", file, "-cache", b.TempDir(), "-all")
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var page struct{ Body string }
		if err := d.Decode(&page); err == io.EOF {
			return pages
		} else if err != nil {
			b.Fatal(err)
		}
		pages = append(pages, page.Body)
	}
}

// goPages returns the pages of the documentation of the Go tree.
func goPages(b *testing.B) (pages []string) {
	b.Helper()
	site := goDocs(b)
	for _, p := range site.Pages() {
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequest(http.MethodGet, p.Path, nil))
		pages = append(pages, w.Body.String())
	}
	return pages
}

// A rawServer writes prepared responses, so that it takes little time from the client: to GET
// requests over HTTP/1.1, with status 404 for unknown paths.
type rawServer struct {
	answers   map[string][]byte // by path
	addresses string            // one per line
	served    atomic.Int64
}

// serveRaw serves the pages in a content coding during a benchmark.
func serveRaw(b *testing.B, pages []string, coding string) *rawServer {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &rawServer{answers: map[string][]byte{}}
	var addresses strings.Builder
	for i, page := range pages {
		path, head := fmt.Sprintf("/%d", i), ""
		if coding != "identity" {
			head, page = "Content-Encoding: "+coding+"\r\n", encode(coding, page)
		}
		s.answers[path] = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n%sContent-Length: %d\r\n\r\n%s", head, len(page), page)
		fmt.Fprintf(&addresses, "http://%s%s\n", l.Addr(), path)
	}
	s.addresses = addresses.String()
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			connections.Go(func() { s.answer(conn) })
		}
	})
	b.Cleanup(func() {
		l.Close()
		connections.Wait()
	})
	return s
}

// answer answers the requests of a connection.
func (s *rawServer) answer(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewReader(conn); ; {
		request, err := in.ReadString('\n')
		for line := request; err == nil && strings.TrimRight(line, "\r\n") != ""; {
			line, err = in.ReadString('\n')
		}
		if err != nil {
			return
		}
		path, _, _ := strings.Cut(strings.TrimPrefix(request, "GET "), " ")
		answer, found := s.answers[path]
		if !found {
			answer = []byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
		}
		if found {
			s.served.Add(1) // before the client has read it, and may exit
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// httpLoop is the command httploop: it fetches the addresses in a file with net/http and 32
// connections, and discards the pages.
func httpLoop() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	addresses := make(chan string)
	var loops sync.WaitGroup
	for range 32 {
		loops.Go(func() {
			for address := range addresses {
				resp, err := client.Get(address)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		})
	}
	for address := range strings.FieldsSeq(string(text)) {
		addresses <- address
	}
	close(addresses)
	loops.Wait()
}
