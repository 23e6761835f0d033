package run

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/run"
	"spoor/internal/scope"
)

//go:embed manual.md
var manual string

// opening is the command line of crawl.
type opening struct {
	dir, topic, seeds string
	language          string   // of a topic of words; "" to guess it
	words             string   // that the topic was made from; "" if it was given as a file
	proxyLogin        bool     // -proxy has a user name
	off               []string // switches of fetch that are switched off
	s                 run.Settings
	pages, generations, relevant, size, seed, patience,
	perHost, perNiche, maxPerHost, maxPerNiche, perDay, keep number
	traps string

	cluster

	archives []string
	params   filter.Strings
	horizon  time.Duration
	quiet    bool
	steady   bool
	minFree  filter.Size
}

// number is a flag whose value is a whole number from 0, in decimal even with leading zeros.
type number int

func (n *number) String() string { return strconv.Itoa(int(*n)) }
func (n *number) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		if strings.Trim(s, "0123456789") == "" && s != "" {
			v, err = 1<<31-1, nil // more than anyone needs
		} else {
			return fmt.Errorf("not a whole number from 0")
		}
	}
	*n = number(v)
	return err
}

// endless is a number of pages, and of seconds, that no crawl reaches.
const endless = 1_000_000_000

// fetchFlags are the flags of fetch that crawl passes on, with and without a value.
var (
	fetchFlags    = strings.Fields("contact agent j delay max-delay slowness rate host-rate address-rate timeout connect-timeout header-timeout deadline proxy allow-port mime max-body digest warc-size warc-level warc-dedup warc-done cookies headers")
	fetchSwitches = strings.Fields("http1 insecure allow-private sitemaps noarchive warc-zstd")
)

// scopeFlags are the flags that say which addresses belong to the crawl.
var scopeFlags = []string{"include", "exclude", "same-host", "same-site", "depth", "scheme", "scope"}

