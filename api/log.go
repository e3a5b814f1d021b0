package api

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"memd"
	"memd/store"
)

// guarded are the codes by which a guard or a rule refuses what was well-formed.
// Their fields are memd's own names, never the request's.
func guarded(code memd.Code) bool {
	switch code {
	case memd.CodeUnauthorized, memd.CodeForbidden, memd.CodeSecretDetected, memd.CodeNotDurableFact, memd.CodeMissingSource,
		memd.CodeMissingField, memd.CodeTooLarge, memd.CodeRateLimited, memd.CodeBudgetExceeded:
		return true
	}
	return false
}

// noteRefusal counts a refusal, and has the log name it where a guard or a rule
// refused.
func (s *Server) noteRefusal(r *http.Request, e *memd.Error) {
	s.metrics.refused(e.Code)
	if s.store == nil || !guarded(e.Code) {
		return
	}
	refusal := store.Refusal{Caller: callerOf(r.Context()).Name, Code: e.Code, Field: e.Field}
	if route := routeOf(r); route != "" && refusal.Caller != "" {
		refusal.Call = knownMethod(r.Method) + " " + route
	}
	s.store.Refuse(refusal)
}

// logParams are the filters of the log.
var logParams = []param{
	{name: "caller", doc: "Only what this caller did.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "action", doc: "Only this action, such as forget or refuse.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "id", doc: "Only what was done to this memory.", schema: huma.Schema{Type: huma.TypeString}},
	{name: "limit", doc: "Entries of a page.", schema: huma.Schema{Type: huma.TypeInteger, Minimum: bound(1), Maximum: bound(memd.MaxListLimit), Default: memd.DefaultListLimit}},
	cursorParam,
}

// logPage is a page of the log, the newest entries first.
type logPage struct {
	Entries    []store.Entry `json:"entries"`
	NextCursor string        `json:"next_cursor,omitempty"`
}

// logFilter reads the filters of the log. A cursor is the place of the last entry
// of the page before, and goes on after it whatever was written since.
func logFilter(query url.Values) (store.LogFilter, error) {
	f := store.LogFilter{Caller: query.Get("caller"), Action: query.Get("action"), ID: query.Get("id"), Limit: memd.DefaultListLimit}
	var err error
	if query.Has("limit") {
		if f.Limit, err = strconv.Atoi(query.Get("limit")); err != nil || f.Limit < 1 || f.Limit > memd.MaxListLimit {
			return f, memd.FieldErrorf(memd.CodeInvalidRequest, "limit", "limit must be 1 to %d", memd.MaxListLimit)
		}
	}
	if query.Has("cursor") {
		var ok bool
		if f.Before, ok = store.ParseLogPlace(query.Get("cursor")); !ok {
			return f, memd.FieldErrorf(memd.CodeInvalidRequest, "cursor", "cursor is not one that memd gave").
				WithHint("use the next_cursor of the page before as it is")
		}
	}
	return f, nil
}

// entries reads the log. A caller of some namespaces sees what was done in them; keys
// are left out for one that does not hold every access tag, as they may be of rows
// that it may not see.
func (s *Server) entries(c *call) (logPage, error) {
	f, err := logFilter(c.query)
	if err != nil {
		return logPage{}, err
	}
	if s.notice != nil {
		s.notice(c.ctx)
	}
	if err := s.store.FlushLog(c.ctx); err != nil { // the log can be read all the same
		s.log.WarnContext(c.ctx, "refusals not written yet", "request_id", requestID(c.ctx), "error", err)
	}
	f.Namespaces = c.caller.Namespaces
	f.Limit++ // one more tells whether there is a next page
	var page logPage
	err = s.store.View(c.ctx, func(v *store.View) (err error) {
		page.Entries, err = v.Log(f)
		return err
	})
	if err != nil {
		return logPage{}, err
	}
	if len(page.Entries) == f.Limit {
		page.Entries = page.Entries[:f.Limit-1]
		page.NextCursor = store.LogPlace{At: page.Entries[f.Limit-2].At, Seq: page.Entries[f.Limit-2].Seq}.String()
	}
	if !c.caller.AllAccess {
		for i := range page.Entries {
			page.Entries[i].MemoryKey = ""
		}
	}
	return page, nil
}
