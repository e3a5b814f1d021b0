package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"memd"
	"memd/api/mcp"
)

// newDocument is an OpenAPI 3.1 document without operations, whose registry
// knows the words of the root package.
func newDocument(version string) *huma.OpenAPI {
	reg := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	reg.RegisterTypeAlias(reflect.TypeFor[memd.Time](), reflect.TypeFor[time.Time]())
	reg.RegisterTypeAlias(reflect.TypeFor[memd.Tier](), reflect.TypeFor[tierWord]())
	reg.RegisterTypeAlias(reflect.TypeFor[memd.Kind](), reflect.TypeFor[kindWord]())
	reg.RegisterTypeAlias(reflect.TypeFor[memd.Code](), reflect.TypeFor[codeWord]())
	reg.RegisterTypeAlias(reflect.TypeFor[memd.Opt[int]](), reflect.TypeFor[*int]())
	reg.RegisterTypeAlias(reflect.TypeFor[memd.Opt[string]](), reflect.TypeFor[*string]())
	reg.RegisterTypeAlias(reflect.TypeFor[memd.Opt[memd.Time]](), reflect.TypeFor[*time.Time]())
	reg.RegisterTypeAlias(reflect.TypeFor[memd.Opt[[]string]](), reflect.TypeFor[[]string]())
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "memd", Version: version,
			Description: "A memory daemon for agents. Errors are RFC 9457 problems with a stable code.",
		},
		Components: &huma.Components{
			Schemas: reg,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer", Description: "Over TCP alone; the unix socket needs none."},
			},
		},
		Security: []map[string][]string{{"token": {}}},
	}
}

// The words that are one of a list.
type (
	tierWord string
	kindWord string
	codeWord string
)

// Schema lists the tiers.
func (tierWord) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: enum(memd.AllTiers())}
}

// Schema lists the kinds.
func (kindWord) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: enum(memd.AllKinds())}
}

// Schema lists the codes.
func (codeWord) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: enum(codes[:])}
}

func enum[T ~string](words []T) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// operation describes a route.
func (rt route) operation(reg huma.Registry) *huma.Operation {
	op := &huma.Operation{
		OperationID: rt.id, Method: rt.method, Path: rt.path, Summary: rt.summary,
		Description: "Needs the role " + string(rt.role) + ".",
		Responses:   map[string]*huma.Response{"default": refusal(reg)},
	}
	for segment := range strings.SplitSeq(rt.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			op.Parameters = append(op.Parameters, &huma.Param{
				Name: strings.TrimSuffix(name, "}"), In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString},
			})
		}
	}
	for _, p := range rt.params {
		schema := p.schema
		op.Parameters = append(op.Parameters, &huma.Param{Name: p.name, In: "query", Description: p.doc, Schema: &schema})
	}
	if rt.once {
		one, longest := 1, maxOnceKey
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: onceHeader, In: "header",
			Description: "Your name for this write, should you have to repeat it: within 24 hours a repeat is answered as the first was and writes nothing.",
			Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &longest},
		})
	}
	if rt.in != nil {
		op.RequestBody = &huma.RequestBody{Required: !rt.bodyOptional, Content: jsonContent(reg, rt.in)}
	}
	if rt.streams != "" {
		op.Responses[strconv.Itoa(http.StatusOK)] = &huma.Response{
			Description: "The answer, a JSON object a line, as it is made.", Content: map[string]*huma.MediaType{rt.streams: {}},
		}
		return op
	}
	if rt.out == nil {
		op.Responses[strconv.Itoa(http.StatusNoContent)] = &huma.Response{Description: "Done."}
		return op
	}
	answer := &huma.Response{Description: "The answer.", Content: jsonContent(reg, rt.out)}
	op.Responses[strconv.Itoa(http.StatusOK)] = answer
	if rt.created {
		op.Responses[strconv.Itoa(http.StatusCreated)] = &huma.Response{Description: "Created.", Content: answer.Content}
	}
	return op
}

func jsonContent(reg huma.Registry, t reflect.Type) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: reg.Schema(t, true, "")}}
}

func refusal(reg huma.Registry) *huma.Response {
	return &huma.Response{
		Description: "A refusal.",
		Content:     map[string]*huma.MediaType{problemType: {Schema: reg.Schema(reflect.TypeFor[problem](), true, "")}},
	}
}

// operation describes a route outside /v1.
func (b aside) operation(reg huma.Registry) *huma.Operation {
	op := &huma.Operation{
		OperationID: b.id, Method: b.method, Path: b.path, Summary: b.summary,
		Responses: map[string]*huma.Response{"default": refusal(reg)},
	}
	if b.contentType == "" {
		op.Responses["204"] = &huma.Response{Description: "Done."}
	} else {
		op.Responses["200"] = &huma.Response{Description: "The answer.", Content: map[string]*huma.MediaType{b.contentType: {}}}
	}
	if b.path == mcpPath {
		b.speaks(op)
	}
	if open(b.path) {
		op.Security = []map[string][]string{}
		op.Responses["200"].Content = jsonContent(reg, reflect.TypeFor[state]())
	}
	return op
}

// speaks adds what the Model Context Protocol does beside the rest: its messages
// are JSON-RPC, and so are its refusals of them.
func (b aside) speaks(op *huma.Operation) {
	op.Responses["default"].Content["application/json"] = &huma.MediaType{}
	op.Parameters = []*huma.Param{{
		Name: mcp.SessionHeader, In: "header", Required: b.method != http.MethodPost,
		Description: "The session; without it a POST opens one.", Schema: &huma.Schema{Type: huma.TypeString},
	}}
	if b.method != http.MethodPost {
		return
	}
	op.Responses["202"] = &huma.Response{Description: "Taken; there is nothing to answer."}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}}
	for _, p := range mcpParams {
		schema := p.schema
		op.Parameters = append(op.Parameters, &huma.Param{Name: p.name, In: "query", Description: p.doc, Schema: &schema})
	}
}

// encodeDocument adds what Go types do not say, and renders the document.
func encodeDocument(doc *huma.OpenAPI) []byte {
	patch := huma.DefaultSchemaNamer(reflect.TypeFor[memd.Patch](), "")
	verify := huma.DefaultSchemaNamer(reflect.TypeFor[memd.Verify](), "")
	query := huma.DefaultSchemaNamer(reflect.TypeFor[memd.Query](), "")
	for owner, schema := range doc.Components.Schemas.Map() {
		for name, property := range schema.Properties {
			switch {
			case property.Type == huma.TypeArray:
				// huma takes any slice for one that may be null; memd's lists
				// never are, but for those that a patch clears.
				property.Nullable = owner == patch
			case name == "created_at" || name == "updated_at":
				// Null where nothing was written, and where a hand left no time.
				property.Nullable = true
			case name == "source_status" && owner == verify:
				property.Enum = []any{string(memd.SourceMissing)}
				property.Description = "Whoever asks has looked, and the source does not say it any more: the row is marked stale, not verified."
			case name == "importance" && property.Type == huma.TypeInteger:
				property.Minimum, property.Maximum = bound(1), bound(10)
			case name == "limit" && owner == query:
				property.Minimum, property.Maximum = bound(1), bound(memd.MaxRecallLimit)
			}
		}
	}
	body, err := json.Marshal(doc)
	if err != nil {
		panic(err) // the document is fixed when memd is built
	}
	return body
}
