package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"spoor/internal/atomicfile"
)

// Settings are the settings of a crawl. Zero numbers and empty strings mean the default, unless
// stated otherwise.
type Settings struct {
	Strategy string
	Params   []string // NAME=VALUE
	Compat   bool
	Seed     int
	Size     int
	Grows    bool // large crawls have larger generations, see GrownSize
	Fitness  string
	Norm     string
	Convert  []string // values of parse -convert: TYPE=COMMAND
	Main     bool     // parse reduces the text to the main content

	Archives     []string // absolute names
	Content      string   // a digest of the content of the archives
	Capture      string
	ArchiveFirst bool

	Seeds     string // a digest of the file
	SeedQuery string
	Search    string // an index or the address of a SearXNG server

	Fair                    string
	PerHost, PerNiche       int
	MaxPerHost, MaxPerNiche int
	Horizon                 time.Duration
	MinFree                 int // the crawl waits while the disk has fewer free bytes; 0: no minimum
	Traps                   bool
	Scope                   []string // which addresses belong to the crawl: lines of a scope file
	Recrawl                 bool
	Keep                    int // fetch no new pages after this many, and keep these fresh; 0: no limit
	PerDay                  int // maximum number of fetches from midnight to midnight UTC; 0: no limit

	Pages       int // maximum number of fetches
	Generations int // maximum number of generations; 0 is no limit
	Relevant    int // number of relevant pages at which the crawl ends; 0 is no limit
	Patience    time.Duration
	Form        string // FormSteady, FormLoop, or "" for the quicker form that the stages allow
	Steady      bool   // the form of the crawl: one pipeline for all generations
	Watch       bool
	Live        []string // flags of fetch: -name or -name=value

	Cluster

	Ran      map[string]string // the stages as they were last run
	Replaced []string          // the stages that are not spoor's own
}

// The forms that a user can ask for. A steady crawl of neither form runs the commands of replaced
// stages anew for each generation, so that they need not know of window marks.
const (
	FormSteady = "steady" // all generations by the same processes, replaced stages included
	FormLoop   = "loop"   // new processes for each generation
)

// GrownSize returns the number of addresses in a generation: size, but at least a thousandth of the pages
// fetched so far. So a crawl of a million pages has some 5,000 generations instead of 50,000, and the
// strategy decides by what it knew at most a thousandth of the crawl ago.
func GrownSize(size, fetched int) int { return max(size, fetched/1000) }

// size returns the number of addresses in the next generation, after so many fetches.
func (s *Settings) size(fetched int) int {
	if s.Grows {
		return GrownSize(s.Size, fetched)
	}
	return s.Size
}

// Closed reports whether pages are fetched only from the archives.
func (s *Settings) Closed() bool { return len(s.Archives) > 0 && !s.ArchiveFirst }

// A setting is a key of the settings file and its values, a line each.
type setting struct {
	key   string
	fixed bool // must not change during a run
	get   func(*Settings) []string
	put   func(*Settings, []string) error
}

