package topic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/atomicfile"
	"spoor/internal/wire"
)

// This file reads and writes topic files. Lists have one entry per line and a fixed order,
// so that versions can be compared with diff.

// maxFile bounds a topic file, in bytes.
const maxFile = 64 << 20

// maxKeywords limits the keywords of a topic file, because measures keep some kilobytes for each.
const maxKeywords = 100_000

// Write writes the topic as indented JSON. Its sections are put in order.
func (t *Topic) Write(w io.Writer) error {
	t.order()
	var line, b bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		return fmt.Errorf("writing the topic: %w", err)
	}
	if err := layOut(&b, bytes.TrimSpace(line.Bytes()), "\n"); err != nil {
		return err
	}
	if b.Len() >= maxFile {
		return fmt.Errorf("the topic file would be larger than %d MiB\nhint: give fewer or smaller example pages", maxFile>>20)
	}
	b.WriteByte('\n')
	_, err := b.WriteTo(w)
	return err
}

// openFields are the fields that are written with one element per line. All other fields are written
// on one line.
var openFields = []string{"keywords", "table", "vocabulary", "reference", "links", "classifier", "features", "background"}

// layOut writes a JSON object or array that is not empty, one element per line. indent is a
// newline and the current indentation.
func layOut(b *bytes.Buffer, value json.RawMessage, indent string) error {
	d := json.NewDecoder(bytes.NewReader(value))
	if _, err := d.Token(); err != nil { // the bracket
		return err
	}
	b.WriteByte(value[0])
	for before := ""; d.More(); before = "," {
		b.WriteString(before + indent + "  ")
		open := false
		if value[0] == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%q: ", name)
			open = slices.Contains(openFields, name.(string))
		}
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return err
		}
		if !open || string(element) == "[]" {
			b.Write(element)
		} else if err := layOut(b, element, indent+"  "); err != nil {
			return err
		}
	}
	b.WriteString(indent)
	b.WriteByte(value[len(value)-1])
	return nil
}

// Read reads a topic file and checks that it is consistent. Keywords and table entries
// written by hand may lack their terms, and sections may be in any order.
func Read(r io.Reader) (*Topic, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d MiB\nhint: a topic file is made by topic -query", maxFile>>20)
	}
	data = wire.TrimBOM(data)
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	err = json.Unmarshal(data, &head)
	switch {
	case err != nil && bytes.Contains(data, []byte(strconv.Quote(Format))): // a topic file with a syntax error
		return nil, placed(data, err)
	case err == nil && head.Format != Format:
		err = fmt.Errorf("its format is %q, not %q", head.Format, Format)
	}
	if err != nil {
		return nil, fmt.Errorf("not a topic file: %w\nhint: topic -query \"words\" makes one", err)
	}
	switch {
	case head.Version > Version:
		return nil, fmt.Errorf("version %d is newer than this program reads (%d)\nhint: install a newer spoor, or make the topic again with this version of topic", head.Version, Version)
	case head.Version < 1:
		return nil, fmt.Errorf("version %d does not exist\nhint: this program writes and reads version %d", head.Version, Version)
	}
	t := new(Topic)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		return nil, placed(data, err)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	t.order()
	return t, nil
}

// placed adds the line number to an error of package json, if it is known.
func placed(data []byte, err error) error {
	at := int64(0)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at, err = e.Offset, fmt.Errorf("%w\nhint: entries are separated by commas, without one after the last", e)
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at, err = e.Offset, fmt.Errorf("%s cannot be a %s", e.Field, e.Value)
	}
	if at == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:min(at-1, int64(len(data)))], []byte("\n")), err)
}

// check returns an error if a topic read from a file is invalid.
func (t *Topic) check() error {
	a, err := t.Analyzer()
	if err != nil {
		return err
	}
	if t.Threshold != nil && !ValidThreshold(*t.Threshold) {
		return fmt.Errorf("threshold %v is not a number from 0", *t.Threshold)
	}
	if len(t.Keywords) == 0 {
		return errors.New("no keywords: every page would have score 0\nhint: topic -query \"words\" makes a topic that has some")
	}
	if len(t.Keywords) > maxKeywords {
		return fmt.Errorf("%d keywords, at most %d are possible", len(t.Keywords), maxKeywords)
	}
	seen := make(map[string]string)
	for i := range t.Keywords {
		k := &t.Keywords[i]
		if err := checkWeight(k.Text, k.Weight); err != nil {
			return err
		}
		terms, err := spell(a, k.Text)
		if err != nil {
			return err
		}
		if k.Terms == nil {
			k.Terms = terms
		}
		if !slices.Equal(terms, k.Terms) {
			return fmt.Errorf("keyword %q: its terms are %s here, the file says %s\nhint: after editing the text, delete the terms beside it",
				k.Text, quote(terms), quote(k.Terms))
		}
		key := strings.Join(terms, " ")
		if other, ok := seen[key]; ok {
			return fmt.Errorf("keywords %q and %q are matched by the same terms (%s)\nhint: leave one of them", other, k.Text, key)
		}
		seen[key] = k.Text
	}
	return t.checkSections(a)
}

// quote formats terms as in the file.
func quote(terms []string) string {
	q := make([]string, len(terms))
	for i, s := range terms {
		q[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(q, ",") + "]"
}

// Load reads the topic file called name. Its errors contain the name.
func Load(name string) (*Topic, error) {
	f, err := atomicfile.OpenInput(name, maxFile)
	if err != nil {
		hint := fmt.Sprintf("topic -query \"words\" > %s makes one", name)
		if info, e := os.Stat(name); e == nil && info.IsDir() {
			hint = "name the topic file in the directory: " + filepath.Join(name, "topic.json")
		}
		return nil, fmt.Errorf("topic file: %w\nhint: %s", err, hint)
	}
	defer f.Close()
	t, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("topic file %s: %w", name, err)
	}
	return t, nil
}

// LoadOrMake reads a topic file or, if [IsWords] reports true, makes a topic of the words in the
// language that [Guess] guesses, as topic -query does. It reports whether it has made the topic.
func LoadOrMake(name string) (t *Topic, made bool, err error) {
	if !IsWords(name) {
		t, err = Load(name)
		return t, false, err
	}
	language, ignored := Guess(name)
	if t, err = New(language, ""); err == nil {
		_, err = t.AddQuery(name, ignored...)
	}
	return t, true, err
}

// IsWords reports whether a topic is words and not a file: there is no file of that name, and it
// does not look like the name of one.
func IsWords(topic string) bool {
	_, err := os.Stat(topic)
	return errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(topic, "/\\") && !strings.HasSuffix(topic, ".json") && !fileName.MatchString(topic)
}

// fileName matches one word with an extension of files of topics or words, or nearly so: it is rather a
// file whose name was mistyped than the words to look for.
var fileName = regexp.MustCompile(`^\S+\.(j[a-z]?son?|jsn|ndjson|te?xt|gz|zst|csv|ya?ml)$`)
