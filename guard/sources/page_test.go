package sources

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memd"
)

// site serves pages of a media type by their paths, and a Checker that fetches them.
func site(t *testing.T, handler http.HandlerFunc) (*Checker, string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return New(nil).WithURLs(0), s.URL
}

func serve(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, body)
	}
}

func TestStatuses(t *testing.T) {
	c, at := site(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscan(strings.TrimPrefix(r.URL.Path, "/"), &status)
		w.WriteHeader(status)
	})
	for status, found := range map[int]memd.SourceStatus{
		200: memd.SourceOK, 202: memd.SourceOK, 204: memd.SourceOK, 404: memd.SourceMissing, 410: memd.SourceMissing, 304: memd.SourceUnchecked,
		400: memd.SourceUnchecked, 401: memd.SourceUnchecked, 403: memd.SourceUnchecked, 405: memd.SourceUnchecked, 429: memd.SourceUnchecked, 500: memd.SourceUnchecked, 503: memd.SourceUnchecked,
	} {
		want(t, c, fmt.Sprint(at, "/", status), found, "")
	}
}

// Without leave nothing is fetched, and File never does.
func TestNoFetchUnasked(t *testing.T) {
	c, at := site(t, func(http.ResponseWriter, *http.Request) { t.Error("a page was fetched") })
	want(t, New(nil), at, memd.SourceUnchecked, "not fetched")
	if f := c.File("project/x", at); f.Status != memd.SourceUnchecked {
		t.Errorf("File: %+v", f)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if f := c.Look(stopped, "project/x", at); f.Status != memd.SourceUnchecked {
		t.Errorf("at the end of the context: %+v", f)
	}
}

func TestFragments(t *testing.T) {
	const markdown = "# A\r\n\r\n## B c\r\n\r\ntext\r\n"
	for _, c := range []struct {
		media, body, path, fragment string
		found                       memd.SourceStatus
		hashed                      bool
	}{
		{"text/html; charset=utf-8", `<h1 id="a">A</h1>`, "/", "", memd.SourceOK, false},
		{"text/html; charset=utf-8", `<h1 id="a">A</h1>`, "/", "a", memd.SourceOK, false},
		{"text/html", `<h1 ID='user-content-a'>A</h1>`, "/", "a", memd.SourceOK, false},
		{"text/html", `<p>x</p><a name=a>A</a>`, "/", "a", memd.SourceOK, false},
		{"text/html", `<h1 id="标题">A</h1>`, "/", "%E6%A0%87%E9%A2%98", memd.SourceOK, false},
		{"text/html", `<h1 id="a">A</h1>`, "/", "a:~:text=x", memd.SourceOK, false},
		{"application/xhtml+xml", `<h1 id="a">A</h1>`, "/", "b", memd.SourceMissing, false},
		{"text/html", `<h1 id="a">A</h1><!-- <p id="b"> -->`, "/", "b", memd.SourceMissing, false},
		{"text/html", `<h1 id="a">A</h1>`, "/", "A", memd.SourceMissing, false},
		{"text/html", `<h1>A</h1>`, "/", "b", memd.SourceUnchecked, false},
		{"text/html", `<title>A</title><div id="app"></div><script src="x.js"></script>`, "/", "b", memd.SourceUnchecked, false},
		{"text/html", `<h1 id="a">A</h1><script>{"id":"user-content-b"}</script>`, "/", "b", memd.SourceUnchecked, false},
		{"text/html", `<h1 id="a">A</h1>`, "/", "L12", memd.SourceUnchecked, false},
		{"text/html", `<h1 id="a">A</h1>`, "/", "/route", memd.SourceUnchecked, false},
		{"text/html", `<h1 id="a">A</h1>`, "/", "!route", memd.SourceUnchecked, false},
		{"text/html", `<h1 id="a">A</h1>`, "/", ":~:text=x", memd.SourceOK, false},
		{"text/html", strings.Repeat(`<p id="a">x`, 200_000), "/", "b", memd.SourceUnchecked, false},
		{"text/html", strings.Repeat(`<p id="a">x`, 200_000), "/", "a", memd.SourceOK, false},
		{"text/plain", markdown, "/a.md", "", memd.SourceOK, true},
		{"text/plain; charset=utf-8", markdown, "/a.md", "b-c", memd.SourceOK, true},
		{"text/plain", markdown, "/a.md", "L5", memd.SourceOK, true},
		{"text/plain", markdown, "/a.md", "L6", memd.SourceMissing, false},
		{"text/plain", markdown, "/a.md", "gone", memd.SourceMissing, false},
		{"text/markdown", markdown, "/a", "b-c", memd.SourceOK, true},
		{"text/plain", "a\x00b", "/a", "", memd.SourceOK, false},
		{"text/plain", "a\x00b", "/a", "b", memd.SourceUnchecked, false},
		{"text/plain", strings.Repeat("x", maxPage+1), "/a", "", memd.SourceOK, false},
		{"text/plain", strings.Repeat("x", maxPage+1), "/a", "b", memd.SourceUnchecked, false},
		{"application/json", `{"a":1}`, "/a", "", memd.SourceOK, false},
		{"application/pdf", `%PDF`, "/a", "page=3", memd.SourceUnchecked, false},
		{"", "", "/a", "", memd.SourceOK, false},
	} {
		checker, at := site(t, serve(c.media, c.body))
		f := want(t, checker, at+c.path+"#"+c.fragment, c.found, "")
		if (f.Hash != "") != c.hashed {
			t.Errorf("%s #%s: %+v", c.media, c.fragment, f)
		}
	}
}

// A section that is fetched has the hash of the one in a file.
func TestPageHash(t *testing.T) {
	const text = "# A\n\n## B\n\ntext\n"
	pages, at := site(t, serve("text/plain", strings.ReplaceAll(text, "\n", "\r\n")))
	files, _ := folder(t, map[string]string{"a.md": text})
	if a, b := want(t, pages, at+"/a.md#b", memd.SourceOK, ""), want(t, files, "a.md#b", memd.SourceOK, ""); a != b {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestTimeout(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"no end": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(handler)
			defer s.Close()
			want(t, New(nil).WithURLs(20*time.Millisecond), s.URL, memd.SourceUnchecked, "answer")
		})
	}
}

