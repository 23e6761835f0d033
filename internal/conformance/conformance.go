// Package conformance tests whether a command can be a stage of a pipeline: it starts the command with
// generated test records on its stdin, and checks the output.
package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"time"

	"spoor/internal/procgroup"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A Stage is a kind of stage. It determines the fields of the test records, and further test cases.
type Stage string

// The kinds of stages.
const (
	Any    Stage = "any"    // writes each record that it reads
	Parse  Stage = "parse"  // adds title, text and links, and drops the body
	Score  Stage = "score"  // adds score and relevant
	Evolve Stage = "evolve" // writes new addresses after the records
)

// A Tester tests a command.
type Tester struct {
	Stage   Stage
	Command []string
	Time    time.Duration // maximum time of a case
	Long    int           // length of a field in the test of long lines, in bytes; 0 skips this test
}

// A Result is the outcome of a case.
type Result struct {
	Name string
	Err  error // what is wrong, and what to do; nil if the case has passed
}

// Run runs all cases in turn, and calls begin with the name of each and report with its result.
func (t *Tester) Run(ctx context.Context, begin func(name string), report func(Result)) {
	for _, c := range cases {
		if c.only != "" && c.only != t.Stage || c.long && t.Long == 0 || c.steady && t.Stage == Evolve {
			continue
		}
		begin(c.name)
		report(Result{c.name, t.try(ctx, c.run)})
	}
}

// A testCase tests one rule that stages must follow.
type testCase struct {
	name   string
	only   Stage // the kind of stage to test; "" for all kinds
	long   bool  // run only if Tester.Long is not 0
	steady bool  // a rule for steady crawls; not for evolve, which cannot be replaced there
	run    func(*Tester, *program) error
}

var cases = []testCase{
	{name: "each record comes back, in order", run: (*Tester).eachRecord},
	{name: "the exit status is 0, and empty input has no output", run: (*Tester).empty},
	{name: "unknown fields are kept", run: (*Tester).unknownFields},
	{name: "failed pages come back", run: (*Tester).failures},
	{name: "a line that is not a record is skipped, and nothing else", run: (*Tester).badLine},
	{name: "the last line may lack its newline", run: (*Tester).noNewline},
	{name: "odd characters survive", run: (*Tester).oddCharacters},
	{name: "a mark comes back at once, after the records before it", steady: true, run: (*Tester).marks},
	{name: "it ends when its output is closed", run: (*Tester).closedOutput},
	{name: "a long line comes back", long: true, run: (*Tester).longLine},
	{name: "pages have title, text and links, and no body", only: Parse, run: (*Tester).parsed},
	{name: "pages have score and relevant (true or false); failed pages are not relevant", only: Score, run: (*Tester).scored},
	{name: "the pages come first, then addresses", only: Evolve, run: (*Tester).evolved},
	{name: "the same input gives the same output", run: (*Tester).repeated},
}

// try runs a case with a new process, in an environment with a new run directory.
func (t *Tester) try(ctx context.Context, run func(*Tester, *program) error) error {
	dir, err := os.MkdirTemp("", "conform-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env, err := environment(dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.Time)
	defer cancel()
	p, err := t.start(ctx, env)
	if err != nil {
		return err
	}
	err = run(t, p)
	cancel()
	p.close()
	if last := p.messages.Line(); err != nil && last != "" {
		err = fmt.Errorf("%w\nits last message: %s", err, last)
	}
	return err
}

// environment returns the environment of a stage in the first generation of a crawl whose run directory
// is dir. It writes the topic file.
func environment(dir string) ([]string, error) {
	words, err := topic.New("en", "")
	if err != nil {
		return nil, err
	}
	if _, err := words.AddQuery("jazz"); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := words.Write(&b); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "topic.json")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		return nil, err
	}
	return append(os.Environ(), "SPOOR_RUN="+dir, "SPOOR_TOPIC="+file, "SPOOR_GENERATION=1", "SPOOR_N=20", "SPOOR_SEED=1"), nil
}

// A program is a running command.
type program struct {
	ctx      context.Context
	env      []string
	limit    time.Duration // maximum time of the case
	longest  int           // maximum length of a line of its output, in bytes
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      io.ReadCloser
	lines    chan line
	messages procgroup.Tail
	waiting  sync.Once
	ended    chan struct{} // closed when the command has ended
	status   error         // exit status, set before ended is closed
}

