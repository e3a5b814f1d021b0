package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
	"memd/api/client"
	"memd/api/mcp"
)

// answering is a client of a daemon that answers as told.
func answering(h http.HandlerFunc) func(context.Context) *client.Client {
	c := client.New(client.Handler(h))
	return func(context.Context) *client.Client { return c }
}

// someArguments are such that each tool asks the daemon.
var someArguments = map[string]args{
	"remember": {"summary": "x"}, "remember_long_term": {"memory_key": "k", "summary": "x", "source": "AGENTS.md"}, "note": {"summary": "x"},
	"recall": {"query": "x"}, "context": {}, "get": {"id": "x"}, "list": {}, "forget": {"id": "x"}, "verify": {"id": "x"}, "why": {"id": "x"},
}

// Every code of every tool comes out as a refusal with what REST said, bounded and
// harmless.
func TestRefusalsOfEveryCode(t *testing.T) {
	d := start(t, nil)
	var body string
	var status int
	s := d.open(mcp.Options{Client: answering(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})})
	all := tools(t, s)
	for _, code := range []memd.Code{
		memd.CodeInvalidRequest, memd.CodeUnauthorized, memd.CodeForbidden, memd.CodeNotFound, memd.CodeVersionConflict, memd.CodeTooLarge,
		memd.CodeUnsupportedMediaType, memd.CodeMissingSource, memd.CodeMissingField, memd.CodeSecretDetected, memd.CodeNotDurableFact,
		memd.CodeRateLimited, memd.CodeBudgetExceeded, memd.CodeStoreBusy, memd.CodeStoreFailed,
	} {
		status = code.Statuses().HTTP
		raw, err := json.Marshal(map[string]any{
			"code": code, "detail": "it was " + strings.Repeat("so ", 300), "field": "summary", "hint": "do \u202ethat " + strings.Repeat("soon ", 300), "rules": strings.Fields(strings.Repeat("a-rule ", 200)),
			"fields": strings.Fields(strings.Repeat("a_field ", 200)), "head": memd.Memory{ID: "h", Summary: attack + strings.Repeat("\"", 5000), Namespace: "default"},
		})
		if err != nil {
			t.Fatal(err)
		}
		body = string(raw)
		for name, in := range someArguments {
			room := 16000
			if in, _ := resolved(t, all[name].InputSchema); in.Properties["max_chars"] != nil {
				room = 500
			}
			given := args{}
			for k, v := range in {
				given[k] = v
			}
			if room == 500 {
				given["max_chars"] = room
			}
			p := s.checked(t, all[name], given, room).refused(code, "summary")
			if !strings.HasPrefix(p.Detail, "it was so") || !strings.HasPrefix(p.Hint, "do that") {
				t.Errorf("%s, %s: %+v", name, code, p)
			}
			if code == memd.CodeVersionConflict && room == 16000 && (p.Head == nil || p.Head.ID != "h") {
				t.Errorf("%s: no head: %+v", name, p)
			}
		}
		// One that gives no hint gets one.
		body = `{"code":"` + string(code) + `","detail":"so it is"}`
		for name, in := range someArguments {
			if r := s.call(name, in); r.refused(code, "").Hint == "" || !strings.Contains(r.text, ". Hint: ") {
				t.Errorf("%s, %s: no hint: %s", name, code, r.text)
			}
		}
	}
}

