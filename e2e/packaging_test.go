package e2e

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"spoor/internal/measure"
	"spoor/internal/testfile"
)

// flagsOf returns the flags that a command lists for -help=all.
func flagsOf(t *testing.T, command string, args ...string) (flags []string) {
	t.Helper()
	out, err := exec.Command(command, append(args, "-help=all")...).Output()
	if err != nil {
		t.Fatalf("%s %q -help=all: %v", command, args, err)
	}
	_, list, _ := strings.Cut(string(out), "\n# Flags\n")
	for _, m := range regexp.MustCompile(`(?m)^  -(\S+)`).FindAllStringSubmatch(list, -1) {
		flags = append(flags, m[1])
	}
	if len(flags) == 0 {
		t.Errorf("%s %q -help=all lists no flags", command, args)
	}
	return flags
}

func TestManualsAndCompletionsHaveAllFlags(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is for bash")
	}
	if out, err := exec.Command("go", "tool", "-modfile="+inRoot("internal", "tools", "go.mod"), "-n", "go-md2man").CombinedOutput(); err != nil {
		need(t, "go-md2man: "+string(out))
	}
	bin := build(t)
	dir := t.TempDir()
	script := func(args ...string) (string, error) {
		cmd := exec.Command(inRoot("scripts", "package"), append(args, bin)...)
		cmd.Env = append(os.Environ(), "PROGRAM_PREFIX=x-", "FORCE=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := script("install", dir); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	read := func(elem ...string) string {
		b, err := os.ReadFile(filepath.Join(append([]string{dir, "share"}, elem...)...))
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}

	subcommands := map[string]string{
		"frontier": "add next serve stats skipped export import reprioritise forget lineage compact check",
		"warc":     "ls cat index verify repair pack",
		"judge":    "overlap published table",
		"exchange": "create pass restore hold files status",
	}
	commands, err := os.ReadDir(inRoot("cmd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range commands {
		command, name, args := filepath.Join(dir, "bin", "x-"+e.Name()), e.Name(), []string(nil)
		switch name {
		case "internal", "spoor":
			continue
		case "run": // prints the manual of crawl
			command = filepath.Join(dir, "libexec", "spoor", "x-run")
			name, args = "crawl", []string{"open", "crawl"}
		}
		completions := map[string]string{
			"bash": read("bash-completion", "completions", "x-"+name),
			"zsh":  read("zsh", "site-functions", "_x-"+name),
			"fish": read("fish", "vendor_completions.d", "x-"+name+".fish"),
		}
		check := func(page string, flags []string) {
			manual := read("man", "man1", page+".1")
			for _, f := range flags {
				for where, found := range map[string]bool{
					page + ".1": strings.Contains(manual, `\fB-`+f+`\fP`),
					"bash":      regexp.MustCompile(`[' ]-` + f + `[' ]`).MatchString(completions["bash"]),
					"zsh":       strings.Contains(completions["zsh"], `'*-`+f+`[`),
					"fish":      strings.Contains(completions["fish"], ` -o `+f+` `),
				} {
					if !found {
						t.Errorf("%s: the flag -%s is not in %s", page, f, where)
					}
				}
			}
		}
		check("x-"+name, flagsOf(t, command, args...))
		if help, err := exec.Command(command, append(args, "-h")...).Output(); err != nil || strings.Contains(string(help), "go doc") {
			t.Errorf("%s -h: %v, or it refers to the source: %s", command, err, help)
		}
		for sub := range strings.FieldsSeq(subcommands[name]) {
			check("x-"+name+"-"+sub, flagsOf(t, command, sub))
			for shell, text := range completions {
				if !regexp.MustCompile(`\b` + sub + `\b`).MatchString(text) {
					t.Errorf("%s: %s is not completed in %s", name, sub, shell)
				}
			}
		}
	}

	pages, err := filepath.Glob(filepath.Join(dir, "share", "man", "man?", "*"))
	if err != nil || len(pages) == 0 {
		t.Errorf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if text, err := os.ReadFile(page); err != nil || regexp.MustCompile(`go\s+doc`).Match(text) {
			t.Errorf("%s: %v, or it refers to the source", filepath.Base(page), err)
		}
	}

	t.Run("render", func(t *testing.T) { renderManuals(t, filepath.Join(dir, "share", "man")) })
	t.Run("bash", func(t *testing.T) { completeInBash(t, dir) })
	t.Run("libexec", func(t *testing.T) { startLibexec(t, dir) })
	t.Run("uninstall", func(t *testing.T) {
		skipShort(t, "it installs a second time")
		// Installing again repairs what is missing, and removes what is no longer installed.
		obsolete, changed := filepath.Join(dir, "bin", "x-obsolete"), filepath.Join(dir, "bin", "x-warc")
		list, err := os.ReadFile(filepath.Join(dir, "share", "spoor", "installed"))
		if err := errors.Join(err, os.Remove(changed), os.Symlink("spoor", obsolete),
			os.WriteFile(filepath.Join(dir, "share", "spoor", "installed"), append(list, "-> spoor bin/x-obsolete\n"...), 0o666)); err != nil {
			t.Fatal(err)
		}
		out, err := script("install", dir)
		if _, there := os.Lstat(obsolete); err != nil || there == nil {
			t.Fatalf("installed again: %v\n%s", err, out)
		}
		// Files of others are neither overwritten nor removed.
		if err := errors.Join(os.Remove(changed), os.WriteFile(changed, []byte("another's"), 0o666)); err != nil {
			t.Fatal(err)
		}
		out, err = script("install", dir)
		if err == nil || !strings.Contains(out, ":\n  "+changed+"\nhint: ") {
			t.Errorf("installed over %s: %v\n%s", changed, err, out)
		}
		out, err = script("uninstall", dir)
		left, _ := exec.Command("find", dir, "!", "-type", "d").Output()
		if err != nil || string(left) != changed+"\n" || !strings.Contains(out, "changed: "+changed+"\n") {
			t.Errorf("left: %s, %v\n%s", left, err, out)
		}
		if out, err := script("uninstall", dir); err == nil {
			t.Errorf("uninstalled twice: %s", out)
		}
	})
}

// startLibexec tests that the loop of an installed crawl starts the programs in libexec.
func startLibexec(t *testing.T, dir string) {
	program := filepath.Join(dir, "libexec", "spoor", "x-run")
	real, err := os.ReadFile(program)
	if err := errors.Join(err, os.Remove(program), os.WriteFile(program, []byte("#!/bin/sh\necho loop: $1\nexit 4\n"), 0o777)); err != nil {
		t.Fatal(err)
	}
	crawl := exec.Command(filepath.Join(dir, "bin", "x-crawl"), "-run", t.TempDir(), "-topic", "jazz music", "-allow-private", "http://127.0.0.1:1/")
	crawl.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PROGRAM_PREFIX=") }) // make sets it
	if out, err := crawl.CombinedOutput(); err != nil || !strings.Contains(string(out), "loop: next\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if err := errors.Join(os.Remove(program), os.WriteFile(program, real, 0o777)); err != nil {
		t.Fatal(err)
	}
}

// The Debian package has what its units name, and is the same when it is made again.
func TestDebianPackage(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles all commands")
	}
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		need(t, "dpkg-deb")
	}
	path := t.TempDir() // xz would take a minute
	testfile.Check(t, os.WriteFile(filepath.Join(path, "dpkg-deb"), []byte("#!/usr/bin/env bash\nexec "+dpkg+` "${@/#-Zxz/-Znone}"`+"\n"), 0o777))
	if out, err := exec.Command("go", "tool", "-modfile="+inRoot("internal", "tools", "go.mod"), "-n", "go-md2man").CombinedOutput(); err != nil {
		need(t, "go-md2man: "+string(out))
	}
	made := func() string {
		dir := t.TempDir()
		pack := exec.Command(inRoot("scripts", "package"), "deb", dir)
		pack.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := pack.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		found, err := filepath.Glob(filepath.Join(dir, "spoor_*.deb"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%q, %v", found, err)
		}
		return found[0]
	}
	one, two := made(), made()
	if out, err := exec.Command("cmp", one, two).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	list, err := exec.Command("dpkg-deb", "--contents", one).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(documents(t), "copyright") {
		if name != "CONTRIBUTING.md" && !strings.Contains(string(list), " ./usr/share/doc/spoor/"+name+"\n") {
			t.Errorf("%s is missing", name)
		}
	}
	if !regexp.MustCompile(`(?m)^drwxr-xr-x root/root .* \./etc/spoor/$`).Match(list) {
		t.Error("/etc/spoor is missing")
	}
	unit := testfile.Read(t, inRoot("internal", "packaging", "systemd", "spoor@.service"))
	for _, name := range regexp.MustCompile(`/usr/\S+`).FindAllString(string(unit), -1) {
		if !strings.Contains(string(list), " ."+name+"\n") && !strings.Contains(string(list), " ."+name+" -> spoor\n") {
			t.Errorf("the unit names %s, which is missing", name)
		}
	}
}

