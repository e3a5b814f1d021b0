package recall

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"memd"
	"memd/guard/sources"
	"memd/store"
	"memd/tiers"
)

// WithSources has why look at the artefacts that memories rest on. It is called
// before the Engine is used and returns it.
func (e *Engine) WithSources(c *sources.Checker) *Engine {
	e.sources = c
	return e
}

// WithGuards has why ask the guards of texts too: guards is tiers.Service.Guards of
// the configuration in force. It is called before the Engine is used and returns it.
func (e *Engine) WithGuards(guards func(*memd.Memory) []tiers.Guard) *Engine {
	e.guards = guards
	return e
}

// Why says why a memory comes back for a query, or does not, by the seven
// questions of the memory chain (seed 001, 04.8). It runs the recall and the
// context that the query would get with their defaults, in one reading, and
// counts no access. A memory that the caller may not know of is answered as one
// that was never written.
func (e *Engine) Why(ctx context.Context, c memd.Caller, req memd.WhyRequest) (memd.WhyAnswer, error) {
	if err := checkWhy(req); err != nil {
		return memd.WhyAnswer{}, err
	}
	p, err := e.plan(c, memd.Query{Query: req.Query, Namespaces: req.Namespaces, Access: req.Access, SessionID: req.SessionID})
	if err != nil {
		return memd.WhyAnswer{}, err
	}
	w := &inquiry{engine: e, p: p, req: req}
	if w.asked() {
		e.embed(ctx, p)
		if err := e.choose(ctx, p); err != nil {
			return memd.WhyAnswer{}, err
		}
	}
	if err := e.store.View(ctx, w.look); err != nil {
		return memd.WhyAnswer{}, err
	}
	w.examine() // not within the reading: files may lie on a disk that is slow
	return w.answer(), nil
}

func checkWhy(req memd.WhyRequest) error {
	switch {
	case req.MemoryKey == "" && req.ID == "":
		return memd.FieldErrorf(memd.CodeInvalidRequest, "memory_key", "memory_key or id must name the memory")
	case req.MemoryKey != "" && req.ID != "":
		return memd.FieldErrorf(memd.CodeInvalidRequest, "id", "id and memory_key exclude each other")
	case req.MemoryKey != "" && !memd.ValidKey(req.MemoryKey):
		return memd.FieldErrorf(memd.CodeInvalidRequest, "memory_key", "memory_key must be 1 to %d characters of [A-Za-z0-9._/-]", memd.MaxKeyLen)
	case utf8.RuneCountInString(req.ID) > memd.MaxNameChars:
		return memd.FieldErrorf(memd.CodeInvalidRequest, "id", "id has more than %d characters", memd.MaxNameChars)
	}
	return nil
}

// inquiry is a why in the making: what one reading of the store tells of one
// memory.
type inquiry struct {
	engine *Engine
	p      *plan
	req    memd.WhyRequest

	target
	staleByAge bool   // whether its age alone makes it stale
	groomed    string // when the last whole groom ended, "" for none
	versions   int    // of its key, that the caller may know of
	reason     memd.WhyReason
	detail     string

	looked bool              // whether a look told anything of the source
	source memd.SourceStatus // by that look; the stored one where it told nothing
	unsure string            // why the source is not ok by it, in a few words

	ranking *ranking // nil: not searched
	place   int      // of the row in the order, from 0; -1: it is not in it
	own     *scored  // by its terms alone, nil: it is in the order, or matches nothing
	context string   // what a context of the query makes of it
	degrade []string // what the search had to do without
}

// asked reports whether there is a query.
func (w *inquiry) asked() bool { return strings.TrimSpace(w.req.Query) != "" }

