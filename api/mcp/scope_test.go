package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
	"memd/api/client"
	"memd/api/mcp"
)

// The first of agent, project, user and default that has a key wins; writes go to
// the agent, else the project, else default.
func TestPrecedence(t *testing.T) {
	d := start(t, nil)
	ctx := context.Background()
	put := func(ns string) {
		if _, err := d.rest.RememberLongTerm(ctx, memd.RememberLongTerm{MemoryKey: "plum", Summary: "plum of " + ns, Source: "AGENTS.md", Namespace: ns}); err != nil {
			t.Fatal(err)
		}
	}
	agent := d.open(mcp.Options{Defaults: mcp.Defaults{Agent: "a", Project: "p"}})
	project := d.open(mcp.Options{Defaults: mcp.Defaults{Project: "project/p"}})
	bare := d.open(mcp.Options{})
	wins := func(s *session, want string) {
		t.Helper()
		var a memd.Answer
		s.call("recall", args{"query": "plum"}).into(&a)
		var m memd.Memory
		s.call("get", args{"memory_key": "plum"}).into(&m)
		if len(a.Results) != 1 || a.Results[0].Namespace != want || m.Namespace != want {
			t.Errorf("recall finds %+v, get finds %s, want %s", a.Results, m.Namespace, want)
		}
		if r := s.call("context", args{"query": "plum"}); !strings.Contains(r.text, "plum of "+want) {
			t.Errorf("context of %s: %s", want, r.text)
		}
		var w memd.WhyAnswer
		s.call("why", args{"query": "plum", "id": m.ID}).into(&w)
		if !w.Returned {
			t.Errorf("why of %s: %+v", want, w)
		}
	}
	bare.call("get", args{"memory_key": "plum"}).refused(memd.CodeNotFound, "")
	for _, step := range []struct{ ns, agent, project, bare string }{
		{"default", "default", "default", "default"}, {"user", "user", "user", "user"},
		{"project/p", "project/p", "project/p", "user"}, {"agent/a", "agent/a", "project/p", "user"},
	} {
		put(step.ns)
		wins(agent, step.agent)
		wins(project, step.project)
		wins(bare, step.bare)
	}
	var named memd.Answer
	agent.call("recall", args{"query": "plum", "namespaces": []string{"default"}}).into(&named)
	if len(named.Results) != 1 || named.Results[0].Namespace != "default" {
		t.Errorf("named: %+v", named.Results)
	}
	for s, want := range map[*session]string{agent: "agent/a", project: "project/p", bare: "default"} {
		var w memd.Written
		s.call("remember", args{"summary": "an apple of " + want}).into(&w)
		if w.Namespace != want || want == "agent/a" && w.Agent != "a" {
			t.Errorf("written to %s of agent %q, want %s", w.Namespace, w.Agent, want)
		}
		s.call("remember_long_term", args{"memory_key": "apple", "summary": "apple", "source": "AGENTS.md"}).into(&w)
		if w.Namespace != want {
			t.Errorf("written to %s, want %s", w.Namespace, want)
		}
	}
	// A subagent keeps its own, and what is known of the person is known to all.
	var w memd.Written
	project.call("remember", args{"summary": "she likes pears", "namespace": "user"}).into(&w)
	other := d.open(mcp.Options{Defaults: mcp.Defaults{Agent: "b", Project: "q"}})
	var a memd.Answer
	other.call("recall", args{"query": "pears"}).into(&a)
	if len(a.Results) != 1 || a.Results[0].ID != w.ID {
		t.Errorf("the person: %+v", a.Results)
	}
	other.call("recall", args{"query": "apple"}).into(&a)
	if len(a.Results) != 2 || a.Results[0].Namespace != "default" || a.Results[1].Namespace != "default" {
		t.Errorf("another agent in another project finds %+v", a.Results)
	}
	// By its key an agent forgets nothing but its own.
	other.call("forget", args{"memory_key": "plum"}).refused(memd.CodeNotFound, "")
	agent.call("forget", args{"memory_key": "plum"}).into(&struct{}{})
	wins(agent, "project/p")
}

