package api

import (
	"net/http"
	"testing"

	"memd"
)

// A repeat under the same Idempotency-Key is answered as the first was and
// writes nothing, on every POST that writes.
func TestIdempotencyKey(t *testing.T) {
	d := start(t, nil, nil)
	old := d.short("an old event")
	rule := d.long("repo.rule", "a rule")
	pitfall := d.post("/v1/remember_long_term", `{"memory_key":"p","kind":"pitfall","summary":"symptom","source":"a.md"}`)
	pitfall.want(http.StatusCreated)
	var hit memd.Memory
	pitfall.into(&hit)
	for i, c := range []struct {
		path, body string
		status     int
	}{
		{"/v1/remember", `{"summary":"said once"}`, http.StatusCreated},
		{"/v1/remember", `{"summary":"an old event"}`, http.StatusOK},
		{"/v1/remember_long_term", `{"memory_key":"k","summary":"v1","source":"a.md"}`, http.StatusCreated},
		{"/v1/remember_long_term", `{"memory_key":"k","summary":"v2","source":"a.md","base_version":1}`, http.StatusOK},
		{"/v1/sessions/s/transient", `{"summary":"a note"}`, http.StatusCreated},
		{"/v1/memories/" + rule.ID + "/verify", ``, http.StatusOK},
		{"/v1/memories/" + hit.ID + "/hit", ``, http.StatusOK},
		{"/v1/memories/" + old.ID + "/promote", `{"memory_key":"old","source":"a.md"}`, http.StatusOK},
	} {
		key := "key-" + string(rune('a'+i))
		first := d.do(ask{method: "POST", path: c.path, body: c.body, header: onceAs(key)}).want(c.status)
		rows := d.rows(t)
		again := d.do(ask{method: "POST", path: c.path, body: c.body, header: onceAs(key)}).want(c.status)
		if string(again.Body) != string(first.Body) {
			t.Errorf("%s: the repeat says\n%s\nnot\n%s", c.path, again.Body, first.Body)
		}
		if n := d.rows(t); n != rows {
			t.Errorf("%s: the repeat left %d rows of %d", c.path, n, rows)
		}
	}
}

func TestIdempotencyKeyBounds(t *testing.T) {
	d := start(t, nil, nil)
	with := func(body string, keys ...string) reply {
		return d.do(ask{method: "POST", path: "/v1/remember", body: body, header: onceAs(keys...)})
	}
	with(`{"summary":"one"}`, "k").want(http.StatusCreated)
	with(`{"summary":"two"}`, "k").refused(http.StatusBadRequest, memd.CodeInvalidRequest, "")
	for _, bad := range [][]string{{""}, {"a b"}, {"é"}, {"a", "b"}} {
		with(`{"summary":"three"}`, bad...).refused(http.StatusBadRequest, memd.CodeInvalidRequest, onceHeader)
	}
	// A refused write spends no key.
	with(`{"summary":" "}`, "later").want(http.StatusBadRequest)
	with(`{"summary":"four"}`, "later").want(http.StatusCreated)
	if n := d.rows(t); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
	// What was forgotten does not come back by a repeat.
	var m memd.Memory
	with(`{"summary":"five"}`, "gone").want(http.StatusCreated).into(&m)
	d.del("/v1/memories/" + m.ID).want(http.StatusNoContent)
	with(`{"summary":"five"}`, "gone").refused(http.StatusNotFound, memd.CodeNotFound, "")
}

func onceAs(keys ...string) http.Header {
	return http.Header{onceHeader: keys, "Content-Type": {"application/json"}}
}
