//go:build linux

package fetch_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"spoor/internal/wire"
)

// Testing the guard against private addresses needs servers on public addresses. So the test
// runs itself in a network namespace in which all addresses are routed to the loopback device,
// and serves them all. Nothing leaves the machine, and all requests are known.

// insideWeb is the environment variable with the path of the command, for the test in the
// namespace.
const insideWeb = "FETCH_TEST_PROGRAM"

// noWeb is the prefix of the message when no namespace can be made.
const noWeb = "no web of its own: "

// The public addresses by host name. No other address may be connected to.
var public = map[string]netip.Addr{
	"site.test":  netip.MustParseAddr("93.184.216.34"),
	"other.test": netip.MustParseAddr("8.8.4.4"),
	"six.test":   netip.MustParseAddr("2606:2800:220:1::1"),
}

func TestFaultPrivateAddresses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	if program := os.Getenv(insideWeb); program != "" {
		inWeb(t, program)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", fmt.Sprintf("-test.v=%t", testing.Verbose()))
	cmd.Env = append(os.Environ(), insideWeb+"="+build(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skip(noWeb, err)
	}
	if _, why, none := strings.Cut(string(out), noWeb); none {
		t.Skip(noWeb, why)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
		return
	}
	t.Logf("\n%s", out)
}

// An internet serves all addresses in the namespace.
type internet struct {
	mu    sync.Mutex
	asked map[netip.Addr]int // connections by address
	names map[string]int     // DNS queries by name
}

func inWeb(t *testing.T, program string) {
	six, err := raise()
	if err != nil {
		fmt.Println(noWeb, err)
		return
	}
	web := &internet{asked: map[netip.Addr]int{}, names: map[string]int{}}
	web.serve(t, six)

	type row struct {
		kind, address string
		want          []string
	}
	const (
		sane     = "an address that is public"
		named    = "a name that leads to an address that is not public"
		nameless = "a name server that fails"
		direct   = "an address that is not public"
		onward   = "a redirect to an address that is not public"
	)
	blocked, dns := []string{"blocked_address"}, []string{"dns"}
	either := []string{"200", "blocked_address"} // but never a response from a private address
	rows := []row{
		{sane, "http://site.test/page", sound},
		{sane, "http://8.8.4.4/page", sound},
		{sane, "http://0x08080404/page", sound},

		// Names.
		{named, "http://inside.test/", blocked},
		{named, "http://alias.test/", blocked},
		{named, "http://metadata.test/", blocked},
		{named, "http://mapped.test/", blocked},
		{named, "http://localhost/", blocked},
		{named, "http://any.localhost/", append(dns, blocked...)},
		{named, "http://mixed.test/", either},
		{named, "http://rebind.test/a", either},
		{named, "http://rebind.test/b", either},
		{named, "http://rebind.test/c", either},
		{named, "http://robots.test/page", []string{"blocked_address", "robots", "budget"}},
		{nameless, "http://unknown.test/", dns},
		{nameless, "http://failing.test/", dns},
		{nameless, "http://garbage.test/", append(dns, "timeout")},
		{nameless, "http://mute.test/", append(dns, "timeout")},
	}
	hosts := []string{
		// Notations of one address; redirects lead to each of them too.
		"169.254.169.254", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "2852039166", "0xa9fea9fe",
		"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0x7f000001", "127.0.0.%31", "①②⑦.⓪.⓪.①", "127.0.0.1.", "user@127.0.0.1", "site.test@127.0.0.1",
		"0.0.0.0", "0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.1", "192.0.2.1",
		"198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
	}
	if six {
		hosts = append(hosts, "[::1]", "[::]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:0:127.0.0.1]",
			"[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001::1]",
			"[fe80::1]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]")
		rows = append(rows, row{sane, "http://[2606:2800:220:1::1]/page", sound}, row{sane, "http://six.test/page", sound})
	}
	for i, h := range hosts {
		// A host that failed is left alone, so each has a port of its own.
		rows = append(rows,
			row{direct, fmt.Sprintf("http://%s:%d/", h, 10_000+i), blocked},
			row{direct, fmt.Sprintf("https://%s:%d/", h, 20_000+i), blocked},
			row{onward, fmt.Sprintf("http://site.test/to/http://%s/latest/meta-data/", h), blocked},
			row{onward, fmt.Sprintf("http://site.test/to/https://%s/", h), blocked},
		)
	}
	var addresses []string
	for _, r := range rows {
		addresses = append(addresses, r.address)
	}
	run := start(t, program, nil, addresses, 0, "-contact", "someone@example.org", "-delay", "1ms", "-timeout", "3s", "-warc", t.TempDir()+"/w")
	if run.status != 0 {
		t.Errorf("status %d\n%s", run.status, run.log)
	}
	got := map[string]*wire.Record{}
	for _, rec := range run.records {
		got[rec.URL] = rec
	}
	counts := map[string]map[string]int{}
	for _, r := range rows {
		rec := got[r.address]
		if rec == nil {
			t.Errorf("%s: no record", r.address)
			continue
		}
		s := summary(rec)
		if counts[r.kind] == nil {
			counts[r.kind] = map[string]int{}
		}
		counts[r.kind][s]++
		if !slices.Contains(r.want, s) {
			t.Errorf("%s: %s (%s), want %s", r.address, s, rec.ErrorDetail, strings.Join(r.want, " or "))
		}
	}
	if len(run.records) != len(rows) {
		t.Errorf("%d records for %d addresses", len(run.records), len(rows))
	}
	if run.took > slack || run.memory > maxMemory {
		t.Errorf("took %v and %d MiB", run.took, run.memory>>20)
	}
	// robots.txt of maps.test lists sitemaps on private addresses.
	sited := start(t, program, nil, []string{"http://maps.test/page"}, len(within), "-contact", "someone@example.org", "-delay", "1ms", "-timeout", "3s", "-sitemaps")
	if sited.status != 0 {
		t.Errorf("status %d\n%s", sited.status, sited.log)
	}
	for _, rec := range sited.records {
		if s := summary(rec); rec.Operator == "sitemap" && s != "blocked_address" || rec.Operator == "" && s != "200" {
			t.Errorf("%s: %s (%s)", rec.URL, s, rec.ErrorDetail)
		}
	}
	if len(sited.records) != 1+len(within) {
		t.Errorf("%d records, want %d", len(sited.records), 1+len(within))
	}

	web.mu.Lock()
	defer web.mu.Unlock()
	for addr, n := range web.asked {
		if !slices.Contains(slices.Collect(maps.Values(public)), addr) {
			t.Errorf("%d connections to %v", n, addr)
		}
	}
	for _, kind := range []string{sane, direct, named, onward, nameless} {
		fmt.Print(tableRow(kind, counts[kind], run))
	}
}

// within are sitemaps on private addresses.
var within = []string{"http://169.254.169.254/sitemap.xml", "http://inside.test/sitemap.xml", "https://metadata.test/sitemap.xml"}

// serve serves HTTP on port 80 of every address, and DNS.
func (web *internet) serve(t *testing.T, six bool) {
	t.Helper()
	site := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close") // so that names are resolved again
			w.Header().Set("Content-Type", "text/html")
			to, redirected := strings.CutPrefix(r.RequestURI, "/to/")
			switch {
			case redirected:
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusFound)
			case r.URL.Path == "/robots.txt" && r.Host == "robots.test":
				w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
				w.WriteHeader(http.StatusFound)
			case r.URL.Path == "/robots.txt" && r.Host == "maps.test":
				io.WriteString(w, "Sitemap: "+strings.Join(within, "\nSitemap: ")+"\n")
			case r.URL.Path == "/robots.txt":
				http.NotFound(w, r)
			default:
				io.WriteString(w, "secrets")
			}
		}),
		ConnState: func(c net.Conn, s http.ConnState) {
			if s == http.StateNew {
				web.mu.Lock()
				defer web.mu.Unlock()
				web.asked[c.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()]++
			}
		},
	}
	networks := []string{"tcp4"}
	if six {
		networks = append(networks, "tcp6")
	}
	for _, network := range networks {
		l, err := net.Listen(network, ":80")
		if err != nil {
			t.Fatal(err)
		}
		go site.Serve(l)
	}
	t.Cleanup(func() { site.Close() })

	names, err := net.ListenPacket("udp", net.JoinHostPort(nameserver(), "53"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { names.Close() })
	go func() {
		for b := make([]byte, 4<<10); ; {
			n, from, err := names.ReadFrom(b)
			if err != nil {
				return
			}
			if answer := web.answer(b[:n]); answer != nil {
				names.WriteTo(answer, from)
			}
		}
	}()
}

