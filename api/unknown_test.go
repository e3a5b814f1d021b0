package api

import (
	"strings"
	"testing"

	"memd"
)

// A name that a call does not know is repeated where it is a plain word or near to one
// that it knows, and not where it may be anything; who mistyped it is told what the
// call knows and which name is near.
func TestUnknownNames(t *testing.T) {
	d := start(t, nil, nil)
	repeatable := map[string]bool{"colour": true, "x": true, "q": true, "tagesord": true, "xyzzy": true, "summarysummary": true}
	for name, near := range map[string]string{
		"sumary": "summary", "Summary": "summary", "sessionId": "session_id", "tag": "tags", "importanse": "importance", "namespaces": "namespace",
		"colour": "", "x": "", "q": "", "tagesord": "", "xyzzy": "", strings.Repeat("s", 1000): "", "": "",
		"ghp_" + "q7Xw2Lm9RtZ4kVb8" + "Ns3Hd6Yc1Gf5Pj0QaEuT": "", "hunter2": "", "summarysummary": "",
	} {
		r := d.post("/v1/remember", `{"summary":"s","`+name+`":1}`)
		if name == "" {
			r.refused(400, memd.CodeInvalidRequest, "")
			continue
		}
		field := ""
		if near != "" || repeatable[name] {
			field = name
		}
		p := r.refused(400, memd.CodeInvalidRequest, field)
		if !strings.Contains(p.Hint, "it knows access, agent, ") || !strings.Contains(p.Hint, "summary, tags") {
			t.Errorf("%.20s: the hint is %q", name, p.Hint)
		}
		if got, _, _ := strings.Cut(strings.TrimPrefix(p.Hint, "is "), " meant? "); near != "" && got != near || near == "" && strings.Contains(p.Hint, "meant") {
			t.Errorf("%.20s: the hint is %q, want the name %q", name, p.Hint, near)
		}
		if field == "" && strings.Contains(string(r.Body), name) {
			t.Errorf("%.20s: repeated: %s", name, r.Body)
		}
	}
	if p := d.get("/v1/memories?memorykey=k").refused(400, memd.CodeInvalidRequest, "memorykey"); !strings.HasPrefix(p.Hint, "is memory_key meant? it knows tier, namespace, ") {
		t.Errorf("the hint of a parameter: %q", p.Hint)
	}
	if p := d.get("/v1/stats?hunter2=1").refused(400, memd.CodeInvalidRequest, ""); p.Hint != "this call takes none" {
		t.Errorf("the hint where there is none: %q", p.Hint)
	}
	r := d.post("/v1/remember", `{"summary":"s","hunter2":1,"hunter2":1}`)
	if r.refused(400, memd.CodeInvalidRequest, ""); strings.Contains(string(r.Body), "hunter2") {
		t.Errorf("repeated: %s", r.Body)
	}
}
