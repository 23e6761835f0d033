package page

import (
	"reflect"
	"testing"
)

func TestLinksOnlyKeepsTheLinks(t *testing.T) {
	doc := Document{URL: "http://a/", ContentType: "text/html", Body: []byte(`<title>T</title><p>Words around <a href=/b>an anchor</a> and <a href=c rel=nofollow><img alt=image></a>.`)}
	all := NewExtractor().Extract(doc)
	x := NewExtractor()
	x.LinksOnly = true
	got := x.Extract(doc)
	if len(got.Links) != 2 || !reflect.DeepEqual(got.Links, all.Links) || got.OutDegree != all.OutDegree || got.Title != "T" {
		t.Errorf("%+v", got)
	}
	if got.Text+got.AnchorText+got.Simhash+got.Lang != "" {
		t.Errorf("the text is not omitted: %+v", got)
	}
}
