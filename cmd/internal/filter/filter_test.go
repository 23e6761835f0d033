package filter

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

func TestTheStatusTellsWhatHappened(t *testing.T) {
	for _, test := range []struct {
		err    error
		status int
		stderr string
	}{
		{nil, 0, ""},
		{flag.ErrHelp, 0, ""},
		{ErrUsage, 2, ""},
		{Usagef("which topic?\nhint: -topic FILE"), 2, "x: which topic?\nx: hint: -topic FILE\n"},
		{errors.New("no"), 1, "x: no\n"},
		{fmt.Errorf("later: %w", Exit(StatusNothingDue, errors.New("nothing"))), 4, "x: later: nothing\n"},
		{&os.PathError{Op: "write", Path: "f", Err: syscall.EPIPE}, 141, ""},
	} {
		var stderr bytes.Buffer
		if got := Status("x", &stderr, test.err); got != test.status || stderr.String() != test.stderr {
			t.Errorf("%v: status %d and %q, want %d and %q", test.err, got, stderr.String(), test.status, test.stderr)
		}
	}
	if runtime.GOOS != "windows" {
		var stderr bytes.Buffer
		full := &os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}
		if got := Status("x", &stderr, full); got != 3 || !strings.Contains(stderr.String(), "hint: free some space") {
			t.Errorf("a full disk: status %d and %q", got, stderr.String())
		}
	}
}

func TestSizesAreReadAndPrinted(t *testing.T) {
	for text, want := range map[string]Size{"512": 512, "64KiB": 64 << 10, "10MiB": 10 << 20, "1GB": 1e9, "7B": 7} {
		var s Size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q is %d (%v), want %d", text, s, err, want)
		}
		var again Size
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%q is printed as %q", text, s.String())
		}
	}
	for _, text := range []string{"", "x", "0", "-1MiB", "1.5MiB", "9999999999GiB", "1 MiB"} {
		var s Size
		if err := s.Set(text); err == nil {
			t.Errorf("%q was read as %d", text, s)
		}
	}
}

func TestPlainAddressesBecomeRecordsAndRecordsStay(t *testing.T) {
	long := `{"url":"http://a/","x":"` + strings.Repeat("y", 1<<17) + `"}`
	in := "http://a/\r\n# a comment\n\n" + long + "\n  http://b/?q=\"<é>#part/é #2  \n{broken\n\uFEFF# another\n\uFEFFhttp://c/"
	record := func(url string) string {
		return `{"v":1,"url":"` + url + `"}` + "\n"
	}
	want := record("http://a/") + "\n\n" + long + "\n" + record(`http://b/?q=\"<é>`) + "{broken\n\n" + record("http://c/")
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.DataErrReader(strings.NewReader(in))} {
		got, err := io.ReadAll(Addresses(r))
		if err != nil || string(got) != want {
			t.Fatalf("%v\n%.200q\nwant\n%.200q", err, got, want)
		}
	}
}

func TestScopeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "scope")
	if err := os.WriteFile(name, []byte("\uFEFFinclude a.example\r\n\n\uFEFF# of another file\n depth 3"), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := ReadScope(name, func(string) error { return nil })
	if want := []string{"include a.example", "depth 3"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestSeedsKeepTheirOrder(t *testing.T) {
	got, err := io.ReadAll(Seeds(strings.NewReader("http://b/\n# the second\nhttp://a/\n")))
	want := `{"v":1,"url":"http://b/","operator":"seed","priority":1000000000}

{"v":1,"url":"http://a/","operator":"seed","priority":999999999}
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestFilesAreReadOneAfterTheOther(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"a", "b.gz", "c.zst"} {
		path := filepath.Join(dir, name)
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(f, "%s\n", name)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	// What a file is, its bytes say and not its name.
	testfile.Check(t, os.Rename(files[2], filepath.Join(dir, "c")))
	files[2] = filepath.Join(dir, "c")
	in, err := Open(strings.NewReader("stdin\n"), append(files, "-"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(in)
	if want := "a\nb.gz\nc.zst\nstdin\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(nil, []string{files[0], filepath.Join(dir, "nowhere")}); err == nil {
		t.Error("a file that is not there was opened")
	}
	for name, want := range map[string]string{
		dir:                 "is a directory, and files are read\nhint: name the files in it",
		"-n":                "hint: flags stand before the files",
		"https://a.example": "hint: addresses are read from files or stdin: echo https://a.example |",
	} {
		if _, err := Open(nil, []string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
}

// upper is a stage that works longer on some records than on others.
func upper() func(*wire.Record) error {
	return func(rec *wire.Record) error {
		for range len(rec.URL) % 7 {
			runtime.Gosched()
		}
		rec.Title = strings.ToUpper(rec.URL)
		rec.Touch(wire.Parse)
		return nil
	}
}

func TestEveryRecordComesOutOnceInOrder(t *testing.T) {
	var in, want strings.Builder
	for i := range 500 {
		if i%50 == 7 {
			in.WriteString("no record\n")
			continue
		}
		fmt.Fprintf(&in, `{"v":1,"url":"http://a/%d","mine":%d}`+"\n", i*i, i)
		fmt.Fprintf(&want, "HTTP://A/%d %d\n", i*i, i)
	}
	for _, workers := range []int{1, 2, 8} {
		var stdout, stderr bytes.Buffer
		s := Stream{Name: "upper", Stdin: strings.NewReader(in.String()), Stdout: &stdout, Stderr: &stderr,
			Want: wire.Address, Workers: workers}
		if err := s.Each(upper); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for line := range strings.Lines(stdout.String()) {
			_, title, _ := strings.Cut(line, `"title":"`)
			title, _, _ = strings.Cut(title, `"`)
			_, mine, _ := strings.Cut(line, `"mine":`)
			mine, _, _ = strings.Cut(mine, ",")
			fmt.Fprintf(&got, "%s %s\n", title, mine)
		}
		if got.String() != want.String() {
			t.Errorf("%d workers: other records, or another order", workers)
		}
		for _, words := range []string{"in=490 out=490", "skipped_malformed=10", "line=8 "} {
			if !strings.Contains(stderr.String(), words) {
				t.Errorf("%d workers: stderr lacks %q:\n%s", workers, words, stderr.String())
			}
		}
	}
}

func TestAStreamOfAnythingElseFails(t *testing.T) {
	for _, workers := range []int{1, 4} {
		for _, test := range []struct {
			in       string
			warnings int
			fails    bool
		}{
			{strings.Repeat("<p>\n", 500), 10, true},
			{"<p>\n\n<p>\n", 2, true},
			{"\n\n", 0, false},
			{"", 0, false},
			{strings.Repeat("<p>\n", 500) + "{\"url\":\"http://a/\"}\n" + strings.Repeat("<p>\n", 20), 11, false}, // ten, and how many more
			{"{\"url\":\"http://a/\"}\n" + strings.Repeat("<p>\n", 10), 10, false},
		} {
			var out, stderr bytes.Buffer
			s := Stream{Name: "x", Stdin: strings.NewReader(test.in), Stdout: &out, Stderr: &stderr, Workers: workers}
			err := s.Each(func() func(*wire.Record) error { return func(*wire.Record) error { return nil } })
			if warnings := strings.Count(stderr.String(), "level=WARN"); (err != nil) != test.fails || warnings != test.warnings {
				t.Errorf("%d workers, %.20q: %v and %d warnings, want %t and %d", workers, test.in, err, warnings, test.fails, test.warnings)
			}
			if more := strings.Contains(stderr.String(), `msg="skipped more such lines" cmd=x lines=510`); more != (test.warnings > 10) {
				t.Errorf("%d workers, %.20q: %s", workers, test.in, stderr.String())
			}
			if test.fails && !strings.Contains(err.Error(), "is a record\nhint: ") {
				t.Errorf("%.20q: %v does not say what to do", test.in, err)
			}
		}
	}
}

func TestStrictEndsAtTheFirstBadLine(t *testing.T) {
	for _, workers := range []int{1, 4} {
		var stdout, stderr bytes.Buffer
		s := Stream{Name: "upper", Stdin: strings.NewReader("{\"url\":\"http://a/\"}\nno\n{\"url\":\"http://b/\"}\n"),
			Stdout: &stdout, Stderr: &stderr, Want: wire.Address, Workers: workers, Strict: true}
		err := s.Each(upper)
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%d workers: %v, want line 2 named", workers, err)
		}
		if got := strings.Count(stdout.String(), "\n"); got != 1 {
			t.Errorf("%d workers: %d records came out, want the one before it", workers, got)
		}
	}
}

