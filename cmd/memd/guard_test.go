package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memd"
)

// Made-up secrets, with a joint so that scanners of hosts do not ring, and a
// fingerprint.
const (
	aToken    = "ghp_" + "q7Xw2Lm9RtZ4kVb8" + "Ns3Hd6Yc1Gf5Pj0QaEuT"
	aPassword = "Tiger#2024" + "xQ"
	aCard     = "4539 1488" + " 0343 6467"
	aPrint    = "5d41402abc4b2a76b9719d911017c592"
)

// leaks names the pieces of the made-up secrets that a text holds.
func leaks(text string) (found []string) {
	for _, piece := range []string{aToken[:20], aToken[20:], aPassword[:10], aCard[:9]} {
		if strings.Contains(text, piece) {
			found = append(found, piece)
		}
	}
	return found
}

// below is every byte of every file in a folder.
func below(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// What is refused, and what is taken out of what is written, is nowhere: not in the
// answers, the log at its most talkative, the metrics, a dump of the goroutines, what
// an embedder is sent, nor in any file, after a crash, a rollover and a backup.
func TestSecretsLeaveNoTrace(t *testing.T) {
	b := newBox(t)
	asked := make(chan string, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- string(body)
		var req struct{ Input []string }
		_ = json.Unmarshal(body, &req)
		var data []string
		for i := range req.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[1,0]}`, i))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	defer server.Close()
	b.env = append(b.env, "MEMD_LOG_LEVEL=debug", "MEMD_EMBEDDING_PROVIDER=openai", "MEMD_EMBEDDING_MODEL=m", "MEMD_EMBEDDING_DIM=2", "MEMD_EMBEDDING_URL="+server.URL)
	said := func(r result, code int) {
		t.Helper()
		if r.code != code {
			t.Errorf("exit code %d, want %d: %s%s", r.code, code, r.out, r.err)
		}
		if found := leaks(r.out + r.err); found != nil {
			t.Errorf("an answer holds %q: %s%s", found, r.out, r.err)
		}
	}
	write := func() {
		t.Helper()
		text := "the bot uses " + aToken + " at night, card " + aCard
		said(b.run("remember", text, "--raw-content", "db.pass"+"word = "+aPassword, "--tag", aToken), 0)
		said(b.run("remember", text, "--json"), 0)
		said(b.run("note", text, "--session", "s1"), 0)
		said(b.run("remember", "x", "--session", aToken), 5)
		said(b.run("recall", "the bot", "--session", aToken), 0) // of a reading its session is kept
		said(b.run("context", "the bot", "--session", aToken+"2"), 0)
		for _, field := range []string{"--why", "--raw-content", "--owner", "--tag"} {
			said(b.run("remember-long-term", "the bot pushes", "--key", "ci/bot", "--source", "docs/ci.md", field, aToken, "--json"), 5)
		}
		said(b.run("remember-long-term", "the bot pushes", "--key", aToken, "--source", "docs/ci.md"), 5)
	}
	write()                                                  // without a daemon
	said(b.run("token", "new", aToken, "--role", "read"), 5) // its name goes to a file and the log
	said(b.run("token", "new", "bot", "--role", "read", "--access", aToken), 5)
	said(b.run("guard", "allow", aPrint, "--reason", "it is "+aToken), 5)
	d := b.serve()
	write()
	post := func(key, body string, want int) {
		t.Helper()
		req, err := http.NewRequest("POST", "http://"+d.tcp+"/v1/remember", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Authorization": "Bearer " + b.adminToken(), "Idempotency-Key": key} {
			req.Header.Set(name, value)
		}
		for _, name := range []string{"User-Agent", "X-Request-Id", "Referer", "Cookie", "Accept", "X-Forwarded-For", "From", aToken} {
			req.Header.Set(name, aToken)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if found := leaks(string(answer)); err != nil || res.StatusCode != want || found != nil {
			t.Errorf("%d, %v: %s", res.StatusCode, err, answer)
		}
	}
	for range 2 {
		post("k1-"+aToken, `{"summary":"once the bot used `+aToken+`"}`, http.StatusCreated)
		post("k2", `{"summary":"a team's bot uses `+aToken+`","namespace":"team/core"}`, http.StatusUnprocessableEntity)
	}
	// What a request is told apart by, or asks for, is kept nowhere either.
	for _, one := range []string{
		"GET /v1/memories?q=%s&tag=%[1]s&memory_key=%[1]s", "GET /v1/memories?cursor=%s", "GET /v1/memories?kind=%s", "GET /v1/memories?%s=1",
		"GET /v1/memories/%s", "DELETE /v1/memories/%s", "GET /v1/keys/%s", "DELETE /v1/keys/%s", "GET /v1/sessions/%s/transient", "DELETE /v1/sessions/%s",
		"GET /v1/log?caller=%s&action=%[1]s&id=%[1]s", "GET /v1/manifest?access=%s", "GET /%s", "POST /v1/remember?%s=1", "%s /v1/stats", "POST /v1/memories/%s/verify",
	} {
		method, path, _ := strings.Cut(fmt.Sprintf(one, aToken), " ")
		for _, token := range []string{b.adminToken(), aToken, ""} {
			d.overTCP(method, path, token, `{"`+aToken+`":1}`)
		}
	}
	said(b.run("rollover"), 0)
	said(b.run("backup"), 0)
	said(b.run("log", "--action", "guard_redact"), 0)
	said(b.run("stats", "--json"), 0)
	said(b.run("audit", "--json"), 0)
	eventually(t, "the embedder is asked", func() bool { return len(asked) > 0 })
	req, err := http.NewRequest("GET", "http://"+d.tcp+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.adminToken())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || leaks(string(metrics)) != nil || !strings.Contains(string(metrics), `memd_guard_blocked_total{rule="github-pat"}`) ||
		!strings.Contains(string(metrics), `memd_guard_redacted_total{rule="card"}`) || !strings.Contains(string(metrics), "memd_guard_allowed_total 0") {
		t.Errorf("metrics: %v, %s", err, metrics)
	}
	d.signal(syscall.SIGQUIT) // it dumps its goroutines, and dies with the WAL as it is
	<-d.done
	if !strings.Contains(d.log.String(), "goroutine ") {
		t.Errorf("no dump: %s", d.log.String())
	}
	check := func(when string) {
		t.Helper()
		for what, text := range map[string]string{"log": d.log.String(), "folder": below(t, b.dir)} {
			if found := leaks(text); found != nil {
				t.Errorf("%s: the %s holds %q", when, what, found)
			}
		}
	}
	check("after the crash")
	d = b.serve()
	d.stop()
	check("after the next run")
	close(asked)
	for body := range asked {
		if found := leaks(body); found != nil {
			t.Errorf("the embedder was sent %q", found)
		}
	}
	if rows := b.must("list", "--json"); !strings.Contains(rows, "[redacted:github-pat]") || !strings.Contains(rows, "[redacted:card]") {
		t.Errorf("the rows: %s", rows)
	}
}

// A false alarm passes by its fingerprint, in the running daemon at once, and the
// log tells who let it pass.
func TestGuardAllow(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	write := []string{"--json", "remember-long-term", "the bot uses " + aToken, "--key", "ci/bot", "--source", "docs/ci.md"}
	r := b.run(write...)
	var p struct {
		Code, Field, Hint string
		Rules, Fields     []string
	}
	if err := json.Unmarshal([]byte(r.out), &p); err != nil || r.code != memd.ExitRefused || p.Code != "secret_detected" || p.Field != "summary" ||
		fmt.Sprint(p.Rules, p.Fields) != "[github-pat] [summary]" {
		t.Fatalf("exit code %d, %v: %s%s", r.code, err, r.out, r.err)
	}
	_, print, _ := strings.Cut(p.Hint, "memd guard allow ")
	print, _, _ = strings.Cut(print, " ")
	b.must("guard", "allow", print, "--reason", "the made-up token of the manual")
	if r := b.run(write...); r.code != 0 || strings.Contains(r.out, "warnings") {
		t.Errorf("allowed, and yet %d: %s%s", r.code, r.out, r.err)
	}
	if out := b.must("guard", "list"); !strings.Contains(out, print) || !strings.Contains(out, "of the manual") {
		t.Errorf("the list: %s", out)
	}
	b.must("guard", "revoke", print)
	write[2] += "!"
	if r := b.run(write...); r.code != memd.ExitRefused {
		t.Errorf("revoked, and yet %d: %s%s", r.code, r.out, r.err)
	}
	if out := b.must("guard", "list", "--json"); out != `{"allowed":[]}`+"\n" {
		t.Errorf("the list: %s", out)
	}
	d.stop()
	b.must("guard", "allow", print, "--reason", "again")
	d = b.serve()
	eventually(t, "the log tells of the allowance", func() bool { return strings.Contains(b.must("log", "--json"), `"allow_new"`) })
	d.stop()
	entries := b.must("log", "--json")
	for _, action := range []string{`"guard_block"`, `"guard_allow"`, `"allow_new"`} {
		if !strings.Contains(entries, action) || !strings.Contains(entries, print) {
			t.Errorf("the log lacks %s: %s", action, entries)
		}
	}
	for _, name := range []string{"guard.key", "allowed"} {
		if info, err := os.Stat(filepath.Join(b.dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