// A line is a line of the output, or the error at the end of the output.
type line struct {
	text []byte
	err  error
}

func (t *Tester) start(ctx context.Context, env []string) (*program, error) {
	p := &program{ctx: ctx, env: env, limit: t.Time, cmd: exec.Command(t.Command[0], t.Command[1:]...), longest: 2*t.Long + 1<<20, lines: make(chan line, 16), ended: make(chan struct{})}
	p.cmd.Env = env
	p.cmd.Stderr = &p.messages
	procgroup.Lead(p.cmd, syscall.SIGKILL)
	p.cmd.WaitDelay = time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// close kills the command and its children, if they still run.
func (p *program) close() {
	procgroup.Kill(p.cmd)
	p.in.Close()
	p.out.Close()
	<-p.end()
}

// end returns a channel that is closed when the command has ended. The caller must have read the
// output of the command.
func (p *program) end() <-chan struct{} {
	p.waiting.Do(func() {
		go func() {
			p.status = p.cmd.Wait()
			close(p.ended)
		}()
	})
	return p.ended
}

// read starts a goroutine that reads the output.
func (p *program) read() {
	go func() {
		in := bufio.NewReaderSize(p.out, 1<<16)
		for {
			text, err := p.readLine(in)
			if len(text) > 0 {
				p.lines <- line{text: text}
			}
			if err != nil {
				p.lines <- line{err: err}
				return
			}
		}
	}()
}

// readLine reads a line, unless it is longer than p.longest.
func (p *program) readLine(in *bufio.Reader) (text []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > p.longest:
			return nil, fmt.Errorf("it wrote a line of more than %d bytes", p.longest)
		case err != bufio.ErrBufferFull:
			return text, err
		}
	}
}

// maxRecords limits the records that a command may write in a case; it gets at most some thousand.
const maxRecords = 100_000

var errSlow = errors.New("it has not answered")

// next returns the next record of the output, nil at its end.
func (p *program) next() (record, error) {
	select {
	case l := <-p.lines:
		if errors.Is(l.err, io.EOF) {
			return nil, nil
		}
		if l.err != nil {
			return nil, l.err
		}
		var r record
		d := json.NewDecoder(bytes.NewReader(l.text))
		d.UseNumber()
		if err := d.Decode(&r); err != nil || r == nil {
			return nil, fmt.Errorf("it wrote %s, which is no record\nhint: messages belong on stderr", quote(l.text))
		}
		return r, nil
	case <-p.ctx.Done():
		return nil, fmt.Errorf("%w within %v", errSlow, p.limit)
	}
}

func quote(b []byte) string {
	if len(b) > 200 {
		b = append(bytes.Clone(b[:200]), "…"...)
	}
	return fmt.Sprintf("%q", bytes.TrimRight(b, "\n"))
}

// send writes input on a new goroutine, because the caller must read output at the same time. If last is
// set, it then closes stdin.
func (p *program) send(input string, last bool) {
	go func() {
		io.WriteString(p.in, input) // if writing fails, the output ends too
		if last {
			p.in.Close()
		}
	}()
}

// all sends input, closes stdin, and returns all records of the output. It returns an error if the
// command does not end with status 0.
func (p *program) all(input string) (list []record, err error) {
	p.read()
	p.send(input, true)
	for {
		r, err := p.next()
		if err != nil {
			return nil, err
		}
		if r == nil {
			break
		}
		if list = append(list, r); len(list) > maxRecords {
			return nil, fmt.Errorf("it wrote more than %d records", maxRecords)
		}
	}
	return list, p.wait(true)
}

// wait waits for the end of the command. If mustSucceed is set, a status other than 0 is an error.
func (p *program) wait(mustSucceed bool) error {
	select {
	case <-p.end():
		if exit, ok := errors.AsType[*exec.ExitError](p.status); ok && mustSucceed {
			return fmt.Errorf("it ended with %v instead of status 0", exit)
		}
		return nil
	case <-p.ctx.Done():
		return errors.New("it closed its output and did not end")
	}
}

// A record is a record, decoded from JSON.
type record map[string]any

func (r record) url() string { s, _ := r["url"].(string); return s }

