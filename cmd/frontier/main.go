// Frontier is the durable queue of a crawl: what is known, what waits, what was
// handed out, and what came of it.
//
// # Usage
//
//	frontier add     -store DIR [-strict] [file…]      records, or plain URLs, into the store
//	frontier next    -store DIR -n N [-generation G]   the best addresses out of it
//	frontier serve   -store DIR -n N                   both, for as long as a crawl lasts
//	frontier stats   -store DIR                        counts, as one JSON object
//	frontier skipped -store DIR                        what is not asked for, and why
//	frontier export  -store DIR [-format F] [-state S] every URL, as a record with its state
//	frontier import  -store DIR [-format F] [file…]    what export or another crawler wrote
//	frontier reprioritise -store DIR [file…]           records with new priorities
//	frontier forget  -store DIR URL…                   what is known of them; -host, -prefix
//	frontier lineage -store DIR URL                    where a URL came from
//	frontier compact -store DIR                        a shorter log of the same state
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
//     visited, or skipped if it is an error; neither waits again but for -recrawl;
//   - a failure that may pass (dns, connect, tls, timeout, http, 429, 5xx) sends
//     the URL back with one retry more, not before the time in not_before, or a
//     minute after the timestamp, doubling; after the fourth it is skipped;
//   - budget hands the URL back as it was;
//   - not_before of an outcome holds for the whole host, which is that of final_url
//     if there is one, that of an address for this address.
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
// With -traps add bars addresses of which a site makes more than anyone could fetch,
// without there being more to read. What a person asks for (operator seed) and what
// was handed out is never barred. Each is skipped, with one of these words as error:
//
//   - trap_length: path and query are longer than 2 KiB;
//   - trap_depth: it lies in more than 20 directories;
//   - trap_repetition: directories repeat three times in a row, or one, or a
//     parameter with its value, stands in it more than four times; or it lies, not
//     at the root, where a link leads that is relative and should not be: on
//     pages in four directories of the host a link was found that says the end of
//     the directory again (/x/about/us/about/us/);
//   - trap_session: it names a session, and the same page is known without it or
//     with another;
//   - trap_calendar: 64 addresses are known that differ from it in dates only, and it
//     was found on such a page;
//   - trap_parameters: on its path it only combines parameters that others have, there
//     are 16 addresses more than parameters with their values, and it was found there;
//     the pages of a list are let pass where one of its parameters has 32 values or
//     more, as the topics of a forum have; a host of more than a million paths and
//     parameters to decide on is let pass;
//   - trap_duplicates: of the pages fetched where it lies (with its parameters, with other
//     numbers in its path, or with its last name, wherever) eight, and three of four, are
//     near-duplicates of pages with shorter addresses: their simhashes differ in
//     three of 64 bits or fewer; or 16, and seven of eight, of those in its directory or
//     one above, but for the root.
//
// All that was added since a generation was handed out is decided on together, the
// best addresses first, so that neither order nor repetition matters between two
// commits. Where the
// outcomes come without simhash no duplicates are seen.
//
// With -max-per-host and -max-per-niche next (and serve) hands out no more than so many of
// a host or niche in the whole crawl, its best when their turn comes. A page counts once, however often it
// is tried, and not at all if nobody was asked (robots, not_archived, …). What is left
// waits while answers are awaited; when the budget is spent it is skipped, with
// host_budget or niche_budget for its error. Seeds count, and are not limited.
//
// Next prints the records of the best addresses, highest priority first, then by
// URL, with all parents and the retries so far. With -generation G they leave as
// generation G, asking for G again gives the same bytes, and what generation G
// has no outcome of comes back with a later generation. Without it they leave
// as they came, and come back when -lease is over. Only what is due is given, or
// will be within -horizon, and no more than -per-host of one host and -per-niche of one
// niche (of an address without one it is its host's). With -fair host
// an address counts its priority divided by one more than its host has in the batch
// already: hosts share a batch in proportion to their priority, and what is all of
// different hosts comes by priority as ever. -fair niche does the same for niches.
//
// With -recrawl what was visited is handed out again when it is due, by its priority
// among the others: with etag and last_modified, so that fetch asks only for what has
// changed, and with last_digest, interval and visits, by which its outcome tells when
// the page is due next. The interval becomes 0.4 longer after a visit that found the
// page as it was (304, or the same digest), 0.2 shorter after one that found
// another, half as long again where a status of 400 or more says that it is gone; it
// begins with a tenth of the page's age (Last-Modified), or a week, and stays
// between an hour and 90 days. An address with lastmod, as a sitemap has it, makes a
// page due that was visited before that time. The outcome of a later visit counts
// before that of an earlier one, but a page stays visited while it cannot be
// reached: after four failures it is tried again once an interval.
//
// Serve is the end of a pipeline and its beginning: what comes in on stdin is added as
// add does, and what next -generation would give goes out, one window after the other,
// each with a mark behind it (a query with operator mark, generation its number). The
// next window is chosen when the mark has come back behind all that the stages made of
// the window, so on an archive the crawl is that of next and add, whatever is faster. A
// mark is sent ahead of all. What comes in is read and written to the log whether or
// not what goes out is read. It is acknowledged, and durable, when the next window goes
// out; started again, serve sends the window again that had not come back. An empty
// window tells the strategy that nothing is left; when nothing new comes of it, or
// twice nothing, the crawl ends. With -marks=false as many addresses follow as
// were answered.
//
// Export prints one record a URL, its state last: waiting, leased, visited,
// skipped or withdrawn; skipped prints those of the skipped alone, with error or
// status_code for the reason. Adding an export to another store makes the same state,
// leases apart. With -format url-frontier export and import speak the JSON that the
// client of a url-frontier dumps and takes, and with -format list plain URLs; import
// then also reads what Heritrix, katana and Scrapy write. Lineage prints the same records of a URL and its ancestors.
//
// Reprioritise takes records with new priorities, or plain URLs, which come before
// all others: the record that asks for such a URL is added once more with the new
// priority, null included, and a revision that is one higher. Within a
// generation the highest revision counts; a later generation still wins. Forget makes
// the store know nothing of URLs: they may come in again as new ones. It alone follows the
// order in which commands ran: it counts for what was added before it.
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
// One process writes at a time; others wait for -wait, also for serve; compact gives way
// to them. The index is in memory.
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
		{"serve", serveManual, (*command).serve},
		{"stats", statsManual, (*command).stats},
		{"skipped", skippedManual, (*command).skipped},
		{"export", exportManual, (*command).export},
		{"import", importManual, (*command).add},
		{"reprioritise", reprioritiseManual, (*command).reprioritise},
		{"forget", forgetManual, (*command).forget},
		{"lineage", lineageManual, (*command).lineage},
		{"compact", compactManual, (*command).compact},
		{"check", checkManual, (*command).check},
	}
}

func main() { filter.Main("frontier", invoke) }

func invoke(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
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
