package collection

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"spoor/internal/archive"
	"spoor/internal/weburl"
)

// A Printer prints the content of records.
type Printer struct {
	W       io.Writer
	Headers bool // print the header of the response, too
	Raw     bool // print the block as it was archived
	Record  bool // print the whole record, decompressed
	Pick    archive.Pick
	Index   archive.IndexOptions

	// Fault is called for each error of opening a volume. If it returns true, the archive is
	// damaged, and the next volume follows; otherwise the Printer returns the error.
	Fault func(path string, err error) bool
}

// ErrSeveralFiles is returned if an offset is given with more than one file.
var ErrSeveralFiles = errors.New("an offset is the position in one file")

// URL prints the capture of a canonical URL that Pick selects.
func (c *Printer) URL(url string, files []string) error {
	return c.url(url, files, func(*archive.Capture) bool { return true })
}

// maxBody is the maximum number of bytes of a body that are decoded. Decoding needs about four
// times as much memory.
const maxBody = 128 << 20

// url prints the first capture of a canonical URL that matches.
func (c *Printer) url(url string, files []string, match func(*archive.Capture) bool) error {
	r, err := archive.OpenReplay(files, archive.ReplayOptions{
		Index:  c.Index,
		Limits: archive.Limits{Body: maxBody},
		Pick:   c.Pick,
	})
	if err != nil {
		return err
	}
	defer r.Close()
	var missing error
	for _, capture := range r.Lookup(url) {
		if !match(&capture) {
			continue
		}
		if c.Raw || c.Record {
			v := r.Volume(capture)
			rec, err := v.At(capture.Offset, capture.Skip)
			if err != nil {
				return err
			}
			return c.archived(v, rec)
		}
		page, err := r.Read(capture)
		switch {
		case page != nil && page.Response != nil:
			return errors.Join(c.response(page.Response, err), r.Check(capture))
		case !errors.Is(err, archive.ErrNotArchived):
			return err
		}
		missing = err // the original of a revisit
	}
	if missing == nil {
		missing = fmt.Errorf("%w: %s\nhint: %s", archive.ErrNotArchived, url, similarHint(r, url))
	}
	return missing
}

// similarHint returns a hint that names an archived URL that differs from url only in its scheme, "www."
// or a final slash, or else how to find one.
func similarHint(r *archive.Replay, url string) string {
	for _, similar := range weburl.Similar(url) {
		if r.Has(similar) {
			return "the archives have " + similar
		}
	}
	return "warc ls -url " + url + " FILE... lists what begins so"
}

// Offset prints the record at an offset, or after skip decompressed bytes of the member at the
// offset. There must be only one file.
func (c *Printer) Offset(offset, skip int64, files []string) error {
	volumes, faults := 0, int64(0)
	for v, err := range archive.Volumes(files, nil) {
		switch {
		case err == nil:
			volumes++
		case c.Fault(v.Path, err):
			faults++
		default:
			return err
		}
	}
	if volumes > 1 {
		return fmt.Errorf("%w, but there are %d\nhint: name one, as ls prints it", ErrSeveralFiles, volumes)
	}
	for v, err := range archive.Volumes(files, nil) {
		if err != nil {
			continue // the error was reported above
		}
		rec, err := v.At(offset, skip)
		if err != nil {
			return fmt.Errorf("%w\nhint: offsets are those of warc ls, as OFFSET or OFFSET+SKIP", err)
		}
		return c.volumeRecord(&v, rec, files)
	}
	if faults > 0 {
		return archive.ErrNoRecords
	}
	return nil
}

// volumeRecord prints a record of a volume. For a revisit it looks up the body in another record.
func (c *Printer) volumeRecord(v *archive.Volume, rec *archive.Record, files []string) error {
	kind := rec.Type()
	isHTTP := strings.HasPrefix(rec.Header.Get("Content-Type"), "application/http")
	switch {
	case c.Raw, c.Record, kind != "revisit" && (kind != "response" || !isHTTP):
		return c.archived(v, rec)
	case kind == "response":
		d := archive.Decoder{Limits: archive.Limits{Body: maxBody}}
		resp, err := d.Response(rec)
		if resp == nil {
			return err
		}
		return errors.Join(c.response(resp, err), v.Check(rec.Offset, rec.Skip))
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
func (c *Printer) archived(v *archive.Volume, rec *archive.Record) error {
	var err error
	if c.Record {
		err = v.Copy(c.W, rec)
	} else {
		_, err = io.Copy(c.W, rec)
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s at byte %d: %w", v.Path, rec.Offset, err)
	}
	return cmp.Or(v.Check(rec.Offset, rec.Skip), err)
}

// response prints a response. It returns err, the error of decoding it, with a hint.
func (c *Printer) response(r *archive.Response, err error) error {
	if c.Headers {
		fmt.Fprintf(c.W, "%s %d %s\r\n", r.Proto, r.StatusCode, r.Reason)
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			for _, value := range r.Header[name] {
				fmt.Fprintf(c.W, "%s: %s\r\n", http.CanonicalHeaderKey(name), value)
			}
		}
		io.WriteString(c.W, "\r\n")
	}
	if errors.Is(err, archive.ErrTooLarge) {
		err = fmt.Errorf("%w\nhint: warc cat -raw prints what was archived", err)
	}
	_, writeErr := c.W.Write(r.Body)
	return errors.Join(writeErr, err)
}
