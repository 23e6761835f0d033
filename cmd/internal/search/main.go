// Package search is the command search, which answers queries with addresses.
package search

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/search"
	"spoor/internal/wire"
)

//go:embed manual.md
var manual string

// Command is the command search.
var Command = filter.Command{Name: "search", Manual: manual, Run: run}

// options are the flags.
type options struct {
	indexes  filter.Strings
	archives filter.Strings
	servers  filter.Strings // SearXNG
	commands filter.Strings

	results int
	only    bool
	query   string
	asked   bool // whether -query was given

	rate    float64
	timeout time.Duration
	cache   string
	private bool
	stream  filter.Stream
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	o := &options{}
	fs := filter.Flags("search", manual, stderr)
	fs.Var(&o.indexes, "index", "answer from the index in this `file`; may be repeated")
	fs.Var(&o.archives, "archive", "first add to the index this `file` (WARC, ARC, WACZ), pattern or directory; may be repeated")
	fs.Var(&o.servers, "searxng", "answer from the SearXNG server at this `URL`; may be repeated")
	fs.Var(&o.commands, "command", "answer by running this shell `command`; may be repeated")
	fs.IntVar(&o.results, "results", 10, "at most `n` results of each source for a query")
	fs.BoolVar(&o.only, "only", false, "print only the queries that are answered, and their results")
	fs.StringVar(&o.query, "query", "", "answer the query `words`, and read no input")
	fs.Float64Var(&o.rate, "rate", 1, "send at most `n` queries a second to each source; 0: no limit")
	fs.DurationVar(&o.timeout, "timeout", 30*time.Second, "`time` to wait for an answer")
	fs.StringVar(&o.cache, "cache", "", "store answers in this `file`, and reuse them; without it they are reused in this run only")
	fs.BoolVar(&o.private, "allow-private", false, "allow servers at loopback and private addresses")
	o.stream.CommonFlags(fs)
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	given := filter.Given(fs)
	o.asked = given["query"]
	if err := o.check(given, fs.Args()); err != nil {
		return err
	}
	log := filter.Logger(stderr, "search", o.stream.Log)
	sources, closeAll, err := o.sources(log)
	defer closeAll()
	if err != nil {
		return err
	}
	if o.asked {
		in, err := queryRecord(o.query)
		if err != nil {
			return err
		}
		return o.answer(in, stdout, sources, log)
	}
	in, err := filter.Open(stdin, fs.Args())
	if errors.Is(err, iofs.ErrNotExist) && !strings.Contains(err.Error(), "\nhint: ") {
		err = fmt.Errorf("%w\nhint: arguments are files of records; -query WORDS asks for words", err)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return o.answer(in, stdout, sources, log)
}

// check returns an error for flags that contradict each other.
func (o *options) check(given map[string]bool, files []string) error {
	services := len(o.servers) + len(o.commands)
	switch {
	case len(o.indexes)+services == 0:
		return filter.Usagef("no source: use -index FILE, -searxng URL or -command CMD")
	case slices.Contains(slices.Concat(o.indexes, o.servers, o.commands), ""):
		return filter.Usagef("-index, -searxng and -command must not be empty")
	case len(o.archives) > 0 && len(o.indexes) != 1:
		return filter.Usagef("-archive needs one -index FILE")
	case services == 0 && (given["rate"] || given["timeout"] || given["cache"]):
		return filter.Usagef("-rate, -timeout and -cache need -searxng URL or -command CMD")
	case given["allow-private"] && len(o.servers) == 0:
		return filter.Usagef("-allow-private needs -searxng URL")
	case o.results < 1 || o.results > maxResults:
		return filter.Usagef("-results %d: want a number from 1 to %d", o.results, maxResults)
	case !(o.rate >= 0 && o.rate <= 1e9) || o.timeout <= 0:
		return filter.Usagef("-rate must not be negative, and -timeout must be positive")
	case o.asked && strings.TrimSpace(o.query) == "":
		return filter.Usagef("-query: no words")
	case o.asked && len(files) > 0:
		return filter.Usagef("-query reads no input: unexpected argument %s", files[0])
	}
	return nil
}

// maxResults bounds -results.
const maxResults = 1000

// sources returns the sources of answers. closeAll must be called also if there is an error.
func (o *options) sources(log *slog.Logger) (all []search.Source, closeAll func(), err error) {
	var open []io.Closer
	closeAll = func() {
		for _, c := range open {
			c.Close()
		}
	}
	var services []search.Source
	for _, url := range o.servers {
		s, err := search.NewSearXNG(url, o.transport(), agent, search.NewPace(o.rate))
		if err != nil {
			return nil, closeAll, filter.Usagef("-searxng: %w", err)
		}
		services = append(services, s)
	}
	for _, line := range o.commands {
		services = append(services, &search.Command{Line: line, Timeout: o.timeout, Pace: search.NewPace(o.rate)})
	}
	for _, name := range o.indexes {
		x, err := openIndex(name, o.archives, log)
		if err != nil {
			return nil, closeAll, err
		}
		all, open = append(all, x), append(open, x)
	}
	if len(services) == 0 {
		return all, closeAll, nil
	}
	cache, err := search.OpenCache(o.cache)
	if err != nil {
		return nil, closeAll, err
	}
	open = append(open, cache)
	for _, s := range services {
		all = append(all, cache.Of(s))
	}
	return all, closeAll, nil
}

// answer answers the queries among the records of in.
func (o *options) answer(in io.Reader, stdout io.Writer, sources []search.Source, log *slog.Logger) (err error) {
	out, closeTee, err := filter.Tee(stdout, o.stream.Tee)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTee()) }()
	a := answerer{options: o, sources: sources, log: log, tally: filter.NewTally(log), w: wire.NewWriter(out)}
	err = a.all(in)
	if ferr := a.w.Flush(); err == nil && ferr != nil {
		err = fmt.Errorf("writing records: %w", ferr)
	}
	a.tally.Close(slog.Int64("queries", a.queries), slog.Int64("failed", a.failed), slog.Int64("results", a.results), slog.Int64("cost", a.cost))
	if err == nil {
		err = a.tally.ErrIfNoneValid()
	}
	if err == nil && a.queries > 0 && a.failed == a.queries {
		err = fmt.Errorf("all %d queries failed: %w", a.queries, a.last)
	}
	return err
}

