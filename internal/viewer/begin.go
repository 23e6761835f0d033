package viewer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"spoor/internal/report"
	"spoor/internal/run"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/weburl"
)

// Limits of the form.
const (
	maxForm    = 1 << 20 // bytes of a request
	maxWords   = 500     // characters of the topic
	maxSeeds   = 1000
	maxContact = 200 // characters
)

// ours is the strategy of this project, the first choice.
const ours = "forage"

// beginWithin is how long a request waits for a crawl that it has started.
const beginWithin = 40 * time.Second

// A field is a field of the form with which a crawl is begun.
type field struct {
	Name, Label, Hint string
	Kind              string // text, number, lines, choice or switch
	Max               int    // characters of a text, or the highest number
	Required          bool
	Options           []option // of a choice
	Value             string   // as it was typed
	Error             string   // what is wrong with the value; "" if nothing
}

// An option is a value of a choice.
type option struct{ Value, Text string }

// Described returns the identifiers of the elements that describe a field.
func (f *field) Described() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.Name+"-hint")
	}
	if f.Error != "" {
		ids = append(ids, f.Name+"-error")
	}
	return strings.Join(ids, " ")
}

// fail notes that the value of a field is wrong.
func (f *field) fail(format string, args ...any) {
	if f.Error == "" {
		f.Error = fmt.Sprintf(format, args...)
	}
}

// isPrintable reports whether s is UTF-8 without control characters and without those of the writing direction,
// which would make a command line look like another one.
func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// text returns the value with single spaces.
func (f *field) text() string {
	switch s := strings.TrimSpace(f.Value); {
	case !isPrintable(s):
		f.fail("It contains control characters.")
	case s == "" && f.Required:
		f.fail("It is missing.")
	case f.Max > 0 && utf8.RuneCountInString(s) > f.Max:
		f.fail("It has more than %d characters.", f.Max)
	}
	return strings.Join(strings.Fields(f.Value), " ")
}

