package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"memd/embedding"
)

// chatBytes bounds an answer: a few hundred tokens, and what servers put beside
// them.
const chatBytes = 256 << 10

// ChatConfig says whom to ask and how.
type ChatConfig struct {
	URL   string // as in [Config]
	Model string // as the server names it
	Key   Key    // "" for none

	Timeout time.Duration // of one request (3 s)

	Transport http.RoundTripper // nil: the standard one, with the proxies of the environment
}

// Chat asks a chat model. It is safe for concurrent use. Close frees its
// connections.
type Chat struct {
	model string
	*server
}

// NewChat makes a Chat and asks nothing yet. Its errors are those of [New].
func NewChat(config ChatConfig) (*Chat, error) {
	if config.Timeout <= 0 {
		config.Timeout = 3 * time.Second
	}
	s, err := newServer(config.URL, "/chat/completions", config.Model, config.Key, config.Timeout, config.Transport)
	if err != nil {
		return nil, err
	}
	return &Chat{model: config.Model, server: s}, nil
}

// Complete returns what the model says to user under the rules of system, in at
// most so many output tokens. It asks once, since somebody waits. After three
// requests in a row that the server failed none goes out for half a minute. No
// error holds what was sent or what the server said.
func (c *Chat) Complete(ctx context.Context, system, user string, tokens int) (string, error) {
	if c.breaker.enter(c.now()) > 0 {
		return "", fmt.Errorf("chat: %w", errOpen)
	}
	answer, err := c.complete(ctx, system, user, tokens)
	rejected, isRejection := errors.AsType[*rejection](err)
	fault, isFault := errors.AsType[*embedding.Fault](err)
	switch {
	case ctx.Err() != nil:
		c.breaker.leave()
		return "", fmt.Errorf("chat: %w", ctx.Err())
	case isFault: // a wrong key too: a reader gains nothing by waiting for that
		c.breaker.failed(c.now(), fault.After)
		return "", fmt.Errorf("chat: %w", fault.Err)
	}
	c.breaker.succeeded()
	if isRejection {
		return "", fmt.Errorf("chat: %w", rejected)
	}
	return answer, nil
}

type chatRequest struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature int       `json:"temperature"` // 0: the same question, the same answer
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (c *Chat) complete(ctx context.Context, system, user string, tokens int) (string, error) {
	body, err := json.Marshal(chatRequest{
		Model: c.model, Messages: []message{{"system", system}, {"user", user}}, MaxTokens: tokens,
	})
	if err != nil {
		return "", &embedding.Fault{Err: errors.New("the request does not encode")}
	}
	body, err = c.post(ctx, body, chatBytes)
	if err != nil {
		return "", err
	}
	var a struct {
		Choices []struct {
			Message struct {
				Content *string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(body, &a) != nil || len(a.Choices) == 0 || a.Choices[0].Message.Content == nil {
		return "", malformed("the answer is cut short or holds no text")
	}
	return *a.Choices[0].Message.Content, nil
}
