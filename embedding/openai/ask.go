package openai

import (
	"context"
	"encoding/json"
	"errors"

	"memd/embedding"
)

// What an answer may take, in bytes. A number takes about 25 with its comma, or
// twice that where each has a line of its own.
const (
	numberBytes = 64
	extraBytes  = 1 << 20
)

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
		vectors, err := c.postTexts(ctx, body, len(texts))
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

// postTexts asks once.
func (c *Client) postTexts(ctx context.Context, body []byte, n int) ([][]float32, error) {
	answer, err := c.post(ctx, body, c.mostBytes(n))
	if err != nil {
		return nil, err
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
