package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"spoor/internal/frontier"
	"spoor/internal/wire"
)

// Keep writes the records that come out of a step to its file, compressed if its name says
// so, and draws how far the step is. It returns how many there were. The file gets its name
// when the next step is planned.
func (c *Crawl) Keep(in io.Reader) (kept int, err error) {
	f, err := os.OpenFile(c.outFile()+partSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	var out io.WriteCloser = f
	if strings.HasSuffix(c.now.out, ".zst") {
		if out, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1)); err != nil {
			return 0, err
		}
	}
	switch c.now.step {
	case stepLearn, stepGrow:
		_, err = io.Copy(out, in) // a topic
	default:
		kept, err = c.count(io.TeeReader(in, out))
	}
	if out != io.WriteCloser(f) {
		err = errors.Join(err, out.Close())
	}
	return kept, errors.Join(err, f.Sync(), f.Close())
}

// drawEvery is how often the view is drawn while records come.
const drawEvery = 200 * time.Millisecond

// count reads records to the end and draws what they say.
func (c *Crawl) count(in io.Reader) (records int, err error) {
	r := wire.NewReader(in, frontier.Sections)
	sum := NewSummary(c.now.generation)
	var rec wire.Record
	var drawn time.Time
	for {
		err := r.Read(&rec)
		if _, ok := errors.AsType[*wire.SyntaxError](err); ok {
			continue // frontier add says so
		}
		if errors.Is(err, io.EOF) {
			if records > 0 && c.now.step == stepVisit {
				c.View.Progress(c, "choosing what is next", sum)
			}
			return records, nil
		}
		if err != nil {
			return records, err
		}
		records++
		if rec.Generation > sum.Generation {
			rec.Generation = sum.Generation
		}
		sum.Count(&rec)
		if c.now.step == stepVisit && time.Since(drawn) > drawEvery {
			drawn = time.Now()
			sum.Seconds = seconds(time.Since(c.now.begun).Seconds())
			sum.Hosts, sum.Waiting = c.Totals.Last.Hosts, c.Totals.Last.Waiting
			c.View.Progress(c, fmt.Sprintf("fetching: %d of %d done", records, c.now.asked), sum)
		}
	}
}
