#!/usr/bin/env bash
# Packages: github.com/internetarchive/gowarc v0.8.96, github.com/nlnwa/gowarc/v3 v3.1.0, npm warcio 2.4.11
# Input:    the WARC file that the first library writes of a page with Transfer-Encoding: chunked
# Guess:    two Go libraries with the same name, for the same standard, agree on WARC-Payload-Digest. WARC 1.1, 5.9
#           and 6.3: the payload of application/http is the entity-body, which in HTTP (RFC 2616, 7.2, that it
#           refers to) is what is left when the transfer coding is removed. So all compute it without chunks.
# Seen:     only internetarchive/gowarc does. nlnwa/gowarc and warcio.js hash the chunks with their sizes, and so
#           nlnwa/gowarc says of each page in chunks by the first that its payload digest is wrong. The
#           block digests are the same. One capture has two payload digests, and deduplication across
#           archives of both fails without an error.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod
npm install --silent --no-audit --no-fund --prefix . warcio@2.4.11 >/dev/null

cat >main.go <<'GO'
package main

import (
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"

	ia "github.com/internetarchive/gowarc"
	nlnwa "github.com/nlnwa/gowarc/v3"
)

const page = "<!doctype html><title>T</title><p>hello</p>"

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, page[:20])
		w.(http.Flusher).Flush() // begins the response, in chunks
		io.WriteString(w, page[20:])
	}))
	settings := ia.NewRotatorSettings()
	settings.OutputDirectory, settings.Compression = "archive", ""
	client, err := ia.NewWARCWritingHTTPClient(ia.HTTPClientSettings{RotatorSettings: settings, TempDir: "temporary"})
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for err := range client.ErrChan {
			log.Fatal(err.Err)
		}
	}()
	resp, err := client.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	client.Close()

	sum := sha1.Sum([]byte(page))
	fmt.Println("body without chunks:    sha1:" + base32.StdEncoding.EncodeToString(sum[:]))
	files, err := filepath.Glob("archive/*.warc")
	if err != nil || len(files) != 1 {
		log.Fatal(files, err)
	}
	reader, err := nlnwa.NewWarcFileReader(files[0], 0)
	if err != nil {
		log.Fatal(err)
	}
	for record, err := range reader.Records() {
		if err != nil {
			log.Fatal(err)
		}
		if record.WarcRecord.Type() == nlnwa.Response {
			fmt.Println("internetarchive/gowarc:", record.WarcRecord.WarcHeader().Get("WARC-Payload-Digest"))
			fmt.Println("nlnwa/gowarc:          ", record.Validation)
		}
	}
}
GO
cat >digest.mjs <<'JS'
import { createReadStream } from "node:fs";
import { WARCParser, WARCSerializer } from "warcio";
for await (const record of new WARCParser(createReadStream(process.argv[2]))) {
  if (record.warcType != "response") continue;
  await new WARCSerializer(record, { digest: { algo: "sha-1", prefix: "sha1:", base32: true } }).digestRecord({ recompute: true });
  console.log("warcio.js:             ", record.warcPayloadDigest);
}
JS
go mod init example >/dev/null 2>&1
go get github.com/internetarchive/gowarc@v0.8.96 github.com/nlnwa/gowarc/v3@v3.1.0 >/dev/null 2>&1
{ go run . && node digest.mjs archive/*.warc; } | tee seen

# value prints the digest in the line of a name.
value() { sed -nE "s|^$1: +(.*computed: )?(sha1:[A-Z2-7]{32}).*|\2|p" seen; }
body=$(value 'body without chunks')
[[ $(value internetarchive/gowarc) == "$body" ]]
[[ $(value nlnwa/gowarc) == sha1:* && $(value nlnwa/gowarc) != "$body" ]]
[[ $(value warcio.js) == "$(value nlnwa/gowarc)" ]]
