package frontier

// manual is what frontier -h prints.
const manual = `
frontier - keep the durable queue of a crawl

Usage: frontier COMMAND -store DIR [flags] [FILE...]

    add           put records, or plain URLs, into the store
    next          lease the best addresses and print them
    serve         do add and next continuously, as long as the crawl lasts
    stats         count what the store holds
    skipped       print the URLs that are not fetched, and why
    export        print every URL as a record, with its state
    import        add the output of export, or another crawler's dump or list
    reprioritise  change the priorities of waiting URLs
    forget        remove URLs, hosts or prefixes from the store
    lineage       print where a URL came from
    compact       remove replaced records from the log
    check         verify the log, and rebuild the index

In:   add, serve and import: addresses and outcomes (records with status_code or
      error), or plain lines with a URL each; reprioritise and forget: addresses
Out:  next and serve: addresses; skipped, export and lineage: records with their state;
      stats, compact and check: one JSON object

Once add exits with 0, its records survive kill -9 and power loss. Neither the order
nor the repetition of records matters. frontier COMMAND -h is the manual of a command.

Example:

    frontier add -store crawl < seeds.txt
    frontier next -store crawl -n 20 -generation 1 | fetch -archive web.warc.gz

Exit status: 0 done, 1 failed (check: something is wrong), 2 misuse, 3 disk full,
4 nothing is due (next), 130 and 143 interrupted; records already read by add are
durable.
`

const addManual = `
frontier add - add addresses and outcomes to a store

Usage: frontier add -store DIR [flags] [FILE...] < records

In:   records, or plain lines with a URL each, which are seeds: they are leased in
      this order, before all other addresses; # begins a comment
Out:  nothing; counts on stderr

Add creates the store if there is none. Once it exits with 0, all records survive
kill -9 and power loss. The priority of a URL is that of the latest generation that
proposed it; priority null withdraws the URL. A final outcome makes it visited or
skipped (see next -recrawl). Queries without url are ignored. Outcomes of more than
512 KiB are shortened: fields that nothing depends on are dropped, headers first.
With -traps add excludes crawler traps; see frontier skipped.

These rules say which URLs belong to the crawl; add excludes the others. They are
flags, or lines of a file (-scope FILE), where # begins a comment:

    include PATTERN  exclude PATTERN  the last one that matches a URL decides; without
                     a match it belongs to the crawl unless there is an include rule
    same-host        the hosts of the seeds; www. is ignored, the port is not
    same-site        the registrable domains of the seeds, as example.co.uk
    scheme https     http or https
    depth 3          at most 3 links away from a seed

The last four are limits: all must hold, in whatever line of a file they are. In a file
same-host and same-site may have a name instead of the seeds. +PATTERN means include PATTERN,
-PATTERN exclude, and a bare SURT prefix include. Patterns:

    example.org  *.example.org  example.org:8080     hosts; *.example.org also
                                                     matches example.org
    example.org/docs/*  https://example.org/*        a whole path with its query, with or
    /docs/*  */docs/*                                without a host; * is any text
    *                                                every URL
    ext:jpg,png                                      file extensions, in any case
    re:EXPR                                          a regular expression of Go, anywhere
                                                     in the URL
    http://(org,example,  (org,example,)/docs        SURT prefixes, for http and https
    (org,example,:8080)/  (127.0.0.1:8080)/          the same with a port

Seeds need no include rule, and depth does not apply to them; exclude rules and the
scheme do. Add the seeds first, or together with the other URLs. frontier skipped lists
what is out of scope. Give fetch a scope, too: redirects lead anywhere.

Example:

    frontier add -store crawl < seeds.txt
    frontier add -store crawl -same-site -depth 5 -exclude 'ext:jpg,png' < seeds.txt
    evolve -strategy niche -state crawl/evolve < scored.ndjson | frontier add -store crawl

Exit status: 0 done, 1 failed (also: no line has a valid address), 2 misuse, 3 disk
full, 130 and 143 interrupted; records already read are durable.
`

const importManual = `
frontier import - add the output of export or of another crawler to a store

Usage: frontier import -store DIR [-format F] [flags] [FILE...] < lines

In:   -format ndjson: records, or plain lines with a URL each; the same as add
      -format url-frontier: what the client of a url-frontier dumps (DumpURLs)
      -format list: plain URLs, a Heritrix journal (frontier.recover.gz) or
      crawl.log, results of katana -jsonl, JSON objects with url (Scrapy), mixed
Out:  nothing; counts on stderr

In a dump of a url-frontier, known URLs with a date wait until that date; known URLs without
one become visited (with the fetch.statusCode or error in their metadata, or else status
200); discovered URLs wait. Metadata with the name of a record field are stored in that
field; other metadata, key, crawl and creation date are kept for export. In a journal, "Fs"
becomes visited and "Ff" waits, as when Heritrix recovers. In crawl.log a status is an
outcome, -9998 is robots, and other negative numbers leave the URL waiting. Lines that are
not about an address (dns:, comments) are counted as passed.

Example:

    frontier export -store old | frontier import -store new
    frontier import -store new -format url-frontier dump.json.gz
    frontier import -store new -format list crawl.log

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted;
records already read are durable.
`

