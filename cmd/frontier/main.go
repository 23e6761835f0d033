// Frontier is the durable queue of a crawl: what is known, what waits, what was
// handed out, and what came of it.
//
// # Usage
//
//	frontier add     -store DIR [-strict] [file…]      records, or plain URLs, into the store
//	frontier next    -store DIR -n N [-generation G]   the best addresses out of it
//	frontier stats   -store DIR                        counts, as one JSON object
//	frontier export  -store DIR                        every URL as a record, with its state
//	frontier import  -store DIR [file…]                the same as add
//	frontier lineage -store DIR URL                    where a URL came from
//	frontier check   -store DIR [-repair]              reads everything, rebuilds the index
//
// # Record in and out
//
// Add reads addresses and outcomes (records with status_code or error) and prints
// nothing. When it exits with 0 all of them survive kill -9 and power loss. The
// state depends neither on their order nor on how often they are added:
//
//   - of the addresses of one URL the latest generation counts, and within it the
//     highest priority (absent is 0), then the smaller depth; priority null
//     withdraws the URL until a later generation asks for it again; what brought
//     in a URL that has a final outcome stays as that outcome tells it;
//   - the 16 smallest parents are kept, of all records;
//   - a final outcome makes url, final_url and every redirect between them
//     visited, or skipped if it is an error; neither ever waits again;
//   - a failure that may pass (dns, connect, tls, timeout, http, 429, 5xx) sends
//     the URL back with one retry more, not before the time in not_before, or a
//     minute after the timestamp, doubling; after the fourth it is skipped;
//   - budget hands the URL back as it was;
//   - not_before holds for the whole host.
//
// A plain list of URLs is one of seeds: they are handed out in their order, before
// anything that was found. With -summary FILE add counts what it was given and
// what the store then holds, as one JSON object. Queries without url belong to
// search: they are counted and left out. Sections that tell of the page are not
// kept; fields unknown here are. An address longer than 512 KiB is refused. An
// outcome is not, or its address would be asked for again and again: it loses its
// headers, and if it is still too long all that neither the store nor a strategy
// decides by.
//
// Next prints the records of the best addresses, highest priority first, then by
// URL, with all parents and the retries so far. With -generation G they leave as
// generation G, asking for G again gives the same bytes, and what generation G
// has no outcome of comes back with a later generation. Without it they leave
// as they came, and come back when -lease is over. Only what is due is given,
// and no more than -per-host of one host.
//
// Export prints one record a URL, its state last: waiting, leased, visited,
// skipped or withdrawn. Adding an export to another store makes the same state,
// leases apart. Lineage prints the same records of a URL and its ancestors.
//
// # Example
//
//	frontier add -store crawl < seeds.txt
//	frontier next -store crawl -n 20 -generation 1 | fetch -archive web.warc.gz |
//		parse | score -topic topic.json | evolve -strategy bestfirst | frontier add -store crawl
//
// # Exit status
//
// 0 done, 1 failed (or check found something wrong), 2 misuse, 3 disk full, 4
// nothing is due now (the earliest due time is on stderr), 130 and 143
// interrupted after what was read has been made durable.
//
// # Limitations
//
// One process writes at a time; others wait for -wait. The index is in memory.
package main

import (
	"io"
	"strings"

	"spoor/cmd/internal/filter"
)

// A subcommand is one of the commands of frontier.
type subcommand struct {
	name, manual string
	do           func(*command) error
}

func subcommands() []subcommand {
	return []subcommand{
		{"add", addManual, (*command).add},
		{"next", nextManual, (*command).next},
		{"stats", statsManual, (*command).stats},
		{"export", exportManual, (*command).export},
		{"import", importManual, (*command).add},
		{"lineage", lineageManual, (*command).lineage},
		{"check", checkManual, (*command).check},
	}
}

func main() { filter.Main("frontier", run) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var names []string
	for _, c := range subcommands() {
		if len(args) > 0 && args[0] == c.name {
			return newCommand(c, stdin, stdout, stderr).run(args[1:], c.do)
		}
		names = append(names, c.name)
	}
	if err := filter.Parse(filter.Flags("frontier", manual, stderr), args); err != nil {
		return err
	}
	known := strings.Join(names, ", ")
	if len(args) == 0 {
		return filter.Usagef("what to do? %s\nhint: frontier -h tells more", known)
	}
	return filter.Usagef("no command %q; there are %s\nhint: frontier -h tells more", args[0], known)
}
