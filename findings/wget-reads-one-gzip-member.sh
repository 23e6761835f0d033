#!/usr/bin/env bash
# Package:  Debian wget 1.21.3-1+deb12u1 (GNU Wget 1.21.3)
# Input:    a page with Content-Encoding: gzip and a right Content-Length, whose body has two gzip members, as RFC 1952,
#           2.2 allows ("a series of members") and servers send that compress part by part; wget --compression=auto
# Guess:    wget writes what gzip -d makes of the body, or fails.
# Seen:     it writes the first member only, without a warning, and ends with 0. (curl 7.88 fails with 23 and leaves the first
#           member too; Chromium 156 shows only the first without a warning.) A crawl has a part of the page, and
#           nothing says so.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq wget=1.21.3-1+deb12u1
dpkg-deb -x wget_*.deb .

cat >server.py <<'PY'
import gzip, http.server
body = gzip.compress(b"first member, ") + gzip.compress(b"second member\n")
open("body.gz", "wb").write(body)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
exec {port}< <(exec python3 server.py)
server=$!
read -r -u "$port" number

./usr/bin/wget --no-config --no-proxy --no-verbose --tries=1 --timeout=10 --compression=auto -O page "http://127.0.0.1:$number/"
printf 'gzip -d: %s\n' "$(gzip -dc body.gz)"
printf 'wget:    %s\n' "$(cat page)"
[[ $(gzip -dc body.gz) == 'first member, second member' ]]
[[ $(cat page) == 'first member, ' ]]
