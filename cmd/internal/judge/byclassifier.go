package judge

import (
	"fmt"
	"io"
	"log/slog"

	"spoor/cmd/internal/filter"
	"spoor/internal/closedweb"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// judgeByClassifier compares the records of in with the classifier of the topic file.
func (o *options) judgeByClassifier(in io.Reader, stdout io.Writer, log *slog.Logger) error {
	t, err := topic.Load(o.topic)
	if err != nil {
		return err
	}
	crawl, err := closedweb.NewClassifiedCrawl(t, o.t)
	if err != nil {
		return fmt.Errorf("topic file %s: %w", o.topic, err)
	}
	tally := filter.NewTally(log)
	o.stream.Want |= wire.Parse
	if err := o.copyRecords(in, stdout, tally, func(rec *wire.Record) (closedweb.Verdict, string) { return crawl.Add(rec), "" }, &crawl.Account); err != nil {
		tally.Close()
		return err
	}
	s := crawl.Summary()
	a := s.Agreement
	if a.Pages == 0 {
		log.Warn("no page could be compared with the classifier", "hint", "judge -topic reads pages with text and relevant, as score leaves them")
	}
	if !a.HeldOut {
		log.Warn("this classifier has steered the crawl, so their agreement means nothing", "hint", "train another, with examples that the crawl has not seen")
	}
	log.Info("compared with a classifier", "pages", a.Pages, "precision", a.Precision, "recall", a.Recall, "f1", a.F1, "kappa", a.Kappa)
	err = o.writeSummary(s)
	closeTally(tally, &crawl.Account)
	return err
}
