package crawler

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/archive"
	"spoor/internal/polite"
)

func TestResources(t *testing.T) {
	var got http.Header
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/data", http.StatusFound)
		case "/large":
			w.Write(make([]byte, 1<<20))
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"a":1}`))
		}
	})
	prefix := filepath.Join(t.TempDir(), "x")
	c, err := Open(t.Context(), options(loopback, maxBody(1000), warcTo(prefix)))
	if err != nil {
		t.Fatal(err)
	}
	load := func(path string) (*Resource, error) {
		return c.LoadResource(t.Context(), site.URL+path, "http://page.example/", http.Header{"Accept": {"application/json"}, "X-Key": {"k"}})
	}
	r, err := load("/data")
	if err != nil || r.StatusCode != 200 || string(r.Body) != `{"a":1}` || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v, %v", r, err)
	}
	if got.Get("Accept") != "application/json" || got.Get("X-Key") != "k" || !strings.HasPrefix(got.Get("User-Agent"), "spoor") {
		t.Errorf("the request has %v", got)
	}
	if r, err = load("/moved"); err != nil || r.StatusCode != 302 || r.Header.Get("Location") != "/data" {
		t.Errorf("a redirect: %+v, %v", r, err)
	}
	if _, err = load("/large"); err == nil {
		t.Error("a response beyond -max-body is taken")
	}
	for _, address := range []string{"http://169.254.169.254/latest/", "http://127.0.0.1:22/", "ftp://a.example/"} {
		if _, err := c.LoadResource(t.Context(), address, "", nil); err == nil {
			t.Errorf("%s is requested", address)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(prefix + "*.warc.gz")
	if info, err := os.Stat(files[0]); len(files) != 1 || err != nil || info.Size() == 0 {
		t.Errorf("WARC files %q, %v", files, err)
	}
	replay, err := archive.OpenReplay(files, archive.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer replay.Close()
	if r, err := ArchivedResource(replay, site.URL+"/moved"); err != nil || string(r.Body) != `{"a":1}` {
		t.Errorf("from the archive: %+v, %v", r, err)
	}
	if _, err := ArchivedResource(replay, site.URL+"/missing"); !errors.Is(err, archive.ErrNotArchived) {
		t.Errorf("missing in the archive: %v", err)
	}
}

func TestPrivateResourcesAreRefused(t *testing.T) {
	asked := false
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer site.Close()
	c, err := Open(t.Context(), options(contact))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.LoadResource(t.Context(), site.URL, "", nil)
	if _, blocked := errors.AsType[*polite.BlockedError](err); !blocked || asked {
		t.Errorf("asked %v, error %v", asked, err)
	}
}
