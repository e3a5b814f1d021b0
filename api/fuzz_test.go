package api

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"memd"
)

// fuzzed asks the local handler itself and holds the answer against what every
// request is owed: no failure, a whole problem for a refusal, nothing stored by
// one, and nothing submitted in it.
func (d *daemon) fuzzed(t *testing.T, req *http.Request) {
	t.Helper()
	before := d.rows(t)
	rec := httptest.NewRecorder()
	d.server.Local().ServeHTTP(rec, req)
	r := reply{t: t, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}
	if r.Status >= 500 && r.Status != memd.CodeBudgetExceeded.Statuses().HTTP {
		t.Fatalf("%s %s: %d %s", req.Method, req.URL, r.Status, r.Body)
	}
	if r.Status >= 400 && req.Method != http.MethodHead {
		if p := r.problem(); p.Code != memd.CodeVersionConflict && strings.Contains(string(r.Body), marker) {
			t.Fatalf("the refusal repeats what was submitted: %s", r.Body)
		}
	}
	if r.Status >= 400 {
		if after := d.rows(t); after != before {
			t.Fatalf("%d changed the rows from %d to %d", r.Status, before, after)
		}
	} else if len(r.Body) > 0 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") && !json.Valid(r.Body) {
		t.Fatalf("the answer is no JSON: %q", r.Body)
	}
	if strings.Contains(d.log.String(), marker) {
		t.Fatalf("the log repeats what was submitted: %s", d.log)
	}
	d.log.reset()
}

// fuzzBodies posts mutated bodies to a path.
func fuzzBodies(f *testing.F, method string, path func(*daemon) string, seeds ...string) {
	for _, seed := range append(seeds, `{}`, `null`, `[]`, ``, `{"a":1,"a":2}`, `{"summary":"\ud800"}`, "{\"summary\":\"\xff\"}", `{"`+marker+`":1}`) {
		f.Add([]byte(seed))
	}
	d := start(f, nil, nil)
	target := path(d)
	f.Fuzz(func(t *testing.T, body []byte) {
		req := httptest.NewRequest(method, target, strings.NewReader(string(body)))
		req.Header.Set("Content-Type", "application/json")
		d.fuzzed(t, req)
	})
}

func at(path string) func(*daemon) string { return func(*daemon) string { return path } }

func FuzzRemember(f *testing.F) {
	fuzzBodies(f, "POST", at("/v1/remember"),
		`{"summary":"`+marker+`","raw_content":"x","kind":"task","importance":7,"tags":["a","b"],"source":"go.mod","namespace":"team/a","session_id":"s","agent":"a","access":["hr"],"expires_at":"2026-12-30T02:00:00+01:00"}`,
		`{"summary":"😀 \ud83d\ude00","tags":null}`)
}

func FuzzLongTerm(f *testing.F) {
	fuzzBodies(f, "POST", at("/v1/remember_long_term"),
		`{"memory_key":"a/b","summary":"`+marker+`","source":"AGENTS.md#x:12","kind":"feedback","why":"w","how_to_apply":"h","importance":7,"tags":["a"],"verified_at":"2026-11-30T02:00:00Z","owner":"o","access":["hr"],"namespace":"user","base_version":0}`,
		`{"memory_key":"a","summary":"s","source":"https://example.org/x"}`)
}

func FuzzRecall(f *testing.F) {
	fuzzBodies(f, "POST", func(d *daemon) string {
		d.long("net/gateway", "the gateway's port is 8443: don't use C++ or a:b NEAR(x y)")
		d.short("修复watchdog误杀设备重启")
		return "/v1/recall"
	},
		`{"query":"`+marker+` don't \"quote\" (a OR b) NEAR C++ a:b *","namespaces":["default","user"],"access":["hr"],"limit":5,"tiers":["long"],"kinds":["fact"],"tags":["a"],"session_id":"s","include_archive":true,"include_raw":true,"max_chars":100,"touch":false,"explain":true,"tools":["git"]}`,
		`{"query":"设备 重","cursor":"eyJ9"}`)
}

func FuzzWhy(f *testing.F) {
	fuzzBodies(f, "POST", func(d *daemon) string {
		d.long("net/gateway", "the gateway's port is 8443")
		return "/v1/why"
	},
		`{"query":"`+marker+` port?","memory_key":"net/gateway","namespaces":["default","user"],"access":["hr"],"session_id":"s"}`,
		`{"id":"`+marker+`"}`, `{"query":null,"id":null,"memory_key":"no/such"}`)
}

