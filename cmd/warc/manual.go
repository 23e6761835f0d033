package main

// manual is what warc -h prints.
const manual = `
warc - look after web archives

Usage: warc COMMAND [flags] FILE...

    ls       list records
    cat      print what a record holds, by address or offset
    index    print or write CDXJ
    verify   say what is wrong
    repair   write a copy without what is wrong
    pack     make a WACZ file

In:   archives: WARC or ARC, plain, gzip or zstd; WACZ; directories of them; stdin
      (-, or no FILE) for ls, index and verify
Out:  lines; for cat what was archived; for repair and pack files

warc COMMAND -h tells more of each.

Example:

    warc ls -status 200 -mime text/html crawl/warc | cut -f 7 | sort -u
    warc cat https://go.dev/ crawl/warc > index.html
    warc verify crawl/warc || warc repair -w crawl/warc
    warc pack -o crawl.wacz crawl/warc

Exit status: 0 done; 1 failed, which is also that cat did not find it and that verify
found something; 2 misuse; 3 disk full; 130 and 143 interrupted.
go doc ./cmd/warc tells more.
`
