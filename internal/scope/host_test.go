package scope

import (
	"testing"

	"spoor/internal/weburl"
)

func TestSite(t *testing.T) {
	for _, c := range []struct{ host, domain string }{
		{"www.example.com", "example.com"},
		{"example.com", "example.com"},
		{"a.b.c.example.co.uk", "example.co.uk"},
		{"alice.github.io", "alice.github.io"},
		{"x.alice.github.io", "alice.github.io"},
		{"www.city.kawasaki.jp", "city.kawasaki.jp"}, // an exception in the list
		{"a.b.kawasaki.jp", "a.b.kawasaki.jp"},       // and its wildcard
		{"com", "com"},
		{"co.uk", "co.uk"},
		{"localhost", "localhost"},
		{"a.b.internal-name", "b.internal-name"},
		{"www.example.com.", "example.com"},
		{"食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"},
		{"127.0.0.1", "127.0.0.1"},
		{"[::1]", "[::1]"},
		{"a..com", ".com"},
	} {
		u, err := weburl.Parse("http://" + c.host + ":8080/x")
		if err != nil {
			t.Fatal(err)
		}
		if got := Site(u); got != c.domain {
			t.Errorf("Site(%s) = %q, want %q", c.host, got, c.domain)
		}
	}
}
