package recall

import (
	"context"
	"log/slog"
	"time"
	"unicode/utf8"

	"memd"
	"memd/guard/fence"
	"memd/guard/sources"
	"memd/store"
	"memd/store/terms"
	"memd/tiers"
)

// Engine answers recalls and assembles contexts from a store. It is safe for
// concurrent use.
type Engine struct {
	store *store.Set
	log   *slog.Logger

	space     space         // nil embedder: no vector leg
	previous  space         // nil embedder: none
	timeout   time.Duration // of one query's vector
	embedding chan struct{} // holds one for each query that is with the embedder

	selector   Selector      // nil: none
	selecting  chan struct{} // holds one for each query that is with the selector
	selections selections
	leaving    func(string) string // of what the selector reads; nil: as it is

	fence fence.Rules // of what is handed to a model

	sources *sources.Checker                 // nil: no artefact is looked at
	guards  func(*memd.Memory) []tiers.Guard // nil: nothing looks at texts
}

// New makes an Engine on an open store.
func New(s *store.Set, log *slog.Logger) *Engine {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Engine{store: s, log: log}
}

// WithFence has contexts, and what a selector reads, made harmless by other rules
// than the default ones. It is called before the Engine is used and returns it.
func (e *Engine) WithFence(rules fence.Rules) *Engine {
	e.fence = rules
	return e
}

// Recall returns the memories that bear on q, best first, at most q.Limit.
// Errors are invalid_request, too_large, forbidden and the store's own. A leg
// that fails, and a database that cannot be read, are named in Degraded; the
// others answer.
func (e *Engine) Recall(ctx context.Context, c memd.Caller, q memd.Query) (memd.Answer, error) {
	began := e.store.Clock()
	p, err := e.plan(c, q)
	if err != nil {
		return memd.Answer{}, err
	}
	e.embed(ctx, p)
	if err := e.choose(ctx, p); err != nil {
		return memd.Answer{}, err
	}
	answer := memd.Answer{Results: []memd.Hit{}, Degraded: []string{}}
	err = e.store.View(ctx, func(v *store.View) error {
		want := p.limit + 1 // whether there is a further page
		if p.query.Explain {
			want = everything
		}
		r, err := e.search(v, p, want)
		if err != nil {
			return err
		}
		if err := e.page(v, p, r, &answer); err != nil {
			return err
		}
		if err := e.explain(v, p, r, &answer); err != nil {
			return err
		}
		return e.degrade(v, &answer)
	})
	if err != nil {
		return memd.Answer{}, err
	}
	if p.touch {
		ids := make([]string, len(answer.Results))
		for i := range answer.Results {
			ids[i] = answer.Results[i].ID
		}
		e.touch(p, ids)
	}
	answer.TookMS = float64(e.store.Clock().Sub(began).Microseconds()) / 1000
	return answer, nil
}

// touch counts the access of what was handed out, once a session and day.
func (e *Engine) touch(p *plan, ids []string) {
	session := p.query.SessionID
	if session == "" {
		session = "caller:" + p.caller.Name
	}
	e.store.Touch(session, p.now, ids...)
}

// plan is a checked query.
type plan struct {
	query    memd.Query
	terms    []terms.Term
	clauses  [][]int // the terms of each sentence, of a query of several
	caller   memd.Caller
	scope    store.Scope
	filter   store.Filter
	tiers    map[memd.Tier]bool
	limit    int
	maxChars int // 0: no limit
	touch    bool
	now      memd.Time
	key      []byte // seals cursors

	// What the order depends on; on a further page its cursor's.
	hour   memd.Time    // what recency and freshness are measured from
	corpus *corpus      // nil: as it stands
	after  *position    // where the page before ended, nil at the start
	vector *vectorQuery // nil: not asked for yet
	chosen *choice      // nil: nobody was asked
	leads  [][]float64  // of each sentence of several, how well the first rows answer it; nil: not known yet
	lifts  []lift       // what the nearest rows gained; nil: not known yet
}

// plan checks a query and resolves its defaults.
func (e *Engine) plan(c memd.Caller, q memd.Query) (*plan, error) {
	if !c.Role.Includes(memd.RoleRead) {
		return nil, memd.Errorf(memd.CodeForbidden, "this needs the role %s", memd.RoleRead)
	}
	if n := utf8.RuneCountInString(q.Query); n > memd.MaxQueryChars {
		return nil, memd.FieldErrorf(memd.CodeTooLarge, "query", "query has %d characters, at most %d are allowed", n, memd.MaxQueryChars)
	}
	if utf8.RuneCountInString(q.SessionID) > memd.MaxNameChars {
		return nil, memd.FieldErrorf(memd.CodeTooLarge, "session_id", "session_id has more than %d characters", memd.MaxNameChars)
	}
	names, err := tiers.Namespaces(c, q.Namespaces)
	if err != nil {
		return nil, err
	}
	now := e.store.Now()
	p := &plan{
		query: q, terms: termsOf(q.Query), caller: c,
		scope: store.Scope{Namespaces: names, Access: c.Held(q.Access), Now: now},
		tiers: map[memd.Tier]bool{}, limit: memd.DefaultRecallLimit, touch: q.Touch == nil || *q.Touch,
		now: now, hour: memd.At(now.Truncate(time.Hour)), key: e.store.CursorKey(),
	}
	if q.Limit != nil {
		if p.limit = *q.Limit; p.limit < 1 || p.limit > memd.MaxRecallLimit {
			return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "limit", "limit must be 1 to %d", memd.MaxRecallLimit)
		}
	}
	if q.MaxChars != nil {
		if p.maxChars = *q.MaxChars; p.maxChars < 1 {
			return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "max_chars", "max_chars must be at least 1")
		}
	}
	p.clauses = clausesOf(q.Query, p.terms)
	if err := p.filters(q); err != nil {
		return nil, err
	}
	return p, p.continueFrom(q.Cursor)
}

// filters checks tiers, kinds and tags.
func (p *plan) filters(q memd.Query) error {
	wanted := q.Tiers
	if len(wanted) == 0 {
		wanted = []memd.Tier{memd.Long, memd.Short, memd.Transient}
		if q.IncludeArchive {
			wanted = append(wanted, memd.Archive)
		}
	}
	for _, t := range wanted {
		if !t.Valid() {
			return memd.FieldErrorf(memd.CodeInvalidRequest, "tiers", "tiers holds an unknown tier")
		}
		p.tiers[t] = true
	}
	for _, k := range q.Kinds {
		if !k.Valid() {
			return memd.FieldErrorf(memd.CodeInvalidRequest, "kinds", "kinds holds an unknown kind")
		}
	}
	if len(q.Tags) > memd.MaxTags {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "tags", "tags has more than %d entries", memd.MaxTags)
	}
	if err := checkTools(q.Tools); err != nil {
		return err
	}
	if len(q.Kinds) > 0 {
		p.filter.Kinds = q.Kinds
	}
	if len(q.Tags) > 0 {
		p.filter.Tags = q.Tags
	}
	return nil
}