// systemd accepts the units, with the commands in another directory.
func TestUnitsAreValid(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systemd is for Linux")
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		need(t, "systemd-analyze")
	}
	bin := build(t)
	dir := t.TempDir()
	verify := exec.Command("systemd-analyze", "verify", "--man=no")
	for _, name := range []string{"spoor@.service", "spoor-metrics.service", "spoor-metrics.timer"} {
		b := testfile.Read(t, inRoot("internal", "packaging", "systemd", name))
		text := strings.NewReplacer("/usr/bin/spoor-crawl", inRoot("scripts", "crawl"), "/usr/bin/spoor-", bin+"/").Replace(string(b))
		testfile.Write(t, filepath.Join(dir, name), text)
		verify.Args = append(verify.Args, filepath.Join(dir, strings.Replace(name, "@.", "@jazz.", 1)))
	}
	testfile.Check(t, os.Symlink("spoor@.service", filepath.Join(dir, "spoor@jazz.service")))
	if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// requests are the roff requests and macros that go-md2man writes. Text that begins a line with a
// dot or a quote must be escaped, or else it is lost.
var requests = regexp.MustCompile(`^\.(TH|SH|PP|TP|EX|EE|RS|RE|nh|IP|br)\b|^[^.']|^$`)

func renderManuals(t *testing.T, dir string) {
	pages, err := filepath.Glob(filepath.Join(dir, "man?", "*"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	_, missing := exec.LookPath("man")
	for i, page := range pages {
		b := testfile.Read(t, page)
		for line := range strings.Lines(string(b)) {
			if !requests.MatchString(strings.TrimRight(line, "\n")) {
				t.Errorf("%s: the line %q is a request", filepath.Base(page), line)
			}
		}
		if missing == nil && (!testing.Short() || i%8 == 0) {
			man := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page)
			man.Env = append(os.Environ(), "MANROFFSEQ=")
			var warnings strings.Builder
			man.Stderr = &warnings
			if err := man.Run(); err != nil || warnings.Len() > 0 {
				t.Errorf("%s: %v\n%s", filepath.Base(page), err, warnings.String())
			}
		}
	}
	if missing != nil {
		t.Skip("man is not installed: the pages were not rendered")
	}
}

// completeInBash asks the completions of bash for words.
func completeInBash(t *testing.T, dir string) {
	for line, want := range map[string]map[string]bool{
		"x-evolve -strat":           {"-strategy": true, "-strategies": true},
		"x-evolve -strategy brea":   {"breadthfirst": true},
		"x-crawl -strategy for":     {"forage": true},
		"x-frontier re":             {"reprioritise": true},
		"x-frontier check -re":      {"-repair": true},
		"x-exchange c":              {"create": true},
		"x-warc ver":                {"verify": true},
		"x-warc verify some":        {},
		"x-score -topic x -fitness": {"-fitness": true},
		"spoor war":                 {"warc": true},
		"spoor warc ver":            {"verify": true},
		"spoor frontier check -re":  {"-repair": true},
		"spoor crawl -strategy for": {"forage": true},
	} {
		if got := completed(t, dir, strings.Fields(line)); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	if got := completed(t, dir, []string{"x-score", "-fitness", ""}); !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(slices.Values(measure.Names()))) {
		t.Errorf("measures: %v", got)
	}
}

// completed returns what bash completes the last word to.
func completed(t *testing.T, dir string, words []string) map[string]bool {
	t.Helper()
	script := `source "$1/share/bash-completion/completions/$2" && shift &&
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && f=$(complete -p "$1") && f=${f##*-F } && f=${f%% *} &&
{ "$f" "$1" "${@: -1}" "${@: -2:1}" || true; } && printf '%s\n' "${COMPREPLY[@]}"`
	cmd := exec.Command("bash", append([]string{"-euc", script, "bash", dir}, words...)...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v\n%s", words, err, out)
	}
	got := map[string]bool{}
	for w := range strings.FieldsSeq(string(out)) {
		got[w] = true
	}
	return got
}
