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

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"io"
	"log/slog"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
)

// A subcommand is one of the commands of warc.
type subcommand struct {
	name, manual string
	new          func(*command) func() error // sets up flags; what it returns does the work
}

func subcommands() []subcommand {
	return []subcommand{
		{"ls", lsManual, newList},
		{"cat", catManual, newCat},
		{"index", indexManual, newIndex},
		{"verify", verifyManual, newVerify},
		{"repair", repairManual, newRepair},
		{"pack", packManual, newPack},
	}
}

func main() { filter.Main("warc", run) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var names []string
	for _, s := range subcommands() {
		if len(args) > 0 && args[0] == s.name {
			return s.run(args[1:], stdin, stdout, stderr)
		}
		names = append(names, s.name)
	}
	if err := filter.Parse(filter.Flags("warc", manual, stderr), args); err != nil {
		return err
	}
	known := strings.Join(names, ", ")
	if len(args) == 0 {
		return filter.Usagef("what to do? %s\nhint: warc -h tells more", known)
	}
	return filter.Usagef("no command %q; there are %s\nhint: warc -h tells more", args[0], known)
}

// A command is what the subcommands share.
type command struct {
	flags  *flag.FlagSet
	args   []string // that are no flags
	stdin  io.Reader
	stdout *bufio.Writer
	log    *slog.Logger
	told   filter.Faults
	tally  *filter.Tally
	unread error // of the first archive that could not be read
}

func (s subcommand) run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c := &command{flags: filter.Flags("warc "+s.name, s.manual, stderr), stdin: stdin, stdout: bufio.NewWriterSize(stdout, 1<<16)}
	var format string
	filter.LogFlag(c.flags, &format)
	work := s.new(c)
	var err error
	if c.args, err = filter.ParseMixed(c.flags, args); err != nil {
		return err
	}
	c.log = filter.Logger(stderr, "warc "+s.name, format)
	c.told = filter.Faults{Log: c.log}
	c.tally = filter.NewTally(c.log)
	err = work()
	if e := c.stdout.Flush(); e != nil {
		return e // worse than what the lost lines said
	}
	return err
}

// files are the archives that are named, stdin if none is.
func (c *command) files() []string {
	if len(c.args) == 0 {
		return []string{archive.Input}
	}
	return c.args
}

// errHollow is what archives without a record are.
var errHollow = errors.New("no record could be read\nhint: archives are WARC or ARC files, plain or packed, and WACZ files")

// hollow is an error if there were faults and not one record.
func hollow(records, faults int64) error {
	if records == 0 && faults > 0 {
		return errHollow
	}
	return nil
}

// leftOut reports an archive that cannot be read, or not to its end, which is no reason to
// leave the others out. It ends the command with an error when all is done. An error that
// is of no archive is worse.
func (c *command) leftOut(path string, err error) bool {
	if path == "" {
		return false
	}
	c.log.Warn("left out what could not be read", "archive", path, "err", err)
	c.unread = cmp.Or(c.unread, err)
	return true
}

// fault reports what is wrong with an archive, if err is nothing worse.
func (c *command) fault(path string, err error) bool {
	fault, ok := errors.AsType[*archive.FormatError](err)
	if ok {
		c.tally.Skipped["fault"]++
		if c.told.Tell(path) {
			c.log.Warn("left out what cannot be read of an archive", "archive", path, "err", fault)
		}
	}
	return ok
}
