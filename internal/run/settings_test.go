package run

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// full returns settings of which none is zero.
func full(t *testing.T) *Settings {
	t.Helper()
	s := &Settings{
		Strategy: "niche", Params: []string{"lazy=true", "", " a = b ", "two\nlines"}, Compat: true, Seed: 7, Size: 30, Fitness: "vsm,bm25", Norm: "topic", Convert: []string{"application/pdf=pdftotext -q - -"}, Scope: []string{"exclude *.test", "depth 3"},
		Archives: []string{"/a b/one.warc.gz", `/"quoted"\n.warc`, "/two\nlines.warc"}, Content: "sha256:1", Capture: "near 2020", ArchiveFirst: true,
		Seeds: "sha256:2", SeedQuery: "“ciphers”\nand 'hashes' ", Search: "/index.db",
		Fair: "niche", PerHost: 1, PerNiche: 2, MaxPerHost: 3, MaxPerNiche: 4, Horizon: 90 * time.Millisecond, MinFree: 5, Traps: true, Recrawl: true, Main: true, Keep: 8, PerDay: 9,
		Pages: 500, Generations: 6, Relevant: 10, Patience: 5 * time.Minute, Form: FormSteady, Grows: true, Steady: true, Watch: true, Live: []string{"-agent=My Bot/1", "-http1"},
		Cluster: Cluster{Exchange: []string{"-to=nats.test", "-ca=/a b/ca.pem"}, Crawl: "jazz", Node: "a", Partitions: 16, Lag: 1, Share: "reward", Partition: "7/16"},
		Ran:     map[string]string{"fetch": "fetch", "score": `bash -c 'jq .' | score -keep`}, Replaced: []string{"score"},
	}
	for _, v := range []reflect.Value{reflect.ValueOf(*s), reflect.ValueOf(s.Cluster)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Fatalf("the test leaves %s zero", v.Type().Field(i).Name)
			}
		}
	}
	return s
}

func TestSettingsRoundTrip(t *testing.T) {
	d := Dir(t.TempDir())
	if s, err := d.LoadSettings(); s != nil || err != nil {
		t.Errorf("without a file: %v, %v", s, err)
	}
	for _, s := range []*Settings{full(t), {Ran: map[string]string{}}} {
		if err := s.save(d); err != nil {
			t.Fatal(err)
		}
		got, err := d.LoadSettings()
		if err != nil {
			t.Fatal(err)
		}
		got.Params, got.Archives, got.Live, got.Replaced = orNil(got.Params), orNil(got.Archives), orNil(got.Live), orNil(got.Replaced)
		got.Exchange, got.Convert = orNil(got.Exchange), orNil(got.Convert)
		if !reflect.DeepEqual(got, s) {
			t.Errorf("got  %+v\nwant %+v", got, s)
		}
	}
}

