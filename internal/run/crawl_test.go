package run

import (
	"os"
	"testing"
	"time"
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
	whole, err := os.ReadFile(d.Path(stepFile))
	if err != nil {
		t.Fatal(err)
	}
	for length := range len(whole) - 1 {
		if err := os.WriteFile(d.Path(stepFile), whole[:length], 0o666); err != nil {
			t.Fatal(err)
		}
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

func TestEndedFile(t *testing.T) {
	d := Dir(t.TempDir())
	if err := os.WriteFile(d.Path(endedFile), nil, 0o666); err != nil {
		t.Fatal(err)
	}
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