func TestAStageThatFailsOrAReaderThatIsGoneEndsTheStream(t *testing.T) {
	in := strings.Repeat("{\"url\":\"http://a/\"}\n", 1000)
	for _, workers := range []int{1, 4} {
		s := Stream{Name: "fail", Stdin: strings.NewReader(in), Stdout: io.Discard, Stderr: io.Discard, Workers: workers}
		broken := errors.New("broken")
		if err := s.Each(func() func(*wire.Record) error {
			return func(*wire.Record) error { return broken }
		}); !errors.Is(err, broken) {
			t.Errorf("%d workers: %v, want the stage's error", workers, err)
		}
		s.Stdin, s.Stdout = strings.NewReader(in), gone{}
		if err := s.Each(upper); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%d workers: %v, want the broken pipe", workers, err)
		}
		s.Stdin, s.Stdout = iotest.TimeoutReader(strings.NewReader(in)), io.Discard
		if err := s.Each(upper); !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("%d workers: %v, want the reader's error", workers, err)
		}
	}
}

func TestWhatWasWorkedOnBeforeAStageFailedIsWritten(t *testing.T) {
	var in strings.Builder
	for i := range 100 {
		fmt.Fprintf(&in, `{"v":1,"url":"http://a/%d"}`+"\n", i)
	}
	for _, workers := range []int{1, 4} {
		var out bytes.Buffer
		s := Stream{Name: "fail", Stdin: strings.NewReader(in.String()), Stdout: &out, Stderr: io.Discard, Want: wire.Address, Workers: workers}
		broken := errors.New("broken")
		if err := s.Each(func() func(*wire.Record) error {
			return func(rec *wire.Record) error {
				if rec.URL == "http://a/77" {
					return broken
				}
				return nil
			}
		}); !errors.Is(err, broken) {
			t.Errorf("%d workers: %v, want the stage's error", workers, err)
		}
		if want := in.String()[:strings.Index(in.String(), `{"v":1,"url":"http://a/77"`)]; out.String() != want {
			t.Errorf("%d workers: %d bytes came out, want the %d before the failure", workers, out.Len(), len(want))
		}
	}
}

// What stands behind a mark is worked on when all before it is done, and when that was
// told; a mark behind which nothing comes is not told of.
func TestRecordsAfterMarkWaitForWindow(t *testing.T) {
	var in, want strings.Builder
	for window := range 20 {
		for range 1 + 17*window%90 {
			fmt.Fprintf(&in, "{\"v\":1,\"url\":\"http://a/\"}\n")
			fmt.Fprintf(&want, "{\"v\":1,\"url\":\"http://a/\",\"generation\":%d,\"depth\":0}\n", window)
		}
		mark := fmt.Sprintf("{\"v\":1,\"operator\":\"mark\",\"query\":\"mark\",\"generation\":%d}\n", window+1)
		in.WriteString(mark)
		want.WriteString(mark)
	}
	for _, workers := range []int{1, 4} {
		var out bytes.Buffer
		epoch, told := 0, []int(nil) // of all workers: the race detector sees whether that is safe
		s := Stream{Name: "x", Stdin: strings.NewReader(in.String()), Stdout: &out, Stderr: io.Discard, Want: wire.Address, Workers: workers,
			OnWindowEnd: func(window int) error {
				epoch = window
				told = append(told, window)
				return nil
			}}
		var made atomic.Int64
		err := s.Each(func() func(*wire.Record) error {
			if made.Add(1) > 1 { // the first one could do all the work meanwhile
				time.Sleep(10 * time.Millisecond)
			}
			since := epoch
			return func(rec *wire.Record) error {
				if since != 0 {
					return fmt.Errorf("a worker was made in window %d", since)
				}
				if !rec.IsMark() {
					rec.Generation = epoch
					rec.Touch(wire.Address)
				}
				return nil
			}
		})
		if err != nil || out.String() != want.String() {
			t.Errorf("%d workers: %v\n%.300s", workers, err, out.String())
		}
		if len(told) != 19 || told[18] != 19 {
			t.Errorf("%d workers: told of %v, want 1 to 19", workers, told)
		}
	}
	s := Stream{Name: "x", Stdin: strings.NewReader(in.String()), Stdout: io.Discard, Stderr: io.Discard, Want: wire.Address, Workers: 4,
		OnWindowEnd: func(window int) error { return fmt.Errorf("window %d", window) }}
	if err := s.Each(func() func(*wire.Record) error { return func(*wire.Record) error { return nil } }); err == nil || err.Error() != "window 1" {
		t.Errorf("%v, want the error of what was told", err)
	}
}

