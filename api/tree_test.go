package api

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What membersOf does not refuse it takes apart as encoding/json does.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[],"c":{"d":null}}`, " {\t\"a\" : -1.5e+3 ,\r\n\"b\" : [ true , [ ] ] } ", `{"a":"},:]\\\"","\u0061b":"\\"}`,
		`{"":{"":{"":1,"":2}}}`, `{"a":1,"\u0061":2}`, `[null]`, `[1,"a",{}]`, `null`, `"a"`, `-0`, `{}`,
		`[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if checkText(text) != nil {
			t.Skip("no valid text")
		}
		got, err := membersOf(text, nil)
		if err != nil {
			t.Skip("refused")
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			want = nil // no object
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}

// BenchmarkDecode reads the body of a POST /v1/remember.
func BenchmarkDecode(b *testing.B) {
	type body struct {
		Summary string   `json:"summary"`
		Tags    []string `json:"tags"`
	}
	text := []byte(`{"summary":"The gateway listens on port 8443 and its certificate is renewed on the first of each month by a timer.","tags":["net","tls"]}`)
	places := placesOf(reflect.TypeFor[body]())
	b.ReportAllocs()
	for b.Loop() {
		var out body
		if err := decode(text, &out, places, []string{"summary"}); err != nil {
			b.Fatal(err)
		}
	}
}
