package wire

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// A schema holds the parts of JSON Schema that doc/record.schema.json uses.
type schema struct {
	Type        any                `json:"type"` // a string or several
	Description string             `json:"description"`
	Section     string             `json:"x-section"`
	Ref         string             `json:"$ref"`
	Properties  map[string]*schema `json:"properties"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	Items       *schema            `json:"items"`
	Required    []string           `json:"required"`
	AnyOf       []*schema          `json:"anyOf"`
	Enum        []string           `json:"enum"`
	Pattern     string             `json:"pattern"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	MinLength   int                `json:"minLength"`
	Format      string             `json:"format"`
	Defs        map[string]*schema `json:"$defs"`
}

func readSchema(t *testing.T) *schema {
	t.Helper()
	text := testfile.Read(t, filepath.Join("..", "..", "doc", "record.schema.json"))
	s := new(schema)
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// types are the JSON types of a schema, separated by spaces.
func (s *schema) types() string { return strings.Trim(fmt.Sprint(s.Type), "[]") }

// shape returns the schema that a field of kind k must have.
func (k kind) shape() (goType reflect.Type, jsonType, elements string) {
	switch k {
	case kindString:
		return reflect.TypeFor[string](), "string", ""
	case kindInt:
		return reflect.TypeFor[int](), "integer", ""
	case kindInt64:
		return reflect.TypeFor[int64](), "integer", ""
	case kindFloat:
		return reflect.TypeFor[Float](), "number null", ""
	case kindBool:
		return reflect.TypeFor[Bool](), "boolean null", ""
	case kindStrings:
		return reflect.TypeFor[[]string](), "array", "string"
	case kindValues:
		return reflect.TypeFor[[]Values](), "object", "array of string"
	case kindScores:
		return reflect.TypeFor[[]Scored](), "object", "number"
	case kindRedirects:
		return reflect.TypeFor[[]Redirect](), "array", "#/$defs/redirect"
	case kindLinks:
		return reflect.TypeFor[[]Link](), "array", "#/$defs/link"
	}
	panic(k)
}

// elements describes the elements of a schema.
func (s *schema) elements(t *testing.T) string {
	switch {
	case s.Items != nil && s.Items.Ref != "":
		return s.Items.Ref
	case s.Items != nil:
		return s.Items.types()
	case s.types() == "object":
		var of schema
		if err := json.Unmarshal(s.Additional, &of); err != nil {
			t.Fatal(err)
		}
		if of.Items != nil {
			return of.types() + " of " + of.Items.types()
		}
		return of.types()
	}
	return ""
}

// values returns the valid values of an integer or a time.
func (s *schema) values() (v values) {
	if s.Minimum != nil {
		v.min = int64(*s.Minimum)
	}
	if s.Maximum != nil {
		v.max = int64(*s.Maximum)
	}
	v.time = s.Format == "date-time"
	return v
}

func TestSchemaMatchesFields(t *testing.T) {
	s := readSchema(t)
	sections := map[Section]string{0: "", Address: "address", Fetch: "fetch", Parse: "parse", Score: "score", Body: "body"}
	for _, tt := range []struct {
		o      *object
		goType reflect.Type
		schema *schema
	}{
		{recordObject, reflect.TypeFor[Record](), s},
		{redirectObject, reflect.TypeFor[Redirect](), s.Defs["redirect"]},
		{linkObject, reflect.TypeFor[Link](), s.Defs["link"]},
	} {
		if string(tt.schema.Additional) != "true" {
			t.Errorf("%v: the schema forbids other members", tt.goType)
		}
		var order []string
		for _, f := range tt.o.fields {
			goType, jsonType, elements := f.kind.shape()
			i := slices.IndexFunc(reflect.VisibleFields(tt.goType), func(g reflect.StructField) bool { return g.Offset == f.at })
			if i < 0 || tt.goType.Field(i).Type != goType {
				t.Fatalf("%s: there is no Go field of type %v at %d", f.name, goType, f.at)
			}
			g := tt.goType.Field(i).Name
			order = append(order, g)
			if want := strings.ReplaceAll(f.name, "_", ""); !strings.EqualFold(g, want) {
				t.Errorf("%s is the Go field %s", f.name, g)
			}
			if tt.o.find(f.name) == nil || tt.o.find(f.name).at != f.at {
				t.Errorf("%s is not found", f.name)
			}
			p := tt.schema.Properties[f.name]
			if p == nil {
				t.Errorf("%s is not in the schema", f.name)
				continue
			}
			if p.types() != jsonType || p.elements(t) != elements {
				t.Errorf("%s is %s of %q in the schema, %s of %q here", f.name, p.types(), p.elements(t), jsonType, elements)
			}
			if got := p.values(); got != f.valid || jsonType == "integer" && f.valid.max == 0 {
				t.Errorf("valid values of %s are %+v in the schema, %+v here", f.name, got, f.valid)
			}
			if p.Section != sections[f.section] {
				t.Errorf("%s is in section %q of the schema, %q here", f.name, p.Section, sections[f.section])
			}
			if !strings.HasSuffix(p.Description, ".") {
				t.Errorf("%s has no description", f.name)
			}
		}
		if len(tt.schema.Properties) != len(tt.o.fields) {
			t.Errorf("%v: the schema has %d members, the codec %d", tt.goType, len(tt.schema.Properties), len(tt.o.fields))
		}
		var want []string
		for _, g := range reflect.VisibleFields(tt.goType) {
			if g.IsExported() {
				want = append(want, g.Name)
			}
		}
		if !slices.Equal(order, want) {
			t.Errorf("%v: the codec has the order %v, Go has %v", tt.goType, order, want)
		}
	}
	for name := range finalErrors {
		if !slices.Contains(s.Properties["error"].Enum, name) {
			t.Errorf("error %s is not in the schema", name)
		}
	}
	if n := len(s.Properties["error"].Enum); n != len(finalErrors) {
		t.Errorf("the schema has %d errors, errors.go %d", n, len(finalErrors))
	}
}

// check returns what is wrong with v according to s.
func (s *schema) check(root *schema, at string, v any) (wrong []string) {
	if s.Ref != "" {
		s = root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	fail := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	is := map[string]bool{}
	switch v := v.(type) {
	case nil:
		is["null"] = true
	case bool:
		is["boolean"] = true
	case float64:
		is["number"] = true
		is["integer"] = v == float64(int64(v))
		if s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			fail("%v is out of range", v)
		}
	case string:
		is["string"] = true
		if s.Enum != nil && !slices.Contains(s.Enum, v) {
			fail("%q is not one of %q", v, s.Enum)
		}
		if !regexp.MustCompile(s.Pattern).MatchString(v) || len(v) < s.MinLength {
			fail("%q does not match", v)
		}
	case []any:
		is["array"] = true
		for i, e := range v {
			wrong = append(wrong, s.Items.check(root, fmt.Sprintf("%s[%d]", at, i), e)...)
		}
	case map[string]any:
		is["object"] = true
		for name, e := range v {
			if p := s.Properties[name]; p != nil {
				wrong = append(wrong, p.check(root, at+"."+name, e)...)
			} else if of := new(schema); json.Unmarshal(s.Additional, of) == nil {
				wrong = append(wrong, of.check(root, at+"."+name, e)...)
			}
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				fail("%s is missing", name)
			}
		}
		if s.Properties != nil && s.AnyOf != nil && !slices.ContainsFunc(s.AnyOf, func(a *schema) bool {
			return len(a.check(root, at, v)) == 0
		}) {
			fail("no alternative fits")
		}
	}
	if s.Type != nil && !slices.ContainsFunc(strings.Fields(s.types()), func(t string) bool { return is[t] }) {
		fail("%v is not of type %v", v, s.Type)
	}
	return wrong
}

