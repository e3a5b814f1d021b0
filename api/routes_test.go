package api

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/guard"
)

func TestShortTerm(t *testing.T) {
	d := start(t, nil, nil)
	body := `{"summary":"the build needs go 1.26","kind":"task","importance":7,"tags":["build"],"source":"go.mod"}`
	var w memd.Written
	d.post("/v1/remember", body).want(http.StatusCreated).into(&w)
	if w.Tier != memd.Short || w.Kind != memd.Task || w.Importance != 7 || len(w.Tags) != 1 || w.Namespace != "default" {
		t.Errorf("written as %+v", w)
	}
	var again memd.Written
	d.post("/v1/remember", body).want(http.StatusOK).into(&again)
	if !again.Deduplicated || again.ID != w.ID {
		t.Errorf("repeated: %+v", again)
	}
}

func TestLongTerm(t *testing.T) {
	d := start(t, nil, nil)
	key := "agents/commands"
	first := d.long(key, "run go test ./...")
	if first.Version != 1 || first.MemoryKey != key {
		t.Errorf("first version: %+v", first)
	}
	var w memd.Written
	d.post("/v1/remember_long_term", `{"memory_key":"agents/commands","summary":"run go test ./...","source":"AGENTS.md#x"}`).want(200).into(&w)
	if !w.Unchanged {
		t.Errorf("unchanged: %+v", w)
	}
	d.post("/v1/remember_long_term", `{"memory_key":"agents/commands","summary":"run make test","source":"AGENTS.md#x","base_version":1}`).want(200).into(&w)
	if w.Version != 2 {
		t.Errorf("second version: %+v", w)
	}
	p := d.post("/v1/remember_long_term", `{"memory_key":"agents/commands","summary":"run nothing","source":"AGENTS.md#x","base_version":1}`).
		refused(409, memd.CodeVersionConflict, "base_version")
	if p.Head == nil || p.Head.Version != 2 || p.Head.Tags == nil {
		t.Errorf("conflict names the head %+v", p.Head)
	}

	var head memd.Memory
	d.get("/v1/keys/agents%2Fcommands").want(200).into(&head)
	if head.Version != 2 {
		t.Errorf("head: %+v", head)
	}
	var v versions
	d.get("/v1/keys/agents%2Fcommands/versions").want(200).into(&v)
	if len(v.Versions) != 2 || v.Versions[0].Version != 2 {
		t.Errorf("versions: %+v", v)
	}
	d.del("/v1/keys/agents%2Fcommands").want(204)
	d.get("/v1/keys/agents%2Fcommands").refused(404, memd.CodeNotFound, "")
}

// A key may hold what a path means otherwise.
func TestAwkwardKeys(t *testing.T) {
	d := start(t, nil, nil)
	for _, key := range []string{"versions", "a/versions", "versions/versions", "a/b/c", "..", "a//b", "-._/", "/", "A"} {
		d.long(key, "key "+key)
		escaped := strings.ReplaceAll(key, "/", "%2F")
		if key == ".." {
			escaped = "%2E%2E" // or the client cleans the path
		}
		var m memd.Memory
		d.get("/v1/keys/" + escaped).want(200).into(&m)
		if m.MemoryKey != key {
			t.Errorf("key %q found %q", key, m.MemoryKey)
		}
		var v versions
		d.get("/v1/keys/" + escaped + "/versions").want(200).into(&v)
		if len(v.Versions) != 1 || v.Versions[0].MemoryKey != key {
			t.Errorf("versions of %q: %+v", key, v)
		}
	}
	// Decoded once: %252F is the text %2F, which no key holds.
	d.get("/v1/keys/a%252Fversions").refused(404, memd.CodeNotFound, "")
	d.get("/v1/keys/a/versions/versions").refused(404, memd.CodeNotFound, "")
}

