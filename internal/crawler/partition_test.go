package crawler

import (
	"fmt"
	"testing"

	"spoor/internal/archive"
	"spoor/internal/partition"
	"spoor/internal/wire"
)

// A redirect to a host of another partition ends the fetch; others are followed.
func TestRedirectsEndAtThePartition(t *testing.T) {
	const own = "http://h0.test/"
	p := partition.Partition{Number: partition.Of("h0.test", 4), Of: 4}
	foreign := ""
	for i := 1; foreign == ""; i++ {
		if host := fmt.Sprintf("h%d.test", i); !p.Owns(host) {
			foreign = "http://" + host + "/x"
		}
	}
	hops := []archive.Hop{{URL: own, StatusCode: 301}, {URL: own + "a", StatusCode: 308}, {URL: foreign, StatusCode: 302}}
	o := Options{Partition: p}
	rec := wire.Record{V: 1, URL: own}
	if !o.endAtPartition(&rec, hops, own) {
		t.Fatal("the redirect was followed")
	}
	if rec.StatusCode != 308 || rec.FinalURL != own+"a" || len(rec.Redirects) != 1 || rec.Headers[0].Values[0] != foreign || rec.Error != "" {
		t.Errorf("%+v", rec)
	}
	for _, o := range []Options{{}, {Partition: partition.Partition{Number: 0, Of: 1}}} {
		if o.endAtPartition(&wire.Record{V: 1, URL: own}, hops, own) {
			t.Errorf("it ends in a crawl with %v", o.Partition)
		}
	}
	if o.endAtPartition(&wire.Record{V: 1, URL: own}, hops[:1], own+"a") {
		t.Error("a redirect within the host ends it")
	}
}
