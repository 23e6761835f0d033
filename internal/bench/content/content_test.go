package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchmarkExtract measures the time of an extractor for all pages of the web modern, which the commands
// of SPOOR_BIN read from the directory SPOOR_SHARED. It reports the milliseconds of
// processor time for a page, with the garbage collector. Use -benchtime 1x.
func BenchmarkExtract(b *testing.B) {
	fetch, archive := filepath.Join(os.Getenv("SPOOR_BIN"), "fetch"), filepath.Join(os.Getenv("SPOOR_SHARED"), "webs/modern.warc.gz")
	if _, err := os.Stat(archive); err != nil {
		b.Skip("no webs/modern.warc.gz in $SPOOR_SHARED")
	}
	command := exec.Command(fetch, "-q", "-archive", archive, "-all")
	out, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	pages, err := readPages(out)
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		b.Fatal(err)
	}
	for _, x := range extractors() {
		b.Run("extractor="+x.name, func(b *testing.B) {
			start := cpu(b)
			for b.Loop() {
				for _, d := range pages {
					x.extract(d)
				}
			}
			b.ReportMetric(float64((cpu(b)-start).Microseconds())/1000/float64(b.N*len(pages)), "cpu-ms/page")
		})
	}
}

// cpu returns the processor time of this process.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
