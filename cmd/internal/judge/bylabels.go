package judge

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/closedweb"
	"spoor/internal/judge"
	"spoor/internal/run"
	"spoor/internal/wire"
)

// A labelJudge judges a crawl by labels.
type labelJudge struct {
	*options
	web    *closedweb.Web
	labels *closedweb.Labels
	seeds  *closedweb.Seeds
	judge  *judge.Judge

	classes *closedweb.Classes // nil without -classes
}

// newLabelJudge reads the web, its labels and the seeds.
func (o *options) newLabelJudge(log *slog.Logger) (*labelJudge, error) {
	web, err := o.readWeb(log)
	if err != nil {
		return nil, err
	}
	labels, err := o.readLabels(web, log)
	if err != nil {
		return nil, err
	}
	if err := labels.Apply(); err != nil {
		return nil, err
	}
	if labels.Unknown > 0 {
		attrs := []any{"labels", labels.Lines, "unknown", labels.Unknown}
		if 2*labels.Unknown > labels.Lines {
			attrs = append(attrs, "share", fmt.Sprintf("%.0f%%", 100*float64(labels.Unknown)/float64(labels.Lines)), "example", labels.Example)
			if labels.Nearest != "" {
				attrs = append(attrs, "in_the_web", labels.Nearest)
			}
		}
		log.Warn("ignored labels of addresses that are not in the web", attrs...)
	}
	seeds, err := o.readSeeds(web)
	if err != nil {
		return nil, fmt.Errorf("-seeds: %w", err)
	}
	if seeds.Unknown > 0 {
		log.Warn("ignored seeds that are not in the web", "seeds", seeds.Unknown+len(seeds.Pages), "unknown", seeds.Unknown)
	}
	if len(seeds.Pages) == 0 {
		return nil, fmt.Errorf("no seed of %s is in the web\nhint: is it the web that was crawled?", o.seeds)
	}
	j, err := judge.New(web.Web, seeds.Pages, judge.Options{T: o.t})
	if err != nil {
		return nil, err
	}
	if j.R == 0 {
		return nil, fmt.Errorf("no page with the label %q can be reached from the seeds", o.label)
	}
	l := &labelJudge{options: o, web: web, labels: labels, seeds: seeds, judge: j}
	if o.classes != "" && !o.budget {
		l.classes, err = o.readClasses(web, log)
	}
	return l, err
}

// readClasses reads the file of classes.
func (o *options) readClasses(web *closedweb.Web, log *slog.Logger) (*closedweb.Classes, error) {
	f, err := filter.OpenInput(o.classes)
	if err != nil {
		return nil, fmt.Errorf("-classes: %w", err)
	}
	defer f.Close()
	warnings := filter.LineWarnings{Log: log}
	defer warnings.Close()
	classes, err := closedweb.ReadClasses(web, f, func(line int, err error) {
		warnings.Report("skipped a line that is not a class", "line", line, "err", err)
	})
	if err != nil {
		return nil, fmt.Errorf("-classes: %s: %w", o.classes, err)
	}
	if classes.Unknown > 0 {
		log.Warn("ignored classes of addresses that are not in the web", "classes", classes.Lines, "unknown", classes.Unknown)
	}
	return classes, nil
}

// readWeb reads the web from the graph file or the archives.
func (o *options) readWeb(log *slog.Logger) (*closedweb.Web, error) {
	if o.graph != "" {
		f, err := filter.OpenInput(o.graph)
		if err != nil {
			return nil, fmt.Errorf("-graph: %w", err)
		}
		defer f.Close()
		web, err := closedweb.FromGraphFile(f)
		if err != nil {
			err = fmt.Errorf("-graph: %s: %w", o.graph, err)
		}
		return web, err
	}
	started := time.Now()
	faults := filter.Faults{Log: log}
	web, err := closedweb.FromArchives(o.archives, closedweb.ArchiveOptions{
		Pick: o.capture, Cache: o.cache, Workers: o.workers,
		BadRecord: func(archive string, err error) {
			if faults.ShouldLog(archive) {
				log.Warn("left out what cannot be read of an archive", "archive", archive, "err", err)
			}
		},
		LinksRead: func(size closedweb.Size) {
			log.Info("read the links of the archives", "pages", size.Pages, "redirects", size.Redirects, "links", size.Links,
				"seconds", float64(time.Since(started).Milliseconds())/1000)
		},
	})
	if errors.Is(err, closedweb.ErrPipe) {
		err = filter.Exit(filter.StatusMisuse, err)
	}
	return web, err
}

