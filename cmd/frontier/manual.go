package main

// manual is what frontier -h prints.
const manual = `
frontier - keep the queue of a crawl: what waits, what is out, what came of it

Usage: frontier COMMAND -store DIR [flags] [FILE...]

    add           put records, or plain URLs, into the store
    next          hand out the best addresses
    serve         hand out and take in, for as long as the crawl lasts
    stats         count what the store holds
    skipped       print what is not asked for, and why
    export        print every URL as a record, with its state
    import        put in what export printed, or another crawler's dump or list
    reprioritise  give URLs that wait new priorities
    forget        make the store know nothing of URLs, hosts or prefixes
    lineage       print where a URL came from
    compact       make the log shorter
    check         read everything, rebuild the index

In:   add, serve and import: addresses and outcomes (records with status_code or
      error), or plain lines with a URL each; reprioritise and forget: addresses
Out:  next and serve: addresses; skipped, export and lineage: records with their state;
      stats, compact and check: one JSON object

What add was given survives kill -9 and power loss once it exits with 0; neither
order nor repetition matters. frontier COMMAND -h is the manual of a command.

Example:

    frontier add -store crawl < seeds.txt
    frontier next -store crawl -n 20 -generation 1 | fetch -archive web.warc.gz

Exit status: 0 done, 1 failed (check: something is wrong), 2 misuse, 3 disk full,
4 nothing is due (next), 130 and 143 interrupted, after what add had read was made
durable. go doc ./cmd/frontier tells more.
`

const addManual = `
frontier add - put addresses and outcomes into a store, which is made if need be

Usage: frontier add -store DIR [flags] [FILE...] < records

In:   records, or plain lines with a URL each, which are seeds: they are handed
      out in their order, before anything that was found; # begins a comment
Out:  nothing; counts on stderr

All of it survives kill -9 and power loss once add exits with 0. The latest
generation that asks for a URL decides its priority, null withdraws it, and a
final outcome makes it visited or skipped (see next -recrawl). Queries without url are left
out; outcomes too long for the store (512 KiB) lose what nothing depends on,
headers first. With -traps it bars what is a trap: see frontier skipped.

Example:

    frontier add -store crawl < seeds.txt
    evolve -strategy niche -state crawl/evolve < scored.ndjson | frontier add -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted,
after what was read has been made durable.
`

const importManual = `
frontier import - put into a store what export, or another crawler, wrote

Usage: frontier import -store DIR [-format F] [flags] [FILE...] < lines

In:   -format ndjson: records, or plain lines with a URL each; the same as add
      -format url-frontier: what the client of a url-frontier dumps (DumpURLs)
      -format list: plain URLs, a Heritrix journal (frontier.recover.gz) or
      crawl.log, results of katana -jsonl, JSON objects with url (Scrapy), mixed
Out:  nothing; counts on stderr

Of a url-frontier what is known without a date is visited (with status 200, or
what fetch.statusCode or error among its metadata say), what has a date waits
until then, and what is discovered waits. Metadata named as members of a record
become those; the others, key, crawl and creation date are kept for export. In
a journal "Fs" is visited; "Ff" waits, as when Heritrix recovers. In crawl.log
a status is an outcome, -9998 is robots, and other negative ones leave the URL
waiting. What is about no address (dns:, comments) is counted as passed.

Example:

    frontier export -store old | frontier import -store new
    frontier import -store new -format url-frontier dump.json.gz
    frontier import -store new -format list crawl.log

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted,
after what was read has been made durable.
`

