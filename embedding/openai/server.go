package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"memd"
	"memd/embedding"
)

// errorBytes is read of a failure, unseen, to keep the connection.
const errorBytes = 64 << 10

// Key is a secret sent to the server. It shows as "[key]" wherever it is printed.
type Key string

// String hides the key.
func (Key) String() string { return "[key]" }

// GoString hides the key.
func (Key) GoString() string { return "[key]" }

// LogValue hides the key.
func (Key) LogValue() slog.Value { return slog.StringValue("[key]") }

// MarshalText hides the key.
func (Key) MarshalText() ([]byte, error) { return []byte("[key]"), nil }

// server is one call of a server, which JSON is posted to.
type server struct {
	address string
	key     Key
	timeout time.Duration // of one request
	http    *http.Client
	breaker breaker
	now     func() time.Time
}

// newServer makes a server and asks nothing yet. Its errors are memd.Errors that
// name the field at fault, and never its value. A nil transport means the
// standard one.
func newServer(base, call, model string, key Key, timeout time.Duration, transport http.RoundTripper) (*server, error) {
	address, err := endpoint(base, call)
	if err != nil {
		return nil, err
	}
	if model == "" {
		return nil, memd.FieldErrorf(memd.CodeMissingField, "model", "model must name the server's model")
	}
	key = Key(strings.TrimSpace(string(key)))
	if strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "key", "the key holds characters that no header can carry")
	}
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	client := &http.Client{
		Transport: transport,
		// The key and the texts are for the one server that was named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &server{address: address, key: key, timeout: timeout, http: client, now: time.Now}, nil
}

// endpoint is the address of a call such as /embeddings.
func endpoint(base, call string) (string, error) {
	refuse := func(format string, args ...any) error {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "url", format, args...)
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", refuse("url must be an address such as https://api.openai.com/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", refuse("url must hold no user, query or fragment; a key has a setting of its own")
	}
	path := strings.TrimRight(u.Path, "/")
	switch {
	case path == "":
		path = "/v1" + call
	case !strings.HasSuffix(path, call):
		path += call
	}
	u.Path, u.RawPath = path, ""
	return u.String(), nil
}

// Close frees idle connections.
func (s *server) Close() { s.http.CloseIdleConnections() }

// rejection is the answer that the texts of a request cannot be taken, whoever
// asks and whenever.
type rejection struct{ why string }

func (r *rejection) Error() string { return r.why }

// post asks once and returns an answer of at most so many bytes. Its errors are
// a *rejection, a *embedding.Fault, or the end of ctx.
func (s *server) post(ctx context.Context, body []byte, most int64) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, s.address, bytes.NewReader(body))
	if err != nil {
		return nil, &embedding.Fault{Err: errors.New("the address makes no request")}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+string(s.key))
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, s.broken(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, errorBytes)
		return nil, s.failure(resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, s.broken(ctx, err)
	case int64(len(answer)) > most:
		return nil, &embedding.Fault{Err: fmt.Errorf("the answer is larger than the %d bytes that it may take", most)}
	}
	return answer, nil
}

// broken is the fault of a connection. The address, which net/http puts before
// the cause, is left out.
func (s *server) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", s.timeout)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return &embedding.Fault{Passing: true, Err: err}
}

// ended is the error of a call whose context is over.
func ended(ctx context.Context) error { return fmt.Errorf("embed: %w", ctx.Err()) }

// failure sorts an answer other than 200.
func (s *server) failure(resp *http.Response) error {
	status := fmt.Sprintf("the server answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch code := resp.StatusCode; {
	case code == http.StatusBadRequest, code == http.StatusRequestEntityTooLarge, code == http.StatusUnprocessableEntity:
		return &rejection{status}
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return &embedding.Fault{Passing: true, After: s.retryAfter(resp.Header.Get("Retry-After")), Err: errors.New(status)}
	case code >= 300 && code < 400:
		return &embedding.Fault{Err: errors.New(status + ", and redirects are not followed")}
	}
	return &embedding.Fault{Err: errors.New(status)}
}

// maxRetryAfter bounds what a server may ask for, so that a wrong clock or unit
// does not silence the client for days.
const maxRetryAfter = time.Hour

// retryAfter reads the header's two forms: seconds, or a date.
func (s *server) retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if date, err := http.ParseTime(header); err == nil {
		return min(max(date.Sub(s.now()), 0), maxRetryAfter)
	}
	return 0
}
