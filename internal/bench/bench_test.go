package bench

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// query is the query of the topic file that scripts/bench makes.
const query = "university course homework lecture syllabus assignments instructor exam"

// BenchmarkProcess runs processes that read NDJSON from a file and write it to a pipe, whose
// reader discards it. It reports pages/s by wall time and cpu-ms/page, user and system. Programs
// that are not installed are skipped. Use -benchtime 1x.
//
// SPOOR_BENCH is a directory that scripts/bench makes: bin has the programs; for each web there
// are its archive WEB.warc.gz, the output WEB.ndjson of fetch and WEB.parsed.ndjson of parse.
func BenchmarkProcess(b *testing.B) {
	dir := os.Getenv("SPOOR_BENCH")
	if dir == "" {
		b.Skip("no SPOOR_BENCH: run scripts/bench")
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	bin := func(name string) string { return filepath.Join(dir, "bin", name) }
	const pipeline = `"$0/bin/fetch" -archive "$0/$1.warc.gz" -cache "$0/cache" -all | "$0/bin/parse" | "$0/bin/score" -topic "$0/topic.json"`
	for _, web := range []string{"modern", "planetmath", "webkb"} {
		for _, c := range []struct {
			stage, program, stdin string
			command               []string
		}{
			{"parse", "spoor", in(web + ".ndjson"), []string{bin("parse")}},
			{"parse", "goquery", in(web + ".ndjson"), []string{bin("goquery")}},
			{"parse", "lxml", in(web + ".ndjson"), []string{"/usr/bin/python3", "with_lxml.py"}},
			{"parse", "cheerio", in(web + ".ndjson"), []string{"node", "with_cheerio.cjs"}},
			{"score", "spoor", in(web + ".parsed.ndjson"), []string{bin("score"), "-topic", in("topic.json")}},
			{"score", "bleve", in(web + ".parsed.ndjson"), append([]string{bin("bleve")}, strings.Fields(query)...)},
			{"pipeline", "spoor", os.DevNull, []string{"sh", "-c", pipeline, dir, web}},
		} {
			if web == "planetmath" && c.stage != "pipeline" {
				continue
			}
			b.Run("stage="+c.stage+"/web="+web+"/program="+c.program, func(b *testing.B) {
				if c.program == "lxml" && exec.Command(c.command[0], "-c", "import lxml").Run() != nil ||
					c.program == "cheerio" && exec.Command("node", "-e", `require("cheerio")`).Run() != nil {
					b.Skip(c.program, " is not installed")
				}
				process(b, c.command, c.stdin, lines(b, in(web+".ndjson")))
			})
		}
	}
}

// process runs a command b.N times.
func process(b *testing.B, command []string, stdin string, pages int) {
	var cpu time.Duration
	for b.Loop() {
		cmd := exec.Command(command[0], command[1:]...)
		file, err := os.Open(stdin)
		if err != nil {
			b.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd.Stdin, cmd.Stderr = file, &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		n := countLines(out)
		if err := cmd.Wait(); err != nil || n != pages {
			b.Fatalf("%d lines of output for %d pages, %v\n%s", n, pages, err, stderr.String())
		}
		file.Close()
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	n := float64(pages * b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(1000*cpu.Seconds()/n, "cpu-ms/page")
	b.ReportMetric(0, "ns/op")
}

// lines returns the number of lines of a file.
func lines(b *testing.B, name string) int {
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	return countLines(f)
}

// countLines reads r to the end and returns the number of lines.
func countLines(r io.Reader) (n int) {
	for buf := make([]byte, 1<<20); ; {
		m, err := r.Read(buf)
		n += bytes.Count(buf[:m], []byte("\n"))
		if err != nil {
			return n
		}
	}
}