const nextManual = `
frontier next - hand out the best addresses that are due

Usage: frontier next -store DIR -n N [-generation G] [flags]

In:   nothing
Out:  addresses, highest priority first, then by URL, with all parents and the
      retries so far

What is handed out is leased: with -generation until a later generation is asked
for, without it for the time of -lease. An address whose outcome has not been
added by then is handed out again. Asking for a generation once more gives the
same bytes, so a crawl that was killed can begin it anew.

With -fair host no site can fill a batch: an address counts its priority divided by
one more than its host has in the batch already, and the one that counts most is
next. So hosts get addresses in proportion to their priority, where they have them,
and are handed out in that order. -fair niche does the same for niches, and an
address without a niche is in that of its host. -per-host and -per-niche are limits
besides.

With -horizon D addresses are handed out whose time (their own, or their host's) is
at most D off, and carry it as not_before, for which fetch waits.

With -recrawl visited pages are handed out again when they are due, with what lets
fetch ask only for what has changed. How often that is adapts to each page: sooner
after a visit that found it changed, later after one that did not, from an hour to
90 days; a lastmod later than the last visit makes it due. A page that cannot be
reached stays visited.

Example:

    frontier next -store crawl -n 20 -generation 1 -fair host | fetch | parse

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 4 nothing is due (stderr
says when something will be, -horizon considered).
`

const serveManual = `
frontier serve - hand out and take in, for as long as the crawl lasts

Usage: frontier serve -store DIR -n N [flags] < LOOP | fetch | … > LOOP

In:   what the end of the pipeline gives: outcomes, addresses, queries
Out:  addresses, a window of N after the other

Instead of processes for every generation the same ones go on, in a loop that a
FIFO closes. Behind each window serve sends a mark, a query that nobody answers.
fetch, parse, score and evolve -window pass it on behind all that they make of the
window, and when it comes back the next one is chosen: so the crawl is that of
frontier next -generation and frontier add, generation by generation. A mark is sent
ahead of all; a stage that does not let lines without a url pass is found by that.

What comes in is written to the log at once, whether or not what goes out is read:
full pipes do not wait for each other. It counts, and survives kill -9 and power
loss, when the next window goes out. Started again, all stages go on behind the last
window that is done; one that was out when they were killed goes out once more.

With -marks=false no marks are sent, and stages may keep, lose or reorder lines: so
many addresses follow as were answered, and what has no outcome within -lease is
handed out again. What is fetched when depends on time then.

When the log has become twice as long as it was, and grown by -compact, serve makes it
shorter, as frontier compact does: a few segments each time that addresses have gone out.

Example:

    mkfifo loop
    frontier serve -store run/frontier -n 20 -pages 1000 <loop | fetch -archive web.warc.gz |
      parse | score -topic topic.json | evolve -strategy niche -state run/evolve -window 20 >loop

It ends, and with it the stages, after -pages or -generations, when a -stop file is
there, or when there is nothing left; SIGINT and SIGTERM end it after the window, or
at once when the same one comes a second time.

Exit status: 0 done, 1 failed (also: a stage has ended, or holds up the loop),
2 misuse, 3 disk full, 130 and 143 interrupted.
`

const statsManual = `
frontier stats - count what a store holds

Usage: frontier stats -store DIR [flags]

In:   nothing
Out:  one JSON object: URLs by state, by operator, niche and generation of what asks
      for them, and by reason where they are skipped; how many hosts there are;
      sizes of the files; and when the next address is due

Example:

    frontier stats -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const skippedManual = `
frontier skipped - print what is not asked for, and why

Usage: frontier skipped -store DIR [flags]

In:   nothing
Out:  one record a URL that is skipped: what asks for it, with the reason as error,
      or as status_code where it failed too often

Refused by fetch (robots, blocked_address, bad_url, not_archived, redirect_loop,
unsupported_type, too_large), given up after its retries (dns, connect, tls,
timeout, http, or a status), or barred, if add was told -traps:

    trap_length      longer than 2 KiB
    trap_depth       in more than 20 directories
    trap_repetition  the same directories, or parameters, again and again; or where
                     a link leads that is relative and should not be
    trap_session     a page that is known without this session
    trap_calendar    differs from 64 others in dates only, and was found on such a page
    trap_parameters  combines what others on its path have, beyond 16 such, and was
                     found there
    trap_duplicates  where most pages fetched are near-duplicates of others

or beyond -max-per-host or -max-per-niche of next and serve: host_budget,
niche_budget.

