package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
)

var hostileRequests = flag.Int("hostile.requests", 2000, "requests of TestHostileRequests")

// hostile makes requests that are wrong in some way, from a seed.
type hostile struct {
	*rand.Rand
	token string
	right []ask // requests as they should be
	bound int   // bytes of a text that was changed
}

// rightly are bodies of calls by the call's id.
var rightly = map[string]string{
	"remember":         `{"summary":"a row","tags":["a"],"importance":5,"namespace":"team/a","session_id":"s"}`,
	"rememberLongTerm": `{"memory_key":"a/b","summary":"a fact","source":"AGENTS.md#x","why":"w","how_to_apply":"h"}`,
	"note":             `{"summary":"a note","ttl":"90s"}`,
	"recall":           `{"query":"a row don't (a OR b) NEAR","namespaces":["default"],"limit":5,"explain":true,"include_archive":true}`,
	"context":          `{"session_id":"s","query":"row","max_chars":100}`,
	"why":              `{"memory_key":"a/b","query":"fact"}`,
	"batch":            `{"ids":["00000000-0000-7000-8000-000000000000"]}`,
	"patchMemory":      `{"importance":9,"tags":null}`,
	"promote":          `{"memory_key":"a/b","source":"AGENTS.md#x"}`,
	"backup":           `{"to":"/proc/none"}`,
}

func (h *hostile) pick(list ...string) string { return list[h.IntN(len(list))] }

// mostly is good but for one time in eight.
func (h *hostile) mostly(good string, bad ...string) string {
	if h.IntN(8) == 0 {
		return h.pick(bad...)
	}
	return good
}

// noise is a few bytes that no request should hold.
func (h *hostile) noise() string {
	b := make([]byte, 1+h.IntN(40))
	for i := range b {
		b[i] = byte(h.Uint32())
	}
	return string(b)
}

// mutate changes a text in one to three places.
func (h *hostile) mutate(s string) string {
	b := []byte(s)
	for range 1 + h.IntN(3) {
		at := h.IntN(len(b) + 1)
		switch h.IntN(6) {
		case 0:
			b = append(b[:at:at], append([]byte(h.noise()), b[at:]...)...)
		case 1:
			b = b[:at]
		case 2:
			if at < len(b) {
				b[at] ^= 1 << h.IntN(8)
			}
		case 3:
			b = append(b[:at:at], append([]byte(h.pick("\x00", "\r\n", "\r\n\r\n", "%", "%00", "%2e%2e%2f", "\u202e", "\ud7ff", "\xff\xfe", "\"", "{", "[", "\\u0000", "\\ud800", "1e999", "../", " ", "\t", ";", "'--", "null")), b[at:]...)...)
		case 4:
			b = bytes.Repeat(b, 1+h.IntN(3))
		case 5:
			to := at + h.IntN(len(b)-at+1)
			b = append(b[:at:at], b[to:]...)
		}
	}
	return string(b[:min(len(b), h.bound)])
}

// path spoils a path.
func (h *hostile) path(path string) string {
	switch h.IntN(16) {
	case 0:
		return h.mutate(path)
	case 1, 2:
		return path + h.pick("/", "//", "/..", "/../..", "/%2e%2e/%2e%2e/etc/passwd", "%00", "?", "?a=b&a=b;c", "?namespace=*", "?limit=-1", "?cursor=%ff", "?access=a&access=%zz", "#x", "\\..\\", "/.", "?q="+url.QueryEscape(h.noise()))
	case 3:
		return h.pick("*", "", "http://localhost"+path, "http://evil.example"+path, "//evil.example"+path, "localhost:443", "/%2F"+path, strings.Repeat("/a", h.IntN(3000)), "ftp://localhost"+path, "http://[::1"+path)
	}
	return path
}

// body spoils a body.
func (h *hostile) body(body string) string {
	switch h.IntN(12) {
	case 0, 1, 2, 3, 7, 8:
		return body
	case 4:
		return strings.Repeat(h.pick("[", `{"a":`, `[[`, `{"summary":`), 1+h.IntN(20_000))
	case 5:
		if h.IntN(3) == 0 {
			return `{"summary":"` + strings.Repeat("a", 1<<20) + `"}`
		}
		return `{"summary":"` + strings.Repeat(h.pick("a", "\\u0000", "é", "\xff", "字"), h.IntN(30_000)) + `"}`
	case 6:
		return h.noise()
	}
	return h.mutate(body)
}

