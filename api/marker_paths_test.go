package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/embedding/openai"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// labelMarker stands for what a memory is known by: its key, namespace, tags, source
// and owner. The log names the key and the namespace as it names the id, and why says
// what they are; nothing else repeats them either.
const labelMarker = "mark-lab-5d1c"

// markerOf is the marker of a field.
func markerOf(field string) string {
	switch field {
	case "memory_key", "namespace", "namespaces", "tags", "tag", "access", "source", "owner":
		return labelMarker
	}
	return marker
}

// namesLabels reports whether what stands at a place may name labels.
func namesLabels(place string) bool { return strings.HasPrefix(place, "/v1/why") || place == "/v1/log" }

// planted is a daemon that is sent markers, at the debug level of its log.
type planted struct {
	*daemon
	reader, writer string
	refusals       map[memd.Code]int
	asked          int
}

// plant starts a daemon whose embedder and selector are servers that send back what
// they are asked, as an error.
func plant(t *testing.T) *planted {
	t.Helper()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		http.Error(w, string(body), http.StatusBadRequest)
	}))
	t.Cleanup(echo.Close)
	embedder, err := openai.New(openai.Config{URL: echo.URL + "/v1", Model: "m", Dim: 8, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(embedder.Close)
	p := &planted{refusals: map[memd.Code]int{}}
	p.daemon = start(t, func(o *Options) {
		o.Tiers = o.Tiers.WithGuard(configs.Guard{Derivable: configs.GuardBlock}).
			WithOwners(map[string]string{"rule": "platform"})
		o.Recall = recall.New(o.Store, o.Log).WithEmbedder(embedder, 0)
	}, func(b *configs.Budgets) {
		b.ActiveBytes, b.RawBytes, b.LongRows, b.ShortChars = configs.MinActiveBytes, 4096, 40, 200
	})
	p.reader, p.writer = p.token("reader", memd.RoleRead), p.token("writer", memd.RoleWrite, "default")
	return p
}

// handsOut reports whether the answers of a path hand out memories themselves.
func handsOut(path string) bool {
	for _, prefix := range []string{"/v1/remember", "/v1/sessions", "/v1/recall", "/v1/context", "/v1/memories", "/v1/keys", "/v1/manifest"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// send asks as the socket, a writer, a reader and nobody, and looks at the answers.
func (p *planted) send(method, path, body string) {
	p.t.Helper()
	for _, token := range []string{"", p.writer, p.reader, marker} {
		p.look(path, p.do(ask{method: method, path: path, body: body, token: token}))
	}
}

func (p *planted) look(path string, r reply) {
	p.t.Helper()
	p.asked++
	body := strings.ToLower(string(r.Body))
	if r.Status >= 400 {
		code := r.problem().Code
		p.refusals[code]++
		if code != memd.CodeVersionConflict && (strings.Contains(body, marker) || strings.Contains(body, labelMarker)) {
			p.t.Errorf("%s: refusal %s", path, r.Body)
		}
	} else if !handsOut(path) && (strings.Contains(body, marker) || !namesLabels(path) && strings.Contains(body, labelMarker)) {
		p.t.Errorf("%s: %d %s", path, r.Status, r.Body)
	}
	for name, values := range r.Header {
		if strings.Contains(strings.ToLower(strings.Join(values, " ")), marker) {
			p.t.Errorf("%s: header %s: %q", path, name, values)
		}
	}
}

// names are the fields of a request body.
func names(in reflect.Type) (all []string) {
	for name := range placesOf(in) {
		all = append(all, name)
	}
	return all
}

// pathOf fills a route's path.
func pathOf(rt route, with string) string {
	return regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(rt.path, url.PathEscape(with))
}

// ownWords are the routes that this suite asks itself, with what they need: their
// paths name places on this machine, they take long, or bodies are what they are for.
func ownWords(rt route) bool {
	return rt.path == "/v1/export" || rt.path == "/v1/backup" || rt.path == "/v1/rollover" || rt.path == "/v1/compact"
}

// everywhere puts the marker into every field, parameter and path of every route, as
// a text, as a list, as an object and far too long.
func (p *planted) everywhere(id string) {
	valid := map[string]any{"summary": "s", "memory_key": "k/" + labelMarker, "source": "a.md", "query": "q", "ids": []string{id}, "session_id": "s"}
	for _, rt := range p.server.table {
		if ownWords(rt) {
			continue
		}
		for _, param := range rt.params {
			p.send(rt.method, pathOf(rt, "x")+"?"+param.name+"="+markerOf(param.name), "")
		}
		p.send(rt.method, pathOf(rt, marker)+"?"+marker+"=1", "")
		p.send(rt.method, pathOf(rt, marker), "")
		if rt.in == nil {
			continue
		}
		all := map[string]any{}
		for _, field := range names(rt.in) {
			m := markerOf(field)
			all[field] = m
			for _, value := range []any{m, []string{m}, map[string]string{m: m}, strings.Repeat(m+" ", 8000)} {
				body := map[string]any{field: value}
				for _, other := range names(rt.in) {
					if base, ok := valid[other]; ok && other != field {
						body[other] = base
					}
				}
				text, err := json.Marshal(body)
				if err != nil {
					p.t.Fatal(err)
				}
				p.send(rt.method, pathOf(rt, id), string(text))
			}
		}
		text, _ := json.Marshal(all)
		p.send(rt.method, pathOf(rt, id), string(text))
		p.send(rt.method, pathOf(rt, id), marker)
	}
}

// rows writes memories that hold the marker in every field, and returns the ids of a
// short and of a long one.
func (p *planted) rows() (short, long string) {
	const m, l = marker, labelMarker
	var w memd.Memory
	p.post("/v1/remember", `{"summary":"`+m+` short","raw_content":"`+m+`","tags":["`+l+`"],"agent":"`+m+`","session_id":"`+m+`","source":"`+l+`.md","access":["`+l+`"],"kind":"pitfall"}`).want(201).into(&w)
	short = w.ID
	const fields = `"source":"` + l + `.md#` + l + `","why":"` + m + `","how_to_apply":"` + m + `","raw_content":"` + m + `","owner":"` + l + `","tags":["` + l + `"],"access":["` + l + `"]`
	for _, version := range []string{"one", "two", "three"} {
		p.post("/v1/remember_long_term", `{"memory_key":"`+labelMarker+`","summary":"`+m+` `+version+`","kind":"feedback",`+fields+`}`).into(&w)
	}
	long = w.ID
	p.post("/v1/remember_long_term", `{"memory_key":"`+labelMarker+`.twin","summary":"`+m+` twin","kind":"fact","namespace":"project/`+labelMarker+`",`+fields+`}`).want(201)
	p.send("POST", "/v1/sessions/"+m+"/transient", `{"summary":"`+m+` note"}`)
	return short, long
}

// provoke provokes each refusal that a caller can cause.
func (p *planted) provoke(short, long string) {
	m := marker
	p.send("POST", "/v1/remember_long_term", `{"memory_key":"`+labelMarker+`","summary":"`+m+`","source":"a.md","base_version":99}`)
	p.send("POST", "/v1/remember_long_term", `{"memory_key":"c","summary":"--- a/`+m+`\n+++ b/`+m+`\n@@ -1 +1 @@\n-`+m+`","source":"a.md"}`)
	p.send("POST", "/v1/remember_long_term", `{"memory_key":"c","summary":"`+m+`","source":"`+labelMarker+`"}`)
	p.send("POST", "/v1/remember_long_term", `{"memory_key":"c","summary":"`+m+`"}`)
	p.send("POST", "/v1/remember_long_term", `{"memory_key":"c","summary":"`+m+`","source":"a.md","kind":"feedback","why":"`+m+`"}`)
	p.send("POST", "/v1/remember", `{"summary":"`+strings.Repeat(m+" ", 50)+`"}`)
	p.send("POST", "/v1/remember", `{"summary":"`+m+`","raw_content":"`+strings.Repeat(m, 1000)+`"}`)
	p.send("POST", "/v1/remember", `{"summary":"`+m+`","raw_content":"`+strings.Repeat(m, 120000)+`"}`)
	p.send("POST", "/v1/remember", `{"summary":"`+m+`","namespace":"`+labelMarker+`/x"}`)
	p.send("POST", "/v1/remember", `{"summary":"`+m+`","access":["`+m+`2"]}`)
	p.send("POST", "/v1/remember", `{"summary":"<memd-memories id=\"0123456789abcdef\">`+m+`"}`)
	p.send("POST", "/v1/memories/"+long+"/archive", "")
	p.send("POST", "/v1/memories/"+long+"/promote", `{"memory_key":"`+labelMarker+`","source":"`+labelMarker+`"}`)
	p.send("PATCH", "/v1/memories/"+short, `{"expires_at":"2001-01-01T00:00:00Z","owner":"`+labelMarker+`"}`)
	p.send("GET", "/v1/keys/"+m+"%2F"+m, "")
	for n := range 45 {
		p.post("/v1/remember_long_term", fmt.Sprintf(`{"memory_key":"fill.%d","summary":"%s %d","source":"a.md"}`, n, m, n))
	}
	p.send("POST", "/v1/remember_long_term", `{"memory_key":"one.more","summary":"`+m+`","source":"a.md"}`)
	for _, q := range []string{m, `\"` + m, m + `*) OR NEAR(`, `{` + m + `}`, `summary:` + m} {
		p.send("POST", "/v1/recall", `{"query":"`+q+`","explain":true,"include_archive":true,"access":["`+labelMarker+`"],"tools":["`+m+`"]}`)
		p.send("POST", "/v1/context", `{"query":"`+q+`","session_id":"`+m+`"}`)
		p.send("POST", "/v1/why", `{"query":"`+q+`","id":"`+short+`"}`)
		p.send("POST", "/v1/why", `{"query":"`+q+`","memory_key":"`+labelMarker+`"}`)
	}
	for _, header := range []string{"Origin", "Sec-Fetch-Site", "User-Agent", "X-Request-Id", "Authorization", "Content-Type", "Idempotency-Key", "Accept", "Cookie", "Referer"} {
		p.look("/v1/recall", p.do(ask{method: "POST", path: "/v1/recall", body: `{}`, tcp: true, header: http.Header{header: {marker}}}))
		p.look("/v1/remember", p.do(ask{method: "POST", path: "/v1/remember", body: `{"summary":"` + m + `"}`, header: http.Header{"Content-Type": {"application/json"}, header: {marker}}}))
	}
	p.look("/v1/stats", p.do(ask{method: "GET", path: "/v1/stats", tcp: true, host: m}))
}

// shows collects all that is kept or shown beside the memories, by name.
func (p *planted) shows() map[string]string {
	p.t.Helper()
	ctx := context.Background()
	if err := p.store.Flush(ctx); err != nil {
		p.t.Fatal(err)
	}
	shown := map[string]string{"log": p.log.String()}
	for _, path := range []string{"/metrics", "/openapi.json", "/docs", "/healthz", "/readyz", "/v1/stats", "/v1/groom", "/v1/doctor", "/v1/audit"} {
		shown[path] = string(p.do(ask{method: "GET", path: path}).Body)
	}
	var page logPage
	for query := "?limit=200"; query != ""; {
		r := p.get("/v1/log" + query).want(200)
		shown["/v1/log"] += string(r.Body)
		page = logPage{}
		r.into(&page)
		if query = ""; page.NextCursor != "" {
			query = "?limit=200&cursor=" + page.NextCursor
		}
	}
	err := p.store.View(ctx, func(v *store.View) error {
		return v.EachRecord(func(place, text string) error { shown["records"] += place + "=" + text + "\n"; return nil })
	})
	if err != nil {
		p.t.Fatal(err)
	}
	var stacks bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
		p.t.Fatal(err)
	}
	shown["goroutines"] = stacks.String()
	return shown
}

// clean reports every place that holds a marker or a token.
func (p *planted) clean() {
	p.t.Helper()
	for what, text := range p.shows() {
		text = strings.ToLower(text)
		for _, word := range []string{marker, labelMarker, strings.ToLower(p.admin), strings.ToLower(p.writer), strings.ToLower(p.reader)} {
			if word == labelMarker && namesLabels(what) {
				continue
			}
			if i := strings.Index(text, word); i >= 0 {
				p.t.Errorf("%s holds %q: …%s…", what, word, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}

// Nothing of a memory, a query or a token stands anywhere but in the answers that
// hand the memory out: in every field of every route, on every refusal that a caller
// can cause, and in what is kept of it all.
func TestMarkerEverywhere(t *testing.T) {
	p := plant(t)
	short, long := p.rows()
	p.everywhere(short)
	p.provoke(short, long)
	for _, body := range []string{`{"dry_run":true}`, `{}`, `{"force":true}`, `{"light":true}`} {
		p.look("/v1/groom", p.post("/v1/groom", body).want(200))
	}
	p.look("/v1/backup", p.post("/v1/backup", `{}`).want(200))
	p.look("/v1/rollover", p.post("/v1/rollover", ``).want(200))
	p.look("/v1/compact", p.post("/v1/compact", ``).want(200))
	p.look("/v1/audit", p.get("/v1/audit"))
	p.del("/v1/memories/" + long).want(204)
	p.look("/v1/why", p.post("/v1/why", `{"query":"`+marker+`","id":"`+long+`"}`))
	p.clean()
	for _, code := range []memd.Code{
		memd.CodeInvalidRequest, memd.CodeUnauthorized, memd.CodeForbidden, memd.CodeNotFound, memd.CodeVersionConflict, memd.CodeTooLarge,
		memd.CodeUnsupportedMediaType, memd.CodeMissingSource, memd.CodeMissingField, memd.CodeNotDurableFact, memd.CodeBudgetExceeded,
	} {
		if p.refusals[code] == 0 {
			t.Errorf("nothing was refused as %s", code)
		}
	}
	if p.refusals[memd.CodeStoreFailed] != 0 {
		t.Errorf("%d requests failed inside memd: %s", p.refusals[memd.CodeStoreFailed], p.log)
	}
	t.Logf("%d requests, refusals by code: %v", p.asked, p.refusals)
}

// A store that fails, in rows, in files and as a whole, tells as little.
func TestMarkerInFailures(t *testing.T) {
	p := plant(t)
	short, long := p.rows()
	p.post("/v1/rollover", ``).want(200)
	p.post("/v1/remember", `{"summary":"`+marker+` again"}`).want(201)
	ask := func() {
		p.send("POST", "/v1/remember", `{"summary":"`+marker+` more"}`)
		p.send("POST", "/v1/recall", `{"query":"`+marker+`","access":["`+labelMarker+`"]}`)
		p.send("GET", "/v1/memories/"+short, "")
		p.send("GET", "/v1/memories/"+long, "")
		p.send("GET", "/v1/memories?q="+marker, "")
		p.send("PATCH", "/v1/memories/"+short, `{"owner":"`+labelMarker+`"}`)
		p.send("POST", "/v1/why", `{"query":"`+marker+`","id":"`+short+`"}`)
		for _, path := range []string{"/v1/groom", "/v1/backup", "/v1/compact"} {
			p.look(path, p.post(path, `{}`))
		}
		for _, path := range []string{"/v1/doctor", "/v1/audit", "/v1/stats", "/readyz"} {
			p.look(path, p.do(ask{method: "GET", path: path}))
		}
	}
	active := filepath.Join(p.dir, store.ActiveName)
	history, err := filepath.Glob(filepath.Join(p.dir, store.HistoryDir, "*.db"))
	if err != nil || len(history) != 1 {
		t.Fatal(history, err)
	}

	// Rows in which a hand left what does not belong there.
	for _, column := range []string{"created_at", "updated_at", "written_at", "expires_at", "content_hash", "agent"} {
		byHand(t, active, `UPDATE short SET `+column+` = '`+marker+` '||`+column+``)
		byHand(t, history[0], `UPDATE long SET `+column+` = '`+marker+`'`)
		ask()
	}
	p.clean()

	// An active database that another program holds.
	release := hold(t, active)
	p.look("/v1/remember", p.post("/v1/remember", `{"summary":"`+marker+` while it is held"}`))
	release()

	// A historical database that is damaged, and then cannot be opened.
	data, err := os.ReadFile(history[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i += 3 {
		data[i] ^= 0x5a
	}
	if err := os.WriteFile(history[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	ask()
	if err := os.WriteFile(history[0], []byte(marker), 0o600); err != nil {
		t.Fatal(err)
	}
	ask()
	for what, text := range map[string]string{"log": p.log.String(), "metrics": string(p.get("/metrics").Body)} {
		if i := strings.Index(text, marker); i >= 0 {
			t.Errorf("%s holds the marker: …%s…", what, text[max(0, i-200):min(len(text), i+100)])
		}
	}

	// A store that is closed under its daemon.
	_ = p.store.Close()
	ask()
	if p.refusals[memd.CodeStoreFailed] == 0 || p.refusals[memd.CodeStoreBusy] == 0 || !strings.Contains(p.log.String(), `"level":"ERROR"`) {
		t.Errorf("too little failed: %v", p.refusals)
	}
	t.Logf("%d requests, refusals by code: %v", p.asked, p.refusals)
	if text := p.log.String(); strings.Contains(text, marker) {
		i := strings.Index(text, marker)
		t.Errorf("the log holds the marker: …%s…", text[max(0, i-200):min(len(text), i+100)])
	}
}

// hold has a shell write to a database until the function that it returns is called.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	cmd := exec.Command("sqlite3", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = io.WriteString(in, ".timeout 5000\nBEGIN IMMEDIATE;\nSELECT 'held';\n")
	}
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, len("held\n")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
}

// byHand changes a database in the shell.
func byHand(t *testing.T, path, sql string) {
	t.Helper()
	out, err := exec.Command("sqlite3", path, ".timeout 5000", sql).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "constraint") {
		t.Fatalf("sqlite3: %v: %s", err, out)
	}
}

// What a handler panics with stands in no answer and no log, be it a text, an error
// or a memory.
func TestMarkerInPanics(t *testing.T) {
	for name, thrown := range map[string]any{
		"text": marker, "error": fmt.Errorf("%s", marker), "memory": memd.Memory{Summary: marker}, "pointer": &memd.Memory{Summary: marker},
		"refusal": memd.Errorf(memd.CodeNotFound, "%s", marker), "bytes": []byte(marker), "request": tiers.Once{Key: marker},
	} {
		log := &logBuffer{}
		s := New(Options{Log: logger(log)})
		rec := httptest.NewRecorder()
		s.outer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(thrown) })).
			ServeHTTP(rec, httptest.NewRequest("POST", "/v1/remember?"+marker, strings.NewReader(marker)))
		if rec.Code != 500 || strings.Contains(rec.Body.String(), marker) || strings.Contains(log.String(), marker) || !strings.Contains(log.String(), "request panicked") {
			t.Errorf("%s: %d %s, log %s", name, rec.Code, rec.Body, log)
		}
	}
}
