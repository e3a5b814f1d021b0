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

// Handler hands requests to h within this process. A round trip returns when h does, with
// the answer held in memory; or, where h flushes what it has written, then, and what h
// goes on to write comes as it is read. Closing such an answer waits for h to end.
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
	w := &answer{header: http.Header{}, flushed: make(chan struct{}), done: make(chan struct{})}
	go w.serve(t.handler, in)
	select {
	case <-w.done:
		if w.thrown != nil {
			panic(w.thrown)
		}
		return w.response(req, io.NopCloser(&w.body), int64(w.body.Len())), nil
	case <-w.flushed:
		return w.response(req, w, -1), nil
	}
}

// answer gathers what a handler writes and, once that flushes it, hands it on.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer

	flushed chan struct{} // closed with the first flush; sent and out are there by then
	sent    http.Header
	in      *io.PipeReader
	out     *io.PipeWriter

	done   chan struct{} // closed when the handler has ended
	thrown any           // what it panicked with
}

func (w *answer) serve(h http.Handler, in *http.Request) {
	defer close(w.done)
	defer in.Body.Close()
	defer func() {
		w.thrown = recover()
		if w.out == nil {
			return
		}
		var err error // io.EOF
		if w.thrown != nil {
			err = io.ErrUnexpectedEOF
		}
		_ = w.out.CloseWithError(err) // never fails
	}()
	h.ServeHTTP(w, in)
	w.WriteHeader(http.StatusOK) // unless the handler chose
}

func (w *answer) response(req *http.Request, body io.ReadCloser, length int64) *http.Response {
	header := w.header
	if w.sent != nil {
		header = w.sent
	}
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          body,
		ContentLength: length,
		Request:       req,
	}
}

func (w *answer) Header() http.Header { return w.header }

func (w *answer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 { // a 1xx is no answer yet
		w.status = status
	}
}

func (w *answer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.out != nil {
		return w.out.Write(b)
	}
	return w.body.Write(b)
}

// Flush hands over what was written so far.
func (w *answer) Flush() {
	if w.out != nil {
		return
	}
	w.WriteHeader(http.StatusOK)
	w.sent = w.header.Clone()
	w.in, w.out = io.Pipe()
	close(w.flushed)
}

// Read reads what was written before the first flush, then what comes.
func (w *answer) Read(b []byte) (int, error) {
	if w.body.Len() > 0 {
		return w.body.Read(b)
	}
	return w.in.Read(b)
}

// Close tells the handler that nobody reads on, and waits for its end.
func (w *answer) Close() error {
	err := w.in.Close()
	<-w.done
	return err
}
