package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"spoor/cmd/internal/filter"
	"spoor/internal/report"
	"spoor/internal/run"
	"spoor/internal/wire"
)

// order is the file that scripts/compare keeps of a crawl: the brief records with verdicts, in
// the order of fetching.
const order = "order.ndjson.zst"

// maxOrder bounds this file, which is held in memory. It has about a KiB for each record.
const maxOrder = 1 << 30

// jobParts returns the generations of a crawl that scripts/compare ran: it keeps only the file
// order.
func jobParts(dir string) ([]report.Part, error) {
	f, err := filter.OpenRegular(filepath.Join(dir, order))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stats, err := logged(filepath.Join(dir, run.LogFile))
	if err != nil {
		return nil, err
	}
	var list []report.Part
	var records bytes.Buffer
	number, size := 0, 0
	end := func() {
		if records.Len() > 0 {
			lines := bytes.Clone(records.Bytes())
			list = append(list, report.Part{Number: number, Stats: stats[number], Open: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(lines)), nil
			}})
		}
		records.Reset()
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, wire.DefaultLimit)
	for lines.Scan() {
		if size += len(lines.Bytes()); size > maxOrder {
			return nil, fmt.Errorf("%s has more than %d bytes", filepath.Join(dir, order), maxOrder)
		}
		if g, ok := generation(lines.Bytes()); ok && g != number {
			end()
			number = g
		}
		records.Write(lines.Bytes())
		records.WriteByte('\n')
	}
	end()
	return list, lines.Err()
}

// logged returns the lines of a crawl's log by generation.
func logged(name string) (map[int][]byte, error) {
	log, err := read(name)
	if err != nil {
		return nil, err
	}
	stats := map[int][]byte{}
	for line := range bytes.Lines(log) {
		if g, ok := generation(line); ok {
			stats[g] = line
		}
	}
	return stats, nil
}

// generation returns the generation in a line of JSON; ok is false if there is none.
func generation(line []byte) (number int, ok bool) {
	var has struct{ Generation *int }
	if err := json.Unmarshal(line, &has); err != nil || has.Generation == nil {
		return 0, false
	}
	return *has.Generation, true
}