func (o *opening) define(fs *flag.FlagSet) {
	o.pages, o.seed, o.patience = 1000, 1, 600
	fs.StringVar(&o.dir, "run", "", "the `directory` of the run: a new or empty one, or an existing run to resume")
	fs.StringVar(&o.topic, "topic", "", "the topic, a `file` made by topic, or words; required for a new run")
	fs.StringVar(&o.language, "language", "", "`code` of the language of a topic of words, such as de (default: guessed); topic -help=all lists them")
	fs.StringVar(&o.seeds, "seeds", "", "a `file` of addresses to begin with, one a line; a new run needs seeds")
	fs.StringVar(&o.s.SeedQuery, "seed-query", "", "start with the results of a search for `words` (with -search)")
	fs.StringVar(&o.s.Search, "search", "", "answer queries from this `index` or SearXNG server (URL)")
	fs.StringVar(&o.s.Strategy, "strategy", "forage", "the `name` of the strategy, as listed by evolve -strategies")
	fs.BoolVar(&o.s.Main, "main", false, "judge pages by their main content, without navigation and the like; see parse -help=all")
	fs.Var((*filter.Strings)(&o.s.Convert), "convert", "convert bodies of a media type with a command, `TYPE=COMMAND`; its output is parsed, see parse -help=all; repeatable")
	fs.Var(&o.params, "param", "a parameter of the strategy, `name=value`; repeatable")
	fs.BoolVar(&o.s.Compat, "compat", false, "follow the paper of the strategy literally; the default differs from it in places, in topic, score and evolve")
	fs.Var(&o.pages, "pages", "stop when the cost reaches `n`; the cost is fetched pages plus queries")
	fs.Var(&o.generations, "generations", "stop after `n` generations")
	fs.Var(&o.relevant, "relevant", "stop when `n` pages are relevant, as the stage score judges them, at the end of the generation")
	fs.Var(&o.size, "size", "`addresses` a generation (default 200, with -archive or -cluster 20, and with most strategies at least a thousandth of the pages fetched so far)")
	fs.Var(&o.seed, "seed", "a `number` that seeds all random choices; -chance is the same flag")
	fs.Var(&o.seed, "chance", "the same as -seed")
	fs.StringVar(&o.s.Fair, "fair", "", "share a generation among hosts or niches (`host|niche`); in proportion to their priority")
	fs.Var(&o.perHost, "per-host", "at most `n` addresses of one host per generation")
	fs.Var(&o.perNiche, "per-niche", "at most `n` addresses of one niche per generation; an address without a niche is in the niche of its host")
	fs.Var(&o.maxPerHost, "max-per-host", "at most `n` pages of one host in the whole crawl; further ones are excluded")
	fs.Var(&o.maxPerNiche, "max-per-niche", "at most `n` pages of one niche in the whole crawl")
	fs.DurationVar(&o.horizon, "horizon", 0, "also take addresses that become due within this `time`, and wait for them")
	fs.StringVar(&o.traps, "traps", "", "exclude crawler traps, `on` (default live) or off (default for archives); frontier skipped -help=all lists the kinds")
	filter.ScopeFlags(fs, &o.s.Scope, scope.Check)
	o.defineCluster(fs)
	fs.BoolVar(&o.s.Recrawl, "recrawl", false, "visit pages again when they are due; that depends on how often they change; not with archives")
	fs.Var(&o.perDay, "per-day", "fetch at most `n` pages a day (UTC); then the crawl waits for the next day; without -pages and -patience the crawl never ends")
	fs.Var(&o.keep, "keep", "with -recrawl: fetch no new pages once `n` are visited, as counted after each generation, but keep these fresh")
	fs.Var(&o.minFree, "min-free", "wait while the disk has less than this many `bytes` left; Linux and macOS only, and it is the disk of the run")
	fs.Var(&o.patience, "patience", "`seconds` to wait while no host may be requested")
	fs.StringVar(&o.s.Fitness, "fitness", "", "`name` of the measure of relevance (default: the strategy's own); several, with commas: the first steers")
	fs.StringVar(&o.s.Norm, "norm", "", "words that cosines use (`page|topic`); all words of the page, or those of the topic; default: see score -help=all")
	fs.BoolVar(&o.steady, "steady", false, "keep replaced stages running, too, from one generation to the next; with =false start all stages anew for each, which is slower; the crawl is the same")
	fs.BoolVar(&o.quiet, "q", false, "print only warnings and errors, no line for each generation and no closing lines")
	fs.BoolVar(&o.quiet, "quiet", false, "the same as -q")
	fs.BoolVar(&o.s.Watch, "watch", false, "keep DIR/report.html up to date; report makes it, and a browser that shows it reloads it")
	fs.Func("archive", "fetch from this archive `file`, directory or pattern; repeatable", func(v string) error { return o.addArchives(v) })
	fs.StringVar(&o.s.Capture, "capture", "", "with -archive: `which` of several captures to use; newest (default), first, or the nearest to a date")
	fs.BoolVar(&o.s.ArchiveFirst, "archive-first", false, "with -archive: request from the web what the archives do not hold")
	for _, name := range fetchFlags {
		fs.Func(name, "see fetch -help=all", func(v string) (err error) {
			switch {
			case name == "proxy" && strings.Contains(v, "@"):
				o.proxyLogin = true // an error of this function would quote the password
				return nil
			case name == "cookies", name == "headers", name == "proxy" && v != "" && !strings.Contains(v, "://"): // files
				v, err = filepath.Abs(v)
			}
			o.s.Live = append(o.s.Live, "-"+name+"="+v)
			return err
		})
	}
	for _, name := range fetchSwitches {
		fs.BoolFunc(name, "see fetch -help=all", func(v string) error {
			on, err := strconv.ParseBool(v)
			this := func(f string) bool { return f == "-"+name }
			o.s.Live, o.off = slices.DeleteFunc(o.s.Live, this), slices.DeleteFunc(o.off, this)
			if on {
				o.s.Live = append(o.s.Live, "-"+name)
			} else {
				o.off = append(o.off, "-"+name)
			}
			return err
		})
	}
}

