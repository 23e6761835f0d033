package warc

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/collection"
	"spoor/internal/weburl"
)

// newCat is warc cat.
func newCat(c *command) func() error {
	p := &collection.Printer{W: c.stdout, Fault: c.fault}
	p.Index.Report = func(path string, err error) { c.fault(path, err) }
	c.flags.BoolVar(&p.Headers, "headers", false, "print the header of the response, too")
	c.flags.BoolVar(&p.Raw, "raw", false, "print the block of the record as it was archived")
	c.flags.BoolVar(&p.Record, "record", false, "print the whole record, decompressed, with its header")
	c.flags.Func("capture", "`which` of several captures: newest (default), first, or the nearest to a date (2024, 20240131, 2024-01-31T12:00:00Z)", func(s string) (err error) {
		p.Pick, err = archive.ParsePick(s)
		return err
	})
	filter.CacheFlag(c.flags, &p.Index.Cache, "indexes of archives")
	return func() error { return cat(p, c.args) }
}

// isAddress reports whether an argument is the address of a page rather than the name of a file.
func isAddress(arg string) bool {
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

func cat(p *collection.Printer, args []string) error {
	switch {
	case p.Headers && p.Raw, p.Raw && p.Record, p.Record && p.Headers:
		return filter.Usagef("-headers, -raw and -record exclude each other")
	case len(args) < 2:
		return filter.Usagef("URL or offset, and archive needed\nhint: warc cat URL FILE..., or warc cat OFFSET FILE")
	case slices.Contains(args[1:], archive.Input):
		return filter.Usagef("cat cannot read from stdin\nhint: save it to a file")
	}
	what, files := args[0], args[1:]
	for _, file := range files {
		if _, err := os.Stat(file); err != nil && isAddress(file) {
			return filter.Usagef("%s is no archive: cat prints one address at a time\nhint: warc cat URL FILE...", file)
		}
	}
	if strings.Trim(what, "0123456789+") != "" {
		url, err := weburl.Canonical(what)
		if err != nil {
			return filter.Usagef("%q is no address: %v", what, err)
		}
		return p.URL(url, files)
	}
	start, inside, shared := strings.Cut(what, "+")
	if !shared {
		inside = "0"
	}
	offset, err := strconv.ParseInt(start, 10, 64)
	skip, skipErr := strconv.ParseInt(inside, 10, 64)
	if err != nil || skipErr != nil {
		return filter.Usagef("%s is no offset", what)
	}
	if err = p.Offset(offset, skip, files); errors.Is(err, collection.ErrSeveralFiles) {
		err = filter.Exit(filter.StatusMisuse, err)
	}
	return err
}
