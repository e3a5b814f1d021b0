// Package client calls memd's REST interface, over the unix socket of a
// running daemon or straight into an http.Handler of this process. The caller
// cannot tell which, and that is the point: a command does the same with and
// without a daemon.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"memd"
)

// host stands in the requests' URLs. The daemon accepts it as a loopback
// name; neither transport dials it.
const host = "localhost"

// Client calls the daemon. It is safe for concurrent use.
type Client struct {
	http   *http.Client
	insist bool
}

// New makes a Client that sends its requests through rt: see [Unix] and
// [Handler].
func New(rt http.RoundTripper) *Client {
	return &Client{http: &http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// repeats is how often a call is sent again: the socket of a daemon that was killed
// takes connections until the kernel has closed it, and drops them.
const repeats = 3

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Insisting is the Client, sending a call again, up to three times, where the daemon
// went away before it answered: reads, and writes under an Idempotency-Key, so that
// what was carried out is not carried out again. Other calls it sends once.
func (c *Client) Insisting() *Client { return &Client{http: c.http, insist: true} }

// Close gives up idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Reply is an answer, decoded and as it came.
type Reply[T any] struct {
	Value T
	// Raw is the body of the answer, without the final newline. It is there
	// with an error too, when the daemon sent one; it is empty where the call
	// answers nothing (204).
	Raw json.RawMessage
}

// request is one call. The segments of its path are escaped one by one, so
// that an id or key stays one segment whatever it holds.
type request struct {
	method string
	path   []string
	query  url.Values
	body   any
	read   bool   // changes nothing; a GET never does
	once   string // its Idempotency-Key, "" for none
}

func v1(segments ...string) []string { return append([]string{"v1"}, segments...) }

// call sends r and decodes the answer. An answer that is no success is a
// *memd.Error.
func call[T any](ctx context.Context, c *Client, r request) (Reply[T], error) {
	var reply Reply[T]
	again := r.read || r.method == http.MethodGet
	if _, writes := any(reply.Value).(memd.Written); c.insist && writes && r.method == http.MethodPost { // those heed it
		r.once, again = rand.Text(), true
	}
	status, raw, err := c.send(ctx, r)
	for n := range repeats {
		if _, lost := errors.AsType[*lostError](err); !lost || !again || !c.insist {
			break
		}
		pause(ctx, time.Millisecond<<(2*n))
		status, raw, err = c.send(ctx, r)
	}
	if err != nil {
		return reply, err
	}
	reply.Raw = bytes.TrimSpace(raw)
	if status < 200 || status > 299 {
		return reply, problemOf(status, reply.Raw)
	}
	if len(reply.Raw) == 0 {
		return reply, nil
	}
	if err := json.Unmarshal(reply.Raw, &reply.Value); err != nil {
		return reply, &memd.Error{
			Code:    memd.CodeStoreFailed,
			Message: "the daemon's answer cannot be read",
			Hint:    "is the running daemon of another release? restart it",
			Err:     err,
		}
	}
	return reply, nil
}

func (c *Client) send(ctx context.Context, r request) (status int, body []byte, err error) {
	target, err := r.url()
	if err != nil {
		return 0, nil, err
	}
	var content io.Reader
	if r.body != nil {
		var data bytes.Buffer
		enc := json.NewEncoder(&data)
		enc.SetEscapeHTML(false) // a text of many < would not fit a body that it could
		if err := enc.Encode(r.body); err != nil {
			return 0, nil, fmt.Errorf("encode the request: %w", err)
		}
		content = bytes.NewReader(bytes.TrimSuffix(data.Bytes(), []byte("\n")))
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, content)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Accept", "application/json")
	if r.once != "" {
		req.Header.Set("Idempotency-Key", r.once)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, unanswered(ctx, err)
	}
	defer res.Body.Close()
	if body, err = io.ReadAll(res.Body); err != nil {
		return 0, nil, unanswered(ctx, err)
	}
	return res.StatusCode, body, nil
}

// maxAddress bounds an address, in bytes. The daemon takes headers of 64 KiB with
// it, and of what is larger it says nothing in JSON.
const maxAddress = 60 << 10

// url is the request's address. An empty segment would name another route.
func (r request) url() (string, error) {
	var b strings.Builder
	b.WriteString("http://" + host)
	for _, segment := range r.path {
		if segment == "" {
			return "", memd.Errorf(memd.CodeInvalidRequest, "an empty id, key or session names nothing")
		}
		escaped := url.PathEscape(segment)
		if strings.Trim(segment, ".") == "" { // "." and ".." would be folded away
			escaped = strings.ReplaceAll(escaped, ".", "%2E")
		}
		b.WriteString("/" + escaped)
	}
	if len(r.query) > 0 {
		b.WriteString("?" + r.query.Encode())
	}
	if b.Len() > maxAddress {
		return "", memd.Errorf(memd.CodeTooLarge, "the ids, keys and filters of the request are too long")
	}
	return b.String(), nil
}

// unanswered words the loss of an answer: the caller gave up, there was no way
// to the daemon, or it went away.
func unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("no answer yet: %w", context.Cause(ctx))
	}
	if refusal, ok := errors.AsType[*memd.Error](err); ok { // of who dialled
		return refusal
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the URL may hold a query
	}
	return &memd.Error{
		Code:    memd.CodeStoreFailed,
		Message: "the daemon went away before it answered",
		Hint:    "whether the call was carried out is not known; look, then try again",
		Err:     &lostError{err},
	}
}

// lostError is why an answer did not come, or not whole.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// problem is the RFC 9457 document of a failed call.
type problem struct {
	Code   memd.Code    `json:"code"`
	Field  string       `json:"field"`
	Detail string       `json:"detail"`
	Hint   string       `json:"hint"`
	Rules  []string     `json:"rules"`
	Fields []string     `json:"fields"`
	Head   *memd.Memory `json:"head"`
}

func problemOf(status int, raw []byte) *memd.Error {
	var p problem
	if err := json.Unmarshal(raw, &p); err != nil || p.Code == "" {
		return memd.Errorf(memd.CodeStoreFailed, "the daemon answered %d without saying why", status)
	}
	if p.Detail == "" {
		p.Detail = strings.ToLower(p.Code.Statuses().Title)
	}
	return &memd.Error{Code: p.Code, Field: p.Field, Message: p.Detail, Hint: p.Hint, Rules: p.Rules, Fields: p.Fields, Head: p.Head}
}
