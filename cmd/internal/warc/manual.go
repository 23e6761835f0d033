// Warc lists, reads, indexes, verifies, repairs and packs web archives.
//
// # Usage
//
//	warc ls     [flags] [FILE…]              list records
//	warc cat    [flags] URL|OFFSET FILE…     print the content of a record
//	warc index  [-w] [FILE…]                 print or write CDXJ indexes
//	warc verify [flags] [FILE…]              list faults
//	warc repair -o OUT FILE, or -w FILE…     write a copy without the faults
//	warc pack   -o OUT.wacz [flags] FILE…    make a WACZ file for replayweb.page
//
// FILE is an archive: WARC 0.17 to 1.1 or ARC, uncompressed or compressed with gzip or
// zstd; a WACZ, which stands for the files in its directory archive/; or one of these
// files, such as x.wacz/archive/y.warc.gz. A directory stands for the archives in and
// below it, a pattern for the archives that it matches, and - for stdin. Ls, index and
// verify read stdin if no FILE is given.
//
// # Output
//
// Ls prints a line per record: offset, length, type, date, status, media type, URL and
// file, separated by tabs, with "-" for missing values; with -json a JSON object. The
// length is 0 for a record that shares its gzip member with others. -type, -status (404,
// or 4xx) and -mime (image/png, or image/*) take comma-separated lists; -url takes the
// prefix of a URL, or of its SURT, as in "org,example)/a". A record must match all flags.
// Offset and file are the arguments of cat.
//
// Cat prints the body of a URL without chunks and content coding; for a revisit, the body of
// its original. Of several captures it takes the newest, or the one selected by -capture. As in
// fetch, whole pages come first, and a revisit without its original is skipped. If the argument
// is a number, it is the offset of a record, as printed by ls, in the one FILE given. -headers
// also prints the header of the response, -raw the block as it was archived, -record the whole
// record, decompressed. Bodies are decoded up to 128 MiB. Cat looks URLs up in the indexes of
// the archives, and writes missing ones to -cache.
//
// Index prints the lines of these indexes, sorted over all files, for pywb and other programs.
// -w writes them beside the archives instead, as FILE.cdxj, but never replaces another
// program's file. Nothing else is written beside archives. All commands use an index that is
// there, if the size and time of the archive and a checksum agree with it. What it says of a
// page is compared with the archive whenever the page is read, but a page that it lacks is not
// found. So remove the .cdxj files that come with the archives of somebody else, or run verify.
//
// Verify prints file, offset, kind and description of each finding; with -json an object. It
// checks block and payload digests (SHA-1, SHA-256, SHA-512 and MD5, in base32, base64 or
// hexadecimal; the payload with or without chunks), lengths, the end of each record, that each
// record is complete and alone in its gzip member or zstd frame, mandatory fields, dates, that
// record identifiers are unique, and that HTTP responses have a status of 200 to 999. In a WACZ
// it also checks that the listed files exist and have the listed digests. If an archive has an
// up-to-date index beside it, FILE.cdxj, verify compares its lines with those of a new index
// (kind index). Warnings are findings without loss of data, such as a reference to a record
// that is in none of the files, an unknown digest algorithm, a record in several members or
// frames, or a date that WARC 1.1 does not allow; they fail only with -strict. The payload
// digest of a revisit is not checked, since its payload is elsewhere. For each file, verify and
// repair print the first thousand findings of kind "format" and count the others.
//
// Repair copies complete records byte for byte, cuts off truncated ends, corrects a
// wrong length if a digest or the next record shows the right one, gives each record its
// own gzip member, removes data that is not a record and wrong digests, and replaces
// identifiers that are missing or not unique. It prints each repair like verify. Verify
// finds no faults in the result, and repairing it changes nothing. -w replaces files
// that have faults and keeps the originals as FILE.bak. An abandoned FILE.open is
// renamed to FILE, which is printed as a repair. A file that is being written is not
// changed.
//
// Pack writes a WACZ 1.1.1 with archives, an index, a list of pages, and digests of
// everything. Archives with one gzip member per record are copied, others recompressed. The
// list contains all HTML pages with status 200, or those in the records of -scored, with
// title and score, each once with its best score. Such a page is found by warc_filename and
// warc_offset, or else by URL, timestamp and digest, so archives may have been renamed or
// repacked. Pages that are not found are counted; if none is found, pack fails. -relevant
// packs only pages with "relevant":true, with their requests, metadata, redirects and
// originals of revisits. Replayers compare addresses exactly: the index and the list have them
// as archived, and the index also as page links spell them ("/%7Euser/"). Responses that are
// not a whole page (status 304, parts of status 206) are not in the index. The same input makes
// the same bytes; -created sets the creation date, which is otherwise that of the newest
// capture.
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
// 0 done; 1 failed: also if there was no record, if cat found nothing, if verify found a
// fault, and if ls, index or verify skipped an archive that could not be read; 2 misuse;
// 3 disk full; 130 and 143 interrupted: repair and pack leave the current file as it was.
//
// # Limitations
//
// Verify and repair compare identifiers with the first million only. Repair and pack need
// temporary space beside their output, for the largest decompressed gzip member, or for
// archives that must be recompressed. Repair does not accept ARC and WACZ files, and skips
// those in a directory. Reading a revisit takes time in proportion to the captures of its address.
// A command whose stdout is closed (>&-) ends with status 0.
package warc