// request is the bytes of one request and what may follow it, and whether it is
// whole, so that it is answered without waiting for more.
func (h *hostile) request(method string) (raw string, whole bool) {
	right := h.right[h.IntN(len(h.right))]
	if method == "" {
		method = h.mostly(right.method, "GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "TRACE", "CONNECT", "get", "POST ", "\x00", strings.Repeat("A", 1+h.IntN(300)))
	}
	version := h.mostly("HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "HTTP/1.1 x", "", "http/1.1")
	path, body := h.path(right.path), h.body(right.body)
	headers := []string{
		"Host: " + h.mostly("localhost", "127.0.0.1:6363", "evil.example", "", "localhost, evil.example", "[::1]", h.noise()),
		"Authorization: " + h.mostly("Bearer "+h.token, "bearer x", "Bearer", "Basic "+h.token, "Bearer "+strings.Repeat("x", h.IntN(5000)), ""),
		"Content-Type: " + h.mostly("application/json", "application/json; charset=utf-8", "text/plain", "application/json, text/plain", "multipart/form-data; boundary=x", ""),
	}
	length := fmt.Sprintf("Content-Length: %d", len(body))
	switch h.IntN(20) {
	case 0, 1:
		headers = append(headers, "Transfer-Encoding: "+h.pick("chunked", "chunked", "identity", "gzip, chunked", "chunked, chunked", "x"))
		if h.IntN(2) == 0 {
			body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body)+h.IntN(2), body)
		}
	case 2:
		headers = append(headers, "Content-Length: "+h.pick("-1", "0", "1", "99999999999999999999", "1, 2", "0x10", " 5", "1e3"))
	case 3:
		headers = append(headers, length, fmt.Sprintf("Content-Length: %d", len(body)+1))
	case 4:
		headers = append(headers, length, "Transfer-Encoding: chunked")
	case 5:
		headers = append(headers, fmt.Sprintf("Content-Length: %d", len(body)+h.IntN(100)))
	default:
		headers, whole = append(headers, length), true
	}
	if h.IntN(5) == 0 {
		headers = append(headers, h.pick(
			"Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-origin", "Expect: 100-continue", "Expect: x", "Connection: upgrade", "Upgrade: h2c",
			"Idempotency-Key: "+h.noise(), "Idempotency-Key: a", "X-Forwarded-For: 127.0.0.1", "X-HTTP-Method-Override: DELETE", "Accept-Encoding: gzip", "Range: bytes=0-1", "Cookie: "+strings.Repeat("a=b;", h.IntN(20_000)),
			"Trailer: Authorization", ": x", "X Y: z", "X: "+h.noise(), " folded: x", "Host: evil.example"))
	}
	raw = method + " " + path + " " + version + "\r\n" + strings.Join(headers, "\r\n") + "\r\n\r\n" + body
	switch h.IntN(24) {
	case 0:
		return h.mutate(raw), false
	case 1:
		return raw + h.noise(), false
	case 2:
		return strings.ReplaceAll(raw, "\r\n", "\n"), false
	}
	return raw, whole
}

// volley is what goes over one connection: some requests, how many, whether the
// answers are those to HEAD, and whether the daemon ends it by itself.
func (h *hostile) volley() (raw string, n int, head, whole bool) {
	switch h.IntN(8) {
	case 0:
		raw, _ = h.request("HEAD")
		return raw, 1, true, false
	case 1, 2:
		for n = range 2 + h.IntN(4) {
			one, _ := h.request("")
			raw += one
		}
		return raw, n + 1, false, false
	}
	raw, whole = h.request("")
	if whole {
		raw = strings.Replace(raw, "\r\n", "\r\nConnection: close\r\n", 1)
	}
	return raw, 1, false, whole
}

