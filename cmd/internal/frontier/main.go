// Frontier keeps the durable queue of a crawl: the known URLs, which of them wait or are
// leased, and their outcomes.
//
// # Usage
//
//	frontier add     -store DIR [-strict] [file…]      add records or plain URLs to the store
//	frontier next    -store DIR -n N [-generation G]   lease the best addresses
//	frontier serve   -store DIR -n N                   add and next, as long as the crawl lasts
//	frontier stats   -store DIR                        print counts, as one JSON object
//	frontier skipped -store DIR                        print the URLs that are not fetched, and why
//	frontier export  -store DIR [-format F] [-state S] print every URL, as a record with its state
//	frontier import  -store DIR [-format F] [file…]    add the output of export or another crawler
//	frontier reprioritise -store DIR [file…]           change the priorities of waiting URLs
//	frontier forget  -store DIR URL…                   remove URLs; also -host, -prefix
//	frontier lineage -store DIR URL                    print where a URL came from
//	frontier compact -store DIR                        remove replaced records from the log
//	frontier check   -store DIR [-repair]              verify the log, and rebuild the index
//
// # Record in and out
//
// Add reads addresses and outcomes (records with status_code or error) and prints
// nothing. Once it has exited with 0, all of them survive kill -9 and power loss. The state
// depends neither on their order nor on how often they are added:
//   - of several proposals of one URL, the latest generation wins, then the highest
//     revision (see reprioritise), then the highest priority (absent is 0), then the
//     smallest depth; priority null withdraws the URL until a later generation proposes
//     it again; a final outcome also replaces via, operator and reasons by its own;
//   - at most 16 parents are kept: the first ones when sorted by URL;
//   - a final outcome makes url, final_url and every redirect between them visited, or
//     skipped if it is an error; visited pages wait again only with -recrawl;
//   - after a temporary failure (dns, connect, tls, timeout, http, 429, 5xx) the URL is
//     retried at not_before, or a minute after the timestamp; this delay doubles with
//     each failure, and after the fourth failure the URL is skipped;
//   - an outcome with the error "budget" returns the URL to the queue unchanged;
//   - not_before of an outcome applies to the whole host (of final_url, if there is
//     one); not_before of an address applies to this address.
//
// Plain URLs are seeds: they are leased in their order, before all other addresses. With
// -summary FILE add writes counts of its input and of the content of the store, as one
// JSON object. Queries without url are for search: they are counted and ignored. The store keeps
// the unknown fields, simhash, needs_browser and a nofollow in robots_meta of an outcome, but not its
// body or the rest of its parse section. An address longer than 512 KiB is refused. An outcome of that length is shortened
// instead, because its address would otherwise be fetched again and again: its headers are dropped
// and, if it is still too long, all fields that neither the store nor a strategy uses.
//
// With -include, -exclude, -same-host, -same-site, -depth, -scheme or -scope FILE add excludes URLs
// that do not belong to the crawl (frontier add -h describes the rules). They are skipped, with the
// rule as error_detail and one of the errors out_of_scope, scope_excluded and scope_depth. The
// rules are applied when add ends, so the order of records does not matter.
//
// With -traps add excludes crawler traps: URLs that a site generates without end and that
// lead to nothing new. Seeds and leased URLs are never excluded. An excluded URL is skipped,
// with one of these errors:
//
//   - trap_length: path and query are longer than 2 KiB;
//   - trap_depth: it lies in more than 20 directories;
//   - trap_repetition: a run of directories occurs three times in a row, or one directory,
//     or one parameter with its value, more than four times; or it comes from a relative
//     link that was meant to be absolute: a page in /x/about/us/ has the link about/us/,
//     which leads to /x/about/us/about/us/, and this occurs in four directories of the
//     host. A target in the root directory is not excluded;
//   - trap_session: it has a session identifier, and the same page is known without one or
//     with another one;
//   - trap_calendar: 64 known URLs differ from it only in dates, and it was found on one of
//     them;
//   - trap_parameters: it only recombines parameters: (1) each NAME=VALUE of it also occurs
//     in other URLs with the same path, (2) there are at least 16 more of these URLs than
//     different NAME=VALUE in them, and (3) it was found on one of them. Pages of a list
//     are not excluded if one of their parameters has 32 or more values, like the topics of
//     a forum. The rule does not apply to a host with more than a million paths and
//     parameters;
//   - trap_duplicates: it leads to a copy of a fetched page. Pages are copies if their
//     simhashes differ in at most three of 64 bits. (1) The URL without one of its parts
//     was fetched: without a parameter, all parameters, the final slash or the file name,
//     or with https in place of http. And the host showed that this part makes no
//     difference: in at least eight pairs of fetched URLs with and without it, and in
//     seven of eight, the pages are copies. A parameter with a new value counts as such a
//     part if copies with eight other values were seen. (2) Or the URL belongs to a group
//     in which all URLs lead to the same page: at least 16 were fetched, and 15 of 16 are
//     copies of their average. A group is the URLs with the same path and the same
//     parameters, with the same path except for numbers, or in the same directory (not
//     the root).
//
// All URLs that were added since the last generation was leased are checked together, the
// best addresses first, so that neither order nor repetition matters between two commits.
// Duplicates are detected only if outcomes have a simhash.
//
// With -max-per-host and -max-per-niche, next and serve lease at most that many addresses of
// a host or niche in the whole crawl, the best first. A page counts once, however often it
// is tried, and not at all if no request was sent (robots, not_archived, …). Further
// addresses wait while leased ones have no outcome yet; when the budget is spent they are
// skipped, with the error host_budget or niche_budget. Seeds count, but are not limited.
//
// Next leases the best addresses and prints their records, highest priority first, then by
// URL, with all parents and the retries so far. With -generation G their generation is set to
// G, requesting G again prints the same bytes, and addresses without an outcome are leased
// again by a later generation. Without -generation their generation does not change, and they
// are leased again after -lease. Only addresses that are due, or will be within -horizon, are
// leased, and at most -per-host of one host and -per-niche of one niche; an address without a
// niche is in the niche of its host. With -fair host, addresses are ranked by priority / (1 +
// n), where n is the number of addresses of the same host in the batch so far: hosts share
// the batch in proportion to their priorities. If all hosts differ, the order is that of the
// priorities. -fair niche does the same for niches.
//
// With -recrawl visited pages are leased again when they are due, ranked by priority among
// the others. Their records have etag and last_modified, for a conditional request, and
// last_digest, interval and visits. The next due time depends on these and the outcome. The
// interval is multiplied by 1.4 after a visit that found the page unchanged (304, or the same
// digest), by 0.8 if it has changed, and by 1.5 after a status of 400 or more; it starts at a
// tenth of the page's age (Last-Modified), or a week, and stays between an hour and 90 days.
// If an address has a lastmod (as from a sitemap) later than the last visit of its page, the
// page is due. The outcome of a later visit replaces that of an earlier one, but a page that
// cannot be reached stays visited: after four failures it is tried once per interval.
//
// Serve is the beginning and the end of a pipeline: it adds the records from stdin as add does, and
// writes the batches of next -generation, one window after the other, each followed by its window
// mark (a query with operator mark, whose generation is the number of the window). The mark returns
// after all output for the window; serve then chooses the next window. So on an archive the crawl is
// the same as with next and add. There is also a mark before the first window. Serve reads its input
// and writes it to the log even while its output is blocked. The input is made durable before the
// next window is written. After a restart, serve writes the incomplete window again. An empty window
// tells the strategy that the frontier is empty; the crawl ends if the strategy then proposes
// nothing. It also ends after two windows in a row without an outcome. With -marks=false serve
// writes a new address for each outcome.
//
// Export prints one record per URL, with its state as the last member: waiting, leased,
// visited, skipped or withdrawn. Skipped prints only the skipped URLs, with the reason as
// error or status_code. Adding an export to another store restores the same state, except
// for leases. With -format url-frontier, export and import use the JSON that the client of a
// url-frontier dumps and reads; with -format list they use plain URLs, and import also reads
// the output of Heritrix, katana and Scrapy. Lineage prints the records of a URL and its
// ancestors in the same format.
//
// Reprioritise reads records with new priorities, or plain URLs, which then precede all
// others. It adds the proposal of each URL again, with the new priority (which may be null)
// and a higher revision number. Within a generation the highest revision wins; a later
// generation replaces it. Forget removes URLs from the store; if they are added again, they
// are new. The effects of reprioritise and forget depend on order: they change only what was
// added before.
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
// Only one process at a time can write to a store. Others wait for the lock, up to
// -wait, and then fail: serve holds it for the whole crawl. Compact releases the lock
// while others wait. The index is in memory.
package frontier

