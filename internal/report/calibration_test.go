package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spoor/internal/wire"
)

// The strategy's estimates of the pages above: of a.test/x 0.62, of c.test/ 0.64, of a.test/y 0.08 and of
// c.test/z 0.04; it has none of the seed. By the labels both of 0.6 are relevant and those below 0.1 are not.
func TestCalibration(t *testing.T) {
	var faults []string
	s := source(&faults)
	s.Settings = []byte("strategy forage\n")
	s.Verdicts = strings.NewReader(opinion)
	s.Summary = []byte(`{"v":1,"T":9,"R":4,"cost":9,"average_precision":{"forage":0.8125,"bm25":0.5}}`)
	of := map[string]float64{"http://a.test/x": 0.62, "http://c.test/": 0.64, "http://a.test/y": 0.08, "http://c.test/z": 0.04}
	s.Estimate = func(rec *wire.Record) error {
		if v, ok := of[rec.URL]; ok && rec.Score.Value > 0 {
			rec.SetScore("forage", v)
		}
		return nil
	}
	r := readRun(t, s)
	want := Calibration{Pages: 4, Mean: 0.345, Bins: []Estimated{{0, 0.1, 2, 0.06, 0}, {0.6, 0.7, 2, 0.63, 2}}}
	if diff := cmp.Diff(want, r.Calibration, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	picture, sentence := calibration(r)
	if !strings.Contains(sentence, "4 pages, at 0.35 in the mean; 50 % of them are relevant by labels") && !strings.Contains(sentence, "4 pages, at 0.34 in the mean; 50") ||
		!strings.Contains(sentence, "average precision is 0.81") {
		t.Error(sentence)
	}
	if !strings.Contains(string(picture), "Estimate 0.6 to 0.7: 2 pages, 2 relevant") {
		t.Error(picture)
	}

	// Without labels there is nothing to compare the estimates with, but their mean is shown.
	s = source(&faults)
	s.Settings = []byte("strategy forage\n")
	s.Estimate = func(rec *wire.Record) error { rec.SetScore("forage", 0.25); return nil }
	r = readRun(t, s)
	if picture, _ := calibration(r); picture != "" || figures(r)[1].Value != "0.25" {
		t.Errorf("%s, %v", picture, figures(r)[1])
	}

	// Estimates that cannot be read cost the estimates.
	s = source(&faults)
	s.Settings = []byte("strategy forage\n")
	s.Estimate = func(*wire.Record) error { return errors.New("torn file") }
	if r = readRun(t, s); r.Calibration.Pages != 0 || r.Calibration.Mean != 0 || r.Fetched != 9 || !strings.Contains(strings.Join(faults, " "), "torn file") {
		t.Errorf("%v, %d fetched, %q", r.Calibration, r.Fetched, faults)
	}
}
