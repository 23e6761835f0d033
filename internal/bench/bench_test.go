package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/registry"

	"spoor/internal/text"
)

// work returns the directory that scripts/bench has prepared: it has the commands and the
// programs to compare with in bin, topic.json, and for each web the archive WEB.warc.gz, the
// output of fetch -all in WEB.ndjson, and the output of parse in WEB.parsed.ndjson.
func work(b *testing.B) string {
	dir := os.Getenv("SPOOR_BENCH")
	if dir == "" {
		b.Skip("no SPOOR_BENCH: scripts/bench makes what is measured")
	}
	return dir
}

// query is the query of topic.json.
const query = "university course homework lecture syllabus assignments instructor exam"

// BenchmarkProcess runs whole processes that read NDJSON from a file and write it to a pipe,
// whose reader discards it. It reports pages/s of wall time, and cpu-s/1000, the user and
// system time for a thousand pages. Programs that are not installed are skipped.
func BenchmarkProcess(b *testing.B) {
	dir := work(b)
	python := interpreter("-c", `import lxml.etree, platform; print("lxml", lxml.etree.__version__, "with Python", platform.python_version())`, "python3", "/usr/bin/python3")
	if modules, err := exec.Command("npm", "root", "-g").Output(); err == nil && os.Getenv("NODE_PATH") == "" {
		b.Setenv("NODE_PATH", strings.TrimSpace(string(modules)))
	}
	node := interpreter("-p", `"cheerio " + require("cheerio/package.json").version + " with node " + process.versions.node`, "node")
	in := func(name string) string { return filepath.Join(dir, name) }
	bin := func(name string) string { return filepath.Join(dir, "bin", name) }
	type side struct {
		name    string
		command []string
	}
	measure := func(name, stdin string, pages int, sides ...side) {
		b.Run(name, func(b *testing.B) {
			for _, s := range sides {
				b.Run(s.name, func(b *testing.B) {
					if s.command[0] == "" {
						b.Skip("missing")
					}
					process(b, s.command, stdin, pages)
				})
			}
		})
	}
	for _, web := range []string{"modern", "webkb"} {
		file := in(web + ".ndjson")
		measure("parse/"+web, file, lines(b, file),
			side{"spoor", []string{bin("parse")}},
			side{"goquery", []string{bin("goquery")}},
			side{"lxml", []string{python, "with_lxml.py"}},
			side{"cheerio", []string{node, "with_cheerio.cjs"}},
		)
	}
	for _, web := range []string{"modern", "modern4", "webkb"} {
		file := in(web + ".parsed.ndjson")
		measure("score/"+web, file, lines(b, file),
			side{"spoor", []string{bin("score"), "-topic", in("topic.json")}},
			side{"bleve", append([]string{bin("bleve")}, strings.Fields(query)...)},
		)
	}
	for _, web := range []string{"modern", "modern4", "webkb", "planetmath"} {
		sentence := `"$1" -archive "$2" -cache "$3" -all | "$4" | "$5" -topic "$6"`
		measure("pipeline/"+web, os.DevNull, lines(b, in(web+".ndjson")), side{"spoor", []string{
			"sh", "-c", sentence, "sh", bin("fetch"), in(web + ".warc.gz"), in("cache"), bin("parse"), bin("score"), in("topic.json"),
		}})
	}
}

// interpreter returns the first command that runs the script, and prints for the report
// the version that the script prints. It returns an empty string if none does.
func interpreter(flag, script string, commands ...string) string {
	for _, command := range commands {
		if version, err := exec.Command(command, flag, script).Output(); err == nil {
			fmt.Printf("# Compared with %s.\n", bytes.TrimSpace(version))
			return command
		}
	}
	return ""
}

// process runs a command b.N times.
func process(b *testing.B, command []string, stdin string, pages int) {
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		cmd := exec.Command(command[0], command[1:]...)
		file, err := os.Open(stdin)
		if err != nil {
			b.Fatal(err)
		}
		var words bytes.Buffer
		cmd.Stdin, cmd.Stderr = file, &words
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		n := count(out)
		if err := cmd.Wait(); err != nil {
			b.Fatalf("%v\n%s", err, words.String())
		}
		if n != pages {
			b.Fatalf("%d lines of output for %d pages\n%s", n, pages, words.String())
		}
		b.StopTimer()
		file.Close()
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		b.StartTimer()
	}
	n := float64(pages * b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(1000*cpu.Seconds()/n, "cpu-s/1000")
}

