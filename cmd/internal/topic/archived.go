package topic

import (
	"cmp"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/page"
	"spoor/internal/wire"
)

// archived reads example pages from archives, as fetch and parse would.
type archived struct {
	replay    *archive.Replay
	extractor *page.Extractor
}

// openArchives opens the archives of -archive. The caller must close the replay.
func openArchives(names []string) (*archived, error) {
	r, err := archive.OpenReplay(names, archive.ReplayOptions{Index: archive.IndexOptions{Cache: filter.Cache()}})
	if err != nil {
		return nil, err
	}
	return &archived{r, page.NewExtractor()}, nil
}

// fill sets the words and links of a record that is only an address.
func (a *archived) fill(rec *wire.Record) {
	if rec.URL == "" || rec.IsOutcome() || rec.Text != "" || rec.Title != "" {
		return
	}
	p, err := a.replay.Fetch(rec.URL)
	if p == nil || p.Response == nil || err != nil && len(p.Body) == 0 {
		rec.Error = wire.ErrorNotArchived
		return
	}
	sent := p.Header.Get("Content-Type")
	c := a.extractor.Extract(page.Document{URL: p.URL, ContentType: cmp.Or(p.ContentType(), sent), Charset: p.Charset(), Refresh: p.Header["Refresh"], Body: p.Body})
	rec.StatusCode, rec.FinalURL, rec.Lang = p.StatusCode, p.URL, c.Lang
	rec.Title, rec.Description, rec.Keywords, rec.Text, rec.AnchorText, rec.Links = c.Title, c.Description, c.Keywords, c.Text, c.AnchorText, c.Links
}
