package main

// manual is what judge -h prints.
const manual = `
judge - say how good a crawl was: by labels, beside chance and a clairvoyant crawler

Usage: judge -archive FILE... -labels FILE -label NAME [flags] [RUN-DIR|FILE...] < records
       judge -graph FILE -label NAME [flags] [RUN-DIR|FILE...] < records
       judge -topic FILE [flags] [RUN-DIR|FILE...] < records
       judge -budget -archive FILE... -labels FILE -label NAME -seeds FILE
       judge overlap RUN RUN...
       judge table [FILE...]

In:   what a crawl has fetched, in that order: a run directory of scripts/crawl, records,
      or a plain list of addresses
Out:  the same, each with verdict (relevant, irrelevant, unlabelled, repeated, free) and
      spent, the units of cost until then; the measures on stderr, and with -summary in
      a file: T, R, harvest, recall, auc, nauc, auc_clairvoyant, auc_bound, cost_50,
      relevant_hosts, self_harvest, curves and more; go doc ./cmd/judge tells of each

The world is closed: what the archives hold. A fetch costs 1, a page that was had already
too; a query 1 for ten results; not_archived, robots, blocked_address, bad_url and budget
nothing. The first T units count: a quarter of the pages that can be reached from the
seeds or five times the R relevant ones, the smaller, but 200 at least. nauc is 0 for
chance and 1 for a crawler that knows all links and labels beforehand.

Labels are lines as {"url":"http://a.example/jazz","labels":["music","history"]}; an
address that redirects labels the page it leads to. The links of the archives are read
once, and kept in a file beside the first of them (.graph) or in -cache.

Without labels, -topic holds the crawl's own relevant against a classifier, which the
crawl must not have seen: precision, recall, F1 and kappa of their agreement, which is
no harvest.

overlap says how much crawls have in common, table compares many: judge table -h.

Example:

    judge -archive web.warc.gz -labels labels.ndjson -label jazz -summary run/judge.json \
        -brief -tee run/verdicts.ndjson.zst run > /dev/null

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full. go doc ./cmd/judge tells more.
`
