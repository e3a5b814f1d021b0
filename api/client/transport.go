package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

// Unix carries requests over the unix socket at path.
func Unix(path string) http.RoundTripper {
	return over(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	})
}

// Dialled carries each request over a connection of its own, which dial makes, so
// that one is answered, or was never sent, or was sent to a daemon that went away
// meanwhile. It sends no request twice. A *memd.Error of dial is the call's.
func Dialled(dial func(context.Context) (net.Conn, error)) http.RoundTripper {
	t := over(dial)
	t.DisableKeepAlives = true // a kept connection may have ended with its daemon
	return t
}

// keptIdle is how many connections stand by for who calls from as many goroutines:
// with less, most calls of an import would dial.
const keptIdle = 64

func over(dial func(context.Context) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DisableCompression:  true,
		MaxIdleConnsPerHost: keptIdle,
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}
}

// Handler hands requests to h within this process. A round trip returns when
// h does; the answer is held in memory.
func Handler(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ handler http.Handler }

// RoundTrip presents req to the handler in the form in which a server would.
func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	in.RequestURI = in.URL.RequestURI()
	in.URL.Scheme, in.URL.Host = "", ""
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	w := &answer{header: http.Header{}}
	t.handler.ServeHTTP(w, in)
	w.WriteHeader(http.StatusOK) // unless the handler chose
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		Body:          io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()),
		Request:       req,
	}, nil
}

// answer gathers what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *answer) Header() http.Header { return w.header }

func (w *answer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 { // a 1xx is no answer yet
		w.status = status
	}
}

func (w *answer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
