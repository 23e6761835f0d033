package arena

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// records returns n records of many lengths: some are empty, some longer than a block.
func records(n int) (list [][]byte) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		length := rng.IntN(300)
		if rng.IntN(n/4) == 0 {
			length = blockSize - 2 + rng.IntN(5)
		}
		list = append(list, bytes.Repeat([]byte{byte(i)}, length))
	}
	return list
}

func TestListReturnsWhatWasAppended(t *testing.T) {
	var l List
	all := records(5000)
	for i, record := range all {
		l.Append(record)
		if l.Len() != i+1 || !bytes.Equal(l.At(i), record) {
			t.Fatalf("record %d differs when it was added", i)
		}
	}
	for i, record := range all {
		if !bytes.Equal(l.At(i), record) {
			t.Fatalf("record %d of %d bytes differs", i, len(record))
		}
	}
}

func TestNamesNumberDifferentStrings(t *testing.T) {
	var names Names
	var all []string
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 5000 {
		name := fmt.Sprintf("http://host%d.test/%s/page%d", rng.IntN(3), strings.Repeat("directory/", rng.IntN(20)), i)
		all = append(all, name[:rng.IntN(len(name)+1)])
	}
	all = append(all, "", strings.Repeat("long", blockSize), strings.Repeat("long", blockSize)+"er")
	var want []string
	for _, name := range all {
		known := slices.Index(want, name)
		if i, ok := names.Find(name); ok != (known >= 0) || ok && i != known {
			t.Fatalf("Find(%.80q) = %d, %v; want %d", name, i, ok, known)
		}
		fresh := known < 0
		if fresh {
			known = len(want)
			want = append(want, name)
		}
		if i, added := names.Add(name); i != known || added != fresh {
			t.Fatalf("Add(%.80q) = %d, %v; want %d, %v", name, i, added, known, fresh)
		}
	}
	if names.Len() != len(want) {
		t.Fatalf("%d strings, want %d", names.Len(), len(want))
	}
	for i, name := range want {
		if names.At(i) != name || string(names.Append([]byte("x"), i)) != "x"+name {
			t.Fatalf("string %d is %.80q, want %.80q", i, names.At(i), name)
		}
	}
}

// A string is known until most others were added, or fewer, and then stored again.
func TestNamesKnowTheLatest(t *testing.T) {
	const most = 3000
	var names Names
	names.Know(most)
	name := func(i int) string { return fmt.Sprintf("http://host.test/page%d", i) }
	for i := range 5 * most {
		if got, added := names.Add(name(i)); got != i || !added {
			t.Fatalf("Add(%q) = %d, %v; want %d", name(i), got, added, i)
		}
		if got, added := names.Add(name(i)); got != i || added {
			t.Fatalf("Add(%q) again = %d, %v; want %d", name(i), got, added, i)
		}
		if _, ok := names.Find(name(i - most)); ok {
			t.Fatalf("%q is known after %d others", name(i-most), most)
		}
	}
	for i := range names.Len() {
		if names.At(i) != name(i) {
			t.Fatalf("string %d is %q, want %q", i, names.At(i), name(i))
		}
	}
	if len(names.table) > 1<<13 {
		t.Errorf("the table has %d slots", len(names.table))
	}
}

func TestVectorKeepsItsElements(t *testing.T) {
	var v Vector[int]
	for i := range 3*chunkSize + 1 {
		v.Append(i)
		*v.At(i / 2) = i / 2
	}
	for i := range v.Len() {
		if *v.At(i) != i {
			t.Fatalf("element %d is %d", i, *v.At(i))
		}
	}
}
