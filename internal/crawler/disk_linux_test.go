package crawler

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"spoor/internal/archive"
)

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skipf("no small disk can be made here: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		// Random enough that it does not compress.
		x := uint32(len(r.URL.Path)*7919 + int(r.URL.Path[len(r.URL.Path)-1]))
		b := make([]byte, 8<<10)
		for i := range b {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			b[i] = byte(x)
		}
		w.Write(b)
	})
	var in strings.Builder
	for i := range 40 {
		fmt.Fprintf(&in, "%s/%s%d\n", server.URL, strings.Repeat("x", i), i)
	}
	recs, o, err := fetchAll(t, in.String(), loopback, workers(2), warcTo(filepath.Join(dir, "w")))
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v\n%s", err, o.log)
	}
	done := map[string]bool{}
	for _, r := range recs {
		switch {
		case r.StatusCode == 200 && r.WARCFilename != "":
			done[r.URL] = true
		case r.Error != "budget":
			t.Errorf("%s: %d %s", r.URL, r.StatusCode, r.Error)
		}
	}
	if len(done) == 0 || len(done) == 40 {
		t.Errorf("%d pages done", len(done))
	}
	files, err := archive.Files([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for page, err := range archive.All(files, archive.Filter{}, archive.Limits{}) {
		if err != nil {
			t.Errorf("a fault in the archive: %v", err)
			continue
		}
		kept[page.URL] = true
	}
	for u := range done {
		if !kept[u] {
			t.Errorf("%s is not in the archive", u)
		}
	}
}
