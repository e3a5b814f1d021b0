package mcp

import (
	"context"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
)

// Kinds of resources: the host of their URIs.
const (
	scheme          = "memd://"
	memoryResource  = "memory"
	keyResource     = "key"
	contextResource = "context"
)

const markdown = "text/markdown"

// addResources offers memories as resources.
func (s *Server) addResources() {
	s.sdk.AddResource(&sdk.Resource{
		URI: scheme + contextResource + "/" + escape(s.session), Name: "context", Title: "What is known", MIMEType: markdown,
		Description: "Rules and preferences in force, recent events, and the notes of this session.",
	}, s.resource)
	for _, t := range []*sdk.ResourceTemplate{
		{URITemplate: scheme + "memory/{id}", Name: "memory", Title: "A memory", Description: "One memory whole, by its id."},
		{URITemplate: scheme + "key/{namespace}/{memory_key}", Name: "key", Title: "The memory of a key", Description: "The current memory of a key within a namespace; / is %2F."},
		{URITemplate: scheme + "context/{session}", Name: "session context", Title: "The context of a session", Description: "What a session should start from, with its notes."},
	} {
		t.MIMEType = markdown
		s.sdk.AddResourceTemplate(t, s.resource)
	}
}

// reference is a resource's URI, taken apart.
type reference struct {
	kind      string
	namespace string // of a key
	name      string // id, key or session
}

// referenceOf reads a URI. Only in a key's last part may a / stand as it is.
func referenceOf(uri string) (ref reference, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return ref, false
	}
	kind, rest, _ := strings.Cut(rest, "/")
	ref.kind = kind
	switch kind {
	case keyResource:
		ns, key, found := strings.Cut(rest, "/")
		if !found {
			return ref, false
		}
		namespace, err := url.PathUnescape(ns)
		if err != nil || namespace == "" {
			return ref, false
		}
		ref.namespace, rest = namespace, key
	case memoryResource, contextResource:
		if strings.Contains(rest, "/") {
			return ref, false
		}
	default:
		return ref, false
	}
	name, err := url.PathUnescape(rest)
	ref.name = name
	return ref, err == nil && name != ""
}

// escape writes a part of a URI with nothing but unreserved characters.
func escape(part string) string { return strings.ReplaceAll(url.QueryEscape(part), "+", "%20") }

// uri is the one spelling of a reference, which the templates match.
func (r reference) uri() string {
	if r.kind == keyResource {
		return scheme + r.kind + "/" + escape(r.namespace) + "/" + escape(r.name)
	}
	return scheme + r.kind + "/" + escape(r.name)
}

// readResource brings the URI into the spelling that the templates match, and
// refuses what is none. The library would repeat it.
func readResource(req *sdk.ReadResourceRequest, next func() (sdk.Result, error)) (sdk.Result, error) {
	given := req.Params.URI
	ref, ok := referenceOf(given)
	if !ok {
		return nil, protocolError(memd.Errorf(memd.CodeNotFound, "there is no such resource").
			WithHint("memd://memory/{id}, memd://key/{namespace}/{memory_key} and memd://context/{session} are known"))
	}
	req.Params.URI = ref.uri()
	out, err := next()
	if res, ok := out.(*sdk.ReadResourceResult); ok && err == nil {
		for _, c := range res.Contents {
			c.URI = given
		}
	}
	return out, err
}

func (s *Server) resource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	ref, ok := referenceOf(req.Params.URI)
	if !ok {
		return nil, protocolError(failed()) // not reached: readResource made it
	}
	ctx, cancel := s.until(ctx)
	defer cancel()
	text, err := s.read(ctx, ref)
	if err != nil {
		return nil, protocolError(s.told(ctx, methodReadResource, err))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: markdown, Text: text}}}, nil
}

// read is the text of a resource.
func (s *Server) read(ctx context.Context, ref reference) (string, error) {
	if ref.kind == contextResource {
		return s.contextText(ctx, "", ref.name, defaultChars)
	}
	t := target{ID: ref.name}
	if ref.kind == keyResource {
		t = target{MemoryKey: ref.name, Namespace: ref.namespace}
	}
	a, err := get(ctx, s, t, defaultChars)
	return a.text, err
}

// contextText is the text of a context in at most room code points.
func (s *Server) contextText(ctx context.Context, query, session string, room int) (string, error) {
	a, err := contextOf(ctx, s, memd.ContextRequest{Query: query, SessionID: session}, room)
	return a.text, err
}