func TestSessions(t *testing.T) {
	d := start(t, nil, nil)
	alice, bob := d.token("alice", memd.RoleWrite), d.token("bob", memd.RoleWrite)
	path := "/v1/sessions/s%2F1/transient"
	var w memd.Written
	d.do(ask{method: "POST", path: path, body: `{"summary":"halfway through","ttl":"90s"}`, token: alice}).want(201).into(&w)
	if w.SessionID != "s/1" || w.Tier != memd.Transient {
		t.Errorf("note: %+v", w)
	}
	d.do(ask{method: "GET", path: path, token: bob}).refused(404, memd.CodeNotFound, "")
	var m memories
	d.do(ask{method: "GET", path: path, token: alice}).want(200).into(&m)
	if len(m.Memories) != 1 {
		t.Errorf("notes: %+v", m)
	}
	d.do(ask{method: "DELETE", path: "/v1/sessions/s%2F1", token: bob}).refused(404, memd.CodeNotFound, "")
	d.do(ask{method: "DELETE", path: "/v1/sessions/s%2F1", token: alice}).want(204)
	d.get(path).refused(404, memd.CodeNotFound, "")
}

func TestRecallAndContext(t *testing.T) {
	d := start(t, nil, nil)
	m := d.long("deploy/port", "the gateway listens on port 8443")
	var a memd.Answer
	d.post("/v1/recall", `{"query":"which port does the gateway use","explain":true}`).want(200).into(&a)
	if len(a.Results) != 1 || a.Results[0].ID != m.ID || a.Results[0].Breakdown == nil {
		t.Errorf("recall: %+v", a)
	}
	d.post("/v1/recall", `{"query":"zebra"}`).want(200).into(&a)
	if a.EmptyReason != memd.EmptyNoMatch {
		t.Errorf("nothing: %+v", a)
	}
	var c memd.Context
	d.post("/v1/context", `{"query":"gateway port"}`).want(200).into(&c)
	if len(c.Included) != 1 || !strings.Contains(c.Text, "8443") {
		t.Errorf("context: %+v", c)
	}
}

func TestMemory(t *testing.T) {
	d := start(t, nil, nil)
	d.post("/v1/remember", `{"summary":"with a body","raw_content":"the whole log"}`).want(201)
	var page memd.Page
	d.get("/v1/memories").want(200).into(&page)
	path := "/v1/memories/" + page.Memories[0].ID
	var m memd.Memory
	d.get(path).want(200).into(&m)
	if m.RawContent != "the whole log" {
		t.Errorf("get: %+v", m)
	}
	var b memories
	d.post("/v1/memories/batch", `{"ids":["`+m.ID+`","no-such-id"]}`).want(200).into(&b)
	if len(b.Memories) != 1 || b.Memories[0].RawContent == "" {
		t.Errorf("batch: %+v", b)
	}
	d.patch(path, `{"importance":9,"tags":["x"],"owner":"me"}`).want(200).into(&m)
	if m.Importance != 9 || m.Owner != "me" {
		t.Errorf("patch: %+v", m)
	}
	d.patch(path, `{"tags":null,"owner":null}`).want(200).into(&m)
	d.get(path).want(200).into(&m)
	if len(m.Tags) != 0 || m.Importance != 9 {
		t.Errorf("cleared: %+v", m)
	}
	d.patch(path, `{"summary":"other"}`).refused(400, memd.CodeInvalidRequest, "summary")
	d.post(path+"/promote", `{"memory_key":"a/b","source":"docs/a.md"}`).want(200).into(&m)
	if m.Tier != memd.Long {
		t.Errorf("promote: %+v", m)
	}
	d.post(path+"/verify", "").want(200)
	d.post(path+"/verify", `{"verified_at":"2026-11-29T02:00:00Z"}`).want(200).into(&m)
	if m.VerifiedAt.String() != "2026-11-29T02:00:00.000Z" {
		t.Errorf("verify: %+v", m)
	}
	d.post(path+"/verify", `{"source_status":"missing"}`).want(200).into(&m)
	if !m.Stale || m.StaleReason != memd.StaleSourceMissing || m.VerifiedAt.String() != "2026-11-29T02:00:00.000Z" {
		t.Errorf("its source lacks it: %+v", m)
	}
	d.post(path+"/verify", `{"source_status":"ok"}`).refused(400, memd.CodeInvalidRequest, "source_status")
	d.del(path).want(204)
	d.del(path).refused(404, memd.CodeNotFound, "")
	d.get(path).refused(404, memd.CodeNotFound, "")
}