func TestARecordDoesNotWaitForTheNext(t *testing.T) {
	for _, workers := range []int{1, 4} {
		in, feed := io.Pipe()
		read, out := io.Pipe()
		s := Stream{Name: "upper", Stdin: in, Stdout: out, Stderr: io.Discard, Want: wire.Address, Workers: workers}
		var ended sync.WaitGroup
		ended.Go(func() { out.CloseWithError(s.Each(upper)) })
		for i := range 3 {
			fmt.Fprintf(feed, `{"v":1,"url":"http://a/%d"}`+"\n", i)
			line := make([]byte, 1<<10)
			if n, err := read.Read(line); err != nil || !strings.Contains(string(line[:n]), fmt.Sprintf("HTTP://A/%d", i)) {
				t.Errorf("%d workers: %q, %v", workers, line[:n], err)
			}
		}
		feed.Close()
		io.Copy(io.Discard, read)
		ended.Wait()
	}
}

// fullWhenReached is a stdout without room that tells when it is written to.
type fullWhenReached chan struct{}

func (c fullWhenReached) Write([]byte) (int, error) {
	close(c)
	return 0, syscall.ENOSPC
}

// eachLine is a reader that gives a line at a time, and counts them.
type eachLine struct {
	lines, n int
}

func (r *eachLine) Read(p []byte) (int, error) {
	if r.n == r.lines {
		return 0, io.EOF
	}
	r.n++
	return copy(p, "{\"url\":\"http://a/\"}\n"), nil
}

func TestReadingIsNotFarAheadOfWorking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &eachLine{lines: 20}
		goOn := make(chan struct{})
		go func() {
			synctest.Wait()
			if in.n > 3 {
				t.Errorf("two workers have finished nothing, and %d records were read", in.n)
			}
			close(goOn)
		}()
		s := Stream{Name: "x", Stdin: in, Stdout: io.Discard, Stderr: io.Discard, Workers: 2, NoBatching: true, Want: wire.Address}
		if err := s.Each(func() func(*wire.Record) error {
			return func(*wire.Record) error { <-goOn; return nil }
		}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNoWorkIsUnderWayOnceTheStreamHasEnded(t *testing.T) {
	endless, open := io.Pipe() // a read of it ends with the test
	defer open.Close()
	long := fmt.Sprintf("{\"url\":\"http://long/\",\"title\":%q}\n", strings.Repeat("x", 1<<17)) // is written at once
	in := io.MultiReader(strings.NewReader(long+strings.Repeat("{\"url\":\"http://a/\"}\n", 5)), endless)
	reached := make(fullWhenReached)
	var underWay atomic.Int32
	mapped := []byte("what work reads, and its owner takes away")
	s := Stream{Name: "x", Stdin: in, Stdout: reached, Stderr: io.Discard, Workers: 4, Want: wire.Address}
	err := s.Each(func() func(*wire.Record) error {
		return func(rec *wire.Record) error {
			underWay.Add(1)
			defer underWay.Add(-1)
			if rec.URL == "http://long/" {
				return nil
			}
			<-reached
			for range 1000 {
				runtime.Gosched()
				rec.Title = string(mapped)
			}
			return nil
		}
	})
	if n := underWay.Load(); n != 0 {
		t.Errorf("%d workers are still at work", n)
	}
	clear(mapped) // the race detector sees who still looks
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, want the full disk", err)
	}
}

// into is a reader that tells where it was asked to read to.
type into struct{ last *byte }

func (r *into) Read(p []byte) (int, error) {
	r.last = &p[0]
	return copy(p, "xxxxxxxx"), nil
}

