package interop

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var tableFile = flag.String("table", "", "the file to which the tables are appended")

// scripts/interop sets these variables. A program that is missing is left out.
var (
	bin    = os.Getenv("SPOOR_BIN")    // the directory of the commands
	jsWACZ = os.Getenv("SPOOR_JSWACZ") // the program of js-wacz
)

// A site serves the pages over HTTP/1.1 and HTTP/2.
type site struct {
	plain, secure string
	trusted       string // file with the certificate
}

func newSite(t *testing.T) site {
	if bin == "" || os.Getenv("SPOOR_WARCIO") == "" {
		t.Skip("SPOOR_BIN and SPOOR_WARCIO are not set (scripts/interop sets them)")
	}
	mux := http.NewServeMux()
	for _, p := range pages() {
		mux.Handle("GET "+p.path, p)
	}
	plain := httptest.NewServer(mux)
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(mux)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	s := site{plain.URL, secure.URL, filepath.Join(t.TempDir(), "trusted.pem")}
	if err := os.WriteFile(s.trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o666); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s site) urls(host string) (list []string) {
	for _, p := range pages() {
		list = append(list, host+p.path)
	}
	return list
}

// run runs a command of the project, and returns its exit status too.
func (s site) run(t *testing.T, stdin, program string, args ...string) (stdout string, status int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, program), args...)
	cmd.Stdin, cmd.Env = strings.NewReader(stdin), append(os.Environ(), "SSL_CERT_FILE="+s.trusted, "XDG_CACHE_HOME="+filepath.Dir(s.trusted))
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if err != nil {
		t.Logf("%s %s: %v\n%s%s", program, args, err, out.Bytes(), stderr.Bytes())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// write appends to the file of the tables.
func write(t *testing.T, text string) {
	if *tableFile == "" {
		t.Log("\n" + text)
		return
	}
	f, err := os.OpenFile(*tableFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// The archive has each page over HTTP/1.1 and HTTP/2; each again in a second run, as a revisit of
// the same payload; and one that the server says was not modified.
func TestOthersVerifyArchivesOfFetch(t *testing.T) {
	for _, coding := range []string{"gzip", "none"} {
		t.Run(coding, func(t *testing.T) {
			s, dir := newSite(t), t.TempDir()
			urls := append(s.urls(s.plain), s.urls(s.secure)...)
			args := []string{"-allow-private", "-delay", "0s", "-j", "1", "-mime", "", "-warc", filepath.Join(dir, "a")}
			if coding == "none" {
				args = append(args, "-warc-level", "0")
			}
			again := append(args, "-warc-dedup", dir)
			for _, in := range []struct {
				args  []string
				lines string
			}{
				{args, strings.Join(urls, "\n")},
				{again, strings.Join(urls, "\n")},
				{again, fmt.Sprintf(`{"v":1,"url":%q,"etag":"\"1\""}`, urls[2])},
			} {
				if _, status := s.run(t, in.lines+"\n", "fetch", in.args...); status != 0 {
					t.Fatalf("fetch: status %d", status)
				}
			}
			files, err := filepath.Glob(filepath.Join(dir, "a-*.warc*"))
			if err != nil {
				t.Fatal(err)
			}
			files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, ".cdxj") })

			readers := []struct {
				name string
				read func(...string) ([]record, error)
			}{{"internetarchive/gowarc", readIA}, {"nlnwa/gowarc", readNLNWA}, {"warcio.js", readWarcio}}
			var all [][]record
			for _, r := range readers {
				records, err := r.read(files...)
				if err != nil {
					t.Errorf("%s: %v", r.name, err)
				}
				all = append(all, records)
			}

			var table strings.Builder
			fmt.Fprintf(&table, "Archives by fetch (%s) read by others\n\n| page | records | payload digest is that of the body |", coding)
			for i, r := range readers {
				fmt.Fprintf(&table, " %s (%d records) |", r.name, len(all[i]))
			}
			fmt.Fprintf(&table, "\n|---|---|---|---|---|---|\n")
			for i, u := range urls {
				want := digest(pages()[i%len(pages())].body())
				count := map[string]int{}
				right := "yes"
				for _, r := range all[0] {
					if r.URL != u {
						continue
					}
					count[r.Type]++
					if (r.Type == "response" || r.Type == "revisit" && r.Stored.Payload != "") && r.Stored.Payload != want {
						right = "**no**"
					}
				}
				if right != "yes" {
					t.Errorf("%s: a payload digest is not that of the body, %s", u, want)
				}
				fmt.Fprintf(&table, "| %s | %s | %s |", name(s, u), counts(count), right)
				for n, records := range all {
					verdict := verify(records, u, readers[n].name)
					if strings.HasPrefix(verdict, "**") {
						t.Errorf("%s: %s: %s", readers[n].name, u, verdict)
					}
					fmt.Fprintf(&table, " %s |", verdict)
				}
				fmt.Fprintln(&table)
			}
			for i, records := range all {
				if len(records) != len(all[0]) {
					t.Errorf("%s: %d records, want %d", readers[i].name, len(records), len(all[0]))
				}
			}
			write(t, table.String())
		})
	}
}

