package exchange

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/nats-io/nats-server/v2/server"
)

var rounds = flag.Int("rounds", 30, "how often two processes commit at once")

// clusterOptions returns the configurations of three servers that store every message on all of them.
func clusterOptions(t testing.TB, sync bool) (list []*server.Options) {
	t.Helper()
	var ports []int
	var routes []*url.URL
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
	}
	for i, port := range ports {
		list = append(list, &server.Options{
			ServerName: fmt.Sprintf("s%d", i), Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), SyncAlways: sync, NoSigs: true, NoLog: true,
			Cluster: server.ClusterOpts{Name: fmt.Sprintf("c%d", ports[0]), Host: "127.0.0.1", Port: port}, Routes: routes,
		})
	}
	return list
}

// startCluster makes three such servers in this process.
func startCluster(t testing.TB, sync bool) (list []*server.Server) {
	t.Helper()
	for _, options := range clusterOptions(t, sync) {
		s, err := server.NewServer(options)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// launch starts the servers and waits until streams can be made.
func launch(t testing.TB, list []*server.Server) {
	t.Helper()
	for _, s := range list {
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	}
	for begun := time.Now(); !slices.ContainsFunc(list, (*server.Server).JetStreamIsLeader); time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the servers do not find each other")
		}
	}
}

// Two processes commit the same generation at once, while leaders step down: one of the two commits
// counts, and it is the same for whoever asks, whichever server answers.
func TestOneOfTwoCommitsCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("no cluster in a short test")
	}
	servers := startCluster(t, false)
	launch(t, servers)
	ctx := t.Context()
	var clients []*JetStream
	for _, s := range servers {
		js := connect(t, s, "c")
		clients = append(clients, js)
	}
	r := retryer{time.Minute, quiet}
	if err := r.do(ctx, func() error { return clients[0].Create(ctx, 3, 64<<20) }); err != nil {
		t.Fatal(err)
	}
	stepdowns := 0
	for round := range *rounds {
		subject := fmt.Sprintf("spoor.c.c.%d.0", round)
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				data := fmt.Appendf(nil, "round %d attempt %d", round, i)
				if err := r.do(ctx, func() error { return clients[i].PublishFirst(ctx, subject, data) }); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		if round%10 == 5 {
			if _, err := clients[2].conn.Request("$JS.API.STREAM.LEADER.STEPDOWN.SPOOR_c", nil, 2*time.Second); err == nil {
				stepdowns++
			}
		}
		wg.Wait()
		var first string
		for i, client := range clients {
			var list []Message
			for begun := time.Now(); len(list) == 0; time.Sleep(10 * time.Millisecond) { // a server may be behind
				err := r.do(ctx, func() (err error) { list, err = client.Range(ctx, subject, 1, 1); return err })
				if err != nil || time.Since(begun) > time.Minute {
					t.Fatalf("round %d: no commit: %v", round, err)
				}
			}
			if got := string(list[0].Data); i > 0 && got != first {
				t.Fatalf("round %d: %q counts, and %q", round, first, got)
			} else {
				first = got
			}
		}
	}
	t.Logf("%d rounds, %d changes of the leader", *rounds, stepdowns)
}

// A crawl can be begun while its servers start: the creation of the stream waits until the third has been heard of.
func TestCreateWaitsForTheServers(t *testing.T) {
	if testing.Short() {
		t.Skip("no cluster in a short test")
	}
	options := clusterOptions(t, false)
	start := func(options ...*server.Options) (list []*server.Server) {
		for _, o := range options {
			s, err := server.NewServer(o.Clone())
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
		return list
	}
	servers := start(options...)
	launch(t, servers)
	// A server that stops before the leader has heard of it is not one of the three afterwards.
	for begun := time.Now(); !slices.ContainsFunc(servers, func(s *server.Server) bool { return len(s.JetStreamClusterPeers()) == 3 }) ||
		slices.ContainsFunc(servers, func(s *server.Server) bool { return !s.JetStreamIsCurrent() }); time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the leader does not hear of three servers")
		}
	}
	for _, s := range servers {
		s.Shutdown()
		s.WaitForShutdown()
	}
	servers = start(options[:2]...)
	launch(t, servers)
	js := connect(t, servers[0], "c")
	created := make(chan error, 1)
	go func() { created <- js.Create(t.Context(), 3, 64<<20) }()
	select {
	case err := <-created:
		t.Fatalf("created while the third server is down: %v", err)
	case <-time.After(2 * time.Second):
	}
	for _, s := range start(options[2]) {
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	}
	if err := <-created; err != nil {
		t.Error(err)
	}
}

// An authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         ed25519.PrivateKey
	file        string
	serial      int64
}