// The end of the context ends a look that is under way.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	c, at := site(t, func(_ http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done()
	})
	if f := c.Look(ctx, "project/x", at); f.Status != memd.SourceUnchecked {
		t.Errorf("%+v", f)
	}
}

func TestNoServer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	gone := s.URL
	s.Close()
	secure := httptest.NewUnstartedServer(serve("text/html", ""))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	c := New(nil).WithURLs(0)
	for _, source := range []string{gone, secure.URL, "http://memd.invalid/", "ftp://127.0.0.1/x", "file:///etc/passwd", "http://[::1"} {
		want(t, c, source, memd.SourceUnchecked, "")
	}
}

func TestRedirects(t *testing.T) {
	var mu sync.Mutex
	steps := 0
	c, at := site(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		steps++
		var left int
		if n, _ := fmt.Sscanf(r.URL.Path, "/left/%d", &left); n == 1 && left > 0 {
			http.Redirect(w, r, fmt.Sprint("/left/", left-1), http.StatusFound)
		} else if r.URL.Path == "/loop" {
			http.Redirect(w, r, "/loop", http.StatusFound)
		} else if r.URL.Path == "/file" {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		} else if r.URL.Path == "/metadata" {
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		} else if r.URL.Path == "/elsewhere" {
			u, _ := url.Parse("http://" + r.Host)
			http.Redirect(w, r, "http://localhost:"+u.Port()+"/left/0", http.StatusFound)
		} else {
			serve("text/html", `<p id="a">`)(w, r)
		}
	})
	want(t, c, at+"/left/5#a", memd.SourceOK, "")
	want(t, c, at+"/left/5#b", memd.SourceMissing, "")
	want(t, c, at+"/left/6#a", memd.SourceUnchecked, "")
	want(t, c, at+"/file", memd.SourceUnchecked, "")
	want(t, c, at+"/metadata", memd.SourceUnchecked, "")
	want(t, c, at+"/elsewhere#b", memd.SourceUnchecked, "another host")
	steps = 0
	want(t, c, at+"/loop", memd.SourceUnchecked, "")
	if steps != maxRedirects+1 {
		t.Errorf("a loop was followed over %d requests", steps)
	}
}

