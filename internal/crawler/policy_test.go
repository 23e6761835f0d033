package crawler

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

func TestGuard(t *testing.T) {
	noContact := &Options{AllowPrivate: true, Delay: time.Second}
	zeroDelay := &Options{AllowPrivate: true, Contact: "me@example.org"}
	for _, o := range []*Options{noContact, zeroDelay} {
		for addr, want := range map[string]bool{
			"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true,
			"93.184.216.34:80": false, "10.0.0.1:80": false, "[2606:2800::1]:80": false,
		} {
			err := o.guard(netip.MustParseAddrPort(addr))
			if (err == nil) != want || err != nil && classify(t.Context(), err) != "blocked_address" {
				t.Errorf("%s: %v", addr, err)
			}
		}
	}
	allowed := &Options{Contact: "me@example.org", Delay: time.Second}
	for addr, want := range map[string]bool{
		"93.184.216.34:80": true, "127.0.0.1:80": false, "169.254.169.254:80": false, "[::ffff:10.0.0.1]:443": false,
		"[64:ff9b::7f00:1]:80": false, "100.64.0.1:80": false, "[fd00::1]:80": false, "0.0.0.0:80": false,
	} {
		if err := allowed.guard(netip.MustParseAddrPort(addr)); (err == nil) != want || err != nil && classify(t.Context(), err) != "blocked_address" {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestBlockedPortsAreNotRequested(t *testing.T) {
	s := newFaultySite(t)
	s.robots = "User-agent: *\nDisallow:\nSitemap: http://127.0.0.1:6667/sitemap.xml\n"
	direct, redirected := "http://127.0.0.1:25/", s.URL+"/goto?to=http://127.0.0.1:22/x"
	robots := "https://127.0.0.1:10080/robots.txt"
	recs, o := fetch(t, direct+"\n"+redirected+"\n"+robots+"\n"+s.URL+"/page\n", loopback, withSitemaps)
	for url, port := range map[string]string{direct: "25", redirected: "22", robots: "10080", "http://127.0.0.1:6667/sitemap.xml": "6667"} {
		r := recs[url]
		if r == nil || r.Error != "blocked_address" || !strings.Contains(r.ErrorDetail, "port "+port+" is not a port of web servers (hint: -allow-port "+port+")") || r.NotBefore != "" || !r.Final() {
			t.Errorf("%s: %+v", url, r)
		}
	}
	if r := recs[redirected]; r.FinalURL != "http://127.0.0.1:22/x" || len(r.Redirects) != 1 {
		t.Errorf("redirected to %q by %v", r.FinalURL, r.Redirects)
	}
	if o.PrivateRefused > 0 || o.PolicyRefused > 0 {
		t.Errorf("%+v", o.Stats)
	}
	recs, _ = fetch(t, "http://127.0.0.1:9/\nhttp://127.0.0.1:7/\n", loopback, func(o *Options) { o.AllowPorts = []uint16{1, 9} })
	if r := recs["http://127.0.0.1:9/"]; r.Error != "connect" {
		t.Errorf("an allowed port: %s %s", r.Error, r.ErrorDetail)
	}
	if r := recs["http://127.0.0.1:7/"]; r.Error != "blocked_address" {
		t.Errorf("another port: %s %s", r.Error, r.ErrorDetail)
	}
}

func TestRobotsTxtOnBlockedPortIsNotRequested(t *testing.T) {
	s := newFaultySite(t)
	s.robotsTo = "http://127.0.0.1:25/robots.txt"
	recs, _ := fetch(t, s.URL+"/page\n", loopback)
	if r := recs[s.URL+"/page"]; r.Error != "blocked_address" || !strings.Contains(r.ErrorDetail, "port 25") || len(s.requests()) > 0 {
		t.Errorf("%s %s, requested %q", r.Error, r.ErrorDetail, s.requests())
	}
}

func TestProxyIsNotAskedForPrivateAddresses(t *testing.T) {
	s := newFaultySite(t) // which a proxy for http requests could be
	var in strings.Builder
	for _, host := range []string{
		"127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.1.", "10.1", "0xa9fea9fe", "192.168.257", "0",
		"[::1]", "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[fe80::1]", "localhost", "LOCALHOST.", "x.localhost", "1２7.0.0.1",
	} {
		for _, scheme := range []string{"http://", "https://"} {
			in.WriteString(scheme + host + "/page\n")
		}
	}
	for _, proxy := range []string{"http", "socks5", "socks5h"} {
		address := strings.Replace(s.URL, "http", proxy, 1)
		recs, _ := fetch(t, in.String(), contact, delay(time.Millisecond), proxyAt(address))
		for url, r := range recs {
			if r.Error != "blocked_address" {
				t.Errorf("%s through %s: %s %s", url, proxy, r.Error, r.ErrorDetail)
			}
		}
	}
	if len(s.paths) > 0 {
		t.Errorf("the proxy was asked for %q", s.paths)
	}
	// The proxy sends a redirect.
	const from = "http://www.example.com/goto?to=http://0x7f.1/page"
	recs, _ := fetch(t, from+"\n", contact, delay(time.Millisecond), proxyAt(s.URL))
	if r := recs[from]; r.Error != "blocked_address" || r.FinalURL != "http://127.0.0.1/page" {
		t.Errorf("redirected: %s %s, final_url %q", r.Error, r.ErrorDetail, r.FinalURL)
	}
	if got := s.requests(); len(got) != 1 {
		t.Errorf("the proxy was asked for %q", got)
	}
}

func TestInvalidStatusesAreHTTPErrorsLiveAndReplayed(t *testing.T) {
	s := newFaultySite(t)
	dir := t.TempDir()
	recs, _ := fetch(t, s.URL+"/badstatus\n"+s.URL+"/page\n", loopback, warcTo(filepath.Join(dir, "w")))
	live := recs[s.URL+"/badstatus"]
	if live.Error != "http" || live.StatusCode != 0 || live.ErrorDetail != `the response has the invalid status "+20 Odd"` {
		t.Errorf("live: %d %s %q", live.StatusCode, live.Error, live.ErrorDetail)
	}
	if raw := unpack(t, filepath.Join(dir, recs[s.URL+"/page"].WARCFilename)); strings.Contains(raw, "+20") {
		t.Error("the response is in the WARC file")
	}

	const block = "HTTP/1.1 -20 \r\nContent-Type: text/html\r\n\r\n<p>words"
	record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: http://a.test/\r\n"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	path := filepath.Join(dir, "old.warc")
	testfile.Write(t, path, record)
	replayed, _ := replay(t, "http://a.test/\n", path)
	o := options()
	o.Archives, o.MIME = []string{path}, nil
	all, err := o.Responses(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := []*wire.Record{replayed["http://a.test/"]}
	for rec, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, rec.Clone())
	}
	if len(found) != 2 {
		t.Fatalf("%d records", len(found))
	}
	for i, r := range found {
		if r.Error != live.Error || r.StatusCode != 0 || r.Body != "" || r.ContentType != "" || r.ErrorDetail != `the status line is invalid: "HTTP/1.1 -20 "` {
			t.Errorf("%d: %d %s %q, %q, body %q", i, r.StatusCode, r.Error, r.ErrorDetail, r.ContentType, r.Body)
		}
	}
}
