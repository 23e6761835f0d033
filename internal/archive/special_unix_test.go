//go:build unix

package archive

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"spoor/internal/testfile"
)

// mkfifo creates a named pipe.
func mkfifo(t *testing.T, name string) string {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Skip(err)
	}
	return name
}

// oneArchive returns a directory with an archive, and its name.
func oneArchive(t *testing.T) (dir, name string) {
	dir = t.TempDir()
	return dir, fileOf(t, dir, "a.warc", []byte(record("resource", "http://a/", old, "hello", "Content-Type", "text/html")))
}

func TestAPipeInADirectoryOrPatternIsAnErrorWithItsName(t *testing.T) {
	dir, _ := oneArchive(t)
	pipe := mkfifo(t, filepath.Join(dir, "b.warc.gz"))
	link := filepath.Join(dir, "c.warc.gz")
	testfile.Check(t, os.Symlink(os.DevNull, link))
	for _, names := range [][]string{{dir}, {filepath.Join(dir, "*")}, {filepath.Join(dir, "b.*")}} {
		_, err := Files(names)
		if err == nil || !strings.Contains(err.Error(), pipe+" is a named pipe") {
			t.Errorf("%s: %v", names, err)
		}
	}
	os.Remove(pipe)
	if _, err := Files([]string{dir}); err == nil || !strings.Contains(err.Error(), link+" is a device") {
		t.Error(err)
	}
	if files, err := Files([]string{link}); err != nil || len(files) != 1 {
		t.Errorf("a device that is named: %q, %v", files, err)
	}
}

func TestAFileThatBecameAPipeAfterItWasExaminedIsNotWaitedFor(t *testing.T) {
	pipe := mkfifo(t, filepath.Join(t.TempDir(), "a.warc.gz"))
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE} {
		if _, err := openFile(pipe, flag); err == nil || !strings.Contains(err.Error(), pipe+": it is a named pipe") {
			t.Error(err)
		}
	}
}

func TestAPipeInPlaceOfAnIndexIsReplaced(t *testing.T) {
	_, name := oneArchive(t)
	mkfifo(t, name+indexSuffix)
	for range 2 {
		r := replay(t, name)
		if page, err := r.Fetch("http://a/"); err != nil || string(page.Body) != "hello" {
			t.Error(page, err)
		}
		r.Close()
	}
	mkfifo(t, name+indexSuffix+".part")
	os.Remove(name + indexSuffix)
	r := replay(t, name)
	if !r.Has("http://a/") || r.archives[0].Path != "" {
		t.Error("the index is not in memory")
	}
	r.Close()
}

func TestLinksThatLeadNowhereAndDirectoriesCalledLikeArchivesDoNotHideTheOthers(t *testing.T) {
	dir, name := oneArchive(t)
	testfile.Check(t, os.Symlink("loop.warc", filepath.Join(dir, "loop.warc")))
	testfile.Check(t, os.Mkdir(filepath.Join(dir, "x.warc.gz"), 0o777))
	testfile.Check(t, os.Symlink("x.warc.gz", filepath.Join(dir, "y.warc.gz")))
	pages, failed := 0, map[string]bool{}
	for v, err := range Volumes([]string{dir}, nil) {
		if err != nil {
			if failed[filepath.Base(v.Path)] = true; !strings.Contains(err.Error(), v.Path) {
				t.Errorf("%s: %v", v.Path, err)
			}
			continue
		}
		if pages++; v.Path != name {
			t.Error(v.Path)
		}
	}
	if pages != 1 || len(failed) != 2 || !failed["loop.warc"] || !failed["y.warc.gz"] {
		t.Errorf("%d volumes, failed: %v", pages, failed)
	}
}

// The pipe takes the place of the second archive while the first one is read.
func TestAFileThatBecameAPipeAfterItsDirectoryWasReadIsNotWaitedFor(t *testing.T) {
	dir, name := oneArchive(t)
	second := filepath.Join(dir, "b.warc")
	replace := func() {
		os.Remove(second)
		mkfifo(t, second)
	}
	read := map[string]func() (errs []error){
		"Volumes": func() (errs []error) {
			for _, err := range Volumes([]string{dir}, nil) {
				replace()
				errs = append(errs, err)
			}
			return errs
		},
		"All": func() (errs []error) {
			for _, err := range All([]string{dir}, Filter{}, Limits{}) {
				replace()
				errs = append(errs, err)
			}
			return errs
		},
	}
	for what, f := range read {
		os.Remove(second)
		if err := os.Link(name, second); err != nil {
			t.Skip(err)
		}
		if errs := f(); len(errs) != 2 || errs[0] != nil || errs[1] == nil || !strings.Contains(errs[1].Error(), second+": it is a named pipe") {
			t.Errorf("%s: %v", what, errs)
		}
	}
}

func TestAPipeThatIsNamedIsReadToItsEnd(t *testing.T) {
	_, name := oneArchive(t)
	data := must(os.ReadFile(name))
	pipe := mkfifo(t, filepath.Join(t.TempDir(), "p.warc"))
	go os.WriteFile(pipe, data, 0)
	pages := 0
	for page, err := range All([]string{pipe}, Filter{}, Limits{}) {
		if pages++; err != nil || string(page.Body) != "hello" {
			t.Error(page, err)
		}
	}
	if pages != 1 {
		t.Error(pages)
	}
	go os.WriteFile(pipe, data, 0)
	v := Verifier{Report: func(f Finding) { t.Log(f) }}
	if err := v.Archive(pipe, nil); err != nil || v.Records != 1 {
		t.Error(v.Records, err)
	}
}

// TestAnIndexThatIsTruncatedWhileItIsReadIsBuiltAgain would end the process without the recovery.
func TestAnIndexThatIsTruncatedWhileItIsReadIsBuiltAgain(t *testing.T) {
	for _, size := range []int64{0, 300} {
		truncateIndex(t, size)
	}
}

func truncateIndex(t *testing.T, size int64) {
	_, name := oneArchive(t)
	var faults []string
	r := replayWith(t, ReplayOptions{Index: IndexOptions{Beside: true, Report: func(_ string, err error) { faults = append(faults, err.Error()) }}}, name)
	testfile.Check(t, os.Truncate(name+indexSuffix, size))
	for range 2 {
		if page, err := r.Fetch("http://a/"); err != nil || string(page.Body) != "hello" {
			t.Error(page, err)
		}
		if !r.Has("http://a/") || r.Has("http://b/") {
			t.Error("other pages than before")
		}
	}
	if len(faults) != 1 || !strings.Contains(faults[0], name+indexSuffix+": it was truncated while it was read") {
		t.Errorf("%q", faults)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestAnIndexThatIsTruncatedAfterItsArchiveWasRemovedIsAnError(t *testing.T) {
	_, name := oneArchive(t)
	var faults []string
	r := replayWith(t, ReplayOptions{Index: IndexOptions{Beside: true, Report: func(_ string, err error) { faults = append(faults, err.Error()) }}}, name)
	os.Remove(name)
	testfile.Check(t, os.Truncate(name+indexSuffix, 0))
	if r.Has("http://a/") {
		t.Error("a page without index")
	}
	if err := r.Close(); err == nil || len(faults) != 2 || !strings.Contains(err.Error(), name) {
		t.Errorf("%v, %q", err, faults)
	}
}
