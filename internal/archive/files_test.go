package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
)

// tree returns a directory with archives and other files.
func tree(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"sub", "none"} {
		testfile.Check(t, os.Mkdir(filepath.Join(dir, sub), 0o777))
	}
	for _, name := range []string{"b.warc", "a.warc.gz", "sub/c.warc.zst", "sub/g.wacz", "d.warc.gz.open", "e.txt", "a.warc.gz.cdxj", "a.captures", "f.arc", "f.arc.gz", "h[1].warc", "none/x.gz"} {
		fileOf(t, dir, filepath.FromSlash(name), nil)
	}
	return dir
}

func TestFiles(t *testing.T) {
	dir := tree(t)
	all := []string{"a.warc.gz", "b.warc", "d.warc.gz.open", "f.arc", "f.arc.gz", "h[1].warc", "sub/c.warc.zst", "sub/g.wacz"}
	for _, c := range []struct {
		names, want []string
	}{
		{[]string{"."}, all},
		{[]string{"b.warc", "."}, append([]string{"b.warc"}, append(append([]string{}, all[:1]...), all[2:]...)...)},
		{[]string{"*.warc"}, []string{"b.warc", "h[1].warc"}},
		{[]string{"*"}, nil}, // none/ holds no archives
		{[]string{"[a-f]*"}, all[:5]},
		{[]string{"s*"}, all[6:]},
		{[]string{"*/*.wacz", "?.arc"}, []string{"sub/g.wacz", "f.arc"}},
		{[]string{"h[1].warc"}, []string{"h[1].warc"}},                                 // a file of that very name
		{[]string{"a.captures", "a.warc.gz", "a.warc.gz.cdxj"}, []string{"a.warc.gz"}}, // dir/a*, expanded by the shell
		{[]string{"a.captures"}, []string{"a.captures"}},
		{[]string{"e.txt", "b.warc"}, []string{"e.txt", "b.warc"}},
		{[]string{"-", "b.warc", "-"}, []string{"-", "b.warc"}},
		{[]string{"*.zip"}, nil},
		{[]string{"[.warc"}, nil},
		{[]string{"none"}, nil},
		{[]string{"missing.warc"}, nil},
	} {
		var names []string
		for _, name := range c.names {
			if name != Input {
				name = dir + string(filepath.Separator) + filepath.FromSlash(name)
			}
			names = append(names, name)
		}
		files, err := Files(names)
		var got []string
		for _, name := range files {
			if rel, err := filepath.Rel(dir, name); err == nil && name != Input {
				name = filepath.ToSlash(rel)
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.want != nil) {
			t.Errorf("%q: %v %s", c.names, err, diff)
		}
	}
	for name, want := range map[string]string{"none": "no archives in", "*.zip": "no archives match", "missing.warc": "", "[.warc": "syntax error"} {
		_, err := Files([]string{filepath.Join(dir, name)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "missing.warc" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIndexNeedsRegularFile(t *testing.T) {
	if _, err := OpenReplay([]string{os.DevNull}, ReplayOptions{Index: IndexOptions{Beside: true}}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	for page, err := range All([]string{os.DevNull}, Filter{}, Limits{}) {
		t.Error(page, err)
	}
}

func TestFilesFollowsLinkToDirectory(t *testing.T) {
	dir := tree(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	want, err := Files([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{link, link + "*", link + string(filepath.Separator)} {
		files, err := Files([]string{name})
		if err != nil || len(files) != len(want) || files[0] != filepath.Join(link, "a.warc.gz") {
			t.Errorf("%s: %q, %v", name, files, err)
		}
	}
}
