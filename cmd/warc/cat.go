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

// maxBody limits how much of a body is decoded, in bytes; decoding takes about four times as
// much memory.
const maxBody = 128 << 20

// cat is warc cat.
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
	c.flags.BoolVar(&k.record, "record", false, "print the whole record, decompressed, with its header")
	c.flags.Func("capture", "`which` of several captures: newest (default), first, or the nearest to a date (2024, 20240131, 2024-01-31T12:00:00Z)", func(s string) (err error) {
		k.capture, err = archive.ParsePick(s)
		return err
	})
	c.flags.StringVar(&k.cache, "cache", filter.Cache(), "`directory` for indexes of archives beside which nothing can be written")
	return k.run
}

func (c *cat) run() error {
	switch {
	case c.headers && c.raw, c.raw && c.record, c.record && c.headers:
		return filter.Usagef("-headers, -raw and -record exclude each other")
	case len(c.args) < 2:
		return filter.Usagef("URL or offset, and archive needed\nhint: warc cat URL FILE..., or warc cat OFFSET FILE")
	case slices.Contains(c.args[1:], archive.Input):
		return filter.Usagef("cat cannot read from stdin\nhint: save it to a file")
	}
	what, files := c.args[0], c.args[1:]
	if strings.Trim(what, "0123456789") != "" {
		url, err := weburl.Canonical(what)
		if err != nil {
			return filter.Usagef("%q is no address: %v", what, err)
		}
		return c.url(url, files, func(*archive.Capture) bool { return true })
	}
	offset, err := strconv.ParseInt(what, 10, 64)
	if err != nil {
		return filter.Usagef("%s is no offset", what)
	}
	return c.offset(offset, files)
}

// url prints the first capture of a canonical URL that matches.
func (c *cat) url(url string, files []string, match func(*archive.Capture) bool) error {
	r, err := archive.OpenReplay(files, archive.ReplayOptions{
		Index:  archive.IndexOptions{Cache: c.cache, Report: func(path string, err error) { c.fault(path, err) }},
		Limits: archive.Limits{Body: maxBody},
		Pick:   c.capture,
	})
	if err != nil {
		return err
	}
	defer r.Close()
	for _, capture := range r.Lookup(url) {
		if !match(&capture) {
			continue
		}
		if c.raw || c.record {
			v := r.Volume(capture)
			rec, err := v.At(capture.Offset, capture.Skip)
			if err != nil {
				return err
			}
			return c.archived(v, rec)
		}
		page, err := r.Read(capture)
		if page == nil || page.Response == nil {
			return err
		}
		return c.response(page.Response, err)
	}
	return fmt.Errorf("%w: %s", archive.ErrNotArchived, url)
}

// offset prints the record at an offset of the only file.
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
			continue // was reported above
		}
		rec, err := v.At(offset, 0)
		if err != nil {
			return err
		}
		return c.volumeRecord(&v, rec, files)
	}
	return errIfEmpty(0, c.tally.Skipped["fault"])
}

// volumeRecord prints a record of a volume. The body of a revisit is in another record.
func (c *cat) volumeRecord(v *archive.Volume, rec *archive.Record, files []string) error {
	kind := rec.Type()
	isHTTP := strings.HasPrefix(rec.Header.Get("Content-Type"), "application/http")
	switch {
	case c.raw, c.record, kind != "revisit" && (kind != "response" || !isHTTP):
		return c.archived(v, rec)
	case kind == "response":
		d := archive.Decoder{Limits: archive.Limits{Body: maxBody}}
		resp, err := d.Response(rec)
		if resp == nil {
			return err
		}
		return c.response(resp, err)
	}
	url, err := weburl.Canonical(rec.TargetURI())
	if err != nil {
		return fmt.Errorf("the revisit is of %q: %w", rec.TargetURI(), err)
	}
	return c.url(url, files, func(capture *archive.Capture) bool {
		return capture.Offset == rec.Offset && capture.Skip == rec.Skip
	})
}

// archived prints a record, or its block, as it is in the archive.
func (c *cat) archived(v *archive.Volume, rec *archive.Record) error {
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

// response prints a response, and returns the error of decoding it.
func (c *cat) response(r *archive.Response, err error) error {
	if c.headers {
		fmt.Fprintf(c.stdout, "%s %d %s\r\n", r.Proto, r.StatusCode, r.Reason)
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			for _, value := range r.Header[name] {
				fmt.Fprintf(c.stdout, "%s: %s\r\n", http.CanonicalHeaderKey(name), value)
			}
		}
		io.WriteString(c.stdout, "\r\n") // a bufio.Writer keeps its error
	}
	if errors.Is(err, archive.ErrTooLarge) {
		err = fmt.Errorf("%w\nhint: warc cat -raw prints what was archived", err)
	}
	_, writeErr := c.stdout.Write(r.Body)
	return errors.Join(writeErr, err)
}