// A caller who does not see all of the default namespaces reads those that it
// sees; whether it was known before or is found out.
func TestNamespacesOfAToken(t *testing.T) {
	d := start(t, nil).listen()
	token := d.token("ann", memd.RoleWrite, "project/p", "user")
	s := d.over(token, "?agent=a&project=p")
	if said := s.InitializeResult().Instructions; !strings.Contains(said, "reads project/p, user (") {
		t.Errorf("it is told %q", said)
	}
	d.admits(t, s)
	overSocket := d.open(mcp.Options{
		Client:   func(context.Context) *client.Client { return client.New(tcp{d, token}) },
		Defaults: mcp.Defaults{Agent: "a", Project: "p"},
	})
	d.admits(t, overSocket)
}

// A token that sees none of the default namespaces is told by every call which it sees.
func TestNoNamespaceOfAToken(t *testing.T) {
	d := start(t, nil).listen()
	s := d.over(d.token("ann", memd.RoleWrite, "project/p", "team/x"), "")
	if said := s.InitializeResult().Instructions; !strings.Contains(said, "sees project/p, team/x alone") || strings.Contains(said, "default") {
		t.Errorf("it is told %q", said)
	}
	for tool, in := range map[string]args{
		"recall": {"query": "plum"}, "context": {}, "list": {}, "get": {"memory_key": "k"}, "why": {"memory_key": "k"},
		"remember": {"summary": "a plum"}, "forget": {"memory_key": "k"},
	} {
		if p := s.call(tool, in).refused(memd.CodeForbidden, "namespace"); !strings.Contains(p.Hint, "project/p, team/x") {
			t.Errorf("%s: %q", tool, p.Hint)
		}
	}
	_, err := s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "memd://key/default/k"})
	if err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("the resource: %v", err)
	}
	var page memd.Page
	s.call("list", args{"namespace": "project/p"}).into(&page)
	many := []string{}
	for i := range 60 {
		many = append(many, fmt.Sprintf("team/%s-%d", strings.Repeat("x", 50), i))
	}
	s = d.over(d.token("bob", memd.RoleWrite, many...), "")
	r := s.call("remember", args{"summary": "a plum"})
	p := r.refused(memd.CodeForbidden, "namespace")
	if said := s.InitializeResult().Instructions; !strings.Contains(p.Hint, many[0]+", "+many[1]+" and ") || len(r.text) > 500 || len(r.structured) > 500 || len(said) > 1200 {
		t.Errorf("of many it is told %q and %q", r.text, said)
	}
}

// The one namespace of a token that sees none of the default ones is its default.
func TestOneNamespaceOfAToken(t *testing.T) {
	d := start(t, nil).listen()
	s := d.over(d.token("ann", memd.RoleWrite, "team/x"), "?agent=a")
	if said := s.InitializeResult().Instructions; !strings.Contains(said, "reads team/x (") || !strings.Contains(said, "writes team/x.") {
		t.Errorf("it is told %q", said)
	}
	var w memd.Written
	if s.call("remember", args{"summary": "a plum"}).into(&w); w.Namespace != "team/x" {
		t.Errorf("written to %s", w.Namespace)
	}
	var a memd.Answer
	if s.call("recall", args{"query": "plum"}).into(&a); len(a.Results) != 1 {
		t.Errorf("found %+v", a)
	}
	s.call("remember_long_term", args{"memory_key": "k", "summary": "a plum", "source": "AGENTS.md"}).into(&w)
	s.call("forget", args{"memory_key": "k"}).into(&struct{}{})
	s.call("recall", args{"query": "plum", "namespaces": []string{"default"}}).refused(memd.CodeForbidden, "namespace")
}

