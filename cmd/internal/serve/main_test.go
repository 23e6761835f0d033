package serve

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/cmd/internal/scripttest"
	"spoor/internal/testfile"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"serve": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{})
}

// start starts the command at a free port, and returns its address and its messages.
func start(t *testing.T, args ...string) (address string, stderr *bufio.Reader) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")) // serve changes it
	t.Setenv("PROGRAM_PREFIX", "")
	stdout, out := io.Pipe()
	messages, errs := io.Pipe()
	go func() {
		err := serve(append([]string{"-addr", "127.0.0.1:0"}, args...), nil, out, errs)
		out.CloseWithError(err)
		errs.CloseWithError(err)
	}()
	address, err := bufio.NewReader(stdout).ReadString('\n')
	testfile.Check(t, err)
	return strings.TrimSpace(address), bufio.NewReader(messages)
}

// The first line of stdout is the address; the link on stderr has the token, and the token works.
func TestTheLinkWorks(t *testing.T) {
	dir := t.TempDir()
	testfile.Check(t, os.Mkdir(filepath.Join(dir, "jazz"), 0o777))
	testfile.Write(t, filepath.Join(dir, "jazz", "settings"), "strategy niche\n")
	file := filepath.Join(dir, "token")
	address, stderr := start(t, "-token-file", file, dir)
	link, err := stderr.ReadString('\n')
	testfile.Check(t, err)
	link = strings.TrimSpace(link)
	token := strings.TrimSpace(string(testfile.Read(t, file)))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || len(token) < 26 {
		t.Errorf("the file of the token: %v, %v, %q", info.Mode(), err, token)
	}
	if want := "serve: open " + address + "?token=" + token; link != want || !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/$`).MatchString(address) {
		t.Fatalf("the address is %s, the link %q, want %q", address, link, want)
	}
	status := func(url, cookie string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequest("GET", url, nil)
		testfile.Check(t, err)
		r.Header.Set("Cookie", cookie)
		answer, err := http.DefaultClient.Do(r)
		testfile.Check(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		testfile.Check(t, err)
		return answer, string(body)
	}
	if answer, _ := status(address, ""); answer.StatusCode != 401 {
		t.Errorf("without the token: %s", answer.Status)
	}
	answer, _ := status(strings.TrimPrefix(link, "serve: open "), "")
	cookie, _, _ := strings.Cut(answer.Header.Get("Set-Cookie"), ";")
	if answer, body := status(address, cookie); answer.StatusCode != 200 || !strings.Contains(body, "/run/jazz/") {
		t.Errorf("with the cookie %q: %s\n%s", cookie, answer.Status, body)
	}
}

// By TLS the server speaks HTTP/2, in which a stream of events shares a connection with other requests.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := makeCertificate(t, dir)
	testfile.Check(t, os.Mkdir(filepath.Join(dir, "jazz"), 0o777))
	testfile.Write(t, filepath.Join(dir, "jazz", "settings"), "strategy niche\n")
	address, _ := start(t, "-cert", cert, "-key", key, dir)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(testfile.Read(t, cert))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	for path, want := range map[string]string{"": "/run/jazz/", "run/jazz/events": `"state":"idle"`} {
		answer, err := client.Get(address + path)
		testfile.Check(t, err)
		got, b := "", make([]byte, 4096)
		for err == nil && !strings.Contains(got, want) {
			var n int
			n, err = answer.Body.Read(b)
			got += string(b[:n])
		}
		answer.Body.Close()
		if answer.StatusCode != 200 || answer.ProtoMajor != 2 || !strings.Contains(got, want) {
			t.Errorf("%s%s: %s %s, %v: %s", address, path, answer.Proto, answer.Status, err, got)
		}
	}
}

// Clients that are slow to send a request lose their connections, and others are answered meanwhile.
func TestSlowClients(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limits")
	}
	address, _ := start(t, t.TempDir())
	host := strings.Trim(strings.TrimPrefix(address, "http:"), "/")
	const slack = 10 * time.Second // of a busy machine
	var clients sync.WaitGroup
	for what, test := range map[string]struct {
		first, then string // then is sent again and again
		limit       time.Duration
	}{
		"nothing":           {"", "", headerTimeout},
		"half a header":     {"GET / HTTP/1.1\r\n", "", headerTimeout},
		"a slow header":     {"GET / HTTP/1.1\r\n", "X: y\r\n", headerTimeout},
		"a slow body":       {"POST /run/none/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000\r\n\r\n", "x", readTimeout},
		"a GET with a body": {"GET /list HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000\r\n\r\n", "x", readTimeout},
	} {
		clients.Go(func() {
			c, err := net.Dial("tcp", host)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			begun := time.Now()
			for text := test.first; ; text = test.then {
				if _, err := io.WriteString(c, text); err != nil {
					break
				}
				c.SetReadDeadline(time.Now().Add(time.Second))
				if _, err := io.Copy(io.Discard, c); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) > test.limit+slack {
					break
				}
			}
			if took := time.Since(begun); took < test.limit/2 || took > test.limit+slack {
				t.Errorf("%s: the connection was open for %s, the limit is %s", what, took, test.limit)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		clients.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Second):
		}
		answer, err := http.Get(address)
		testfile.Check(t, err)
		answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Errorf("another client gets %s", answer.Status)
		}
	}
}

// A header that is too long is refused.
func TestLongHeaders(t *testing.T) {
	address, _ := start(t, t.TempDir())
	for length, want := range map[int]int{maxHeader / 2: 200, 2 * maxHeader: 431} {
		answer, err := http.Get(address + "search?q=" + strings.Repeat("x", length))
		testfile.Check(t, err)
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a query of %d bytes: %s", length, answer.Status)
		}
	}
}

// makeCertificate writes a certificate of 127.0.0.1 and its key to files.
func makeCertificate(t *testing.T, dir string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testfile.Check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	testfile.Check(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	testfile.Check(t, err)
	return testfile.Write(t, filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})),
		testfile.Write(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}
