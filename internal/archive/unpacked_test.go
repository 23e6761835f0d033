package archive

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestAMemberOfManyRecordsIsUnpackedOnce(t *testing.T) {
	var first strings.Builder
	for i := range 40 {
		first.WriteString(capture(fmt.Sprintf("http://a/%d", i), old, 200, "", strings.Repeat(fmt.Sprintf("page %d ", i), 400)))
	}
	last := capture("http://a/last", old, 200, "", "in two members")
	whole := []string{first.String() + last[:len(last)-10], last[len(last)-10:], capture("http://a/alone", old, 200, "", "alone")}
	zipped, framed := zip(whole...), zst(whole...)
	for name, file := range map[string]string{
		"x.warc.gz":       zipped,
		"x.warc.zst":      framed,
		"torn.warc.gz":    zip(whole[0])[:len(zip(whole[0]))-2],
		"torn.warc.zst":   zst(whole[0])[:len(zst(whole[0]))-2],
		"broken.warc.zst": framed[:len(zst(whole[0]))-2] + "xx" + framed[len(zst(whole[0])):],
	} {
		t.Run(name, func(t *testing.T) {
			r := replay(t, fileOf(t, t.TempDir(), name, []byte(file)))
			a := r.archives[0]
			read := func() (all []string) {
				for i := range 42 {
					for _, c := range a.Lookup(nil, []string{fmt.Sprintf("http://a/%d", i), "http://a/last", "http://a/alone"}[max(0, i-39)]) {
						rec, err := a.at(new(scratch), c)
						if err != nil {
							t.Fatal(err)
						}
						body, err := io.ReadAll(rec)
						all = append(all, fmt.Sprint(rec.Header, string(body), err, rec.Close(), rec.Offset, rec.Skip, rec.Length, rec.spread))
						next, err := rec.r.Next()
						if err == nil {
							all = append(all, fmt.Sprint(next.Header, next.Offset, next.Skip))
						} else {
							all = append(all, err.Error())
						}
					}
				}
				return all
			}
			want := read()
			for _, m := range a.unpacked.known {
				m.dropped = unpackAfter
			}
			read()
			if a.unpacked.size == 0 {
				t.Fatal("the member is decompressed for each record")
			}
			if got := read(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				for i := range got {
					if got[i] != want[i] {
						t.Errorf("record %d differs after unpacking: %.300q, want %.300q", i, got[i], want[i])
					}
				}
			}
		})
	}
}
