package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
)

// refusalOf is the error that a caller is told: memd's own, or that memd failed.
func refusalOf(ctx context.Context, err error) *memd.Error {
	if e, ok := errors.AsType[*memd.Error](err); ok {
		return e
	}
	if ctx.Err() != nil {
		return givenUp()
	}
	return failed()
}

// givenUp is the error of a call that its client cancelled, or that a session's end
// cut off.
func givenUp() *memd.Error {
	return memd.Errorf(memd.CodeStoreBusy, "the call was given up before it was answered").
		WithHint("whether it was carried out is not known; look, then try again")
}

// failed is the error of what memd did wrong.
func failed() *memd.Error {
	return memd.Errorf(memd.CodeStoreFailed, "the request failed inside memd").WithHint("the log names the cause")
}

// problem is a refusal in structured content: REST's members.
type problem struct {
	Code   memd.Code       `json:"code"`
	Detail string          `json:"detail"`
	Field  string          `json:"field,omitempty"`
	Hint   string          `json:"hint,omitempty"`
	Rules  []string        `json:"rules,omitempty"`
	Fields []string        `json:"fields,omitempty"`
	Head   json.RawMessage `json:"head,omitempty"`
}

// Bounds of what a refusal says beside its head, in code points.
const (
	maxDetail = 160
	maxHint   = 200
	maxNames  = 4 // of rules, and of fields
)

func problemOf(e *memd.Error) problem {
	p := problem{
		Code: e.Code, Detail: clip(e.Message, maxDetail), Field: clip(e.Field, maxDetail/4), Hint: clip(e.Hint, maxHint),
		Rules: e.Rules, Fields: e.Fields,
	}
	if p.Detail == "" {
		p.Detail = strings.ToLower(e.Code.Statuses().Title)
	}
	if p.Hint == "" {
		p.Hint = hintOf(e.Code)
	}
	return p
}

// hintOf is what a model is told to do about a refusal that says no more itself.
func hintOf(code memd.Code) string {
	switch code {
	case memd.CodeInvalidRequest:
		return "put it right as the schema says, and call again"
	case memd.CodeMissingField, memd.CodeMissingSource:
		return "call again with what is missing"
	case memd.CodeNotFound:
		return "take names as recall or list give them; of a restricted memory name its access tags"
	case memd.CodeVersionConflict:
		return "read it as it is now, merge, and write again"
	case memd.CodeTooLarge:
		return "shorten it, or split it"
	case memd.CodeUnauthorized, memd.CodeForbidden:
		return "do without, or have a person give the session a token that may do this"
	case memd.CodeSecretDetected, memd.CodeNotDurableFact:
		return "write down what it taught, without it"
	case memd.CodeBudgetExceeded:
		return "forget what is of no use any more, or have a person raise the budget"
	case memd.CodeRateLimited, memd.CodeStoreBusy:
		return "wait a moment, then try again"
	}
	return "have a person look into memd's log"
}

// refused is a refusal as the result of a tool.
func (s *Server) refused(e *memd.Error, room int) *sdk.CallToolResult {
	p := problemOf(e)
	if chars(encode(p)) > room {
		p.Rules, p.Fields = p.Rules[:min(len(p.Rules), maxNames)], p.Fields[:min(len(p.Fields), maxNames)]
	}
	if chars(encode(p)) > room {
		p.Rules, p.Fields, p.Hint = nil, nil, clip(p.Hint, maxDetail/2)
	}
	if e.Head != nil && s.names(e.Head.Access, nil) {
		shown := *e.Head
		shown.Tags, shown.Access, shown.RawContent = append([]string{}, shown.Tags...), append([]string{}, shown.Access...), ""
		head, err := parse(harmless(s.fence, encode(shown)))
		if left := room - chars(encode(p)) - len(`,"head":`); err == nil && left > minChars/2 {
			head, _ = shrunk(head, left)
			p.Head = encode(head)
		}
	}
	line := string(p.Code) + ": " + p.Detail
	if p.Hint != "" {
		line += ". Hint: " + p.Hint + "."
	}
	return &sdk.CallToolResult{
		IsError: true, StructuredContent: harmless(s.fence, encode(p)),
		Content: []sdk.Content{&sdk.TextContent{Text: s.fence.Line(line)}},
	}
}
