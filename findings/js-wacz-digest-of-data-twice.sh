#!/usr/bin/env bash
# Package:  npm @harvard-lil/js-wacz 0.1.6
# Input:    a WARC file of one record, packed by `js-wacz create`
# Guess:    the "hash" of the archive in datapackage.json is sha256sum of the file in the WACZ, as the
#           WACZ specification says, and as it is for the index and the list of pages.
# Seen:     it is the SHA-256 of the data given twice. The file is read by a stream that both calls
#           hash.update for each chunk and is piped into the same hash. The digests of the other files
#           are right, because they are computed from buffers. So whoever verifies a package of this
#           program finds every archive in it damaged, although all bytes are right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . @harvard-lil/js-wacz@0.1.6 >/dev/null

body='<html><head><title>T</title></head><body><p>hello</p></body></html>'
printf -v block 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s' ${#body} "$body"
printf '%s\r\n' WARC/1.1 'WARC-Type: response' 'WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>' \
	'WARC-Date: 2026-11-01T00:00:00Z' 'WARC-Target-URI: http://example.com/' \
	'Content-Type: application/http; msgtype=response' "Content-Length: ${#block}" '' "$block" '' >a.warc
node node_modules/@harvard-lil/js-wacz/bin/cli.js create --log-level error -f a.warc -o a.wacz

python3 - <<'PY' | tee seen
import hashlib, json, zipfile
z = zipfile.ZipFile("a.wacz")
for r in json.loads(z.read("datapackage.json"))["resources"]:
    data = z.read(r["path"])
    of = {"sha256:" + hashlib.sha256(data * n).hexdigest(): word for n, word in ((1, "once"), (2, "twice"))}
    print(r["path"] + ": the digest is of the data", of.get(r["hash"], "in another form"))
PY
grep -q '^archive/a.warc: .* twice$' seen
grep -q '^pages/pages.jsonl: .* once$' seen
