package viewer

import (
	"os"
	"strings"
	"testing"
	"time"

	"spoor/internal/run"
	"spoor/internal/testfile"
)

// Whatever the files of a run directory hold, its page is made, is not longer than its limits, and has no element
// from the files.
func FuzzFiles(f *testing.F) {
	f.Add("strategy niche\npages 10\n", `{"query":"deer"}`, `{"generation":1,"cost":2,"relevant":1,"operators":{"link":{"cost":2,"relevant":1}},"errors":{"dns":1},"skipped":{"robots":2},"seconds":0.5}`+"\n",
		`{"v":1,"url":"http://a.test/","generation":2,"priority":1,"reasons":{"x":1},"parents":["http://b.test/"]}`+"\n",
		`{"v":1,"url":"http://a.test/","status_code":200,"title":"<b>","score":1}`+"\n")
	f.Add("strategy own\nreplaced evolve\npartition 3\n", `{"keywords":[{"text":"a"},{"text":"<i>"}]}`,
		`{"generation":-1}`+"\n"+`{"generation":9223372036854775807,"cost":9223372036854775807,"relevant":-5,"estimated":1,"estimates":-9223372036854775808,"seconds":1e308}`+"\n",
		`{"v":1,"query":"x"}`+"\n", "{\n")
	f.Add("", "null", "null\n[]\n{}\n"+`{"generation":1,"errors":null,"operators":null,"skipped":null}`+"\n", "", "")
	f.Fuzz(func(t *testing.T, settings, topic, log, next, scored string) {
		r := &runner{t, run.Dir(t.TempDir()), run.NewTotals()}
		r.generation(&run.Summary{}, next, scored)
		for name, text := range map[string]string{run.SettingsFile: settings, run.Topic: topic, run.LogFile: log} {
			r.write(name, text)
		}
		if strings.HasPrefix(log, "{") {
			os.Remove(r.dir.Path(totalsFile)) // sums the log
		}
		s := New(&Options{Dirs: []string{string(r.dir)}, Log: silent{}})
		s.list.look(time.Now())
		for _, c := range s.all(time.Now()) {
			c.looked = time.Time{}
			c.look(time.Now())
			html := string(c.view.html) + string(s.list.view.html)
			if len(html) > 1<<20 {
				t.Errorf("the page has %d bytes", len(html))
			}
			for _, wrong := range []string{"<b>Found,</b><", "<i>", "<script", "<img", "<iframe"} {
				if strings.Contains(html, wrong) {
					t.Errorf("the page has %s", wrong)
				}
			}
			if event := newEvent("", c.numbers(time.Now())); len(event) > 4000 {
				t.Errorf("the event has %d bytes", len(event))
			}
		}
		testfile.Check(t, os.RemoveAll(string(r.dir)))
	})
}

type silent struct{}

func (silent) Warn(string, ...any) {}