func FuzzPatch(f *testing.F) {
	fuzzBodies(f, "PATCH", func(d *daemon) string { return "/v1/memories/" + d.short("to be patched").ID },
		`{"importance":9,"tags":["`+marker+`"],"owner":"o","access":["hr"],"expires_at":"2026-12-30T02:00:00Z","resolved_at":"2026-11-30T02:00:00Z"}`,
		`{"tags":null,"owner":null,"access":null,"expires_at":null,"resolved_at":null,"importance":null}`)
}

func FuzzList(f *testing.F) {
	for _, seed := range []string{
		"", "tier=short&namespace=*&kind=event&tag=a&memory_key=k&stale=true&q=x&limit=5&access=a&access=b", "cursor=eyJiIjoiIn0", "q=%25_%5C&tag=%2c",
		"a;b", "%zz", "limit=-1", "limit=99999999999999999999", marker + "=1", "q=%00", "namespace=" + marker + "!",
	} {
		f.Add(seed)
	}
	d := start(f, nil, nil)
	d.short("a row")
	f.Fuzz(func(t *testing.T, query string) {
		req := httptest.NewRequest("GET", "/v1/memories", nil)
		req.URL.RawQuery = query
		d.fuzzed(t, req)
	})
}

func FuzzPath(f *testing.F) {
	methods := []string{"GET", "HEAD", "DELETE", "POST", "PATCH", "PUT"}
	for i, seed := range []string{
		"/v1/keys/a%2Fb/versions", "/v1/keys/versions", "/v1/memories/" + marker, "/v1/memories/%00", "/v1/memories/%ff/archive", "/v1/keys/%2e%2e",
		"/v1/sessions/%F0%9F%98%80/transient", "//", "/v1/keys/..%2f..%2fetc", "/" + url.PathEscape(marker), "/v1/keys/a?namespace=%00", "http://evil.example/v1/stats",
		"/v1/keys//versions", "/docs#x", "/%76%31/stats", "*",
	} {
		f.Add(byte(i), seed)
	}
	d := start(f, nil, nil)
	d.long("a/b", "a fact")
	f.Fuzz(func(t *testing.T, method byte, target string) {
		if strings.ContainsAny(target, " \r\n") {
			t.Skip("no request target")
		}
		raw := methods[int(method)%len(methods)] + " " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
		req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			t.Skip("net/http refuses the target")
		}
		d.fuzzed(t, req)
	})
}

// Whatever Host, Origin and Sec-Fetch-Site say, only who names this daemon and comes
// from no other site passes the gate.
func FuzzGate(f *testing.F) {
	for _, seed := range [][3]string{
		{"localhost", "", ""}, {"127.0.0.1:6363", "http://127.0.0.1:6363", "same-origin"}, {"[::1]:1", "https://[::1]:1", "none"},
		{"evil.example", "http://evil.example", "same-origin"}, {"localhost.evil.example", "null", ""}, {"LOCALHOST:1", "http://localhost:1", ""},
		{"127.0.0.1@evil.example", "", "cross-site"}, {"[::ffff:127.0.0.1]", "", ""}, {"[localhost]", "", ""}, {"localhost:x", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := New(Options{AuthNone: true})
	f.Fuzz(func(t *testing.T, host, origin, site string) {
		r := httptest.NewRequest("GET", "/openapi.json", nil)
		r.Host = host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		rec := httptest.NewRecorder()
		s.Remote().ServeHTTP(rec, r)
		if rec.Code == http.StatusForbidden {
			return
		}
		u, err := url.Parse("http://" + host) // as a browser would, to send a page's request there
		name := host
		if err == nil && u.Host == host {
			name = u.Hostname()
		}
		addr, err := netip.ParseAddr(name)
		if !strings.EqualFold(name, "localhost") && (err != nil || !addr.Unmap().IsLoopback()) {
			t.Errorf("Host %q passes with %d", host, rec.Code)
		}
		if origin != "" && !strings.EqualFold(origin, "http://"+host) && !strings.EqualFold(origin, "https://"+host) {
			t.Errorf("Origin %q passes at Host %q", origin, host)
		}
		if site != "" && site != "none" && site != "same-origin" {
			t.Errorf("Sec-Fetch-Site %q passes", site)
		}
	})
}
