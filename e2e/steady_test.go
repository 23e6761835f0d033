package e2e

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"

	"github.com/klauspost/compress/zstd"
)

// A steady crawl writes the same bytes as a looping one, with every strategy: the pages, the
// next addresses, the answers of queries, the topic, and the summaries.
func TestASteadyCrawlIsTheSameCrawl(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	c := newCrawl(t, "niche")
	c.shell(t, "search -index web.db -archive web.warc.gz -query nothing")
	for _, k := range strategyKinds(t) {
		t.Run(k.Name, func(t *testing.T) {
			c := *c
			c.args = append(slices.Clone(c.args), "-strategy", k.Name, "-pages", "48")
			if k.Search {
				c.args = append(c.args, "-search", "web.db")
			}
			if k.Expand != "" {
				c.smallTable(t)
			}
			steady := c
			c.args = append(slices.Clone(c.args), "-steady=false")
			t.Parallel()
			c.run(t, "looped-"+k.Name)
			steady.run(t, "steady-"+k.Name)
			for _, file := range []string{"scored.ndjson.zst", "next.ndjson.zst", "found.ndjson", "topic.json", "stats.json"} {
				want, got := c.all(t, "looped-"+k.Name, file), c.all(t, "steady-"+k.Name, file)
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %d bytes differ from %d", file, len(got), len(want))
				}
				if len(want) == 0 && file != "found.ndjson" && (file != "topic.json" || k.Expand != "") {
					t.Errorf("%s is empty", file)
				}
			}
		})
	}
}

var seconds = regexp.MustCompile(`,"seconds":[0-9.]+`)

// all returns the content of the files of that name of all generations, without their seconds.
func (c *crawl) all(t *testing.T, run, file string) (all []byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, run, "generations", "*", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b := testfile.Read(t, name)
		if strings.HasSuffix(name, ".zst") {
			d, err := zstd.NewReader(nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, err = d.DecodeAll(b, nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			d.Close()
		}
		if len(b) == 0 {
			continue // nothing was found
		}
		all = append(append(all, filepath.Base(filepath.Dir(name))...), seconds.ReplaceAll(b, nil)...)
	}
	return all
}