func TestRecordsMatchSchema(t *testing.T) {
	s := readSchema(t)
	lines := write(t, full(), &Record{URL: "http://example.org/"}, &Record{Query: "q"},
		&Record{URL: "http://example.org/", Title: "t", Priority: Float{Kind: Null}, StatusCode: 404})
	for line := range strings.Lines(lines) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if wrong := s.check(s, "record", v); wrong != nil {
			t.Errorf("%s: %q", line, wrong)
		}
	}
	for _, tt := range []struct{ line, want string }{
		{`{}`, "record: no alternative fits"},
		{`{"url":1}`, "record.url: 1 is not of type string"},
		{`{"url":"u","depth":-1}`, "record.depth: -1 is out of range"},
		{`{"url":"u","depth":0.5}`, "record.depth: 0.5 is not of type integer"},
		{`{"url":"u","links":[{}]}`, "record.links[0]: url is missing"},
		{`{"url":"u","scores":{"a":"b"}}`, "record.scores.a: b is not of type number"},
		{`{"url":"u","headers":{"a":[1]}}`, "record.headers.a[0]: 1 is not of type string"},
		{`{"url":"u","simhash":"x"}`, `record.simhash: "x" does not match`},
	} {
		var v any
		if err := json.Unmarshal([]byte(tt.line), &v); err != nil {
			t.Fatal(err)
		}
		if wrong := s.check(s, "record", v); !slices.Equal(wrong, []string{tt.want}) {
			t.Errorf("%s: got %q, want %q", tt.line, wrong, tt.want)
		}
	}
}

func TestGuideNamesEveryField(t *testing.T) {
	guide := testfile.Read(t, filepath.Join("..", "..", "doc", "guide", "records.md"))
	for _, object := range []*object{recordObject, linkObject} {
		for _, f := range object.fields {
			if !strings.Contains(string(guide), "`"+f.name+"`") && !strings.Contains(string(guide), strconv.Quote(f.name)) {
				t.Errorf("doc/guide/records.md does not name %s", f.name)
			}
		}
	}
}
