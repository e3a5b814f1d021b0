package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/store"
)

// metric reads one metric by its name and labels.
func (d *daemon) metric(name string) float64 {
	d.t.Helper()
	for line := range strings.SplitSeq(string(d.get("/metrics").want(200).Body), "\n") {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			var n float64
			if _, err := fmt.Sscan(value, &n); err != nil {
				d.t.Fatal(err)
			}
			return n
		}
	}
	d.t.Fatalf("there is no metric %s", name)
	return 0
}

// A token is held to its own rate, and told when to come again.
func TestRateOfAToken(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Rate, o.Limits.Burst = 1, 3 }, nil)
	one, other := d.token("one", memd.RoleRead), d.token("other", memd.RoleRead)
	stats := ask{method: "GET", path: "/v1/manifest", token: one}
	for range 3 {
		d.do(stats).want(200)
	}
	for _, path := range []string{"/v1/manifest", "/v1/recall", "/none", "/docs", "/metrics"} {
		r := d.do(ask{method: "GET", path: path, token: one})
		r.refused(429, memd.CodeRateLimited, "")
		if got := r.Header.Get("Retry-After"); got != "1" {
			t.Errorf("%s: Retry-After %q", path, got)
		}
	}
	d.do(ask{method: "GET", path: "/healthz", tcp: true}).want(200)
	d.do(ask{method: "GET", path: "/v1/manifest", token: other}).want(200)
	for range 10 {
		d.get("/v1/manifest").want(200) // the socket's owner is held to none
	}
	d.clock.Advance(time.Second)
	d.do(stats).want(200)
	d.do(stats).want(429)
	if got := d.metric(`memd_rate_limited_total{limit="caller"}`); got != 6 {
		t.Errorf("%v were counted", got)
	}
}

// An address is held to a rate of failures; a valid token passes.
func TestFailedAuthentications(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.AuthFailures = 6 }, nil)
	for i := range 6 {
		d.do(ask{method: "GET", path: "/v1/manifest", token: "wrong", tcp: true}).refused(401, memd.CodeUnauthorized, "")
		if i%2 == 0 {
			d.do(ask{method: "GET", path: "/v1/manifest", token: d.admin}).want(200)
		}
	}
	for _, a := range []ask{{method: "GET", path: "/v1/manifest", token: "wrong"}, {method: "POST", path: "/v1/remember", tcp: true}, {method: "GET", path: "/docs", tcp: true}} {
		r := d.do(a)
		r.refused(429, memd.CodeRateLimited, "")
		if got := r.Header.Get("Retry-After"); got != "10" {
			t.Errorf("Retry-After %q", got)
		}
	}
	d.do(ask{method: "GET", path: "/v1/manifest", token: d.admin}).want(200)
	d.do(ask{method: "GET", path: "/healthz", token: "wrong"}).want(200)
	d.clock.Advance(10 * time.Second)
	d.do(ask{method: "GET", path: "/v1/manifest", token: "wrong"}).want(401)
	for name, want := range map[string]float64{
		`memd_auth_failures_total{reason="invalid"}`: 8, `memd_auth_failures_total{reason="missing"}`: 2,
		`memd_rate_limited_total{limit="address"}`: 3,
	} {
		if got := d.metric(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// While as many requests run as may, others are told to come again; what tells
// how the daemon fares, and the socket's owner, are answered.
func TestRequestCap(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Requests = 2 }, nil)
	arrived, leave := make(chan struct{}), make(chan struct{})
	wait := route{method: "GET", path: "/wait", role: memd.RoleRead, run: func(*call, []byte) (any, error) {
		arrived <- struct{}{}
		<-leave
		return nil, nil
	}}
	d.server.mux.Get("/wait", func(w http.ResponseWriter, r *http.Request) {
		out, err := d.server.call(wait, r, w, func(string) string { return "" })
		if err != nil {
			d.server.refuse(w, r, err)
			return
		}
		d.server.answer(w, r, http.StatusNoContent, out)
	})
	ended := make(chan int, 2)
	for range 2 {
		go func() {
			req, _ := http.NewRequestWithContext(context.Background(), "GET", "http://"+d.addr+"/wait", nil)
			req.Header.Set("Authorization", "Bearer "+d.admin)
			res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			if err != nil {
				ended <- 0
				return
			}
			_ = res.Body.Close()
			ended <- res.StatusCode
		}()
		<-arrived
	}
	r := d.do(ask{method: "GET", path: "/v1/manifest", token: d.admin})
	r.refused(503, memd.CodeStoreBusy, "")
	if r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/docs"} {
		d.do(ask{method: "GET", path: path, token: d.admin}).want(200)
	}
	d.get("/v1/manifest").want(200)
	close(leave)
	for range 2 {
		if status := <-ended; status != http.StatusNoContent {
			t.Errorf("a running request got %d", status)
		}
	}
	d.do(ask{method: "GET", path: "/v1/manifest", token: d.admin}).want(200)
	if got := d.metric(`memd_rate_limited_total{limit="requests"}`); got != 1 {
		t.Errorf("%v were counted", got)
	}
}

