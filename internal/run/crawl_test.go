package run

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"spoor/internal/frontier"
	"spoor/internal/testfile"
	"spoor/internal/wire"
)

func TestNowFile(t *testing.T) {
	d := Dir(t.TempDir())
	var n now
	if err := n.load(d); err != nil || n != (now{}) {
		t.Errorf("without a file: %+v, %v", n, err)
	}
	want := now{step: stepVisit, in: "generations/0007/" + Addresses, out: Scored, generation: 7, topic: d.Path(Topic), asked: 30, pages: 29, begun: time.Now().UTC().Round(0)}
	if err := want.save(d); err != nil {
		t.Fatal(err)
	}
	if err := n.load(d); err != nil || n != want {
		t.Errorf("got  %+v\nwant %+v, %v", n, want, err)
	}
	steady := now{step: stepSteady, generation: 8, topic: d.Path(Topic), begun: want.begun}
	if err := steady.save(d); err != nil {
		t.Fatal(err)
	}
	n = now{}
	if err := n.load(d); err != nil || n != steady {
		t.Errorf("got  %+v\nwant %+v, %v", n, steady, err)
	}
}

// The file is not synced, so a power cut may leave any beginning of it.
func TestNowFileTorn(t *testing.T) {
	d := Dir(t.TempDir())
	want := now{step: stepEvolve, in: "generations/0007/" + Scored, out: Next, generation: 7, topic: "topic.json", asked: 30, pages: 29, begun: time.Unix(1e9, 5).UTC()}
	if err := want.save(d); err != nil {
		t.Fatal(err)
	}
	whole := testfile.Read(t, d.Path(stepFile))
	for length := range len(whole) - 1 {
		testfile.Write(t, d.Path(stepFile), whole[:length])
		var n now
		if err := n.load(d); err != nil {
			t.Errorf("%d bytes of it: %v", length, err)
		}
		n.begun = want.begun // only the shown time depends on it
		if n.step != "" && n != want {
			t.Errorf("%d bytes of it: half a step: %+v", length, n)
		}
	}
}

// A crawl that was killed an hour ago, in a step that began an hour after the generation.
func TestTheTimeAfterAKillIsNotCounted(t *testing.T) {
	d, hour := Dir(t.TempDir()), time.Hour
	n := now{step: stepEvolve, generation: 1, begun: time.Now().Add(-2 * hour)}
	if err := errors.Join(n.save(d), os.Chtimes(d.Path(stepFile), time.Time{}, time.Now().Add(-hour))); err != nil {
		t.Fatal(err)
	}
	c := &Crawl{Dir: d, Settings: &Settings{Pages: 10}, Totals: NewTotals(), now: n}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	if counted := time.Since(c.now.begun); counted < hour || counted > hour+time.Minute {
		t.Errorf("%v are counted", counted)
	}
}

