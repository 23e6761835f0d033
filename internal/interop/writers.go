package interop

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	ia "github.com/internetarchive/gowarc"
	nlnwa "github.com/nlnwa/gowarc/v3"
)

// writeIA archives URLs by internetarchive/gowarc, with a compression: gzip, zstd or none.
func writeIA(dir, compression string, urls []string) error {
	rotator := ia.NewRotatorSettings()
	rotator.OutputDirectory, rotator.Prefix, rotator.Compression = dir, "ia", compression
	client, err := ia.NewWARCWritingHTTPClient(ia.HTTPClientSettings{RotatorSettings: rotator, TempDir: filepath.Join(dir, "temporary")})
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		var first error
		for err := range client.ErrChan {
			if first == nil {
				first = err.Err
			}
		}
		failed <- first
	}()
	for _, u := range urls {
		written := make(chan struct{}, 1)
		req, err := http.NewRequestWithContext(ia.WithFeedbackChannel(context.Background(), written), http.MethodGet, u, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		resp.Body.Close()
		<-written
	}
	client.Close()
	return <-failed
}

// writeNLNWA archives URLs by nlnwa/gowarc, which has no client: the responses are received here.
func writeNLNWA(dir string, compress bool, urls []string) error {
	w := nlnwa.NewWarcFileWriter(nlnwa.WithFileNameGenerator(&nlnwa.PatternNameGenerator{Directory: dir, Prefix: "nlnwa-"}), nlnwa.WithCompression(compress),
		nlnwa.WithAddWarcConcurrentToHeader(true), nlnwa.WithWarcInfoFunc(func(b nlnwa.WarcRecordBuilder) error {
			_, err := b.WriteString("software: gowarc\r\n")
			return err
		}))
	for _, address := range urls {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", u.Path, u.Host)
		response, err := exchange(u.Host, request)
		if err != nil {
			return err
		}
		now := time.Now()
		var records []nlnwa.WarcRecord
		for _, part := range []struct {
			kind  nlnwa.RecordType
			block string
		}{{nlnwa.Response, response}, {nlnwa.Request, request}} {
			b := nlnwa.NewRecordBuilder(part.kind, nlnwa.WithAddMissingDigest(true), nlnwa.WithDefaultDigestAlgorithm("sha1"), nlnwa.WithStrictValidation())
			if _, err := b.WriteString(part.block); err != nil {
				return err
			}
			b.AddWarcHeaderTime(nlnwa.WarcDate, now)
			b.AddWarcHeader(nlnwa.WarcTargetURI, address)
			b.AddWarcHeader(nlnwa.ContentType, "application/http;msgtype="+part.kind.String())
			record, _, err := b.Build()
			if err != nil {
				return err
			}
			records = append(records, record)
		}
		for _, result := range w.Write(records...) {
			if result.Err != nil {
				return result.Err
			}
		}
	}
	return w.Close()
}

// exchange sends a request and returns the bytes of the response.
func exchange(host, request string) (string, error) {
	c, err := net.Dial("tcp", host)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

// writeWget archives URLs by wget or wget2.
func writeWget(program, dir string, urls []string, options ...string) error {
	args := append(options, "--no-verbose", "--warc-file="+filepath.Join(dir, "wget"), "--output-document="+filepath.Join(dir, "out"))
	out, err := exec.Command(program, append(args, urls...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// packJS packs archives by npm's js-wacz.
func packJS(program, out, archives string) error {
	b, err := exec.Command("node", program, "create", "--log-level", "error", "-f", archives, "-o", out).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, b)
	}
	return nil
}
