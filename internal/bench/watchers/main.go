// Watchers measures by how much browsers that watch a crawl slow it down, and how much memory serve takes.
//
//	usage: go run ./watchers [-n 200] [-rounds 3] BIN DIR CRAWL-FLAG…    (in internal/bench)
//
// BIN is the directory of the commands. In each round the crawl with these flags runs twice in a new directory
// in DIR: alone, and with serve and n watchers, from before its beginning to its end. Rounds alternate which of
// the two is first. A watcher does what the page of a run does in a browser: it reads events, and when they name
// another version it loads the part of the page that has changed, at most every two seconds. The watchers' own
// work is on the same machine, so it slows the crawl down too.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 200, "the number of `watchers`")
	rounds := flag.Int("rounds", 3, "how `often` each of the two crawls is measured")
	flag.Parse()
	if flag.NArg() < 3 || *n < 1 || *rounds < 1 {
		log.Fatal("usage: watchers [-n 200] [-rounds 3] BIN DIR CRAWL-FLAG…")
	}
	bin, err := filepath.Abs(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	b := bench{bin: bin, flags: flag.Args()[2:]}
	var alone, watched []float64
	fmt.Println("| round | alone, s | watched, s | events | loads | MB received | CPU s of serve | memory of serve after a quarter, half, all of the time, MB |\n|--:|--:|--:|--:|--:|--:|--:|---|")
	for round := range *rounds {
		dir := filepath.Join(flag.Arg(1), fmt.Sprintf("round%d", round+1))
		var plain, w figures
		both := []func() error{
			func() (err error) { plain, err = b.crawl(dir + "-alone"); return err },
			func() (err error) { w, err = b.watch(dir+"-watched", *n); return err },
		}
		if round%2 == 1 {
			slices.Reverse(both)
		}
		for _, f := range both {
			if err := f(); err != nil {
				log.Fatal(err)
			}
		}
		m := w.memory
		fmt.Printf("| %d | %.1f | %.1f | %d | %d | %.1f | %.1f | %.1f %.1f %.1f |\n", round+1, plain.seconds, w.seconds, w.events, w.loads, float64(w.bytes)/1e6, w.processor,
			m[len(m)/4], m[len(m)/2], m[len(m)-1])
		alone, watched = append(alone, plain.seconds), append(watched, w.seconds)
	}
	slices.Sort(alone)
	slices.Sort(watched)
	a, w := alone[len(alone)/2], watched[len(watched)/2]
	fmt.Printf("\nMedians: alone %.1f s, with %d watchers %.1f s, %+.1f %%.\n", a, *n, w, 100*(w/a-1))
}

// A bench runs crawls.
type bench struct {
	bin   string
	flags []string
}

// figures are the measurements of a crawl.
type figures struct {
	seconds   float64
	processor float64 // seconds, of serve
	memory    []float64
	counts
}

// counts are what all watchers received.
type counts struct {
	events, loads, bytes int64
}

// crawl runs the crawl in a new directory.
func (b bench) crawl(dir string) (figures, error) {
	c := exec.Command(filepath.Join(b.bin, "..", "scripts", "crawl"), append([]string{"-run", dir, "-quiet"}, b.flags...)...)
	c.Env = append(os.Environ(), "PATH="+b.bin+":"+os.Getenv("PATH"))
	var message bytes.Buffer
	c.Stderr = &message
	start := time.Now()
	if err := c.Run(); err != nil {
		return figures{}, fmt.Errorf("crawl: %w\n%s", err, message.Bytes())
	}
	return figures{seconds: time.Since(start).Seconds()}, nil
}

// watch runs the crawl while n connections read its events.
func (b bench) watch(dir string, n int) (figures, error) {
	parent := dir + "-runs"
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return figures{}, err
	}
	serve := exec.Command(filepath.Join(b.bin, "serve"), "-addr", "127.0.0.1:0", parent)
	serve.Stderr = os.Stderr
	out, err := serve.StdoutPipe()
	if err != nil {
		return figures{}, err
	}
	if err := serve.Start(); err != nil {
		return figures{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	defer func() {
		cancel()
		watching.Wait()
		_ = serve.Process.Kill() // it runs until it is killed
		_ = serve.Wait()
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return figures{}, err
	}
	var sum counts
	var mu sync.Mutex // of sum
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * n}}
	for range n {
		watching.Go(func() {
			w := watcher{client: client, url: strings.TrimSpace(address) + "/run/crawl/"}
			for ctx.Err() == nil {
				if err := w.read(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errNotYet) {
					log.Printf("watcher: %v", err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
			mu.Lock()
			defer mu.Unlock()
			sum.events += w.events
			sum.loads += w.loads
			sum.bytes += w.bytes
		})
	}
	var memory []float64
	watching.Go(func() {
		for {
			if m, err := resident(serve.Process.Pid); err == nil {
				memory = append(memory, m)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	})
	f, err := b.crawl(filepath.Join(parent, "crawl"))
	if err != nil {
		return f, err
	}
	f.processor, err = processor(serve.Process.Pid)
	cancel()
	watching.Wait()
	f.memory, f.counts = memory, sum
	if f.events == 0 {
		return f, errors.New("no events were received")
	}
	return f, err
}

// errNotYet is returned while serve does not show the run yet.
var errNotYet = errors.New("no run yet")

// A watcher does what the page of a run does.
type watcher struct {
	client *http.Client
	url    string // of the run
	counts
	version string // of the part that was loaded last
	loaded  time.Time
}

// read reads events until the connection ends.
func (w *watcher) read(ctx context.Context) error {
	body, err := w.get(ctx, "events")
	if err != nil {
		return err
	}
	defer body.Close()
	for lines := bufio.NewReader(body); ; {
		line, err := lines.ReadBytes('\n')
		w.bytes += int64(len(line))
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			w.events++
			if err := w.load(ctx, data); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// load loads the part of the page that has changed, if the data of an event name another version.
func (w *watcher) load(ctx context.Context, data []byte) error {
	var event struct{ Version string }
	if err := json.Unmarshal(data, &event); err != nil {
		return err
	}
	if event.Version == w.version || time.Since(w.loaded) < 2*time.Second {
		return nil
	}
	body, err := w.get(ctx, "live")
	if err != nil {
		return err
	}
	defer body.Close()
	n, err := io.Copy(io.Discard, body)
	w.loads, w.bytes = w.loads+1, w.bytes+n
	w.version, w.loaded = event.Version, time.Now()
	return err
}

// get requests a resource of the run, compressed as for browsers.
func (w *watcher) get(ctx context.Context, name string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+name, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	answer, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	_ = answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return nil, errNotYet
	}
	return nil, fmt.Errorf("%s: status %s", name, answer.Status)
}

// resident returns the memory of a process in MB.
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kb * 1024 / 1e6, err
		}
	}
	return 0, errors.New("there is no VmRSS")
}

// processor returns the time that a process has used of all processors, in seconds.
func processor(pid int) (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100, cmp.Or(err1, err2) // Linux counts hundredths
}
