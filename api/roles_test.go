package api

import (
	"net/http"
	"strings"
	"testing"

	"memd"
)

// roleOf is the contract's table of roles, written out once more so that a slip
// in the code's own table is seen.
var roleOf = map[string]memd.Role{
	"POST /v1/remember":                        memd.RoleWrite,
	"POST /v1/remember_long_term":              memd.RoleWrite,
	"POST /v1/sessions/{session_id}/transient": memd.RoleWrite,
	"GET /v1/sessions/{session_id}/transient":  memd.RoleRead,
	"DELETE /v1/sessions/{session_id}":         memd.RoleWrite,
	"POST /v1/recall":                          memd.RoleRead,
	"POST /v1/context":                         memd.RoleRead,
	"POST /v1/why":                             memd.RoleRead,
	"GET /v1/memories":                         memd.RoleRead,
	"POST /v1/memories/batch":                  memd.RoleRead,
	"GET /v1/memories/{id}":                    memd.RoleRead,
	"PATCH /v1/memories/{id}":                  memd.RoleWrite,
	"DELETE /v1/memories/{id}":                 memd.RoleWrite,
	"POST /v1/memories/{id}/verify":            memd.RoleWrite,
	"POST /v1/memories/{id}/promote":           memd.RoleWrite,
	"POST /v1/memories/{id}/archive":           memd.RoleWrite,
	"POST /v1/memories/{id}/hit":               memd.RoleWrite,
	"GET /v1/keys/{memory_key}":                memd.RoleRead,
	"GET /v1/keys/{memory_key}/versions":       memd.RoleRead,
	"DELETE /v1/keys/{memory_key}":             memd.RoleWrite,
	"GET /v1/gone":                             memd.RoleAdmin,
	"GET /v1/manifest":                         memd.RoleRead,
	"POST /v1/groom":                           memd.RoleAdmin,
	"GET /v1/groom":                            memd.RoleAdmin,
	"GET /v1/audit":                            memd.RoleAdmin,
	"GET /v1/log":                              memd.RoleAdmin,
	"GET /v1/stats":                            memd.RoleAdmin,
	"GET /v1/doctor":                           memd.RoleAdmin,
	"POST /v1/backup":                          memd.RoleAdmin,
	"POST /v1/rollover":                        memd.RoleAdmin,
	"POST /v1/compact":                         memd.RoleAdmin,
	"GET /v1/export":                           memd.RoleAdmin,
	"POST /v1/import":                          memd.RoleAdmin,
}

func TestRoles(t *testing.T) {
	d := start(t, nil, nil)
	tokens := map[memd.Role]string{}
	for _, role := range []memd.Role{memd.RoleRead, memd.RoleWrite, memd.RoleAdmin} {
		tokens[role] = d.token("a-"+string(role), role)
	}
	if len(d.server.table) != len(roleOf) {
		t.Errorf("%d routes, %d roles", len(d.server.table), len(roleOf))
	}
	for _, rt := range d.server.table {
		need, ok := roleOf[rt.method+" "+rt.path]
		if !ok {
			t.Errorf("%s %s: no role is written down", rt.method, rt.path)
		}
		path := strings.NewReplacer("{id}", "none", "{session_id}", "none", "{memory_key}", "none").Replace(rt.path)
		for role, token := range tokens {
			r := d.do(ask{method: rt.method, path: path, token: token, body: body(rt)})
			if allowed := role.Includes(need); allowed == (r.Status == http.StatusForbidden) {
				t.Errorf("%s %s as %s: %d", rt.method, rt.path, role, r.Status)
			}
			if r.Status == http.StatusForbidden {
				r.refused(403, memd.CodeForbidden, "")
			}
		}
		d.do(ask{method: rt.method, path: path, tcp: true, body: body(rt)}).refused(401, memd.CodeUnauthorized, "")
	}
}

func body(rt route) string {
	if rt.in == nil {
		return ""
	}
	return "{}"
}

func TestNamespacesOfAToken(t *testing.T) {
	d := start(t, nil, nil)
	ours := d.token("ours", memd.RoleWrite, "team/a")
	m := d.short("in default")
	d.do(ask{method: "POST", path: "/v1/remember", token: ours, body: `{"summary":"x"}`}).refused(403, memd.CodeForbidden, "namespace")
	d.do(ask{method: "POST", path: "/v1/remember", token: ours, body: `{"summary":"x","namespace":"team/a"}`}).want(201)
	d.do(ask{method: "GET", path: "/v1/memories/" + m.ID, token: ours}).refused(404, memd.CodeNotFound, "")
	d.do(ask{method: "DELETE", path: "/v1/memories/" + m.ID, token: ours}).refused(404, memd.CodeNotFound, "")
	d.do(ask{method: "GET", path: "/v1/memories", token: ours}).refused(403, memd.CodeForbidden, "namespace")
	d.do(ask{method: "GET", path: "/v1/memories?namespace=*", token: ours}).refused(403, memd.CodeForbidden, "namespace")
	d.do(ask{method: "POST", path: "/v1/recall", token: ours, body: `{"query":"x","namespaces":["default"]}`}).want(403)
}
