package filter

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// A compressed file that was truncated anywhere must not look like one with fewer records.
func TestTruncatedFilesAreErrors(t *testing.T) {
	for _, suffix := range []string{".zst", ".gz"} {
		for _, content := range []string{"", strings.Repeat("a line\n", 100)} {
			name := filepath.Join(t.TempDir(), "records"+suffix)
			f, err := Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(f, content); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			whole := testfile.Read(t, name)
			for length := range len(whole) + 1 {
				testfile.Write(t, name, whole[:length])
				got, err := readFile(name)
				switch {
				case length == len(whole):
					if err != nil || string(got) != content {
						t.Errorf("whole: %q, %v", got, err)
					}
				case err == nil || !strings.Contains(err.Error(), name):
					t.Errorf("%d of %d bytes: got error %v", length, len(whole), err)
				}
			}
		}
	}
}

func readFile(name string) ([]byte, error) {
	in, err := Open(nil, []string{name})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

func TestShortPlainInputIsNotTakenForTruncated(t *testing.T) {
	for _, content := range []string{"", "(", "{}\n", "a"} {
		in, err := Open(bytes.NewReader([]byte(content)), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if content == "(" { // the first byte of zstd
			if err == nil {
				t.Error("the first byte of zstd is no error")
			}
		} else if err != nil || string(got) != content {
			t.Errorf("%q: %q, %v", content, got, err)
		}
	}
}

// An archive instead of records is one error, not one for each line of it.
func TestArchivesAreNotRecords(t *testing.T) {
	for name, content := range map[string]string{
		"pages.warc": "WARC/1.1\r\nWARC-Type: warcinfo\r\n", "pages.wacz": "PK\x03\x04\x14\x00",
		"pages.warc.gz": "WARC/1.1\r\nWARC-Type: warcinfo\r\n", "pages.warc.zst": "WARC/1.0\r\n",
	} {
		name = filepath.Join(t.TempDir(), name)
		f, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, content)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := readFile(name); err == nil || !strings.Contains(err.Error(), "\nhint: fetch -archive "+name+" -all |") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
