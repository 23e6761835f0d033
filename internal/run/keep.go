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

// Keep writes the output of a step to a temporary file, compressed if the name of the final file
// ends in .zst, and shows the progress. If the returned counts are as expected, [Crawl.Next] renames
// the file.
func (c *Crawl) Keep(in io.Reader) (kept Kept, err error) {
	f, err := os.OpenFile(c.outFile()+partSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return kept, err
	}
	var out io.WriteCloser = f
	if strings.HasSuffix(c.now.out, ".zst") {
		// A generation is small: the default encoder would spend more on its tables than on the data.
		if out, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true)); err != nil {
			return kept, err
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

// Kept counts the output of a step.
type Kept struct {
	Records int
	Pages   int // records that are the outcome of an address
}

// String returns the note for [Dir.NoteEnd].
func (k Kept) String() string { return fmt.Sprintf("%d %d", k.Records, k.Pages) }

// drawEvery is how often the view is redrawn while records arrive.
const drawEvery = 200 * time.Millisecond

// count counts records to the end of in, and shows the progress.
func (c *Crawl) count(in io.Reader) (kept Kept, err error) {
	r := wire.NewReader(in, frontier.Sections)
	sum := c.newSummary(c.now.generation)
	var rec wire.Record
	var drawn time.Time
	for {
		err := r.Read(&rec)
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok && bad.Outcome {
			c.Log.Warn("a page is a failure: its record has malformed fields", "step", c.now.step, "line", bad.Line, "err", bad.Err)
			err = nil
		} else if ok {
			if c.now.step != stepEvolve && c.now.step != stepSearch {
				return kept, fmt.Errorf("line %d of the output of the stages is not a record: %w\nhint: messages of a stage belong on stderr", bad.Line, bad.Err)
			}
			c.Log.Warn("skipped a line that is not a record", "step", c.now.step, "line", bad.Line, "err", bad.Err)
			continue
		}
		if errors.Is(err, io.EOF) {
			if kept.Records > 0 && c.now.step == stepVisit {
				c.View.Progress(c, "choosing what is next", sum)
			}
			return kept, nil
		}
		if err != nil {
			return kept, err
		}
		kept.Records++
		if rec.Generation > sum.Generation {
			rec.Generation = sum.Generation
		}
		sum.Count(&rec)
		kept.Pages = sum.Outcomes
		if c.now.step == stepVisit && time.Since(drawn) > drawEvery {
			drawn = time.Now()
			sum.Seconds = seconds(time.Since(c.now.begun).Seconds())
			c.View.Progress(c, fmt.Sprintf("fetching: %d of %d done", kept.Records, c.now.asked), sum)
		}
	}
}
