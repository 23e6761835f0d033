package warc

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
)

// verify is warc verify.
type verify struct {
	*command
	json, strict bool

	limit archive.FindingLimit
}

func newVerify(c *command) func() error {
	v := &verify{command: c}
	c.flags.BoolVar(&v.json, "json", false, "print a JSON object per finding")
	c.flags.BoolVar(&v.strict, "strict", false, "exit with status 1 for warnings, too")
	return v.run
}

func (c *verify) run() error {
	var writeErr error
	v := archive.Verifier{Report: func(f archive.Finding) {
		if writeErr == nil && (c.json || !f.Warning || c.limit.AllowWarning(&f)) && c.limit.Allow(f.File, f.Kind, &f.Detail) {
			writeErr = c.printLine(c.json, f)
		}
	}}
	omitted := func() {
		for _, line := range c.limit.Omitted() {
			if writeErr == nil {
				_, writeErr = fmt.Fprintln(filter.Text(c.stdout), line)
			}
		}
	}
	paths, err := archive.Files(c.files())
	if err != nil {
		return err
	}
	var faulty []string // files that can be repaired
	for _, path := range paths {
		before := v.Repairable
		if err := v.Archive(path, c.stdin); err != nil {
			c.skipArchive(path, err)
		}
		if v.Repairable > before {
			faulty = append(faulty, path)
		}
		omitted()
		if writeErr != nil {
			return writeErr
		}
	}
	v.Close()
	omitted()
	if writeErr != nil {
		return writeErr
	}
	c.tally.In = v.Records
	c.tally.Out = v.Faults + v.Warnings
	c.tally.Close(slog.Int64("bytes", v.Bytes), slog.Int64("faults", v.Faults), slog.Int64("warnings", v.Warnings),
		slog.Int64("digests", v.Digests), slog.Int64("payloads_chunked", v.Chunked), slog.Int64("payloads_dechunked", v.Dechunked),
		slog.Int64("records_without_digest", v.Unchecked))
	switch {
	case c.skipped != nil:
		return c.skipped
	case v.Repairable > 0:
		return fmt.Errorf("faults: %d\nhint: %s", v.Faults, repairHint(faulty))
	case v.Faults > 0:
		return fmt.Errorf("faults: %d", v.Faults)
	case c.strict && v.Warnings > 0:
		return fmt.Errorf("warnings: %d, and -strict", v.Warnings)
	}
	return nil
}

// repairHint returns the command that repairs the files that have faults.
func repairHint(faulty []string) string {
	if len(faulty) != 1 {
		return "warc repair -w FILE... repairs WARC files, and keeps the originals"
	}
	if faulty[0] == archive.Input {
		return "save it to a file, and repair it: warc repair -o whole.warc.gz FILE"
	}
	suffix := ".warc"
	if end := filepath.Ext(strings.TrimSuffix(faulty[0], ".open")); end == ".gz" || end == ".zst" {
		suffix += end
	}
	return "warc repair -o whole" + suffix + " " + faulty[0]
}
