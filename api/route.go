package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"memd"
	"memd/store"
	"memd/tiers"
)

// call is one request as its handler sees it.
type call struct {
	ctx    context.Context
	caller memd.Caller
	path   func(name string) string // a path parameter, decoded once
	query  url.Values               // checked against the route's params
	w      http.ResponseWriter      // for a route that streams
}

// route is one row of the table of calls.
type route struct {
	method, path string
	role         memd.Role
	id           string // the operation's name in the OpenAPI document
	summary      string
	params       []param      // query parameters; any other is refused
	in           reflect.Type // of the body, nil where none is read
	needs        []string     // fields of the body without which it is refused
	bodyOptional bool
	out          reflect.Type // of the answer, nil for 204
	created      bool         // may answer 201
	once         bool         // heeds Idempotency-Key: every POST that answers what it wrote
	streams      string       // the content type of an answer that is written as it is made, "" for others

	run func(c *call, body []byte) (any, error)
}

// plain makes a route that reads no body.
func plain[O any](method, path string, role memd.Role, id, summary string, run func(*call) (O, error)) route {
	return route{
		method: method, path: path, role: role, id: id, summary: summary, out: reflect.TypeFor[O](),
		run: func(c *call, _ []byte) (any, error) { return run(c) },
	}
}

// posting makes a route with a JSON body of type I, in which the fields of
// needs must be present.
func posting[I, O any](method, path string, role memd.Role, id, summary string, run func(*call, I) (O, error), needs ...string) route {
	places := placesOf(reflect.TypeFor[I]())
	return route{
		method: method, path: path, role: role, id: id, summary: summary,
		in: reflect.TypeFor[I](), needs: needs, out: reflect.TypeFor[O](),
		once: method == http.MethodPost && reflect.TypeFor[O]() == reflect.TypeFor[memd.Written](),
		run: func(c *call, body []byte) (any, error) {
			var in I
			if err := decode(body, &in, places, needs); err != nil {
				return nil, err
			}
			return run(c, in)
		},
	}
}

// ending makes a route that deletes and answers 204.
func ending(path, id, summary string, run func(*call) error) route {
	return route{
		method: http.MethodDelete, path: path, role: memd.RoleWrite, id: id, summary: summary,
		run: func(c *call, _ []byte) (any, error) { return nil, run(c) },
	}
}

// streaming makes a route that writes its answer as it makes it.
func streaming(method, path string, role memd.Role, id, summary, contentType string, run func(*call) error) route {
	return route{
		method: method, path: path, role: role, id: id, summary: summary, streams: contentType,
		run: func(c *call, _ []byte) (any, error) { return nil, run(c) },
	}
}

func (rt route) creating() route              { rt.created = true; return rt }
func (rt route) optionalBody() route          { rt.bodyOptional = true; return rt }
func (rt route) taking(params ...param) route { rt.params = params; return rt }

// serve answers one request of a route: its role, its parameters, its body,
// its run, in this order.
func (s *Server) serve(rt route, hc huma.Context) {
	r, w := humachi.Unwrap(hc)
	out, err := s.call(rt, r, w, hc.Param)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if rt.streams != "" {
		return
	}
	s.answer(w, r, statusOf(rt, out), out)
}

func (s *Server) call(rt route, r *http.Request, w http.ResponseWriter, path func(string) string) (any, error) {
	if err := rt.allows(callerOf(r.Context())); err != nil {
		return nil, err
	}
	query, err := readQuery(r.URL.RawQuery, rt.params)
	if err != nil {
		return nil, err
	}
	var body []byte
	if rt.in != nil {
		if body, err = readBody(w, r, rt.bodyOptional); err != nil {
			return nil, err
		}
		if r, err = s.again(w, r); err != nil {
			return nil, err
		}
	}
	r = r.WithContext(store.As(r.Context(), callerOf(r.Context()).Name))
	c := &call{ctx: r.Context(), caller: callerOf(r.Context()), path: path, query: query, w: w}
	if err := rt.allows(c.caller); err != nil {
		return nil, err
	}
	if rt.once {
		if c.ctx, err = onceOnly(r, body); err != nil {
			return nil, err
		}
	}
	end, err := s.begin(c.ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return rt.run(c, body)
}

// allows refuses a caller without the route's role.
func (rt route) allows(c memd.Caller) error {
	if !c.Role.Includes(rt.role) {
		return memd.Errorf(memd.CodeForbidden, "this needs the role %s", rt.role)
	}
	return nil
}

// onceHeader carries a caller's name for a write that it may have to repeat.
const onceHeader = "Idempotency-Key"

// maxOnceKey bounds such a name, in bytes.
const maxOnceKey = 255

// onceOnly returns the context under which a request with an Idempotency-Key
// writes once.
func onceOnly(r *http.Request, body []byte) (context.Context, error) {
	keys := r.Header.Values(onceHeader)
	if len(keys) == 0 {
		return r.Context(), nil
	}
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > maxOnceKey || strings.IndexFunc(key, func(c rune) bool { return c < 0x21 || c > 0x7e }) >= 0 {
		return nil, memd.FieldErrorf(memd.CodeInvalidRequest, onceHeader, "%s must be 1 to %d visible ASCII characters", onceHeader, maxOnceKey)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", r.Method, r.URL.EscapedPath())
	h.Write(body)
	return tiers.WithOnce(r.Context(), tiers.Once{Key: key, Print: hex.EncodeToString(h.Sum(nil))}), nil
}

// statusOf is the status of an answer that is no refusal: 204 without a body,
// 201 for what was created, else 200.
func statusOf(rt route, out any) int {
	switch {
	case out == nil:
		return http.StatusNoContent
	case rt.created && out.(memd.Written).Created:
		return http.StatusCreated
	}
	return http.StatusOK
}