// settings is the table of all settings, in the order of the file.
var settings = []setting{
	word("strategy", true, func(s *Settings) *string { return &s.Strategy }),
	number("seed", true, func(s *Settings) *int { return &s.Seed }),
	number("size", true, func(s *Settings) *int { return &s.Size }),
	boolean("grows", false, func(s *Settings) *bool { return &s.Grows }),
	boolean("compat", true, func(s *Settings) *bool { return &s.Compat }),
	word("fitness", true, func(s *Settings) *string { return &s.Fitness }),
	word("norm", true, func(s *Settings) *string { return &s.Norm }),
	list("param", true, func(s *Settings) *[]string { return &s.Params }),
	list("convert", true, func(s *Settings) *[]string { return &s.Convert }),
	boolean("main", true, func(s *Settings) *bool { return &s.Main }),
	boolean("traps", true, func(s *Settings) *bool { return &s.Traps }),
	list("archive", false, func(s *Settings) *[]string { return &s.Archives }),
	word("archive-content", true, func(s *Settings) *string { return &s.Content }),
	word("capture", true, func(s *Settings) *string { return &s.Capture }),
	boolean("archive-first", true, func(s *Settings) *bool { return &s.ArchiveFirst }),
	word("fair", true, func(s *Settings) *string { return &s.Fair }),
	number("per-host", true, func(s *Settings) *int { return &s.PerHost }),
	number("per-niche", true, func(s *Settings) *int { return &s.PerNiche }),
	number("max-per-host", true, func(s *Settings) *int { return &s.MaxPerHost }),
	number("max-per-niche", true, func(s *Settings) *int { return &s.MaxPerNiche }),
	duration("horizon", true, func(s *Settings) *time.Duration { return &s.Horizon }),
	boolean("recrawl", false, func(s *Settings) *bool { return &s.Recrawl }),
	number("keep", false, func(s *Settings) *int { return &s.Keep }),
	number("per-day", false, func(s *Settings) *int { return &s.PerDay }),
	word("seeds", true, func(s *Settings) *string { return &s.Seeds }),
	word("seed-query", true, func(s *Settings) *string { return &s.SeedQuery }),
	word("search", true, func(s *Settings) *string { return &s.Search }),
	list("scope", false, func(s *Settings) *[]string { return &s.Scope }),
	number("pages", false, func(s *Settings) *int { return &s.Pages }),
	number("generations", false, func(s *Settings) *int { return &s.Generations }),
	number("relevant", false, func(s *Settings) *int { return &s.Relevant }),
	duration("patience", false, func(s *Settings) *time.Duration { return &s.Patience }),
	number("min-free", false, func(s *Settings) *int { return &s.MinFree }),
	word("crawl", true, func(s *Settings) *string { return &s.Crawl }),
	number("partitions", true, func(s *Settings) *int { return &s.Partitions }),
	number("lag", true, func(s *Settings) *int { return &s.Lag }),
	word("share", true, func(s *Settings) *string { return &s.Share }),
	list("exchange", false, func(s *Settings) *[]string { return &s.Exchange }),
	word("node", false, func(s *Settings) *string { return &s.Node }),
	word("partition", false, func(s *Settings) *string { return &s.Partition }),
	word("form", false, func(s *Settings) *string { return &s.Form }),
	boolean("steady", false, func(s *Settings) *bool { return &s.Steady }),
	boolean("watch", false, func(s *Settings) *bool { return &s.Watch }),
	list("live", false, func(s *Settings) *[]string { return &s.Live }),
	list("replaced", false, func(s *Settings) *[]string { return &s.Replaced }),
	{"stage", false,
		func(s *Settings) (lines []string) {
			for _, name := range append(slices.Clone(stageNames), otherNames(s.Ran)...) {
				if command, ok := s.Ran[name]; ok {
					lines = append(lines, name+" "+command)
				}
			}
			return lines
		},
		func(s *Settings, lines []string) error {
			s.Ran = map[string]string{}
			for _, line := range lines {
				name, command, _ := strings.Cut(line, " ")
				s.Ran[name] = command
			}
			return nil
		}},
}

// single makes a setting of one value, written unless it is the zero value.
func single[T comparable](key string, fixed bool, field func(*Settings) *T, format func(T) string, parse func(string) (T, error)) setting {
	var zero T
	return setting{key, fixed,
		func(s *Settings) []string {
			if *field(s) == zero {
				return nil
			}
			return []string{format(*field(s))}
		},
		func(s *Settings, values []string) (err error) {
			if *field(s) = zero; len(values) > 0 {
				*field(s), err = parse(values[0])
			}
			return err
		}}
}

func word(key string, fixed bool, field func(*Settings) *string) setting {
	return single(key, fixed, field, func(v string) string { return v }, func(v string) (string, error) { return v, nil })
}

func number(key string, fixed bool, field func(*Settings) *int) setting {
	return single(key, fixed, field, strconv.Itoa, strconv.Atoi)
}

func boolean(key string, fixed bool, field func(*Settings) *bool) setting {
	return single(key, fixed, field, strconv.FormatBool, strconv.ParseBool)
}

func duration(key string, fixed bool, field func(*Settings) *time.Duration) setting {
	return single(key, fixed, field, time.Duration.String, time.ParseDuration)
}

