#!/usr/bin/env bash
# Package:  npm warcio 2.4.11 (warcio.js)
# Input:    a WARC/1.1 file with "WARC-Date: 2016-11", which the standard allows (annex A: precision
#           of years to nanoseconds); warcio cdx-index
# Guess:    the timestamp in the line of the CDXJ index has 14 digits, as in all lines of the
#           format, for instance 20161101000000.
# Seen:     it has six, 201611. Readers that expect 14 digits, or compare timestamps as numbers,
#           take it for the year 20 or for an invalid line.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund warcio@2.4.11 >/dev/null
block=$'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello'
printf '%s\r\n' WARC/1.1 'WARC-Type: response' 'WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>' \
	'WARC-Date: 2016-11' 'WARC-Target-URI: http://example.com/' \
	'Content-Type: application/http; msgtype=response' "Content-Length: ${#block}" '' "$block" '' >a.warc
node_modules/.bin/warcio cdx-index a.warc | tee seen
[[ $(cat seen) == 'com,example)/ 201611 {'* ]]
