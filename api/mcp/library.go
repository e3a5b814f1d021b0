package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"memd"
)

// maxForeign is the most that data of the protocol's own, such as the versions that
// are spoken, has in an error, in bytes.
const maxForeign = 512

// inOwnWords is an error of the library's as memd words it: its own text repeats the
// request, at any length, and names types of Go. What carries data is memd's
// already, or the protocol's.
func inOwnWords(err error) *jsonrpc.Error {
	said, ok := err.(*jsonrpc.Error)
	if wrapped, is := errors.AsType[*jsonrpc.Error](err); !ok && is {
		said = &jsonrpc.Error{Code: wrapped.Code}
	} else if !ok {
		said = &jsonrpc.Error{}
	}
	var ours problem
	if said.Data != nil && (len(said.Data)+len(said.Message) <= maxForeign || json.Unmarshal(said.Data, &ours) == nil && ours.Code != "") {
		return said
	}
	if errors.Is(err, context.Canceled) || said.Code == 0 && said.Message == context.Canceled.Error() { // before it began
		return protocolError(givenUp()).(*jsonrpc.Error)
	}
	code, e := said.Code, memd.Errorf(memd.CodeInvalidRequest, "the session takes no such request now").
		WithHint("it begins with initialize, once, and with the parameters that the protocol gives it")
	switch code {
	case jsonrpc.CodeMethodNotFound:
		e = memd.Errorf(memd.CodeNotFound, "there is no such method").WithHint("the capabilities tell which there are")
	case jsonrpc.CodeInvalidParams:
		e = memd.Errorf(memd.CodeInvalidRequest, "the parameters are not those of this method").WithHint("see what the protocol gives it, and what the lists name")
	case jsonrpc.CodeParseError:
		e = memd.Errorf(memd.CodeInvalidRequest, "the message is not JSON")
	case jsonrpc.CodeInternalError:
		e = failed()
	case 0:
		code = jsonrpc.CodeInvalidRequest
	}
	worded := protocolError(e).(*jsonrpc.Error)
	worded.Code = code
	return worded
}

// unnamed is the error of a call of a tool or prompt that there is none of.
func unnamed(method string, err error) error {
	e, ok := err.(*jsonrpc.Error)
	if !ok || e.Code != jsonrpc.CodeInvalidParams || e.Data != nil {
		return err
	}
	switch method {
	case methodCallTool:
		return protocolError(memd.Errorf(memd.CodeNotFound, "there is no such tool").WithHint("tools/list names those of this session"))
	case methodGetPrompt:
		return protocolError(memd.Errorf(memd.CodeNotFound, "there is no such prompt").WithHint("prompts/list names them"))
	}
	return err
}

// rewordedMessage is a message, alone or as the data of a server-sent event, in
// which an error is in memd's words.
func rewordedMessage(b []byte) []byte {
	if !bytes.Contains(b, []byte(`"error":{`)) {
		return b
	}
	head, message, tail := []byte(nil), b, []byte(nil)
	if at := bytes.Index(b, []byte("data: ")); at >= 0 && b[0] != '{' {
		head, message = b[:at+len("data: ")], b[at+len("data: "):]
		message, tail = bytes.TrimRight(message, "\n"), []byte("\n\n")
	}
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}
	if json.Unmarshal(message, &m) != nil || m.Error == nil {
		return b
	}
	m.Error = inOwnWords(m.Error)
	return bytes.Join([][]byte{head, encode(m), tail}, nil)
}