func TestArchiveAndHit(t *testing.T) {
	d := start(t, nil, nil)
	m := d.short("an event")
	d.post("/v1/memories/"+m.ID+"/archive", "").want(200).into(&m)
	if m.Tier != memd.Archive {
		t.Errorf("archived: %+v", m)
	}
	d.post("/v1/memories/"+m.ID+"/promote", `{"to":"short"}`).want(200)
	var pit memd.Memory
	d.post("/v1/remember_long_term", `{"memory_key":"pit","summary":"tests hang without -race","source":"Makefile","kind":"pitfall"}`).want(201).into(&pit)
	d.post("/v1/memories/"+pit.ID+"/hit", "{}").want(200)
	d.post("/v1/memories/"+m.ID+"/hit", "").refused(400, memd.CodeInvalidRequest, "")
}

func TestList(t *testing.T) {
	d := start(t, nil, nil)
	for _, s := range []string{"one apple", "two apples", "three pears"} {
		d.short(s)
	}
	d.post("/v1/remember", `{"summary":"restricted","access":["hr"]}`).want(201)
	count := func(query string) int {
		t.Helper()
		var p memd.Page
		d.get("/v1/memories" + query).want(200).into(&p)
		return len(p.Memories)
	}
	for query, want := range map[string]int{
		"": 3, "?tier=short": 3, "?tier=long": 0, "?q=apple": 2, "?kind=event": 3, "?kind=rule": 0, "?tag=x": 0, "?stale=false": 3,
		"?stale=true": 0, "?access=hr": 4, "?access=hr&access=x": 4, "?namespace=*": 3, "?namespace=project/x": 0, "?limit=2": 2, "?memory_key=k": 0,
	} {
		if got := count(query); got != want {
			t.Errorf("list %s: %d rows, want %d", query, got, want)
		}
	}
	var p, q memd.Page
	d.get("/v1/memories?limit=2").want(200).into(&p)
	d.get("/v1/memories?limit=2&cursor=" + p.NextCursor).want(200).into(&q)
	if len(q.Memories) != 1 || q.NextCursor != "" {
		t.Errorf("second page: %+v", q)
	}
	d.post("/v1/remember", `{"summary":"whole","raw_content":"all of it","namespace":"team/x"}`).want(201)
	for query, want := range map[string]string{"": "", "&include_raw=false": "", "&include_raw=true": "all of it"} {
		var whole memd.Page
		d.get("/v1/memories?namespace=team/x" + query).want(200).into(&whole)
		if whole.Memories[0].RawContent != want {
			t.Errorf("%q shows %q", query, whole.Memories[0].RawContent)
		}
	}
	for query, field := range map[string]string{
		"?include_raw=1": "include_raw", "?limit=0": "limit", "?limit=201": "limit", "?limit=x": "limit", "?limit=": "limit", "?limit=1&limit=2": "limit",
		"?stale=1": "stale", "?tier=middle": "tier", "?kind=idea": "kind", "?cursor=x": "cursor", "?tiers=short": "tiers",
		"?namespace=UP": "namespace", "?q=%ff": "q", "?q=%zz": "", "?a;b": "", "?%3Cscript%3E=1": "",
	} {
		d.get("/v1/memories"+query).refused(400, memd.CodeInvalidRequest, field)
	}
}

