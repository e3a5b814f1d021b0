package api

import (
	"net/http"
	"strings"
	"testing"

	"memd"
)

func TestStrictJSON(t *testing.T) {
	d := start(t, nil, nil)
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, c := range []struct {
		body   string
		status int
		code   memd.Code
		field  string
	}{
		{`{"summary":"a","colour":"red"}`, 400, memd.CodeInvalidRequest, "colour"},
		{`{"Summary":"a"}`, 400, memd.CodeInvalidRequest, "Summary"},
		{`{"summary":"a","SUMMARY":"b"}`, 400, memd.CodeInvalidRequest, "SUMMARY"},
		{`{"summary":"a","summary":"b"}`, 400, memd.CodeInvalidRequest, "summary"},
		{`{"summary":"a","s\u0075mmary":"b"}`, 400, memd.CodeInvalidRequest, "summary"},
		{`{"summary":{"a":1,"a":2}}`, 400, memd.CodeInvalidRequest, "a"},
		{`{"summary":"a","x y":1}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"a","":1}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"a"} {}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"a"}x`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"a",}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"a"`, 400, memd.CodeInvalidRequest, ""},
		{`{'summary':'a'}`, 400, memd.CodeInvalidRequest, ""},
		{`["summary"]`, 400, memd.CodeInvalidRequest, ""},
		{`null`, 400, memd.CodeInvalidRequest, ""},
		{`"summary"`, 400, memd.CodeInvalidRequest, ""},
		{` `, 400, memd.CodeInvalidRequest, ""},
		{"\xef\xbb\xbf{\"summary\":\"a\"}", 400, memd.CodeInvalidRequest, ""},
		{"{\"summary\":\"\xff\"}", 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"\ud800"}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"\udc00"}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"\ud83d\u0041"}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"\ud83d\\ude00"}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"a","tags":["\uD800"]}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"\u0000"}`, 400, memd.CodeInvalidRequest, "summary"},
		{`{"summary":1}`, 400, memd.CodeInvalidRequest, "summary"},
		{`{"summary":["a"]}`, 400, memd.CodeInvalidRequest, "summary"},
		{`{"summary":"a","importance":"5"}`, 400, memd.CodeInvalidRequest, "importance"},
		{`{"summary":"a","importance":5.5}`, 400, memd.CodeInvalidRequest, "importance"},
		{`{"summary":"a","importance":1e400}`, 400, memd.CodeInvalidRequest, "importance"},
		{`{"summary":"a","importance":11}`, 400, memd.CodeInvalidRequest, "importance"},
		{`{"summary":"a","tags":"x"}`, 400, memd.CodeInvalidRequest, "tags"},
		{`{"summary":"a","tags":[1]}`, 400, memd.CodeInvalidRequest, "tags"},
		{`{"summary":"a","tags":[null]}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"a","tags":` + deep + `}`, 400, memd.CodeInvalidRequest, ""},
		{`{"summary":"a","expires_at":"tomorrow"}`, 400, memd.CodeInvalidRequest, "expires_at"},
		{`{"summary":"a","expires_at":12}`, 400, memd.CodeInvalidRequest, "expires_at"},
		{`{"summary":"a","kind":"idea"}`, 400, memd.CodeInvalidRequest, "kind"},
		{`{"summary":" "}`, 400, memd.CodeInvalidRequest, "summary"},
		{`{"summary":"\u200b"}`, 400, memd.CodeInvalidRequest, "summary"},
		{`{"summary":""}`, 400, memd.CodeInvalidRequest, "summary"},
		{`{}`, 422, memd.CodeMissingField, "summary"},
		{`{"summary":null}`, 422, memd.CodeMissingField, "summary"},
		{`{"summary":"` + strings.Repeat("a", 8001) + `"}`, 413, memd.CodeTooLarge, "summary"},
		{`{"summary":"a","raw_content":"` + strings.Repeat("a", 65537) + `"}`, 413, memd.CodeTooLarge, "raw_content"},
		{`{"summary":"` + strings.Repeat("a", maxBody) + `"}`, 413, memd.CodeTooLarge, ""},
	} {
		r := d.post("/v1/remember", c.body)
		if r.Status != c.status {
			t.Errorf("%.60s: %d, want %d: %s", c.body, r.Status, c.status, r.Body)
			continue
		}
		if p := r.problem(); p.Code != c.code || p.Field != c.field {
			t.Errorf("%.60s: %s %q, want %s %q", c.body, p.Code, p.Field, c.code, c.field)
		}
	}
	if n := d.rows(t); n != 0 {
		t.Errorf("%d rows were stored by refused requests", n)
	}
	for _, body := range []string{
		` {"summary":"plain"} `, `{"summary":"\ud83d\ude00 pair"}`, `{"summary":"back\\u0064slash \\ud800"}`,
		`{"summary":"nulls","raw_content":null,"kind":null,"importance":null,"tags":null,"source":null,"namespace":null,"session_id":null,"agent":null,"access":null,"expires_at":null}`,
		`{"summary":"a","importance":10,"expires_at":"2026-12-30T02:00:00+01:00"}`,
	} {
		d.post("/v1/remember", body).want(201)
	}
}

