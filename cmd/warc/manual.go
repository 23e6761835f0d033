package main

// manual is what warc -h prints.
const manual = `
warc - look after web archives

Usage: warc COMMAND [flags] FILE...

    pack     make a WACZ file of archives

warc COMMAND -h tells more of each.

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

const packManual = `
warc pack - make a WACZ file of archives

Usage: warc pack -o OUT.wacz [-scored FILE]... FILE...

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`
