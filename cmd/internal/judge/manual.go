package judge

// manual is what judge -h prints.
const manual = `
judge - measure a crawl by labels, against random crawls and a clairvoyant crawler

Usage: judge -archive FILE... -labels FILE -label NAME [flags] [RUN-DIR...|FILE...] < records
       judge -graph FILE -label NAME [flags] [RUN-DIR...|FILE...] < records
       judge -topic FILE [flags] [RUN-DIR...|FILE...] < records
       judge -budget -archive FILE... -labels FILE -label NAME -seeds FILE
       judge overlap RUN RUN...
       judge table [FILE...]

In:   the records of a crawl in the order of fetching: a run directory of scripts/crawl
      (those of all nodes if it ran on several machines), records, or a plain list of
      addresses
Out:  the same, each with verdict (relevant, irrelevant, unlabelled, repeated, free) and
      spent, the cost so far; the measures on stderr and, with -summary, in a file: T, R,
      harvest, recall, auc, nauc, auc_clairvoyant_ratio (auc divided by that of the
      clairvoyant crawler), auc_bound_ratio, cost_50, relevant_hosts, self_harvest, curves
      and more

The web is closed: it consists of the pages of the archives. A fetch costs 1, even if the
crawl has fetched the page before. A query costs 1 for ten results. not_archived, robots,
blocked_address, bad_url and budget cost nothing. The crawl is judged by its first T units
of cost. T = max(200, min(P/4, 5 R)), where P is the number of pages that can be reached from
the seeds, and R the number of relevant ones among them. nauc is 0 for random crawls and 1
for a crawler that knows all links and labels beforehand.

Labels are lines such as {"url":"http://a.example/jazz","labels":["music","history"]}; if
an address redirects, its labels apply to the page that it leads to. The links of the
archives are read once, and cached in -cache.

Without labels, -topic compares the crawl's own verdicts with those of a classifier that
the crawl has not used. Precision, recall, F1 and kappa measure how far the two agree. They
do not measure how good the crawl is.

overlap computes how much crawls have in common, table compares many: judge table -h.

Example:

    judge -archive web.warc.gz -labels labels.ndjson -label jazz -summary run/judge.json \
        -brief -tee run/verdicts.ndjson.zst run > /dev/null

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`