// addArchives adds an archive, or the files that match a pattern that the shell has not expanded.
func (o *opening) addArchives(name string) error {
	names := []string{name}
	if _, err := os.Stat(name); err != nil {
		if matches, _ := filepath.Glob(name); len(matches) > 0 { // a malformed pattern matches nothing
			names = matches
		}
	}
	for _, n := range names {
		absolute, err := filepath.Abs(n)
		if err != nil {
			return err
		}
		o.archives = append(o.archives, absolute)
	}
	return nil
}

// stageVariables are the variables that replace stages.
var stageVariables = map[string]string{"FETCH": "fetch", "PARSE": "parse", "SCORE": "score", "EVOLVE": "evolve", "SEARCH": "search"}

// request checks the flags and returns the run that they describe.
func (o *opening) request(fs *flag.FlagSet) (*run.Request, error) {
	s := &o.s
	s.Params, s.Archives, s.Horizon, s.MinFree = o.params, o.archives, o.horizon, int(o.minFree)
	s.Relevant = int(o.relevant)
	s.Pages, s.Generations, s.Seed, s.Size = int(o.pages), int(o.generations), int(o.seed), int(o.size)
	s.PerHost, s.PerNiche, s.MaxPerHost, s.MaxPerNiche = int(o.perHost), int(o.perNiche), int(o.maxPerHost), int(o.maxPerNiche)
	s.Patience, s.Keep, s.PerDay = time.Duration(o.patience)*time.Second, int(o.keep), int(o.perDay)
	names := filter.Given(fs)
	if s.PerDay > 0 && o.topic != "" && !names["pages"] {
		s.Pages, names["pages"] = endless, true
	}
	if s.PerDay > 0 && o.topic != "" && !names["patience"] {
		s.Patience, names["patience"] = endless*time.Second, true
	}
	if names["steady"] {
		s.Form, names["form"] = run.FormLoop, true
		if o.steady {
			s.Form = run.FormSteady
		}
	}
	if names["chance"] {
		names["seed"] = true
	}
	for _, name := range scopeFlags {
		names["scope"] = names["scope"] || names[name]
	}
	if _, err := scope.Parse(s.Scope); err != nil { // too many rules
		return nil, filter.Usagef("the scope: %v", err)
	}
	if o.proxyLogin {
		return nil, filter.Usagef("-proxy: the user name and password would be stored in %s and shown in its report\nhint: write the URL of the proxy to a file, and give -proxy FILE", o.dir)
	}
	for _, name := range append(fetchFlags, fetchSwitches...) {
		names["live"] = names["live"] || names[name]
	}
	r := &run.Request{Dir: run.Dir(o.dir), Topic: o.topic, Words: o.words, Seeds: o.seeds, Given: names, Off: o.off, Stages: map[string]string{}, Sized: names["size"]}
	for variable, stage := range stageVariables {
		if command, ok := os.LookupEnv(variable); ok {
			r.Stages[stage] = command
		}
	}
	if err := o.check(r, names); err != nil {
		return nil, err
	}
	if strings.HasPrefix(o.dir, "-") {
		r.Dir = run.Dir("./" + o.dir)
	}
	var err error
	if len(s.Archives) > 0 {
		if s.Content, err = run.DigestArchives(s.Archives); err != nil {
			return nil, err
		}
	}
	if err := o.clusterSettings(names); err != nil {
		return nil, err
	}
	if s.Size == 0 {
		s.Size = 200
		if s.Closed() {
			s.Size = 20
		}
	}
	switch {
	case o.traps == "":
		s.Traps = !s.Closed()
	default:
		s.Traps = o.traps == "on"
	}
	if r.Seeds != "" {
		if s.Seeds, err = run.DigestFile(r.Seeds); err != nil {
			return nil, err
		}
	}
	r.Settings = *s
	return r, nil
}

