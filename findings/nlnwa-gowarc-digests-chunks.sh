#!/usr/bin/env bash
# github.com/nlnwa/gowarc/v3 3.1.0 (Go): the payload of a response in chunks includes the chunks. A record whose
# WARC-Payload-Digest is that of the body without chunks has "wrong digest" for it, and the digests that it
# adds to such records are of the framed body.
#
# Guess: WARC 1.1, section 6.3.2, calls the payload of a response its entity-body, which RFC 2616 defines as what
# is left when the transfer coding is removed; internetarchive/gowarc 0.8.96 and Heritrix (since September 2026) compute it so.
# Two archives of the same page by the two Go libraries of nearly the same name cannot be deduplicated.
#
# Needs Go. Ends with 1 if a library behaves otherwise, with 2 if it could not be run.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module finding

go 1.26.0
MOD
cat >main.go <<'GO'
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"

	ia "github.com/internetarchive/gowarc"
	nl "github.com/nlnwa/gowarc/v3"
)

const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

// added returns the payload digest that nlnwa/gowarc adds to the record of a block.
func added(block string) string {
	b := nl.NewRecordBuilder(nl.Response, nl.WithAddMissingDigest(true), nl.WithDefaultDigestAlgorithm("sha1"))
	b.WriteString(block)
	b.AddWarcHeader(nl.WarcDate, "2024-05-01T10:00:00Z")
	b.AddWarcHeader(nl.WarcTargetURI, "http://h.example/")
	b.AddWarcHeader(nl.ContentType, "application/http;msgtype=response")
	rec, _, err := b.Build()
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	return rec.WarcHeader().Get(nl.WarcPayloadDigest)
}

// computed returns the payload digest that internetarchive/gowarc computes for a block.
func computed(block string) string {
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(block)), nil)
	if err != nil {
		os.Exit(2)
	}
	d, err := ia.GetDigest(resp.Body, ia.SHA1)
	if err != nil {
		os.Exit(2)
	}
	return d
}

func main() {
	one, two := head+"a\r\n0123456789\r\n0\r\n\r\n", head+"5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n"
	framed, _ := ia.GetDigest(bytes.NewReader([]byte(one[len(head):])), ia.SHA1)
	fmt.Println("nlnwa/gowarc          ", added(one), added(two))
	fmt.Println("internetarchive/gowarc", computed(one), computed(two))
	if computed(one) != computed(two) || added(one) == added(two) || added(one) != framed {
		os.Exit(1)
	}
}
GO
go get github.com/internetarchive/gowarc@v0.8.96 github.com/nlnwa/gowarc/v3@v3.1.0 >&2 2>/dev/null || exit 2
go mod tidy >&2 2>/dev/null || exit 2
go run .
