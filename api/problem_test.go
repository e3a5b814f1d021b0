package api

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"memd"
)

// Every code of the root package stands in codes, and with it in the OpenAPI
// document and on /docs.
func TestCodesAreTotal(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && len(spec.Values) == 1 && strings.HasPrefix(spec.Names[0].Name, "Code") {
			declared = append(declared, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	if len(declared) == 0 {
		t.Fatal("no code was found in ../error.go")
	}
	for _, code := range declared {
		if !slices.Contains(codes[:], memd.Code(code)) {
			t.Errorf("code %s is not among codes", code)
		}
	}
	if len(declared) != len(codes) {
		t.Errorf("%d codes are declared, %d known", len(declared), len(codes))
	}
}

// refusal is what a handler that fails with err answers.
func refusalOf(t *testing.T, log *logBuffer, err error) reply {
	t.Helper()
	s := New(Options{Log: logger(log)})
	rec := httptest.NewRecorder()
	s.outer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.refuse(w, r, err) })).
		ServeHTTP(rec, httptest.NewRequest("GET", "/v1/stats", nil))
	return reply{t: t, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}
}

func TestEachCodeAsProblem(t *testing.T) {
	for _, code := range codes {
		log := &logBuffer{}
		cause := errors.New("cause-marker")
		err := &memd.Error{Code: code, Field: "f", Message: "a sentence", Hint: "a hint", Err: cause}
		r := refusalOf(t, log, fmt.Errorf("wrapped: %w", err))
		p := r.refused(code.Statuses().HTTP, code, "f")
		if p.Type != "/docs#"+string(code) || p.Title != code.Statuses().Title || p.Detail != "a sentence" || p.Hint != "a hint" {
			t.Errorf("%s: %+v", code, p)
		}
		if strings.Contains(string(r.Body), "cause-marker") {
			t.Errorf("%s: the cause was sent", code)
		}
		if busy := r.Status == 503 || r.Status == 429; busy != (r.Header.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", code, r.Header.Get("Retry-After"))
		}
		if failed := r.Status == 500; failed != strings.Contains(log.String(), "cause-marker") {
			t.Errorf("%s: log %s", code, log)
		}
	}
}

func TestUnknownError(t *testing.T) {
	log := &logBuffer{}
	r := refusalOf(t, log, errors.New("db file /secret/path locked"))
	p := r.refused(500, memd.CodeStoreFailed, "")
	if strings.Contains(string(r.Body), "secret") {
		t.Errorf("sent: %s", r.Body)
	}
	if strings.Count(log.String(), "/secret/path") != 1 || !strings.Contains(log.String(), p.RequestID) {
		t.Errorf("log: %s", log)
	}
	if refusalOf(t, log, &memd.Error{Code: "unheard_of", Message: "m"}).Status != 500 {
		t.Error("an unknown code is no store_failed")
	}
}

// A client that leaves is nobody's fault.
func TestClientGone(t *testing.T) {
	log := &logBuffer{}
	s := New(Options{Log: logger(log)})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	rec := httptest.NewRecorder()
	s.outer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, fmt.Errorf("read: %w", context.Canceled))
	})).ServeHTTP(rec, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	if rec.Code != clientGone || strings.Contains(log.String(), `"ERROR"`) || strings.Contains(log.String(), `"WARN"`) {
		t.Errorf("%d, log %s", rec.Code, log)
	}
}

func TestPanic(t *testing.T) {
	log := &logBuffer{}
	s := New(Options{Log: logger(log)})
	serve := func(h http.HandlerFunc) (rec *httptest.ResponseRecorder, thrown any) {
		rec = httptest.NewRecorder()
		defer func() { thrown = recover() }()
		s.outer(h).ServeHTTP(rec, httptest.NewRequest("GET", "/v1/stats", nil))
		return rec, nil
	}
	rec, thrown := serve(func(http.ResponseWriter, *http.Request) { panic("the body of a memory") })
	if thrown != nil {
		t.Fatal(thrown)
	}
	reply{t: t, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}.refused(500, memd.CodeStoreFailed, "")
	if text := log.String(); strings.Contains(text, "body of a memory") || !strings.Contains(text, `"panic_type":"string"`) || !strings.Contains(text, "problem_test.go") {
		t.Errorf("log: %s", text)
	}
	if _, thrown = serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); panic(1) }); thrown != http.ErrAbortHandler {
		t.Errorf("after an answer began: %v", thrown)
	}
	if _, thrown = serve(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }); thrown != http.ErrAbortHandler {
		t.Errorf("abort: %v", thrown)
	}
}
