package closedweb

import (
	"fmt"
	"strings"
	"testing"

	"spoor/internal/judge"
	"spoor/internal/wire"
)

// In a web of seven pages there are two pairs of near-duplicates, and two days of a calendar.
func TestClasses(t *testing.T) {
	w, err := FromGraphFile(strings.NewReader(`{"out":{"a.test/":["a.test/1","a.test/2","a.test/3","a.test/4","a.test/5","a.test/6"],
		"a.test/1":[],"a.test/2":[],"a.test/3":[],"a.test/4":[],"a.test/5":[],"a.test/6":[]},"redirects":{},"labels":{"a.test/1":["jazz"],"a.test/6":["jazz"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var bad []string
	classes, err := ReadClasses(w, strings.NewReader(`{"url":"http://a.test/1","cluster":7}
{"url":"http://a.test/2","cluster":7,"trap":"calendar"}

{"url":"http://a.test/3","cluster":"seven"}
{"url":"http://a.test/4","cluster":"seven","trap":null}
{"url":"http://a.test/5","cluster":null,"trap":"calendar","words":5}
{"url":"http://b.test/","cluster":7}
{"cluster":7}
{"url":"http://a.test/6","cluster":{}}
{"url":"http://a.test/6","trap":"near_duplicate"}
nonsense`), func(line int, err error) { bad = append(bad, fmt.Sprint(line)) })
	if err != nil || classes.Lines != 6 || classes.Unknown != 1 || strings.Join(bad, " ") != "8 9 10 11" {
		t.Fatalf("%+v, bad lines %q, %v", classes, bad, err)
	}
	l := w.Labels("jazz")
	if err := l.Apply(); err != nil {
		t.Fatal(err)
	}
	j, err := judge.New(w.Web, []int32{w.Find("http://a.test/").Page}, judge.Options{T: 6})
	if err != nil {
		t.Fatal(err)
	}
	crawl := NewCrawl(w, l, j)
	crawl.Classify(classes)
	for i, step := range []struct{ url, class string }{
		{"http://a.test/", ""}, {"http://a.test/2", "calendar"}, {"http://a.test/1", NearDuplicate}, {"http://a.test/1", ""}, // again, which is repeated
		{"http://a.test/5", "calendar"}, {"http://a.test/3", ""}, {"http://a.test/4", NearDuplicate}, // after the budget
		{"http://c.test/", ""},
	} {
		if crawl.Add(&wire.Record{URL: step.url, StatusCode: 200}); crawl.Class != step.class {
			t.Errorf("%d: %s has the class %q, want %q", i, step.url, crawl.Class, step.class)
		}
	}
	if s := crawl.Summary(); *s.NearDuplicates != 1 || *s.Traps != 2 {
		t.Errorf("%v near-duplicates and %v traps, want 1 and 2", *s.NearDuplicates, *s.Traps)
	}
	if s := NewCrawl(w, l, j).Summary(); s.NearDuplicates != nil || s.Traps != nil {
		t.Error("there are classes without a file")
	}
	if _, err := ReadClasses(w, strings.NewReader(`{"url":"http://b.test/","cluster":7}`), nil); err == nil || !strings.Contains(err.Error(), "no line is about a page of the web\nhint: ") {
		t.Errorf("classes of another web: %v", err)
	}
}