func list(key string, fixed bool, field func(*Settings) *[]string) setting {
	return setting{key, fixed,
		func(s *Settings) []string { return *field(s) },
		func(s *Settings, values []string) error { *field(s) = slices.Clone(values); return nil }}
}

// LoadSettings returns the settings of a run directory, nil if it has none.
func (d Dir) LoadSettings() (*Settings, error) {
	b, err := readSmall(d.Path(SettingsFile))
	if b == nil || err != nil {
		return nil, err
	}
	values := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !slices.ContainsFunc(settings, func(f setting) bool { return f.key == key }) {
			return nil, faultf(statusMisuse, "%s: unknown setting %q: the run belongs to another version of spoor", d.Path(SettingsFile), key)
		}
		if strings.HasPrefix(value, `"`) {
			if value, err = strconv.Unquote(value); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", d.Path(SettingsFile), key, err)
			}
		}
		values[key] = append(values[key], value)
	}
	s := new(Settings)
	for _, f := range settings {
		if err := f.put(s, values[f.key]); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.Path(SettingsFile), f.key, err)
		}
	}
	return s, nil
}

// save writes the settings file. Values of several lines are quoted.
func (s *Settings) save(d Dir) error {
	return atomicfile.Write(d.Path(SettingsFile), func(w io.Writer) error {
		var b bytes.Buffer
		for _, f := range settings {
			for _, value := range f.get(s) {
				if strings.Contains(value, "\n") || strings.HasPrefix(value, `"`) {
					value = strconv.Quote(value)
				}
				fmt.Fprintf(&b, "%s %s\n", f.key, value)
			}
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}

// differences describes the fixed settings of a run that differ from those given, among the keys
// for which compare returns true, as "strategy was shark and is niche".
func (s *Settings) differences(given *Settings, compare func(key string) bool) (words []string) {
	value := func(f setting, s *Settings) string {
		values := f.get(s)
		if len(values) == 0 {
			return "not set"
		}
		if f.key == "archive-content" {
			return strings.Join(s.Archives, ", ") + " (" + s.Content + ")"
		}
		return strings.Join(values, ", ")
	}
	for _, f := range settings {
		if f.fixed && compare(f.key) && !slices.Equal(f.get(s), f.get(given)) {
			key := strings.TrimSuffix(f.key, "-content")
			words = append(words, fmt.Sprintf("%s was %s and is %s", key, value(f, s), value(f, given)))
		}
	}
	return words
}

// DigestFile returns a digest of the content of a file that [atomicfile.OpenInput] opens.
func DigestFile(name string) (string, error) {
	f, err := atomicfile.OpenInput(name, atomicfile.MaxInput)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// sampleSize is how many bytes of the beginning and of the end of an archive are digested.
const sampleSize = 64 << 10

// DigestArchives returns a digest of the content of archives: the sizes of their files, and a
// sample of their bytes. It does not depend on their names.
func DigestArchives(archives []string) (string, error) {
	h := sha256.New()
	for _, archive := range archives {
		files, err := archiveFiles(archive)
		if err != nil {
			return "", err
		}
		for _, name := range files {
			if err := sample(h, name); err != nil {
				return "", err
			}
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// archiveFiles returns the archive, or the archives in a directory, without the indexes
// that are written beside them.
func archiveFiles(archive string) (files []string, err error) {
	entries, err := os.ReadDir(archive)
	if err != nil {
		return []string{archive}, nil //nolint:nilerr // it is a file
	}
	for _, e := range entries {
		for _, ending := range []string{".warc", ".arc", ".wacz", ".gz", ".zst"} {
			if strings.HasSuffix(e.Name(), ending) {
				files = append(files, filepath.Join(archive, e.Name()))
				break
			}
		}
	}
	return files, nil
}

func sample(h io.Writer, name string) error {
	f, err := atomicfile.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%d\n", info.Size())
	if _, err := io.CopyN(h, f, sampleSize); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	end := io.NewSectionReader(f, max(0, info.Size()-sampleSize), sampleSize)
	_, err = io.Copy(h, end)
	return err
}
