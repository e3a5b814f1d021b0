package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/guard"
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

// What net/http would answer by itself goes through the gates too.
func TestOptionsOfTheServer(t *testing.T) {
	d := start(t, nil, nil)
	for head, want := range map[string]string{
		"Host: evil.example\r\nOrigin: http://evil.example": " 403 ",
		"Host: localhost\r\nOrigin: http://evil.example":    " 403 ",
		"Host: localhost": " 401 ",
		"Host: localhost\r\nAuthorization: Bearer " + d.admin: " 404 ",
	} {
		conn := dial(t, "tcp", d.addr)
		if _, err := io.WriteString(conn, "OPTIONS * HTTP/1.1\r\n"+head+"\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(answer), want) || !strings.Contains(string(answer), "nosniff") {
			t.Errorf("%q: %q, %v, want%s", head, answer, err, want)
		}
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

// A token that is revoked, or loses its role, while a body arrives writes nothing.
func TestTokenRevokedMeanwhile(t *testing.T) {
	d := start(t, nil, nil)
	for name, c := range map[string]struct {
		change func() error
		answer string
	}{
		"revoked": {func() error { return d.tokens.Revoke("revoked") }, " 401 "},
		"reading": {func() error {
			path := filepath.Join(d.dir, guard.TokensFile)
			return os.WriteFile(path, []byte(strings.ReplaceAll(readFile(t, path), `"write"`, `"read"`)), 0o600)
		}, " 403 "},
		"kept": {func() error { return nil }, " 201 "},
	} {
		token := d.token(name, memd.RoleWrite)
		before := d.rows(t)
		conn := dial(t, "tcp", d.addr)
		body := `{"summary":"` + name + ` meanwhile"}`
		if _, err := fmt.Fprintf(conn, "POST /v1/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n"+
			"Expect: 100-continue\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", token, len(body)); err != nil {
			t.Fatal(err)
		}
		asked := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n")) // the token was found good
		if _, err := io.ReadFull(conn, asked); err != nil || !strings.Contains(string(asked), " 100 ") {
			t.Fatalf("%q, %v", asked, err)
		}
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, body); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(answer), c.answer) {
			t.Errorf("%s: %q, %v", name, answer, err)
		}
		if wrote := d.rows(t) - before; (wrote == 1) != (c.answer == " 201 ") {
			t.Errorf("%s: %d rows were written", name, wrote)
		}
		if c.answer == " 401 " && !strings.Contains(string(answer), "Www-Authenticate: Bearer") {
			t.Errorf("%s: no challenge: %q", name, answer)
		}
	}
}

func TestAuthNone(t *testing.T) {
	d := start(t, func(o *Options) { o.AuthNone, o.Tokens = true, nil }, nil)
	d.do(ask{method: "GET", path: "/v1/stats", tcp: true}).want(200)
	d.do(ask{method: "GET", path: "/v1/stats", tcp: true, host: "evil.example"}).want(403)
	d.do(ask{method: "GET", path: "/v1/stats", tcp: true, header: http.Header{"Origin": {"http://evil.example"}}}).want(403)
}

// A browser that asks first is told nothing, whatever it asks for.
func TestPreflight(t *testing.T) {
	d := start(t, nil, nil)
	for _, origin := range []string{"http://evil.example", "null", "http://localhost:3000", "http://" + d.addr} {
		for _, rt := range d.server.table {
			r := d.do(ask{method: "OPTIONS", path: rt.path, tcp: true, header: http.Header{
				"Origin": {origin}, "Access-Control-Request-Method": {rt.method}, "Access-Control-Request-Headers": {"authorization, content-type"},
				"Access-Control-Request-Private-Network": {"true"},
			}})
			if r.Status < 400 {
				t.Errorf("%s %s from %s: %d", rt.method, rt.path, origin, r.Status)
			}
			for name := range r.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s from %s: %s is sent", rt.method, rt.path, origin, name)
				}
			}
		}
	}
}

// What a form of any web page can send is no body of a write.
func TestBodiesOfForms(t *testing.T) {
	d := start(t, nil, nil)
	before := d.rows(t)
	for _, rt := range d.server.table {
		if rt.in == nil {
			continue
		}
		path := strings.NewReplacer("{id}", "none", "{session_id}", "none").Replace(rt.path)
		for _, contentType := range []string{"", "text/plain", "text/plain; application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "application/jsonx"} {
			header := http.Header{}
			if contentType != "" {
				header.Set("Content-Type", contentType)
			}
			d.do(ask{method: rt.method, path: path, token: d.admin, body: `{"summary":"x"}`, header: header}).refused(415, memd.CodeUnsupportedMediaType, "")
		}
	}
	if after := d.rows(t); after != before {
		t.Errorf("%d rows were written", after-before)
	}
}

// Who may not ask keeps no connection, and is told why also in the midst of a
// large body.
func TestNobodyKeepsAConnection(t *testing.T) {
	d := start(t, nil, nil)
	large := "POST /v1/remember HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n" + strings.Repeat(" ", 2_000_000)
	reader := "Host: localhost\r\nConnection: close\r\nAuthorization: Bearer " + d.token("reader", memd.RoleRead)
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"a foreign Host":       {"GET /v1/stats HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
		"no token":             {"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n", 401},
		"a wrong token":        {"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n", 401},
		"health":               {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200},
		"a body without token": {strings.Replace(large, "%s", "localhost", 1), 401},
		"a body from afar":     {strings.Replace(large, "%s", "evil.example", 1), 403},
		"a body of a reader":   {strings.Replace(large, "Host: %s", reader, 1), 403},
		"a body not yet sent":  {"POST /v1/remember HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n", 401},
	} {
		conn := dial(t, "tcp", d.addr)
		if _, err := io.WriteString(conn, c.request); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != c.status || !res.Close {
			t.Errorf("%s: %d, close %v, %v", name, res.StatusCode, res.Close, err)
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("%s: the connection stays: %v", name, err)
		}
	}
	conn := dial(t, "tcp", d.addr) // who may ask keeps it
	for range 3 {
		if _, err := io.WriteString(conn, "GET /v1/manifest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+d.admin+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != 200 || res.Close {
			t.Fatalf("with a token: %v, %v", res, err)
		}
	}
}