// manual is printed by warc -h.
const manual = `
warc - list, read, index, verify, repair and pack web archives

Usage: warc COMMAND [flags] FILE...

    ls       list records
    cat      print the content of a record, by URL or offset
    index    print or write CDXJ indexes
    verify   list faults
    repair   write a copy without the faults
    pack     make a WACZ file

In:   archives: WARC or ARC, plain, gzip or zstd; WACZ; directories of them; stdin
      (-, or no FILE) for ls, index and verify
Out:  lines; cat prints archived content; repair and pack write files

warc COMMAND -h describes a command.

Example:

    warc ls -status 200 -mime text/html crawl/warc | cut -f 7 | sort -u
    warc cat https://go.dev/ crawl/warc > index.html
    warc verify crawl/warc || warc repair -w crawl/warc
    warc pack -o crawl.wacz crawl/warc

Exit status: 0 done; 1 failed, also if cat found nothing or verify found a fault;
2 misuse; 3 disk full; 130 and 143 interrupted.
`

const lsManual = `
warc ls - list the records of archives

Usage: warc ls [flags] [FILE...]

In:   archives, directories of them, or stdin
Out:  a line per record: offset, length, type, date, status, media type, URL and
      file, separated by tabs, "-" for missing values; with -json an object

The length is 0 for a record that shares its gzip member with others. Lists in
flags are separated by commas; a record must match all flags. Offset and file
are the arguments of cat.

Parts of an archive that cannot be read are reported and left out, and an archive
that cannot be opened is reported and skipped. A named pipe or a device in a
directory is an error.

Example:

    warc ls -type response -status 200 -url 'com,example)' crawl/warc

Exit status: 0 done, 1 failed, also if an archive was skipped or no record could
be read; 2 misuse, 3 disk full.
`

const catManual = `
warc cat - print the content of a record

Usage: warc cat [flags] URL FILE...
       warc cat [flags] OFFSET FILE

In:   archives, or directories of them
Out:  the body, without chunks and content coding; for a revisit, the body of
      its original

A number is an offset, as printed by ls; anything else is a URL: cat prints its
newest capture, or the one selected by -capture.

Example:

    warc cat -headers https://go.dev/ crawl/warc
    warc cat -record 1043 web.warc.gz

Exit status: 0 done, 1 failed, also if nothing was found, 2 misuse, 3 disk full.
`

const indexManual = `
warc index - index archives

Usage: warc index [flags] [FILE...]

In:   archives, directories of them, or stdin
Out:  the CDXJ lines of all archives, sorted by bytes: SURT, timestamp, JSON;
      nothing with -w

-w writes the index of each archive beside it, as FILE.cdxj, where all commands
use it. It keeps an index that is up to date, and fails if another program wrote
the file.

Parts of an archive that cannot be read are reported and left out, and an archive
that cannot be opened is reported and skipped. A named pipe or a device in a
directory is an error.

Example:

    warc index crawl/warc > crawl.cdxj

Exit status: 0 done, 1 failed, also if an archive was skipped or no record could
be read; 2 misuse, 3 disk full.
`

const verifyManual = `
warc verify - check archives

Usage: warc verify [flags] [FILE...]

In:   archives, directories of them, or stdin
Out:  a line per finding: FILE:OFFSET: kind: description; with -json an object

Kinds: format (truncated, not a record, wrong length), end (not two empty lines
after a record), member (not one record per gzip member or zstd frame), field
(missing, or an invalid date), digest, status (of an HTTP response, not 200 to
999), duplicate (identifier), reference (to a missing record), package
(a WACZ does not match its description), index (FILE.cdxj beside the archive lacks
lines, or has others), limit (not all record identifiers were compared).
A finding without loss of data is a warning. At most 1,000 findings of kind "format" are printed for
each file.

Example:

    warc verify crawl/warc || warc repair -w crawl/warc

Exit status: 0 no faults except warnings; 1 a fault (with -strict also a warning),
or an archive that could not be read; 2 misuse; 3 disk full.
`

const repairManual = `
warc repair - write archives without their faults

Usage: warc repair -o OUT FILE
       warc repair -w FILE...

In:   WARC files, or with -w directories, in which ARC and WACZ files are skipped
Out:  a line per repair: FILE:OFFSET: kind: description; with -json an object

Complete records are copied byte for byte. Truncated ends, data that is not a
record, records without type or date, and wrong digests are left out; lengths are
corrected if the right one is known; each record gets its own gzip member. Verify
finds no faults in the result, and repairing it changes nothing. At most 1,000 repairs of kind
"format" are printed for each file.

-w keeps the original of a file with faults beside it as FILE.bak, and renames an
abandoned FILE.open (kind name). A file that is being written is not changed.

Example:

    warc repair -w crawl/warc

Exit status: 0 done, with or without repairs; 1 failed, also if there is no record;
2 misuse; 3 disk full; 130 and 143 interrupted: the current file is as it was.
`

const packManual = `
warc pack - make a WACZ file of archives

Usage: warc pack -o OUT.wacz [-scored FILE]... [-relevant] [flags] FILE...

In:   archives, or directories of them; records with scores (-scored)
Out:  a WACZ 1.1.1, for replayweb.page

Archives with one gzip member per record are copied, others recompressed. The
list of pages contains all HTML pages with status 200; with -scored, instead the
pages in FILE, with title and score. -relevant lists only those with
"relevant":true, and packs only their records: request, response, metadata,
redirects to them, and originals of revisits. A scored page is found by
warc_filename and warc_offset, or else by URL, timestamp and digest, so archives
may have been renamed or packed into a WACZ since; pack fails if no page is found.
A page with several records is listed once, with the best score. The same input makes the same bytes. The last line on stderr
counts records (in), listed pages (out) and archives.

Example:

    cat crawl/generations/*/scored.ndjson.zst |
        warc pack -o found.wacz -relevant -scored - crawl/warc

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted:
nothing is written.
`
