package api

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"memd"
)

func TestHost(t *testing.T) {
	d := start(t, func(o *Options) { o.Hosts = []string{"memd.example", "10.0.0.7", "fd00::7"} }, nil)
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1": 200, "127.0.0.1:6363": 200, "[::1]": 200, "[::1]:99": 200,
		"memd.example": 200, "Memd.Example:443": 200, "10.0.0.7": 200,
		"evil.example": 403, "localhost.evil.example": 403, "localhost.": 403, "127.1": 403, "0.0.0.0": 403,
		"127.0.0.2": 200, "127.9.9.9:6363": 200, "[::ffff:127.0.0.1]:1": 200, "[0:0:0:0:0:0:0:1]": 200, "[FD00:0::7]:6363": 200,
		"[::]": 403, "[::]:6363": 403, "[::ffff:0.0.0.0]": 403, "0": 403, "128.0.0.1": 403, "127.0.0.1.evil.example": 403,
		"127.0.0.256": 403, "0x7f000001": 403, "2130706433": 403, "[fd00::8]": 403, "[::ffff:10.0.0.7]": 200,
		"[::1": 403, "::1": 200, "evil.example:6363": 403, "10.0.0.70": 403, "localhost:1:2": 403,
	} {
		if got := d.do(ask{method: "GET", path: "/v1/stats", token: d.admin, host: host}).Status; got != want {
			t.Errorf("Host %q: %d, want %d", host, got, want)
		}
	}
	// Before routing, before authentication, and on the open paths too.
	for _, path := range []string{"/healthz", "/readyz", "/none", "/v1/stats", "/docs"} {
		for _, method := range []string{"GET", "PUT"} {
			d.do(ask{method: method, path: path, tcp: true, host: "evil.example"}).refused(403, memd.CodeForbidden, "")
		}
	}
	// The unix socket has no Host to speak of.
	d.do(ask{method: "GET", path: "/v1/stats", host: "anything"}).want(200)
}

func TestOrigin(t *testing.T) {
	d := start(t, nil, nil)
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"Origin", "http://" + d.addr, 200},
		{"Origin", "https://" + d.addr, 200}, // a proxy in front speaks TLS
		{"Origin", "http://localhost:3000", 403},
		{"Origin", "http://127.0.0.1", 403},
		{"Origin", "http://evil.example", 403},
		{"Origin", "null", 403},
		{"Origin", "", 403},
		{"Origin", "file://", 403},
		{"Origin", "http://" + d.addr + ".evil.example", 403},
		{"Origin", "http://evil.example@" + d.addr, 403},
		{"Sec-Fetch-Site", "same-origin", 200},
		{"Sec-Fetch-Site", "none", 200},
		{"Sec-Fetch-Site", "cross-site", 403},
		{"Sec-Fetch-Site", "same-site", 403}, // another port of this machine
	} {
		for _, token := range []string{d.admin, "wrong"} {
			want := c.want
			if token == "wrong" && want == 200 {
				want = 401
			}
			r := d.do(ask{method: "GET", path: "/v1/stats", token: token, header: http.Header{c.name: {c.value}}})
			if r.Status != want {
				t.Errorf("%s %q: %d, want %d", c.name, c.value, r.Status, want)
			}
			if len(r.Header.Values("Access-Control-Allow-Origin")) != 0 {
				t.Errorf("%s %q: a page of another origin may read the answer", c.name, c.value)
			}
		}
	}
	// A rebound name is its own origin: Host decides.
	d.do(ask{method: "GET", path: "/v1/stats", token: d.admin, host: "evil.example",
		header: http.Header{"Origin": {"http://evil.example"}, "Sec-Fetch-Site": {"same-origin"}}}).want(403)
}

// An absolute request target names the host, whatever the Host header says.
func TestAbsoluteTarget(t *testing.T) {
	d := start(t, nil, nil)
	for request, want := range map[string]string{
		"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n": " 403 ",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                    " 200 ",
		"GET /healthz HTTP/1.0\r\n\r\n":                      " 403 ",
		"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n": " 400 ",
	} {
		conn, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64)
		n, _ := conn.Read(buf)
		if !strings.Contains(string(buf[:n]), want) {
			t.Errorf("%q: %q, want%s", request, buf[:n], want)
		}
		conn.Close()
	}
}

func TestAuthentication(t *testing.T) {
	d := start(t, nil, nil)
	stats := ask{method: "GET", path: "/v1/stats", tcp: true}
	for _, header := range [][]string{
		nil, {""}, {"Bearer"}, {"Bearer "}, {"Bearer wrong"}, {"Basic " + d.admin}, {d.admin}, {"Bearer " + d.admin + "x"},
		{"Bearer " + d.admin[1:]}, {"Bearer " + d.admin, "Bearer " + d.admin}, {"Bearer " + d.admin + " " + d.admin},
	} {
		stats.header = http.Header{"Authorization": header}
		r := d.do(stats)
		r.refused(401, memd.CodeUnauthorized, "")
		if got := r.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer realm="memd"`) {
			t.Errorf("%q: challenge %q", header, got)
		}
	}
	for _, header := range []string{"Bearer " + d.admin, "bearer " + d.admin, "BEARER  " + d.admin} {
		stats.header = http.Header{"Authorization": {header}}
		d.do(stats).want(200)
	}
	for _, path := range []string{"/metrics", "/openapi.json", "/docs", "/none", "/v1/recall", "/healthz/", "/health%7a"} {
		d.do(ask{method: "GET", path: path, tcp: true}).refused(401, memd.CodeUnauthorized, "")
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		d.do(ask{method: "GET", path: path, tcp: true}).want(200)
		d.do(ask{method: "GET", path: path, token: "wrong"}).want(200)
	}
}

// A token made or revoked by another process counts at once.
func TestTokenMadeMeanwhile(t *testing.T) {
	d := start(t, nil, nil)
	token := d.token("late", memd.RoleRead)
	d.do(ask{method: "GET", path: "/v1/manifest", token: token}).want(200)
	if err := d.tokens.Revoke("late"); err != nil {
		t.Fatal(err)
	}
	d.do(ask{method: "GET", path: "/v1/manifest", token: token}).want(401)
}

func TestAuthNone(t *testing.T) {
	d := start(t, func(o *Options) { o.AuthNone, o.Tokens = true, nil }, nil)
	d.do(ask{method: "GET", path: "/v1/stats", tcp: true}).want(200)
	d.do(ask{method: "GET", path: "/v1/stats", tcp: true, host: "evil.example"}).want(403)
	d.do(ask{method: "GET", path: "/v1/stats", tcp: true, header: http.Header{"Origin": {"http://evil.example"}}}).want(403)
}
