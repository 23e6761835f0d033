package exchange

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startServer starts a server with JetStream in this process.
func startServer(t *testing.T, dir string) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s
}

func connect(t *testing.T, s *server.Server, crawl string) *JetStream {
	t.Helper()
	js, err := Connect(Servers{URLs: s.ClientURL(), Name: t.Name()}, crawl)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(js.Close)
	return js
}

func TestTheStreamKeepsItsContract(t *testing.T) {
	js := connect(t, startServer(t, t.TempDir()), "c")
	ctx := t.Context()
	if _, err := js.Range(ctx, "spoor.c.>", 1, 10); err == nil || !strings.Contains(err.Error(), "there is no crawl c") {
		t.Errorf("no stream: %v", err)
	}
	for range 2 {
		if err := js.Create(ctx, 1, 64<<20); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := js.Range(ctx, "spoor.c.>", 1, 10); err != nil || len(list) != 0 {
		t.Errorf("an empty stream: %v, %v", list, err)
	}
	for i := range 300 {
		for range 2 { // an id counts once
			seq, err := js.Publish(ctx, fmt.Sprintf("spoor.c.b.%d.x", i%3), fmt.Appendf(nil, "%d", i), fmt.Sprint("id", i))
			if err != nil || seq != uint64(i)+1 {
				t.Fatalf("message %d: %d, %v", i, seq, err)
			}
		}
	}
	list, err := js.Range(ctx, "spoor.c.b.1.>", 5, 1024)
	if err != nil || len(list) != 99 || list[0].Seq != 5 || string(list[0].Data) != "4" || list[98].Seq != 299 || list[0].Subject != "spoor.c.b.1.x" {
		t.Errorf("%d messages, %v", len(list), err)
	}
	if list, err = js.Range(ctx, "spoor.c.b.*.x", 1, 7); err != nil || len(list) != 7 {
		t.Errorf("%d messages instead of 7: %v", len(list), err)
	}
	changed, stop, err := js.Watch("spoor.c.c.1.*")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := js.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"first", "second"} {
		if err := js.PublishFirst(ctx, "spoor.c.c.1.0", []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if list, err = js.Range(ctx, "spoor.c.c.1.*", 1, 10); err != nil || len(list) != 1 || string(list[0].Data) != "first" {
		t.Errorf("%v, %v", list, err)
	}
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Error("nothing was reported")
	}
	if messages, bytes, most, err := js.Size(ctx); err != nil || messages != 301 || bytes == 0 || most <= int64(bytes) {
		t.Errorf("%d messages, %d of %d bytes, %v", messages, bytes, most, err)
	}
}

// A crawl over a real server has the digest of the same crawl over the stream in memory.
func TestARealServerGivesTheSameCrawl(t *testing.T) {
	web := newTestWeb(rand.New(rand.NewPCG(1, 2)), 40, 1000)
	s := Settings{Partitions: 4, Size: 5, Pages: 120, Lag: 1, Share: ByPriority, Patience: 1}
	want, _, _ := crawlOnce(t, web, s, 0, rand.New(rand.NewPCG(1, 1)))
	srv := startServer(t, t.TempDir())
	js := connect(t, srv, "test")
	if err := js.Create(t.Context(), 1, 64<<20); err != nil {
		t.Fatal(err)
	}
	sim := &simulation{web: web, stream: newFake(), settings: &s, dir: t.TempDir()}
	urls := slices.Sorted(maps.Keys(web))
	sim.seedOn(t, js, urls[0], urls[len(urls)/2], urls[len(urls)-1])
	var wg sync.WaitGroup
	for p := range s.Partitions {
		wg.Go(func() {
			if _, err := sim.partitionOn(t.Context(), connect(t, srv, "test"), p, fmt.Sprint("real", p), newDisk(t, sim.dir)); err != nil {
				t.Errorf("partition %d: %v", p, err)
			}
		})
	}
	wg.Wait()
	st, err := Summarize(t.Context(), js, "test")
	if err != nil || st.Digest != want || st.Spent != s.Pages {
		t.Errorf("digest %s instead of %s, %d pages, %v", st.Digest, want, st.Spent, err)
	}
}

// A full stream is waited for, and the error says what to do; nothing is dropped.
func TestAFullStreamIsNamed(t *testing.T) {
	js := connect(t, startServer(t, t.TempDir()), "c")
	if err := js.Create(t.Context(), 1, 4096); err != nil {
		t.Fatal(err)
	}
	_, err := js.Publish(t.Context(), "spoor.c.b.0.1.0.0", make([]byte, 5000), "x")
	if err == nil || !strings.Contains(err.Error(), "the stream SPOOR_c is full") {
		t.Errorf("%v", err)
	}
	if err := js.CheckSize(t.Context()); err != nil {
		t.Errorf("empty: %v", err)
	}
	if _, err := js.Publish(t.Context(), "spoor.c.b.0.1.0.0", make([]byte, 3800), "y"); err != nil {
		t.Fatal(err)
	}
	if err := js.CheckSize(t.Context()); err == nil || !strings.Contains(err.Error(), "of at most 4096 bytes") {
		t.Errorf("nearly full: %v", err)
	}
	if err := js.Create(t.Context(), 3, 4096); err != nil { // it exists
		t.Error(err)
	}
	other := connect(t, startServer(t, t.TempDir()), "d")
	if err := other.Create(t.Context(), 3, 4096); err == nil || !strings.Contains(err.Error(), "hint") {
		t.Errorf("three replicas on one server: %v", err)
	}
}

// The status names the nodes that run the crawl, and what is done.
func TestStatusNamesTheNodes(t *testing.T) {
	js := connect(t, startServer(t, t.TempDir()), "c")
	if err := errors.Join(js.Create(t.Context(), 1, 1<<20), js.CreateLeases(t.Context(), 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), js, "c", Settings{Partitions: 2, Size: 5, Pages: 10, Share: ByPriority, Patience: 1}, strings.NewReader(`{"v":1,"url":"http://a.test/"}`+"\n"), nil, time.Second, quiet); err != nil {
		t.Fatal(err)
	}
	look := func() *Status {
		t.Helper()
		st, err := js.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	if st := look(); len(st.Nodes) != 0 || st.Over || st.MaxBytes != 1<<20 {
		t.Errorf("before: %+v", st)
	}
	l, err := js.Leases(t.Context(), "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Renew(t.Context()), l.Release(t.Context(), 1, true)); err != nil {
		t.Fatal(err)
	}
	if st := look(); !slices.Equal(st.Nodes, []string{"one"}) || st.Over || st.Partitions[0].Done || !st.Partitions[1].Done {
		t.Errorf("half done: %+v", st)
	}
	if err := errors.Join(l.Release(t.Context(), 0, true), l.Leave(t.Context())); err != nil {
		t.Fatal(err)
	}
	if st := look(); len(st.Nodes) != 0 || !st.Over {
		t.Errorf("after: %+v", st)
	}
}