// look reads all that the answer needs.
func (w *inquiry) look(v *store.View) (err error) {
	w.place = -1
	if w.target, err = w.find(v); err != nil {
		return err
	}
	if w.m == nil {
		w.reason, w.detail = w.target.why, w.target.said
		return nil
	}
	if w.groomed, err = v.Meta(groomedKey); err != nil {
		return err
	}
	if w.m.MemoryKey != "" {
		known, err := w.versionsKnown(v, w.m.Namespace, w.m.MemoryKey)
		if err != nil {
			return err
		}
		w.versions = len(known)
	}
	w.staleByAge = isStaleByAge(w)
	if w.reason, w.detail, err = w.barred(v); err != nil {
		return err
	}
	if w.asked() {
		if err := w.search(v); err != nil {
			return err
		}
	}
	if w.reason == "" {
		w.reason, w.detail = w.ranked()
	}
	return nil
}

// groomedKey is where the end of the last whole groom stands in the meta table.
const groomedKey = "last_groom_at"

func isStaleByAge(w *inquiry) bool {
	fresh := *w.m
	fresh.Stale, fresh.StaleReason = false, ""
	tiers.Present(&fresh, w.engine.store.Budgets(), w.p.hour)
	return fresh.Stale
}

// search runs the recall and the context of the query.
func (w *inquiry) search(v *store.View) error {
	r, err := w.engine.search(v, w.p, everything)
	if err != nil {
		return err
	}
	w.ranking = r
	for i, s := range r.rows {
		if s.memory.ID == w.m.ID {
			w.place = i
		}
	}
	if w.place < 0 {
		cosines, err := w.p.cosines(v, []memd.Memory{*w.m})
		if err != nil {
			return err
		}
		w.own, _ = r.terms.score(w.m, cosines[w.m.ID], w.engine.store.Budgets(), w.p.hour)
	}
	if w.p.vector.Out {
		w.degrade = append(w.degrade, string(memd.MatchVector))
	}
	if w.p.chosen.out() {
		w.degrade = append(w.degrade, memd.DegradedSelector)
	}
	if r.failed != nil {
		w.degrade = append(w.degrade, string(memd.MatchKeyword))
		w.context = "unknown: the keyword leg failed"
	} else {
		a := newAssembly(memd.DefaultContextChars, w.engine.fence, w.p.now)
		if err := w.engine.fill(v, w.p, a, r); err != nil {
			return err
		}
		w.context = w.contextOf(a)
	}
	unread, err := v.Unavailable()
	w.degrade = append(w.degrade, unread...)
	return err
}

// contextOf words what a context made of the row.
func (w *inquiry) contextOf(a *assembly) string {
	id := w.m.ID
	reason := a.reasons[id]
	switch {
	case a.in[id] && reason != "":
		return fmt.Sprintf("included, %s", reason)
	case a.in[id]:
		return "included"
	case reason != "":
		return fmt.Sprintf("left out (%s)", reason)
	case w.reason != "":
		return fmt.Sprintf("not considered (%s)", w.reason)
	}
	return "not considered: it is none of the rows that enter unasked, and does not match"
}

// answer puts what was read into words.
func (w *inquiry) answer() memd.WhyAnswer {
	a := memd.WhyAnswer{
		ID: w.req.ID, MemoryKey: w.req.MemoryKey, Returned: w.reason == memd.WhyReturned,
		Reason: w.reason, Detail: w.detail, Rank: w.place + 1,
	}
	switch {
	case w.m != nil:
		a.ID, a.MemoryKey, a.Namespace = w.m.ID, w.m.MemoryKey, w.m.Namespace
	case w.namespace != "":
		a.Namespace = w.namespace
	}
	for i, q := range [...]struct {
		text   string
		answer func() (string, []string)
	}{
		{"Is it in an authoritative artefact?", w.inArtefact},
		{"Is it a long-term row with a stable key?", w.keyed},
		{"Has it source, verified date, importance and tags?", w.labelled},
		{"Would this query recall it?", w.recalled},
		{"What outranks it, and by which terms of the score?", w.outranked},
		{"Is it stale, and did groom mark it?", w.stale},
		{"Which guard should have refused it?", w.guarded},
	} {
		said, evidence := q.answer()
		if evidence == nil {
			evidence = []string{}
		}
		a.Questions = append(a.Questions, memd.WhyQuestion{N: i + 1, Question: q.text, Answer: said, Evidence: evidence})
	}
	return a
}
