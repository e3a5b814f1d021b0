package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

// contract holds every answer of every test against the OpenAPI document.
type contract struct {
	server *Server
	doc    *huma.OpenAPI
	ops    map[string]*huma.Operation // by method and path
}

func newContract(s *Server) *contract {
	c := &contract{server: s, doc: newDocument("test"), ops: map[string]*huma.Operation{}}
	for _, rt := range s.table {
		c.ops[rt.method+" "+rt.path] = rt.operation(c.doc.Components.Schemas)
	}
	for _, b := range s.beside() {
		c.ops[b.method+" "+b.path] = b.operation(c.doc.Components.Schemas)
	}
	encodeDocument(c.doc)
	return c
}

// check fails the test where an answer is not what the document says.
func (c *contract) check(req *http.Request, r reply) {
	r.t.Helper()
	path := req.URL.EscapedPath()
	rctx := chi.NewRouteContext()
	if !c.server.mux.Match(rctx, req.Method, path) || r.Status == http.StatusRequestHeaderFieldsTooLarge {
		return // no route, or not the router's answer
	}
	op := c.ops[req.Method+" "+rctx.RoutePattern()]
	response := op.Responses[strconv.Itoa(r.Status)]
	if response == nil {
		if response = op.Responses["default"]; r.Status < 400 {
			r.t.Errorf("%s: status %d is not declared", op.OperationID, r.Status)
			return
		}
	}
	if len(response.Content) == 0 {
		if len(r.Body) != 0 {
			r.t.Errorf("%s: %d has a body: %s", op.OperationID, r.Status, r.Body)
		}
		return
	}
	contentType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	media := response.Content[contentType]
	if media == nil {
		r.t.Errorf("%s: content type %q is not declared", op.OperationID, contentType)
		return
	}
	if media.Schema == nil {
		return
	}
	var body any
	if err := json.Unmarshal(r.Body, &body); err != nil {
		r.t.Errorf("%s: %v", op.OperationID, err)
		return
	}
	found := &huma.ValidateResult{}
	huma.Validate(c.doc.Components.Schemas, media.Schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, body, found)
	for _, err := range found.Errors {
		r.t.Errorf("%s %d: %v: %s", op.OperationID, r.Status, err, r.Body)
	}
}

// Every route is in the document and every operation of the document is a
// route.
func TestDocumentIsTheRouter(t *testing.T) {
	d := start(t, nil, nil)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Parameters  []struct{ Name, In string }
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	d.get("/openapi.json").want(200).into(&doc)
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi: %q", doc.OpenAPI)
	}
	var documented, routed []string
	for path, methods := range doc.Paths {
		for method := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	if err := chi.Walk(d.server.mux, func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		routed = append(routed, method+" "+path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(documented)
	slices.Sort(routed)
	if !slices.Equal(documented, routed) {
		t.Errorf("documented %q\nrouted %q", documented, routed)
	}
	for _, rt := range d.server.table {
		op := doc.Paths[rt.path][strings.ToLower(rt.method)]
		want := len(rt.params) + strings.Count(rt.path, "{")
		if rt.once {
			want++
		}
		if op.OperationID != rt.id || len(op.Parameters) != want {
			t.Errorf("%s %s: %+v", rt.method, rt.path, op)
		}
	}
	for name, needle := range map[string]string{
		"Memory":   `"enum":["long","short","transient","archive"]`,
		"Remember": `"required":["summary"]`,
		"Patch":    `"tags":{"items":{"type":"string"},"type":["array","null"]}`,
		"Problem":  `"enum":["invalid_request",`,
		"Page":     `"memories":{"items":{"$ref":"#/components/schemas/Memory"},"type":"array"}`,
	} {
		if schema := string(doc.Components.Schemas[name]); !strings.Contains(schema, needle) {
			t.Errorf("schema %s lacks %s: %s", name, needle, schema)
		}
	}
	if memory := string(doc.Components.Schemas["Memory"]); !strings.Contains(memory, `"created_at":{"format":"date-time","type":["string","null"]}`) {
		t.Errorf("times: %s", memory)
	}
	t.Log(slices.Sorted(maps.Keys(doc.Components.Schemas)))
}