// nameserver returns the name server of the system.
func nameserver() string {
	b, _ := os.ReadFile("/etc/resolv.conf")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "nameserver" {
			return f[1]
		}
	}
	return "127.0.0.1"
}

// answer returns the DNS response to a question, nil for none.
func (web *internet) answer(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	web.mu.Lock()
	web.names[name+q.Type.String()]++
	nth := web.names[name+q.Type.String()]
	web.mu.Unlock()
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	add := func(s string) {
		a := netip.MustParseAddr(s)
		head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type} // TTL 0
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	switch name {
	case "site.test", "other.test", "six.test":
		add(public[name].String())
	case "robots.test", "maps.test":
		add(public["site.test"].String())
	case "inside.test":
		add("127.0.0.1")
		add("::1")
	case "alias.test":
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: dnsmessage.TypeCNAME},
			Body:   &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("inside.test.")},
		})
		q.Name = dnsmessage.MustNewName("inside.test.")
		add("127.0.0.1")
	case "metadata.test":
		add("169.254.169.254")
	case "mapped.test":
		add("::ffff:127.0.0.1")
	case "mixed.test":
		add("10.0.0.1")
		add(public["site.test"].String())
	case "rebind.test":
		if nth == 1 {
			add(public["site.test"].String())
		} else {
			add("127.0.0.1")
		}
	case "failing.test":
		m.RCode = dnsmessage.RCodeServerFailure
	case "garbage.test":
		return append(question[:2:2], "\x81\x80 these are no answers"...)
	case "mute.test":
		return nil
	default:
		m.RCode = dnsmessage.RCodeNameError
	}
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}

