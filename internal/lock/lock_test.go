package lock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLockIsExclusiveOrShared(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	one, two := open(), open()
	for _, test := range []struct {
		one, two bool // exclusive
		want     error
	}{
		{true, true, ErrHeld}, {true, false, ErrHeld}, {false, true, ErrHeld}, {false, false, nil},
	} {
		if err := Try(one, test.one); err != nil {
			t.Fatal(err)
		}
		if err := Try(two, test.two); !errors.Is(err, test.want) {
			t.Errorf("%+v: %v", test, err)
		}
		one.Close()
		two.Close()
		one, two = open(), open()
	}
	if err := Wait(one); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- Wait(two) }()
	one.Close() // releases the lock
	if err := <-done; err != nil {
		t.Error(err)
	}
}