func newAuthority(t *testing.T, dir, name string) *authority {
	a := &authority{file: filepath.Join(dir, name+".pem"), serial: 1}
	_, a.key, _ = ed25519.GenerateKey(nil)
	a.certificate = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(nil, a.certificate, a.certificate, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

func writePEM(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	testfile.Check(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

// sign makes a certificate and its key in files.
func (a *authority) sign(t *testing.T, name string, valid time.Duration) (cert, key string) {
	t.Helper()
	a.serial++
	public, private, _ := ed25519.GenerateKey(nil)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(valid), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(nil, template, a.certificate, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(filepath.Dir(a.file), fmt.Sprint(name, a.serial))
	writePEM(t, base+".pem", "CERTIFICATE", der)
	writePEM(t, base+".key", "PRIVATE KEY", pkcs8)
	return base + ".pem", base + ".key"
}

// Strangers do not get in, a crawl's certificate does not open another crawl, and each case is named.
func TestStrangersAreRefused(t *testing.T) {
	dir := t.TempDir()
	ca, other := newAuthority(t, dir, "ca"), newAuthority(t, dir, "other")
	serverCert, serverKey := ca.sign(t, "server", time.Hour)
	pair, err := tls.LoadX509KeyPair(serverCert, serverKey)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	der, _ := os.ReadFile(ca.file)
	pool.AppendCertsFromPEM(der)
	allow := func(crawl string) *server.Permissions {
		return &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{"spoor." + crawl + ".>", "$JS.API.INFO", "$JS.API.DIRECT.GET.SPOOR_" + crawl, "$JS.API.STREAM.*.SPOOR_" + crawl, "$JS.API.STREAM.*.SPOORNODES_" + crawl, "$JS.API.STREAM.MSG.*.SPOORNODES_" + crawl}},
			Subscribe: &server.SubjectPermission{Allow: []string{"spoor." + crawl + ".>", "_INBOX.>"}},
		}
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, TLS: true, TLSVerify: true, TLSMap: true, TLSTimeout: 5,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12},
		Users:     []*server.User{{Username: "CN=jazz", Permissions: allow("jazz")}, {Username: "CN=blues", Permissions: allow("blues")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	jazz, jazzKey := ca.sign(t, "jazz", time.Hour)
	expired, expiredKey := ca.sign(t, "jazz", -time.Hour)
	foreign, foreignKey := other.sign(t, "jazz", time.Hour)
	nobody, nobodyKey := ca.sign(t, "nobody", time.Hour)
	for name, c := range map[string]struct {
		servers Servers
		crawl   string
		want    string // "": it works
	}{
		"a certificate for the crawl":           {Servers{CA: ca.file, Cert: jazz, Key: jazzKey}, "jazz", ""},
		"a certificate for another crawl":       {Servers{CA: ca.file, Cert: jazz, Key: jazzKey}, "blues", "Permissions Violation"},
		"an authority that is not the server's": {Servers{CA: other.file, Cert: jazz, Key: jazzKey}, "jazz", "-ca has the certificates"},
		"no file of an authority":               {Servers{CA: other.file + "x", Cert: jazz, Key: jazzKey}, "jazz", "-ca: open"},
		"no authority":                          {Servers{Cert: jazz, Key: jazzKey}, "jazz", "-ca has the certificates"},
		"no certificate":                        {Servers{CA: ca.file}, "jazz", "-cert and -key are for servers that ask for one"},
		"an expired certificate":                {Servers{CA: ca.file, Cert: expired, Key: expiredKey}, "jazz", "-cert and -key are for servers that ask for one"},
		"a certificate of another authority":    {Servers{CA: ca.file, Cert: foreign, Key: foreignKey}, "jazz", "-cert and -key are for servers that ask for one"},
		"a certificate without a crawl":         {Servers{CA: ca.file, Cert: nobody, Key: nobodyKey}, "jazz", "say who you are"},
		"a missing file":                        {Servers{CA: filepath.Join(dir, "none.pem")}, "jazz", "none.pem"},
		"a password in the address":             {Servers{URLs: "tls://me:secret@127.0.0.1:1"}, "jazz", "contains a password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.servers.URLs == "" {
				c.servers.URLs = strings.Replace(s.ClientURL(), "nats://", "tls://", 1)
			}
			begun := time.Now()
			js, err := Connect(c.servers, c.crawl)
			if err == nil {
				defer js.Close()
				err = js.Create(t.Context(), 1, 1<<20)
				if err == nil {
					_, err = js.Publish(t.Context(), "spoor."+c.crawl+".b.0.0.0.0", []byte("x"), "x")
				}
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret@")) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A node whose servers have lost the majority waits: nobody has taken its name, although the leader that
// is left refuses the renewal.
func TestALeaseWithoutMajorityIsNotTaken(t *testing.T) {
	if testing.Short() {
		t.Skip("no cluster in a short test")
	}
	servers := startCluster(t, false)
	launch(t, servers)
	ctx := t.Context()
	create := connect(t, servers[0], "c")
	defer create.Close()
	if err := (retryer{time.Minute, quiet}).do(ctx, func() error { return create.CreateLeases(ctx, 3) }); err != nil {
		t.Fatal(err)
	}
	leader := -1
	for begun := time.Now(); leader < 0; time.Sleep(50 * time.Millisecond) {
		leader = slices.IndexFunc(servers, func(s *server.Server) bool { return s.JetStreamIsStreamLeader("$G", "SPOORNODES_c") })
		if time.Since(begun) > time.Minute {
			t.Fatal("the stream has no leader")
		}
	}
	js := connect(t, servers[leader], "c")
	defer js.Close()
	lease, err := js.Leases(ctx, "a", 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	renew := func() error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return lease.Renew(ctx)
	}
	for range 3 {
		if err := renew(); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range servers {
		if i != leader {
			s.Shutdown()
		}
	}
	for begun := time.Now(); time.Since(begun) < 8*time.Second; time.Sleep(300 * time.Millisecond) {
		if err := renew(); errors.Is(err, ErrNameTaken) {
			t.Fatal(err)
		}
	}
}
