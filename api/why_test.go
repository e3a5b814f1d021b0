package api

import (
	"net/http"
	"strings"
	"testing"

	"memd"
)

// A resolved pitfall leaves recall for the archive in the call that resolves it,
// and comes back from there when asked.
func TestResolvedPitfall(t *testing.T) {
	d := start(t, nil, nil)
	var m memd.Memory
	d.post("/v1/remember_long_term", `{"memory_key":"trap","kind":"pitfall","source":"docs/ci.md","summary":"symptom: the linker starves"}`).want(http.StatusCreated).into(&m)
	found := func(body string) bool {
		var a memd.Answer
		d.post("/v1/recall", body).want(http.StatusOK).into(&a)
		return len(a.Results) == 1 && a.Results[0].ID == m.ID
	}
	const asked, cold = `{"query":"did the linker ever starve"}`, `{"query":"did the linker ever starve","include_archive":true}`
	if !found(asked) {
		t.Error("a live pitfall is not found")
	}
	var now memd.Memory
	d.do(ask{method: "PATCH", path: "/v1/memories/" + m.ID, body: `{"resolved_at":"2026-11-01T00:00:00Z"}`}).want(http.StatusOK).into(&now)
	if now.Tier != memd.Archive || now.MemoryKey != "trap" || now.Version != 1 {
		t.Errorf("resolved: %+v", now)
	}
	if found(asked) || !found(cold) {
		t.Errorf("found without the archive %v, with it %v; want false and true", found(asked), found(cold))
	}
	if r := d.post("/v1/memories/"+m.ID+"/archive", "").want(http.StatusOK); !strings.Contains(string(r.Body), `"unchanged":true`) {
		t.Errorf("archived again: %s", r.Body)
	}
	d.get("/v1/keys/trap").refused(http.StatusNotFound, memd.CodeNotFound, "")
	var why memd.WhyAnswer
	d.post("/v1/why", `{"query":"did the linker ever starve","memory_key":"trap"}`).want(http.StatusOK).into(&why)
	if why.Reason != memd.WhyTierClosed || why.ID != m.ID || len(why.Questions) != 7 || why.Returned {
		t.Errorf("why: %+v", why)
	}
}

// A token is told no more by why than by recall.
func TestWhyOfATokensNamespaces(t *testing.T) {
	d := start(t, nil, nil)
	d.long("net/gateway", "the gateway's port is 8443")
	token := d.token("theirs", memd.RoleRead, "team/a")
	d.do(ask{method: "POST", path: "/v1/why", token: token, body: `{"memory_key":"net/gateway"}`}).refused(http.StatusForbidden, memd.CodeForbidden, "namespace")
	var why memd.WhyAnswer
	d.do(ask{method: "POST", path: "/v1/why", token: token, body: `{"query":"port","memory_key":"net/gateway","namespaces":["team/a"]}`}).want(http.StatusOK).into(&why)
	if why.Reason != memd.WhyNeverWritten || why.Namespace != "" {
		t.Errorf("%+v", why)
	}
}