// An answerer answers the queries of one stream.
type answerer struct {
	*options
	sources []search.Source
	log     *slog.Logger
	tally   *filter.Tally
	w       *wire.Writer

	queries, failed, results, cost int64
	last                           error // the last failure
	found                          wire.Record
}

func (a *answerer) all(in io.Reader) error {
	r := wire.NewReader(in, wire.Address)
	r.Limit = int(a.stream.Limit)
	var rec wire.Record
	for {
		err := a.stream.Read(r, a.tally, &rec)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch isQuery := rec.URL == "" && rec.Query != "" && rec.Cost == 0 && !rec.IsMark(); {
		case isQuery:
			err = a.ask(&rec)
		case !a.only:
			err = a.write(&rec)
		}
		if err != nil {
			return err
		}
		if !r.Buffered() {
			if err := a.w.Flush(); err != nil {
				return fmt.Errorf("writing records: %w", err)
			}
		}
	}
}

// ask answers a query. A query has failed if no source answered it.
func (a *answerer) ask(q *wire.Record) error {
	answers := make([][]string, len(a.sources))
	about := map[string][]byte{}
	failed := 0
	for i, s := range a.sources {
		var err error
		answers[i], err = a.search(s, q.Query, about)
		if setup, ok := errors.AsType[*search.SetupError](err); ok {
			return setup
		}
		if err != nil {
			failed++
			a.last = err
			a.log.Warn("a query failed", "query", q.Query, "err", err)
		}
		const resultsPerFetch = 10 // which is how judge counts
		q.Cost += max(1, (len(answers[i])+resultsPerFetch-1)/resultsPerFetch)
	}
	if a.queries++; failed == len(a.sources) {
		a.failed++
	}
	q.Touch(wire.Address)
	a.cost += int64(q.Cost)
	if err := a.write(q); err != nil {
		return err
	}
	for i, url := range interleave(answers) {
		result(&a.found, q, url, i)
		if err := describe(&a.found, about[url]); err != nil {
			return err
		}
		if err := a.write(&a.found); err != nil {
			return err
		}
		a.results++
	}
	return nil
}

// search returns the results of a source. If the source has more than their addresses, it adds this to
// about, as JSON, unless an earlier source has described the same page.
func (a *answerer) search(s search.Source, words string, about map[string][]byte) (urls []string, err error) {
	index, ok := s.(*search.Index)
	if !ok {
		return s.Search(context.Background(), words, a.options.results)
	}
	answer, err := index.Find(context.Background(), search.Query{Words: words, Limit: a.options.results})
	if err != nil {
		return nil, err
	}
	for _, h := range answer.Hits {
		urls = append(urls, h.URL)
		if about[h.URL] != nil {
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		const digits = 6 // others differ between processors
		if err := e.Encode(description{h.Title, h.Snippet.Text, json.Number(strconv.FormatFloat(h.Score, 'g', digits, 64))}); err != nil {
			return nil, err
		}
		about[h.URL] = bytes.TrimSpace(b.Bytes())
	}
	return urls, nil
}

// A description is what an index has of a result.
type description struct {
	Title   string      `json:"title,omitempty"`
	Snippet string      `json:"snippet,omitempty"`
	Score   json.Number `json:"score"`
}

// describe adds a field found to a record that was not read. Other stages copy it like any unknown field.
func describe(rec *wire.Record, description []byte) error {
	if description == nil {
		return nil
	}
	line, err := rec.Append(nil)
	if err != nil {
		return err
	}
	line = append(bytes.TrimSuffix(line, []byte("}\n")), `,"found":`...)
	return wire.NewReader(bytes.NewReader(append(append(line, description...), '}')), wire.Address).Read(rec)
}

// interleave returns the answers of all sources without duplicates: the first result of each source,
// then the second of each, and so on.
func interleave(answers [][]string) (urls []string) {
	seen := map[string]bool{}
	for i, more := 0, true; more; i++ {
		more = false
		for _, answer := range answers {
			if i >= len(answer) {
				continue
			}
			more = true
			if url := answer[i]; !seen[url] {
				seen[url] = true
				urls = append(urls, url)
			}
		}
	}
	return urls
}

// result sets rec to the i-th result of a query, from 0.
func result(rec, q *wire.Record, url string, i int) {
	rec.Reset()
	rec.V, rec.URL, rec.Generation, rec.Query, rec.Niche = wire.Version, url, q.Generation, q.Query, q.Niche
	for _, parent := range q.Parents {
		if parent != url { // the search may find a page that the query was made from
			rec.Parents = append(rec.Parents, parent)
		}
	}
	rec.Operator = "search"
	if q.Operator == "seed" {
		rec.Operator = q.Operator
	}
	if q.Priority.Kind == wire.Present {
		rec.Priority = wire.Num(q.Priority.Value - float64(i)/1000)
	}
}

func (a *answerer) write(rec *wire.Record) error {
	if err := a.w.Write(rec); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	a.tally.Out++
	return nil
}
