package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"spoor/cmd/internal/filter"
	"spoor/internal/wire"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/script")

// Beyond memo there are commands to be remembered, good and bad.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"memo":  main,
		"title": title,
		"wrong": wrong,
		"many":  many,
		"choke": choke,
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// title [hoard] gives every record a title, the last word of its url, and a status. With
// hoard it answers when it has read all there are. What it was asked stands on stderr.
func title() {
	r, w := wire.NewReader(os.Stdin, wire.All), wire.NewWriter(os.Stdout)
	for {
		var rec wire.Record
		if r.Read(&rec) != nil {
			break
		}
		fmt.Fprintln(os.Stderr, "title was asked for", rec.URL)
		rec.StatusCode = 200
		rec.Title = rec.URL[strings.LastIndexByte(rec.URL, '/')+1:]
		rec.Touch(wire.Fetch | wire.Parse)
		w.Write(&rec)
		if len(os.Args) == 1 {
			w.Flush()
		}
	}
	w.Flush()
}

// choke answers a record, begins to read the next, says so, and does nothing any more.
func choke() {
	r := bufio.NewReader(os.Stdin)
	line, _ := r.ReadString('\n')
	fmt.Print(line)
	r.ReadByte()
	fmt.Fprintln(os.Stderr, "choking")
	never, _, _ := os.Pipe()
	never.Read(make([]byte, 1))
}

// A disk is full when the command chokes.
type disk struct{ full chan struct{} }

var errFull = errors.New("full")

func (d disk) Write(b []byte) (int, error) {
	<-d.full
	return 0, errFull
}

type fills struct{ disk }

func (f fills) Write(b []byte) (int, error) {
	close(f.full)
	return len(b), nil
}

func TestACommandThatTakesNoMoreRecordsDoesNotKeepAnError(t *testing.T) {
	d := disk{make(chan struct{})}
	records := `{"v":1,"url":"http://a.example/"}` + "\n" + `{"v":1,"url":"http://b.example/","text":"` + strings.Repeat("x", 8<<20) + `"}` + "\n"
	m := memo{Stream: filter.Stream{Stderr: fills{d}, Limit: 16 << 20}, argv: []string{"choke"}, tally: filter.NewTally(filter.Logger(io.Discard, "memo", ""))}
	if err := m.all(strings.NewReader(records), d); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// wrong HOW is no command that can be remembered: it is less, more, other, text, or ends
// with a status after the first record.
func wrong() {
	lines := bufio.NewScanner(os.Stdin)
	for n := 0; lines.Scan(); n++ {
		switch how := os.Args[1]; {
		case how == "text":
			fmt.Println("hello")
			continue
		case how == "other" && n == 1:
			fmt.Println(`{"v":1,"url":"http://other.example/"}`)
			continue
		case how == "less" && n == 1:
			continue
		case how == "more":
			fmt.Println(lines.Text())
		}
		fmt.Println(lines.Text())
		if status, err := strconv.Atoi(os.Args[1]); err == nil {
			os.Exit(status)
		}
	}
}

// many N prints an address that nobody remembers, N times one that is remembered, found
// on a page with a long address, and one more that is not.
func many() {
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(w, `{"v":1,"url":"http://b.example/new"}`)
	for range n {
		fmt.Fprintf(w, `{"v":1,"url":"http://a.example/one","via":"http://a.example/%s"}`+"\n", strings.Repeat("x", 60_000))
	}
	fmt.Fprintln(w, `{"v":1,"url":"http://b.example/newer"}`)
}