// A field of a request's struct that has no name in JSON is none of the request's.
func TestFieldsWithoutName(t *testing.T) {
	d := start(t, nil, nil)
	named := strings.NewReplacer("{id}", "x", "{session_id}", "x", "{memory_key}", "x")
	for _, rt := range d.server.table {
		if rt.in == nil {
			continue
		}
		for _, name := range []string{"", "-"} {
			d.do(ask{method: rt.method, path: named.Replace(rt.path), body: `{"` + name + `":1}`}).refused(400, memd.CodeInvalidRequest, "")
		}
	}
}

func TestMissingFields(t *testing.T) {
	d := start(t, nil, nil)
	m := d.short("x")
	for _, c := range []struct {
		path, body string
		code       memd.Code
		status     int
		field      string
	}{
		{"/v1/remember_long_term", `{"summary":"s","source":"AGENTS.md"}`, memd.CodeMissingField, 422, "memory_key"},
		{"/v1/remember_long_term", `{"memory_key":null,"summary":"s","source":"AGENTS.md"}`, memd.CodeMissingField, 422, "memory_key"},
		{"/v1/remember_long_term", `{"memory_key":"k","source":"AGENTS.md"}`, memd.CodeMissingField, 422, "summary"},
		{"/v1/remember_long_term", `{"memory_key":"k","summary":" ","source":"AGENTS.md"}`, memd.CodeInvalidRequest, 400, "summary"},
		{"/v1/remember_long_term", `{"memory_key":"k","summary":"s"}`, memd.CodeMissingSource, 422, "source"},
		{"/v1/remember_long_term", `{"memory_key":"k","summary":"s","source":null}`, memd.CodeMissingSource, 422, "source"},
		{"/v1/remember_long_term", `{"memory_key":"k","summary":"s","source":" "}`, memd.CodeMissingSource, 422, "source"},
		{"/v1/remember_long_term", `{"memory_key":"k k","summary":"s","source":"AGENTS.md"}`, memd.CodeInvalidRequest, 400, "memory_key"},
		{"/v1/remember_long_term", `{"memory_key":"k","summary":"s","source":"AGENTS.md","kind":"feedback"}`, memd.CodeMissingField, 422, "why"},
		{"/v1/sessions/s/transient", `{"ttl":"1h"}`, memd.CodeMissingField, 422, "summary"},
		{"/v1/sessions/s/transient", `{"summary":"n","ttl":"soon"}`, memd.CodeInvalidRequest, 400, "ttl"},
		{"/v1/memories/" + m.ID + "/promote", `{"source":"AGENTS.md"}`, memd.CodeMissingField, 422, "memory_key"},
		{"/v1/memories/" + m.ID + "/promote", `{"memory_key":"k"}`, memd.CodeMissingSource, 422, "source"},
		{"/v1/memories/batch", `{}`, memd.CodeInvalidRequest, 400, "ids"},
		{"/v1/why", `{"query":"x"}`, memd.CodeInvalidRequest, 400, "memory_key"},
		{"/v1/why", `{"id":"x","memory_key":"k"}`, memd.CodeInvalidRequest, 400, "id"},
		{"/v1/why", `{"id":"x","query":"` + strings.Repeat("a", memd.MaxQueryChars+1) + `"}`, memd.CodeTooLarge, 413, "query"},
		{"/v1/recall", `{"query":"x","limit":0}`, memd.CodeInvalidRequest, 400, "limit"},
		{"/v1/recall", `{"query":"x","limit":101}`, memd.CodeInvalidRequest, 400, "limit"},
		{"/v1/recall", `{"query":"` + strings.Repeat("a", memd.MaxQueryChars+1) + `"}`, memd.CodeTooLarge, 413, "query"},
	} {
		r := d.post(c.path, c.body)
		if r.Status != c.status {
			t.Errorf("%s %.60s: %d, want %d: %s", c.path, c.body, r.Status, c.status, r.Body)
			continue
		}
		if p := r.problem(); p.Code != c.code || p.Field != c.field {
			t.Errorf("%s %.60s: %s %q, want %s %q", c.path, c.body, p.Code, p.Field, c.code, c.field)
		}
	}
}