// What memd did not word itself is not shown.
func TestForeignErrors(t *testing.T) {
	const secret = "xylophone"
	d := start(t, nil)
	for name, h := range map[string]http.HandlerFunc{
		"html":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502); _, _ = io.WriteString(w, secret) },
		"cut":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id":"`+secret) },
		"list":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `["`+secret+`"]`) },
		"panics": func(http.ResponseWriter, *http.Request) { panic(secret) },
	} {
		s := d.open(mcp.Options{Client: answering(h), Log: d.logger()})
		for tool, in := range someArguments {
			if tool == "forget" && name != "html" && name != "panics" {
				continue // it reads no answer
			}
			r := s.call(tool, in)
			r.refused(memd.CodeStoreFailed, "")
			if strings.Contains(r.text+string(r.structured), secret) {
				t.Errorf("%s, %s: %s", name, tool, r.text)
			}
		}
		if _, err := s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "memd://memory/x"}); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: resource: %v", name, err)
		}
		if _, err := s.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: "groom-review"}); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: prompt: %v", name, err)
		}
	}
	if log := d.log.String(); strings.Contains(log, secret) || !strings.Contains(log, `"panic_type":"string"`) {
		t.Errorf("log: %s", log)
	}
	s := d.open(mcp.Options{Client: func(context.Context) *client.Client { return client.New(broken{errors.New(secret)}) }, Log: d.logger()})
	if r := s.call("recall", args{"query": "x"}); strings.Contains(r.text, secret) || strings.Contains(d.log.String(), secret) {
		t.Errorf("%s %s", r.text, d.log.String())
	}
}

type broken struct{ err error }

func (b broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

// Arguments that do not fit their schema are named, and their values are not.
func TestArguments(t *testing.T) {
	const secret = "xylophone"
	d := start(t, nil)
	s := d.open(mcp.Options{})
	for _, c := range []struct {
		tool, in, field string
		code            memd.Code
	}{
		{"recall", `{}`, "query", memd.CodeMissingField},
		{"recall", `{"query":null}`, "query", memd.CodeMissingField},
		{"recall", `{"query":["xylophone"]}`, "query", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","limit":"xylophone"}`, "limit", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","limit":0}`, "limit", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","limit":101}`, "limit", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","limit":1.5}`, "limit", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","max_chars":499}`, "max_chars", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","max_chars":100001}`, "max_chars", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","tiers":["xylophone"]}`, "tiers", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","tags":"xylophone"}`, "tags", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","tags":["a",null]}`, "tags", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","include_raw":"true"}`, "include_raw", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","Query":"xylophone"}`, "Query", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","the xylophone":1}`, "", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","query":"xylophone"}`, "", memd.CodeInvalidRequest},
		{"recall", `{"query":"xylophone \ud800"}`, "query", memd.CodeInvalidRequest},
		{"recall", `{"query":"x","namespaces":["Xylophone"]}`, "namespace", memd.CodeInvalidRequest},
		{"recall", `["xylophone"]`, "", memd.CodeInvalidRequest},
		{"recall", `{"query":"` + strings.Repeat("xylophone", 4000) + `"}`, "query", memd.CodeTooLarge},
		{"remember", `{}`, "summary", memd.CodeMissingField},
		{"remember", `{"summary":" "}`, "summary", memd.CodeInvalidRequest},
		{"remember", `{"summary":"x","kind":"xylophone"}`, "kind", memd.CodeInvalidRequest},
		{"remember", `{"summary":"x","importance":11}`, "importance", memd.CodeInvalidRequest},
		{"remember", `{"summary":"x","expires_at":"xylophone"}`, "expires_at", memd.CodeInvalidRequest},
		{"remember_long_term", `{"summary":"x","source":"AGENTS.md"}`, "memory_key", memd.CodeMissingField},
		{"remember_long_term", `{"memory_key":"k","summary":"x"}`, "source", memd.CodeMissingSource},
		{"remember_long_term", `{"memory_key":"k","summary":"x","source":"AGENTS.md","kind":"event"}`, "kind", memd.CodeInvalidRequest},
		{"remember_long_term", `{"memory_key":"k","summary":"x","source":"AGENTS.md","kind":"feedback"}`, "why", memd.CodeMissingField},
		{"note", `{"summary":"x","ttl":"xylophone"}`, "ttl", memd.CodeInvalidRequest},
		{"verify", `{"id":"x","verified_at":"xylophone"}`, "verified_at", memd.CodeInvalidRequest},
		{"remember_long_term", `{"memory_key":"k","summary":"x","source":"AGENTS.md","verified_at":""}`, "verified_at", memd.CodeInvalidRequest},
		{"get", `{}`, "id", memd.CodeInvalidRequest},
		{"get", `{"id":"x","memory_key":"xylophone"}`, "id", memd.CodeInvalidRequest},
		{"get", `{"id":"xylophone"}`, "", memd.CodeNotFound},
		{"forget", `{}`, "id", memd.CodeInvalidRequest},
		{"forget", `{"memory_key":"xylophone"}`, "", memd.CodeNotFound},
		{"verify", `{"id":"x","memory_key":"k"}`, "id", memd.CodeInvalidRequest},
		{"list", `{"limit":201}`, "limit", memd.CodeInvalidRequest},
		{"list", `{"stale":"yes"}`, "stale", memd.CodeInvalidRequest},
	} {
		r := s.call(c.tool, json.RawMessage(c.in))
		var p problem
		if err := json.Unmarshal(r.structured, &p); err != nil || !r.isError || p.Code != c.code || p.Field != c.field {
			t.Errorf("%s %.60s: %s", c.tool, c.in, r.structured)
		}
		if strings.Contains(strings.ToLower(r.text+string(r.structured)), secret) {
			t.Errorf("%s %.60s: the value is repeated: %s", c.tool, c.in, r.text)
		}
	}
	// What is as good as right is taken.
	for _, in := range []string{`{"query":"x","limit":1e1,"max_chars":500.0}`, `{"query":"x","tags":null,"limit":null}`, `{"query":"\ufffd \\ud800 \ud83d\ude00"}`} {
		if r := s.call("recall", json.RawMessage(in)); r.isError {
			t.Errorf("%s: %s", in, r.structured)
		}
	}
	if n, err := d.store.Stats(context.Background()); err != nil || fmt.Sprint(n.Tiers) != fmt.Sprint(start(t, nil).stats()) {
		t.Errorf("something was written: %v, %v", n.Tiers, err)
	}
}

// A secret is refused with its rule and never its value.
func TestSecret(t *testing.T) {
	d := start(t, nil)
	s := d.open(mcp.Options{})
	const secret = "hunter2Xq9vT4mPz8"
	r := s.call("remember_long_term", args{"memory_key": "k", "summary": "the db.password = " + secret, "source": "AGENTS.md"})
	p := r.refused(memd.CodeSecretDetected, "summary")
	if len(p.Rules) == 0 || len(p.Fields) == 0 || p.Hint == "" || strings.Contains(r.text+string(r.structured), secret) {
		t.Errorf("%s: %s", r.text, r.structured)
	}
}
