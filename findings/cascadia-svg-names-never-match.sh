#!/usr/bin/env bash
# Package:  Go modules github.com/andybalholm/cascadia v1.3.3, golang.org/x/net v0.47.0 (html)
# Input:    a page with <svg><linearGradient>…</linearGradient><foreignObject><p>…; the selectors
#           "linearGradient" and "foreignObject p"
# Guess:    they match, as in browsers: html.Parse gives SVG elements their mixed-case names, as
#           the HTML Standard says, and a selector has the same name.
# Seen:     they match nothing, in lower case neither: cascadia puts every name in a selector in
#           lower case, and compares it with the mixed-case name. "svg > *" matches both elements.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

func main() {
	page := `<svg><linearGradient></linearGradient><foreignObject><p>text</p></foreignObject></svg>`
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		panic(err)
	}
	for _, s := range []string{"linearGradient", "lineargradient", "foreignObject p", "svg > *", "svg p"} {
		fmt.Printf("%d elements match %s\n", len(cascadia.QueryAll(doc, cascadia.MustCompile(s))), s)
	}
}
GO
go mod init example >/dev/null 2>&1
go get github.com/andybalholm/cascadia@v1.3.3 golang.org/x/net@v0.47.0 >/dev/null 2>&1
go run . | tee seen
[[ $(grep -c '^0 elements' seen) == 3 && $(grep -cE '^2 elements match svg > |^1 elements match svg p' seen) == 2 ]]
