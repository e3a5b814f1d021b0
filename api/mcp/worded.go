package mcp

import (
	"net/http"
	"strings"

	"memd"
)

// worded replaces what the protocol's library says of a request that it does not
// take, in plain text or as an error of the protocol, and with parts of the request,
// by memd's own refusal. The library writes a message, or an event, at once.
type worded struct {
	http.ResponseWriter
	refuse   func(*memd.Error)
	status   int // 0 until the answer began
	replaced bool
}

// WriteHeader begins the answer.
func (w *worded) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.replaced = true
		w.Header().Del("Content-Type")
		w.refuse(ofStatus(status))
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write adds to the answer.
func (w *worded) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.replaced {
		return len(b), nil
	}
	if n, err := w.ResponseWriter.Write(rewordedMessage(b)); err != nil {
		return min(n, len(b)), err
	}
	return len(b), nil
}

// Unwrap lets http.ResponseController through.
func (w *worded) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ofStatus is the refusal behind a status of the library's.
func ofStatus(status int) *memd.Error {
	switch status {
	case http.StatusNotFound:
		return memd.Errorf(memd.CodeNotFound, "there is no such session").WithHint("initialize a new one")
	case http.StatusRequestEntityTooLarge:
		return memd.Errorf(memd.CodeTooLarge, "the body is too large")
	case http.StatusUnsupportedMediaType:
		return memd.Errorf(memd.CodeUnsupportedMediaType, "the body must be application/json in UTF-8")
	case http.StatusConflict:
		return memd.Errorf(memd.CodeVersionConflict, "the stream is open already").WithHint("close the other one first")
	case http.StatusInternalServerError:
		return failed()
	}
	return memd.Errorf(memd.CodeInvalidRequest, "this is no request of the Model Context Protocol's streamable HTTP").
		WithHint("POST needs one JSON-RPC message and Accept: application/json, text/event-stream; GET resumes a stream that is still kept")
}
