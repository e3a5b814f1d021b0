package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd/api/mcp"
	"memd/guard/fence"
)

// What tools answer is known again when somebody stores it, however it was carried over,
// and nothing beside it is lost.
func TestAnswersAreKnownAgain(t *testing.T) {
	d := start(t, nil)
	s := d.open(mcp.Options{})
	for i := range 3 {
		s.call("remember", args{"summary": fmt.Sprintf("The kumquat build %d was slow\nand then it was not.", i), "tags": []string{"kumquat"}})
	}
	s.call("remember_long_term", args{"memory_key": "kumquat/freeze", "kind": "rule", "summary": "No kumquat deploys on Fridays.", "source": "AGENTS.md#freeze"})
	s.call("note", args{"summary": "Half way through the kumquat."})

	said := map[string]string{}
	for name, call := range map[string]struct {
		tool string
		in   args
	}{
		"recall": {"recall", args{"query": "kumquat"}}, "a page of recall": {"recall", args{"query": "kumquat", "limit": 2}}, "one row of recall": {"recall", args{"query": "Fridays", "limit": 1}},
		"list": {"list", nil}, "a page of list": {"list", args{"limit": 2}}, "one row of list": {"list", args{"limit": 1}}, "a short list": {"list", args{"max_chars": 600}},
		"get": {"get", args{"memory_key": "kumquat/freeze"}}, "context": {"context", args{"query": "kumquat"}},
	} {
		res, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: call.tool, Arguments: call.in})
		if err != nil || res.IsError {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		said[name] = res.Content[0].(*sdk.TextContent).Text
		if name == "a short list" { // whose row is cut down to less than what a memory is known by
			continue
		}
		structured, err := plain(res.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		said[name+", structured"] = string(structured)
		whole, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		said[name+", as a result"] = string(whole)
	}
	read, err := s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "memd://key/default/kumquat%2Ffreeze"})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	said["a resource"], said["a resource, as a result"] = read.Contents[0].Text, string(whole)

	for _, name := range []string{"recall", "a page of recall", "one row of recall", "list", "get", "context"} {
		if as := fmt.Sprintf("%q", said[name]); !fence.Made(as) {
			t.Errorf("%s, in JSON, is not known again: %s", name, as)
		}
	}
	for name, text := range said {
		quoted := "> " + strings.ReplaceAll(text, "\n", "\n> ")
		for how, as := range map[string]string{
			"as it is": text, "quoted": quoted, "in one line": strings.Join(strings.Fields(text), " "), "in a block of code": "```\n" + text + "\n```",
			"announced": "What I recalled:\n\n" + text, "in lists": "  * " + strings.ReplaceAll(text, "\n", "\n  * "),
		} {
			if !fence.Made(as) {
				t.Errorf("%s, %s, is not known again: %s", name, how, as)
			}
			for _, own := range []string{"Never deploy on Mondays.", "That took 3 memories.", "8080"} {
				if fence.Made(own+"\n\n"+as) || fence.Made(as+"\n\n"+own) || fence.Made(own, as) || fence.Made(as, own) {
					t.Errorf("%q is lost beside %s, %s", own, name, how)
				}
			}
		}
		if !fence.Made("2 memories.", text) {
			t.Errorf("%s beside a count of memories is not known again", name)
		}
	}
	for _, own := range []string{"3 memories.", "1 memory.\n2 memories.", "3 memories. More with cursor next-0123456789abcdef.", "We keep 3 memories."} {
		if fence.Made(own) {
			t.Errorf("taken for memd's: %q", own)
		}
	}
}
