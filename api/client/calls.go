package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"memd"
	"memd/groom"
	"memd/store"
)

// Alive asks whether a daemon answers at all.
func (c *Client) Alive(ctx context.Context) error {
	_, err := call[any](ctx, c, request{method: http.MethodGet, path: []string{"healthz"}})
	return err
}

// Ready asks whether the daemon's store takes writes.
func (c *Client) Ready(ctx context.Context) error {
	_, err := call[any](ctx, c, request{method: http.MethodGet, path: []string{"readyz"}})
	return err
}

// Remember writes a short-term row.
func (c *Client) Remember(ctx context.Context, req memd.Remember) (Reply[memd.Written], error) {
	return call[memd.Written](ctx, c, request{method: http.MethodPost, path: v1("remember"), body: req})
}

// RememberLongTerm writes a long-term row.
func (c *Client) RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (Reply[memd.Written], error) {
	return call[memd.Written](ctx, c, request{method: http.MethodPost, path: v1("remember_long_term"), body: req})
}

// Note writes a transient row of a session.
func (c *Client) Note(ctx context.Context, session string, req memd.Note) (Reply[memd.Written], error) {
	return call[memd.Written](ctx, c, request{method: http.MethodPost, path: v1("sessions", session, "transient"), body: req})
}

// Notes lists the transient rows of a session.
func (c *Client) Notes(ctx context.Context, session string) (Reply[memd.Page], error) {
	return call[memd.Page](ctx, c, request{method: http.MethodGet, path: v1("sessions", session, "transient")})
}

// EndSession ends a session and deletes its transient rows.
func (c *Client) EndSession(ctx context.Context, session string) (Reply[struct{}], error) {
	return call[struct{}](ctx, c, request{method: http.MethodDelete, path: v1("sessions", session)})
}

// Recall asks for the memories that bear on a query.
func (c *Client) Recall(ctx context.Context, q memd.Query) (Reply[memd.Answer], error) {
	return call[memd.Answer](ctx, c, request{method: http.MethodPost, path: v1("recall"), read: true, body: q})
}

// Context asks for the text a session should start from.
func (c *Client) Context(ctx context.Context, req memd.ContextRequest) (Reply[memd.Context], error) {
	return call[memd.Context](ctx, c, request{method: http.MethodPost, path: v1("context"), read: true, body: req})
}

// Why asks why a memory comes back for a query, or does not.
func (c *Client) Why(ctx context.Context, req memd.WhyRequest) (Reply[memd.WhyAnswer], error) {
	return call[memd.WhyAnswer](ctx, c, request{method: http.MethodPost, path: v1("why"), read: true, body: req})
}

// List lists rows, newest first.
func (c *Client) List(ctx context.Context, req memd.List) (Reply[memd.Page], error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"tier": string(req.Tier), "namespace": req.Namespace, "kind": string(req.Kind), "tag": req.Tag,
		"memory_key": req.MemoryKey, "q": req.Q, "session_id": req.SessionID, "cursor": req.Cursor,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if req.Stale != nil {
		query.Set("stale", strconv.FormatBool(*req.Stale))
	}
	if req.Limit != 0 {
		query.Set("limit", strconv.Itoa(req.Limit))
	}
	if req.IncludeRaw {
		query.Set("include_raw", "true")
	}
	for _, tag := range req.Access {
		query.Add("access", tag)
	}
	return call[memd.Page](ctx, c, request{method: http.MethodGet, path: v1("memories"), query: query})
}

