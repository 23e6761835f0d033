package viewer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/report"
	"spoor/internal/run"
	"spoor/internal/testfile"
)

func TestJudgedCrawl(t *testing.T) {
	dir := t.TempDir()
	r := newRun(t, filepath.Join(dir, "deer"))
	r.generation(&run.Summary{Outcomes: 400, Cost: 400}, "", "")
	const hidden = `<div data-shown="judged" hidden>`
	shown := func(share, of string) string {
		return `>328</b><span data-number="judged-of">` + share + ` of ` + of + `, as judge found by the label deer &amp; moss</span>`
	}
	for text, want := range map[string]string{
		`{"label":"deer & moss","T":400,"cost":400,"harvest":0.82,"curves":{"cost":[1,3]}}`: shown(report.Share(328, 400), "what was spent"),
		`{"label":"deer & moss","T":500,"cost":400,"harvest":0.82}`:                         shown(report.Share(328, 400), "what was spent"),
		`{"label":"deer & moss","T":360,"cost":400,"harvest":0.911}`:                        shown(report.Share(328, 360), "the first 360 spent"),
		`{"label":"deer & moss","T":360,"cost":370,"harvest":0.911}`:                        shown(report.Share(328, 360), "the first 360 spent"), // then it was continued
		`{"label":"deer","T":500,"cost":500,"harvest":0.82}`:                                hidden,                                               // of several partitions
		`{"label":"deer","T":-1,"cost":-1,"harvest":7}`:                                     hidden,
		`{"topic":"deer","T":400,"cost":400,"harvest":0.82}`:                                hidden,
		`{"label":"deer","T":400,"cost":400,"harvest":null}`:                                hidden,
		`{"cost":"many"}`: "judge.json cannot be read",
	} {
		r.write(run.Judged, text)
		if _, _, page := get(t, "GET", start(t, Options{Dirs: []string{dir}}).URL+"/run/deer/", nil); !strings.Contains(page, want) {
			t.Errorf("%s: the page lacks %s: %s", text, want, page)
		}
	}
	testfile.Check(t, os.Remove(r.dir.Path(run.Judged)))
	if _, _, page := get(t, "GET", start(t, Options{Dirs: []string{dir}}).URL+"/run/deer/", nil); !strings.Contains(page, hidden) {
		t.Errorf("without judge.json the page has a number of relevant pages by a label: %s", page)
	}
}