// name returns a short name of a page.
func name(s site, u string) string {
	if path, ok := strings.CutPrefix(u, s.secure); ok {
		return path + " over HTTP/2"
	}
	return strings.TrimPrefix(u, s.plain)
}

func counts(count map[string]int) string {
	var parts []string
	for _, kind := range []string{"warcinfo", "response", "revisit", "request", "metadata", "resource", "conversion"} {
		if count[kind] > 0 {
			parts = append(parts, fmt.Sprint(count[kind], " ", kind))
		}
	}
	return strings.Join(parts, ", ")
}

// verify returns what a library says of the digests of a page. nlnwa/gowarc and warcio.js
// compute payload digests over the chunks, so they differ for pages in chunks.
func verify(records []record, u, reader string) string {
	blocks, payloads, other, wrong := 0, 0, 0, ""
	for _, r := range records {
		if r.URL != u {
			continue
		}
		if r.Stored.Block != r.Computed.Block {
			wrong = fmt.Sprintf("**block of %s: %s, not %s**", r.Type, r.Computed.Block, r.Stored.Block)
		}
		blocks++
		switch {
		case r.Type != "response":
		case r.Stored.Payload == r.Computed.Payload:
			payloads++
		case reader != "internetarchive/gowarc" && strings.Contains(u, "chunked"):
			other++
		default:
			wrong = fmt.Sprintf("**payload: %s, not %s**", r.Computed.Payload, r.Stored.Payload)
		}
	}
	switch {
	case wrong != "":
		return wrong
	case other > 0:
		return fmt.Sprintf("%d blocks; its payload digest is over chunks", blocks)
	}
	return fmt.Sprintf("%d blocks, %d payloads", blocks, payloads)
}

// An archive is one that another program has written.
type archive struct {
	name  string
	files string // pattern
	write func(dir string, urls []string) error
}