func (d *daemon) admits(t *testing.T, s *session) {
	t.Helper()
	var w memd.Written
	s.call("remember", args{"summary": "a plum", "namespace": "user"}).into(&w)
	var a memd.Answer
	s.call("recall", args{"query": "plum"}).into(&a)
	if len(a.Results) != 1 {
		t.Errorf("found %+v", a)
	}
	var page memd.Page
	s.call("list", nil).into(&page)
	if len(page.Memories) != 1 {
		t.Errorf("listed %+v", page)
	}
	s.call("recall", args{"query": "plum", "namespaces": []string{"default"}}).refused(memd.CodeForbidden, "namespace")
	s.call("remember", args{"summary": "a plum"}).refused(memd.CodeForbidden, "namespace")
}

// Notes belong to their session and end with it; those of another session that a
// call names do not.
func TestNotes(t *testing.T) {
	both(t, func(t *testing.T, d *daemon, open func(mcp.Defaults, string) *session) {
		a, b := open(mcp.Defaults{}, ""), open(mcp.Defaults{}, "")
		var w, named memd.Written
		a.call("note", args{"summary": "half of the plums are counted"}).into(&w)
		a.call("note", args{"summary": "plums of another session", "session_id": "s"}).into(&named)
		if w.Tier != memd.Transient || w.SessionID == "" || named.SessionID != "s" {
			t.Errorf("noted in %q and %q", w.SessionID, named.SessionID)
		}
		found := func(s *session, in args) int {
			t.Helper()
			var answer memd.Answer
			s.call("recall", in).into(&answer)
			return len(answer.Results)
		}
		if n := found(a, args{"query": "plums"}); n != 1 {
			t.Errorf("its own session finds %d", n)
		}
		if n := found(b, args{"query": "plums"}); n != 0 {
			t.Errorf("another session finds %d", n)
		}
		listed := func(s *session, in args) (ids []string) {
			t.Helper()
			var page memd.Page
			s.call("list", in).into(&page)
			for _, m := range page.Memories {
				ids = append(ids, m.ID)
			}
			return ids
		}
		if ids := listed(a, args{"tier": "transient"}); len(ids) != 1 || ids[0] != w.ID {
			t.Errorf("its own session lists %q, want %s", ids, w.ID)
		}
		if ids := listed(b, args{"tier": "transient"}); len(ids) != 0 {
			t.Errorf("another session lists %q", ids)
		}
		if ids := listed(b, args{"tier": "transient", "session_id": "s"}); len(ids) != 1 || ids[0] != named.ID {
			t.Errorf("of the named session is listed %q, want %s", ids, named.ID)
		}
		if r := a.call("context", args{}); !strings.Contains(r.text, "half of the plums") {
			t.Errorf("after a compaction: %s", r.text)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		d.settled()
		if n := found(b, args{"query": "plums", "session_id": w.SessionID}); n != 0 {
			t.Errorf("after its end the session finds %d", n)
		}
		if n := found(b, args{"query": "plums", "session_id": "s"}); n != 1 {
			t.Errorf("the named session finds %d", n)
		}
	})
}

func TestDefaultsCheck(t *testing.T) {
	for _, d := range []mcp.Defaults{{Agent: "A b"}, {Project: "../x"}, {Agent: strings.Repeat("a", 200)}, {Access: make([]string, 40)}} {
		if memd.CodeOf(d.Check()) != memd.CodeInvalidRequest {
			t.Errorf("%+v: %v", d, d.Check())
		}
	}
	if err := (mcp.Defaults{Agent: "agent/x", Project: "memd-12ab34cd"}).Check(); err != nil {
		t.Error(err)
	}
}

// Restricted memories are read by a session that names their tags, and by no other.
func TestAccess(t *testing.T) {
	d := start(t, nil)
	s, open := d.open(mcp.Options{}), d.open(mcp.Options{Defaults: mcp.Defaults{Access: []string{"hr"}}})
	var w memd.Written
	s.call("remember_long_term", args{"memory_key": "pay", "summary": "the plum is paid", "source": "AGENTS.md", "access": []string{"hr"}}).into(&w)
	for c, want := range map[*session]int{s: 0, open: 1} {
		var a memd.Answer
		c.call("recall", args{"query": "plum"}).into(&a)
		var p memd.Page
		c.call("list", args{"q": "plum"}).into(&p)
		if len(a.Results) != want || len(p.Memories) != want || strings.Contains(c.call("context", args{"query": "plum"}).text, "paid") != (want == 1) {
			t.Errorf("found %d and %d, want %d", len(a.Results), len(p.Memories), want)
		}
		for _, in := range []args{{"memory_key": "pay"}, {"id": w.ID}} {
			if got := !c.call("get", in).isError; got != (want == 1) {
				t.Errorf("get %v: %v, want %d", in, got, want)
			}
			in["access"] = []string{"hr", "it"}
			c.call("get", in).into(&memd.Memory{})
		}
		for _, in := range []args{{"memory_key": "pay"}, {"id": w.ID}} {
			if got := !c.call("verify", in).isError; got != (want == 1) {
				t.Errorf("verify %v: %v, want %d", in, got, want)
			}
		}
		for _, uri := range []string{"memd://key/default/pay", "memd://memory/" + w.ID} {
			_, err := c.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: uri})
			if (err == nil) != (want == 1) || err != nil && !strings.HasPrefix(err.Error(), "not_found") && !strings.Contains(err.Error(), "not_found: ") {
				t.Errorf("%s: %v, want %d", uri, err, want)
			}
		}
	}
	in := args{"memory_key": "pay", "summary": "the plum is owed", "source": "AGENTS.md", "base_version": 9}
	if p := open.call("remember_long_term", in).refused(memd.CodeVersionConflict, "base_version"); p.Head == nil {
		t.Errorf("conflict: %+v, want its head", p)
	}
	s.call("remember_long_term", in).refused(memd.CodeForbidden, "memory_key")
	// To who does not name its tags it stands in nobody's way.
	s.call("remember_long_term", args{"memory_key": "pay", "summary": "the pear is paid", "source": "AGENTS.md", "namespace": "user", "access": []string{"board"}}).into(&w)
	var m memd.Memory
	if open.call("get", args{"memory_key": "pay"}).into(&m); m.Namespace != memd.DefaultNamespace {
		t.Errorf("got that of %s", m.Namespace)
	}
}

