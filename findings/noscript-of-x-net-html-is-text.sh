#!/usr/bin/env bash
# Package:  Go modules github.com/PuerkitoBio/goquery v1.11.0, golang.org/x/net v0.47.0 (html)
# Input:    <noscript><a href="/next">next page</a> <img src="/a.jpg"></noscript>, which sites write
#           for clients without scripts, as crawlers are
# Guess:    Find("noscript a") and Find("img") find them: goquery runs no scripts.
# Seen:     both find nothing: html.Parse parses as a browser whose scripts are enabled, so the
#           content of noscript is one text node. html.ParseOptionEnableScripting(false) changes
#           this; goquery.NewDocumentFromReader has no such option. Text() has the tags in it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

func main() {
	page := `<body><noscript><a href="/next">next page</a> <img src="/a.jpg"></noscript></body>`
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		panic(err)
	}
	fmt.Println("goquery:", doc.Find("noscript a").Length(), "links,", doc.Find("img").Length(), "images; text:", doc.Text())
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		panic(err)
	}
	doc = goquery.NewDocumentFromNode(root)
	fmt.Println("without scripting:", doc.Find("noscript a").Length(), "links,", doc.Find("img").Length(), "images; text:", doc.Text())
}
GO
go mod init example >/dev/null 2>&1
go get github.com/PuerkitoBio/goquery@v1.11.0 golang.org/x/net@v0.47.0 >/dev/null 2>&1
go run . | tee seen
[[ $(sed -n 1p seen) == 'goquery: 0 links, 0 images; text: <a href'* && $(sed -n 2p seen) == 'without scripting: 1 links, 1 images; text: next page '* ]]
