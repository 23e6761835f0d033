package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

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