// isOutcome reports whether the record has the outcome of a fetch.
func (r record) isOutcome() bool { return r["status_code"] != nil || r["error"] != nil }

// isMark reports whether the record ends a window.
func (r record) isMark() bool { return r.url() == "" && r["operator"] == "mark" }

// checkReturned returns an error if the outcomes in list are not the outcomes of urls, in order. Records
// without outcome are an error, except for evolve, which adds addresses.
func (t *Tester) checkReturned(list []record, urls []string) error {
	var got []string
	for _, r := range list {
		switch {
		case r.isOutcome():
			got = append(got, r.url())
		case t.Stage == Evolve:
		default:
			return fmt.Errorf("%s came back without the status_code or error that it had\nhint: pass on all fields that you do not change", r.url())
		}
	}
	for i, u := range urls {
		if i >= len(got) {
			return fmt.Errorf("%d records went in and %d came back; the first that is missing is %s\nhint: write one line for each that you read, also for failures", len(urls), len(got), u)
		}
		if got[i] != u {
			return fmt.Errorf("record %d is %s and should be %s\nhint: keep the order, and do not change url", i+1, got[i], u)
		}
	}
	if len(got) > len(urls) {
		return fmt.Errorf("%d records went in and %d came back", len(urls), len(got))
	}
	return nil
}

// page returns an input line with a page, and the address of the page. It has the fields that
// the previous stage writes, and then the JSON members of the parameter more, which each begin with a
// comma.
func (t *Tester) page(n int, more string) (text, url string) {
	url = fmt.Sprintf("http://site.test/page/%d", n)
	fields := `"status_code":200,"content_type":"text/html","charset":"utf-8"`
	switch t.Stage {
	case Parse:
		fields += fmt.Sprintf(`,"body":"<title>Page %d</title><p>Words of page %[1]d about jazz. <a href=\"/page/%d\">the next</a>"`, n, n+1)
	case Score:
		fields += t.parsedFields(n)
	default:
		fields += t.parsedFields(n) + `,"score":0.5,"relevant":true`
	}
	return fmt.Sprintf(`{"v":1,"url":%q,"depth":1,"generation":1,"operator":"link","priority":0.25,%s%s}`+"\n", url, fields, more), url
}

func (t *Tester) parsedFields(n int) string {
	return fmt.Sprintf(`,"title":"Page %d","text":"Words of page %[1]d about jazz.","out_degree":1,"links":[{"url":"http://site.test/page/%d","anchor":"the next","context":"the next"}]`, n, n+1)
}

func mark(window int) string {
	return fmt.Sprintf(`{"v":1,"generation":%d,"operator":"mark","query":"mark"}`+"\n", window)
}

func (t *Tester) eachRecord(p *program) error {
	var in strings.Builder
	var urls []string
	for n := range 200 {
		text, url := t.page(n, "")
		in.WriteString(text)
		urls = append(urls, url)
	}
	list, err := p.all(in.String())
	if err != nil {
		return err
	}
	return t.checkReturned(list, urls)
}

func (t *Tester) empty(p *program) error {
	list, err := p.all("")
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("it wrote %d records without any input", len(list))
	}
	return err
}

func (t *Tester) unknownFields(p *program) error {
	const text = `{"x_own":{"list":[1,"two",{"three":null}],"big":9007199254740991,"text":"ä \u2028 \\"},"y_own":false,"etag":"\"v1\"","via":"http://site.test/","parents":["http://site.test/"]}`
	var want record
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		return err
	}
	in, url := t.page(1, ","+text[1:len(text)-1])
	list, err := p.all(in)
	if err != nil {
		return err
	}
	if err := t.checkReturned(list, []string{url}); err != nil {
		return err
	}
	for name, value := range want {
		if got, ok := list[0][name]; !ok || !reflect.DeepEqual(got, value) {
			return fmt.Errorf("the field %s was %v and is %v\nhint: pass on all fields that you do not change", name, value, list[0][name])
		}
	}
	return nil
}

