package frontier

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"spoor/internal/frontier"
)

// TestNextNeedNotWaitForCompact hands out, process by process, while another one
// compacts the store.
func TestNextNeedNotWaitForCompact(t *testing.T) {
	const urls = 60_000
	store := filepath.Join(t.TempDir(), "store")
	for generation := range 3 {
		var b bytes.Buffer
		for i := range urls {
			fmt.Fprintf(&b, "{\"v\":1,\"url\":\"http://h%d.example/%d\",\"generation\":%d,\"priority\":%d}\n", i%97, i, generation, i*(generation+7)%urls)
		}
		add(t, store, &b)
	}
	compact := exec.Command("frontier", "compact", "-store", store)
	var stdout, stderr bytes.Buffer
	compact.Stdout, compact.Stderr = &stdout, &stderr
	if err := compact.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- compact.Wait() }()
	meanwhile := 0
	for running := true; running; {
		generation := strconv.Itoa(3 + meanwhile)
		if out, err := exec.Command("frontier", "next", "-store", store, "-n", "1", "-generation", generation).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		select {
		case err := <-ended:
			if running = false; err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
		default:
			meanwhile++
		}
	}
	var done frontier.Compaction
	if err := json.Unmarshal(stdout.Bytes(), &done); err != nil || done.Dropped < 2*urls || meanwhile < 2 {
		t.Errorf("%d batches were handed out meanwhile; %+v, %v", meanwhile, done, err)
	}
	if found, err := frontier.Check(store, frontier.Options{Wait: patience}, false); err != nil || found.Wrong() || found.URLs != urls {
		t.Errorf("check finds %+v, %v", found, err)
	}
}