// lines returns the number of lines of a file.
func lines(b *testing.B, name string) int {
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	return count(f)
}

// count reads r to the end and returns the number of lines.
func count(r io.Reader) (n int) {
	for buf := make([]byte, 1<<20); ; {
		m, err := r.Read(buf)
		n += bytes.Count(buf[:m], []byte("\n"))
		if err != nil {
			return n
		}
	}
}

// BenchmarkAnalysis turns the text of pages into terms, on one core.
func BenchmarkAnalysis(b *testing.B) {
	dir := work(b)
	for _, web := range []string{"modern", "webkb"} {
		var pages []string
		size := 0
		f, err := os.Open(filepath.Join(dir, web+".parsed.ndjson"))
		if err != nil {
			b.Fatal(err)
		}
		for d := json.NewDecoder(bufio.NewReader(f)); ; {
			var page struct{ Text string }
			if err := d.Decode(&page); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			pages = append(pages, page.Text)
			size += len(page.Text)
		}
		f.Close()
		measure := func(name string, analyze func(page string)) {
			b.Run(web+"/"+name, func(b *testing.B) {
				for _, p := range pages {
					analyze(p)
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					for _, p := range pages {
						analyze(p)
					}
				}
				b.ReportMetric(float64(len(pages)*b.N)/b.Elapsed().Seconds(), "pages/s")
			})
		}
		ours, err := text.New("en", "porter")
		if err != nil {
			b.Fatal(err)
		}
		var terms []text.Term
		measure("spoor", func(page string) {
			terms = ours.Append(terms[:0], page)
			ours.Trim()
		})
		english, err := registry.NewCache().AnalyzerNamed(en.AnalyzerName)
		if err != nil {
			b.Fatal(err)
		}
		measure("bleve", func(page string) { english.Analyze([]byte(page)) })
	}
}

// BenchmarkMemory sends 200,000 pages through parse | score: those of three webs,
// repeatedly. It reports the resident memory of both commands, in MiB, after given numbers
// of pages, and the maximum of samples taken every second.
func BenchmarkMemory(b *testing.B) {
	const pages = 200_000
	marks := []int{10_000, 20_000, 50_000, 100_000, pages}
	dir := work(b)
	var webs [][]byte
	for _, web := range []string{"modern", "webkb", "planetmath"} {
		data, err := os.ReadFile(filepath.Join(dir, web+".ndjson"))
		if err != nil {
			b.Fatal(err)
		}
		webs = append(webs, data)
	}
	for b.Loop() {
		parse := exec.Command(filepath.Join(dir, "bin", "parse"))
		score := exec.Command(filepath.Join(dir, "bin", "score"), "-topic", filepath.Join(dir, "topic.json"))
		in, err := parse.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		between, into, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		parse.Stdout, score.Stdin = into, between
		out, err := score.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		for _, cmd := range []*exec.Cmd{parse, score} {
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
		}
		into.Close()
		between.Close()
		written := make(chan int)
		go func() { written <- count(out) }()

		most := map[string]float64{}
		sample := func(when string) {
			for name, pid := range map[string]int{"parse": parse.Process.Pid, "score": score.Process.Pid} {
				now := resident(b, pid)
				most[name] = max(most[name], now)
				if when != "" {
					b.ReportMetric(now, name+"-MiB@"+when)
				}
			}
		}
		n, last := 0, time.Now()
		for n < pages {
			for _, web := range webs {
				for line := range bytes.Lines(web) {
					if n == pages {
						break
					}
					if _, err := in.Write(line); err != nil {
						b.Fatal(err)
					}
					n++
					if slices.Contains(marks, n) {
						sample(strconv.Itoa(n))
					} else if time.Since(last) >= time.Second {
						sample("")
						last = time.Now()
					}
				}
			}
		}
		for name, mb := range most {
			b.ReportMetric(mb, name+"-MiB@most")
		}
		in.Close()
		if got := <-written; got != pages {
			b.Fatalf("%d lines of output for %d pages", got, pages)
		}
		for _, cmd := range []*exec.Cmd{parse, score} {
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(pages*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}

// resident returns the resident memory of a process in MiB.
func resident(b *testing.B, pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err := strconv.ParseFloat(number, 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
