package api

import (
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"memd"
	"memd/api/mcp"
	"memd/groom"
)

// param is a query parameter.
type param struct {
	name, doc string
	repeats   bool
	schema    huma.Schema
}

// params that several calls share, or one call alone has.
var (
	accessParam = param{name: "access", doc: "Show also rows restricted to these access tags.", repeats: true,
		schema: huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}}
	namespaceParam = param{name: "namespace", doc: "Missing means default.", schema: huma.Schema{Type: huma.TypeString}}
	cursorParam    = param{name: "cursor", doc: "The next_cursor of the page before.", schema: huma.Schema{Type: huma.TypeString}}
	sampleParam    = param{name: "sample", doc: "How many long rows answer what their key, source and last verification are, and what ends them.",
		schema: huma.Schema{Type: huma.TypeInteger, Minimum: bound(0), Maximum: bound(groom.MaxSample), Default: 0}}
	quickParam = param{name: "quick", doc: "Leave out what reads every page.", schema: huma.Schema{Type: huma.TypeBoolean}}
)

// listParams are the filters of a list.
var listParams = []param{
	{name: "tier", doc: "Only rows of this tier.", schema: huma.Schema{Type: huma.TypeString, Enum: enum(memd.AllTiers())}},
	{name: "namespace", doc: "Missing means default; * is every namespace, for admin.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "kind", doc: "Only rows of this kind.", schema: huma.Schema{Type: huma.TypeString, Enum: enum(memd.AllKinds())}},
	{name: "tag", doc: "Only rows with this tag.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "memory_key", doc: "Only rows of this key.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "stale", doc: "Only stale rows, or only fresh ones.", schema: huma.Schema{Type: huma.TypeBoolean}},
	{name: "q", doc: "Only rows whose summary holds this text, in any case.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "session_id", doc: "Of transient rows only those of this session.", schema: huma.Schema{Type: huma.TypeString}},
	accessParam,
	{name: "include_raw", doc: "Show raw_content too.", schema: huma.Schema{Type: huma.TypeBoolean}},
	{name: "limit", doc: "Rows of a page.", schema: huma.Schema{Type: huma.TypeInteger, Minimum: bound(1), Maximum: bound(memd.MaxListLimit), Default: memd.DefaultListLimit}},
	cursorParam,
}

// mcpParams say what a session of the Model Context Protocol takes for granted.
var mcpParams = []param{
	{name: "agent", doc: "The agent: agent/<name> is read first and written.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "project", doc: "The project: project/<id> is read next, and written without an agent.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "access", doc: "Reads show also rows restricted to these access tags.", repeats: true,
		schema: huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}},
	{name: "profile", doc: "Which tools are offered.", schema: huma.Schema{Type: huma.TypeString, Enum: []any{mcp.ProfileFull, mcp.ProfileCore}, Default: mcp.ProfileFull}},
}

func bound(n int) *float64 { f := float64(n); return &f }

// readQuery parses a query string and refuses what the route does not take: a
// misspelt filter that is ignored answers another question than was asked.
func readQuery(raw string, params []param) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, memd.Errorf(memd.CodeInvalidRequest, "the query string is not well-formed")
	}
	known := make([]string, 0, len(params))
	for _, p := range params {
		known = append(known, p.name)
		if len(query[p.name]) > 1 && !p.repeats {
			return nil, memd.FieldErrorf(memd.CodeInvalidRequest, p.name, "%s is given more than once", p.name)
		}
		for _, value := range query[p.name] {
			if !utf8.ValidString(value) {
				return nil, memd.FieldErrorf(memd.CodeInvalidRequest, p.name, "%s is not valid UTF-8", p.name)
			}
		}
	}
	for name := range query {
		if !slices.Contains(known, name) {
			return nil, unknown(name, "query parameter", known)
		}
	}
	return query, nil
}

// boolOf reads an optional boolean: "true" or "false".
func boolOf(query url.Values, name string) (*bool, error) {
	if !query.Has(name) {
		return nil, nil
	}
	value := query.Get(name) == "true"
	if !value && query.Get(name) != "false" {
		return nil, memd.FieldErrorf(memd.CodeInvalidRequest, name, "%s must be true or false", name)
	}
	return &value, nil
}

// sampleOf reads the size of a sample, 0 where none is asked for.
func sampleOf(query url.Values) (int, error) {
	if !query.Has("sample") {
		return 0, nil
	}
	n, err := strconv.Atoi(query.Get("sample"))
	if err != nil || n < 0 || n > groom.MaxSample {
		return 0, memd.FieldErrorf(memd.CodeInvalidRequest, "sample", "sample must be 0 to %d", groom.MaxSample)
	}
	return n, nil
}

// listRequest reads the filters of a list; tiers checks their values.
func listRequest(query url.Values) (memd.List, error) {
	req := memd.List{
		Tier:      memd.Tier(query.Get("tier")),
		Namespace: query.Get("namespace"),
		Kind:      memd.Kind(query.Get("kind")),
		Tag:       query.Get("tag"),
		MemoryKey: query.Get("memory_key"),
		Q:         query.Get("q"),
		SessionID: query.Get("session_id"),
		Access:    query["access"],
		Cursor:    query.Get("cursor"),
	}
	var err error
	if req.Stale, err = boolOf(query, "stale"); err != nil {
		return memd.List{}, err
	}
	raw, err := boolOf(query, "include_raw")
	if err != nil {
		return memd.List{}, err
	}
	req.IncludeRaw = raw != nil && *raw
	if query.Has("limit") {
		req.Limit, err = strconv.Atoi(query.Get("limit"))
		if err != nil || req.Limit < 1 || req.Limit > memd.MaxListLimit {
			return memd.List{}, memd.FieldErrorf(memd.CodeInvalidRequest, "limit", "limit must be 1 to %d", memd.MaxListLimit)
		}
	}
	return req, nil
}
