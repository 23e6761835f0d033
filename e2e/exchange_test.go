package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
)

// startNATS starts a NATS server with JetStream in this process, and returns its address.
func startNATS(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

// natsServer is the program nats-server.
var natsServer = sync.OnceValues(func() (string, error) {
	program := filepath.Join(buildDir, "nats", "nats-server")
	cmd := exec.Command("go", "build", "-o", program, "github.com/nats-io/nats-server/v2")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building nats-server: %w\n%s", err, out)
	}
	return program, nil
})

// withServer returns env with nats-server on the PATH.
func withServer(t *testing.T, env []string) []string {
	t.Helper()
	program, err := natsServer()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok { // the last one counts
			env = append(env, "PATH="+path+string(os.PathListSeparator)+filepath.Dir(program))
		}
	}
	return env
}

// runPartition runs the pipeline of a partition until the crawl ends.
func (c *crawl) runPartition(url, name, dir string, p, of, size int) error {
	script := fmt.Sprintf(`set -eu -o pipefail
mkdir -p %[1]s; rm -f %[1]s/loop; mkfifo %[1]s/loop
exchange restore -to %[2]s -crawl %[3]s -partition %[4]d/%[5]d -store %[1]s/frontier -state %[1]s/evolve
exec 8<>%[1]s/loop 7<%[1]s/loop 6>%[1]s/loop 8>&-
frontier serve -exchange -store %[1]s/frontier -windows %[1]s/generations <&7 6>&- 7<&- |
	fetch -archive web.warc.gz -partition %[4]d/%[5]d 6>&- 7<&- | parse -within web.warc.gz 6>&- 7<&- | score -topic topic.json 6>&- 7<&- |
	evolve -strategy bestfirst -topic topic.json -seed 1 -window %[6]d -partition %[4]d/%[5]d -state %[1]s/evolve -windows %[1]s/generations 6>&- 7<&- |
	exchange pass -to %[2]s -crawl %[3]s -partition %[4]d/%[5]d -state %[1]s/evolve -node %[1]s >&6 7<&- &
exec 6>&- 7<&-
wait $!`, dir, url, name, p, of, size)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = c.dir, c.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("partition %d: %w\n%s", p, err, out)
	}
	return nil
}

// exchangeStatus is what exchange status prints.
type exchangeStatus struct {
	Spent  int
	Digest string
}

func (c *crawl) exchangeStatus(t *testing.T, url, name string) (st exchangeStatus) {
	t.Helper()
	if err := json.Unmarshal(c.shell(t, "exchange status -to "+url+" -crawl "+name), &st); err != nil {
		t.Fatal(err)
	}
	return st
}

// With one partition the crawl is the one without an exchange, byte for byte; with four, the
// processes of partitions that run one after the other, or lose their disk, change nothing.
func TestPartitionsOverNATS(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	c := newCrawl(t, "bestfirst")
	url := startNATS(t)
	c.run(t, "single")
	seeds, pages := c.args[slices.Index(c.args, "-seeds")+1], c.args[slices.Index(c.args, "-pages")+1]
	c.shell(t, "exchange create -to "+url+" -crawl one -partitions 1 -size 20 -pages "+pages+" <"+seeds)
	if err := c.runPartition(url, "one", "p0", 0, 1, 20); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"scored.ndjson.zst", "next.ndjson.zst"} {
		want, got := c.all(t, "single", file), c.all(t, "p0", file)
		if !bytes.Equal(got, want) || len(want) == 0 {
			t.Errorf("one partition: %s: %d bytes differ from %d", file, len(got), len(want))
		}
	}
	digest := ""
	for _, name := range []string{"a", "b"} {
		c.shell(t, "exchange create -to "+url+" -crawl "+name+" -partitions 4 -size 5 -pages 120 -lag 1 <"+seeds)
		var wg sync.WaitGroup
		for p := range 4 {
			wg.Go(func() {
				if err := c.runPartition(url, name, fmt.Sprintf("%s%d", name, p), p, 4, 5); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		st := c.exchangeStatus(t, url, name)
		if digest == "" {
			digest = st.Digest
		}
		if st.Digest != digest || st.Spent != 120 && (shared() != "" || st.Spent < 50) { // the small web has fewer pages
			t.Errorf("crawl %s: digest %s instead of %s, %d pages", name, st.Digest, digest, st.Spent)
		}
	}
	// A partition whose disk is lost is restored: its store and the journal of its strategy are equal.
	most, before := 0, []byte(nil) // the small web has one host
	for p := range 4 {
		if export := c.shell(t, fmt.Sprintf("frontier export -store a%d/frontier | sort", p)); len(export) > len(before) {
			most, before = p, export
		}
	}
	journal := testfile.Read(t, filepath.Join(c.dir, fmt.Sprintf("a%d/evolve/journal", most)))
	c.shell(t, fmt.Sprintf("exchange restore -to %s -crawl a -partition %d/4 -store new/frontier -state new/evolve", url, most))
	after := c.shell(t, "frontier export -store new/frontier | sort")
	if restored, err := os.ReadFile(filepath.Join(c.dir, "new/evolve/journal")); err != nil || !bytes.Equal(restored, journal) {
		t.Errorf("the journal differs: %d bytes instead of %d, %v", len(restored), len(journal), err)
	}
	if len(before) == 0 || lastUnleased(before) != lastUnleased(after) {
		t.Errorf("the restored store differs (-before +restored):\n%s", cmp.Diff(strings.Split(lastUnleased(before), "\n"), strings.Split(lastUnleased(after), "\n")))
	}
}

// lastUnleased removes what an export says about leases, which are not in the stream.
func lastUnleased(export []byte) string {
	return strings.ReplaceAll(string(export), `"state":"leased"`, `"state":"waiting"`)
}
