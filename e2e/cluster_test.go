//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var (
	clusters       = flag.Int("clusters", 2, "how many crawls on several nodes are disturbed at random")
	partitionCosts = flag.Bool("partition-costs", false, "judge crawls in 4, 8 and 16 partitions beside those of one machine")
	nodeCounts     = flag.Bool("node-counts", false, "compare more numbers of nodes, partitions and lags")
)

// natsServers are three NATS servers, each a process, that store every message on all three.
type natsServers struct {
	dir, program string
	ports        []int
	running      []*exec.Cmd
}

func startServers(t *testing.T) *natsServers {
	t.Helper()
	s := &natsServers{dir: t.TempDir(), running: make([]*exec.Cmd, 3)}
	var err error
	if s.program, err = natsServer(); err != nil {
		t.Fatal(err)
	}
	s.ports = freePorts(t, 6)
	for i := range s.running {
		s.start(t, i)
	}
	t.Cleanup(func() {
		for i := range s.running {
			s.kill(i)
		}
	})
	return s
}

func (s *natsServers) url() string {
	var list []string
	for _, port := range s.ports[:3] {
		list = append(list, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return strings.Join(list, ",")
}

// start starts a server with the configuration of doc/guide/machines.md, without TLS.
func (s *natsServers) start(t *testing.T, i int) {
	t.Helper()
	if s.running[i] != nil {
		return
	}
	var routes []string
	for _, port := range s.ports[3:] {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	config := fmt.Sprintf("server_name: s%d\nlisten: 127.0.0.1:%d\njetstream { store_dir: %q, sync_interval: always }\ncluster { name: spoor%d, listen: 127.0.0.1:%d, routes: [%s] }\n",
		i, s.ports[i], filepath.Join(s.dir, strconv.Itoa(i)), s.ports[0], s.ports[3+i], strings.Join(routes, ", "))
	name := filepath.Join(s.dir, fmt.Sprintf("%d.conf", i))
	testfile.Write(t, name, config)
	log, err := os.OpenFile(name+".log", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(s.program, "-c", name)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.running[i] = cmd
}

func (s *natsServers) kill(i int) {
	if s.running[i] != nil {
		s.running[i].Process.Kill()
		s.running[i].Wait()
		s.running[i] = nil
	}
}

// A clusterCrawl is a crawl on several nodes.
type clusterCrawl struct {
	*crawl
	servers *natsServers
	name    string
	lag     int
	live    []string // flags of a crawl of the live web, instead of an archive
	nodes   map[string]*node
}

// A node is a process crawl -cluster, with all that it has started.
type node struct {
	cmd   *exec.Cmd
	ended chan error
	said  string
}

const nodeMark = "SPOOR_TEST_NODE="

func (c *clusterCrawl) nodeDir(name string) string { return filepath.Join(c.dir, c.name, name) }

// join starts a node. The first one brings the seeds; it may come again.
func (c *clusterCrawl) join(t *testing.T, name string) {
	t.Helper()
	if c.nodes[name] != nil {
		return
	}
	dir := c.nodeDir(name)
	args := []string{c.args[0], "-run", dir, "-node", name}
	flags := c.live
	if flags == nil {
		flags = []string{"-archive", c.args[slices.Index(c.args, "-archive")+1]}
	}
	begun := len(c.nodes) > 0 || name != "a"
	switch _, err := os.Stat(filepath.Join(dir, "settings")); {
	case err == nil:
		args = []string{c.args[0], "-run", dir}
	case begun:
		args = append(append(args, "-cluster", c.servers.url(), "-name", c.name), flags...)
	default:
		args = append(args, c.args[1:]...)
		args = append(args, "-cluster", c.servers.url(), "-name", c.name, "-max-bytes", "32MiB")
		if args = append(args, c.live...); c.live == nil {
			args = append(args, "-partitions", "4", "-size", "3", "-lag", strconv.Itoa(c.lag), "-pages", "500")
		}
	}
	n := &node{cmd: exec.Command("bash", args...), ended: make(chan error, 1), said: filepath.Join(c.dir, c.name+"-"+name+".log")}
	log, err := os.OpenFile(n.said, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	n.cmd.Dir, n.cmd.Env, n.cmd.Stdout, n.cmd.Stderr = c.dir, append(slices.Clone(c.env), nodeMark+c.name+"/"+name), log, log
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.nodes[name] = n
	go func() { n.ended <- n.cmd.Wait() }()
}

// processes returns the processes of a node, without those that are ending.
func (c *clusterCrawl) processes(name string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), nodeMark+c.name+"/"+name) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// signal sends a signal to all processes of a node, also those that are started meanwhile.
func (c *clusterCrawl) signal(name string, sig syscall.Signal) {
	for range 3 {
		for _, pid := range c.processes(name) {
			syscall.Kill(pid, sig)
		}
	}
}

// kill kills a node, with its disk or without.
func (c *clusterCrawl) kill(t *testing.T, name string, disk bool) {
	t.Helper()
	n := c.nodes[name]
	for begun := time.Now(); len(c.processes(name)) > 0; time.Sleep(10 * time.Millisecond) {
		c.signal(name, syscall.SIGKILL)
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("node %s does not die", name)
		}
	}
	<-n.ended
	delete(c.nodes, name)
	if disk {
		testfile.Check(t, os.RemoveAll(c.nodeDir(name)))
	}
}

// disturb does something at random to the nodes or the servers, and returns what.
func (c *clusterCrawl) disturb(t *testing.T, rng *rand.Rand) string {
	t.Helper()
	var alive []string
	for name := range c.nodes {
		alive = append(alive, name)
	}
	slices.Sort(alive)
	name := string(rune('a' + rng.IntN(4)))
	if len(alive) > 0 && rng.IntN(8) > 0 {
		name = alive[rng.IntN(len(alive))]
	}
	sleep := func(most time.Duration) { time.Sleep(time.Duration(rng.Int64N(int64(most)))) }
	if c.nodes[name] == nil {
		c.join(t, name)
		return "join"
	}
	switch k := rng.IntN(10); {
	case k < 2:
		disk := k == 1
		c.kill(t, name, disk)
		if sleep(time.Second); rng.IntN(2) == 0 || len(c.nodes) == 0 {
			c.join(t, name)
		}
		return map[bool]string{false: "kill node", true: "kill node and disk"}[disk]
	case k < 5:
		pids := c.processes(name)
		if len(pids) > 0 {
			syscall.Kill(pids[rng.IntN(len(pids))], syscall.SIGKILL)
		}
		return "kill process"
	case k == 5:
		c.signal(name, syscall.SIGSTOP)
		time.Sleep(3500 * time.Millisecond) // the lease is 3 s
		c.signal(name, syscall.SIGCONT)
		return "stop"
	case k == 6:
		c.nodes[name].cmd.Process.Signal(syscall.SIGTERM)
		return "leave"
	}
	n := 1 + rng.IntN(3)
	first := rng.IntN(3)
	for i := range n {
		c.servers.kill((first + i) % 3)
	}
	sleep(time.Second)
	for i := range n {
		c.servers.start(t, (first+i)%3)
	}
	return fmt.Sprintf("kill %d servers", n)
}

// finish waits until a node says that the crawl is over. Nodes that have ended otherwise start again.
func (c *clusterCrawl) finish(t *testing.T, until time.Time, disturb func()) {
	t.Helper()
	for {
		for name, n := range c.nodes {
			select {
			case err := <-n.ended:
				delete(c.nodes, name)
				if err == nil {
					return
				}
			default:
			}
		}
		if len(c.nodes) == 0 {
			c.join(t, "a")
		}
		if time.Now().After(until) {
			for name := range c.nodes {
				words, _ := os.ReadFile(c.nodes[name].said)
				t.Logf("node %s says:\n%s", name, lastLines(words, 30))
				c.kill(t, name, false)
			}
			t.Fatalf("crawl %s does not end", c.name)
		}
		disturb()
		time.Sleep(50 * time.Millisecond)
	}
}

// awaitNodes waits until the nodes of a crawl that is over have ended, too.
func (c *clusterCrawl) awaitNodes(t *testing.T) {
	t.Helper()
	for name, n := range c.nodes {
		select {
		case err := <-n.ended:
			if err != nil {
				words, _ := os.ReadFile(n.said)
				t.Logf("node %s: %v\n%s", name, err, lastLines(words, 10))
			}
			delete(c.nodes, name)
		case <-time.After(time.Minute):
			t.Errorf("crawl %s is over, and node %s does not end", c.name, name)
			c.kill(t, name, false)
		}
	}
}

func lastLines(b []byte, n int) []byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n):], nil)
}

