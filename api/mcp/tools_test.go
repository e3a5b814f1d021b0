package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd/api/mcp"
)

// readOnly, destructive, idempotent of each tool.
var hints = map[string][3]bool{
	"remember": {false, false, true}, "remember_long_term": {false, false, true}, "note": {false, false, false},
	"recall": {true, false, true}, "context": {true, false, true}, "get": {true, false, true}, "list": {true, false, true},
	"forget": {false, true, true}, "verify": {false, false, true}, "why": {true, false, true},
}

var core = []string{"context", "get", "recall", "remember", "remember_long_term"}

func tools(t *testing.T, s *session) map[string]*sdk.Tool {
	t.Helper()
	res, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*sdk.Tool{}
	for _, tool := range res.Tools {
		all[tool.Name] = tool
	}
	return all
}

// resolved is a schema as the library of another protocol implementation takes it.
func resolved(t *testing.T, schema any) (*jsonschema.Schema, *jsonschema.Resolved) {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return &s, r
}

func TestTools(t *testing.T) {
	d := start(t, nil)
	all := tools(t, d.open(mcp.Options{}))
	if len(all) != len(hints) {
		t.Errorf("%d tools", len(all))
	}
	for name, want := range hints {
		tool := all[name]
		if tool == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		raw, err := json.Marshal(tool.Annotations)
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]any
		if err := json.Unmarshal(raw, &said); err != nil {
			t.Fatal(err)
		}
		for i, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint"} {
			if got, set := said[hint].(bool); !set || got != want[i] {
				t.Errorf("%s: %s is %v", name, hint, said[hint])
			}
		}
		if open, set := said["openWorldHint"].(bool); !set || open {
			t.Errorf("%s: openWorldHint is %v", name, said["openWorldHint"])
		}
		in, _ := resolved(t, tool.InputSchema)
		if in.Type != "object" || in.AdditionalProperties == nil || in.AdditionalProperties.Not == nil {
			t.Errorf("%s takes any argument", name)
		}
		for field, p := range in.Properties {
			if p.Type == "" || p.Description == "" || p.Type == "array" && (p.Items == nil || p.MaxItems == nil) || p.Type == "integer" && (p.Minimum == nil || p.Maximum == nil) {
				t.Errorf("%s: %s is not described: %+v", name, field, p)
			}
		}
		if out, _ := resolved(t, tool.OutputSchema); out.Type != "object" || len(out.Properties) == 0 || len(out.Required) > 0 {
			t.Errorf("%s: output schema %v", name, out)
		}
		if len(tool.Description) < 60 || tool.Title == "" {
			t.Errorf("%s: description %q", name, tool.Description)
		}
	}
	for name, words := range map[string][]string{
		"remember":           {"confirmations", "Do not save what the code", "secrets"},
		"remember_long_term": {"PERMANENT", "confirmations", "Do not save what the code"},
		"recall":             {"check one that names a file"},
		"forget":             {"for good"},
	} {
		for _, word := range words {
			if !strings.Contains(all[name].Description, word) {
				t.Errorf("%s does not say %q", name, word)
			}
		}
	}
}

func TestCoreProfile(t *testing.T) {
	d := start(t, nil)
	var names []string
	for name := range tools(t, d.open(mcp.Options{Profile: mcp.ProfileCore})) {
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Equal(names, core) {
		t.Errorf("core has %q", names)
	}
	small, err := mcp.Describe(mcp.ProfileCore)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := mcp.Describe("")
	if err != nil {
		t.Fatal(err)
	}
	if len(small.Tools) != len(core) || len(whole.Tools) != len(hints) || small.Shown.Chars >= whole.Shown.Chars || small.Shown.Tokens*4 < small.Shown.Chars {
		t.Errorf("described as %+v and %+v", small, whole)
	}
	t.Logf("core: %+v, full: %+v, instructions %+v", small.Shown, whole.Shown, whole.Instructions)
	if _, err := mcp.Describe("small"); err == nil {
		t.Error("an unknown profile is described")
	}
}

// What is announced is what is there: no logging, no changes.
func TestCapabilities(t *testing.T) {
	d := start(t, nil)
	raw, err := json.Marshal(d.open(mcp.Options{}).InitializeResult().Capabilities)
	if err != nil || string(raw) != `{"completions":{},"prompts":{},"resources":{},"tools":{}}` {
		t.Errorf("capabilities %s, %v", raw, err)
	}
}
