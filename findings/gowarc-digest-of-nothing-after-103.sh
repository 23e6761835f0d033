#!/usr/bin/env bash
# Package:  github.com/internetarchive/gowarc v0.8.96
# Input:    a page that a server sends after an interim response, 103 Early Hints (RFC 8297), which any client of
#           HTTP/1.1 must be able to read (RFC 9110, 15.2); a page without it for comparison
# Guess:    the client returns the page, so WARC-Payload-Digest is that of the page, and both digests are the same.
# Seen:     the client returns the page, and the record holds both heads and the page; but the digest is that of
#           no bytes at all, sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ. The library reads the block by
#           http.ReadResponse, which ends at the first head, and responses of status 103 have no body. All such
#           pages have one digest, so whoever looks for duplicates by digest takes them for the same page.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod

cat >main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/internetarchive/gowarc"
)

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/with-103" {
			w.Header().Set("Link", "</style.css>; rel=preload; as=style")
			w.WriteHeader(http.StatusEarlyHints)
		}
		io.WriteString(w, "<!doctype html><title>T</title><p>hello</p>")
	}))
	settings := warc.NewRotatorSettings()
	settings.OutputDirectory, settings.Compression = "archive", ""
	client, err := warc.NewWARCWritingHTTPClient(warc.HTTPClientSettings{RotatorSettings: settings, TempDir: "temporary"})
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for err := range client.ErrChan {
			log.Fatal(err.Err)
		}
	}()
	for _, path := range []string{"/without-103", "/with-103"} {
		resp, err := client.Get(server.URL + path)
		if err != nil {
			log.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			log.Fatal(err)
		}
		resp.Body.Close()
		fmt.Printf("%s: the client returns %d bytes, status %d\n", path, len(body), resp.StatusCode)
	}
	client.Close()
	files, err := filepath.Glob("archive/*.warc")
	if err != nil || len(files) != 1 {
		log.Fatal(files, err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		log.Fatal(err)
	}
	reader, err := warc.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	for {
		record, err := reader.ReadRecord()
		if err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if record.Header.Get("WARC-Type") == "response" {
			fmt.Println(record.Header.Get("WARC-Target-URI")[len(server.URL):], record.Header.Get("WARC-Payload-Digest"))
		}
	}
}
GO
go mod init example >/dev/null 2>&1
go get github.com/internetarchive/gowarc@v0.8.96 >/dev/null 2>&1
go run . | tee seen
grep -q '^/with-103: the client returns 43 bytes, status 200$' seen
grep -q '^/with-103 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ$' seen
grep -q '^/without-103 sha1:' seen
if grep -q '^/without-103 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ$' seen; then exit 1; fi
