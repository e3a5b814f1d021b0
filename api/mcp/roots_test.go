package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/api/client"
	"memd/api/mcp"
)

// helloRoots is hello of a client that has roots.
var helloRoots = strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1)

// rooted is a Server that takes the last element of a root in /src for its project.
func (d *daemon) rooted(defaults mcp.Defaults) *mcp.Server {
	return mcp.New(mcp.Options{
		Client: func(context.Context) *client.Client { return d.rest }, Defaults: defaults, Version: "test",
		ProjectOf: func(folder string) string {
			if dir, id := path.Split(folder); dir == "/src/" {
				return id
			}
			return ""
		},
	}).Rooting(patience)
}

// The first root that gives a project is the session's, where the client has roots
// and says them; else all is as without.
func TestRoots(t *testing.T) {
	d := start(t, nil)
	list := func(uris ...string) string {
		roots := []map[string]string{}
		for _, uri := range uris {
			roots = append(roots, map[string]string{"uri": uri})
		}
		text, err := json.Marshal(roots)
		if err != nil {
			t.Fatal(err)
		}
		return `"result":{"roots":` + string(text) + `}`
	}
	for name, tt := range map[string]struct {
		hello    string
		defaults mcp.Defaults
		answer   string // to roots/list; "" for none, if it is asked
		want     string // the namespace that is written
		asked    bool
	}{
		"a project":         {helloRoots, mcp.Defaults{}, list("file:///src/p"), "project/p", true},
		"escaped":           {helloRoots, mcp.Defaults{}, list("file://localhost/%73rc/p"), "project/p", true},
		"the first of many": {helloRoots, mcp.Defaults{}, list("https://src/x", "file:///home/ann", "file://other/src/x", "src/x", "file:src/x", "file:///src/p", "file:///src/q"), "project/p", true},
		"an agent":          {helloRoots, mcp.Defaults{Agent: "a"}, list("file:///src/p"), "agent/a", true},
		"none":              {helloRoots, mcp.Defaults{}, list(), "default", true},
		"null":              {helloRoots, mcp.Defaults{}, `"result":{"roots":[null]}`, "default", true},
		"no project":        {helloRoots, mcp.Defaults{}, list("file:///", "file:///home/ann"), "default", true},
		"an error":          {helloRoots, mcp.Defaults{}, `"error":{"code":-32603,"message":"no"}`, "default", true},
		"garbage":           {helloRoots, mcp.Defaults{}, `"result":17`, "default", true},
		"no answer":         {helloRoots, mcp.Defaults{}, "", "default", true},
		"no roots":          {hello, mcp.Defaults{}, list("file:///src/p"), "default", false},
		"known already":     {helloRoots, mcp.Defaults{Project: "w"}, list("file:///src/p"), "project/w", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs, in := io.Pipe()
			out, ours := io.Pipe()
			done := make(chan error, 1)
			server := d.rooted(tt.defaults)
			if tt.answer == "" {
				server.Rooting(time.Millisecond)
			}
			go func() { done <- server.Run(context.Background(), mcp.NewStdio(theirs, ours)) }()
			say := func(text string) {
				if _, err := io.WriteString(in, text); err != nil {
					t.Error(err)
				}
			}
			go say(tt.hello + `{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"remember","arguments":{"summary":"a plum of ` + name + `"}}}` + "\n")
			asked := false
			for scan := bufio.NewScanner(out); scan.Scan(); {
				var l line
				if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
					t.Fatal(err)
				}
				if l.Method == "roots/list" {
					if asked {
						t.Error("it asks twice")
					}
					if asked = true; tt.answer != "" {
						id, _ := json.Marshal(l.ID)
						say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", id, tt.answer))
					}
				}
				if l.ID == "w" {
					var got struct{ StructuredContent memd.Written }
					if err := json.Unmarshal(l.Result, &got); err != nil || got.StructuredContent.Namespace != tt.want {
						t.Errorf("written to %q, want %s (%v)", got.StructuredContent.Namespace, tt.want, err)
					}
					break
				}
			}
			if asked != tt.asked && tt.answer != "" { // else its time may be over before
				t.Errorf("asked: %v, want %v", asked, tt.asked)
			}
			_ = in.Close()
			go func() { _, _ = io.Copy(io.Discard, out) }()
			if err := <-done; err != nil {
				t.Error(err)
			}
			_ = out.Close()
		})
	}
}

// A client that closes its end before it has said its roots is answered nevertheless.
func TestRootsAtTheEnd(t *testing.T) {
	d := start(t, nil)
	out := &logBuffer{}
	stdio := mcp.NewStdio(strings.NewReader(helloRoots+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`), out)
	stdio.Patient(patience)
	if err := d.rooted(mcp.Defaults{}).Rooting(time.Millisecond).Run(context.Background(), stdio); err != nil {
		t.Fatal(err)
	}
	for _, l := range linesOf(t, out.String()) {
		if l.ID == float64(1) && l.Method == "" && strings.Contains(string(l.Result), "memories") {
			return
		}
	}
	t.Errorf("answered %s", out.String())
}

// Where nobody can tell the project of a folder, and over HTTP, no client is asked.
func TestRootsOfOthers(t *testing.T) {
	d := start(t, nil).listen()
	for _, l := range d.spoken(d.rest, helloRoots+`{"jsonrpc":"2.0","id":1,"method":"ping"}`, patience) {
		if l.Method != "" {
			t.Errorf("it is asked %s", l.Method)
		}
	}
	first, _, _ := strings.Cut(helloRoots, "\n")
	r := d.ask(ask{token: d.admin, body: first})
	if r = d.ask(ask{token: d.admin, session: r.Header.Get(mcp.SessionHeader), body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`}); strings.Contains(r.body, "roots/list") || !strings.Contains(r.body, "memories") {
		t.Errorf("over HTTP: %s", r.body)
	}
}
