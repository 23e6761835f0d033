package run

import (
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// hostileWords are words that a shell would change if they were not quoted.
var hostileWords = []string{
	"", " ", "plain", "-dash", "--", "-n", "two words", " both ends ", "'", "''", `"`, `\`, `\'`, `it's "so"`, `\n`, `ends with \`,
	"*", "?", "[a-z]*", "{a,b}", "~", "~root", "!", "!!", "#comment", "a#b", "$HOME", "$(echo x)", "`echo x`", "${x:-y}", "$'a'",
	"a;b", "a&b", "a|b", "<a>", "(a)", "a=b", "^", "a\nb", "\n", "ends\n", "a\tb", "a\r\nb", "\x01", "\x1b[J", "\x7f", "\x01\x7f'\\\"",
	"\x1fabc", "a\n'b'\\n$(x)", "naïve", "日本語", "emoji 🦌", "\u00a0", "\u2028", "\ufeff", "\xff\xfe", "\n\xff", "é\n日", strings.Repeat("x'\n", 500),
}

// unquote returns the words that bash makes of a text.
func unquote(t testing.TB, text string) []string {
	t.Helper()
	cmd := exec.Command("bash", "-c", `printf '%s\0' `+text)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bash: %s: %v", text, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func TestQuoteRoundTrip(t *testing.T) {
	var quoted []string
	for _, word := range hostileWords {
		q := Quote(word)
		if strings.ContainsAny(q, "\n\r\x00") {
			t.Errorf("Quote(%q) = %q: it must be one line", word, q)
		}
		quoted = append(quoted, q)
	}
	words := unquote(t, strings.Join(quoted, " "))
	if !slices.Equal(words, hostileWords) {
		for i := range min(len(words), len(hostileWords)) {
			if words[i] != hostileWords[i] {
				t.Fatalf("Quote(%q) = %q, which bash reads as %q", hostileWords[i], quoted[i], words[i])
			}
		}
		t.Fatalf("%d words were quoted, and bash reads %d", len(hostileWords), len(words))
	}
}

func TestQuoteLeavesPlainWords(t *testing.T) {
	for _, word := range []string{"fetch", "/a/b-c_d.warc.gz", "-seed=1", "http://a.test:80/", "50%", "a@b"} {
		if q := Quote(word); q != word {
			t.Errorf("Quote(%q) = %q", word, q)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, word := range hostileWords {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") || len(word) > 1<<16 {
			return // no argument of a command
		}
		q := Quote(word)
		if strings.ContainsAny(q, "\n\r") {
			t.Errorf("Quote(%q) = %q: it must be one line", word, q)
		}
		// The words on both sides find a quotation that does not end where it should.
		if words := unquote(t, "before "+q+" after"); !slices.Equal(words, []string{"before", word, "after"}) {
			t.Errorf("Quote(%q) = %q, which bash reads as %q", word, q, words)
		}
	})
}

func TestResolveStages(t *testing.T) {
	own := Stages{
		{"fetch", "fetch -archive /new", true}, {"parse", "parse", true}, {"score", `score -topic "$SPOOR_TOPIC" -windows g | topic`, true},
		{"grow", "topic -expand", true}, {"evolve", "evolve", true},
	}
	const scored = `bash -o pipefail -c 'jq .' | score -keep -topic "$SPOOR_TOPIC"`
	lastRun := func(replaced ...string) *Settings {
		s := &Settings{Ran: map[string]string{}, Replaced: replaced}
		for _, stage := range own {
			s.Ran[stage.Name] = stage.Command
		}
		for _, name := range replaced {
			s.Ran[name] = "my " + name
		}
		return s
	}
	moved := lastRun()
	moved.Ran["fetch"] = "fetch -archive /old"
	edited := func(s *Settings, edits map[string]string) map[string]string {
		file := maps.Clone(s.Ran)
		for name, command := range edits {
			if file[name] = command; command == "" {
				delete(file, name)
			}
		}
		return file
	}
	for _, test := range []struct {
		name     string
		file     map[string]string // the stages file; nil if there is none
		env      map[string]string
		before   *Settings
		want     map[string]string // the stages that are not spoor's own
		changes  []string          // the stages whose change is said
		notGrown bool              // the stage grow is missing
	}{
		{name: "a new run"},
		{name: "a new run, a stage replaced", env: map[string]string{"parse": "sed p"}, want: map[string]string{"parse": "bash -o pipefail -c 'sed p'"}},
		{name: "the stages file of a crawl that was killed while it was begun", file: map[string]string{"parse": "my parse"}},
		{name: "killed while the mode was changed", file: edited(lastRun(), map[string]string{"evolve": "steady evolve"}), before: lastRun()},
		{name: "a foreign score is completed, and its topic does not grow", env: map[string]string{"score": "jq ."}, want: map[string]string{"score": scored}, notGrown: true},
		{name: "nothing edited: the new own commands", file: edited(moved, nil), before: moved},
		{name: "no stages file: the new own commands", before: moved},
		{
			name: "an edited line", file: edited(lastRun(), map[string]string{"parse": "parse | sed -u p"}), before: lastRun(),
			want: map[string]string{"parse": "parse | sed -u p"}, changes: []string{"parse"},
		},
		{
			name: "an edited line is kept", file: edited(lastRun("parse"), nil), before: lastRun("parse"),
			want: map[string]string{"parse": "my parse"},
		},
		{
			name: "an edited line, edited again", file: edited(lastRun("parse"), map[string]string{"parse": "their parse"}), before: lastRun("parse"),
			want: map[string]string{"parse": "their parse"}, changes: []string{"parse"},
		},
		{name: "an edited line, edited back", file: edited(lastRun("parse"), map[string]string{"parse": "parse"}), before: lastRun("parse"), changes: []string{"parse"}},
		{name: "a deleted line", file: edited(lastRun("parse"), map[string]string{"parse": ""}), before: lastRun("parse"), changes: []string{"parse"}},
		{
			name: "the variable wins over the file", file: edited(lastRun("parse"), nil), env: map[string]string{"parse": "sed p"}, before: lastRun("parse"),
			want: map[string]string{"parse": "bash -o pipefail -c 'sed p'"}, changes: []string{"parse"},
		},
		{
			name: "an empty variable returns to the default", file: edited(lastRun("parse", "evolve"), nil), env: map[string]string{"parse": ""}, before: lastRun("parse", "evolve"),
			want: map[string]string{"evolve": "my evolve"}, changes: []string{"parse"},
		},
		{name: "a stage that the strategy does not have", env: map[string]string{"search": "sed p"}, want: map[string]string{"search": "bash -o pipefail -c 'sed p'"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, changes := resolveStages(own, Stages{{"evolve", "steady evolve", true}}, test.file, test.env, test.before)
			want := Stages{}
			for _, name := range stageNames {
				stage := own.find(name)
				if command := test.want[name]; command != "" {
					stage = &Stage{name, command, false}
				}
				if stage != nil && !(name == "grow" && test.notGrown) {
					want = append(want, *stage)
				}
			}
			if !slices.Equal(list, want) {
				t.Errorf("got %+v\nwant %+v", list, want)
			}
			if len(changes) != len(test.changes) {
				t.Fatalf("changes: %q, want %q", changes, test.changes)
			}
			for i, name := range test.changes {
				text := "stage " + name + " is now: " + list.find(name).Command + "\n(before: " + test.before.Ran[name] + ")"
				if changes[i] != text {
					t.Errorf("said: %q\nwant: %q", changes[i], text)
				}
			}
		})
	}
}

func TestStagesFile(t *testing.T) {
	d := Dir(t.TempDir())
	if commands, err := d.loadStages(); commands != nil || err != nil {
		t.Errorf("without a file: %v, %v", commands, err)
	}
	list := Stages{{"fetch", "fetch -archive 'a b'", true}, {"score", `bash -o pipefail -c 'jq .' | score -keep -topic "$SPOOR_TOPIC"`, false}}
	if err := list.save(d); err != nil {
		t.Fatal(err)
	}
	commands, err := d.loadStages()
	if want := map[string]string{"fetch": list[0].Command, "score": list[1].Command}; err != nil || !maps.Equal(commands, want) {
		t.Errorf("%v, %v", commands, err)
	}
	for text, want := range map[string]string{
		"# mine\n\n  score \t jq . \r\n": "",
		"fetch\tfetch\nsift\tjq .\n":     "stages:2: a line is one of fetch, parse, ",
		"score\n":                        "stages:1: ",
	} {
		testfile.Write(t, d.Path(StagesFile), text)
		commands, err := d.loadStages()
		if want == "" {
			if err != nil || commands["score"] != "jq ." {
				t.Errorf("%q: %q, %v", text, commands, err)
			}
			continue
		}
		if f, ok := errors.AsType[*Fault](err); !ok || f.Status != statusMisuse || !strings.Contains(f.Text, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFlagsOfParse(t *testing.T) {
	convert := []string{"application/pdf=pdftotext -q - -", "application/*=it's 'a' $(command)"}
	const mime = ` -mime '+application/pdf,application/*'`
	for _, test := range []struct {
		name string
		s    Settings
		mime bool
	}{
		{"a crawl of the web", Settings{Convert: convert}, true},
		{"an archive: fetch accepts all types", Settings{Convert: convert, Archives: []string{"/a.warc"}}, false},
		{"an archive first", Settings{Convert: convert, Archives: []string{"/a.warc"}, ArchiveFirst: true}, true},
		{"types of the user", Settings{Convert: convert, Live: []string{"-mime=text/html"}}, false},
		{"no converters", Settings{}, false},
		{"the main content", Settings{Main: true}, false},
	} {
		list := ownStages(&test.s, Requirements{}, "")
		if got := strings.Contains(list.find("fetch").Command, mime); got != test.mime {
			t.Errorf("%s: %s", test.name, list.find("fetch").Command)
		}
		if got := strings.Contains(list.find("parse").Command, " -main"); got != test.s.Main {
			t.Errorf("%s: %s", test.name, list.find("parse").Command)
		}
		for _, c := range test.s.Convert {
			if !strings.Contains(list.find("parse").Command, " -convert "+Quote(c)) {
				t.Errorf("%s: %s", test.name, list.find("parse").Command)
			}
		}
	}
}

// The table that topic -compat makes is that of the paper of symbiosis and weighttable, not that of tunnel and
// weighttable-tf.
func TestTableOfCompat(t *testing.T) {
	for _, test := range []struct {
		fitness string // of the user
		needs   Requirements
		literal bool
	}{
		{"", Requirements{Fitness: "weighttable", Learn: "table", Expand: "symbiosis"}, true},
		{"", Requirements{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel"}, false},
		{"", Requirements{Fitness: "jaccard", Learn: "reference"}, true},
		{"bm25", Requirements{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel"}, false},
		{"weighttable-tf", Requirements{Learn: "table"}, false}, // as breadthfirst -fitness weighttable-tf
		{"weighttable,weighttable-tf", Requirements{Learn: "table"}, true},
	} {
		for _, compat := range []bool{false, true} {
			list := ownStages(&Settings{Fitness: test.fitness, Compat: compat}, test.needs, "")
			if got, want := strings.Contains(list.command("learn"), " -compat"), compat && test.literal; got != want {
				t.Errorf("-fitness %q, %+v: %s", test.fitness, test.needs, list.command("learn"))
			}
		}
	}
}