// exports returns the export of each partition's store, restored from the stream.
func (c *clusterCrawl) exports(t *testing.T) (list [4]string) {
	t.Helper()
	for p := range list {
		store := fmt.Sprintf("%s/restored%d", c.name, p)
		out := c.shell(t, fmt.Sprintf("exchange restore -to %s -crawl %s -partition %d/4 -store %s 2>/dev/null; frontier export -store %[4]s | sort", c.servers.url(), c.name, p, store))
		list[p] = lastUnleased(out)
	}
	return list
}

// The same partitions fetch the same pages, whatever the number of nodes and whatever is killed:
// nodes with and without their disk, any process, servers, all of them; and whoever stalls beyond its
// lease, joins or leaves.
func TestADisturbedClusterFetchesTheSame(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	servers := startServers(t)
	type reference struct {
		digest  string
		spent   int
		exports [4]string
	}
	var references [2]*reference
	c := newCrawl(t, "bestfirst")
	counts := map[string]int{}
	for i := range *clusters + 2 {
		undisturbed := i < 2
		c := &clusterCrawl{crawl: c, servers: servers, name: fmt.Sprintf("c%d", i), lag: i % 2, nodes: map[string]*node{}}
		rng := rand.New(rand.NewPCG(*seed, uint64(i)))
		c.join(t, "a")
		var did []string
		disturbances := 3 + rng.IntN(6)
		next := time.Now().Add(time.Duration(200+rng.IntN(1000)) * time.Millisecond)
		c.finish(t, time.Now().Add(5*time.Minute), func() {
			if undisturbed || len(did) == disturbances || time.Now().Before(next) {
				return
			}
			what := c.disturb(t, rng)
			did = append(did, what)
			counts[what]++
			next = time.Now().Add(time.Duration(rng.IntN(1000)) * time.Millisecond)
		})
		c.awaitNodes(t)
		st := c.exchangeStatus(t, servers.url(), c.name)
		exports := c.exports(t)
		if undisturbed {
			references[i] = &reference{st.Digest, st.Spent, exports}
			if st.Spent != 500 && shared() != "" {
				t.Errorf("%d pages, not 500", st.Spent)
			}
			continue
		}
		want := references[c.lag]
		// A server that was started again may lack the last commits for a moment. Then restore leaves out what
		// other partitions have sent in them, because exchange pass delivers that when it begins.
		for begun := time.Now(); exports != want.exports && time.Since(begun) < 30*time.Second; time.Sleep(time.Second) {
			exports = c.exports(t)
		}
		if st.Digest != want.digest || st.Spent != want.spent || exports != want.exports {
			t.Errorf("-seed %d crawl %d (lag %d): digest %s instead of %s, %d pages instead of %d, exports equal: %v; after %s",
				*seed, i, c.lag, st.Digest, want.digest, st.Spent, want.spent, exports == want.exports, strings.Join(did, ", "))
		}
		t.Logf("crawl %d, lag %d: %s", i, c.lag, strings.Join(did, ", "))
		os.RemoveAll(filepath.Join(c.dir, c.name))
	}
	t.Logf("-clusters %d -seed %d: digests %s and %s; %v", *clusters, *seed, references[0].digest, references[1].digest, counts)
}