import (
	"io"
	"strings"

	"spoor/cmd/internal/filter"
)

// A subcommand is one of the commands of frontier.
type subcommand struct {
	name, manual string
	flags        func(*command)
	do           func(*command) error
	takesArgs    bool
}

func subcommands() []subcommand {
	return []subcommand{
		{"add", addManual, (*command).addFlags, (*command).add, true},
		{"next", nextManual, (*command).nextFlags, (*command).next, false},
		{"serve", serveManual, (*command).serveFlags, (*command).serve, false},
		{"stats", statsManual, (*command).nowFlag, (*command).stats, false},
		{"skipped", skippedManual, (*command).nowFlag, (*command).skipped, false},
		{"export", exportManual, (*command).exportFlags, (*command).export, false},
		{"import", importManual, (*command).importFlags, (*command).add, true},
		{"reprioritise", reprioritiseManual, (*command).inputFlags, (*command).reprioritise, true},
		{"forget", forgetManual, (*command).forgetFlags, (*command).forget, true},
		{"lineage", lineageManual, (*command).nowFlag, (*command).lineage, true},
		{"compact", compactManual, func(*command) {}, (*command).compact, false},
		{"check", checkManual, (*command).checkFlags, (*command).check, false},
	}
}

// Command is the command frontier.
var Command = filter.Command{Name: "frontier", Manual: manual, Run: invoke}

func invoke(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var names []string
	for _, sub := range subcommands() {
		if len(args) > 0 && args[0] == sub.name {
			return sub.run(args[1:], stdin, stdout, stderr)
		}
		names = append(names, sub.name)
	}
	if err := filter.Parse(filter.Flags("frontier", manual, stderr), args); err != nil {
		return err
	}
	known := strings.Join(names, ", ")
	if len(args) == 0 {
		return filter.Usagef("a command is missing: %s\nhint: frontier -h describes them", known)
	}
	return filter.Usagef("no command %q; there are %s\nhint: frontier -h describes them", args[0], known)
}
