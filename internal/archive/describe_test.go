package archive

import (
	ziparchive "archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVerifyPackage(t *testing.T) {
	good := packedFiles(t, pack(t, PackOptions{}, archiveOf(t, t.TempDir(), "x.warc.gz", capture("http://a/", old, 200, "", "a"))))
	described := func(format string, args ...any) map[string]string {
		return map[string]string{descriptionName: `{"resources":[` + fmt.Sprintf(format, args...) + `]}`, descriptionSum: ""}
	}
	const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, c := range []struct {
		name   string
		change map[string]string // "" takes away
		want   []string
	}{
		{"in order", nil, nil},
		{"no digest of the description", map[string]string{descriptionSum: ""}, nil},
		{"no description", map[string]string{descriptionName: ""}, []string{`"datapackage.json" is not there`}},
		{"no JSON", map[string]string{descriptionName: "x"}, []string{"datapackage.json is no description: invalid character 'x' looking for beginning of value"}},
		{"another description", map[string]string{descriptionSum: `{"path":"datapackage.json","hash":"` + empty + `"}`},
			[]string{`"datapackage.json" has not the digest ` + empty + ` of its description`}},
		{"a digest of something else", map[string]string{descriptionSum: `{"path":"x"}`}, []string{"datapackage-digest.json is not the digest of datapackage.json"}},
		{"another file", map[string]string{"pages/pages.jsonl": strings.ToUpper(good["pages/pages.jsonl"])},
			[]string{fmt.Sprintf(`"pages/pages.jsonl" has not the digest sha256:%s of its description`, "…")}},
		{"a longer file", map[string]string{"pages/pages.jsonl": good["pages/pages.jsonl"] + "\n"},
			[]string{fmt.Sprintf(`"pages/pages.jsonl" has %d bytes, not the %d of its description`, len(good["pages/pages.jsonl"])+1, len(good["pages/pages.jsonl"]))}},
		{"a file less", map[string]string{"pages/pages.jsonl": ""}, []string{`"pages/pages.jsonl" is not there`}},
		{"nothing listed", described(""), []string{`"archive/x.warc.gz" is not listed in datapackage.json`}},
		{"listed twice", described(`{"path":"e","hash":"%[1]s"},{"path":"e","hash":"%[1]s"}`, empty), []string{
			`"e" is not there`, `"e" is listed twice`, `"archive/x.warc.gz" is not listed in datapackage.json`}},
		{"a digest of an unknown kind", described(`{"path":"archive/x.warc.gz","hash":"crc:1"}`),
			[]string{`"archive/x.warc.gz": hash "crc:1" has an algorithm that is not supported`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var files []inner
			for name, content := range good {
				if changed, ok := c.change[name]; ok {
					content = changed
				}
				if content != "" {
					files = append(files, stored(name, content))
				}
			}
			slices.SortFunc(files, func(a, b inner) int { return strings.Compare(a.name, b.name) })
			path := fileOf(t, t.TempDir(), "x.wacz", wacz(t, files...))
			var got []string
			v := Verifier{Report: func(f Finding) {
				if f.File != path || f.Kind != KindPackage || f.Warning {
					t.Errorf("%+v", f)
				}
				got = append(got, f.Detail)
			}}
			if err := v.Package(path); err != nil {
				t.Fatal(err)
			}
			if len(got) == 1 && strings.Contains(strings.Join(c.want, ""), "…") {
				before, after, _ := strings.Cut(c.want[0], "…")
				if strings.HasPrefix(got[0], before) && strings.HasSuffix(got[0], after) {
					return
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if c.want == nil && v.Digests == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// Many names for the same bytes must not make them be read as often.
func TestVerifyOverlappingFiles(t *testing.T) {
	content := strings.Repeat("x", 5000)
	var list []string
	files := []inner{stored("a", content), stored("b", content)}
	for _, f := range files {
		list = append(list, fmt.Sprintf(`{"path":%q,"hash":"sha1:x","bytes":5000}`, f.name))
	}
	file := wacz(t, append(files, inner{descriptionName, `{"resources":[` + strings.Join(list, ",") + `]}`, ziparchive.Deflate})...)
	// Both claim to be as large as the whole file.
	dir := bytes.LastIndex(file, []byte("PK\x01\x02"))
	for at := bytes.Index(file, []byte("PK\x01\x02")); at < dir; at += 46 + 1 {
		copy(file[at+20:], "\x00\x28\x00\x00\x00\x28\x00\x00")
	}
	var got []string
	v := Verifier{Report: func(f Finding) { got = append(got, f.Detail) }}
	if err := v.Package(fileOf(t, t.TempDir(), "x.wacz", file)); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || !strings.Contains(got[1], "overlaps other files") {
		t.Errorf("%q", got)
	}
}

func TestVerifyPackageOtherFormats(t *testing.T) {
	for name, content := range map[string]string{"x.warc.gz": zip(good("a")), "empty": "", "torn.wacz": "PK\x03\x04"} {
		v := Verifier{Report: func(f Finding) { t.Errorf("%s: %+v", name, f) }}
		if err := v.Package(fileOf(t, t.TempDir(), name, []byte(content))); err != nil {
			t.Error(err)
		}
	}
}