// A hostLog is a server that notes when it is asked.
type hostLog struct {
	*httptest.Server
	mu      sync.Mutex
	open    int         // requests at work
	most    int         // the highest number of them
	begun   []time.Time // of each request
	targets []string    // the addresses of all servers
}

func (h *hostLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.begun = append(h.begun, time.Now())
	h.open++
	h.most = max(h.most, h.open)
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.open--
		h.mu.Unlock()
	}()
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	time.Sleep(20 * time.Millisecond)
	w.Header().Set("Content-Type", "text/html")
	hash := fnv.New32a()
	io.WriteString(hash, r.Host+r.URL.Path)
	n := int(hash.Sum32() >> 8)
	fmt.Fprintf(w, "<title>jazz music</title><p>%s", r.URL.Path)
	for i := range 5 {
		fmt.Fprintf(w, "<a href='%s%s%d'>jazz</a>\n", h.targets[(n+i*11)%len(h.targets)], strings.TrimSuffix(r.URL.Path, "/")+"/", i)
	}
}

// TestHostsAreAskedByOneNode crawls forty hosts over three nodes. One node is killed with all its
// processes, and another leaves. No host gets two requests at once, or one before its delay.
func TestHostsAreAskedByOneNode(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	const delay = 250 * time.Millisecond
	c := newCrawl(t, "breadthfirst")
	servers := startServers(t)
	crawl := func(name string, three bool) (perSecond float64) {
		hosts := make([]*hostLog, 40)
		var targets []string
		for i := range hosts {
			hosts[i] = new(hostLog)
			hosts[i].Server = httptest.NewServer(hosts[i])
			defer hosts[i].Close()
			targets = append(targets, hosts[i].URL)
		}
		var seeds strings.Builder
		for _, h := range hosts {
			h.targets = targets
			fmt.Fprintf(&seeds, "%s/\n", h.URL)
		}
		testfile.Write(t, filepath.Join(c.dir, "hosts.txt"), seeds.String())
		c := &clusterCrawl{crawl: c, servers: servers, name: name, nodes: map[string]*node{}, live: []string{"-allow-private", "-delay", delay.String(), "-size", "20", "-pages", "1200"}}
		c.args = []string{c.args[0], "-topic", "topic.json", "-seeds", "hosts.txt", "-strategy", "breadthfirst", "-partitions", "8"}
		begun := time.Now()
		c.join(t, "a")
		killed, left := !three, !three
		if three {
			time.Sleep(time.Second)
			c.join(t, "b")
			c.join(t, "d")
		}
		c.finish(t, begun.Add(5*time.Minute), func() {
			switch {
			case !killed && time.Since(begun) > 4*time.Second:
				killed = true
				c.kill(t, "b", false)
				c.join(t, "b")
			case !left && time.Since(begun) > 8*time.Second:
				left = true
				c.nodes["d"].cmd.Process.Signal(syscall.SIGTERM)
			}
		})
		took := time.Since(begun)
		c.awaitNodes(t)
		requests := 0
		for _, h := range hosts {
			requests += len(h.begun)
			if h.most > 1 {
				t.Errorf("%s was asked %d times at once", h.URL, h.most)
			}
			for i := 1; i < len(h.begun); i++ {
				if pause := h.begun[i].Sub(h.begun[i-1]); pause < delay-20*time.Millisecond {
					t.Errorf("%s was asked again after %v", h.URL, pause)
				}
			}
		}
		if requests < 1000 {
			t.Errorf("only %d requests", requests)
		}
		return float64(requests) / took.Seconds()
	}
	one, several := crawl("one", false), crawl("three", true)
	t.Logf("requests per second: %.0f by one node, %.0f by three (one is killed, one leaves); delay %v, 40 hosts: at most %.0f", one, several, delay, 40/delay.Seconds())
}

