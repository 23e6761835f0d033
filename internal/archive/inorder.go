package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
)

// URLs returns the canonical URLs of all captures in the indexes, sorted and without duplicates. If
// only one file of a WACZ is used, the URLs in its other files are included.
func (r *Replay) URLs() []string {
	var all []string
	for _, a := range r.archives {
		x := a.current()
		urls, ok := x.urls()
		if !ok {
			urls, _ = x.rebuild(errTruncated).urls()
		}
		all = append(all, urls...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// urls returns the URL of each line. It sets ok to false if the file was truncated.
func (x *Index) urls() (urls []string, ok bool) {
	defer recoverFault(&ok)()
	urls = make([]string, 0, x.Meta.Captures)
	for at := x.first; at < len(x.data); {
		end := lineEnd(x.data, at)
		if url, valid := urlOf(x.data[at:end]); valid {
			urls = append(urls, url)
		}
		at = end + 1
	}
	return urls, !x.isTruncated()
}

// urlOf returns the URL in a line of an index.
func urlOf(line []byte) (url string, ok bool) {
	_, rest, _ := bytes.Cut(line, []byte(`{"url":`))
	if len(rest) == 0 || rest[0] != '"' {
		return "", false
	}
	for end := 1; end < len(rest); end++ {
		switch rest[end] {
		case '\\':
			end++
		case '"':
			err := json.Unmarshal(rest[:end+1], &url)
			return url, err == nil
		}
	}
	return "", false
}

// Rebuilt returns how many indexes were rebuilt because they did not match their archives. If it
// changes, what was looked up before may be wrong.
func (r *Replay) Rebuilt() int {
	n := 0
	for _, a := range r.archives {
		if a.rebuilt.Load() != nil {
			n++
		}
	}
	return n
}

// ReadInOrder sorts captures by their place in the archives, reads them, and yields those that are
// pages, which remain valid. It reads each archive once, from its beginning, which is much faster than
// [Replay.Read] if most of its captures are read: a member is decompressed once, and not for each of
// its records. It compares redirects with the index, but does not yield them. It omits revisits, and
// captures for which Read returns an error.
func (r *Replay) ReadInOrder(captures []Capture) iter.Seq[*Page] {
	return func(yield func(*Page) bool) {
		slices.SortFunc(captures, func(a, b Capture) int {
			return cmp.Or(cmp.Compare(a.archive, b.archive), cmp.Compare(a.source, b.source), a.comparePlace(b.Offset, b.Skip))
		})
		for rest := captures; len(rest) > 0; {
			first := rest[0]
			n := slices.IndexFunc(rest, func(c Capture) bool { return c.archive != first.archive || c.source != first.source })
			if n < 0 {
				n = len(rest)
			}
			if !r.readSource(rest[:n], yield) {
				return
			}
			rest = rest[n:]
		}
	}
}

// comparePlace compares the place of a capture in its file with another place.
func (c *Capture) comparePlace(offset, skip int64) int {
	return cmp.Or(cmp.Compare(c.Offset, offset), cmp.Compare(c.Skip, skip))
}

// readSource yields the pages of captures in one source, sorted by their place, and reports whether to
// continue.
func (r *Replay) readSource(captures []Capture, yield func(*Page) bool) bool {
	a := r.archives[captures[0].archive]
	in := &a.sources[captures[0].source]
	s := scratch{decoder: Decoder{Limits: r.limits}}
	s.reader.m.dict = in.dict
	err := s.reader.reset(io.NewSectionReader(in.data, 0, in.data.Size()), 0, in.format)
	for err == nil && len(captures) > 0 {
		var rec *Record
		rec, err = s.reader.Next()
		if _, fault := errors.AsType[*FormatError](err); fault {
			err = nil
			continue
		}
		if err != nil {
			break
		}
		for len(captures) > 0 && captures[0].comparePlace(rec.Offset, rec.Skip) < 0 {
			r.confirmRedirect(captures[0]) // which Read may find, or else rebuild the index
			captures = captures[1:]
		}
		if len(captures) == 0 || captures[0].comparePlace(rec.Offset, rec.Skip) > 0 {
			continue
		}
		c := captures[0]
		captures = captures[1:]
		switch {
		case c.Revisit():
		case !rec.isOf(c):
			a.otherRecord(c)
		case c.Redirect != "":
			a.confirmRecord(&s, rec, c)
		default:
			if page, err := r.readRecord(&s, rec, c, 0); err == nil && !yield(page) {
				return false
			}
		}
	}
	for _, c := range captures {
		r.confirmRedirect(c)
	}
	return true
}

func (r *Replay) confirmRedirect(c Capture) {
	if c.Redirect != "" {
		r.confirm(c) // if the index is wrong, it is rebuilt
	}
}
