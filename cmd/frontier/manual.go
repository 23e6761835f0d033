package main

// manual is what frontier -h prints.
const manual = `
frontier - keep the queue of a crawl: what waits, what is out, what came of it

Usage: frontier COMMAND -store DIR [flags] [FILE...]

    add      put records, or plain URLs, into the store
    next     hand out the best addresses
    stats    count what the store holds
    export   print every URL as a record, with its state
    import   the same as add
    lineage  print where a URL came from
    check    read everything, rebuild the index

In:   add and import: addresses and outcomes (records with status_code or error),
      or plain lines with a URL each
Out:  next: addresses; export and lineage: records with their state; stats and
      check: one JSON object

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
final outcome makes it visited or skipped for ever. Queries without url are left
out; outcomes too long for the store (512 KiB) lose what nothing depends on,
headers first.

Example:

    frontier add -store crawl < seeds.txt
    evolve -strategy niche -state crawl/evolve < scored.ndjson | frontier add -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted,
after what was read has been made durable.
`

const importManual = `
frontier import - put what export printed into a store: the same as add

Usage: frontier import -store DIR [flags] [FILE...] < records

In:   records, or plain lines with a URL each
Out:  nothing; counts on stderr

Example:

    frontier export -store old | frontier import -store new

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

Example:

    frontier next -store crawl -n 20 -generation 1 -per-host 2 | fetch | parse

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 4 nothing is due (stderr
says when something will be).
`

const statsManual = `
frontier stats - count what a store holds

Usage: frontier stats -store DIR [flags]

In:   nothing
Out:  one JSON object: URLs by state, reasons of the skipped, hosts, operators,
      generations, sizes of the files, and when the next address is due

Example:

    frontier stats -store crawl

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const exportManual = `
frontier export - print every URL of a store as a record

Usage: frontier export -store DIR [flags]

In:   nothing
Out:  one record a URL, its state last: waiting, leased, visited, skipped or
      withdrawn. Added to another store they make the same state, leases apart

Example:

    frontier export -store crawl | grep '"state":"visited"' > visited.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
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

const checkManual = `
frontier check - read all of a store and rebuild its index

Usage: frontier check -store DIR [-repair] [flags]

In:   nothing
Out:  one JSON object: what was read, what is damaged, what was repaired

The index is made anew from the log, so only damage to the log itself is lasting.
A store with such damage does not open; with -repair it does again, without the
records in the damaged places, whose bytes are kept in files beside the log.

Example:

    frontier check -store crawl -repair

Exit status: 0 nothing is wrong, or all damage was repaired; 1 something is wrong,
or only the index was and is whole again; 2 misuse, 3 disk full.
`
