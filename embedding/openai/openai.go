// Package openai asks an OpenAI-compatible server for vectors: OpenAI, Ollama,
// vLLM, llama.cpp, text-embeddings-inference and others that answer POST
// /v1/embeddings. [Chat] asks one that answers POST /v1/chat/completions for a
// short text, by the same rules.
//
// A text goes to that server and nowhere else: redirects are not followed. What
// the server says of a failure is never read, since servers quote the text or
// the key in it; errors tell the status alone.
package openai

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"memd"
	"memd/embedding"
)

// Bounds of what is sent and taken.
const (
	maxDim     = 8192   // of a vector; sqlite-vec takes no longer one
	textChars  = 6000   // code points of a text that are sent; 8192 tokens, the usual limit, are more in every language
	batchTexts = 64     // texts in a request
	batchChars = 60_000 // code points in a request of more than one text
)

// Config says whom to ask and how. Zero durations and counts mean the defaults.
type Config struct {
	URL   string // http(s)://host[:port], of which /v1 is asked, or with the path of the API (…/v1)
	Model string // as the server names it
	Dim   int    // of its vectors, 1 to 8192; [Probe] finds it out
	Key   Key    // "" for none

	// SendDim asks the server for vectors of Dim, which models that can shorten
	// theirs understand and many servers refuse.
	SendDim bool

	Timeout time.Duration // of one request (30 s)
	Retries int           // after a failure that may pass (2); below 0 for none
	MaxWait time.Duration // longest pause before a retry (10 s); a server that asks for more ends the call

	Transport http.RoundTripper // nil: the standard one, with the proxies of the environment
}

// Client is an [embedding.Embedder] that asks a server. Close frees its
// connections.
type Client struct {
	config Config
	*server
	sleep func(context.Context, time.Duration) error
}

var _ embedding.Embedder = (*Client)(nil)

// New makes a Client and asks nothing yet. Its errors are memd.Errors that name
// the field at fault, and never its value.
func New(config Config) (*Client, error) {
	if config.Dim < 1 || config.Dim > maxDim {
		return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "dim", "dim must be from 1 to %d", maxDim)
	}
	return newClient(config)
}

// newClient is New without a look at the dimension.
func newClient(config Config) (*Client, error) {
	if config.Timeout <= 0 {
		config.Timeout = 30 * time.Second
	}
	s, err := newServer(config.URL, "/embeddings", config.Model, config.Key, config.Timeout, config.Transport)
	if err != nil {
		return nil, err
	}
	if config.Retries == 0 {
		config.Retries = 2
	}
	if config.MaxWait <= 0 {
		config.MaxWait = 10 * time.Second
	}
	return &Client{config: config, server: s, sleep: sleep}, nil
}

// Probe asks the server of config for one vector and returns its length,
// whatever config.Dim says.
func Probe(ctx context.Context, config Config) (int, error) {
	if !config.SendDim {
		config.Dim = 0
	}
	c, err := newClient(config)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	items, err := c.ask(ctx, []string{"dimension"})
	if err != nil {
		return 0, err
	}
	if err := embedding.Check(items[0], len(items[0])); err != nil {
		return 0, &embedding.Fault{Err: err}
	}
	if len(items[0]) > maxDim {
		return 0, &embedding.Fault{Err: fmt.Errorf("vectors of %d numbers, more than %d", len(items[0]), maxDim)}
	}
	return len(items[0]), nil
}

// Model returns the model's name as the server has it.
func (c *Client) Model() string { return c.config.Model }

// Dim returns the length of the vectors.
func (c *Client) Dim() int { return c.config.Dim }

// Embed asks for the vectors in requests of at most 64 texts, one after the
// other. Of a text longer than 6000 code points only those are sent; a blank
// one is not sent at all. Requests that fail in passing are repeated with
// growing pauses, or those the server asks for. After three calls that failed
// all the same none goes out for half a minute: they fail at once with a
// passing Fault.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	refused := &embedding.Refused{Texts: map[int]error{}}
	for start := 0; start < len(texts); {
		b := batch{client: c, vectors: vectors}
		end := b.fill(texts, start)
		if err := b.run(ctx, b.inputs); err != nil {
			vectors = vectors[:start]
			if len(refused.Texts) > 0 {
				err = errors.Join(refused, err)
			}
			return vectors, err
		}
		for _, r := range b.refused {
			refused.Texts[r.index] = r.why
		}
		start = end
	}
	if len(refused.Texts) > 0 {
		return vectors, refused
	}
	return vectors, nil
}

// pause is how long to wait before the retry after the given failures: half a
// second, doubled each time, and up to as much again so that clients do not
// return in step.
func pause(failures int) time.Duration {
	d := 500 * time.Millisecond << min(failures-1, 10)
	return d + rand.N(d)
}

// sleep waits unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