func (t *Tester) failures(p *program) error {
	in := `{"v":1,"url":"http://site.test/a","generation":1,"error":"timeout","error_detail":"no answer"}
{"v":1,"url":"http://site.test/b","generation":1,"status_code":404}
{"v":1,"url":"http://site.test/c","generation":1,"error":"robots"}
`
	list, err := p.all(in)
	if err != nil {
		return err
	}
	if err := t.checkReturned(list, []string{"http://site.test/a", "http://site.test/b", "http://site.test/c"}); err != nil {
		return err
	}
	if list[0]["error"] != "timeout" {
		return fmt.Errorf("the error of a record was timeout and is %v", list[0]["error"])
	}
	return nil
}

func (t *Tester) badLine(p *program) error {
	one, a := t.page(1, "")
	two, b := t.page(2, "")
	list, err := p.all(one + "no record\n" + two)
	if err != nil {
		return fmt.Errorf("%w\nhint: skip the line, with a message on stderr; jq -R 'fromjson? | …'", err)
	}
	return t.checkReturned(list, []string{a, b})
}

func (t *Tester) noNewline(p *program) error {
	one, a := t.page(1, "")
	two, b := t.page(2, "")
	list, err := p.all(one + strings.TrimSuffix(two, "\n"))
	if err != nil {
		return err
	}
	return t.checkReturned(list, []string{a, b})
}

func (t *Tester) oddCharacters(p *program) error {
	const text = "\u202e\u2028\u0085\u00ad😀 e\u0301 \\ \" / \t"
	encoded, err := json.Marshal(text)
	if err != nil {
		return err
	}
	in, url := t.page(1, `,"x_own":`+string(encoded)+`,"x_control":"\u0000\u001b[31m\u007f"`)
	list, err := p.all(in)
	if err != nil {
		return err
	}
	if err := t.checkReturned(list, []string{url}); err != nil {
		return err
	}
	if got := list[0]["x_own"]; got != text {
		return fmt.Errorf("the text %q came back as %q", text, got)
	}
	if got := list[0]["x_control"]; got != "\x00\x1b[31m\x7f" {
		return fmt.Errorf("control characters came back as %q", got)
	}
	return nil
}

func (t *Tester) marks(p *program) error {
	p.read()
	number := 0
	for window := 1; window <= 3; window++ {
		var in strings.Builder
		var urls []string
		for range 2 * window {
			text, url := t.page(number, "")
			in.WriteString(strings.Replace(text, `"generation":1`, fmt.Sprintf(`"generation":%d`, window), 1))
			urls = append(urls, url)
			number++
		}
		p.send(in.String()+strings.Replace(mark(window), "}", `,"x_own":1}`, 1), false)
		var list []record
		for {
			r, err := p.next()
			if errors.Is(err, errSlow) {
				return fmt.Errorf("%d records and a mark (a line without url) were sent; %d records and no mark came back: %w\nhint: write the mark after all records before it, and flush, as jq --unbuffered, python3 -u and mawk -W interactive do", len(urls), len(list), err)
			}
			if err != nil {
				return err
			}
			if r == nil {
				return errors.New("it ended although its input goes on")
			}
			if r.isMark() {
				if fmt.Sprint(r["generation"]) != fmt.Sprint(window) || r["x_own"] == nil {
					return fmt.Errorf("the mark came back changed: %v", r)
				}
				break
			}
			list = append(list, r)
		}
		if err := t.checkReturned(list, urls); err != nil {
			return err
		}
	}
	p.in.Close()
	if r, err := p.next(); err != nil {
		return fmt.Errorf("after the last mark: %w", err)
	} else if r != nil {
		return fmt.Errorf("it wrote a record after the last mark: %v\nhint: write the mark last, when all records before it are written", r)
	}
	return p.wait(true)
}

func (t *Tester) closedOutput(p *program) error {
	if err := p.out.Close(); err != nil {
		return err
	}
	var in strings.Builder
	for n := 0; in.Len() < 1<<20; n++ { // more than the buffers of pipes
		text, _ := t.page(n, "")
		in.WriteString(text)
	}
	p.send(in.String(), true)
	if err := p.wait(false); err != nil {
		return errors.New("it goes on although nobody reads its output\nhint: end when writing fails")
	}
	return nil
}

func (t *Tester) longLine(p *program) error {
	one, a := t.page(1, `,"x_own":"`+strings.Repeat("x", t.Long)+`"`)
	two, b := t.page(2, "")
	list, err := p.all(one + two)
	if err != nil {
		return err
	}
	if err := t.checkReturned(list, []string{a, b}); err != nil {
		return err
	}
	if s, _ := list[0]["x_own"].(string); len(s) != t.Long {
		return fmt.Errorf("a field of %d bytes came back with %d", t.Long, len(s))
	}
	return nil
}

