package run

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

func TestReadExamples(t *testing.T) {
	const about, other = "http://a.test/about", "http://a.test/other"
	for _, tt := range []struct {
		name, text string
		want       map[string]bool
		bad        []string
	}{
		{"nothing", "", nil, nil},
		{"both kinds", "+ " + about + "\n- " + other + "\n", map[string]bool{about: true, other: false}, nil},
		{"no newline at the end, spaces, CRLF", "+   " + about + " \r\n -  " + other, map[string]bool{about: true, other: false}, nil},
		{"the last line counts", "+ " + about + "\n- " + about + "\n", map[string]bool{about: false}, nil},
		{"other spellings", "+ http://a.test:80/about\n+ HTTP://A.test\n- " + about + "\n= http://a.test/\n", map[string]bool{about: false}, nil},
		{"taken back", "+ " + about + "\n- " + other + "\n= " + about + "\n", map[string]bool{other: false}, nil},
		{"comments and empty lines", "# pages of July\n\n+ " + about, map[string]bool{about: true}, nil},
		{"lines that are no examples", about + "\n+\n* " + about + "\n+ " + about, map[string]bool{about: true}, []string{about, "+", "* " + about}},
		{"no address, or more than one", "+ a.test\n- " + about + " " + other + "\n= " + about + "  is gone", nil, []string{"+ a.test", "- " + about + " " + other, "= " + about + "  is gone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := t.TempDir() + "/examples"
			testfile.Check(t, os.WriteFile(name, []byte(tt.text), 0o666))
			got, bad, err := ReadExamples(name)
			if err != nil || !maps.Equal(got, tt.want) || !slices.Equal(bad, tt.bad) {
				t.Errorf("%v, not read %q, error %v; want %v, %q", got, bad, err, tt.want, tt.bad)
			}
		})
	}
	if _, _, err := ReadExamples(t.TempDir() + "/none"); err == nil {
		t.Error("there is no error for a file that does not exist")
	}
}

// A generation has a copy of the examples if they have changed before it; and they are not used silently by
// crawls that cannot learn from them.
func TestExamplesOfGenerations(t *testing.T) {
	d := Dir(t.TempDir())
	var said bytes.Buffer
	crawl := func(teaches bool) *Crawl {
		return &Crawl{Dir: d, Settings: &Settings{Strategy: "forage"}, View: &View{Out: &said}, Stages: Stages{{"evolve", "evolve", true}}, teaches: teaches}
	}
	name := d.Path(ExamplesFile)
	keep := func(c *Crawl, generation int, want string) {
		t.Helper()
		testfile.Check(t, c.keepExamples(generation))
		got := ""
		if name := LastExamples(d.Generations(), 100); name != "" {
			got = strings.TrimPrefix(name, d.Generations())
		}
		if got != want {
			t.Errorf("generation %d: the last examples are those of %q, want %q", generation, got, want)
		}
	}
	c := crawl(true)
	keep(c, 1, "")
	testfile.Check(t, os.WriteFile(name, []byte("+ http://a.test/\n"), 0o666))
	keep(c, 2, "/0002/examples")
	keep(c, 3, "/0002/examples")
	keep(crawl(true), 3, "/0002/examples") // resumed
	testfile.Check(t, os.WriteFile(name, []byte("+ http://a.test/\n- http://b.test/\n"), 0o666))
	keep(c, 4, "/0004/examples")
	testfile.Check(t, os.Remove(name)) // all are taken back
	keep(crawl(true), 5, "/0005/examples")
	keep(crawl(true), 6, "/0005/examples")
	keep(c, 6, "/0005/examples")
	keep(c, 6, "/0005/examples")
	if want := "learns from 1 page about the topic and 1 on others, from generation 4 on"; !strings.Contains(said.String(), want) {
		t.Errorf("crawl says %q, not %q", &said, want)
	}
	for what, write := range map[string]func() error{
		"it is a directory":     func() error { return os.Mkdir(name, 0o777) },
		"is larger than 1 MiB":  func() error { return os.WriteFile(name, make([]byte, MaxExamples+1), 0o666) },
		"is not used, and earl": func() error { return os.Symlink(name, name) },
	} {
		said.Reset()
		testfile.Check(t, write())
		keep(c, 7, "/0005/examples")
		keep(c, 7, "/0005/examples")
		if strings.Count(said.String(), what) != 1 {
			t.Errorf("crawl says %q, not %q once", &said, what)
		}
		testfile.Check(t, os.Remove(name))
	}
	said.Reset()
	testfile.Check(t, os.WriteFile(name, []byte("+ http://c.test/\n"), 0o666))
	keep(crawl(false), 7, "/0007/examples")
	keep(crawl(false), 8, "/0007/examples")
	if want := "the strategy forage does not learn from examples"; strings.Count(said.String(), want) != 1 {
		t.Errorf("crawl says %q, not %q once", &said, want)
	}
}
