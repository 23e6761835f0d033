// Package metrics writes the progress of crawls, from their run directories, in the text format of
// Prometheus. It does not change the directories, so the crawls may be running.
package metrics

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"spoor/internal/archive"
	"spoor/internal/atomicfile"
	"spoor/internal/polite"
	"spoor/internal/run"
)

// A Crawl is a crawl. Name is the value of the label run of its metrics.
type Crawl struct {
	Name string
	Dirs run.Dirs
}

// Write writes the metrics of the crawls. Hosts count as held if they are held at the time now. For
// each crawl that cannot be read, Write calls the function failed; it writes the others.
func Write(w io.Writer, crawls []Crawl, now time.Time, failed func(name string, err error)) error {
	var f families
	for i := range crawls {
		if err := f.add(&crawls[i], now); err != nil {
			failed(crawls[i].Name, err)
		}
	}
	for _, family := range f.list {
		if _, err := expfmt.MetricFamilyToText(w, family); err != nil {
			return err
		}
	}
	return nil
}

// families holds metrics in the order of their first use.
type families struct {
	list []*dto.MetricFamily
	run  string
}

// counter adds a value of a counter. labels holds names and values in turn.
func (f *families) counter(name, help string, value float64, labels ...string) {
	m := f.metric(name, help, dto.MetricType_COUNTER, labels)
	m.Counter = &dto.Counter{Value: &value}
}

// gauge adds a value of a gauge.
func (f *families) gauge(name, help string, value float64, labels ...string) {
	m := f.metric(name, help, dto.MetricType_GAUGE, labels)
	m.Gauge = &dto.Gauge{Value: &value}
}

func (f *families) metric(name, help string, kind dto.MetricType, labels []string) *dto.Metric {
	i := slices.IndexFunc(f.list, func(m *dto.MetricFamily) bool { return m.GetName() == name })
	if i < 0 {
		i = len(f.list)
		f.list = append(f.list, &dto.MetricFamily{Name: &name, Help: &help, Type: &kind})
	}
	m := new(dto.Metric)
	for pair := range slices.Chunk(append([]string{"run", f.run}, labels...), 2) {
		value := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return '\uFFFD'
			}
			return r
		}, strings.ToValidUTF8(pair[1], "\uFFFD"))
		m.Label = append(m.Label, &dto.LabelPair{Name: &pair[0], Value: &value})
	}
	f.list[i].Metric = append(f.list[i].Metric, m)
	return m
}

// add adds the metrics of a crawl.
func (f *families) add(c *Crawl, now time.Time) error {
	s, err := c.Dirs[0].LoadSettings()
	if err != nil {
		return err
	}
	if s == nil {
		return fmt.Errorf("%s has no settings\nhint: a run directory is what crawl was given as -run", c.Dirs[0])
	}
	t, err := c.Dirs.Totals()
	if err != nil {
		return err
	}
	f.run = c.Name
	f.counter("spoor_fetched_pages_total", "Total cost: fetched pages, including failures and repetitions, and the cost of queries.", float64(t.Fetched))
	f.counter("spoor_failed_pages_total", "Fetches without a page: errors, and statuses other than 2xx.", float64(t.Failed))
	f.counter("spoor_relevant_pages_total", "Pages that the stage score marked as relevant.", float64(t.Relevant))
	f.counter("spoor_needs_browser_pages_total", "Pages that need a browser, because scripts produce their text.", float64(t.NeedsBrowser))
	for _, kind := range slices.Sorted(maps.Keys(t.Errors)) {
		f.counter("spoor_errors_total", "Addresses whose record has an error, by error.", float64(t.Errors[kind]), "error", kind)
	}
	for _, operator := range slices.Sorted(maps.Keys(t.Operators)) {
		f.counter("spoor_operator_pages_total", "Fetched pages by the operator that chose them.", float64(t.Operators[operator].Cost), "operator", operator)
	}
	for _, operator := range slices.Sorted(maps.Keys(t.Operators)) {
		f.counter("spoor_operator_relevant_pages_total", "Relevant pages by the operator that chose them.", float64(t.Operators[operator].Relevant), "operator", operator)
	}
	f.counter("spoor_seconds_total", "Duration of all generations, in seconds.", t.Seconds)
	f.gauge("spoor_pages_budget", "Number of fetched pages at which the crawl ends.", float64(s.Pages))
	f.gauge("spoor_generation", "Number of the last committed generation.", float64(t.Generation))
	f.gauge("spoor_generation_seconds", "Duration of the last committed generation, in seconds.", float64(t.Last.Seconds))
	f.gauge("spoor_generation_fetched_pages", "Fetched pages of the last committed generation.", float64(t.Last.Cost))
	f.gauge("spoor_generation_relevant_pages", "Relevant pages of the last committed generation.", float64(t.Last.Relevant))
	f.gauge("spoor_known_addresses", "Addresses in the frontier.", float64(t.Last.URLs))
	f.gauge("spoor_waiting_addresses", "Addresses in the frontier that wait to be fetched.", float64(t.Last.Waiting))
	f.gauge("spoor_hosts", "Hosts from which a page was fetched.", float64(t.Last.Hosts))
	return f.addFiles(c.Dirs, now)
}

// addFiles adds the metrics that are computed from other files of the run directories.
func (f *families) addFiles(ds run.Dirs, now time.Time) error {
	held := 0
	for _, name := range ds.Files(filepath.Join("fetch", "polite.ndjson")) {
		n, err := heldHosts(name, now)
		if err != nil {
			return err
		}
		held += n
	}
	f.gauge("spoor_held_hosts", "Hosts that get no requests now, because they failed or asked for a longer pause.", float64(held))
	list, _, err := ds.List()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	commit := 0.0
	for i := range list {
		if info, err := os.Stat(list[i].Stats); err == nil {
			commit = max(commit, float64(info.ModTime().UnixMilli())/1000)
		}
	}
	f.gauge("spoor_last_commit_timestamp_seconds", "Time of the last commit of a generation, in seconds since 1970; 0 if there is none.", commit)
	files, bytes, err := captures(ds)
	if err != nil {
		return err
	}
	f.gauge("spoor_capture_files", "WARC files in the run directory.", float64(files))
	f.gauge("spoor_capture_bytes", "Size of the WARC files in the run directory, in bytes.", float64(bytes))
	log := int64(0)
	for _, name := range ds.Files(run.StagesLog) {
		if info, err := os.Stat(name); err == nil {
			log += info.Size()
		}
	}
	f.gauge("spoor_log_bytes", "Size of stages.log, in bytes.", float64(log))
	ended, reason := 0.0, ""
	for _, name := range ds.Files(run.StopReason) {
		b, err := atomicfile.ReadFile(name, 1024)
		if err != nil {
			return err
		}
		ended, reason = 1, strings.TrimSpace(string(b))
	}
	f.gauge("spoor_ended", "1 if the crawl has ended, otherwise 0; the label reason says why it ended.", ended, "reason", reason)
	return nil
}

// captures returns the number and total size of the WARC files. Files may be moved away meanwhile.
func captures(ds run.Dirs) (files int, bytes int64, err error) {
	for _, dir := range ds.Files("warc") {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range entries {
			if !archive.IsName(e.Name()) { // an index has the name of its archive with another ending
				continue
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				files++
				bytes += info.Size()
			}
		}
	}
	return files, bytes, nil
}

// heldHosts returns the number of hosts that are held at the time now, in a stored state of fetch.
func heldHosts(name string, now time.Time) (int, error) {
	f, err := atomicfile.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := polite.CountHeld(f, now)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}
