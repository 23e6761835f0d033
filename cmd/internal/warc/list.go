package warc

import (
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
)

// list is warc ls.
type list struct {
	*command
	json          bool
	types, status words
	filter        archive.RecordFilter
	writeErr      error
}

// words is a flag for a comma-separated list.
type words []string

func (w *words) String() string { return strings.Join(*w, ",") }

// Set appends the words of v.
func (w *words) Set(v string) error {
	*w = append(*w, strings.FieldsFunc(v, func(c rune) bool { return c == ',' || c == ' ' })...)
	return nil
}

func newList(c *command) func() error {
	l := &list{command: c}
	c.flags.BoolVar(&l.json, "json", false, "print a JSON object per record")
	c.flags.Var(&l.types, "type", "only records of these `types`: response, request, revisit, …")
	c.flags.Var(&l.status, "status", "only responses with these status `codes`; 4xx is all from 400 to 499, '' any")
	c.flags.Func("mime", "only these media `types`; image/* is all images, '' any", func(v string) error {
		types, err := archive.ParseMediaTypes(v)
		l.filter.MIME = append(l.filter.MIME, types...)
		return err
	})
	c.flags.StringVar(&l.filter.Prefix, "url", "", "only URLs with this prefix: a `URL`, as https://example.com/a, or a SURT, as com,example)/a")
	return l.run
}

func (l *list) run() error {
	l.filter.Types = l.types
	if lacksScheme(l.filter.Prefix) {
		return filter.Usagef("-url %s: the scheme is missing\nhint: -url https://%[1]s", l.filter.Prefix)
	}
	for _, code := range l.status {
		r, err := archive.ParseStatus(code)
		if err != nil {
			return filter.Usagef("-status %w", err)
		}
		l.filter.Status = append(l.filter.Status, r)
	}
	for v, err := range archive.Volumes(l.files(), l.stdin) {
		if err == nil {
			err = l.volume(&v)
		}
		if l.writeErr != nil {
			return l.writeErr
		}
		if err != nil && !l.fault(v.Path, err) && !l.skipArchive(v.Path, err) {
			return err
		}
	}
	l.tally.Close()
	if l.skipped != nil {
		return l.skipped
	}
	return l.errIfEmpty(l.tally.In, l.tally.Skipped["fault"])
}

// lacksScheme reports whether a prefix begins with the name of a host, as in example.com/a. It returns false
// for a SURT, whose names are separated by commas.
func lacksScheme(prefix string) bool {
	host, _, _ := strings.Cut(prefix, "/")
	name, _, isHost := strings.Cut(host, ".")
	return isHost && !strings.ContainsAny(host, ",)") && !strings.Contains(name, ":")
}

// volume lists the records of one archive.
func (l *list) volume(v *archive.Volume) error {
	for rec, err := range v.Records() {
		if err == nil {
			l.tally.In++
			var s archive.Summary
			s, err = rec.Summary()
			if s.File = v.Path; l.filter.Match(&s) {
				l.tally.Out++
				if l.writeErr = l.printLine(l.json, s); l.writeErr != nil {
					return l.writeErr
				}
			}
		}
		if err != nil && !l.fault(v.Path, err) {
			return err
		}
	}
	return nil
}
