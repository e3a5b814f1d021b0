package mcp

import (
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"memd"
)

// Methods that are looked at by name.
const (
	methodCallTool     = "tools/call"
	methodReadResource = "resources/read"
	methodGetPrompt    = "prompts/get"
)

// offered reports whether memd answers a method, and whether that takes parameters.
// The library knows more, such as those of logging, which is not offered.
func offered(method string) (ok, params bool) {
	switch method {
	case "initialize", methodCallTool, methodReadResource, methodGetPrompt, "completion/complete", "subscriptions/listen":
		return true, true
	case "ping", "server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list":
		return true, false
	}
	return strings.HasPrefix(method, notifications), false
}

// notifications begins the methods of those.
const notifications = "notifications/"

// noMethod is the error of a call of a method that memd does not offer.
func noMethod() *jsonrpc.Error { return inOwnWords(&jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound}) }

// unanswerable looks at a message that the library would refuse over HTTP as no
// message, and answers as on stdio: a call of a method that is not offered, or
// without its parameters, with an error under its id, and a notification that nobody
// knows with nothing.
func unanswerable(body []byte) (answer []byte, ok bool) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if json.Unmarshal(body, &m) != nil || m.Version != "2.0" || m.Method == "" {
		return nil, false
	}
	id := idOf(body)
	known, params := offered(m.Method)
	switch {
	case m.ID == nil && m.Method != notifications+"initialized" && m.Method != notifications+"cancelled" && strings.HasPrefix(m.Method, notifications):
		return nil, true // of the others none does anything
	case id == nil || known && !(params && m.Params == nil):
		return nil, false
	}
	refusal := noMethod()
	if known {
		refusal = inOwnWords(&jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest})
	}
	return encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": refusal}), true
}

// known bounds what a method can be in a log: one that asks the daemon, or other.
func known(method string) string {
	switch method {
	case methodCallTool, methodReadResource, methodGetPrompt, "completion/complete":
		return method
	}
	return "other"
}

// protocolError is a refusal where the protocol has no result for one.
func protocolError(e *memd.Error) error {
	code := int64(jsonrpc.CodeInvalidParams)
	if e.Code == memd.CodeStoreFailed || e.Code == memd.CodeStoreBusy {
		code = jsonrpc.CodeInternalError
	}
	p := problemOf(e)
	return &jsonrpc.Error{Code: code, Message: string(p.Code) + ": " + p.Detail, Data: encode(p)}
}