func TestFetchReadsArchivesOfOthers(t *testing.T) {
	s := newSite(t)
	urls := s.urls(s.plain)
	dir := t.TempDir()
	var table strings.Builder
	fmt.Fprintf(&table, "Archives by others read by spoor: %d addresses\n\n| archive | records | payload digests | `warc ls` | `warc verify` | `fetch -all` | each address | `warc index` | `warc pack`, then `fetch -all` |\n|---|---|---|---|---|---|---|---|---|\n", len(urls))
	check := func(name, files string) {
		row := read(t, s, files, urls, filepath.Join(dir, "packed.wacz"))
		fmt.Fprintf(&table, "| %s | %s |\n", name, strings.Join(row, " | "))
		for _, cell := range row {
			if strings.Contains(cell, "**") {
				t.Errorf("%s: %s", name, cell)
			}
		}
	}
	for i, a := range []archive{
		{"internetarchive/gowarc, gzip", "*.warc.gz", func(dir string, urls []string) error { return writeIA(dir, "gzip", urls) }},
		{"internetarchive/gowarc, zstd", "*.warc.zst", func(dir string, urls []string) error { return writeIA(dir, "zstd", urls) }},
		{"internetarchive/gowarc, plain", "*.warc", func(dir string, urls []string) error { return writeIA(dir, "", urls) }},
		{"nlnwa/gowarc, gzip", "*.warc.gz", func(dir string, urls []string) error { return writeNLNWA(dir, true, urls) }},
		{"nlnwa/gowarc, plain", "*.warc", func(dir string, urls []string) error { return writeNLNWA(dir, false, urls) }},
		{"wget, gzip", "*.warc.gz", func(dir string, urls []string) error { return writeWget("wget", dir, urls) }},
		{"wget, plain", "*.warc", func(dir string, urls []string) error {
			return writeWget("wget", dir, urls, "--no-warc-compression")
		}},
		{"wget, gzip, with an index", "*.warc.gz", func(dir string, urls []string) error { return writeWget("wget", dir, urls, "--warc-cdx") }},
		{"wget2", "*.warc.gz", func(dir string, urls []string) error { return writeWget("wget2", dir, urls) }},
	} {
		into := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(into, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := a.write(into, urls); err != nil {
			text, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Fprintf(&table, "| %s | not written: %s | | | | | | | |\n", a.name, text)
			if a.name != "wget2" { // whose version in Debian has no --warc-file
				t.Errorf("%s: %v", a.name, err)
			}
			continue
		}
		files := filepath.Join(into, a.files)
		check(a.name, files)
		if jsWACZ == "" || a.files != "*.warc.gz" {
			continue
		}
		packed := filepath.Join(into, "packed.wacz")
		if err := packJS(jsWACZ, packed, files); err != nil {
			t.Errorf("js-wacz of %s: %v", a.name, err)
			continue
		}
		check("js-wacz of "+a.name, packed)
	}
	write(t, table.String())
}

// An entry is what the test needs of a record of fetch.
type entry struct {
	URL, Body, Error, Digest string
	BodyBase64               string `json:"body_base64"`
}

// read returns the cells of an archive, with faults in bold.
func read(t *testing.T, s site, files string, urls []string, packed string) []string {
	found, err := filepath.Glob(files)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: no archive (%v)", files, err)
	}
	bold := func(fault bool, text string) string {
		if fault {
			return "**" + text + "**"
		}
		return text
	}
	stem := func(out string) []entry {
		var list []entry
		for line := range strings.Lines(out) {
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		return list
	}
	texts := map[string]string{}
	payloads := map[string]string{}
	for i, p := range pages() {
		texts[urls[i]], payloads[urls[i]] = p.text, digest(p.body())
	}
	same := func(list []entry) int {
		right := 0
		for _, e := range list {
			body := e.Body
			if e.BodyBase64 != "" {
				b, err := base64.StdEncoding.DecodeString(e.BodyBase64)
				if err != nil {
					t.Fatal(err)
				}
				body = string(b)
			}
			if want, ok := texts[e.URL]; ok && e.Error == "" && sha1.Sum([]byte(body)) == sha1.Sum([]byte(want)) {
				right++
			}
		}
		return right
	}

	// The records, as the library of the Internet Archive reads them; a WACZ is not read by it.
	expected, digests := -1, "–"
	count := "–"
	if !strings.HasSuffix(files, ".wacz") {
		records, err := readIA(found...)
		if err != nil {
			t.Error(err)
		}
		expected = len(records)
		types := map[string]int{}
		body, chunks := 0, 0
		for _, r := range records {
			types[r.Type]++
			if r.Type != "response" {
				continue
			}
			if r.Stored.Payload == payloads[r.URL] {
				body++
			} else if strings.Contains(r.URL, "chunked") {
				chunks++
			}
		}
		count = counts(types)
		digests = fmt.Sprintf("%d of the body, %d over chunks", body, chunks)
	}

	listed, status := s.run(t, "", "warc", append([]string{"ls"}, found...)...)
	lines := strings.Count(listed, "\n")
	row := []string{count, digests, bold(status != 0 || expected >= 0 && lines != expected, fmt.Sprint(lines))}

	faults, status := s.run(t, "", "warc", append([]string{"verify"}, found...)...)
	warnings, packages := strings.Count(faults, "(warning)"), strings.Count(faults, ": package: ")
	others := strings.Count(faults, "\n") - warnings - packages
	cell := bold(others > 0 || status > 1, fmt.Sprintf("%d faults, %d warnings", others, warnings))
	if packages > 0 { // js-wacz describes its archives by digests of something else
		cell += fmt.Sprintf(", %d wrong digests of files", packages)
	}
	row = append(row, cell)

	from := func(files ...string) (args []string) {
		for _, name := range files {
			args = append(args, "-archive", name)
		}
		return append(args, "-mime", "")
	}
	out, status := s.run(t, "", "fetch", append(from(found...), "-all")...)
	pages := same(stem(out))
	row = append(row, bold(status != 0 || pages != len(urls), fmt.Sprintf("%d pages", pages)))

	out, status = s.run(t, strings.Join(urls, "\n")+"\n", "fetch", from(found...)...)
	entries := stem(out)
	right := same(entries)
	row = append(row, bold(status != 0 || right != len(urls), fmt.Sprintf("%d pages", right)))

	out, status = s.run(t, "", "warc", append([]string{"index"}, found...)...)
	indexed := 0
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"status":"200"`) {
			indexed++
		}
	}
	row = append(row, bold(status != 0 || indexed != len(urls), fmt.Sprintf("%d of status 200", indexed)))

	_, status = s.run(t, "", "warc", append([]string{"pack", "-o", packed}, found...)...)
	out, again := s.run(t, "", "fetch", append(from(packed), "-all")...)
	pages = same(stem(out))
	row = append(row, bold(status != 0 || again != 0 || pages != len(urls), fmt.Sprintf("%d pages", pages)))
	os.Remove(packed)
	return row
}
