package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/weburl"
)

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

// maxBody is how much is decoded, in bytes, for which some four times as much memory
// is taken.
const maxBody = 128 << 20

// cat prints records.
type cat struct {
	*command
	headers, raw, record bool
	capture              archive.Pick
	cache                string
}

func newCat(c *command) func() error {
	k := &cat{command: c}
	c.flags.BoolVar(&k.headers, "headers", false, "print the header of the response, too")
	c.flags.BoolVar(&k.raw, "raw", false, "print the block of the record as it was archived")
	c.flags.BoolVar(&k.record, "record", false, "print the whole record, its own header included, unpacked")
	c.flags.Func("capture", "`which` of several captures: newest (default), first, or the nearest to a date (2024, 20240131, 2024-01-31T12:00:00Z)", func(s string) (err error) {
		k.capture, err = archive.ParsePick(s)
		return err
	})
	c.flags.StringVar(&k.cache, "cache", filter.Cache(), "`directory` for indexes of archives beside which nothing can be written")
	return k.run
}

func (c *cat) run() error {
	asked := 0
	for _, on := range []bool{c.headers, c.raw, c.record} {
		if on {
			asked++
		}
	}
	switch {
	case asked > 1:
		return filter.Usagef("-headers, -raw and -record exclude each other")
	case len(c.args) < 2:
		return filter.Usagef("what, and of which archive?\nhint: warc cat URL FILE..., or warc cat OFFSET FILE")
	case slices.Contains(c.args[1:], archive.Input):
		return filter.Usagef("nothing can be looked up in stdin\nhint: save it to a file")
	}
	what, files := c.args[0], c.args[1:]
	if strings.Trim(what, "0123456789") != "" {
		return c.address(what, files)
	}
	offset, err := strconv.ParseInt(what, 10, 64)
	if err != nil {
		return filter.Usagef("%s is no offset", what)
	}
	return c.offset(offset, files)
}

// open opens the archives to be asked for addresses.
func (c *cat) open(files []string) (*archive.Replay, error) {
	return archive.OpenReplay(files, archive.ReplayOptions{
		Index:  archive.IndexOptions{Cache: c.cache, Report: func(path string, err error) { c.fault(path, err) }},
		Limits: archive.Limits{Body: maxBody},
		Pick:   c.capture,
	})
}

// address prints a capture of an address.
func (c *cat) address(address string, files []string) error {
	url, err := weburl.Canonical(address)
	if err != nil {
		return filter.Usagef("%q is no address: %v", address, err)
	}
	r, err := c.open(files)
	if err != nil {
		return err
	}
	defer r.Close()
	captures := r.Lookup(url)
	if len(captures) == 0 {
		return fmt.Errorf("%w: %s", archive.ErrNotArchived, url)
	}
	return c.print(r, captures[0])
}

// print prints a capture.
func (c *cat) print(r *archive.Replay, capture archive.Capture) error {
	if c.raw || c.record {
		v := r.Volume(capture)
		rec, err := v.At(capture.Offset, capture.Skip)
		if err != nil {
			return err
		}
		return c.asArchived(v, rec)
	}
	page, err := r.Read(capture)
	if page == nil || page.Response == nil {
		return err
	}
	return errors.Join(c.response(page.Response), tooLarge(err))
}

// offset prints the record at an offset.
func (c *cat) offset(offset int64, files []string) error {
	volumes := 0
	for v, err := range archive.Volumes(files, nil) {
		if err == nil {
			volumes++
		} else if !c.fault(v.Path, err) {
			return err
		}
	}
	if volumes > 1 {
		return filter.Usagef("an offset is one in a file, but there are %d\nhint: name one, as ls prints it", volumes)
	}
	for v, err := range archive.Volumes(files, nil) {
		if err != nil {
			continue // has been reported
		}
		rec, err := v.At(offset, 0)
		if err != nil {
			return err
		}
		return c.at(&v, rec, files)
	}
	return hollow(0, c.tally.Skipped["fault"])
}

func (c *cat) at(v *archive.Volume, rec *archive.Record, files []string) error {
	kind := rec.Type()
	http := strings.HasPrefix(rec.Header.Get("Content-Type"), "application/http")
	switch {
	case c.raw, c.record, kind != "revisit" && (kind != "response" || !http):
		return c.asArchived(v, rec)
	case kind == "response":
		d := archive.Decoder{Limits: archive.Limits{Body: maxBody}}
		resp, err := d.Response(rec)
		if resp == nil {
			return err
		}
		return errors.Join(c.response(resp), tooLarge(err))
	}
	url, err := weburl.Canonical(rec.TargetURI())
	if err != nil {
		return fmt.Errorf("the revisit is of %q: %w", rec.TargetURI(), err)
	}
	r, err := c.open(files)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, capture := range r.Lookup(url) {
		if capture.Offset == rec.Offset && capture.Skip == rec.Skip {
			return c.print(r, capture)
		}
	}
	return fmt.Errorf("%w: %s", archive.ErrNotArchived, url)
}

// tooLarge says what to do about a body that was cut.
func tooLarge(err error) error {
	if errors.Is(err, archive.ErrTooLarge) {
		return fmt.Errorf("%w\nhint: warc cat -raw prints what was archived", err)
	}
	return err
}

// asArchived prints a record, or its block, as it stands in the archive.
func (c *cat) asArchived(v *archive.Volume, rec *archive.Record) error {
	var err error
	if c.record {
		err = v.Copy(c.stdout, rec)
	} else {
		_, err = io.Copy(c.stdout, rec)
	}
	if err != nil {
		return fmt.Errorf("%s at byte %d: %w", v.Path, rec.Offset, err)
	}
	return rec.Close()
}

// response prints a response.
func (c *cat) response(r *archive.Response) error {
	if c.headers {
		fmt.Fprintf(c.stdout, "%s %d %s\r\n", r.Proto, r.StatusCode, r.Reason)
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			for _, value := range r.Header[name] {
				fmt.Fprintf(c.stdout, "%s: %s\r\n", http.CanonicalHeaderKey(name), value)
			}
		}
		io.WriteString(c.stdout, "\r\n") // an error stays with the writer
	}
	_, err := c.stdout.Write(r.Body)
	return err
}
