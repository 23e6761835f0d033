package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// records returns n pages, a line each.
func records(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"v":1,"url":"http://a.test/%d","status_code":200}`+"\n", i)
	}
	return b.String()
}

// mark returns the mark of a window.
func mark(t *testing.T, window int) string {
	t.Helper()
	var b bytes.Buffer
	if err := appendMark(&b, window); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// measure runs a command as a foreign stage.
func measuredBy(t *testing.T, m *meter, command, in string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var b bytes.Buffer
	err = m.run(ctx, command, strings.NewReader(in), &b)
	if ctx.Err() != nil {
		t.Fatalf("%s does not end", command)
	}
	return b.String(), err
}

func TestMeter(t *testing.T) {
	const unread = 5000 // records that fill more than a pipe and all buffers
	long := `{"v":1,"url":"http://a.test/","status_code":200,"text":"` + strings.Repeat("x", 1<<20) + `"}` + "\n"
	for _, test := range []struct {
		name, command, in string
		m                 *meter
		status            int
		text              string // of the fault
	}{
		{name: "passes everything", command: "cat", in: records(100)},
		{name: "passes nothing on to nothing", command: "cat", in: ""},
		{name: "long lines", command: "cat", in: long + long},
		{name: "loses one", command: "sed 2d", in: records(5), status: 1, text: "read 5 records and wrote 4"},
		{name: "loses all", command: "cat >/dev/null", in: records(5), status: 1, text: "read 5 records and wrote 0"},
		{name: "adds one", command: "sed 2p", in: records(5), status: 1, text: "read 5 records and wrote 6"},
		{name: "may add", command: "sed 2p", in: records(5), m: &meter{adds: true}},
		{name: "may add, and loses one", command: "sed 2d", in: records(5), m: &meter{adds: true}, status: 1, text: "read 5 records and wrote 4"},
		{name: "ends early", command: "head -n 3", in: records(5), status: 1, text: "read 5 records and wrote 3"},
		{name: "ends early, with much unread", command: "head -n 3", in: records(unread), status: 1, text: fmt.Sprintf("read %d records and wrote 3", unread)},
		{name: "reads nothing", command: ":", in: records(unread), status: 1, text: fmt.Sprintf("read %d records and wrote 0", unread)},
		{name: "no final newline", command: `printf %s "$(cat)"`, in: records(5)},
		{name: "reads no final newline", command: "cat", in: strings.TrimSuffix(records(5), "\n")},
		{name: "lines that are no records", command: "grep -v '^#'", in: "# hello\n\n" + records(2) + "# bye\n"},
		{name: "writes a line that is no record", command: "echo hello; cat", in: records(5), status: 1, text: `wrote a line that is not a record: "hello" (messages belong on stderr)`},
		{name: "writes a field of another type", command: `sed 's/^{/{"score":"0.5",/'`, in: records(5), status: 1, text: `made 5 of 5 records malformed: score: a string at byte 10 where a number is expected (hint: conform -stage score -- COMMAND tests a stage)`},
		{name: "writes one such field", command: `sed '2s/^{/{"score":"0.5",/'`, in: records(5)},
		{name: "writes them for most pages", command: `sed '2,5s/^{/{"score":"0.5",/'`, in: records(6), status: 1, text: `made 4 of 6 records malformed: score: a string at byte 10 where a number is expected (hint: conform -stage score -- COMMAND tests a stage)`},
		{name: "writes them for half of the pages", command: `sed '2,5s/^{/{"score":"0.5",/'`, in: records(8)},
		{name: "writes them for three pages only", command: `sed 's/^{/{"score":"0.5",/'`, in: records(3)},
		{name: "evolve: malformed", command: `sed 's/^{/{"links":5,/'; echo '{"v":1,"url":"http://a.test/new"}'`, in: records(5), m: &meter{pages: true}, status: 1, text: "made 5 of 5 records malformed: links: '5' at byte 10 where [ is expected (hint: conform -stage score -- COMMAND tests a stage)"},
		{name: "writes a topic", command: "cat; echo hello", in: records(5), m: &meter{text: true}},
		{name: "dies", command: "head -n 2; exit 7", in: records(unread), status: 7, text: "ended with status 7"},
		{name: "dies in a pipeline", command: "sh -c 'cat; exit 7' | cat", in: records(5), status: 7, text: "ended with status 7"},
		{name: "stops reading in a pipeline", command: "cat | true", in: records(unread), status: 1, text: "stopped reading before the end of its input (status 141)"},
		{name: "has the status of a full disk", command: "cat; exit 3", in: records(5), status: 1, text: "ended with status 3"},
		{name: "has the status of a crawl that is over", command: "cat; exit 4", in: records(5), status: 1, text: "ended with status 4"},
		{name: "is not there", command: "no-such-command-here", in: records(5), status: 127, text: "ended with status 127"},
		{name: "is killed", command: "head -n 2; kill -9 $$", in: records(unread), status: 137, text: "ended with status 137"},
		{name: "evolve: addresses are not counted", command: `cat; echo '{"v":1,"url":"http://a.test/new"}'; echo '{"v":1,"query":"words"}'`, in: records(5), m: &meter{pages: true}},
		{name: "evolve: a page is missing", command: `sed 2d; echo '{"v":1,"url":"http://a.test/new"}'`, in: records(5), m: &meter{pages: true}, status: 1, text: "read 5 records and wrote 4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := test.m
			if m == nil {
				m = new(meter)
			}
			m.name = "score"
			out, err := measuredBy(t, m, test.command, test.in)
			if test.status == 0 {
				if err != nil {
					t.Errorf("%v", err)
				}
				if test.command == "cat" && out != test.in {
					t.Errorf("%d bytes went in, and others came out: %d", len(test.in), len(out))
				}
				return
			}
			if f, ok := errors.AsType[*Fault](err); !ok || f.Status != test.status || f.Text != test.text {
				t.Errorf("%#v, want status %d, %q", err, test.status, test.text)
			}
		})
	}
}

// In a steady crawl, a stage that ends is not waited for: what it reads does not end.
func TestEndlessMeterEndsWithItsStage(t *testing.T) {
	for _, test := range []struct {
		command string
		want    Fault
	}{
		{"head -n 1; exit 7", Fault{7, "ended with status 7"}},
		{"head -n 1", Fault{statusFailed, "ended before its input did"}},
	} {
		in, w := io.Pipe()
		defer w.Close()
		go io.WriteString(w, records(1))
		ended := make(chan error, 1)
		m := &meter{endless: true, silence: time.Minute}
		go func() { ended <- m.run(t.Context(), test.command, in, io.Discard) }()
		select {
		case err := <-ended:
			if f, ok := errors.AsType[*Fault](err); !ok || *f != test.want {
				t.Errorf("%s: %v", test.command, err)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s has ended, and the meter has not", test.command)
		}
	}
}

func TestMeterTerminates(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	out, began := io.Pipe()
	ended := make(chan error, 1)
	m := &meter{}
	go func() { ended <- m.run(ctx, "echo {}; exec sleep 60", in, began) }()
	if _, err := io.ReadFull(out, make([]byte, len("{}\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		if f, ok := errors.AsType[*Fault](err); !ok || f.Status != statusTerminated {
			t.Errorf("%v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the stage was told to end, and the meter has not")
	}
}

func TestEndlessMeterComparesWindows(t *testing.T) {
	in := mark(t, 0) + records(3) + mark(t, 1) + records(4) + mark(t, 2)
	for _, test := range []struct{ name, command, text string }{
		{"passes everything", "cat", ""},
		{"loses a page of the first window", "sed 2d", "read 3 records and wrote 2"},
		{"loses a page of the second window", "sed 6d", "read 7 records and wrote 6"},
		{"spoils the second window", `sed -u '6,9s/^{/{"links":5,/'`, "made 4 of 4 records malformed: links: '5' at byte 10 where [ is expected (hint: conform -stage score -- COMMAND tests a stage)"},
		{"spoils three pages of both windows", `sed -u -e '2,4s/^{/{"links":5,/' -e '7,9s/^{/{"links":5,/'`, "made 3 of 4 records malformed: links: '5' at byte 10 where [ is expected (hint: conform -stage score -- COMMAND tests a stage)"},
		{"makes up one window's loss in the next", "sed -e 2d -e 6p", "read 3 records and wrote 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := measuredBy(t, &meter{name: "score", endless: true, silence: time.Minute}, test.command, in)
			if test.text == "" && err != nil {
				t.Error(err)
			} else if f, ok := errors.AsType[*Fault](err); test.text != "" && (!ok || f.Text != test.text) {
				t.Errorf("%v, want %s", err, test.text)
			}
		})
	}
}

// In a steady crawl nothing follows until the window has come back, so a stage that keeps
// lines back would stop the crawl for ever, whether it has read them or not.
func TestEndlessMeterNamesSilence(t *testing.T) {
	const patience = 2 * time.Second // a busy machine must not look like a silent stage
	for _, test := range []struct{ name, command, in, text string }{
		{"keeps a record back", "tail -n 1", records(1), "has not written 1 records and 0 window marks for 2s"},
		{"keeps a record back, without stdout", "exec cat >/dev/null", records(1), "has not written 1 records and 0 window marks for 2s"},
		{"keeps a mark back", "exec grep --line-buffered url", records(1) + mark(t, 1), "has not written 0 records and 1 window marks for 2s"},
		{"reads nothing, with more to read", "sleep 60; true", strings.Repeat(records(100), 50), "has not written "}, // more than a pipe and the buffers hold
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in, w := io.Pipe()
			defer w.Close()
			go io.WriteString(w, test.in)
			ended := make(chan error, 1)
			m := &meter{endless: true, silence: patience}
			go func() { ended <- m.run(t.Context(), test.command, in, io.Discard) }()
			select {
			case err := <-ended:
				if f, ok := errors.AsType[*Fault](err); !ok || f.Status != statusFailed || !strings.HasPrefix(f.Text, test.text) {
					t.Errorf("%v\nwant %s", err, test.text)
				}
			case <-time.After(20 * time.Second):
				t.Error("the stage keeps lines back, and nobody says so")
			}
		})
	}
	t.Run("does not end", func(t *testing.T) {
		t.Parallel()
		_, err := measuredBy(t, &meter{endless: true, silence: patience}, "cat; sleep 60; true", records(1))
		if f, ok := errors.AsType[*Fault](err); !ok || f.Text != "has not ended for 2s after the end of its input" {
			t.Error(err)
		}
	})
	t.Run("waits for the next stage", func(t *testing.T) {
		t.Parallel()
		r, out := io.Pipe()
		ended := make(chan error, 1)
		m := &meter{endless: true, silence: patience}
		go func() {
			ended <- m.run(t.Context(), "cat", strings.NewReader(strings.Repeat(records(100), 50)), out)
			out.Close()
		}()
		time.Sleep(3 * patience)
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("a stage that waits for the next one is blamed: %v", err)
		}
	})
	t.Run("waits for what comes later", func(t *testing.T) {
		t.Parallel()
		in, w := io.Pipe()
		ended := make(chan error, 1)
		m := &meter{endless: true, silence: patience}
		go func() { ended <- m.run(t.Context(), "exec cat", in, io.Discard) }()
		io.WriteString(w, records(1)+mark(t, 1))
		select {
		case err := <-ended:
			t.Errorf("a stage that waits for its input is blamed: %v", err)
		case <-time.After(3 * patience):
		}
		w.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// The second signal to a crawl kills the command of a stage with all that it has started.
func TestMeterKills(t *testing.T) {
	kill := make(chan os.Signal, 1)
	kill <- os.Kill
	begun := time.Now()
	_, err := measuredBy(t, &meter{kill: kill}, "sleep 60 | cat; sleep 60; true", records(1))
	if f, ok := errors.AsType[*Fault](err); !ok || f.Status != statusTerminated || time.Since(begun) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// A foreign search reads the queries that have no answer yet, and nothing else.
func TestUnanswered(t *testing.T) {
	const one, two = `{"v":1,"query":"ciphers","operator":"antnet"}`, `{"v":1,"query":"hashes"}`
	in := records(2) + one + "\n" + `{"v":1,"query":"answered","cost":1}` + "\n" + `{"v":1,"url":"http://a.test/new","query":"found"}` + "\nno record\n" + two
	got, err := io.ReadAll(unanswered(strings.NewReader(in)))
	if want := one + "\n" + two; err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s, %v", got, want, err)
	}
}

// A command that knows no window marks runs once for each window that has records, and may keep all of
// them until the end.
func TestStageWindows(t *testing.T) {
	for _, test := range []struct {
		name, command, want, fault string
		in                         []string
	}{
		{
			name: "each window by its own process", command: `cat >/dev/null; echo "{\"v\":1,\"url\":\"http://$SPOOR_GENERATION.test/\",\"status_code\":200}"; [[ -e $SPOOR_TOPIC ]]`,
			in:   []string{mark(t, 6), records(1), mark(t, 7), mark(t, 8), records(1), mark(t, 9)},
			want: mark(t, 6) + `{"v":1,"url":"http://7.test/","status_code":200}` + "\n" + mark(t, 7) + mark(t, 8) + `{"v":1,"url":"http://9.test/","status_code":200}` + "\n" + mark(t, 9),
		},
		{name: "it keeps lines back", command: "tac", in: []string{mark(t, 0), records(2), mark(t, 1)}, want: mark(t, 0) + strings.Join(reversed(records(2)), "") + mark(t, 1)},
		{name: "long lines", command: "cat", in: []string{mark(t, 0), strings.Repeat(records(1000), 10)}, want: mark(t, 0) + strings.Repeat(records(1000), 10)},
		{name: "it loses a record of the second window", command: "sed 3d", in: []string{mark(t, 0), records(2), mark(t, 1), records(3), mark(t, 2), records(1), mark(t, 3)}, want: mark(t, 0) + records(2) + mark(t, 1) + records(2), fault: "read 3 records and wrote 2"},
		{name: "nothing", command: "cat", in: nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &Crawl{Dir: Dir(t.TempDir())}
			testfile.Write(t, c.Dir.Path(Topic), "{}")
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var out []byte
			read := make(chan error)
			go func() {
				var err error
				out, err = io.ReadAll(r)
				read <- err
			}()
			err = c.stageWindows(t.Context(), &meter{name: "parse", silence: time.Minute}, test.command, strings.NewReader(strings.Join(test.in, "")), w)
			w.Close()
			if rerr := <-read; rerr != nil {
				t.Fatal(rerr)
			}
			if f, _ := errors.AsType[*Fault](err); test.fault == "" && err != nil || test.fault != "" && (f == nil || f.Text != test.fault) {
				t.Errorf("error %v, want %q", err, test.fault)
			}
			if string(out) != test.want {
				t.Errorf("wrote\n%.2000s\nwant\n%.2000s", out, test.want)
			}
		})
	}
}

// reversed returns the lines of s, the last one first.
func reversed(s string) []string {
	lines := slices.Collect(strings.Lines(s))
	slices.Reverse(lines)
	return lines
}
