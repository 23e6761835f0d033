// Warc looks after web archives: it lists, reads, indexes, checks, repairs and
// packs them.
//
// # Usage
//
//	warc ls     [flags] [FILE…]              a line a record
//	warc cat    [flags] URL|OFFSET FILE…     what a record holds
//	warc index  [-w] [FILE…]                 CDXJ
//	warc verify [flags] [FILE…]              what is wrong, a line each
//	warc repair -o OUT FILE, or -w FILE…     a copy without what is wrong
//	warc pack   -o OUT.wacz [flags] FILE…    a WACZ file for replayweb.page
//
// FILE is an archive: WARC 0.17 to 1.1 or ARC, plain or packed by gzip or zstd, or
// a WACZ, in which the files below archive/ are meant, or one of those, as
// x.wacz/archive/y.warc.gz; a directory stands for the archives in and below it, a
// pattern for those that it matches, and - for stdin, which is read where no FILE is
// named and one pass is enough (ls, index, verify).
//
// # Output
//
// Ls prints offset, length, type, date, status, media type, address and file,
// separated by tabs, "-" where there is nothing to say; with -json an object. The
// length is 0 for a record that shares its gzip member with others. -type, -status
// (404, or 4xx) and -mime (image/png, or image/*) take lists separated by commas, -url
// the beginning of an address, or of its SURT, as "org,example)/a"; records must pass
// all that are given. Offset and file can be given to cat.
//
// Cat prints the body that an address had: without chunks and content coding, and
// for a revisit that of its original. Of several captures it takes the newest, or
// the one that -capture says, as fetch does. An argument of nothing but digits is
// the offset of a record in the one FILE, as ls prints it. With -headers the header
// of the response comes first, with -raw it is the block as it was archived, with
// -record the whole record, unpacked. A body is not decoded beyond 128 MiB. Cat looks
// addresses up in the indexes of the archives, which it writes beside them, or into
// -cache, where there are none.
//
// Index prints the lines of these indexes, sorted over all files, for pywb and
// others. -w writes them beside the archives instead, as FILE.cdxj.
//
// Verify prints FILE, offset, kind and words for each finding, with -json an
// object. It checks digests of blocks and payloads (SHA-1, SHA-256, SHA-512 and
// MD5, in base32, base64 or hexadecimal; the payload with or without its chunks),
// lengths, ends, that each record is whole and alone in its gzip member or zstd
// frame, the fields which every record must have, dates, and that identifiers are
// there once; of a WACZ also that the files which it lists are there, with the
// digests that it tells. Warnings do not make it fail, unless -strict is given: a
// reference to a record that none of the files holds, a digest of an unknown kind,
// and what else loses nothing. The payload of a revisit is elsewhere, so its digest
// is not checked. Of the faults of format in a file verify and repair print the first
// thousand, as all commands report a thousand faults of an archive; the others are
// counted.
//
// Repair keeps what is whole byte for byte, cuts a torn end off, corrects lengths
// where digests or neighbours tell the truth, gives records that share a gzip member
// one each, leaves out rubbish and digests that are wrong, and replaces identifiers
// that are missing or twice there. It says what it did, a line each, as verify does.
// Verify finds no fault with the result, and repairing that changes nothing. With -w
// files are replaced, if there was something to do, and stay beside it as FILE.bak;
// what fetch left as FILE.open gets its name, which is a line, too. A file that is being written is left
// alone.
//
// Pack makes a WACZ 1.1.1: archives as they are if they have one gzip member a
// record, else made so, an index, a list of pages, and digests of everything. Pages
// are all of HTML with status 200, or those in the records of -scored, with title
// and score, each once with its best. They are found by warc_filename and warc_offset,
// or else, as archives are renamed, packed and piped, by address, timestamp and
// digest; those that are not are counted, and that none is makes pack fail. With
// -relevant only pages whose record says "relevant":true are packed,
// with their requests and metadata, the redirects that led to them and the
// originals of revisits. The same input makes the same bytes; -created sets the
// date, which else is that of the newest capture.
//
// # Example
//
//	warc ls -status 200 -mime text/html crawl/warc | cut -f 7 | sort -u
//	warc cat https://go.dev/ crawl/warc > index.html
//	warc verify crawl/warc || warc repair -w crawl/warc
//	cat crawl/generations/*/scored.ndjson.zst |
//		warc pack -o found.wacz -relevant -scored - crawl/warc
//
// # Exit status
//
// 0 done; 1 failed, which is also that there was no record, that cat did not find it,
// that verify found something and that ls, index or verify left out an archive that
// could not be read; 2 misuse; 3 disk full; 130 and 143 interrupted: what repair and pack
// were at is as it was.
//
// # Limitations
//
// Verify and repair remember a million identifiers; what comes later is compared
// with those. Repair and pack need temporary space beside their output: for the
// largest gzip member unpacked, or archives that cannot be packed as they are.
// Repair takes neither ARC nor WACZ, and passes over those in a directory.
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