// raise brings up the loopback device of the namespace and routes every address to it, as "ip
// route add local default dev lo" does. It reports whether that worked for IPv6 too.
func raise() (six bool, err error) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return false, err
	}
	up := unix.IfInfomsg{Family: unix.AF_UNSPEC, Index: int32(lo.Index), Flags: unix.IFF_UP, Change: unix.IFF_UP}
	if err := netlink(unix.RTM_NEWLINK, 0, up); err != nil {
		return false, fmt.Errorf("bringing up %s: %w", lo.Name, err)
	}
	route := func(family byte) error {
		return netlink(unix.RTM_NEWROUTE, unix.NLM_F_CREATE,
			unix.RtMsg{Family: family, Table: unix.RT_TABLE_LOCAL, Protocol: unix.RTPROT_BOOT, Scope: unix.RT_SCOPE_HOST, Type: unix.RTN_LOCAL},
			unix.RtAttr{Len: 8, Type: unix.RTA_OIF}, uint32(lo.Index))
	}
	if err := route(unix.AF_INET); err != nil {
		return false, fmt.Errorf("a route to %s: %w", lo.Name, err)
	}
	return route(unix.AF_INET6) == nil, nil
}

// netlink sends one request and waits for its acknowledgement (rtnetlink(7)).
func netlink(kind, flags uint16, parts ...any) error {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	var body []byte
	for _, p := range parts {
		if body, err = binary.Append(body, binary.NativeEndian, p); err != nil {
			return err
		}
	}
	head := unix.NlMsghdr{Len: uint32(unix.SizeofNlMsghdr + len(body)), Type: kind, Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK | flags}
	message, err := binary.Append(nil, binary.NativeEndian, head)
	if err != nil {
		return err
	}
	if err := unix.Sendto(s, append(message, body...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4<<10)
	n, _, err := unix.Recvfrom(s, answer, 0)
	if err != nil {
		return err
	}
	var code int32
	if _, err := binary.Decode(answer[min(n, unix.SizeofNlMsghdr):n], binary.NativeEndian, &code); err != nil {
		return err
	}
	if code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
