package closedweb

import "testing"

// FuzzArchiveWeb decodes arbitrary bytes as the body of a cache of links: they may be refused,
// but must not panic, and what is accepted can be used.
func FuzzArchiveWeb(f *testing.F) {
	a := &archiveWeb{pages: newAddressList([]string{"http://a/", "http://b/"}), aliases: newAddressList([]string{"http://c/"}), targets: []int32{1}}
	a.graph.Add([]int32{1})
	a.graph.Add(nil)
	body, err := a.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(body[:len(body)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := decodeArchiveWeb(b); err == nil {
			a.web()
			a.encode()
		}
	})
}
