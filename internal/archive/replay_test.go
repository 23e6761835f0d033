package archive

import (
	"testing"

	"spoor/internal/weburl"
)

func canonical(t testing.TB, url string) string {
	t.Helper()
	c, err := weburl.Canonical(url)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func replay(t testing.TB, paths ...string) *Replay {
	t.Helper()
	r, err := OpenReplay(paths, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