const nextManual = `
frontier next - lease the best addresses that are due

Usage: frontier next -store DIR -n N [-generation G] [flags]

In:   nothing
Out:  addresses in the order of choice: highest priority first, then by URL (but see
      -fair), with all parents and the retries so far

The addresses are leased: with -generation until a later generation is requested,
without it for the time of -lease. An address whose outcome has not been added by
then is leased again. Requesting the same generation again prints the same bytes, so
a crawl that was killed can repeat it.

With -fair host no site can fill a batch. The next address is always the one with the
highest quotient priority / (1 + n), where n is the number of addresses of its host
in the batch so far. So hosts that have enough addresses get a share in proportion to
their priorities. -fair niche does the same for niches; an address without a niche is
in the niche of its host. -per-host and -per-niche apply in addition.

With -horizon D next also leases addresses that become due, or whose host becomes due,
within D. Their not_before says when; fetch waits until then.

With -include and the other rules of frontier add, next excludes URLs that are out of
scope and were added by other commands since the last batch.

With -recrawl visited pages are leased again when they are due, with the validators
for a conditional request. The interval adapts to each page, between an hour and 90
days: it gets shorter after a visit that found the page changed, and longer otherwise.
A lastmod later than the last visit makes a page due. A page that cannot be reached
stays visited.

Example:

    frontier next -store crawl -n 20 -generation 1 -fair host | fetch | parse

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 4 nothing is due, with
-horizon nothing within D (stderr says when the next address is due).
`

const serveManual = `
frontier serve - do add and next continuously, as long as the crawl lasts

Usage: frontier serve -store DIR -n N [flags] < LOOP | fetch | … > LOOP

In:   the output of the last stage: outcomes, addresses, queries
Out:  addresses, in windows of N

Serve lets the stages run as long as the crawl, instead of starting them for every
generation: a FIFO connects the end of the pipeline to its beginning. After each
window serve writes a window mark, a query that is not answered. fetch, parse, score
and evolve -window pass it on after their output for the window, and serve chooses
the next window when the mark has come back. So the crawl is the same as with
frontier next -generation and frontier add. Serve also writes a mark before the first
window, to detect stages that drop lines without a url.

Serve writes its input to the log at once, even while its output is blocked, so full
pipes cannot deadlock. The input is committed, and survives kill -9 and power loss,
before the next window is written. After a restart, all stages continue after the last
complete window; a window that was not complete is written again.

The rules of frontier add, -include and so on, say which URLs belong to the crawl.

With -marks=false there are no marks, and stages may delay, lose or reorder lines.
Serve then writes a new address for each outcome, and leases an address again if it
has no outcome within -lease. The order of fetches then depends on timing.

When the log has doubled since the last compaction, and grown by -compact bytes, serve
compacts it like frontier compact: a few segments after each window.

Example:

    mkfifo loop
    frontier serve -store run/frontier -n 20 -pages 1000 <loop | fetch -archive web.warc.gz |
      parse | score -topic topic.json | evolve -strategy niche -state run/evolve -window 20 >loop

Serve and the stages end after -pages or -generations, when the -stop file exists, or
when no addresses are left. SIGINT and SIGTERM end them after the window; a second
signal of the same kind ends them at once.

Exit status: 0 done, 1 failed (also: a stage has ended, or blocks the loop),
2 misuse, 3 disk full, 130 and 143 interrupted.
`

const statsManual = `
frontier stats - count what a store holds

Usage: frontier stats -store DIR [flags]

In:   nothing
Out:  one JSON object: numbers of URLs by state, by operator, niche and generation of
      the proposal, and of skipped URLs by reason; number of hosts; sizes of the
      files; and when the next address is due

Example:

    frontier stats -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const skippedManual = `
frontier skipped - print the URLs that are not fetched, and why

Usage: frontier skipped -store DIR [flags]

In:   nothing
Out:  one record per skipped URL: its proposal, with the reason: error, or status_code
      if the last retry ended with that status

A URL is skipped if fetch refused it (robots, blocked_address, bad_url, not_archived,
redirect_loop, scope_redirect, unsupported_type, too_large), if a later stage wrote
malformed fields into its record (malformed), or if all its retries failed (dns, connect,
tls, timeout, http, or a status). add -traps also skips crawler traps:

    trap_length      longer than 2 KiB
    trap_depth       in more than 20 directories
    trap_repetition  repeats directories or parameters; or is the target of a relative
                     link that should be absolute
    trap_session     the same page is known without this session identifier
    trap_calendar    differs from 64 other URLs only in dates, and was found on one of
                     them
    trap_parameters  each of its NAME=VALUE also occurs in other URLs with the same path;
                     there are at least 16 more of these than different NAME=VALUE in
                     them; and it was found on one of them
    trap_duplicates  a copy of a page that was fetched from a shorter URL (error_detail
                     names it); or all pages fetched from such URLs are the same