What is barred stays so, also when a budget is raised. A URL that is then given to
add as a seed is asked for; the second example makes what a budget barred wait
again, with its priority and lineage.

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
Out:  -format ndjson: one record a URL, its state last: waiting, leased, visited,
      skipped or withdrawn. Added to another store they make the same state,
      leases apart
      -format url-frontier: a line a URL as PutURLs of a url-frontier takes it
      -format list: the URL alone

For a url-frontier, which knows neither priorities nor lineage nor retries, these
go into the metadata and come back by import. What is leased is as what waits;
what was withdrawn is left out and counted; the pause after a failure, redirects,
headers, scores and reasons are lost.

Example:

    frontier export -store crawl -state visited > visited.ndjson
    frontier export -store crawl -format url-frontier | gzip > dump.json.gz

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const reprioritiseManual = `
frontier reprioritise - give URLs that wait new priorities

Usage: frontier reprioritise -store DIR [flags] [FILE...] < records

In:   records with url and priority (null withdraws, absent is 0), or plain URLs,
      which come before all others in their order
Out:  nothing; counts on stderr

A priority may rise and fall within its generation, where add keeps the highest;
a record of a later generation still wins. Lineage and all else stay. URLs that
are unknown, visited or skipped are counted and left as they are. The same
records once more change nothing.

Example:

    frontier export -store crawl -state waiting |
        jq -c 'select(.url | test("/tag/")) | {url, priority: -1}' |
        frontier reprioritise -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted,
after what was read has been made durable.
`

const forgetManual = `
frontier forget - make a store know nothing of URLs

Usage: frontier forget -store DIR [-host H]... [-prefix URL]... [flags] [URL...]

In:   nothing; with - for a URL: records, or plain lines with a URL each
Out:  nothing; counts on stderr

They may come in again later, as new ones: what is forgotten is what was added
before. A page that redirects to a forgotten URL stays known, and so does when a
host wants to be asked again. -prefix http://a.org/w matches http://a.org/wiki.

Example:

    frontier forget -store crawl -host old.example -prefix http://a.org/calendar/
    frontier export -store crawl -state skipped -format list | frontier forget -store crawl -

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted,
after what was read has been made durable.
`

const lineageManual = `
frontier lineage - print where a URL came from

Usage: frontier lineage -store DIR [flags] URL

In:   nothing
Out:  the record of the URL, then those of the page it was found on, of its
      parents, and so on back to the seeds, nearest first, each once

operator, query and reasons say why each was asked for. Where pages link to each
other much, that is most of the crawl; the path by which a page was found is via.

Example:

    frontier lineage -store crawl https://go.dev/doc/ | jq -c '{url, via, operator, reasons}'

Exit status: 0 done, 1 failed (also: the URL is not in the store), 2 misuse,
3 disk full.
`

const compactManual = `
frontier compact - make the log of a store shorter

Usage: frontier compact -store DIR [flags]

In:   nothing
Out:  one JSON object: segments and lines that were read, how many of the lines
      were dropped, bytes before and after

Records that later ones have replaced are dropped, and so is what was handed out
before the last two generations: these alone can be asked for again. The state
stays what it was. It may be killed at any time; then part of it is done.

Whoever waits for the store gets it meanwhile: compact lets it go, and goes on when it
is free again. If it is not within -wait, compact fails, and part of it is done.

Example:

    frontier compact -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const checkManual = `
frontier check - read all of a store and rebuild its index

Usage: frontier check -store DIR [-repair] [flags]

In:   nothing
Out:  one JSON object: what was read, what is damaged, what was repaired

The index is made anew from the log, so only damage to the log itself is lasting.
A store with such damage does not open; with -repair it does again, without the
records in the damaged places, whose bytes are kept in files beside the log. Of the
header of a segment -repair mends one wrong byte, and nothing is lost.

Example:

    frontier check -store crawl -repair

Exit status: 0 nothing is wrong, or all damage was repaired; 1 something is wrong,
or only the index was and is whole again; 2 misuse, 3 disk full.
`