// What a tired person does wrong when a machine joins is named, and changes nothing.
func TestMistakesOfNodesAreNamed(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	c := newCrawl(t, "bestfirst")
	url := startNATS(t)
	archive := c.args[slices.Index(c.args, "-archive")+1]
	c.shell(t, "topic -query 'modal jazz' >other.json")
	node := func(args ...string) (words string, status int) {
		cmd := exec.Command(c.args[0], args...)
		cmd.Dir, cmd.Env = c.dir, c.env
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	begin := append(slices.Clone(c.args[1:]), "-cluster", url, "-name", "jazz", "-node", "a", "-run", "a", "-partitions", "2", "-size", "5", "-pages", "30", "-max-bytes", "32MiB")
	if words, status := node(begin...); status != 0 || !strings.Contains(words, "the crawl is over") {
		t.Fatalf("status %d\n%s", status, words)
	}
	join := []string{"-cluster", url, "-name", "jazz", "-node", "b"}
	for name, test := range map[string]struct {
		args   []string
		want   string
		status int
	}{
		"no server":         {[]string{"-cluster", "127.0.0.1:1", "-name", "jazz", "-run", "n1", "-archive", archive}, "is a NATS server with JetStream running there?", 1},
		"no such crawl":     {[]string{"-cluster", url, "-name", "blues", "-run", "n2", "-archive", archive}, "there is no crawl blues", 1},
		"another strategy":  {append(slices.Clone(join), "-run", "n3", "-archive", archive, "-strategy", "shark"), "strategy was bestfirst and is shark", 2},
		"more partitions":   {append(slices.Clone(join), "-run", "n4", "-archive", archive, "-partitions", "8"), "partitions was 2 and is 8", 2},
		"no archive":        {append(slices.Clone(join), "-run", "n5"), "here it is none", 2},
		"no name":           {[]string{"-cluster", url, "-run", "n6"}, "-cluster needs -name", 2},
		"no servers":        {append(slices.Clone(c.args[1:]), "-name", "jazz", "-run", "n7"), "-name needs -cluster", 2},
		"a search":          {append(slices.Clone(begin), "-run", "n8", "-search", "i.db"), "-cluster cannot be used with a search", 2},
		"another budget":    {append(slices.Clone(begin), "-run", "n9", "-pages", "40"), "the crawl jazz exists with other settings", 1},
		"an alone run":      {append(slices.Clone(c.args[1:]), "-run", "a"), "crawl was jazz and is not set", 2},
		"a bad node":        {[]string{"-cluster", url, "-name", "jazz", "-node", "b/c", "-run", "n10", "-archive", archive}, "is not a name", 1},
		"another topic":     {append(slices.Clone(begin), "-run", "n13", "-topic", "other.json"), "the topic, the scope, or a flag that all nodes share (doc/guide/machines.md) is another one", 1},
		"more pages":        {[]string{"-run", "a", "-pages", "40"}, "pages was 30 and is 40", 2},
		"pages that join":   {append(slices.Clone(join), "-run", "n12", "-archive", archive, "-pages", "50"), "pages was 30 and is 50", 2},
		"other partitions":  {[]string{"-run", "a", "-partitions", "9"}, "partitions was 2 and is 9", 2},
		"its own name":      {[]string{"-run", "a", "-node", "a"}, "the crawl is over", 0},
		"it is over":        {[]string{"-run", "a"}, "the crawl is over", 0},
		"it is over for it": {append(slices.Clone(join), "-run", "n11", "-archive", archive), "the crawl is over", 0},
	} {
		words, status := node(test.args...)
		if status != test.status || !strings.Contains(words, test.want) {
			t.Errorf("%s: status %d and not %d, want %q\n%s", name, status, test.status, test.want, words)
		}
	}
	c.shell(t, "cp other.json a/topic.json")
	if words, status := node("-run", "a"); status != 2 || !strings.Contains(words, "a/topic.json is not that of the crawl jazz") {
		t.Errorf("with another topic: status %d\n%s", status, words)
	}
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "SPOOR_jazz"); err != nil {
		t.Fatal(err)
	}
	if words, status := node("-run", "a"); status != 1 || !strings.Contains(words, "there is no crawl jazz on these servers") {
		t.Errorf("without its stream: status %d\n%s", status, words)
	}
	if _, err := js.Stream(t.Context(), "SPOOR_jazz"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("the stream of a crawl that has pages was created again: %v", err)
	}
}