// Who does not name its tags neither replaces nor forgets a restricted memory.
func TestAccessOfWrites(t *testing.T) {
	both(t, func(t *testing.T, d *daemon, open func(mcp.Defaults, string) *session) {
		s := open(mcp.Defaults{}, "")
		var w memd.Written
		write := func(summary string, access ...string) result {
			in := args{"memory_key": "pay", "summary": summary, "source": "AGENTS.md"}
			if access != nil {
				in["access"] = access
			}
			return s.call("remember_long_term", in)
		}
		write("the plum is paid", "hr").into(&w)
		for _, tags := range [][]string{nil, {"it"}} {
			write("the plum is owed", tags...).refused(memd.CodeForbidden, "memory_key")
			for tool, named := range map[string]args{"forget": {"memory_key": "pay"}, "verify": {"memory_key": "pay"}} {
				for _, in := range []args{named, {"id": w.ID}} {
					if in["access"] = tags; tags == nil {
						delete(in, "access")
					}
					s.call(tool, in).refused(memd.CodeNotFound, "")
				}
			}
		}
		var m memd.Memory
		s.call("get", args{"memory_key": "pay", "access": []string{"hr"}}).into(&m)
		if m.ID != w.ID || m.Summary != "the plum is paid" {
			t.Errorf("it became %+v", m)
		}
		s.call("verify", args{"memory_key": "pay", "access": []string{"hr"}}).into(&w)
		write("the plum is owed", "hr").into(&w)
		s.call("forget", args{"id": w.ID, "access": []string{"hr"}}).into(&struct{}{})
		write("the plum is open").into(&w)
		s.call("forget", args{"memory_key": "pay"}).into(&struct{}{})
		s.call("forget", args{"memory_key": "pay"}).refused(memd.CodeNotFound, "")
	})
}