func TestEndedFile(t *testing.T) {
	d := Dir(t.TempDir())
	testfile.Write(t, d.Path(endedFile), "")
	for _, e := range []struct {
		stage  string
		status int
		note   string
	}{
		{"parse", 0, ""}, {"score", 7, "two\nlines"}, {"score", 0, ""}, {"grow", statusPipe, ""}, {"grow", statusDiskFull, "full"}, {"keep", 0, "12 9"},
	} {
		if err := d.NoteEnd(e.stage, e.status, e.note); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(d.Path(endedFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("evolve") // torn
	f.Close()
	e, err := d.loadEnded()
	if err != nil {
		t.Fatal(err)
	}
	if e["score"] != (end{7, "two lines"}) || e["grow"] != (end{statusDiskFull, "full"}) || len(e) != 4 || e.kept() != (Kept{12, 9}) {
		t.Errorf("%+v", e)
	}
	if got := e.others("score"); got != statusDiskFull {
		t.Errorf("others than score ended with %d", got)
	}
	if got := (ended{"keep": {1, "12 9"}}).kept(); got.Records != -1 {
		t.Errorf("keep failed, and kept %+v", got)
	}
}

// The shell sources now after run next has ended with 0: by then the file must be run's own,
// whatever a prepared directory had there.
func TestAPreparedNowIsReplacedBeforeItIsSourced(t *testing.T) {
	d := Dir(t.TempDir())
	for name, content := range map[string]string{
		nowFile:               "step=visit in=/etc/passwd; rm -rf /\n",
		stepFile:              "evolve ; rm -rf /\n$(id)\n/etc/passwd\n1\n7\n7\n\n",
		endedFile:             "keep 0 7 7\n",
		nowFile + partSuffix:  "a long line that a shorter file must not leave behind; rm -rf /\n" + strings.Repeat("rm -rf /\n", 100),
		stepFile + partSuffix: strings.Repeat("rm -rf /\n", 100),
	} {
		testfile.Write(t, d.Path(name), content)
	}
	store, err := frontier.Open(d.Path("frontier"), frontier.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Add(&wire.Record{URL: "http://a.test/"}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	c := &Crawl{
		Dir: d, Settings: &Settings{Pages: 10, Size: 5}, Totals: NewTotals(),
		View: &View{Out: io.Discard}, Log: slog.New(slog.DiscardHandler),
		steps: Stages{{Name: "fetch", Command: "fetch", Own: true}, {Name: "score", Command: "score", Own: true}},
	}
	c.View.begin(c)
	if err := c.now.load(d); err != nil {
		t.Fatal(err)
	}
	if err := c.Next(t.Context(), -1, 0); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{nowFile, stepFile, endedFile} {
		b, err := os.ReadFile(d.Path(name))
		if err != nil || bytes.Contains(b, []byte("rm -rf")) || bytes.Contains(b, []byte("passwd")) || name == endedFile && len(b) > 0 {
			t.Errorf("%s holds %q, %v", name, b, err)
		}
		if name == nowFile && !bytes.HasPrefix(b, []byte("step=visit in="+d.Path(generations))) {
			t.Errorf("now begins otherwise: %q", b)
		}
	}
}

// FuzzRunFiles reads arbitrary bytes as the files of a run directory: some are errors, none may
// panic.
func FuzzRunFiles(f *testing.F) {
	for _, b := range []string{
		"strategy shark\nsize 20\nstages fetch\n", "fetch\tfetch -archive x\n", "visit a\nb\nc\n7\n1\n2\n2020-01-01T00:00:00Z\n", "keep 0 12 9\nscore 7 words\n",
		`{"generation":1,"outcomes":3,"errors":{"dns":1},"operators":{"seed":{"cost":1}},"seconds":1e9}`, `{"generation":-1,"last":{}}`, `{"generation":9223372036854775807,"last":{}}`, "{", "\x00\xff",
	} {
		f.Add([]byte(b))
	}
	d := Dir(f.TempDir())
	testfile.Check(f, os.MkdirAll(d.File(1, ""), 0o777))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range []string{d.Path(SettingsFile), d.Path(StagesFile), d.Path(stepFile), d.Path(endedFile), d.Path(totalsFile), d.File(1, Stats), d.File(1, Scored)} {
			testfile.Write(t, name, b)
		}
		_, _ = d.LoadSettings()
		_, _ = d.loadStages()
		_ = new(now).load(d)
		if e, err := d.loadEnded(); err == nil {
			e.kept()
		}
		if totals, err := d.LoadTotals(); err == nil {
			_ = totals.exhausted()
			_ = totals.byOperator()
			c := &Crawl{Dir: d, Settings: &Settings{}, Totals: totals, View: &View{Out: io.Discard, Screen: io.Discard}}
			_ = c.text()
			c.View.begin(c)
			c.View.Generation(c)
		}
		_, _ = d.List()
	})
}

// A new store would lack what the old one held.
func TestAFrontierThatIsRemovedIsNotMadeAgain(t *testing.T) {
	c := &Crawl{Dir: Dir(t.TempDir()), Settings: &Settings{}, Totals: NewTotals()}
	c.Totals.Generation = 2
	if err := c.openStore(); err == nil || !strings.Contains(err.Error(), c.Dir.Path("frontier")+" is lost") {
		t.Errorf("got error %v", err)
	}
	if exists(c.Dir.Path("frontier")) {
		t.Error("a store was made")
	}
}
