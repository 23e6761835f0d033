package run

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// A run directory may come from somebody else: no file of it may lead elsewhere.
func TestAPreparedLinkIsNotWrittenThrough(t *testing.T) {
	for _, name := range []string{
		LogFile, StagesLog, nowFile, nowFile + partSuffix, stepFile, endedFile, lockFile, loopFile, jobsFile, totalsFile, "report.lock", "search.db", "search.db.lock",
		"evolve/journal", "frontier/lock", "frontier/00000001.log", "fetch/lock", "warc/crawl.captures",
		"generations/0001/" + Scored + partSuffix, "generations/0001", "generations", "evolve", "frontier", "warc",
	} {
		t.Run(name, func(t *testing.T) {
			d := Dir(t.TempDir())
			outside := t.TempDir()
			elsewhere := filepath.Join(outside, "elsewhere")
			testfile.Write(t, elsewhere, "mine")
			testfile.Check(t, os.MkdirAll(filepath.Dir(d.Path(name)), 0o777))
			if err := os.Symlink(elsewhere, d.Path(name)); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
			_, err := new(Opener).Open(t.Context(), &Request{Dir: d, Topic: "topic.json", Seeds: "seeds.txt"})
			if err == nil || !strings.Contains(err.Error(), d.Path(name)+" is a symbolic link") {
				t.Errorf("got error %v", err)
			}
			if got, err := os.ReadFile(elsewhere); err != nil || string(got) != "mine" {
				t.Errorf("the file elsewhere holds %q, %v", got, err)
			}
			if files, err := os.ReadDir(outside); err != nil || len(files) != 1 {
				t.Errorf("the directory elsewhere holds %v, %v", files, err)
			}
		})
	}
}

// The commands run next, keep, stage and serve may be called without run open.
func TestFilesOfTheRunAreOpenedWithoutFollowingLinks(t *testing.T) {
	for name, write := range map[string]func(d Dir) error{
		LogFile:               func(d Dir) error { return d.appendTo(LogFile, []byte("{}\n")) },
		StagesLog:             func(d Dir) error { return d.appendTo(StagesLog, []byte("words\n")) },
		nowFile + partSuffix:  func(d Dir) error { return d.replace(nowFile, "step=evolve\n") },
		stepFile + partSuffix: func(d Dir) error { return new(now).save(d) },
		endedFile:             func(d Dir) error { return d.NoteEnd("keep", 0, "1 1") },
		endFile:               func(d Dir) error { return d.overwrite(endFile, EndPages) },
		lockFile: func(d Dir) error {
			hold, err := d.Hold()
			if err == nil {
				hold.Close()
			}
			return err
		},
	} {
		d, elsewhere := Dir(t.TempDir()), filepath.Join(t.TempDir(), "elsewhere")
		testfile.Write(t, elsewhere, "mine")
		if err := os.Symlink(elsewhere, d.Path(name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		if err := write(d); err == nil {
			t.Errorf("%s: no error", name)
		}
		if got, err := os.ReadFile(elsewhere); err != nil || string(got) != "mine" {
			t.Errorf("%s: the file elsewhere holds %q, %v", name, got, err)
		}
	}
	// A crawl that cannot note that it waits goes on.
	d, elsewhere := Dir(t.TempDir()), filepath.Join(t.TempDir(), "elsewhere")
	testfile.Write(t, elsewhere, "mine")
	testfile.Check(t, os.Symlink(elsewhere, d.Path(waitFile)))
	var log bytes.Buffer
	(&Crawl{Dir: d, View: &View{Out: io.Discard}, Totals: NewTotals(), Log: slog.New(slog.NewTextHandler(&log, nil))}).wait(time.Now())
	if got, err := os.ReadFile(elsewhere); err != nil || string(got) != "mine" || !strings.Contains(log.String(), waitFile) {
		t.Errorf("the file elsewhere holds %q, %v; the message is %s", got, err, &log)
	}
	// A link that is replaced as a whole is harmless.
	d, elsewhere = Dir(t.TempDir()), filepath.Join(t.TempDir(), "elsewhere")
	testfile.Write(t, elsewhere, "mine")
	testfile.Check(t, os.Symlink(elsewhere, d.Path(nowFile)))
	if err := d.replace(nowFile, "step=evolve\n"); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(d.Path(nowFile)); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		t.Errorf("now is still a link: %v, %v", info, err)
	}
	if got, _ := os.ReadFile(elsewhere); string(got) != "mine" {
		t.Errorf("the file elsewhere holds %q", got)
	}
}

// The links of a directory that is not part of the run stay the user's business.
func TestOtherLinksInARunDirectoryAreIgnored(t *testing.T) {
	d := Dir(t.TempDir())
	if err := os.Symlink("nowhere", d.Path("notes")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := d.requirePlainFiles(); err != nil {
		t.Error(err)
	}
}

// Addresses may have passwords.
func TestACopyIsAsSecretAsTheFile(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o400, 0o640, 0o604} {
		dir := t.TempDir()
		name := filepath.Join(dir, "seeds")
		testfile.Check(t, os.WriteFile(name, []byte("http://user:password@a.example/\n"), mode))
		was, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if was.Mode().Perm() != mode {
			t.Skipf("files have other modes here: %v for %v", was.Mode(), mode)
		}
		from := testfile.Open(t, name)
		to, err := os.Create(filepath.Join(dir, "copy"))
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		if err := copySecret(to, from); err != nil {
			t.Fatal(err)
		}
		is, err := to.Stat()
		if err != nil || is.Mode().Perm() != 0o600 || is.Size() != was.Size() {
			t.Errorf("%v: the copy has %v and %d bytes, %v", mode, is.Mode(), is.Size(), err)
		}
	}
}

func TestChooseForm(t *testing.T) {
	unable := errors.New("the command of the stage evolve is run once for each generation")
	for _, test := range []struct {
		form    string
		cluster bool
		unable  error
		known   bool
		steady  bool
		err     string
	}{
		{form: "", known: true, steady: true},
		{form: "", known: false},
		{form: "", unable: unable, known: true},
		{form: FormLoop, known: true},
		{form: FormSteady, known: false, steady: true},
		{form: FormSteady, unable: unable, known: true, err: "omit -steady"},
		{form: FormLoop, cluster: true, known: true, steady: true},
		{form: "", cluster: true, known: true, steady: true},
		{form: "", cluster: true, unable: unable, known: true, err: "-cluster keeps all stages running"},
	} {
		s := &Settings{Form: test.form}
		if test.cluster {
			s.Crawl = "jazz"
		}
		err := s.chooseForm(test.unable, test.known)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%+v: error %v", test, err)
		}
		if err == nil && s.Steady != test.steady {
			t.Errorf("%+v: steady is %t", test, s.Steady)
		}
	}
}