If the crawl has a scope (frontier add -h), a URL outside is skipped. error_detail is the
rule:

    out_of_scope     no include rule matches, or it is on another host or site. It waits
                     again if it is added as a seed
    scope_excluded   an exclude rule matches, or it has another scheme; also a seed
    scope_depth      too many links away from a seed. It waits again if it is added as a
                     seed, or proposed at a smaller depth

It is also skipped if it exceeds -max-per-host (host_budget) or -max-per-niche
(niche_budget) of next and serve.

Apart from these cases, an excluded URL stays excluded, even if a budget is raised, unless
it is added again as a seed. The second example makes the URLs that exceeded a budget
wait again, with their priority and lineage.

Example:

    frontier skipped -store crawl | grep '"error":"trap_'
    frontier skipped -store crawl |
        jq -c 'select(.error == "host_budget") | del(.error, .error_detail, .state)' > back.ndjson
    frontier forget -store crawl - < back.ndjson && frontier add -store crawl back.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const exportManual = `
frontier export - print every URL of a store

Usage: frontier export -store DIR [-format F] [-state S,...] [flags]

In:   nothing
Out:  -format ndjson: one record per URL, with its state as the last member: waiting,
      leased, visited, skipped or withdrawn. Adding them to another store restores
      the same state, except for leases
      -format url-frontier: one line per URL, as read by PutURLs of a url-frontier
      -format list: only the URLs

A url-frontier has no priorities, lineage or retries: they are stored in the metadata,
from which import restores them. Leased URLs are exported like waiting ones; withdrawn
ones are omitted and counted. Back-off after a failure, redirects, headers, scores and
reasons are lost.

Example:

    frontier export -store crawl -state visited > visited.ndjson
    frontier export -store crawl -format url-frontier | gzip > dump.json.gz

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const reprioritiseManual = `
frontier reprioritise - change the priorities of waiting URLs

Usage: frontier reprioritise -store DIR [flags] [FILE...] < records

In:   records with url and priority (null withdraws the URL, absent is 0), or plain
      URLs, which are leased before all others, in this order
Out:  nothing; counts on stderr

Among records of one generation, add keeps the highest priority; reprioritise may also
lower it. A record of a later generation still replaces the priority. Lineage and all other fields
stay. URLs that are unknown, visited or skipped are counted and left as they are.
Repeating the command with the same records changes nothing.

Example:

    frontier export -store crawl -state waiting |
        jq -c 'select(.url | test("/tag/")) | {url, priority: -1}' |
        frontier reprioritise -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted;
records already read are durable.
`

const forgetManual = `
frontier forget - remove URLs from a store

Usage: frontier forget -store DIR [-host H]... [-prefix URL]... [flags] [URL...]

In:   nothing; with - for a URL: records, or plain lines with a URL each
Out:  nothing; counts on stderr

Only records that were added before are removed: a URL that is added again later is
new. A page that redirects to a removed URL stays known, and the pause of a host is kept
too. -prefix http://a.org/w matches http://a.org/wiki.

Example:

    frontier forget -store crawl -host old.example -prefix http://a.org/calendar/
    frontier export -store crawl -state skipped -format list | frontier forget -store crawl -

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted;
records already read are durable.
`

const lineageManual = `
frontier lineage - print where a URL came from

Usage: frontier lineage -store DIR [flags] URL

In:   nothing
Out:  the record of the URL, then those of the page it was found on, of its
      parents, and so on back to the seeds, nearest first, each once

operator, query and reasons say why each was chosen. If pages link to each other
often, the output is most of the crawl; to see how a page was found, follow only the
field via.

Example:

    frontier lineage -store crawl https://go.dev/doc/ | jq -c '{url, via, operator, reasons}'

Exit status: 0 done, 1 failed (also: the URL is not in the store), 2 misuse,
3 disk full.
`

const compactManual = `
frontier compact - remove replaced records from the log of a store

Usage: frontier compact -store DIR [flags]

In:   nothing
Out:  one JSON object: numbers of segments and lines read, of lines dropped, and of
      bytes before and after

Compact drops records that later ones have replaced, and all leased batches except
those of the last two generations, which next can still repeat. The state does not
change. Compact may be killed at any time; then only a part of the log is compacted.

If other processes wait for the store, compact releases its lock, and continues when the
lock is free again. If that takes longer than -wait, compact fails with a part of the
log compacted.

Example:

    frontier compact -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const checkManual = `
frontier check - read all of a store and rebuild its index

Usage: frontier check -store DIR [-repair] [flags]

In:   nothing
Out:  one JSON object: numbers of what was read, damaged places, and repaired files

Check rebuilds the index from the log, so only damage to the log itself loses data. A
store with a damaged log cannot be opened. -repair removes the damaged places, keeps
their bytes in files beside the log, and so makes the store usable again, without the
records in these places. One wrong byte in the header of a segment is corrected
without loss.

Example:

    frontier check -store crawl -repair

Exit status: 0 nothing is wrong, or all damage was repaired; 1 something is wrong,
even if it was only the index, which is rebuilt; 2 misuse, 3 disk full.
`