func TestContentType(t *testing.T) {
	d := start(t, nil, nil)
	send := func(path, body string, header http.Header) reply {
		return d.do(ask{method: "POST", path: path, body: body, header: header})
	}
	for contentType, want := range map[string]int{
		"application/json": 201, "application/json; charset=utf-8": 201, "Application/JSON;charset=UTF-8": 201,
		"": 415, "text/plain": 415, "application/x-www-form-urlencoded": 415, "application/json; charset=latin1": 415,
		"application/merge-patch+json": 415, "application/jsonx": 415, "application": 415, ";": 415,
	} {
		header := http.Header{}
		if contentType != "" {
			header.Set("Content-Type", contentType)
		}
		r := send("/v1/remember", `{"summary":"sent as `+contentType+`"}`, header)
		if r.Status != want {
			t.Errorf("%q: %d, want %d", contentType, r.Status, want)
		}
	}
	send("/v1/remember", `{"summary":"a"}`, http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}).
		refused(415, memd.CodeUnsupportedMediaType, "")
	send("/v1/remember", "", http.Header{"Content-Type": {"application/json"}}).refused(400, memd.CodeInvalidRequest, "")
	send("/v1/remember", "", nil).refused(415, memd.CodeUnsupportedMediaType, "")
	send("/v1/groom", "", http.Header{}).want(200)
	send("/v1/groom", "{}", http.Header{}).refused(415, memd.CodeUnsupportedMediaType, "")
}

// The largest body that is taken, and one byte more.
func TestBodyBound(t *testing.T) {
	d := start(t, nil, nil)
	fill := func(size int) string {
		frame := `{"summary":"a","unknown":""}`
		return frame[:len(frame)-2] + strings.Repeat("x", size-len(frame)) + frame[len(frame)-2:]
	}
	d.post("/v1/remember", fill(maxBody)).refused(400, memd.CodeInvalidRequest, "unknown")
	d.post("/v1/remember", fill(maxBody+1)).refused(413, memd.CodeTooLarge, "")
	d.post("/v1/recall", strings.Repeat("[", maxBody)).refused(400, memd.CodeInvalidRequest, "")
	d.post("/v1/recall", strings.Repeat("[", maxBody/2)+strings.Repeat("]", maxBody/2)).refused(400, memd.CodeInvalidRequest, "")
	d.post("/v1/recall", strings.Repeat(`{"a":`, 5000)+"1"+strings.Repeat("}", 5000)).refused(400, memd.CodeInvalidRequest, "")
}
