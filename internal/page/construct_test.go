package page

import "testing"

// oddTable is pages whose tree is not what the tags say.
var oddTable = []struct{ name, html string }{
	{"a paragraph in a table", `a<table>b<tr><td>c</td>d<p><a href=x>e</a></table>f`},
	{"formatting around blocks", `<b>1<p>2<a href=x>3</a></b>4<a href=y>5</a></p>6`},
	{"a link around blocks", `<a href=x>1<div>2<p>3</a>4<a href=y>5</div>6`},
	{"links in links", `<a href=x>1<p>2<a href=y>3<div><a href=z>4`},
}

func TestOddPagesAreReadAsTheTreeIs(t *testing.T) {
	x := NewExtractor()
	for _, test := range oddTable {
		t.Run(test.name, func(t *testing.T) {
			doc := Document{URL: here, ContentType: "text/html", Charset: "utf-8", Body: []byte(test.html)}
			if !agree(t, x, &doc) {
				t.Error("the scan is not sure")
			}
		})
	}
}