// The servers of doc/guide/machines.md serve a crawl to the certificate of its name. Servers with that certificate are
// refused, and the certificate of another crawl gives nothing of this one.
func TestServersOfTheManual(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	c := newCrawl(t, "bestfirst")
	text := testfile.Read(t, inRoot("doc", "guide", "machines.md"))
	block := func(begin string) string {
		_, rest, ok := strings.Cut(string(text), begin)
		block, _, _ := strings.Cut(rest, "```")
		if !ok {
			t.Fatalf("no block begins with %q", begin)
		}
		return block
	}
	c.shell(t, "mkdir tls"+strings.ReplaceAll(block("```sh live\nmkdir tls"), "DNS:nats$i.example.org", "IP:127.0.0.1")+
		"certificate ca blues extendedKeyUsage=clientAuth\n")
	program, err := natsServer()
	if err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 8)
	config := strings.NewReplacer(
		"nats1.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[3]), "nats2.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[4]), "nats3.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[5]),
		"listen: 0.0.0.0:6222", "listen: $ROUTES", "server_name:", "listen: $CLIENTS\nserver_name:",
	).Replace(block("```\n# nats.conf\n"))
	testfile.Write(t, filepath.Join(c.dir, "nats.conf"), config)
	start := func(name string, clients, routes int, certificate, route string) (server *os.Process, log string) {
		log = filepath.Join(c.dir, name+".log")
		cmd := exec.Command(program, "-c", "nats.conf", "-l", log)
		cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "NAME="+name, "STORE="+filepath.Join(c.dir, name),
			fmt.Sprintf("CLIENTS=127.0.0.1:%d", ports[clients]), fmt.Sprintf("ROUTES=127.0.0.1:%d", ports[routes]),
			"CERT=tls/"+certificate+".pem", "KEY=tls/"+certificate+".key", "ROUTE_CERT=tls/"+route+".pem", "ROUTE_KEY=tls/"+route+".key")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd.Process, log
	}
	var servers []*os.Process
	var urls []string
	for i := range 3 {
		name := fmt.Sprintf("nats%d", i+1)
		server, _ := start(name, i, 3+i, name, name+"-route")
		servers = append(servers, server)
		urls = append(urls, fmt.Sprintf("tls://127.0.0.1:%d", ports[i]))
	}
	var out []byte
	for begun := time.Now(); ; time.Sleep(time.Second) { // the servers need some seconds to find each other
		cmd := exec.Command(c.args[0], append(slices.Clone(c.args[1:]), "-cluster", strings.Join(urls, ","), "-ca", "tls/ca.pem", "-cert", "tls/jazz.pem", "-key", "tls/jazz.key",
			"-name", "jazz", "-node", "a", "-run", "a", "-partitions", "2", "-size", "5", "-pages", "30", "-max-bytes", "32MiB")...)
		cmd.Dir, cmd.Env = c.dir, c.env
		if out, err = cmd.CombinedOutput(); err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if !bytes.Contains(out, []byte("the crawl is over")) {
		t.Errorf("the crawl says\n%s", out)
	}
	otherAccount(t, c.dir, config, urls[0], servers)
	_, rogue := start("rogue", 6, 7, "jazz", "jazz")
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		words, _ := os.ReadFile(rogue)
		if bytes.Contains(words, []byte("JetStream cluster new metadata leader")) {
			t.Fatal("a server with the certificate of a crawl has joined the others")
		}
		if bytes.Count(words, []byte("Router connection closed: Read Error")) > 20 {
			break
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("a server with the certificate of a crawl has not tried to join the others:\n%s", words)
		}
	}
}

