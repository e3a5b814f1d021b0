package mcp

import (
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"memd"
)

// Methods that are looked at by name.
const (
	methodCallTool     = "tools/call"
	methodReadResource = "resources/read"
	methodGetPrompt    = "prompts/get"
)

// known bounds what a method can be in a log.
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