func (t *Tester) parsed(p *program) error {
	in, _ := t.page(7, "")
	list, err := p.all(in)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("%d records came back", len(list))
	}
	r := list[0]
	text, _ := r["text"].(string)
	links, _ := r["links"].([]any)
	switch {
	case r["title"] != "Page 7":
		return fmt.Errorf("title is %v, and the page says Page 7", r["title"])
	case !strings.Contains(text, "Words of page 7 about jazz."):
		return fmt.Errorf("text is %q, without the words of the page", text)
	case len(links) != 1 || fmt.Sprint(links[0]) == "" || !strings.Contains(fmt.Sprint(links[0]), "http://site.test/page/8"):
		return fmt.Errorf("links are %v, and the page has one, to http://site.test/page/8\nhint: links are absolute, in a list of objects with url and anchor", r["links"])
	case r["body"] != nil || r["body_base64"] != nil:
		return errors.New("the body is still there\nhint: delete body and body_base64: later stages do not read them")
	}
	return nil
}

func (t *Tester) scored(p *program) error {
	in, _ := t.page(1, "")
	list, err := p.all(in + `{"v":1,"url":"http://site.test/b","generation":1,"error":"timeout"}` + "\n")
	if err != nil {
		return err
	}
	if len(list) != 2 {
		return fmt.Errorf("%d records of 2 came back", len(list))
	}
	_, isBool := list[0]["relevant"].(bool)
	n, isNumber := list[0]["score"].(json.Number)
	score, err := n.Float64()
	switch {
	case !isNumber || err != nil || score < 0:
		return fmt.Errorf("the score of a page is %v\nhint: a number from 0", list[0]["score"])
	case list[0]["relevant"] == nil:
		return errors.New("relevant is <nil>\nhint: true or false; or put `score -keep` after it, as crawl does")
	case !isBool:
		return fmt.Errorf("relevant is %v\nhint: true or false", list[0]["relevant"])
	case list[1]["relevant"] == true:
		return errors.New("a page that failed is relevant")
	}
	return nil
}

func (t *Tester) evolved(p *program) error {
	var in strings.Builder
	for n := range 20 {
		text, _ := t.page(2*n, "")
		in.WriteString(text)
	}
	list, err := p.all(in.String())
	if err != nil {
		return err
	}
	addresses := 0
	for _, r := range list {
		switch {
		case r.isOutcome() && addresses > 0:
			return fmt.Errorf("the page %s comes after addresses\nhint: write all pages first", r.url())
		case r.isOutcome():
		case r.url() == "" && r["query"] == nil:
			return fmt.Errorf("a record has neither url nor query: %v", r)
		default:
			if err := r.checkProposal(); err != nil {
				return err
			}
			addresses++
		}
	}
	if addresses == 0 {
		return errors.New("it proposed no address, although the pages have links to others")
	}
	return nil
}

// checkProposal returns an error if a crawl would not accept the address or query.
func (r record) checkProposal() error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var rec wire.Record
	if err := wire.NewReader(bytes.NewReader(line), wire.Address).Read(&rec); err != nil {
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok {
			err = bad.Err
		}
		return fmt.Errorf("it proposed %s, which is no record: %w", quote(line), err)
	}
	if rec.URL == "" {
		return nil // a query
	}
	if _, err := weburl.Canonical(rec.URL); err != nil {
		return fmt.Errorf("it proposed %s, which is not an absolute http or https address: %w", quote([]byte(rec.URL)), err)
	}
	return nil
}

func (t *Tester) repeated(p *program) error {
	var in strings.Builder
	for n := range 50 {
		text, _ := t.page(n, "")
		in.WriteString(text)
	}
	first, err := p.all(in.String())
	if err != nil {
		return err
	}
	again, err := t.start(p.ctx, p.env)
	if err != nil {
		return err
	}
	defer again.close()
	second, err := again.all(in.String())
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(first, second) {
		return errors.New("the output differs when the input is repeated\nhint: a crawl that was killed repeats its last generation, and must then get the same output; seed random choices with $SPOOR_SEED")
	}
	return nil
}
