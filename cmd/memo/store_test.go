package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// build makes a store of urls and what is remembered of them.
func build(t testing.TB, answers ...[2]string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m")
	b, err := create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer b.abandon()
	for _, a := range answers {
		if err := b.add(a[0], []byte(a[1]+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.commit(); err != nil {
		t.Fatal(err)
	}
	return name
}

// ask is what a store remembers of an address, or "-".
func ask(s *store, url string) (string, error) {
	a, found, err := s.find(url)
	if err != nil || !found {
		return "-", err
	}
	rest, err := s.read(a, nil)
	return string(rest), err
}

func TestAStoreAnswersWhatItWasGiven(t *testing.T) {
	var many [][2]string
	for i := range 1000 {
		many = append(many, [2]string{fmt.Sprintf("http://a.example/%d", i), fmt.Sprintf(`{"title":"%d"}`, i)})
	}
	for name, tt := range map[string]struct {
		answers [][2]string
		want    map[string]string
	}{
		"nothing":          {nil, map[string]string{"http://a.example/": "-"}},
		"no members":       {[][2]string{{"http://a.example/", "{}"}}, map[string]string{"http://a.example/": "}\n", "http://a.example": "-"}},
		"quotes":           {[][2]string{{`http://a.example/"`, `{"title":"x"}`}}, map[string]string{`http://a.example/"`: `,"title":"x"}` + "\n", `http://a.example/`: "-"}},
		"the first":        {[][2]string{{"http://a.example/", `{"title":"x"}`}, {"http://a.example/", `{"title":"y"}`}}, map[string]string{"http://a.example/": `,"title":"x"}` + "\n"}},
		"not UTF-8":        {[][2]string{{"http://a.example/\xff", "{}"}}, map[string]string{"http://a.example/\xff": "}\n"}},
		"one of many":      {many, map[string]string{"http://a.example/7": `,"title":"7"}` + "\n", "http://a.example/999": `,"title":"999"}` + "\n", "http://a.example/1000": "-"}},
		"an empty address": {[][2]string{{"http://a.example/", "{}"}}, map[string]string{"": "-"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(build(t, tt.answers...))
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			for url, want := range tt.want {
				if got, err := ask(s, url); got != want || err != nil {
					t.Errorf("%s: %q, %v, want %q", url, got, err, want)
				}
			}
		})
	}
}

// Addresses with the same fingerprint cannot be had, so an index is made that says so.
func TestAnAddressIsComparedNotItsFingerprintAlone(t *testing.T) {
	urls := []string{"http://a.example/1", "http://a.example/22"}
	name := build(t, [2]string{urls[0], `{"title":"1"}`}, [2]string{urls[1], `{"title":"22"}`})
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	index := data[len(data)-footerSize-2*entrySize : len(data)-footerSize]
	first, second := bytes.Clone(index[:entrySize]), bytes.Clone(index[entrySize:])
	copy(index[8:entrySize], second[8:]) // the other's line, with the fingerprint of the first
	copy(index[entrySize:], first)
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for i, want := range []string{`,"title":"1"}`, `,"title":"22"}`} {
		got, err := ask(s, urls[i])
		if binary.LittleEndian.Uint64(first) != fingerprint(urls[i]) {
			want = "-"
		}
		if err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, %v, want %q", urls[i], got, err, want)
		}
	}
}

func TestADamagedStoreIsFoundOut(t *testing.T) {
	whole, err := os.ReadFile(build(t, [2]string{"http://a.example/", `{"title":"x"}`}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x41
		name := filepath.Join(t.TempDir(), "m")
		if err := os.WriteFile(name, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := open(name)
		if err != nil {
			continue
		}
		if got, err := ask(s, "http://a.example/"); err == nil && got != "-" && got != `,"title":"x"}`+"\n" {
			t.Errorf("with byte %d of %d damaged: %q", i, len(whole), got)
		}
		s.close()
		if os.WriteFile(name, whole[:i], 0o666); i > 0 {
			if s, err := open(name); err == nil {
				s.close()
				t.Errorf("%d bytes of %d are thought to be a whole store", i, len(whole))
			}
		}
	}
}

func FuzzStore(f *testing.F) {
	for _, answers := range [][][2]string{
		nil,
		{{"http://a.example/", "{}"}},
		{{"http://a.example/", `{"title":"x"}`}, {"http://b.example/", `{"score":0.5}`}, {"http://a.example/", "{}"}},
	} {
		data, err := os.ReadFile(build(f, answers...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	name := filepath.Join(f.TempDir(), "m")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := open(name)
		if err != nil {
			return
		}
		defer s.close()
		for _, url := range []string{"http://a.example/", "http://b.example/", ""} {
			ask(s, url)
		}
	})
}

func TestMembersAreTakenOutWordForWord(t *testing.T) {
	for _, tt := range []struct{ object, other, want string }{
		{`{"a":1,"b":"}"}`, `{}`, `{"a":1,"b":"}"}`},
		{`{"a":1,"b":"}"}`, `{"b":"}"}`, `{"a":1}`},
		{`{"a":1,"b":2}`, `{"b":3}`, `{"a":1,"b":2}`},
		{`{"a":1}`, `{"a":1}`, `{}`},
		{`{"a" : [1, {"a":1}],"b":2}`, `{"b":2,"a" : [1, {"a":1}]}`, `{}`},
		{`{}`, `{"a":1}`, `{}`},
	} {
		if got, err := without([]byte(tt.object+"\n"), []byte(tt.other+"\n")); string(got) != tt.want+"\n" || err != nil {
			t.Errorf("%s without %s: %s, %v", tt.object, tt.other, got, err)
		}
	}
}

// What the store is asked for, all in all: a record is read in place.
func BenchmarkFind(b *testing.B) {
	var many [][2]string
	for i := range 100_000 {
		many = append(many, [2]string{fmt.Sprintf("http://a.example/%d", i), `{"text":"` + strings.Repeat("x", 1000) + `"}`})
	}
	s, err := open(build(b, many...))
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	var buf []byte
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		a, found, err := s.find(many[i%len(many)][0])
		if !found || err != nil {
			b.Fatal(found, err)
		}
		if buf, err = s.read(a, buf); err != nil {
			b.Fatal(err)
		}
		i += 7919
	}
}

func FuzzWithout(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"}"}`), []byte(`{"b":"}"}`))
	f.Add([]byte(`{"a" : [1, {"a":1}],"b":2}`), []byte(`{"b":2,"a" : [1, {"a":1}]}`))
	f.Add([]byte(`{}`), []byte(`{"\u0061":null}`))
	f.Fuzz(func(t *testing.T, object, other []byte) {
		got, err := without(append(object, '\n'), append(other, '\n'))
		if err == nil && json.Valid(object) && object[0] == '{' && !json.Valid(got) {
			t.Errorf("%s without %s: %s", object, other, got)
		}
	})
}
