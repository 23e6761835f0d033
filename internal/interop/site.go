package interop

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// A page is a document of the site.
type page struct {
	path    string
	text    string // before codings
	gzip    bool
	chunked bool
}

// pages returns the pages of the site. The first two have the same text, the first one in chunks.
func pages() []page {
	text := func(name string) string {
		return fmt.Sprintf("<!doctype html><title>%s</title>\n%s", name, strings.Repeat("<p>A page of "+name+".</p>\n", 200))
	}
	return []page{
		{path: "/chunked", text: text("chunks"), chunked: true},
		{path: "/same", text: text("chunks")},
		{path: "/plain", text: text("plain")},
		{path: "/gzip", text: text("gzip"), gzip: true},
		{path: "/gzip-chunked", text: text("gzip in chunks"), gzip: true, chunked: true},
		{path: "/empty"},
	}
}

// body returns the body without chunks: the payload.
func (p page) body() []byte {
	if !p.gzip {
		return []byte(p.text)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, p.text)
	w.Close()
	return b.Bytes()
}

// ServeHTTP sends a page; with an ETag that the client has, only its head.
func (p page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("ETag", `"1"`)
	if r.Header.Get("If-None-Match") == `"1"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if p.gzip {
		h.Set("Content-Encoding", "gzip")
	}
	body := p.body()
	if !p.chunked {
		h.Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body)
		return
	}
	for len(body) > 0 {
		n := min(len(body), 100)
		w.Write(body[:n])
		w.(http.Flusher).Flush()
		body = body[n:]
	}
}

// digest returns the digest of a payload in the form of WARC files.
func digest(body []byte) string {
	sum := sha1.Sum(body)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}
