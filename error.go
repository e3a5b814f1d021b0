package memd

import (
	"errors"
	"fmt"
	"net/http"
)

// Code is the stable name of a kind of failure.
type Code string

// Codes. Their HTTP and exit statuses stand in the table below.
const (
	CodeInvalidRequest       Code = "invalid_request"
	CodeUnauthorized         Code = "unauthorized"
	CodeForbidden            Code = "forbidden"
	CodeNotFound             Code = "not_found"
	CodeVersionConflict      Code = "version_conflict"
	CodeTooLarge             Code = "too_large"
	CodeUnsupportedMediaType Code = "unsupported_media_type"
	CodeMissingSource        Code = "missing_source"
	CodeMissingField         Code = "missing_field"
	CodeSecretDetected       Code = "secret_detected"
	CodeNotDurableFact       Code = "not_durable_fact"
	CodeRateLimited          Code = "rate_limited"
	CodeBudgetExceeded       Code = "budget_exceeded"
	CodeStoreBusy            Code = "store_busy"
	CodeStoreFailed          Code = "store_failed"
)

// Exit codes of the command line.
const (
	ExitDone     = 0
	ExitFailed   = 1
	ExitUsage    = 2
	ExitNotFound = 3
	ExitConflict = 4
	ExitRefused  = 5 // a guard said no
	ExitBusy     = 6 // the store is locked or busy
)

// Statuses is how a Code shows outside: as an HTTP status with a title, and
// as the exit code of a command.
type Statuses struct {
	HTTP  int
	Exit  int
	Title string
}

var statuses = map[Code]Statuses{
	CodeInvalidRequest:       {http.StatusBadRequest, ExitUsage, "The request is not valid"},
	CodeUnauthorized:         {http.StatusUnauthorized, ExitRefused, "A valid token is needed"},
	CodeForbidden:            {http.StatusForbidden, ExitRefused, "The caller may not do this"},
	CodeNotFound:             {http.StatusNotFound, ExitNotFound, "There is no such thing"},
	CodeVersionConflict:      {http.StatusConflict, ExitConflict, "The head has moved on"},
	CodeTooLarge:             {http.StatusRequestEntityTooLarge, ExitUsage, "Too large"},
	CodeUnsupportedMediaType: {http.StatusUnsupportedMediaType, ExitUsage, "The body must be application/json"},
	CodeMissingSource:        {http.StatusUnprocessableEntity, ExitUsage, "A long-term memory needs a source"},
	CodeMissingField:         {http.StatusUnprocessableEntity, ExitUsage, "A required field is missing"},
	CodeSecretDetected:       {http.StatusUnprocessableEntity, ExitRefused, "The text holds a secret"},
	CodeNotDurableFact:       {http.StatusUnprocessableEntity, ExitRefused, "Not a durable fact"},
	CodeRateLimited:          {http.StatusTooManyRequests, ExitBusy, "Too many requests"},
	CodeBudgetExceeded:       {http.StatusInsufficientStorage, ExitFailed, "A budget is used up"},
	CodeStoreBusy:            {http.StatusServiceUnavailable, ExitBusy, "The store is busy"},
	CodeStoreFailed:          {http.StatusInternalServerError, ExitFailed, "The store failed"},
}

// Statuses returns how c shows outside. An unknown code shows as
// CodeStoreFailed does.
func (c Code) Statuses() Statuses {
	if s, ok := statuses[c]; ok {
		return s
	}
	return statuses[CodeStoreFailed]
}

// Error is a failure a caller can act on. Message and Hint never carry a
// memory body, a query, a token or a vector; they are sent and logged as they
// are.
type Error struct {
	Code    Code
	Field   string   // the request field at fault, "" if none
	Rules   []string // with CodeSecretDetected: the ids of what a guard found
	Fields  []string // with CodeSecretDetected: the fields where it was found
	Message string   // one sentence in lower case, without a full stop
	Hint    string   // what to do next, "" if nothing helps
	Head    *Memory  // with CodeVersionConflict: the current head, nil if none lives
	Err     error    // the cause, for the log alone
}

// Error renders code, field and message, and the cause's text.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithHint returns e with its hint set.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Errorf makes an Error without a field.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// FieldErrorf makes an Error about one field of a request; the message should
// name the field.
func FieldErrorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of the first Error in err's chain, and
// CodeStoreFailed for any other error.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeStoreFailed
}
