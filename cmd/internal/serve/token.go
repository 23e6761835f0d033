package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strings"

	"spoor/internal/atomicfile"
)

// aToken matches a token. It is too long to be guessed, and its characters need no escape in an address, a
// cookie or a header.
var aToken = regexp.MustCompile(`^[A-Za-z0-9_-]{26,512}$`)

// token returns the token in a file, which only its owner may read. If the file does not exist, it makes a token
// and the file. Without a file it makes a token for this process.
func token(name string) (string, error) {
	if name == "" {
		return rand.Text(), nil
	}
	f, err := atomicfile.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return newToken(name)
	}
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" { // which has no such modes
		return "", fmt.Errorf("others can read the token in %s, whose mode is %03o\nhint: remove the file, and serve makes another one", name, mode)
	}
	b := make([]byte, 1024)
	n, _ := f.Read(b) // an empty file is no token
	text := strings.TrimSpace(string(b[:n]))
	if !aToken.MatchString(text) {
		return "", fmt.Errorf("%s has no token: 26 letters or digits, or more\nhint: remove the file, and serve makes another one", name)
	}
	return text, nil
}

// newToken makes a token of 128 random bits or more, and a file for it.
func newToken(name string) (string, error) {
	f, err := atomicfile.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	text := rand.Text()
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("the token: %w", err), os.Remove(name))
	}
	return text, nil
}
