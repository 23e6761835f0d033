package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// makeNodes makes the files of nodes. A word is a generation of a partition, as "a/7/5!" for generation 5 of
// partition 7 on node a, which is committed because of the "!".
func makeNodes(t *testing.T, words string) (dirs Dirs) {
	t.Helper()
	root := t.TempDir()
	for word := range strings.FieldsSeq(words) {
		word, committed := strings.CutSuffix(word, "!")
		parts := strings.Split(word, "/")
		node := Dir(filepath.Join(root, parts[0]))
		if !slices.Contains(dirs, node) {
			dirs = append(dirs, node)
		}
		generation := filepath.Join(string(node), partitionsDir, pad(parts[1], 3), generations, pad(parts[2], 4))
		testfile.Write(t, filepath.Join(generation, Scored), "{}\n")
		if committed {
			testfile.Write(t, filepath.Join(generation, Stats), "{}\n")
		}
	}
	return dirs
}

func pad(number string, width int) string {
	return strings.Repeat("0", max(0, width-len(number))) + number
}

// listed returns generations as makeNodes takes them.
func listed(list []Generation) string {
	var words []string
	for _, g := range list {
		elem := strings.Split(filepath.ToSlash(g.Scored), "/")
		elem = elem[len(elem)-6:]
		word := elem[0] + "/" + strings.TrimLeft(elem[2][:2], "0") + elem[2][2:] + "/" + strings.TrimLeft(elem[4], "0")
		if g.committed() {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestNodesAreOneCrawl(t *testing.T) {
	for _, test := range []struct {
		name, files string
		partitions  string // in the settings of node a, if set
		want        string
		missing     []Missing
	}{
		{"one node", "a/1/2! a/0/2! a/0/1! a/1/1!", "2", "a/0/1! a/1/1! a/0/2! a/1/2!", nil},
		{
			"a partition has moved", "a/0/1! a/1/1! a/0/2! b/0/3! b/1/2! b/1/3!", "2",
			"a/0/1! a/1/1! a/0/2! b/1/2! b/0/3! b/1/3!", nil,
		},
		{"a generation was repeated", "a/0/1! a/0/2! b/0/2! b/0/3!", "1", "a/0/1! a/0/2! b/0/3!", nil},
		{"the repetition was committed", "a/0/1! a/0/2 b/0/2! c/0/2!", "1", "a/0/1! b/0/2!", nil},
		{"no repetition was committed", "a/0/1! a/0/2 b/0/2", "1", "a/0/1! a/0/2", nil},
		{"numbers are not words", "a/2/9! a/2/10! a/1000/9! a/1000/10!", "", "a/2/9! a/1000/9! a/2/10! a/1000/10!", []Missing{
			{"0-1,3-999", "1-10"}, {"2", "1-8"}, {"1000", "1-8"},
		}},
		{
			"gaps", "a/0/1! a/0/2! a/0/5! a/1/4! b/1/5! b/1/1! b/1/2!", "", "a/0/1! b/1/1! a/0/2! b/1/2! a/1/4! a/0/5! b/1/5!",
			[]Missing{{"0", "3-4"}, {"1", "3"}},
		},
		{"a disk was lost", "a/0/1! a/0/2! a/2/1! b/2/2! a/1/1!", "5", "a/0/1! a/1/1! a/2/1! a/0/2! b/2/2!", []Missing{{"3-4", "1-2"}, {"1", "2"}}},
		{"not committed anywhere", "a/0/1! a/1/1! a/1/2", "2", "a/0/1! a/1/1! a/1/2", nil},
		{"absurd numbers", "a/0/1! a/4096/1! a/0/9223372036854775807", "1000000000000", "a/0/1! a/0/9223372036854775807", []Missing{{"1-999999999999", "1"}}},
	} {
		dirs := makeNodes(t, test.files)
		if test.partitions != "" {
			testfile.Write(t, dirs[0].Path(SettingsFile), "crawl jazz\npartitions "+test.partitions+"\n")
		}
		list, missing, err := dirs.List()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := listed(list); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if !slices.Equal(missing, test.missing) {
			t.Errorf("%s: missing %q, want %q", test.name, missing, test.missing)
		}
	}
}

func TestOtherFilesOfANodeAreNoPartitions(t *testing.T) {
	dirs := makeNodes(t, "a/0/1! a/1/1! b/7/1! b/-01/1! b/+01/1! b/x/1!")
	for _, name := range []string{"p/notes", "p/002/settings", "generation", "warc/x"} {
		testfile.Write(t, dirs[0].Path(name), "")
	}
	list, missing, err := dirs.List()
	if got, want := listed(list), "a/0/1! a/1/1! b/7/1!"; got != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if want := []Missing{{"2-6", "1"}}; !slices.Equal(missing, want) {
		t.Errorf("missing %q, want %q", missing, want)
	}
}

func TestARunDirectoryIsNoNode(t *testing.T) {
	node := makeNodes(t, "a/0/1!")[0]
	if !node.IsNode() || node.PartitionDir(0).IsNode() || Dir(t.TempDir()).IsNode() {
		t.Error("IsNode is wrong")
	}
	testfile.Write(t, node.File(3, Scored), "{}\n") // a run directory of its own, which happens to have a directory p
	list, missing, err := Dirs{node}.List()
	if len(list) != 1 || list[0].Number != 3 || missing != nil || err != nil || node.IsNode() {
		t.Errorf("%v, %v, %v", list, missing, err)
	}
}

func TestNodesOfDifferentCrawls(t *testing.T) {
	root := t.TempDir()
	a, b := Dir(filepath.Join(root, "a")), Dir(filepath.Join(root, "b\n\x1b[31mc"))
	for _, d := range []Dir{a, b} {
		if err := os.MkdirAll(d.Path(partitionsDir), 0o777); err != nil {
			t.Skip(err) // not every system has such names
		}
	}
	testfile.Write(t, a.Path(SettingsFile), "crawl jazz\nnode a\narchive /a.warc\nlive -contact=a\n")
	testfile.Write(t, b.Path(SettingsFile), "crawl jazz\nnode b\narchive /b.warc\nlive -contact=b\n")
	if list, missing, err := (Dirs{a, b}).List(); list != nil || missing != nil || err != nil {
		t.Errorf("%v, %v, %v", list, missing, err)
	}
	testfile.Write(t, b.Path(SettingsFile), "crawl blues\n")
	_, _, err := Dirs{a, b}.List()
	if err == nil || !strings.HasSuffix(err.Error(), `b\n\u001b[31mc are not nodes of the same crawl: crawl was jazz and is blues`) {
		t.Errorf("%v", err)
	}
}

func TestFilesOfNodesComeBeforeThoseOfPartitions(t *testing.T) {
	dirs := makeNodes(t, "a/1/1! a/0/1! b/0/2!")
	find := func(want string) {
		t.Helper()
		if got := dirs.Find(Topic); got != filepath.Join(filepath.Dir(string(dirs[0])), filepath.FromSlash(want)) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	find("a/topic.json")
	testfile.Write(t, dirs[0].PartitionDir(1).Path(Topic), "")
	find("a/p/001/topic.json")
	testfile.Write(t, dirs[1].PartitionDir(0).Path(Topic), "")
	find("b/p/000/topic.json")
	testfile.Write(t, dirs[1].Path(Topic), "")
	find("b/topic.json")
	if n := len(dirs.Files(Topic)); n != 3 {
		t.Errorf("%d files, want 3", n)
	}
}
