package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
	"memd/tiers"
)

// log reads a page of the log as a caller, "" over the socket, once what is
// buffered is written.
func (d *daemon) entries(token, query string) logPage {
	d.t.Helper()
	if err := d.store.Flush(context.Background()); err != nil {
		d.t.Fatal(err)
	}
	var page logPage
	d.do(ask{method: "GET", path: "/v1/log" + query, token: token}).want(http.StatusOK).into(&page)
	return page
}

// said renders entries for comparison, oldest first.
func said(page logPage) string {
	var lines []string
	for i := len(page.Entries) - 1; i >= 0; i-- {
		e := page.Entries[i]
		line := strings.TrimRight(fmt.Sprint(e.Caller, " ", e.Action, " ", e.MemoryKey, " ", e.Detail), " ")
		if e.Code != "" {
			line += fmt.Sprint(" ", e.Code, " ", e.Field, " ", e.Count)
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestLog(t *testing.T) {
	d := start(t, func(o *Options) { o.Tiers = o.Tiers.WithGuard(configs.Guard{Derivable: configs.GuardBlock}) }, nil)
	writer, reader := d.token("writer", memd.RoleWrite, "default"), d.token("reader", memd.RoleRead)
	long := d.long("k", "a fact")
	ask1 := func(token, method, path, body string, status int) {
		t.Helper()
		h := http.Header{"Content-Type": {"application/json"}}
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
		d.do(ask{method: method, path: path, body: body, tcp: true, header: h}).want(status)
	}
	ask1(writer, "POST", "/v1/remember", `{"summary":"an event"}`, 201)
	for range 3 {
		ask1(reader, "POST", "/v1/remember", `{"summary":"an event"}`, 403)
		ask1("wrong", "GET", "/v1/memories", "", 401)
		ask1("", "GET", "/v1/stats", "", 401)
	}
	ask1(writer, "POST", "/v1/remember", `{"summary":"an event","namespace":"user"}`, 403)
	ask1(writer, "POST", "/v1/remember_long_term", `{"memory_key":"d","summary":"--- a/x\n+++ b/x\n","source":"a.md"}`, 422)
	ask1(writer, "POST", "/v1/remember_long_term", `{"memory_key":"d","summary":"no source","source":""}`, 422)
	// What is merely wrong is nobody's refusal.
	ask1(writer, "POST", "/v1/remember", `{"summary":"an event","secret_field":1}`, 400)
	ask1(writer, "GET", "/v1/memories/none", "", 404)
	ask1(writer, "DELETE", "/v1/memories/"+long.ID, "", 204)

	want := []string{
		"local remember_long_term k", "writer remember", "writer forget k open",
		"reader refuse POST /v1/remember forbidden 3",
		"refuse unauthorized 6",
		"writer refuse POST /v1/remember forbidden namespace 1",
		"writer refuse POST /v1/remember_long_term not_durable_fact summary 1",
		"writer refuse POST /v1/remember_long_term missing_source source 1",
	}
	got := said(d.entries("", ""))
	for _, line := range want {
		if !strings.Contains("\n"+got+"\n", "\n"+line+"\n") {
			t.Errorf("the log lacks %q:\n%s", line, got)
		}
	}
	if n := len(strings.Split(got, "\n")); n != len(want) {
		t.Errorf("%d entries, want %d:\n%s", n, len(want), got)
	}
	if got := said(d.entries("", "?id="+long.ID)); got != "local remember_long_term k\nwriter forget k open" {
		t.Errorf("of one memory: %q", got)
	}
	if got := said(d.entries("", "?caller=reader&action=refuse")); got != want[3] {
		t.Errorf("of one caller: %q", got)
	}
	metrics := string(d.get("/metrics").Body)
	for _, line := range []string{`memd_refused_total{code="forbidden"} 4`, `memd_refused_total{code="unauthorized"} 6`, `memd_refused_total{code="secret_detected"} 0`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// Pages go on after one another, whatever is written meanwhile.
func TestLogPages(t *testing.T) {
	d := start(t, nil, nil)
	for n := range 7 {
		d.short(fmt.Sprint("event ", n))
	}
	var seqs []int64
	query := "?limit=3"
	for query != "" {
		page := d.entries("", query)
		for _, e := range page.Entries {
			seqs = append(seqs, e.Seq)
		}
		if query = ""; page.NextCursor != "" {
			query = "?limit=3&cursor=" + page.NextCursor
		}
		d.short(fmt.Sprint("written meanwhile ", len(seqs)))
	}
	if fmt.Sprint(seqs) != "[7 6 5 4 3 2 1]" {
		t.Errorf("the pages hold %v", seqs)
	}
	for _, bad := range []string{"limit=0", "limit=201", "limit=x", "cursor=x", "cursor=-1", "cursor=0", "caller=a&caller=b"} {
		field, _, _ := strings.Cut(bad, "=")
		d.get("/v1/log?"+bad).refused(400, memd.CodeInvalidRequest, field)
	}
	d.get("/v1/log?since=1").refused(400, memd.CodeInvalidRequest, "since")
	// No route takes anything from it or changes it.
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		d.do(ask{method: method, path: "/v1/log"}).want(http.StatusMethodNotAllowed)
	}
}

// The log is the administrator's: of all namespaces, or of some. Keys are shown to
// who may see every row.
func TestLogScope(t *testing.T) {
	d := start(t, nil, nil)
	for _, role := range []memd.Role{memd.RoleRead, memd.RoleWrite} {
		d.do(ask{method: "GET", path: "/v1/log", token: d.token(string(role), role)}).refused(403, memd.CodeForbidden, "")
	}
	d.long("k", "a fact")
	d.post("/v1/remember", `{"summary":"elsewhere","namespace":"user"}`).want(201)
	narrow, wide := d.token("narrow", memd.RoleAdmin, "user"), d.token("wide", memd.RoleAdmin)
	if got := said(d.entries(narrow, "")); got != "local remember" {
		t.Errorf("an administrator of one namespace reads %q", got)
	}
	if got := said(d.entries(wide, "?action=remember_long_term")); got != "local remember_long_term" {
		t.Errorf("an administrator without access tags reads %q", got)
	}
	if got := said(d.entries(d.admin, "?action=remember_long_term")); got != "local remember_long_term k" {
		t.Errorf("the administrator reads %q", got)
	}
}

// Changes of tokens and of the configuration are logged by name, once each.
func TestLogOfChanges(t *testing.T) {
	d := start(t, nil, nil)
	ctx := context.Background()
	service := tiers.New(d.store)
	notice := func(entries ...configs.Entry) {
		t.Helper()
		list, err := d.tokens.List()
		if err == nil {
			err = service.NoticeTokens(ctx, list)
		}
		if err == nil {
			err = service.NoticeConfig(ctx, entries)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	entry := func(key, value string) configs.Entry {
		return configs.Entry{Key: key, Value: value, Origin: "memd.yaml:1"}
	}
	plain := configs.Entry{Key: "listen", Value: "127.0.0.1:6363", Origin: configs.FromDefault}
	notice(plain)
	if page := d.entries("", ""); len(page.Entries) != 0 {
		t.Errorf("nothing changed: %+v", page.Entries)
	}
	d.token("ci", memd.RoleRead)
	d.token("bot", memd.RoleWrite)
	notice(plain, entry("auth", "none"), entry("roots.user", "/srv"))
	notice(plain, entry("auth", "none"), entry("roots.user", "/srv"))
	if err := d.tokens.Revoke("bot"); err != nil {
		t.Fatal(err)
	}
	if err := d.tokens.Revoke("ci"); err != nil {
		t.Fatal(err)
	}
	d.clock.Advance(1)
	d.token("ci", memd.RoleAdmin)
	notice(entry("listen", "127.0.0.1:7000"), entry("auth", "token"))
	want := "local token_new bot\nlocal token_new ci\nmemd configure auth roots.user\n" +
		"local token_change ci\nlocal token_revoke bot\nmemd configure auth listen roots.user"
	if got := said(d.entries("", "")); got != want {
		t.Errorf("the log says\n%s\nwant\n%s", got, want)
	}
	kept := map[string]string{}
	err := d.store.View(ctx, func(v *store.View) (err error) {
		kept, err = v.Metas("noticed_")
		return err
	})
	if err != nil || len(kept) != 2 || strings.Contains(fmt.Sprint(kept), "7000") {
		t.Errorf("kept %q, %v", kept, err)
	}
}
