package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"memd/embedding"
)

// What an answer may take, in bytes. A number takes about 25 with its comma, or
// twice that where each has a line of its own.
const (
	numberBytes = 64
	extraBytes  = 1 << 20
	errorBytes  = 64 << 10 // read of a failure, unseen, to keep the connection
)

// rejection is the answer that the texts of a request cannot be embedded,
// whoever asks and whenever.
type rejection struct{ why string }

func (r *rejection) Error() string { return r.why }

// ask returns the vectors of texts as the server gave them, a nil one where it
// was no list of numbers. Its errors are a *rejection, a *embedding.Fault, or
// the end of ctx.
func (c *Client) ask(ctx context.Context, texts []string) ([][]float32, error) {
	if wait := c.breaker.enter(c.now()); wait > 0 {
		return nil, &embedding.Fault{Passing: true, After: wait, Err: errOpen}
	}
	vectors, err := c.retry(ctx, texts)
	fault, isFault := errors.AsType[*embedding.Fault](err)
	switch {
	case ctx.Err() != nil:
		c.breaker.leave()
	case isFault && fault.Passing:
		c.breaker.failed(c.now(), fault.After)
	default:
		c.breaker.succeeded()
	}
	return vectors, err
}

// retry posts until it is answered for good.
func (c *Client) retry(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(request{c.config.Model, texts, c.sentDim()})
	if err != nil {
		return nil, &embedding.Fault{Err: errors.New("the request does not encode")}
	}
	for failures := 1; ; failures++ {
		vectors, err := c.post(ctx, body, len(texts))
		fault, ok := errors.AsType[*embedding.Fault](err)
		if !ok || !fault.Passing {
			return vectors, err
		}
		wait := max(min(pause(failures), c.config.MaxWait), fault.After)
		if failures > c.config.Retries || wait > c.config.MaxWait {
			return nil, err
		}
		if deadline, ok := ctx.Deadline(); ok && c.now().Add(wait).After(deadline) {
			return nil, err
		}
		if err := c.sleep(ctx, wait); err != nil {
			return nil, ended(ctx)
		}
	}
}

type request struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
	Dim   int      `json:"dimensions,omitempty"`
}

func (c *Client) sentDim() int {
	if c.config.SendDim {
		return c.config.Dim
	}
	return 0
}

// post asks once.
func (c *Client) post(ctx context.Context, body []byte, n int) ([][]float32, error) {
	limited, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return nil, &embedding.Fault{Err: errors.New("the address makes no request")}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+string(c.config.Key))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, errorBytes)
		return nil, c.failure(resp)
	}
	most := c.mostBytes(n)
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, c.broken(ctx, err)
	case int64(len(answer)) > most:
		return nil, &embedding.Fault{Err: fmt.Errorf("the answer is larger than the %d bytes that %d vectors may take", most, n)}
	}
	return parse(answer, n)
}

// mostBytes bounds the answer to n texts.
func (c *Client) mostBytes(n int) int64 {
	dim := c.config.Dim
	if dim == 0 {
		dim = maxDim
	}
	return int64(n)*int64(dim)*numberBytes + extraBytes
}

// broken is the fault of a connection. The address, which net/http puts before
// the cause, is left out.
func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", c.config.Timeout)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return &embedding.Fault{Passing: true, Err: err}
}

// ended is the error of a call whose context is over.
func ended(ctx context.Context) error { return fmt.Errorf("embed: %w", ctx.Err()) }

// failure sorts an answer other than 200.
func (c *Client) failure(resp *http.Response) error {
	status := fmt.Sprintf("the server answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch code := resp.StatusCode; {
	case code == http.StatusBadRequest, code == http.StatusRequestEntityTooLarge, code == http.StatusUnprocessableEntity:
		return &rejection{status}
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return &embedding.Fault{Passing: true, After: c.retryAfter(resp.Header.Get("Retry-After")), Err: errors.New(status)}
	case code >= 300 && code < 400:
		return &embedding.Fault{Err: errors.New(status + ", and redirects are not followed")}
	}
	return &embedding.Fault{Err: errors.New(status)}
}

// maxRetryAfter bounds what a server may ask for, so that a wrong clock or unit
// does not silence the client for days.
const maxRetryAfter = time.Hour

// retryAfter reads the header's two forms: seconds, or a date.
func (c *Client) retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if date, err := http.ParseTime(header); err == nil {
		return min(max(date.Sub(c.now()), 0), maxRetryAfter)
	}
	return 0
}
