package viewer

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"spoor/internal/run"
	"spoor/internal/testfile"
)

// A run that learns from examples has buttons for the pages of the last generation, which write the file of
// examples.
func TestNameExamples(t *testing.T) {
	r := newRun(t, t.TempDir()+"/deer")
	r.write(run.SettingsFile, "strategy forage\nseed 1\nsize 20\npages 100\nstage evolve evolve -strategy forage -examples x/generations -n 20\n")
	const page = "http://a.test/it's?a=1&b=2"
	r.generation(run.NewSummary(1), "", `{"v":1,"url":"`+page+`","status_code":200,"title":"A <b>deer</b>","score":0.5,"relevant":true}`+"\n"+
		`{"v":1,"url":"http://a.test/`+strings.Repeat("long", maxExample/4)+`","status_code":200,"title":"too long","score":0.4}`+"\n")
	server := start(t, Options{Dirs: []string{string(r.dir)}, Control: &Control{}})
	address := server.URL + "/run/deer/"
	_, _, body := get(t, "GET", address, nil)
	if n := strings.Count(body, `action="example"`); n != 1 {
		t.Errorf("%d pages can be named, want 1, in\n%s", n, body)
	}
	for _, want := range []string{`name="url" value="http://a.test/it&#39;s?a=1&amp;b=2"`, `More like this<span class="hidden">: A &lt;b&gt;deer&lt;/b&gt;</span>`, "Not this"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s:\n%s", want, body)
		}
	}
	for _, tt := range []struct {
		name, about, url string
		status           int
		file             string // afterwards
		shown            []string
	}{
		{"relevant", "yes", page, http.StatusSeeOther, "+ " + page + "\n", []string{"about the topic", "Not this", "Take back"}},
		{"irrelevant after all", "no", page, http.StatusSeeOther, "+ " + page + "\n- " + page + "\n", []string{"More like this", "not about it", "Take back"}},
		{"taken back", "undo", page, http.StatusSeeOther, "+ " + page + "\n- " + page + "\n= " + page + "\n", []string{"More like this", "Not this"}},
		{"no such button", "maybe", page, http.StatusBadRequest, "", nil},
		{"no page", "yes", "", http.StatusBadRequest, "", nil},
		{"no address", "yes", "file:///etc/passwd", http.StatusBadRequest, "", nil},
		{"two lines", "yes", page + "\n+ http://b.test/", http.StatusBadRequest, "", nil},
		{"too long", "yes", "http://a.test/" + strings.Repeat("x", maxExample), http.StatusBadRequest, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, _ := os.ReadFile(r.dir.Path(run.ExamplesFile))
			status, to, body := post(t, address+"example", nil, url.Values{"about": {tt.about}, "url": {tt.url}})
			if status != tt.status || status == http.StatusSeeOther && to != "/run/deer/#last" && to != "./#last" {
				t.Errorf("status %d, to %q, want %d: %s", status, to, tt.status, body)
			}
			want := tt.file
			if tt.status != http.StatusSeeOther {
				want = string(before)
			}
			if got := testfile.Read(t, r.dir.Path(run.ExamplesFile)); string(got) != want {
				t.Errorf("the file has %q, want %q", got, want)
			}
			_, _, body = get(t, "GET", address, nil)
			for _, want := range tt.shown {
				if !strings.Contains(body, want) {
					t.Errorf("the page has no %s:\n%s", want, body)
				}
			}
		})
	}

	// A line that somebody else is writing is not continued.
	r.write(run.ExamplesFile, "# mine")
	if status, _, _ := post(t, address+"example", nil, url.Values{"about": {"yes"}, "url": {page}}); status != http.StatusSeeOther {
		t.Errorf("status %d", status)
	}
	if got := testfile.Read(t, r.dir.Path(run.ExamplesFile)); string(got) != "# mine\n+ "+page+"\n" {
		t.Errorf("the file has %q", got)
	}

	// An example that no request can name has no button.
	r.write(run.ExamplesFile, "- http://a.test/\u202e\n- http://a.test/"+strings.Repeat("x", maxExample)+"\n+ "+page+"\n")
	sleep()
	if _, _, body := get(t, "GET", address, nil); strings.Count(body, `value="undo"`) != 2 || !strings.Contains(body, "http://a.test/xxx") || !strings.Contains(body, `value="http://a.test/%E2%80%AE"`) {
		t.Errorf("not two examples can be taken back:\n%s", body)
	}

	// The page says that the file cannot be read.
	testfile.Check(t, os.Remove(r.dir.Path(run.ExamplesFile)))
	testfile.Check(t, os.Mkdir(r.dir.Path(run.ExamplesFile), 0o777))
	for range 2 {
		sleep()
		if _, _, body := get(t, "GET", address, nil); !strings.Contains(body, "Some of this page is missing: examples cannot be read") {
			t.Errorf("a file that cannot be read is not mentioned:\n%s", body)
		}
	}

	// Neither a link nor a long file is written to.
	elsewhere := testfile.Write(t, t.TempDir()+"/elsewhere", "")
	testfile.Check(t, os.Remove(r.dir.Path(run.ExamplesFile)))
	testfile.Check(t, os.Symlink(elsewhere, r.dir.Path(run.ExamplesFile)))
	if status, _, _ := post(t, address+"example", nil, url.Values{"about": {"yes"}, "url": {page}}); status != http.StatusInternalServerError || len(testfile.Read(t, elsewhere)) > 0 {
		t.Errorf("through a link: status %d, %q", status, testfile.Read(t, elsewhere))
	}
	testfile.Check(t, os.Remove(r.dir.Path(run.ExamplesFile)))
	r.write(run.ExamplesFile, strings.Repeat("# long\n", run.MaxExamples/7+2))
	if status, _, _ := post(t, address+"example", nil, url.Values{"about": {"yes"}, "url": {page}}); status != http.StatusInternalServerError {
		t.Errorf("a long file: status %d", status)
	}
}

// There are no buttons where examples cannot be used.
func TestNoExamples(t *testing.T) {
	for _, tt := range []struct {
		name, settings string
		control        *Control
		status         int
	}{
		{"without control", "strategy forage\nstage evolve evolve -examples x -n 20\n", nil, http.StatusForbidden},
		{"another strategy", "strategy bestfirst\nstage evolve evolve -n 20\n", &Control{}, http.StatusConflict},
		{"evolve is replaced", "strategy forage\nreplaced evolve\nstage evolve evolve -examples x -n 20\n", &Control{}, http.StatusConflict},
		{"on several machines", "strategy forage\ncrawl big\nstage evolve evolve -window 20\n", &Control{}, http.StatusConflict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRun(t, t.TempDir()+"/deer")
			r.write(run.SettingsFile, tt.settings)
			r.generation(run.NewSummary(1), "", `{"v":1,"url":"http://a.test/","status_code":200,"title":"A deer","score":0.5}`+"\n")
			address := start(t, Options{Dirs: []string{string(r.dir)}, Control: tt.control}).URL + "/run/deer/"
			if _, _, body := get(t, "GET", address, nil); strings.Contains(body, "More like this") || !strings.Contains(body, "A deer") {
				t.Errorf("the page has buttons, or no page: %s", body)
			}
			if status, _, _ := post(t, address+"example", nil, url.Values{"about": {"yes"}, "url": {"http://a.test/"}}); status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			if _, err := os.Lstat(r.dir.Path(run.ExamplesFile)); err == nil {
				t.Error("there is a file of examples")
			}
		})
	}
}