// otherAccount adds the account of another crawl to the servers of doc/guide/machines.md, and tests that it neither
// copies nor hears the messages of the first one.
func otherAccount(t *testing.T, dir, config, url string, servers []*os.Process) {
	t.Helper()
	_, accounts, ok := strings.Cut(config, "\naccounts {\n")
	jazz, _, ended := strings.Cut(accounts, "\n}\n")
	if !ok || !ended {
		t.Fatal("nats.conf has no accounts")
	}
	config = strings.Replace(config, jazz, jazz+"\n"+strings.ReplaceAll(jazz, "jazz", "blues"), 1)
	testfile.Write(t, filepath.Join(dir, "nats.conf"), config)
	for _, server := range servers {
		if err := server.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	tls := filepath.Join(dir, "tls")
	connect := func(name string) (*nats.Conn, jetstream.JetStream) {
		for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			conn, err := nats.Connect(url, nats.RootCAs(filepath.Join(tls, "ca.pem")), nats.ClientCert(filepath.Join(tls, name+".pem"), filepath.Join(tls, name+".key")))
			if err == nil {
				t.Cleanup(conn.Close)
				js, err := jetstream.New(conn)
				if err != nil {
					t.Fatal(err)
				}
				return conn, js
			}
			if time.Since(begun) > 30*time.Second {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	conn, blues := connect("blues")
	_, of := connect("jazz")

	// A message of its own shows that copying works; those of jazz would come within a second, too.
	if _, err := blues.CreateStream(t.Context(), jetstream.StreamConfig{Name: "SPOORNODES_blues", Subjects: []string{"spoor.blues.own"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := blues.Publish(t.Context(), "spoor.blues.own", nil); err != nil {
		t.Fatal(err)
	}
	sources := []*jetstream.StreamSource{{Name: "SPOOR_jazz"}, {Name: "SPOORNODES_blues"}}
	copies, err := blues.CreateStream(t.Context(), jetstream.StreamConfig{Name: "SPOOR_blues", Sources: sources})
	if err != nil {
		t.Fatal(err)
	}
	var copied uint64
	for begun := time.Now(); copied == 0 || time.Since(begun) < 10*time.Second; time.Sleep(100 * time.Millisecond) {
		info, err := copies.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if copied = info.State.Msgs; copied > 1 {
			t.Fatalf("blues has copied %d messages of jazz", copied-1)
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("blues cannot copy its own messages")
		}
	}

	heard := make(chan *nats.Msg, 100)
	for _, subject := range []string{"_INBOX.>", "spoor.blues.end"} {
		if _, err := conn.ChanSubscribe(subject, heard); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if stream, err := of.Stream(t.Context(), "SPOOR_jazz"); err != nil || stream.CachedInfo().State.Msgs == 0 {
		t.Fatalf("jazz has no messages: %v", err)
	}
	if err := conn.Publish("spoor.blues.end", nil); err != nil {
		t.Fatal(err)
	}
	if m := <-heard; m.Subject != "spoor.blues.end" {
		t.Errorf("blues hears an answer to jazz: %q", m.Subject)
	}
}

// The number of nodes changes nothing, for strategies of both kinds (with -strategies=all, for all that need
// no search; with -node-counts also for two that search, whose queries are not answered), and any lag.
func TestTheNumberOfNodesDoesNotMatter(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	url := startNATS(t)
	names := []string{"bestfirst", "niche", "forage"}
	partitions, lags, counts := []int{1, 6}, []int{1, 2}, []int{1, 3}
	if *nodeCounts {
		names = append(names, "infospiders", "symbiosis")
		partitions, lags, counts = []int{1, 4, 16}, []int{0, 1, 3}, []int{1, 2, 3, 5}
	}
	if *strategies == "all" {
		kinds := strategyKinds(t)
		names = slices.DeleteFunc(slices.Sorted(maps.Keys(kinds)), func(name string) bool { return kinds[name].Search })
	}
	for _, strategy := range names {
		c := newCrawl(t, strategy)
		if *strategies == "all" || *nodeCounts { // some need a table of words
			seeds := c.args[slices.Index(c.args, "-seeds")+1]
			c.shell(t, "fetch -archive web.warc.gz '"+seeds+"' | parse | topic -topic topic.json -positive - >table.json && mv table.json topic.json")
		}
		for _, p := range partitions {
			for _, lag := range lags {
				var digests []string
				for _, nodes := range counts {
					digests = append(digests, c.digest(t, url, fmt.Sprintf("%s-%d-%d-%d", strategy, p, lag, nodes), nodes,
						"-pages", "120", "-size", "4", "-partitions", strconv.Itoa(p), "-lag", strconv.Itoa(lag), "-max-bytes", "16MiB"))
				}
				t.Logf("%s, %d partitions, lag %d: digests by %d nodes: %s", strategy, p, lag, counts, digests)
				if len(slices.Compact(digests)) > 1 {
					t.Error("they differ")
				}
			}
		}
	}
}

// A partition whose exchange pass is killed while it waits for another partition is started again, although
// evolve waits for input: nothing may keep the pipeline open. exchange status says when too few servers answer.
func TestAPartitionWithoutExchangeIsStartedAgain(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	c := &clusterCrawl{crawl: newCrawl(t, "bestfirst"), servers: startServers(t), name: "killed", nodes: map[string]*node{}}
	c.join(t, "a")
	killed := false
	c.finish(t, time.Now().Add(time.Minute), func() {
		if killed {
			return
		}
		passes := slices.DeleteFunc(c.processes("a"), func(pid int) bool {
			args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			return !bytes.Contains(args, []byte("exchange\x00pass"))
		})
		if len(passes) < 4 {
			return
		}
		syscall.Kill(passes[0], syscall.SIGSTOP)
		time.Sleep(time.Second)
		for _, pid := range passes[1:] {
			killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
		}
		syscall.Kill(passes[0], syscall.SIGCONT)
	})
	if !killed {
		t.Fatal("no exchange pass was killed")
	}
	c.servers.kill(0)
	c.servers.kill(1)
	await(t, func() error { // a server knows that it is alone after some seconds
		cmd := exec.Command("bash", "-c", "exchange status -to "+c.servers.url()+" -crawl "+c.name)
		cmd.Env = c.env
		if out, _ := cmd.Output(); !bytes.Contains(out, []byte(`"leaderless":true`)) {
			return fmt.Errorf("status does not say that two of three servers are away: %s", out)
		}
		return nil
	})
}

// digest crawls on several nodes at once, and returns the digest of the crawl.
func (c *crawl) digest(t *testing.T, url, name string, nodes int, args ...string) string {
	t.Helper()
	var wg sync.WaitGroup
	for i := range nodes {
		node := []string{c.args[0], "-cluster", url, "-name", name, "-node", strconv.Itoa(i), "-run", fmt.Sprintf("%s/%d", name, i)}
		if i == 0 {
			node = slices.Concat(node, c.args[1:], args)
		} else {
			node = append(node, "-archive", c.args[slices.Index(c.args, "-archive")+1])
		}
		wg.Go(func() {
			cmd := exec.Command("bash", node...)
			cmd.Dir, cmd.Env = c.dir, c.env
			for begun := time.Now(); i > 0; time.Sleep(50 * time.Millisecond) {
				look := exec.Command("bash", "-c", "exchange status -to "+url+" -crawl "+name)
				look.Env = c.env
				if look.Run() == nil || time.Since(begun) > time.Minute {
					break
				}
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: node %d: %v\n%s", name, i, err, out)
			}
		})
	}
	wg.Wait()
	return c.exchangeStatus(t, url, name).Digest
}

// TestPartitionsCostFewPages judges crawls of 600 pages in 4, 8 and 16 partitions, and on one machine: five
// topics, two sets of seeds. doc/results/forage.md quotes the table of the judge.
func TestPartitionsCostFewPages(t *testing.T) {
	if !*partitionCosts {
		t.Skip("takes ten minutes or more: -partition-costs")
	}
	data := shared()
	if data == "" {
		need(t, "the shared data")
	}
	c := &crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}
	scripts := inRoot("scripts")
	url := startNATS(t)
	for _, web := range []string{"webkb", "planetmath"} { // links of our own, beside which indexes are written
		testfile.Check(t, os.Symlink(filepath.Join(data, "webs", web+".warc.gz"), filepath.Join(c.dir, web+".warc.gz")))
		c.shell(t, "warc index "+web+".warc.gz")
	}
	t.Run("crawls", func(t *testing.T) {
		for topic := range strings.FieldsSeq("webkb-course webkb-project planetmath-msc05 planetmath-msc20 planetmath-msc54") {
			web, label, _ := strings.Cut(topic, "-")
			c.shell(t, fmt.Sprintf(`topic -query "$(<%s/webs/%s/query.txt)" >%[2]s.json`, data, topic))
			for _, set := range []string{"easy-2", "hard-1"} {
				seeds := filepath.Join(data, "webs", topic, "seeds-"+set+".txt")
				c.shell(t, fmt.Sprintf(`fetch -archive %s.warc.gz %s | parse | topic -topic %[3]s.json -positive - >%[3]s-%[4]s.json`, web, seeds, topic, set))
				for strategy := range strings.FieldsSeq("bestfirst forage niche antnet symbiosis") {
					file := topic
					if strategy == "symbiosis" { // it needs a table of words
						file += "-" + set
					}
					for partitions, size := range map[int]int{1: 20, 4: 5, 8: 3, 16: 2} {
						t.Run(fmt.Sprintf("%s/%s/%s/%d", topic, set, strategy, partitions), func(t *testing.T) {
							t.Parallel()
							dir := fmt.Sprintf("%s-%s/%s-%02d", topic, set, strategy, partitions)
							flags := ""
							if partitions > 1 {
								flags = fmt.Sprintf("-cluster %s -name %s -node a -partitions %d -max-bytes 32MiB", url, strings.ReplaceAll(dir, "/", "-"), partitions)
							}
							c.shell(t, fmt.Sprintf(`%s/crawl -run %s -topic %s.json -seeds %s -strategy %s -archive %s.warc.gz -pages 600 -size %d %s
								judge -archive %[6]s.warc.gz -labels %[9]s/webs/%[6]s.labels.ndjson -label %[10]s -seeds %[4]s -t 600 -summary %[2]s/judge.json %[2]s >/dev/null`,
								scripts, dir, file, seeds, strategy, web, size, flags, data, label))
						})
					}
				}
			}
		}
	})
	for _, form := range []string{"topics", "seeds"} {
		t.Logf("%s", c.shell(t, "judge table -form "+form+" */*/judge.json"))
	}
	t.Logf("hard-1 alone:\n%s", c.shell(t, "judge table -form topics *-hard-1/*/judge.json"))
}
