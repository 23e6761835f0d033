package run

import (
	"errors"
	"strings"
	"testing"
)

func TestBlame(t *testing.T) {
	for _, test := range []struct {
		name   string
		step   string
		status int // of the pipeline
		ended  ended
		want   int
		text   string
	}{
		{"one stage", stepVisit, 7, ended{"fetch": {}, "parse": {7, ""}, "score": {}}, 7, "fetch | parse | score: parse ended with status 7\n"},
		{"its neighbour was cut off", stepVisit, 141, ended{"fetch": {statusPipe, ""}, "parse": {7, ""}, "score": {}}, 7, "score: parse ended with status 7\n"},
		{"the frontier was cut off", stepSteady, 7, ended{"parse": {7, ""}, "frontier": {statusPipe, "found it"}}, 7, "evolve: parse ended with status 7\n"},
		{"only the frontier was", stepSteady, 141, ended{"frontier": {statusPipe, "found it"}}, 141, "evolve: frontier found it\n"},
		{"all were cut off", stepEvolve, 141, ended{"evolve": {statusPipe, ""}}, 141, "evolve: evolve ended with status 141\n"},
		{"two", stepVisit, 7, ended{"parse": {7, ""}, "score": {statusFailed, "read 3 records and wrote 2"}}, 7, "parse ended with status 7, score read 3 records and wrote 2\n"},
		{"the disk is full", stepVisit, 3, ended{"fetch": {1, ""}, "keep": {statusDiskFull, "12"}}, 3, "fetch ended with status 1, keep ended with status 3\n"},
		{"status 3 although the disk of the run is not full", stepSteady, 3, ended{}, 1, "another process of the pipeline ended with status 3\n"},
		{"one was killed", stepVisit, 137, ended{"fetch": {}, "score": {}}, 137, "score: parse was killed, or could not be started (status 137)\n"},
		{"nobody noted a failure", stepVisit, 5, ended{"fetch": {}, "parse": {}, "score": {}}, 5, "score: another process of the pipeline ended with status 5\n"},
		{"nobody noted a failure, with the status of a crawl that is over", stepVisit, 4, ended{}, 1, "score: another process of the pipeline ended with status 4\n"},
		{"misuse", stepEvolve, 2, ended{"evolve": {2, ""}}, 2, "correct that, and the same command resumes the crawl"},
	} {
		c := &Crawl{Dir: Dir(t.TempDir()), Totals: NewTotals()}
		c.now.step, c.now.generation = test.step, 4
		err := c.blame(test.status, test.ended)
		f, ok := errors.AsType[*Fault](err)
		if !ok || f.Status != test.want || !strings.HasPrefix(f.Text, "generation 4: ") || !strings.Contains(f.Text, test.text) {
			t.Errorf("%s: %+v\nwant status %d, %q", test.name, err, test.want, test.text)
		}
	}
}