// check returns an error if the flags contradict each other or have invalid values.
func (o *opening) check(r *run.Request, names map[string]bool) error {
	s := &o.s
	begins := o.topic != "" || o.seeds != "" || s.SeedQuery != ""
	if err := checkFiles(o); err != nil {
		return err
	}
	switch {
	case o.dir == "" && o.topic != "":
		return filter.Usagef("-run DIR is missing: the directory of the crawl, which is named after the words if -topic is not a file")
	case o.dir == "":
		return filter.Usagef("-topic is missing: crawl -topic 'WORDS' URL...; crawl -run DIR resumes (crawl -h tells more)")
	case begins && o.topic == "":
		return filter.Usagef("-topic is missing: -topic 'WORDS' (to resume %s, leave out the addresses, -seeds and -seed-query)", o.dir)
	case begins && o.seeds == "" && s.SeedQuery == "" && o.shared == nil:
		return filter.Usagef("addresses to begin with are missing: one or more, or -seeds or -seed-query (to resume %s, give -run alone)", o.dir)
	case strings.ContainsAny(o.dir, "\n\r"):
		return filter.Usagef("-run %q: a name without line breaks is needed", o.dir)
	case s.SeedQuery != "" && s.Search == "" && r.Stages["search"] == "":
		return filter.Usagef("-seed-query needs -search: INDEX, an index file of search, or the address of a SearXNG")
	case s.ArchiveFirst && len(s.Archives) == 0 && begins:
		return filter.Usagef("-archive-first needs -archive")
	case s.Capture != "" && len(s.Archives) == 0 && begins:
		return filter.Usagef("-capture needs -archive")
	case o.traps != "" && o.traps != "on" && o.traps != "off":
		return filter.Usagef("-traps %s: on or off", o.traps)
	case s.Fair != "" && s.Fair != "host" && s.Fair != "niche":
		return filter.Usagef("-fair %s: a batch is shared by host or by niche", s.Fair)
	case names["size"] && s.Size == 0 || s.Pages == 0:
		return filter.Usagef("-size and -pages must be positive")
	case s.Recrawl && len(s.Archives) > 0:
		return filter.Usagef("-recrawl is for the live web, not for -archive: an archive does not change")
	case (s.PerDay > 0 || s.Keep > 0) && s.Closed():
		return filter.Usagef("-per-day and -keep are for the live web, not for -archive")
	case s.Keep > 0 && !s.Recrawl && begins:
		return filter.Usagef("-keep needs -recrawl")
	case s.Closed() && run.IsAddress(s.Search):
		return filter.Usagef("-search %s is for the live web: with -archive give an index (-search FILE), which is made of the archives", s.Search)
	}
	if s.Search != "" && !run.IsAddress(s.Search) {
		absolute, err := filepath.Abs(s.Search)
		if err != nil {
			return err
		}
		s.Search = absolute
		if _, err := os.Stat(absolute); err != nil && s.SeedQuery != "" && r.Stages["search"] == "" && len(s.Archives) == 0 {
			return filter.Usagef("there is no index %s to search for seeds: make one (search -index FILE -archive …), or give -seeds", absolute)
		}
	}
	for _, name := range s.Archives {
		if _, err := os.Stat(name); err != nil {
			return filter.Usagef("cannot read %s: %w", name, reason(err))
		}
	}
	return nil
}

// checkFiles returns an error if the topic or the seeds cannot be read.
func checkFiles(o *opening) error {
	for _, f := range []struct{ name, what, hint string }{
		{o.topic, "the topic ", topicHint(o.topic)},
		{o.seeds, "", seedsHint(o.seeds)},
	} {
		if f.name == "" {
			continue
		}
		info, err := os.Stat(f.name) // opening a named pipe would wait
		switch {
		case err != nil:
		case info.IsDir():
			return filter.Usagef("%s is a directory: it must be a file", f.name)
		case !info.Mode().IsRegular():
			return filter.Usagef("%s is read more than once: it must be a file", f.name)
		}
		file, err := os.Open(f.name)
		if err != nil && f.hint == "" {
			return filter.Usagef("cannot read %s%s: %w", f.what, f.name, reason(err))
		}
		if err != nil {
			return filter.Usagef("cannot read %s%s%s", f.what, f.name, f.hint)
		}
		file.Close()
	}
	return nil
}

// reason returns why a file cannot be opened, without its name.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// seedsHint says what to do about seeds that are an address and not a file.
func seedsHint(seeds string) string {
	if run.IsAddress(seeds) {
		return ": -seeds takes a file of addresses\nhint: echo " + seeds + " >seeds.txt, and -seeds seeds.txt"
	}
	return ""
}