const lsManual = `
warc ls - list the records of archives

Usage: warc ls [flags] [FILE...]

In:   archives, directories of them, or stdin
Out:  a line a record: offset, length, type, date, status, media type, address and
      file, separated by tabs, "-" for what is not there; with -json an object

The length is 0 for a record that shares its gzip member with others. Flags that
take a list want it separated by commas; a record must pass all of them. Cat takes
an offset with the file as it is printed.

Example:

    warc ls -type response -status 200 -url com,example) crawl/warc

Exit status: 0 done, 1 failed, also that an archive could not be read, which is
reported and left out; 2 misuse, 3 disk full.
`

const catManual = `
warc cat - print what a record of an archive holds

Usage: warc cat [flags] URL FILE...
       warc cat [flags] OFFSET FILE

In:   archives, or directories of them
Out:  the body, without chunks and content coding; that of the original for a
      revisit

An argument of nothing but digits is an offset, as ls prints it; any other is an
address, of which the newest capture is taken, or the one that -capture says.

Example:

    warc cat -headers https://go.dev/ crawl/warc
    warc cat -record 1043 web.warc.gz

Exit status: 0 done, 1 failed, as when it is not there, 2 misuse, 3 disk full.
`

const indexManual = `
warc index - index archives

Usage: warc index [flags] [FILE...]

In:   archives, directories of them, or stdin
Out:  the CDXJ lines of all, sorted by bytes: SURT, timestamp, JSON; with -w nothing

With -w each archive gets its index, FILE.cdxj, beside it, as fetch -archive makes
it; one that is up to date stays.

Example:

    warc index crawl/warc > crawl.cdxj

Exit status: 0 done, 1 failed, also that an archive could not be read, which is
reported and left out; 2 misuse, 3 disk full.
`

const verifyManual = `
warc verify - check archives

Usage: warc verify [flags] [FILE...]

In:   archives, directories of them, or stdin
Out:  a line for each thing that is wrong: FILE:OFFSET: kind: words; with -json an
      object

Kinds: format (torn, rubbish, wrong length), end (not two empty lines behind a
record), member (not one record a gzip member or zstd frame), field (missing, or no
date), digest, duplicate (identifier), reference (to a record that is not there),
package (a WACZ that does not hold what it says), limit (not checked). What may be
meant so, and loses nothing, is a warning. Of the kind format the first thousand of a
file are printed.

Example:

    warc verify crawl/warc || warc repair -w crawl/warc

Exit status: 0 nothing is wrong but for warnings, 1 something is (with -strict a
warning, too) or could not be read, 2 misuse, 3 disk full.
`

const repairManual = `
warc repair - write archives without what is wrong with them

Usage: warc repair -o OUT FILE
       warc repair -w FILE...

In:   WARC files, or with -w directories of them, in which ARC and WACZ are passed over
Out:  a line for each thing that was done: FILE:OFFSET: kind: words; with -json an
      object

Whole records are kept byte for byte. Left out are a torn end, rubbish, records
without type or date, and digests that are wrong; lengths are corrected where the
truth is known; records that share a gzip member get one each. Verify finds no fault
with the result, and repairing it changes nothing. Of the kind format the first
thousand of a file are printed.

With -w what FILE was stays beside it as FILE.bak, if there was something to do, and
FILE.open that nobody writes any more gets its name (kind name). A file that is being
written is left alone.

Example:

    warc repair -w crawl/warc

Exit status: 0 done, whatever there was to do; 1 failed, as when there is no record
at all; 2 misuse; 3 disk full; 130 and 143 interrupted: the file it was at is as it
was.
`

const packManual = `
warc pack - make a WACZ file of archives

Usage: warc pack -o OUT.wacz [-scored FILE]... [-relevant] [flags] FILE...

In:   archives, or directories of them; records with scores (-scored)
Out:  a WACZ 1.1.1, which replayweb.page shows

Archives with one gzip member a record are packed as they are, others are made so.
The pages listed are all of HTML with status 200; or those in the scored records,
with title and score; or with -relevant those of them that are "relevant":true, and
then only their records are packed: request, response, metadata, the redirects that
led to them, the originals of revisits. A page is found by warc_filename and
warc_offset, or else by address, timestamp and digest, so FILE may have another name
or be a WACZ by now; none that is found is a failure. A page with several records is
listed once, with the best score. The same input makes the same bytes. The closing
line counts records (in), listed pages (out) and archives.

Example:

    cat crawl/generations/*/scored.ndjson.zst |
        warc pack -o found.wacz -relevant -scored - crawl/warc

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted, with
nothing written.
`
