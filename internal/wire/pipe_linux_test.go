package wire

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGrowPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	size := func() (n int) {
		conn, err := w.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		conn.Control(func(fd uintptr) { n, err = unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0) })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := size()
	GrowPipe(w)
	if after := size(); after == before && before < 1<<20 {
		t.Skipf("the system keeps pipes at %d bytes", before)
	} else if after < 1<<20 {
		t.Errorf("%d bytes have become %d", before, after)
	}

	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	GrowPipe(f)
	f.Close()
	GrowPipe(f)
}
