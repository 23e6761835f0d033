#!/usr/bin/env bash
# Package:  Go module github.com/temoto/robotstxt v1.1.2, npm robots-parser 3.0.1
# Input:    the rule and the address of an example in RFC 9309, section 2.2.2: "Disallow:
#           /foo/bar/%62%61%7A" and /foo/bar/baz; and the same for /%7Ejoe/ and /~joe/
# Guess:    the rule applies: escapes of unreserved characters are decoded before paths are
#           compared, as the RFC says ("match") and as Python's urllib.robotparser does.
# Seen:     both allow the address. A crawler that decodes such escapes in addresses (RFC 3986,
#           section 6.2.2.2) requests what the site has excluded.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/temoto/robotstxt"
)

func main() {
	for _, c := range [][2]string{{"/foo/bar/%62%61%7A", "/foo/bar/baz"}, {"/%7Ejoe/", "/~joe/"}, {"/~joe/", "/%7Ejoe/"}} {
		r, err := robotstxt.FromString("User-agent: *\nDisallow: " + c[0] + "\n")
		if err != nil {
			panic(err)
		}
		fmt.Println(c[0], c[1], r.TestAgent(c[1], "crawler"))
	}
}
GO
go mod init example >/dev/null 2>&1
go get github.com/temoto/robotstxt@v1.1.2 >/dev/null 2>&1
npm install --silent --no-audit --no-fund robots-parser@3.0.1 >/dev/null
cat >main.js <<'JS'
const parse = require("robots-parser");
for (const [rule, path] of [["/foo/bar/%62%61%7A", "/foo/bar/baz"], ["/%7Ejoe/", "/~joe/"], ["/~joe/", "/%7Ejoe/"]]) {
  const robots = parse("http://site.example/robots.txt", `User-agent: *\nDisallow: ${rule}\n`);
  console.log(rule, path, robots.isAllowed("http://site.example" + path, "crawler"));
}
JS
cat >main.py <<'PY'
import urllib.robotparser
for rule, path in ("/foo/bar/%62%61%7A", "/foo/bar/baz"), ("/%7Ejoe/", "/~joe/"), ("/~joe/", "/%7Ejoe/"):
    robots = urllib.robotparser.RobotFileParser()
    robots.parse(["User-agent: *", "Disallow: " + rule])
    print(rule, path, str(robots.can_fetch("crawler", "http://site.example" + path)).lower())
PY
go run . >temoto
node main.js >node
python3 main.py >python
sed 's/^/temoto\/robotstxt: allowed: /' temoto
sed 's/^/robots-parser:     allowed: /' node
sed 's/^/urllib (Python):   allowed: /' python
[[ $(grep -c ' true$' temoto) == 3 && $(grep -c ' true$' node) == 3 && $(grep -c ' false$' python) == 3 ]]
