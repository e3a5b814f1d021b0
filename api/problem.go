package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"memd"
)

// problem is the body of a refusal: RFC 9457 and memd's own members. It
// carries nothing of what was submitted but names of fields that the API has.
type problem struct {
	Type      string       `json:"type"` // a reference to the code's entry in /docs
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail"`
	Code      memd.Code    `json:"code"`
	Field     string       `json:"field,omitempty"`
	Hint      string       `json:"hint,omitempty"`
	Rules     []string     `json:"rules,omitempty"`  // with secret_detected: what was found
	Fields    []string     `json:"fields,omitempty"` // with secret_detected: where
	Head      *memd.Memory `json:"head,omitempty"`   // with version_conflict: the current head
	RequestID string       `json:"request_id"`
}

// problemType is the content type of a problem.
const problemType = "application/problem+json"

// codes are all codes a problem can carry.
var codes = [...]memd.Code{
	memd.CodeInvalidRequest, memd.CodeUnauthorized, memd.CodeForbidden, memd.CodeNotFound,
	memd.CodeVersionConflict, memd.CodeTooLarge, memd.CodeUnsupportedMediaType,
	memd.CodeMissingSource, memd.CodeMissingField, memd.CodeSecretDetected, memd.CodeNotDurableFact,
	memd.CodeRateLimited, memd.CodeBudgetExceeded, memd.CodeStoreBusy, memd.CodeStoreFailed,
}

// clientGone is the status noted for a request whose client did not wait; it
// is nginx's, and nobody receives it.
const clientGone = 499

// retryAfter is how many seconds a client should wait before it tries a busy
// daemon again.
const retryAfter = "1"

// refuse answers err. An error without a code is logged once, with the
// request's id, and sent without its cause.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		w.WriteHeader(clientGone)
		return
	}
	e, ok := errors.AsType[*memd.Error](err)
	if !ok {
		e = memd.Errorf(memd.CodeStoreFailed, "the request failed inside memd").
			WithHint("the log names the cause beside the request_id")
	}
	if !ok || e.Code.Statuses().HTTP == http.StatusInternalServerError {
		s.log.ErrorContext(r.Context(), "request failed", "request_id", requestID(r.Context()),
			"route", routeOf(r), "error", err)
	}
	s.noteRefusal(r, e)
	s.write(w, r, e.Code.Statuses().HTTP, e)
}

// write answers e under a status that need not be its code's own.
func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, e *memd.Error) {
	p := problem{
		Type: "/docs#" + string(e.Code), Title: e.Code.Statuses().Title, Status: status, Detail: e.Message,
		Code: e.Code, Field: e.Field, Hint: e.Hint, Rules: e.Rules, Fields: e.Fields, RequestID: requestID(r.Context()),
	}
	late := oversized(r)
	if late {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).EnableFullDuplex() // fails where there is no connection, and nothing to read
	} else {
		s.readRest(w, r) // or the client may see a reset instead of the answer
	}
	if e.Head != nil {
		head := *e.Head
		head.Tags, head.Access, head.RawContent = listed(head.Tags), listed(head.Access), ""
		p.Head = &head
	}
	again := status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
	if again && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	body, err := encode(p)
	if err != nil {
		panic(err) // strings, numbers and a memory always marshal
	}
	if late { // the client sees its end before the connection's
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	send(w, status, problemType, body)
	if late {
		_ = http.NewResponseController(w).Flush()
		s.readRest(w, r)
	}
}

// answer sends the answer of a call.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, status int, out any) {
	if out == nil {
		w.WriteHeader(status)
		return
	}
	body, err := encode(out)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	send(w, status, "application/json", body)
}

// encode renders a value whole before a status is sent, so that a value that
// does not marshal is still a refusal.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // nothing here is ever read as HTML: see secure
	err := enc.Encode(v)
	return b.Bytes(), err
}

func send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only where the client has gone
}

func noRoute() *memd.Error {
	return memd.Errorf(memd.CodeNotFound, "there is no such route").WithHint("/docs lists the routes")
}

// methodNotAllowed answers 405 and names the methods of the path.
func (s *Server) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	for _, method := range s.allowed(r) {
		w.Header().Add("Allow", method)
	}
	s.write(w, r, http.StatusMethodNotAllowed,
		memd.Errorf(memd.CodeInvalidRequest, "the route has no such method").WithHint("Allow names the route's methods"))
}
