package api

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/guard"
)

// held makes a token confined to namespaces.
func (d *daemon) held(name string, role memd.Role, namespaces ...string) string {
	d.t.Helper()
	token, err := d.tokens.New(guard.Token{Name: name, Role: role, Namespaces: namespaces})
	if err != nil {
		d.t.Fatal(err)
	}
	return token
}

// A token made under the name of a revoked one is somebody else: it has neither
// its sessions nor the writes that it may repeat.
func TestRevokedNameGivenAnew(t *testing.T) {
	for _, c := range []struct {
		name string
		role memd.Role
		ns   string
	}{{"another namespace", memd.RoleRead, "team/b"}, {"the same namespace", memd.RoleWrite, "team/a"}} {
		t.Run(c.name, func(t *testing.T) {
			d := start(t, nil, nil)
			old := d.held("wr", memd.RoleWrite, "team/a")
			once := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {"k1"}}
			d.do(ask{method: "POST", path: "/v1/sessions/sx/transient", token: old, body: `{"summary":"a quince thought"}`}).want(201)
			d.do(ask{method: "POST", path: "/v1/remember", token: old, header: once, body: `{"summary":"repeated","namespace":"team/a"}`}).want(201)
			if err := d.tokens.Revoke("wr"); err != nil {
				t.Fatal(err)
			}
			fresh := d.held("wr", c.role, c.ns)
			d.do(ask{method: "GET", path: "/v1/sessions/sx/transient", token: fresh}).refused(404, memd.CodeNotFound, "")
			for _, path := range []string{"/v1/recall", "/v1/context"} {
				got := d.do(ask{method: "POST", path: path, token: fresh, body: `{"query":"quince","namespaces":["` + c.ns + `"],"session_id":"sx"}`}).want(200)
				if strings.Contains(string(got.Body), "quince thought") {
					t.Errorf("%s shows the note of another: %s", path, got.Body)
				}
			}
			if got := d.do(ask{method: "GET", path: "/v1/memories?tier=transient&namespace=" + c.ns, token: fresh}).want(200); strings.Contains(string(got.Body), "quince") {
				t.Errorf("a list shows the note of another: %s", got.Body)
			}
			if c.role == memd.RoleRead {
				return
			}
			d.do(ask{method: "DELETE", path: "/v1/sessions/sx", token: fresh}).refused(404, memd.CodeNotFound, "")
			d.do(ask{method: "POST", path: "/v1/sessions/sx/transient", token: fresh, body: `{"summary":"intrusion"}`}).refused(404, memd.CodeNotFound, "")
			d.do(ask{method: "POST", path: "/v1/remember", token: fresh, header: once, body: `{"summary":"of its own","namespace":"team/a"}`}).want(201)
		})
	}
}

// A token that is confined to other namespaces by hand still has its sessions, and
// sees none of their notes in namespaces that are no longer its.
func TestTokenConfinedAnew(t *testing.T) {
	d := start(t, nil, nil)
	token := d.held("wr", memd.RoleWrite, "team/a")
	d.do(ask{method: "POST", path: "/v1/sessions/sx/transient", token: token, body: `{"summary":"a quince thought"}`}).want(201)
	path := filepath.Join(d.dir, guard.TokensFile)
	text := strings.Replace(readFile(t, path), "team/a", "team/b", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do(ask{method: "POST", path: "/v1/sessions/sx/transient", token: token, body: `{"summary":"a medlar thought"}`}).want(201)
	for _, a := range []ask{
		{method: "GET", path: "/v1/sessions/sx/transient"},
		{method: "POST", path: "/v1/recall", body: `{"query":"quince medlar thought","namespaces":["team/b"],"session_id":"sx"}`},
		{method: "POST", path: "/v1/context", body: `{"query":"quince medlar thought","namespaces":["team/b"],"session_id":"sx"}`},
	} {
		a.token = token
		got := string(d.do(a).want(200).Body)
		if strings.Contains(got, "quince thought") || !strings.Contains(got, "medlar thought") {
			t.Errorf("%s %s: %s", a.method, a.path, got)
		}
	}
}
