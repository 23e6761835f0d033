#!/usr/bin/env bash
# @harvard-lil/js-wacz 0.1.6 (npm), command js-wacz create: in datapackage.json the hash of each archive is the
# SHA-256 of its content written twice in a row. The hashes of the index and of the list of pages, which are
# made in memory, are right.
#
# Guess: "hash" of a resource is the SHA-256 of that file (WACZ 1.1.1, section 5.2.4), as the size beside it is
# that of the file. Whoever verifies such a package finds every archive damaged.
#
# Needs npm, node, python3 and gzip. Ends with 1 if js-wacz behaves otherwise, with 2 if it could not be run.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @harvard-lil/js-wacz@0.1.6 >&2 || exit 2
printf 'WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\nWARC-Date: 2024-05-01T10:00:00Z\r\nWARC-Target-URI: http://h.example/\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>hello\n\r\n\r\n' | gzip -n >a.warc.gz
node_modules/.bin/js-wacz create -f a.warc.gz -o a.wacz >/dev/null 2>&1 || exit 2
python3 - <<'PY'
import hashlib, json, sys, zipfile
z = zipfile.ZipFile("a.wacz")
for r in json.loads(z.read("datapackage.json"))["resources"]:
    data = z.read(r["path"])
    once, twice = ("sha256:" + hashlib.sha256(data * n).hexdigest() for n in (1, 2))
    seen = "once" if r["hash"] == once else "twice" if r["hash"] == twice else "other"
    print(r["path"], r["bytes"] == len(data), seen)
    if seen != ("twice" if r["path"].startswith("archive/") else "once"):
        sys.exit(1)
PY
