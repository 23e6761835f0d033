package run

import (
	"os"
	"path/filepath"
	"testing"

	"spoor/internal/testfile"
)

// Indexes lie beside the captures, and are none.
func TestCapturesLeftAreArchives(t *testing.T) {
	d := Dir(t.TempDir())
	testfile.Check(t, os.Mkdir(d.Path("warc"), 0o777))
	for name, text := range map[string]string{
		"crawl-1.warc.gz": "", "crawl-1.warc.gz.cdxj": "", "crawl-2.warc.gz": "", "crawl-2.warc.gz.cdxj": "", "crawl-3.warc.gz": "", "crawl-3.warc.gz.cdxj": "",
		"crawl.done": "crawl-1.warc.gz\n",
	} {
		testfile.Write(t, d.Path(filepath.Join("warc", name)), text)
	}
	c := &Crawl{Dir: d, Settings: &Settings{Live: []string{"-warc-done=true"}}}
	if n, newest := c.capturesLeft(); n != 1 || filepath.Base(newest) != "crawl-3.warc.gz" { // the second: the third one is not finished
		t.Errorf("%d captures are left, and %s is the newest, want 1 and crawl-3.warc.gz", n, newest)
	}
}
