package archive

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
)

// findings returns the findings of a Verifier: offset, kind and detail, with a question mark
// for warnings.
func findings(t testing.TB, files ...string) (all []string) {
	t.Helper()
	v := Verifier{Report: func(f Finding) {
		mark := ""
		if f.Warning {
			mark = "?"
		}
		all = append(all, fmt.Sprintf("%s%d %s%s: %s", strings.Repeat("+", len(f.File)-1), f.Offset, f.Kind, mark, f.Detail))
	}}
	for i, file := range files {
		if err := v.File(strings.Repeat("x", i+1), strings.NewReader(file)); err != nil {
			t.Fatal(err)
		}
	}
	v.Close()
	return all
}

// with returns a record with additional fields.
func with(id string, fields ...string) string {
	return strings.Replace(good(id), "\r\nWARC-Date", "\r\n"+strings.Join(fields, "\r\n")+"\r\nWARC-Date", 1)
}

// without returns a record without a field.
func without(id, field string) string {
	before, after, _ := strings.Cut(good(id), field)
	_, after, _ = strings.Cut(after, "\r\n")
	return before + after
}

// skippable is a zstd frame without data, as seek tables are.
const skippable = "\x5e\x2a\x4d\x18\x05\x00\x00\x00table"

func TestVerify(t *testing.T) {
	a, b := good("a"), good("b")
	flipped := func(s string) string {
		d := []byte(s)
		d[len(d)-6] ^= 1
		return string(d)
	}
	original := record("resource", "http://a/", old, "", "WARC-Payload-Digest", Digest(nil))
	revisitOf := func(digest, date string) string {
		fields := []string{"WARC-Profile", "p", "WARC-Refers-To-Target-URI", "http://a/", "WARC-Refers-To-Date", date}
		if digest != "" {
			fields = append(fields, "WARC-Payload-Digest", digest)
		}
		return record("revisit", "http://b/", newer, "", fields...)
	}
	// The Content-Length is too small, as if a byte of it had been corrupted.
	stretched := flipped(zip(raw("c", "block of c, which is longer", 8)))
	for _, c := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"nothing", []string{""}, nil},
		{"plain records in order", []string{a + b}, nil},
		{"members in order", []string{zip(a, b)}, nil},
		{"frames in order", []string{zst(a, b)}, nil},
		{"rubbish between", []string{a + "rubbish\r\n" + b},
			[]string{"0 format: Content-Length is 10 but no record begins behind the block"}},
		{"a torn member", []string{zip(a) + zip(b)[:40]},
			[]string{fmt.Sprintf("%d format: the gzip member breaks off: unexpected EOF", len(zip(a)))}},
		{"a member without its checksum", []string{zip(a) + zip(b)[:len(zip(b))-8]},
			[]string{fmt.Sprintf("%d format: the gzip member breaks off: unexpected EOF", len(zip(a)))}},
		{"a member with another checksum", []string{zip(a) + flipped(zip(b))},
			[]string{fmt.Sprintf("%d format: gzip: invalid checksum", len(zip(a)))}},
		{"a member with another byte", []string{zip(a) + stretched + zip(b)},
			[]string{fmt.Sprintf("%d format: gzip: invalid checksum", len(zip(a)))}},
		{"a torn record", []string{a + b[:len(b)-10]},
			[]string{fmt.Sprintf("%d format: Content-Length is 10 but the file ends after 4 bytes", len(a))}},
		{"a length that is too large", []string{raw("a", "block of a", 12) + b},
			[]string{"0 end: behind the block are \"\\r\\n\" instead of two empty lines"}},
		{"a length that is too small", []string{raw("a", "block of a", 8) + b},
			[]string{"0 format: Content-Length is 8 but no record begins behind the block"}},
		{"one empty line behind a record", []string{strings.TrimSuffix(a, "\r\n")},
			[]string{"0 end: behind the block are \"\\r\\n\" instead of two empty lines"}},
		{"bare newlines", []string{zip(strings.ReplaceAll(a, "\r\n", "\n"))},
			[]string{"0 end: behind the block are \"\\n\\n\" instead of two empty lines"}},
		{"three empty lines", []string{a + "\r\n" + b}, []string{"0 end: behind the block are more than two empty lines"}},
		{"an ARC file, which says less", []string{zip(asARC(t, capture("http://a/", old, 200, "", "x"))...)}, nil},
		{"a member of several records", []string{zip(a+b, good("c"))},
			[]string{"0 member: 2 records in one member, where each should have its own"}},
		{"a record of several members", []string{zip(a[:len(a)-10], a[len(a)-10:])},
			[]string{"0 member?: the record is spread over several gzip members"}},
		{"a record of several frames", []string{zst(a[:len(a)-10], a[len(a)-10:]) + skippable},
			[]string{"0 member?: the record is spread over several zstd frames"}},
		{"a header that another record cuts off", []string{a[:len(a)-80] + b}, []string{"0 format: header torn: another record begins in it"}},
		{"a kind in capitals", []string{strings.Replace(a, "resource", "RESOURCE", 1)}, nil},
		{"a date without a zone", []string{strings.Replace(a, "12:00:00Z", "12:00:00", 1)},
			[]string{`0 field?: WARC-Date "2026-11-20T12:00:00" is not in a format that WARC 1.1 allows (hint: 2026-01-31T12:00:00Z)`}},
		{"no type", []string{without("a", "WARC-Type")}, []string{"0 field: no WARC-Type"}},
		{"no identifier", []string{without("a", "WARC-Record-ID")}, []string{"0 field: no WARC-Record-ID"}},
		{"an identifier that is none", []string{strings.Replace(a, "<urn:x:a>", "a", 1)},
			[]string{`0 field?: WARC-Record-ID "a" is no URI in angle brackets`}},
		{"no date", []string{without("a", "WARC-Date")}, []string{"0 field: no WARC-Date"}},
		{"a date that is none", []string{strings.Replace(a, "2026-11-20T", "2026-13-20T", 1)},
			[]string{`0 field: WARC-Date "2026-13-20T12:00:00Z" is no date (hint: 2026-01-31T12:00:00Z)`}},
		{"dates of any precision", []string{strings.Replace(a, "2026-11-20T12:00:00Z", "2026-11", 1) + strings.Replace(b, "12:00:00Z", "12:00:00.123456789Z", 1)}, nil},
		{"no address", []string{without("a", "WARC-Target-URI")}, []string{"0 field?: a resource without WARC-Target-URI"}},
		{"an address as wget has it", []string{strings.Replace(a, "http://example.com/a", "<http://example.com/a>", 1)},
			[]string{"0 field?: WARC-Target-URI in angle brackets"}},
		{"a revisit without profile", []string{strings.Replace(a, "resource", "revisit", 1)}, []string{"0 field?: a revisit without WARC-Profile"}},
		{"a version of the future", []string{strings.Replace(a, "WARC/1.1", "WARC/2.0", 1)}, []string{`0 field?: version "2.0" is not supported`}},
		{"two lengths", []string{with("a", "Content-Length: 10")}, []string{"0 field?: Content-Length is there 2 times"}},
		{"a wrong digest of the block", []string{with("a", "WARC-Block-Digest: "+Digest(nil))},
			[]string{"0 digest: WARC-Block-Digest is " + Digest(nil) + ", but that is not what the record holds"}},
		{"a wrong digest of the payload", []string{with("a", "WARC-Payload-Digest: sha1:x")},
			[]string{"0 digest: WARC-Payload-Digest is sha1:x, but that is not what the record holds"}},
		{"a digest of the payload that may be of what was cut off", []string{with("a", "WARC-Truncated: length", "WARC-Payload-Digest: "+Digest(nil))},
			[]string{"0 digest?: WARC-Payload-Digest is " + Digest(nil) + ", but that is not what the record holds"}},
		{"a digest of an unknown kind", []string{with("a", "WARC-Block-Digest: crc32:1")},
			[]string{`0 digest?: WARC-Block-Digest "crc32:1" has an algorithm that is not supported`}},
		{"two digests of a block", []string{with("a", "WARC-Block-Digest: "+Digest([]byte("block of a")), "WARC-Block-Digest: SHA-1:x")},
			[]string{"0 digest?: WARC-Block-Digest is there 2 times, and only the first is checked"}},
		{"a revisit with a part of a digest", []string{original + revisitOf("sha1:3I42H3", old)}, []string{
			fmt.Sprintf("%d digest?: WARC-Payload-Digest \"sha1:3I42H3\" is no digest of this algorithm", len(original)),
			fmt.Sprintf("%d reference?: the original is in none of the files: http://a/ of %s with payload sha1:3I42H3", len(original), old)}},
		{"a revisit in a file before that of its original", []string{revisitOf(Digest(nil), old), original}, nil},
		{"a revisit whose date the original does not have, but its digest", []string{original + revisitOf("SHA-1:"+strings.ToLower(Digest(nil)[5:]), newer)}, nil},
		{"a revisit that names a date", []string{original + revisitOf("", "2020-01-01T00:00:00.5Z")}, nil},
		{"a revisit of a capture without digest", []string{zip(asARC(t, capture("http://a/", old, 200, "", "x"))...), revisitOf(Digest(nil), old)}, nil},
		{"a revisit of another payload", []string{original + revisitOf(Digest([]byte("x")), old)},
			[]string{fmt.Sprintf("%d reference?: the original is in none of the files: http://a/ of %s with payload %s", len(original), old, Digest([]byte("x")))}},
		{"a revisit of another date", []string{original + revisitOf("", newer)},
			[]string{fmt.Sprintf("%d reference?: the original is in none of the files: http://a/ of %s with payload of any digest", len(original), newer)}},
		{"a revisit without original", []string{revisitOf(Digest(nil), old)},
			[]string{fmt.Sprintf("0 reference?: the original is in none of the files: http://a/ of %s with payload %s", old, Digest(nil))}},
		{"an identifier twice", []string{a + a}, []string{fmt.Sprintf("%d duplicate: the record at byte 0 has the same identifier", len(a))}},
		{"an identifier twice, in two files", []string{a, a}, []string{"+0 duplicate?: the record at byte 0 of x has the same identifier"}},
		{"references that lead somewhere", []string{with("a", "WARC-Concurrent-To: <urn:x:b>", "WARC-Refers-To: <urn:x:c>") + b, good("c")}, nil},
		{"references that lead nowhere", []string{b + with("a", "WARC-Concurrent-To: <urn:x:b>", "WARC-Concurrent-To: <urn:x:d>", "WARC-Refers-To: <urn:x:c>")}, []string{
			fmt.Sprintf("%d reference?: WARC-Concurrent-To <urn:x:d>: there is no such record", len(b)),
			fmt.Sprintf("%d reference?: WARC-Refers-To <urn:x:c>: there is no such record", len(b)),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, findings(t, c.files...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseClaim(t *testing.T) {
	block := []byte("block of a")
	one, two, five, three := sha1.Sum(block), sha256.Sum256(block), md5.Sum(block), sha512.Sum512(block)
	for label, sum := range map[string][]byte{"sha1": one[:], "SHA-1": one[:], "sha256": two[:], "sha-256": two[:], "md5": five[:], "sha512": three[:], "": one[:]} {
		for name, text := range map[string]string{
			"hexadecimal":      hex.EncodeToString(sum),
			"HEXADECIMAL":      strings.ToUpper(hex.EncodeToString(sum)),
			"base32":           base32.StdEncoding.EncodeToString(sum),
			"unpadded base32":  strings.TrimRight(base32.StdEncoding.EncodeToString(sum), "="),
			"lower-case":       strings.ToLower(base32.StdEncoding.EncodeToString(sum)),
			"base64":           base64.StdEncoding.EncodeToString(sum),
			"base64 for names": base64.RawURLEncoding.EncodeToString(sum),
		} {
			field := strings.TrimPrefix(label+":"+text, ":")
			v := Verifier{Report: func(f Finding) { t.Errorf("%s in %s: %+v", label, name, f) }}
			if err := v.File("x", strings.NewReader(with("a", "WARC-Block-Digest: "+field))); err != nil || v.Digests != 1 {
				t.Errorf("%s in %s: %d digests, %v", label, name, v.Digests, err)
			}
		}
	}
}

func TestVerifyChunkedPayload(t *testing.T) {
	const chunkedBody = "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n"
	exchange := func(head, body, digest string) string {
		block := head + body
		return record("response", "http://example.com/", old, block, "Content-Type", "application/http; msgtype=response", "WARC-Block-Digest", Digest([]byte(block)), payloadIs, digest)
	}
	const plainHead, chunkedHead = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n"
	for _, c := range []struct {
		name, file         string
		faults             int64
		chunked, dechunked int64
	}{
		{"no chunks", exchange(plainHead, "hello world", Digest([]byte("hello world"))), 0, 0, 0},
		{"bare newlines", exchange("HTTP/1.1 200 OK\n\n", "hello", Digest([]byte("hello"))), 0, 0, 0},
		{"with the chunks", exchange(chunkedHead, chunkedBody, Digest([]byte(chunkedBody))), 0, 1, 0},
		{"without the chunks", exchange(chunkedHead, chunkedBody, Digest([]byte("hello world"))), 0, 0, 1},
		{"neither", exchange(chunkedHead, chunkedBody, Digest([]byte("hello"))), 1, 0, 0},
		{"the header counts for nothing", exchange(plainHead, "hello", Digest([]byte(plainHead+"hello"))), 1, 0, 0},
		{"a header without end, and no payload", exchange("HTTP/1.1 200 OK\r\n", "", Digest(nil)), 0, 0, 0},
		{"no header, and all is payload", exchange("", "no http", Digest([]byte("no http"))), 0, 0, 0},
	} {
		for how, read := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r }, "a byte at a time": iotest.OneByteReader} {
			v := Verifier{Report: func(Finding) {}}
			if err := v.File("x", read(strings.NewReader(c.file))); err != nil {
				t.Fatal(err)
			}
			if v.Faults != c.faults || v.Chunked != c.chunked || v.Dechunked != c.dechunked {
				t.Errorf("%s, %s: %+v", c.name, how, v.Verified)
			}
		}
	}
}

func TestInvalidStatusesAreFaults(t *testing.T) {
	exchange := func(kind, block string) string {
		return record(kind, "http://a/", old, block, "WARC-Profile", "x", "Content-Type", "application/http; msgtype=response")
	}
	for _, kind := range []string{"response", "revisit"} {
		for _, line := range invalidStatusLines {
			want := []string{fmt.Sprintf("0 status: the response begins with %.40q, whose status is not 200 to 999", line)}
			if diff := cmp.Diff(want, findings(t, exchange(kind, line+"\r\nA: b\r\n\r\n"))); diff != "" {
				t.Errorf("%s %q: %s", kind, line, diff)
			}
		}
		for _, line := range []string{"HTTP/1.1 200 OK", "HTTP/1.0  200 OK", "HTTP/1.1 200", "HTTP/1.1 999 No", "ICY 200 OK", "<p>no header", "HTTP/1.1 404 " + strings.Repeat("long ", 100)} {
			if got := findings(t, exchange(kind, line+"\r\nA: b\r\n\r\n")); got != nil {
				t.Errorf("%s %q: %s", kind, line, got)
			}
		}
		if got := findings(t, exchange(kind, "HTTP/1.1 101 Switching Protocols\r\n\r\n")); len(got) != 1 || !strings.HasPrefix(got[0], "0 status?: ") {
			t.Errorf("%s 101: %s", kind, got)
		}
	}
	if got := findings(t, exchange("request", "HTTP/1.1 -20\r\n\r\n")); got != nil {
		t.Errorf("a request: %s", got)
	}
	arc := arcHead() + "http://a/ 192.0.2.1 20200101000000 text/html 16\nHTTP/1.1 -20\r\n\r\n\n"
	if got := findings(t, arc); len(got) != 1 || !strings.Contains(got[0], " status: ") {
		t.Errorf("ARC: %s", got)
	}
	v := Verifier{Report: func(Finding) {}}
	if err := v.File("x", strings.NewReader(exchange("response", "HTTP/1.1 -20\r\n\r\n"))); err != nil || v.Faults != 1 || v.Repairable != 0 {
		t.Errorf("%+v, %v", v.Verified, err)
	}
}

func TestVerifyRepairable(t *testing.T) {
	for _, c := range []struct {
		about, file string
		mended      bool
	}{
		{"a torn WARC file", good("a") + raw("b", "b", 7), true},
		{"a torn ARC file", arcHead() + "http://a/ 192.0.2.1 20200101000000 text/html 7\nx", false},
		{"no archive", "<html>\n", false},
	} {
		v := Verifier{Report: func(Finding) {}}
		if err := v.File("x", strings.NewReader(c.file)); err != nil {
			t.Fatal(err)
		}
		if v.Faults == 0 || v.Repairable > 0 != c.mended || c.mended && v.Repairable != v.Faults {
			t.Errorf("%s: %+v", c.about, v.Verified)
		}
	}
}

func TestVerifySharedArchives(t *testing.T) {
	for name, want := range map[string]Verified{
		"suites/warcio/test/data/example.warc":                        {Records: 6, Bytes: 5120, Digests: 3, Unchecked: 4},
		"suites/warcio/test/data/example.warc.gz":                     {Records: 6, Bytes: 3816, Digests: 7, Unchecked: 2},
		"suites/warcio/test/data/example-bad.warc.gz.bad":             {Records: 6, Bytes: 1950, Faults: 1, Digests: 2, Unchecked: 4},
		"suites/warcio/test/data/example-bad-non-chunked.warc.gz":     {Records: 6, Bytes: 2113, Faults: 2, Digests: 2, Unchecked: 4},
		"suites/warcio/test/data/example-digest.warc":                 {Records: 4, Bytes: 3672, Faults: 4, Warnings: 1, Digests: 7},
		"suites/warcio/test/data/example-iana.org-chunked.warc":       {Records: 3, Bytes: 8831, Digests: 3, Chunked: 1, Unchecked: 1},
		"suites/warcio/test/data/example-resource.warc.gz":            {Records: 3, Bytes: 1779, Digests: 2, Unchecked: 2},
		"suites/warcio/test/data/example-space-in-target-uri.warc.gz": {Records: 2, Bytes: 583, Digests: 1, Unchecked: 1},
		"suites/warcio/test/data/example-trunc.warc":                  {Records: 4, Bytes: 3370, Faults: 1, Warnings: 1, Unchecked: 3},
		"suites/warcio/test/data/example-wget-bad-target-uri.warc.gz": {Records: 6, Bytes: 3267, Warnings: 4, Digests: 7},
		"suites/warcio/test/data/example-wrong-chunks.warc.gz":        {Records: 2, Bytes: 1575, Faults: 2, Warnings: 1, Digests: 3},
		"suites/warcio/test/data/post-test.warc.gz":                   {Records: 6, Bytes: 3593, Digests: 9},
		"suites/archives/aut-example.warc.gz":                         {Records: 822, Bytes: 2496731, Digests: 261, Unchecked: 561},
		"webs/modern.warc.gz":                                         {Records: 312, Bytes: 10461979, Digests: 312},
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f := testfile.Open(t, testfile.Shared(t, name))
			var all []Finding
			v := Verifier{Report: func(x Finding) { all = append(all, x) }}
			if err := v.File(filepath.Base(name), f); err != nil {
				t.Fatal(err)
			}
			v.Close()
			want.Repairable = want.Faults // all are WARC files
			if diff := cmp.Diff(want, v.Verified); diff != "" {
				t.Errorf("%s\n%+v", diff, all)
			}
		})
	}
}
