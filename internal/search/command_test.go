package search

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func shell(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("no shell here: %v", err)
	}
}

func TestCommand(t *testing.T) {
	shell(t)
	for _, c := range []struct {
		name, line string
		want       []string
	}{
		{"addresses", "echo http://a.example; echo; echo HTTP://B.example/x/../y", []string{"http://a.example/", "http://b.example/y"}},
		{"records", `echo '{"v":1,"url":"http://a.example/","title":"A"}'`, []string{"http://a.example/"}},
		{"neither", `printf '{"url":\nno\n{"query":"x"}\nmailto:a@b.example\n[]\n{"url":7}\n{"url":"http://a.example/"}'`, []string{"http://a.example/"}},
		{"byte order mark", `printf '\357\273\277http://a.example\n'`, []string{"http://a.example/"}},
		{"nothing", "true", nil},
		{"too many", "for i in 1 2 3 4 5; do echo http://x.example/$i; done", []string{"http://x.example/1", "http://x.example/2", "http://x.example/3"}},
		{"one twice", "echo http://x.example/#a; echo http://x.example/#b", []string{"http://x.example/"}},
		{"the query", `read -r line; case $line in '{"v":1,"query":"a \"b\" c","results":3}') echo http://yes.example/;; *) echo "$line" >&2; exit 1;; esac`, []string{"http://yes.example/"}},
		{"many words", "head -c 20000000 /dev/zero >&2; echo http://a.example/", []string{"http://a.example/"}},
		{"unread", "exec <&-; echo http://a.example/", []string{"http://a.example/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Command{Line: c.line, Timeout: time.Minute, Pace: NewPace(0)}
			got, err := s.Search(t.Context(), `a "b" c`, 3)
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Error(err, d)
			}
		})
	}
}

func TestFailingCommand(t *testing.T) {
	shell(t)
	for _, c := range []struct {
		line, want string
		setup      bool
	}{
		{"echo http://a.example/; echo one >&2; echo the database is gone >&2; exit 3", "exit status 3: the database is gone", false},
		{"exit 1", "exit status 1", false},
		{"this-is-no-command", "exit status 127", true},
		{"yes http://x.example/", "more than 8 MiB", false},
		{"exec sleep 60", "did not answer within 50ms", false},
	} {
		timeout := time.Minute
		if strings.Contains(c.line, "sleep") {
			timeout = 50 * time.Millisecond
		}
		s := &Command{Line: c.line, Timeout: timeout, Pace: NewPace(0)}
		got, err := s.Search(t.Context(), "q", 3)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want %q", c.line, got, err, c.want)
		}
		if setup := errors.As(err, new(*SetupError)); setup != c.setup {
			t.Errorf("%s: %v: a matter of setup: %v", c.line, err, setup)
		}
	}
}

// counting is a source that counts its queries.
type counting struct {
	name  string
	asked int
	err   error
}

func (c *counting) Name() string { return c.name }

func (c *counting) Search(_ context.Context, query string, n int) ([]string, error) {
	c.asked++
	if c.err != nil {
		return nil, c.err
	}
	urls := []string{"http://x.example/1", "http://x.example/2", "http://x.example/3"}
	return urls[:min(n, len(urls))], nil
}

func TestCache(t *testing.T) {
	name := filepath.Join(t.TempDir(), "answers.db")
	one, other := &counting{name: "one"}, &counting{name: "other"}
	for _, c := range []struct {
		what   string
		source *counting
		query  string
		n      int
		asked  int // of the source, then
		err    error
	}{
		{"a failure", one, "q", 2, 1, errors.New("down")},
		{"the first time", one, "q", 2, 2, nil},
		{"again", one, "q", 2, 2, errors.New("down")},
		{"less of it", one, "q", 1, 2, nil},
		{"more of it", one, "q", 5, 3, nil},
		{"that again", one, "q", 4, 3, nil},
		{"another query", one, "Q", 2, 4, nil},
		{"another source", other, "q", 2, 1, nil},
	} {
		cache, err := OpenCache(name) // as another process
		if err != nil {
			t.Fatal(err)
		}
		c.source.err = c.err
		got, err := cache.Of(c.source).Search(t.Context(), c.query, c.n)
		if c.source.asked != c.asked {
			t.Errorf("%s: asked %d times", c.what, c.source.asked)
		}
		if err == nil && len(got) != min(c.n, 3) {
			t.Errorf("%s: %q", c.what, got)
		}
		cache.Close()
	}
}

func TestCacheInMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	source := &counting{name: "s"}
	for want := 1; want <= 2; want++ {
		cache := openCache(t, "")
		for range 2 {
			if _, err := cache.Of(source).Search(t.Context(), "q", 1); err != nil {
				t.Fatal(err)
			}
		}
		cache.Close()
		if source.asked != want {
			t.Errorf("asked %d times, want %d", source.asked, want)
		}
	}
	if left, err := filepath.Glob("*"); len(left) > 0 || err != nil {
		t.Errorf("left behind: %q", left)
	}
}