func TestRecordsAreReadWithoutACopyOnTheWay(t *testing.T) {
	var source into
	in, err := Open(&source, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p := make([]byte, wire.ReadSize)
	for range 2 { // the first bytes were looked at
		if _, err := in.Read(p); err != nil {
			t.Fatal(err)
		}
	}
	if source.last != &p[0] {
		t.Error("what a reader of records asks for is read to somewhere else, and copied")
	}
}

// blocked is a reader that tells when it is read from, and ends when it is closed.
type blocked struct{ reached, closed chan struct{} }

func (b blocked) Read([]byte) (int, error) {
	select {
	case b.reached <- struct{}{}:
		<-b.closed
	case <-b.closed:
	}
	return 0, io.EOF
}

func TestAnInputThatIsBeingReadIsNotClosedUnderItsReader(t *testing.T) {
	stdin := blocked{make(chan struct{}), make(chan struct{})}
	in, err := Open(stdin, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := in.Read(make([]byte, 1))
		ended <- err
	}()
	<-stdin.reached
	if err := in.Close(); err != nil { // without waiting
		t.Error(err)
	}
	close(stdin.closed)
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("%v, want the end", err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("%v after closing, want the end", err)
	}
}

// gone is a stdout whose reader went away.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestARecordThatGrewTooLongGoesOutAsAFailure(t *testing.T) {
	var stdout bytes.Buffer
	s := Stream{Name: "grow", Stdin: strings.NewReader("{\"url\":\"http://a/\"}\n"), Stdout: &stdout, Stderr: io.Discard, Want: wire.All}
	if err := s.Each(func() func(*wire.Record) error {
		return func(rec *wire.Record) error {
			rec.Text = strings.Repeat("x", wire.DefaultLimit)
			rec.Touch(wire.Parse)
			return nil
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stdout.String(), `"error":"too_large"`) {
		t.Errorf("%.300s", stdout.String())
	}
}

func TestATimeWantsItsUnit(t *testing.T) {
	var stderr bytes.Buffer
	fs := Flags("x", "", &stderr)
	fs.Duration("max-delay", 0, "how long")
	fs.Int("n", 3, "how many")
	for args, want := range map[string]string{
		"-max-delay=5": "x: hint: a time has a unit: 500ms, 5s, 2m, 1h\n",
		"-n=many":      "x: hint: x -h lists the flags\n",
		"-m":           "x: hint: x -h lists the flags\n",
	} {
		stderr.Reset()
		if err := Parse(fs, []string{args}); !errors.Is(err, ErrUsage) || !strings.HasSuffix(stderr.String(), want) {
			t.Errorf("%s: %v\n%s", args, err, stderr.String())
		}
	}
}

func TestEveryCommandKnowsItsVersion(t *testing.T) {
	var stderr bytes.Buffer
	err := Parse(Flags("x", "", &stderr), []string{"-version"})
	if !errors.Is(err, flag.ErrHelp) || !strings.HasPrefix(err.Error(), "x spoor ") || !strings.HasSuffix(err.Error(), "("+runtime.Version()+")\n") {
		t.Errorf("%v", err)
	}
}

func TestMessagesNameTheProgramAsItWasCalled(t *testing.T) {
	defer func(args []string) { os.Args = args }(os.Args)
	for program, want := range map[string]string{
		"/usr/bin/spoor-frontier": "spoor-frontier next",
		"frontier.exe":            "frontier next",
		"/tmp/filter.test":        "frontier next",
	} {
		os.Args = []string{program}
		var stderr bytes.Buffer
		Parse(Flags("frontier next", "", &stderr), []string{"-m"})
		if !strings.Contains(stderr.String(), want+": hint: "+want+" -h lists the flags\n") {
			t.Errorf("%s: %s", program, stderr.String())
		}
	}
}

// Hints name the commands as they are installed.
func TestHintsNameInstalledCommands(t *testing.T) {
	for text, want := range map[string]string{
		"no topic\nhint: topic -query 'a' > t.json makes one": "no topic\nhint: spoor-topic -query 'a' > t.json makes one",
		"hint: fetch -archive a | parse | score -topic t":     "hint: spoor-fetch -archive a | parse | spoor-score -topic t",
		"a warc verify\nhint: (warc repair -w repairs it)":    "a warc verify\nhint: (spoor-warc repair -w repairs it)",
		"hint: give -topic, or spoor-warc ls":                 "hint: give -topic, or spoor-warc ls",
		"hint: spoor-frontier export -store s":                "hint: spoor-frontier export -store s",
		"hint: the score of a page, and fetch waits":          "hint: the score of a page, and fetch waits",
	} {
		if got := withPrefix(errors.New(text), "spoor-").Error(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if got := withPrefix(errors.New("hint: spoor frontier export -store s"), "spoor ").Error(); got != "hint: spoor frontier export -store s" {
		t.Errorf("%q", got)
	}
	if err := errors.New("hint: topic -query"); withPrefix(err, "") != err {
		t.Error("without a prefix the error changes")
	}
	if got := ExitStatus(withPrefix(Usagef("hint: topic -query"), "x-")); got != StatusMisuse {
		t.Errorf("status %d", got)
	}
}

func TestEmptyNamesOfFilesAndTooManyWorkersAreMisuse(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-out", ""}, "-out is empty, and should be the name of a file"},
		{[]string{"-j", "1000000000"}, "-j 1000000000: at most 10000"},
		{[]string{"-out", "x", "-j", "10000", "-words", "", "-cache", "", "-temp", ""}, ""},
		{nil, ""},
	} {
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		fs.String("out", "", "write to this `file`")
		fs.String("words", "", "these `words`")
		fs.String("cache", "", "`directory` of caches")
		fs.String("temp", "/there", "`directory` of temporary files")
		fs.Int("j", 1, "`n` workers")
		err := Parse(fs, test.args)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || ExitStatus(err) != StatusMisuse) {
			t.Errorf("%q: %v", test.args, err)
		}
	}
}