// One caller's reads, however many and long, hold up another's for as long as one of
// them takes: the next reader that is free is the other's.
func TestReadersAreShared(t *testing.T) {
	const readers, crowd = 4, 16
	d := start(t, nil, nil)
	entered, leave := make(chan string), make(chan struct{})
	long := route{method: "GET", path: "/long", role: memd.RoleRead, run: func(c *call, _ []byte) (any, error) {
		return nil, d.store.View(c.ctx, func(*store.View) error {
			entered <- c.caller.Name
			<-leave
			return nil
		})
	}}
	d.server.mux.Get("/long", func(w http.ResponseWriter, r *http.Request) {
		out, err := d.server.call(long, r, w, func(string) string { return "" })
		if err != nil {
			d.server.refuse(w, r, err)
			return
		}
		d.server.answer(w, r, http.StatusNoContent, out)
	})
	many, one := d.token("many", memd.RoleRead), d.token("one", memd.RoleRead)
	var running sync.WaitGroup
	ask := func(token string) {
		running.Go(func() {
			req, _ := http.NewRequestWithContext(context.Background(), "GET", "http://"+d.addr+"/long", nil)
			req.Header.Set("Authorization", "Bearer "+token)
			res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusNoContent {
				t.Errorf("answered %d", res.StatusCode)
			}
		})
	}
	waiting := func(n int) {
		for d.store.ReadQueue() != n {
			runtime.Gosched()
		}
	}
	for range crowd {
		ask(many)
	}
	for range readers { // alone it has them all
		if who := <-entered; who != "many" {
			t.Fatalf("%s reads", who)
		}
	}
	waiting(crowd - readers)
	ask(one)
	waiting(crowd - readers + 1)
	leave <- struct{}{}
	if who := <-entered; who != "one" {
		t.Errorf("the first reader that is free is given to %s", who)
	}
	for range crowd - readers {
		leave <- struct{}{}
		<-entered
	}
	close(leave)
	running.Wait()
}

// A client whose body does not come holds no place among the requests that run.
func TestSlowBodyHoldsNoPlace(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Requests = 1 }, nil)
	for range 5 {
		conn := dial(t, "tcp", d.addr)
		head := strings.Replace(wholeHead, "\r\n\r\n", "\r\nAuthorization: Bearer "+d.admin+"\r\nExpect: 100-continue\r\n\r\n", 1)
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, len("HTTP/1.1 100"))
		if _, err := io.ReadFull(conn, line); err != nil || string(line) != "HTTP/1.1 100" {
			t.Fatalf("the body is not asked for: %q, %v", line, err)
		}
	}
	d.do(ask{method: "GET", path: "/v1/manifest", token: d.admin}).want(200)
}

// Ordinary load meets no limit that memd has by default: 32 clients of one token that
// write and recall without a pause, at a clock that stands still, so that nothing they
// spend comes back. A flood meets it.
func TestDefaultLimits(t *testing.T) {
	const clients, turns = 32, 15
	d := start(t, nil, nil)
	token := d.token("agents", memd.RoleWrite)
	var running sync.WaitGroup
	var refused sync.Map // how often by status
	for c := range clients {
		running.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := range turns {
				for path, body := range map[string]string{
					"/v1/remember": fmt.Sprintf(`{"summary":"client %d notes event %d"}`, c, n),
					"/v1/recall":   fmt.Sprintf(`{"query":"event %d"}`, n),
				} {
					req, _ := http.NewRequestWithContext(context.Background(), "POST", "http://"+d.addr+path, strings.NewReader(body))
					req.Header.Set("Authorization", "Bearer "+token)
					req.Header.Set("Content-Type", "application/json")
					res, err := client.Do(req)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
					if res.StatusCode != 200 && res.StatusCode != 201 {
						refused.Store(res.StatusCode, path)
					}
				}
			}
		})
	}
	running.Wait()
	refused.Range(func(status, path any) bool { t.Errorf("%s answers %d", path, status); return true })
	if n := d.rows(t); n != clients*turns {
		t.Errorf("%d rows, want %d", n, clients*turns)
	}
	flood := 2 * clients * turns // what was spent
	agents, _ := d.tokens.Caller(token)
	for {
		if _, ok := d.server.rates.Take(agents.Identity(), d.clock.Now()); !ok {
			break
		}
		flood++
	}
	if want := configs.DefaultLimits().Burst; flood != want {
		t.Errorf("%d requests at once were let pass, want %d", flood, want)
	}
	r := d.do(ask{method: "POST", path: "/v1/recall", body: `{"query":"event"}`, token: token})
	r.refused(429, memd.CodeRateLimited, "")
	if got := r.Header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
	for _, path := range []string{"/v1/manifest", "/healthz"} {
		d.do(ask{method: "GET", path: path, token: d.admin}).want(200) // another caller's
	}
	d.clock.Advance(time.Second)
	d.do(ask{method: "POST", path: "/v1/recall", body: `{"query":"event"}`, token: token}).want(200)
}
