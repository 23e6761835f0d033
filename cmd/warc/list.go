package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/weburl"
)

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

// words is a flag for a list separated by commas.
type words []string

func (w *words) String() string { return strings.Join(*w, ",") }

// Set adds what v lists.
func (w *words) Set(v string) error {
	for word := range strings.SplitSeq(v, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*w = append(*w, word)
		}
	}
	return nil
}

// A statusRange is a status code, or a hundred of them.
type statusRange struct{ from, to int }

// parseStatus reads 404 or 4xx.
func parseStatus(s string) (r statusRange, ok bool) {
	digits := len(s) == 3 && '1' <= s[0] && s[0] <= '9'
	if digits && strings.EqualFold(s[1:], "xx") {
		from := int(s[0]-'0') * 100
		return statusRange{from, from + 99}, true
	}
	n, err := strconv.Atoi(s)
	return statusRange{n, n}, digits && err == nil
}

// list lists records.
type list struct {
	*command
	json         bool
	kinds, codes words
	mime         []string
	url          string
	status       []statusRange
	failed       error // to print
}

func newList(c *command) func() error {
	l := &list{command: c}
	c.flags.BoolVar(&l.json, "json", false, "print an object a record")
	c.flags.Var(&l.kinds, "type", "only records of these `types`: response, request, revisit, …")
	c.flags.Var(&l.codes, "status", "only answers with these status `codes`; 4xx is all from 400 to 499, '' any")
	c.flags.Func("mime", "only these media `types`; image/* is all of a kind, '' any", func(v string) error {
		types, err := archive.ParseMediaTypes(v)
		l.mime = append(l.mime, types...)
		return err
	})
	c.flags.StringVar(&l.url, "url", "", "only addresses that begin so, or whose SURT does: a `prefix` as https://example.com/a or com,example)/a")
	return l.run
}

func (l *list) run() error {
	for _, code := range l.codes {
		r, ok := parseStatus(code)
		if !ok {
			return filter.Usagef("-status %s: no status\nhint: -status 200,404, or 4xx for all from 400 to 499", code)
		}
		l.status = append(l.status, r)
	}
	for v, err := range archive.Volumes(l.files(), l.stdin) {
		if err == nil {
			err = l.volume(&v)
		}
		if l.failed != nil {
			return l.failed
		}
		if err != nil && !l.fault(v.Path, err) && !l.leftOut(v.Path, err) {
			return err
		}
	}
	l.tally.Close()
	return cmp.Or(l.unread, hollow(l.tally.In, l.tally.Skipped["fault"]))
}

func (l *list) volume(v *archive.Volume) error {
	for rec, err := range v.Records() {
		if err == nil {
			l.tally.In++
			var s archive.Summary
			s, err = rec.Summary()
			if s.File = v.Path; l.takes(&s) {
				l.tally.Out++
				if l.failed = l.print(&s); l.failed != nil {
					return l.failed
				}
			}
		}
		if err != nil && !l.fault(v.Path, err) {
			return err
		}
	}
	return nil
}

func (l *list) takes(s *archive.Summary) bool {
	has := func(r statusRange) bool { return r.from <= s.Status && s.Status <= r.to }
	return (len(l.kinds) == 0 || slices.Contains(l.kinds, s.Type)) &&
		(len(l.mime) == 0 || archive.TakesMediaType(l.mime, s.MIME)) &&
		(len(l.status) == 0 || slices.ContainsFunc(l.status, has)) &&
		l.begins(s.URL)
}

// begins tells whether an address begins as was asked for. A SURT is known by its
// bracket or commas in front of any slash.
func (l *list) begins(url string) bool {
	if l.url == "" || strings.HasPrefix(url, l.url) {
		return true
	}
	host, _, _ := strings.Cut(l.url, "/")
	if !strings.ContainsAny(host, ",)") {
		return false
	}
	canonical, err := weburl.Canonical(url)
	return err == nil && strings.HasPrefix(weburl.SURT(canonical), l.url)
}

func (l *list) print(s *archive.Summary) error {
	if l.json {
		return writeJSON(l.stdout, s)
	}
	status := "-"
	if s.Status > 0 {
		status = strconv.Itoa(s.Status)
	}
	_, err := fmt.Fprintf(l.stdout, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n",
		s.Offset, s.Length, cell(s.Type), cell(s.Date), status, cell(s.MIME), cell(s.URL), cell(s.File))
	return err
}

// cell is what stands in a column: no tab is in it.
func cell(s string) string { return cmp.Or(tame(s), "-") }