// readLabels reads the file of labels, or takes those of the graph file.
func (o *options) readLabels(web *closedweb.Web, log *slog.Logger) (*closedweb.Labels, error) {
	if o.labels == "" {
		return web.Labels(o.label), nil
	}
	f, err := filter.OpenInput(o.labels)
	if err != nil {
		return nil, fmt.Errorf("-labels: %w", err)
	}
	defer f.Close()
	labels := closedweb.NewLabels(web, o.label)
	warnings := filter.LineWarnings{Log: log}
	defer warnings.Close()
	if err := labels.Read(f, func(line int, err error) {
		warnings.Report("skipped a line that is not a label", "line", line, "err", err)
	}); err != nil {
		return nil, fmt.Errorf("-labels: %w", err)
	}
	return labels, nil
}

// readSeeds reads the file of seeds.
func (o *options) readSeeds(web *closedweb.Web) (*closedweb.Seeds, error) {
	f, err := filter.OpenInput(o.seeds)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := wire.NewReader(filter.Addresses(f), 0)
	r.Limit = int(o.stream.Limit)
	seeds, err := web.ReadSeeds(r)
	if err != nil {
		err = fmt.Errorf("%s: %w", o.seeds, err)
	}
	return seeds, err
}

// run judges the records of in.
func (l *labelJudge) run(in io.Reader, stdout io.Writer, log *slog.Logger) error {
	tally := filter.NewTally(log)
	crawl, err := l.crawl(in, stdout, tally)
	if err != nil {
		tally.Close()
		return err
	}
	s := crawl.Summary()
	s.SeedDigest = l.seeds.Digest
	attrs := []any{"T", s.T, "R", s.R, "harvest", *s.Harvest, "recall", *s.Recall, "nauc", *s.NAUC, "auc_clairvoyant_ratio", *s.AUCClairvoyant, "auc_bound_ratio", *s.AUCBound}
	if s.SelfHarvest != nil {
		attrs = append(attrs, "self_harvest", *s.SelfHarvest)
	}
	if s.NearDuplicates != nil {
		attrs = append(attrs, "near_duplicates", *s.NearDuplicates, "traps", *s.Traps)
	}
	log.Info("judged", attrs...)
	if n := crawl.Unreachable(); n > 0 {
		log.Warn("the crawl has found relevant pages to which no links lead from the seeds; R lacks them, and recall and nauc can exceed 1", "pages", n, "R", s.R)
	}
	if spread := l.judge.Spread(); s.R > 0 && spread < 0.001 {
		log.Warn("random crawls find nearly as much as a clairvoyant one, so nauc says nothing", "difference", spread)
	}
	if l.t == 0 && l.endedEarly(crawl.Spent) {
		log.Warn("the crawl ended before T: nauc and recall count what it did not fetch as not found", "spent", crawl.Spent, "T", s.T,
			"hint", fmt.Sprintf("-t %d judges what it spent", crawl.Spent))
	}
	err = l.writeSummary(s)
	closeTally(tally, &crawl.Account)
	return err
}

// crawl writes the records of in with their verdicts.
func (l *labelJudge) crawl(in io.Reader, stdout io.Writer, tally *filter.Tally) (*closedweb.Crawl, error) {
	crawl := closedweb.NewCrawl(l.web, l.labels, l.judge)
	crawl.Classify(l.classes)
	return crawl, l.copyRecords(in, stdout, tally, func(rec *wire.Record) (closedweb.Verdict, string) {
		v := crawl.Add(rec)
		return v, crawl.Class
	}, &crawl.Account)
}

// endedEarly reports whether a crawl spent less than T, although it had addresses left as far as
// judge knows: the number of reachable pages, and in a run directory why the crawl ended.
func (l *labelJudge) endedEarly(spent int64) bool {
	if spent == 0 || spent >= int64(min(l.judge.T, l.judge.Reachable)) {
		return false
	}
	return l.stopReason != run.EndEmpty && l.stopReason != run.EndNotDue
}