func TestLinkLocal(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254:80": true, "[::ffff:169.254.169.254]:80": true, "[fe80::1%lo]:80": true, "[fd00:ec2::254]:80": true, "no address": true,
		"[fd00:ec2::254%lo]:80": true, "[64:ff9b::a9fe:a9fe]:80": true, "[2002:a9fe:a9fe::1]:80": true, "[::169.254.169.254]:80": true,
		"100.100.100.200:80": true, "192.0.0.192:80": true, "[64:ff9b::6464:64c8]:80": true,
		"[64:ff9b::a01:203]:80": false, "[2002:a01:203::1]:80": false, "100.100.100.201:80": false,
		"127.0.0.1:80": false, "[::1]:80": false, "10.1.2.3:80": false, "192.168.0.1:443": false, "[fd00::1]:80": false, "93.184.216.34:443": false,
	} {
		if err := refuseLinkLocal("tcp", address, nil); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// What a request tells of who makes it.
func TestRequest(t *testing.T) {
	c, at := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.UserAgent() != "memd" || len(r.Cookies()) > 0 || r.Header.Get("Authorization") != "" || r.Referer() != "" || r.URL.RawQuery != "q=1" {
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		if r.URL.Path == "/a" {
			http.SetCookie(w, &http.Cookie{Name: "c", Value: "v"})
			http.Redirect(w, r, "http://me:pass@"+r.Host+"/b?q=1", http.StatusFound)
		}
	})
	want(t, c, strings.Replace(at, "http://", "http://me:pass@", 1)+"/a?q=1#:~:text=x", memd.SourceOK, "")
}

// What is cited of one page is looked for in one answer.
func TestOnePage(t *testing.T) {
	var asked atomic.Int64
	c, at := site(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		serve("text/html", `<h1 id="a">A</h1>`)(w, r)
	})
	cited := []string{at + "/p#a", at + "/p", at + "/p#b", strings.Replace(at, "//", "//me:pass@", 1) + "/p#a", at + "/p#/route", at + "/p#a:~:text=x"}
	for _, source := range cited {
		if Page(source) != at+"/p" {
			t.Errorf("%s is on the page %s", source, Page(source))
		}
	}
	var got []memd.SourceStatus
	for _, f := range c.LookOn(context.Background(), at+"/p", cited) {
		got = append(got, f.Status)
	}
	const ok = memd.SourceOK
	if want := []memd.SourceStatus{ok, ok, memd.SourceMissing, ok, memd.SourceUnchecked, ok}; !slices.Equal(got, want) || asked.Load() != 1 {
		t.Errorf("%d times asked: %q, want %q", asked.Load(), got, want)
	}
	for _, source := range []string{"ftp://h/x", "user", "AGENTS.md#a", "http://[::1"} {
		if Page(source) != "" {
			t.Errorf("%s is on the page %s", source, Page(source))
		}
	}
}

// A server that gave no answer that tells is silent; a page that came is there.
func TestPageReach(t *testing.T) {
	c, at := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		serve("application/pdf", "%PDF")(w, r)
	})
	for source, reach := range map[string]Reach{at + "/down": Silent, "http://memd.invalid/": Silent, at + "/#a": There, "ftp://h/x": Barred} {
		if f := want(t, c, source, memd.SourceUnchecked, ""); f.Reach != reach {
			t.Errorf("%s: %+v, want %d", source, f, reach)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	hung, at := site(t, func(_ http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done()
	})
	if f := hung.Look(ctx, "project/x", at); f.Status != memd.SourceUnchecked || f.Reach != Away {
		t.Errorf("stopped under way: %+v", f)
	}
}
