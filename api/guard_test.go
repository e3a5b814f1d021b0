package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"memd"
)

// A made-up token, with a joint so that scanners of hosts do not ring.
const aToken = "ghp_" + "q7Xw2Lm9RtZ4kVb8" + "Ns3Hd6Yc1Gf5Pj0QaEuT"

// A refusal names rules and fields, a redaction warns, both are counted and logged,
// and no answer holds the value.
func TestGuardOverREST(t *testing.T) {
	d := start(t, nil, nil)
	writer := d.token("writer", memd.RoleWrite)
	send := func(method, path, body string, header http.Header) reply {
		t.Helper()
		r := d.do(ask{method: method, path: path, body: strings.ReplaceAll(body, "SECRET", aToken), token: writer, header: header})
		if strings.Contains(string(r.Body), aToken[4:]) {
			t.Errorf("%s %s answers with the value: %s", method, path, r.Body)
		}
		return r
	}
	p := send("POST", "/v1/remember_long_term", `{"memory_key":"k","summary":"it is SECRET","source":"a.md","tags":["SECRET"],"why":"card 4539 1488 0343 6467"}`, nil).
		refused(422, memd.CodeSecretDetected, "summary")
	if got := fmt.Sprint(p.Rules, p.Fields, p.Detail); got != "[github-pat] [summary tags]this is not written down: github-pat in summary, github-pat in tags" {
		t.Errorf("problem %s", got)
	}
	if !strings.Contains(p.Hint, "memd guard allow ") {
		t.Errorf("hint %q", p.Hint)
	}
	var once [2]memd.Written
	for i := range once {
		send("POST", "/v1/remember", `{"summary":"it is SECRET"}`, http.Header{onceHeader: {"k"}, "Content-Type": {"application/json"}, "Authorization": {"Bearer " + writer}}).want(201).into(&once[i])
	}
	if w := once[1]; w.ID != once[0].ID || w.Summary != "it is [redacted:github-pat]" || len(w.Warnings) != 1 || w.Warnings[0] != once[0].Warnings[0] {
		t.Errorf("answered %+v, then %+v", once[0], w)
	}
	send("PATCH", "/v1/memories/"+once[0].ID, `{"owner":"SECRET"}`, nil).refused(422, memd.CodeSecretDetected, "owner")
	send("POST", "/v1/memories/"+once[0].ID+"/promote", `{"memory_key":"SECRET","source":"a.md"}`, nil).refused(422, memd.CodeSecretDetected, "memory_key")
	send("POST", "/v1/sessions/"+aToken+"/transient", `{"summary":"x"}`, nil).refused(422, memd.CodeSecretDetected, "session_id")
	send("POST", "/v1/remember", `{"summary":"x","agent":"SECRET"}`, nil).refused(422, memd.CodeSecretDetected, "agent")

	metrics := string(d.get("/metrics").Body)
	for _, line := range []string{
		`memd_guard_blocked_total{rule="github-pat"} 6`, `memd_guard_redacted_total{rule="github-pat"} 1`, "memd_guard_allowed_total 0",
		`memd_refused_total{code="secret_detected"} 5`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if err := d.store.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := said(d.entries("", ""))
	for _, line := range []string{"writer guard_redact github-pat ", "writer guard_block github-pat ", "writer refuse POST /v1/memories/{id}/promote secret_detected memory_key 1"} {
		if !strings.Contains(got, line) {
			t.Errorf("the log lacks %q:\n%s", line, got)
		}
	}
	if strings.Contains(got, aToken[4:]) || strings.Contains(d.log.String(), aToken[4:]) {
		t.Error("a log holds the value")
	}
}