// Wrong requests, many on one connection, are answered with what was wrong of them: none
// fails the daemon, none panics, and when they are over nothing of them is left, neither
// memory, goroutines nor descriptors. The flag -hostile.requests asks for more.
func TestHostileRequests(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Rate, o.Limits.AuthFailures = 0, 0 }, func(b *configs.Budgets) {
		// What is kept of them does not grow.
		b.ShortRows, b.LongRows, b.ArchiveRows, b.TransientRows, b.HistoryFiles = 50, 50, 50, 50, 1
	})
	h := &hostile{Rand: rand.New(rand.NewPCG(6, 10_000)), token: d.token("hostile", memd.RoleWrite), bound: 64 << 10}
	seen := map[int]int{}
	quiet := func() {
		t.Helper()
		if log := d.log.String(); strings.Contains(log, `"level":"ERROR"`) || strings.Contains(log, "panic") {
			t.Errorf("the log tells of a failure: %s", log)
		}
		d.log.reset()
	}
	send := func(n int) {
		for rest := 0; n > 0; {
			if rest--; rest < 0 { // what the last ones were about may be forgotten
				h.right, rest = d.rightRequests(h), 100
				quiet()
			}
			raw, requests, head, whole := h.volley()
			n -= requests
			network, addr := "tcp", d.addr
			if h.IntN(4) == 0 {
				network, addr = "unix", d.socket
			}
			d.storm(t, network, addr, raw, head, whole, seen)
		}
	}
	send(*hostileRequests / 4)
	quiet()
	before := measure()
	send(*hostileRequests - *hostileRequests/4)
	quiet()
	after, deadline := measure(), time.Now().Add(20*time.Second)
	for after.more(before) && time.Now().Before(deadline) { // connections are still on their way out
		after = measure()
	}
	t.Logf("answers by status: %v", seen)
	t.Logf("before %+v, after %+v", before, after)
	if after.more(before) || after.heap > before.heap+2<<20 {
		t.Errorf("grew from %+v to %+v", before, after)
	}
	for _, status := range []int{200, 201, 400, 401, 403, 404, 405, 413, 415} {
		if seen[status] == 0 && *hostileRequests >= 2000 {
			t.Errorf("none was answered %d: the requests are not what they should be", status)
		}
	}
	d.get("/readyz").want(200)
	d.do(ask{method: "GET", path: "/v1/manifest", token: d.admin}).want(200)
}

// rightRequests are one request for each route, about memories that are there.
func (d *daemon) rightRequests(h *hostile) []ask {
	d.t.Helper()
	var row, fact memd.Memory
	d.post("/v1/remember", `{"summary":"a row"}`).into(&row)
	d.post("/v1/remember_long_term", `{"memory_key":"a/b","summary":"a fact","source":"AGENTS.md#x"}`).into(&fact)
	var right []ask
	for _, rt := range d.server.table {
		path := strings.NewReplacer("{id}", h.pick(row.ID, fact.ID), "{session_id}", "s", "{memory_key}", "a%2Fb").Replace(rt.path)
		right = append(right, ask{method: rt.method, path: path, body: rightly[rt.id]})
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/"} {
		right = append(right, ask{method: "GET", path: path})
	}
	return right
}

// storm sends bytes, reads every answer to them and counts these by status. Where
// the bytes are not whole it ends its side then, as net/http would wait for more.
func (d *daemon) storm(t *testing.T, network, addr, raw string, head, whole bool, seen map[int]int) {
	t.Helper()
	conn, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	sent := make(chan struct{})
	go func() { // the daemon may answer, and close, before it has read all
		defer close(sent)
		_, _ = io.WriteString(conn, raw)
		if !whole {
			_ = conn.(interface{ CloseWrite() error }).CloseWrite()
		}
	}()
	defer func() { <-sent }()
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	for in := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q: not answered in time", cut(raw))
		}
		if err != nil {
			return
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			return // the daemon closed on what it did not read
		}
		seen[res.StatusCode]++
		ours := res.Header.Get("X-Request-Id") != "" // else net/http refused what it could not read
		allowed := ours && (res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusInsufficientStorage) ||
			!ours && (res.StatusCode == http.StatusNotImplemented || res.StatusCode == http.StatusHTTPVersionNotSupported)
		if res.StatusCode >= 500 && !allowed {
			t.Errorf("%q: %d %s", cut(raw), res.StatusCode, body)
		}
		if ours && res.Header.Get("Content-Type") == problemType && len(body) > 0 && !json.Valid(body) {
			t.Errorf("%q: the problem is no JSON: %q", cut(raw), body)
		}
		if res.Close {
			return
		}
	}
}

func cut(s string) string { return s[:min(len(s), 600)] }

// usage is what this process holds.
type usage struct {
	heap       uint64 // bytes in use
	goroutines int
	files      int // open descriptors, 0 where the system does not tell
}

// more reports whether u holds more than before, but for the readers of a database
// that come and go.
func (u usage) more(before usage) bool {
	const readers = 8
	return u.goroutines > before.goroutines+readers || u.files > before.files+readers
}

func measure() usage {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, _ := os.ReadDir("/proc/self/fd") // of Linux alone
	return usage{m.HeapAlloc, runtime.NumGoroutine(), len(open)}
}