// number returns the value as digits, or "" if there is none.
func (f *field) number() string {
	s := strings.TrimSpace(f.Value)
	if s == "" {
		return ""
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > f.Max {
		f.fail("It is not a whole number from 1 to %d.", f.Max)
	}
	return strconv.Itoa(n)
}

// choice returns the value, which must be one of the options.
func (f *field) choice() string {
	if !slices.ContainsFunc(f.Options, func(o option) bool { return o.Value == f.Value }) {
		f.fail("There is no such choice.")
	}
	return f.Value
}

// addresses returns the value as addresses, one a line.
func (f *field) addresses() (list []string) {
	n := 0
	for line := range strings.Lines(f.Value) {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		_, err := weburl.Parse(line)
		switch {
		case !isPrintable(line):
			f.fail("Line %d contains control characters.", n)
		case !run.IsAddress(line):
			f.fail("Line %d does not begin with http:// or https://.", n)
		case err != nil:
			f.fail("Line %d is not an address: %v.", n, err)
		}
		list = append(list, line)
	}
	if len(list) == 0 {
		f.fail("At least one address is needed.")
	}
	if len(list) > maxSeeds {
		f.fail("These are %s addresses, and at most %s are possible.", report.Number(len(list)), report.Number(maxSeeds))
	}
	return list
}

// A beginPage is the page with the form.
type beginPage struct {
	Dirs    []string          // which can hold a new run
	Fields  map[string]*field // by name
	order   []*field          // as on the page
	Command string            // the command line; "" while a value is missing or wrong
	Name    string            // of the new run
	Failed  string            // why the crawl could not be started; "" if it was not tried
	words   []string          // of Command
	dir     run.Dir           // of the new run
}

// parentDirs returns the directories of the server in which a new run can be made: those that are not runs.
func (s *Server) parentDirs() (dirs []string) {
	for _, dir := range s.dirs {
		if isDir(dir) && !isRun(dir) && !run.Dir(dir).IsNode() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// newBeginPage returns the page with the given values of fields, and defaults for the others.
func (s *Server) newBeginPage(values url.Values) *beginPage {
	b := &beginPage{Dirs: s.parentDirs(), Fields: map[string]*field{}}
	if len(b.Dirs) == 0 {
		return b
	}
	places, languages, strategies := []option(nil), []option{{"", "guessed from the words"}}, []option(nil)
	for _, dir := range b.Dirs {
		places = append(places, option{dir, dir})
	}
	for _, code := range text.Languages() {
		languages = append(languages, option{code, code})
	}
	for _, k := range s.control.Strategies {
		o := option{k.Name, k.Name + ": " + k.Summary}
		if k.Name == ours {
			strategies = append([]option{o}, strategies...)
			continue
		}
		strategies = append(strategies, o)
	}
	for _, f := range []field{
		{Name: "words", Label: "Words of the topic", Hint: "What the pages are about, such as: jazz music, trumpet", Kind: "text", Max: maxWords, Required: true},
		{Name: "language", Label: "Language of these words", Kind: "choice", Options: languages},
		{Name: "seeds", Label: "Seeds", Hint: "Addresses of pages to begin with, one a line, with http:// or https://", Kind: "lines", Required: true},
		{Name: "same-host", Label: "Fetch only from the hosts of the seeds", Kind: "switch"},
		{Name: "pages", Label: "Maximum pages", Hint: "Queries to a search engine count, too", Kind: "number", Max: endless, Required: true, Value: "1000"},
		{Name: "relevant", Label: "Stop after this many relevant pages", Kind: "number", Max: endless},
		{Name: "strategy", Label: "Strategy", Kind: "choice", Options: strategies, Value: ours},
		{Name: "contact", Label: "Contact", Hint: "A mail address or URL at which the owners of hosts can reach you; it is part of each request", Kind: "text", Max: maxContact, Required: s.control.needsContact()},
		{Name: "dir", Label: "Directory", Kind: "choice", Options: places, Value: b.Dirs[0]},
		{Name: "name", Label: "Name", Hint: "Of the new directory; without it, crawl- and the words", Kind: "text", Max: maxName},
	} {
		f.Value = cmp.Or(values.Get(f.Name), f.Value)
		b.Fields[f.Name] = &f
		b.order = append(b.order, &f)
	}
	return b
}

// needsContact reports whether crawl needs a contact from the page.
func (c *Control) needsContact() bool {
	return !slices.ContainsFunc(c.Flags, func(f string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		return slices.Contains([]string{"contact", "archive", "allow-private"}, name)
	})
}

// check sets the command line, or notes which values are wrong.
func (b *beginPage) check(c *Control) {
	f := b.Fields
	words, language, seeds := f["words"].text(), f["language"].choice(), f["seeds"].addresses()
	pages, relevant, kind := f["pages"].number(), f["relevant"].number(), f["strategy"].choice()
	contact, name := f["contact"].text(), cmp.Or(f["name"].text(), run.NameOf(words))
	if words != "" && !topic.IsWords(words) {
		f["words"].fail("This looks like the name of a file. Leave out / and \\, or add another word.")
	}
	if contact != "" && (!strings.Contains(contact, "@") && !strings.Contains(contact, "://") || strings.ContainsAny(contact, "()") || strings.ContainsFunc(contact, func(r rune) bool { return r > unicode.MaxASCII })) {
		f["contact"].fail("It is not a mail address or URL in ASCII, without parentheses.")
	}
	b.dir = run.Dir(filepath.Join(f["dir"].choice(), name))
	if !isName(name) {
		f["name"].fail("It is not a name of at most %d bytes, of letters, digits, -, _ and ., that begins with neither - nor .", maxName)
	} else if _, err := os.Lstat(string(b.dir)); err == nil && f["dir"].Error == "" {
		b.taken()
	}
	if len(b.Wrong()) > 0 {
		return
	}
	b.Name = name
	b.words = append(slices.Clip(c.Crawl), "-run", string(b.dir), "-topic="+words, "-strategy", kind, "-pages", pages)
	for _, o := range []struct{ flag, value string }{{"-language=", language}, {"-relevant=", relevant}, {"-contact=", contact}} {
		if o.value != "" {
			b.words = append(b.words, o.flag+o.value)
		}
	}
	if f["same-host"].Value != "" {
		b.words = append(b.words, "-same-host")
	}
	b.words = slices.Concat(b.words, c.Flags, seeds)
	b.Command = line(b.words)
}

// taken notes that the name is in use.
func (b *beginPage) taken() {
	b.Fields["name"].fail("There is a directory or file of this name already: %s.", b.dir)
}

// Wrong returns the fields with a wrong value.
func (b *beginPage) Wrong() (list []*field) {
	for _, f := range b.order {
		if f.Error != "" {
			list = append(list, f)
		}
	}
	return list
}

// isName reports whether a run may have this name.
func isName(name string) bool {
	allowed := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) }
	return name != "" && len(name) <= maxName && !strings.ContainsRune("-.", rune(name[0])) && strings.IndexFunc(name, func(r rune) bool { return !allowed(r) }) < 0
}

// showBegin shows the form, or the form and the command line of its values. A POST request with the value
// begin begins the crawl. The form is sent by POST, too: a thousand seeds are too long for an address.
func (s *Server) showBegin(w http.ResponseWriter, r *http.Request) {
	if s.control == nil {
		fail(w, http.StatusForbidden, "This server only shows runs.", "serve -control permits commands.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		fail(w, http.StatusBadRequest, "The request cannot be read.", "It may have 1 MiB.")
		return
	}
	values, posted := r.Form, r.Method == http.MethodPost
	if posted {
		values = r.PostForm
	}
	b := s.newBeginPage(values)
	switch {
	case len(b.Dirs) == 0 && posted:
		show(w, http.StatusConflict, "begin", b)
		return
	case len(b.Dirs) == 0 || !posted && !values.Has("words"):
		show(w, http.StatusOK, "begin", b)
		return
	}
	if b.check(s.control); len(b.Wrong()) == 0 && posted && values.Get("begin") != "" {
		// Sending the form may have used up the write timeout.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * beginWithin))
		if s.begin(b) {
			http.Redirect(w, r, s.addressOf(b.dir), http.StatusSeeOther)
			return
		}
	}
	switch {
	case len(b.Wrong()) > 0:
		show(w, http.StatusBadRequest, "begin", b)
	case b.Failed != "":
		show(w, http.StatusUnprocessableEntity, "begin", b)
	default:
		show(w, http.StatusOK, "begin", b)
	}
}

// begin starts a crawl, and reports whether it has begun.
func (s *Server) begin(b *beginPage) bool {
	switch err := os.Mkdir(string(b.dir), 0o777); {
	case errors.Is(err, fs.ErrExist): // in the meantime
		b.taken()
		return false
	case err != nil:
		b.Failed = "The directory could not be made: " + report.Text(err.Error(), 300)
		return false
	}
	done := s.control.launch(b.dir, "begin", b.words)
	late := time.After(beginWithin)
	for {
		// Before its first step, crawl may find that it has no seeds, and remove its settings.
		if state, err := b.dir.State(); err == nil && state.Step != "" {
			return true
		}
		select {
		case <-done:
			if isRun(string(b.dir)) {
				return true // its page says how it ended
			}
			b.Failed = cmp.Or(s.control.takeNotice(b.dir), "The crawl was ended before it had begun.")
			if err := os.RemoveAll(string(b.dir)); err != nil { // so that the name is free again
				s.log.Warn("a directory could not be removed", "dir", b.dir, "err", err)
			}
			return false
		case <-late:
			b.Failed = "The crawl has started, but takes long to begin. Its messages are in " + b.dir.Path(messages) + "; the list of crawls shows it when it has begun."
			return false
		case <-time.After(lookEvery / 10):
		}
	}
}

// takeNotice returns the notice of a run, and deletes it.
func (c *Control) takeNotice(d run.Dir) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer delete(c.notices, d)
	return c.notices[d]
}

// addressOf returns the address of the page of a new run.
func (s *Server) addressOf(d run.Dir) string {
	s.mu.Lock()
	s.looked = time.Time{}
	s.mu.Unlock()
	for _, c := range s.all(time.Now()) {
		if c.dir == d {
			return "/run/" + url.PathEscape(c.name) + "/"
		}
	}
	return "/" // there are too many runs
}