func TestOperators(t *testing.T) {
	d := start(t, nil, nil)
	d.long("k", "a fact")
	var m manifest
	d.get("/v1/manifest").want(200).into(&m)
	if len(m.Lines) != 1 || !strings.Contains(m.Lines[0], "[fact] k") {
		t.Errorf("manifest: %+v", m)
	}
	var st map[string]any
	d.get("/v1/stats").want(200).into(&st)
	if st["heads"] != 1.0 {
		t.Errorf("stats: %v", st)
	}
	var report map[string]any
	d.post("/v1/groom", `{"dry_run":true,"light":true}`).want(200).into(&report)
	if report["dry_run"] != true || report["started_at"] == nil || report["passes"] == nil {
		t.Errorf("groom: %v", report)
	}
	d.post("/v1/groom", "").want(200)
	var reports groomReports
	d.get("/v1/groom").want(200).into(&reports)
	if len(reports.Reports) != 1 {
		t.Errorf("reports: %+v", reports)
	}
	for _, path := range []string{"/v1/doctor", "/v1/doctor?quick=true", "/v1/doctor?quick=false"} {
		var diag diagnosis
		if d.get(path).want(200).into(&diag); !diag.OK || diag.Findings == nil {
			t.Errorf("%s: %+v", path, diag)
		}
	}
	tokens := filepath.Join(d.dir, guard.TokensFile)
	if err := os.WriteFile(tokens, []byte("no token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/doctor", "/v1/doctor?quick=true"} {
		var diag diagnosis
		d.get(path).want(200).into(&diag)
		if diag.OK || len(diag.Findings) != 1 || diag.Findings[0].Check != "guard_file" || !strings.Contains(diag.Findings[0].Detail, tokens+": line 1") || diag.Findings[0].Fix == "" {
			t.Errorf("%s: %+v", path, diag)
		}
	}
}

// Lists are [], never null, wherever one can be empty.
func TestListsAreNeverNull(t *testing.T) {
	d := start(t, nil, nil)
	m := d.short("alone")
	d.post("/v1/sessions/s/transient", `{"summary":"n"}`).want(201)
	for _, r := range []reply{
		d.get("/v1/memories?tier=long"), d.get("/v1/manifest?namespace=team/x"), d.get("/v1/groom"), d.get("/v1/doctor?quick=true"), d.get("/v1/audit"), d.get("/v1/audit?sample=3"),
		d.post("/v1/recall", `{"query":"zebra"}`), d.post("/v1/context", `{}`), d.get("/v1/memories/" + m.ID),
		d.post("/v1/memories/batch", `{"ids":["x"]}`), d.get("/v1/sessions/s/transient"), d.get("/v1/stats"), d.post("/v1/remember", `{"summary":"alone"}`),
	} {
		var v any
		r.want(200).into(&v)
		if where := nullIn(v, ""); where != "" && !strings.HasSuffix(where, ".used") {
			t.Errorf("%s is null: %s", where, r.Body)
		}
	}
	var w map[string]json.RawMessage
	d.post("/v1/remember", `{"summary":"alone"}`).into(&w)
	if string(w["tags"]) != "[]" || string(w["access"]) != "[]" {
		t.Errorf("tags %s, access %s", w["tags"], w["access"])
	}
}

// nullIn is where v holds null.
func nullIn(v any, path string) string {
	switch v := v.(type) {
	case nil:
		return path
	case []any:
		for _, e := range v {
			if where := nullIn(e, path+"[]"); where != "" {
				return where
			}
		}
	case map[string]any:
		for k, e := range v {
			if where := nullIn(e, path+"."+k); where != "" {
				return where
			}
		}
	}
	return ""
}

func TestNoSuchRoute(t *testing.T) {
	d := start(t, nil, nil)
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v1/audits", "/mcp/", "/v1/memories/", "/v2/recall", "/v1/stats/", "//v1/stats",
	} {
		d.get(path).refused(404, memd.CodeNotFound, "")
	}
	r := d.do(ask{method: "PUT", path: "/v1/memories/x"})
	r.refused(405, memd.CodeInvalidRequest, "")
	if got := strings.Join(r.Header.Values("Allow"), " "); got != "GET HEAD PATCH DELETE" {
		t.Errorf("Allow: %q", got)
	}
	d.do(ask{method: "GET", path: "/v1/recall"}).refused(405, memd.CodeInvalidRequest, "")
	d.do(ask{method: "BREW", path: "/v1/stats"}).refused(405, memd.CodeInvalidRequest, "")
	d.do(ask{method: "OPTIONS", path: "/v1/stats"}).refused(405, memd.CodeInvalidRequest, "")
	if r := d.do(ask{method: "HEAD", path: "/v1/stats"}).want(200); len(r.Body) != 0 || r.Header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: %q, length %s", r.Body, r.Header.Get("Content-Length"))
	}
	d.do(ask{method: "HEAD", path: "/v1/recall"}).want(405)
}
