#!/usr/bin/env bash
# Package:  npm @harvard-lil/js-wacz 0.1.6
# Input:    a WARC file of two HTML pages that differ only in the tags <html>, <head> and <body>, which the
#           HTML standard (13.1.2.4, optional tags) allows to be omitted; `js-wacz create` without --pages
# Guess:    both pages are in pages/pages.jsonl: each is text/html with status 200, has a title, and has a body
#           element in every browser, because the parser of the HTML standard adds it.
# Seen:     only the page with the tag <body> is listed. Pages are detected by the selector "body > *" on the
#           tree of node-html-parser, which adds no elements. The other page can be opened by its address only.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . @harvard-lil/js-wacz@0.1.6 >/dev/null

# response writes a record: number, address, body.
response() {
	local block
	printf -v block 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s' ${#3} "$3"
	printf '%s\r\n' WARC/1.1 'WARC-Type: response' "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000$1>" \
		'WARC-Date: 2026-11-01T00:00:00Z' "WARC-Target-URI: $2" \
		'Content-Type: application/http; msgtype=response' "Content-Length: ${#block}" '' "$block" ''
}
{
	response 1 http://example.com/tags '<!doctype html><html><head><title>With tags</title></head><body><p>hello</p></body></html>'
	response 2 http://example.com/no-tags '<!doctype html><title>Without tags</title><p>hello</p>'
} >a.warc
node node_modules/@harvard-lil/js-wacz/bin/cli.js create --log-level error -f a.warc -o a.wacz

python3 -c 'import zipfile; print(zipfile.ZipFile("a.wacz").read("pages/pages.jsonl").decode())' | tee seen
grep -q '"url": *"http://example.com/tags"' seen
if grep -q no-tags seen; then exit 1; fi