func orNil(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

func TestSettingsRefused(t *testing.T) {
	d := Dir(t.TempDir())
	for text, want := range map[string]string{
		"strategy niche\ncolour red\n": `unknown setting "colour"`,
		"\n":                           `unknown setting ""`,
		"pages many\n":                 "settings: pages: ",
		"seed-query \"torn\n":          "settings: seed-query: ",
	} {
		testfile.Write(t, d.Path(SettingsFile), text)
		if s, err := d.LoadSettings(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

func TestDifferences(t *testing.T) {
	all := func(string) bool { return true }
	if words := full(t).differences(full(t), all); len(words) > 0 {
		t.Errorf("equal settings differ: %q", words)
	}
	one, two := full(t), full(t)
	two.Strategy, two.Fair, two.Params, two.Content, two.Archives = "bestfirst", "", []string{"a=1", "b=2"}, "sha256:9", []string{"/new.warc"}
	one.Params = nil
	two.Pages, two.Steady, two.Live = 9, false, nil // these may change
	got := strings.Join(one.differences(two, all), "\n")
	want := strings.Join([]string{
		"strategy was niche and is bestfirst",
		"param was not set and is a=1, b=2",
		"archive was " + strings.Join(one.Archives, ", ") + " (sha256:1) and is /new.warc (sha256:9)",
		"fair was niche and is not set",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if words := one.differences(two, func(key string) bool { return key == "fair" || key == "pages" }); len(words) != 1 {
		t.Errorf("only fair is compared: %q", words)
	}
}

func TestDigestArchives(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		name = filepath.Join(dir, name)
		testfile.Write(t, name, content)
		return name
	}
	digest := func(names ...string) string {
		t.Helper()
		d, err := DigestArchives(names)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	large := strings.Repeat("abcdefgh", 3*sampleSize/8)
	same := digest(write("a.warc.gz", large))
	if digest(write("elsewhere/b.warc.gz", large)) != same || digest(filepath.Join(dir, "elsewhere")) != same {
		t.Error("a moved archive has another digest")
	}
	write("elsewhere/b.warc.gz.idx", "an index beside it")
	if digest(filepath.Join(dir, "elsewhere")) != same {
		t.Error("an index beside the archive changes the digest")
	}
	for what, content := range map[string]string{
		"first byte": "x" + large[1:], "last byte": large[:len(large)-1] + "x", "length, and the same ends": large + "abcdefgh", "nothing": "",
	} {
		if digest(write("other.warc.gz", content)) == same {
			t.Errorf("another %s: the same digest", what)
		}
	}
	one, two := write("1.warc", "one"), write("2.warc", "two")
	if digest(one, two) == digest(two, one) {
		t.Error("the order of the archives decides which capture comes first, and not the digest")
	}
	if digest(write("12.warc", "onetwo")) == digest(one, two) {
		t.Error("two archives have the digest of one")
	}
	if _, err := DigestArchives([]string{filepath.Join(dir, "missing")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing archive: %v", err)
	}
}

func TestMergeFlags(t *testing.T) {
	flags := []string{"-contact=a@b.c", "-delay=200ms", "-allow-private", "-sitemaps"}
	got := mergeFlags(flags, []string{"-delay=1s", "-http1", "-warc-done=false"}, []string{"-sitemaps"})
	if want := []string{"-contact=a@b.c", "-allow-private", "-delay=1s", "-http1", "-warc-done=false"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFirstLines(t *testing.T) {
	for n, want := range []string{"", "a\n", "a\nbc\n", "a\nbc\n"} {
		if got := firstLines([]byte("a\nbc\n"), n); string(got) != want {
			t.Errorf("%d lines: %q, want %q", n, got, want)
		}
	}
}

// A node joins only with the flags of fetch that decide what the crawl can fetch.
func TestNodesFetchAlike(t *testing.T) {
	first := &Settings{Cluster: Cluster{Crawl: "jazz"}, Strategy: "niche", Live: []string{"-allow-private", "-allow-port=81", "-allow-port=80", "-delay=1s", "-contact=a@b.c"}}
	dir := Dir(t.TempDir())
	if err := first.SaveShared(dir); err != nil {
		t.Fatal(err)
	}
	shared, err := dir.LoadSettings()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		live []string
		want string // "": it joins
	}{
		{[]string{"-allow-port=80", "-allow-port=81", "-allow-private"}, ""},
		{[]string{"-allow-port=80", "-allow-port=81", "-allow-private", "-delay=9s", "-proxy=http://p:1"}, ""},
		{[]string{"-allow-port=80", "-allow-port=81"}, "fetches with allow-private=on, and this node would with allow-private=default"},
		{[]string{"-allow-port=80", "-allow-private"}, "fetches with allow-port=80,81, and this node would with allow-port=80"},
		{[]string{"-allow-port=80", "-allow-port=81", "-allow-private", "-mime=text/html"}, "mime=default, and this node would with mime=text/html"},
		{nil, "allow-private"},
	} {
		node := &Settings{Live: test.live}
		err := node.Join(shared, map[string]bool{"live": true})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.live, err, test.want)
		}
		if err == nil && !slices.Equal(node.Live, test.live) {
			t.Errorf("a node with %s got %s", test.live, node.Live)
		}
	}
}
