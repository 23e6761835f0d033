// Memo remembers what a command made of each address, so that it need not be asked twice.
//
// # Usage
//
//	memo -store FILE -fill [flags] -- COMMAND [ARG...] < records
//	memo -store FILE [flags] -- COMMAND [ARG...] < records
//
// It stands in the place of COMMAND: a stage of a pipeline, or several.
//
// # Records
//
// In: any. COMMAND is a filter that gives one record for every record, in their order and
// with the same url, as fetch -archive, parse and score do; or a pipeline of these in a
// shell.
//
// With -fill every record goes through COMMAND and leaves as COMMAND gave it. What it made
// of each address, failures included, is kept in FILE, which is there as a whole when all
// went well, and as it was before when not. Of an address that comes twice the first
// answer is kept.
//
// Without, a record whose url is in FILE does not go through COMMAND. It leaves with its
// own address section (generation, depth, via, parents, operator, priority, niche, query,
// retries, reasons and the like) and fields that have no name in a record; all else
// is what FILE holds. So it is as if COMMAND had been asked, if what COMMAND makes of a
// record depends on its url alone. Addresses are the same if they are spelled the same.
// Other records go through COMMAND, which is started when there is one. The order is
// that of the input.
//
// A query, which is a record without a url, passes as it came.
//
// # The store
//
// FILE is not changed by reading: any number of processes may use it at the same time.
// It is read in place, a few hundred bytes and the answer for each record, whatever its size.
// It begins with the answers, a JSON object a line, so head and grep can look into it; behind
// them is an index.
//
// FILE does not know what COMMAND was, nor of what it was made: when the command, its
// files or its flags change, fill it anew.
//
// # Example
//
// Another strategy on the same archive need not parse it again:
//
//	$ memo -store parsed.memo -fill -- bash -o pipefail -c 'fetch -archive web.warc.gz | parse -within web.warc.gz' < addresses > parsed.ndjson
//	$ FETCH="memo -store parsed.memo -- bash -o pipefail -c 'fetch -archive web.warc.gz | parse -within web.warc.gz'" PARSE=cat \
//	    scripts/crawl -run run -topic topic.json -seeds seeds.txt -archive web.warc.gz
//
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full. If COMMAND fails, its status, and FILE stays as
// it was.
//
// # Limitations
//
// A COMMAND that answers a record only after it has read many more is given no more, and
// started anew for the next, once 64 MiB of other records wait behind it.
package main

import (
	"errors"
	"fmt"
	"io"

	"spoor/cmd/internal/filter"
)

const manual = `
memo - remember what a command made of each address

Usage: memo -store FILE -fill -- COMMAND [ARG...] < records
       memo -store FILE -- COMMAND [ARG...] < records

In:   any records; COMMAND is a filter of one record for one, in their order
Out:  what COMMAND would have made of them

With -fill all records go through COMMAND, and FILE is made of what it gave: whole, or
not at all. Without, a record whose url is in FILE leaves at once, with its own
address section (generation, via, operator, priority, ...) and all else from FILE;
others go through COMMAND, which is started when it is needed. Queries pass.

FILE can be read by many at once. It does not know what COMMAND was: when that, its
flags or its files change, fill FILE anew.

Example:

    memo -store parsed.memo -fill -- bash -o pipefail -c \
        'fetch -archive web.warc.gz | parse -within web.warc.gz' < addresses > parsed.ndjson
    memo -store scored.memo -fill -- score -topic topic.json < parsed.ndjson > scored.ndjson

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full; of COMMAND, if that fails.
go doc ./cmd/memo tells more.
`

func main() { filter.Main("memo", run) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	fs := filter.Flags("memo", manual, stderr)
	name := fs.String("store", "", "the `file` that remembers")
	fill := fs.Bool("fill", false, "make the store, of what COMMAND gives for the records")
	s := filter.Stream{Name: "memo", Stderr: stderr}
	s.CommonFlags(fs)
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	switch {
	case *name == "":
		return filter.Usagef("which store? -store FILE")
	case fs.NArg() == 0:
		return filter.Usagef("which command? memo -store FILE -- COMMAND")
	}
	out, closeTee, err := filter.Tee(stdout, s.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTee()) }()

	log := filter.Logger(stderr, "memo", s.Log)
	m := memo{Stream: s, argv: fs.Args(), tally: filter.NewTally(log)}
	if *fill {
		err = m.fill(*name, stdin, out)
	} else {
		err = m.recall(*name, stdin, out)
	}
	if err == nil {
		err = m.tally.Misfit()
	}
	return err
}

// fill makes the store called name.
func (m *memo) fill(name string, in io.Reader, out io.Writer) error {
	b, err := create(name)
	if err != nil {
		return err
	}
	defer b.abandon()
	m.keep = b.add
	if err := m.all(in, out); err != nil {
		return err
	}
	if m.asked == 0 {
		return fmt.Errorf("no record, so %s was not made", name)
	}
	return b.commit()
}

// recall answers from the store called name.
func (m *memo) recall(name string, in io.Reader, out io.Writer) error {
	var err error
	if m.store, err = open(name); err != nil {
		return err
	}
	defer m.store.close()
	return m.all(in, out)
}