// Gone lists keys of a namespace whose memories are no longer in force.
func (c *Client) Gone(ctx context.Context, namespace, cursor string) (Reply[memd.GonePage], error) {
	query := url.Values{}
	for name, value := range map[string]string{"namespace": namespace, "cursor": cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return call[memd.GonePage](ctx, c, request{method: http.MethodGet, path: v1("gone"), query: query})
}

// Get reads one whole row.
func (c *Client) Get(ctx context.Context, id string) (Reply[memd.Memory], error) {
	return call[memd.Memory](ctx, c, request{method: http.MethodGet, path: v1("memories", id)})
}

// Patch changes the metadata of a row.
func (c *Client) Patch(ctx context.Context, id string, p memd.Patch) (Reply[memd.Written], error) {
	return call[memd.Written](ctx, c, request{method: http.MethodPatch, path: v1("memories", id), body: p})
}

// Forget deletes a row with its older versions.
func (c *Client) Forget(ctx context.Context, id string) (Reply[struct{}], error) {
	return call[struct{}](ctx, c, request{method: http.MethodDelete, path: v1("memories", id)})
}

// inNamespace is the query of the key routes.
func inNamespace(namespace string) url.Values {
	if namespace == "" {
		return nil
	}
	return url.Values{"namespace": {namespace}}
}

// ForgetKey deletes every version of a key.
func (c *Client) ForgetKey(ctx context.Context, namespace, key string) (Reply[struct{}], error) {
	return call[struct{}](ctx, c, request{method: http.MethodDelete, path: v1("keys", key), query: inNamespace(namespace)})
}

// Head reads the current row of a key.
func (c *Client) Head(ctx context.Context, namespace, key string) (Reply[memd.Memory], error) {
	return call[memd.Memory](ctx, c, request{method: http.MethodGet, path: v1("keys", key), query: inNamespace(namespace)})
}

// Versions reads every version of a key, newest first.
func (c *Client) Versions(ctx context.Context, namespace, key string) (Reply[Versions], error) {
	return call[Versions](ctx, c, request{method: http.MethodGet, path: v1("keys", key, "versions"), query: inNamespace(namespace)})
}

// Verify says that a long-term row was checked against its source.
func (c *Client) Verify(ctx context.Context, id string, req memd.Verify) (Reply[memd.Written], error) {
	return call[memd.Written](ctx, c, request{method: http.MethodPost, path: v1("memories", id, "verify"), body: req})
}

// Promote moves a row to the long tier, or an archived one back to short.
func (c *Client) Promote(ctx context.Context, id string, req memd.Promote) (Reply[memd.Written], error) {
	return call[memd.Written](ctx, c, request{method: http.MethodPost, path: v1("memories", id, "promote"), body: req})
}

// Archive moves a short row or a resolved pitfall to the archive.
func (c *Client) Archive(ctx context.Context, id string) (Reply[memd.Written], error) {
	return call[memd.Written](ctx, c, request{method: http.MethodPost, path: v1("memories", id, "archive"), body: struct{}{}})
}

// Hit records that a pitfall occurred.
func (c *Client) Hit(ctx context.Context, id string) (Reply[memd.Written], error) {
	return call[memd.Written](ctx, c, request{method: http.MethodPost, path: v1("memories", id, "hit"), body: struct{}{}})
}

// Audit goes through the checklist; sample is how many long rows answer the four
// questions.
func (c *Client) Audit(ctx context.Context, sample int) (Reply[groom.Audit], error) {
	var query url.Values
	if sample > 0 {
		query = url.Values{"sample": {strconv.Itoa(sample)}}
	}
	return call[groom.Audit](ctx, c, request{method: http.MethodGet, path: v1("audit"), query: query})
}

// Log reads who did what, and what was refused; f.Before and f.Limit may be zero.
func (c *Client) Log(ctx context.Context, f store.LogFilter) (Reply[LogPage], error) {
	query := url.Values{}
	for name, value := range map[string]string{"caller": f.Caller, "action": f.Action, "id": f.ID} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.Limit != 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	if f.Before.Seq != 0 {
		query.Set("cursor", f.Before.String())
	}
	return call[LogPage](ctx, c, request{method: http.MethodGet, path: v1("log"), query: query})
}

// Stats reads the state of the store.
func (c *Client) Stats(ctx context.Context) (Reply[store.Stats], error) {
	return call[store.Stats](ctx, c, request{method: http.MethodGet, path: v1("stats")})
}

// Doctor looks for faults in the databases; quick leaves out what reads every
// page.
func (c *Client) Doctor(ctx context.Context, quick bool) (Reply[Diagnosis], error) {
	var query url.Values
	if quick {
		query = url.Values{"quick": {"true"}}
	}
	return call[Diagnosis](ctx, c, request{method: http.MethodGet, path: v1("doctor"), query: query})
}

// Backup writes a copy of all databases into a new folder of to, an absolute
// path on the daemon's machine; "" for the default.
func (c *Client) Backup(ctx context.Context, to string) (Reply[store.Backup], error) {
	body := map[string]string{}
	if to != "" {
		body["to"] = to
	}
	return call[store.Backup](ctx, c, request{method: http.MethodPost, path: v1("backup"), body: body})
}

// Rollover makes the active database a historical one and puts a fresh one in
// its place.
func (c *Client) Rollover(ctx context.Context) (Reply[store.Rolled], error) {
	return call[store.Rolled](ctx, c, request{method: http.MethodPost, path: v1("rollover"), body: struct{}{}})
}

// Compact rewrites every database without its free space.
func (c *Client) Compact(ctx context.Context) (Reply[store.Compacted], error) {
	return call[store.Compacted](ctx, c, request{method: http.MethodPost, path: v1("compact"), body: struct{}{}})
}

// Groom runs the passes now and answers when they are done.
func (c *Client) Groom(ctx context.Context, opts groom.Options) (Reply[groom.Report], error) {
	return call[groom.Report](ctx, c, request{method: http.MethodPost, path: v1("groom"), body: opts})
}

// GroomReports reads the last runs, newest first.
func (c *Client) GroomReports(ctx context.Context) (Reply[GroomReports], error) {
	return call[GroomReports](ctx, c, request{method: http.MethodGet, path: v1("groom")})
}
