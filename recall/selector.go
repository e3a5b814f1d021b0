package recall

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"memd"
	"memd/store"
	"memd/tiers"
)

// Selector picks memories by reading. It is safe for concurrent use, and bounds
// the time it takes by itself.
type Selector interface {
	// Select returns the indexes of at most memd.MaxSelected of lines, those
	// that bear on query, none if none does. A line has the form
	// "[kind] key (age): summary"; tools are in use, so that their manuals need
	// not be read. No error holds a text, nor what a server said.
	Select(ctx context.Context, query string, tools, lines []string) ([]int, error)
}

// WithSelector has s pick among what recalls and contexts find; nil means that
// nobody does, and nothing is amiss. It is called before the Engine is used and
// returns it.
func (e *Engine) WithSelector(s Selector) *Engine {
	e.selector = s
	e.selecting = make(chan struct{}, maxSelecting)
	return e
}

// WithLeaving has what the selector reads pass clean before: it is sent to another
// machine. It is called before the Engine is used and returns it.
func (e *Engine) WithLeaving(clean func(text string) string) *Engine {
	e.leaving = clean
	return e
}

// outbound is a text as the selector gets it.
func (e *Engine) outbound(text string) string {
	if e.leaving == nil {
		return text
	}
	return e.leaving(text)
}

// Selections are how many queries went to the selector since the start, by what
// came of them.
type Selections struct{ Answered, Failed uint64 }

// Selections counts. Cursors carry what was chosen, so further pages add nothing.
func (e *Engine) Selections() Selections {
	return Selections{Answered: e.selections.answered.Load(), Failed: e.selections.failed.Load()}
}

// selections counts queries of the selector.
type selections struct{ answered, failed atomic.Uint64 }

// choice is what a selector made of a query. A cursor carries it: a model may
// choose otherwise the next time.
type choice struct {
	IDs []string `json:"i,omitempty"`
	Out bool     `json:"o,omitempty"` // whether the selector failed
}

// out reports whether the selector was asked and failed.
func (c *choice) out() bool { return c != nil && c.Out }

// maxSelecting is how many queries are with the selector at a time.
const maxSelecting = 16

var errSelecting = errors.New("the selector is busy with earlier queries")

var errChoice = errors.New("the selector chose other than a few of the lines")

// choose has the selector pick among the rows that a plan finds by itself. No
// reader is held while it does, so the search is run once more with its choice:
// what was forgotten meanwhile is not answered, and what it may name is what the
// search offers. Whatever fails leaves the order as it is.
func (e *Engine) choose(ctx context.Context, p *plan) error {
	if e.selector == nil || p.after != nil {
		return nil
	}
	ids, lines, err := e.offer(ctx, p)
	if err != nil || len(lines) < 2 {
		return err
	}
	picked, err := e.pick(ctx, p, lines)
	switch {
	case ctx.Err() != nil: // nobody waits any more, as the search will say
		return nil
	case err != nil:
		e.log.Warn("no selection for a query", "error", err)
		e.selections.failed.Add(1)
		p.chosen = &choice{Out: true}
		return nil
	}
	e.selections.answered.Add(1)
	p.chosen = &choice{}
	for _, i := range picked {
		p.chosen.IDs = append(p.chosen.IDs, ids[i])
	}
	return nil
}

// pick asks the selector, if it is not with as many queries as it may be.
func (e *Engine) pick(ctx context.Context, p *plan, lines []string) ([]int, error) {
	select {
	case e.selecting <- struct{}{}:
		defer func() { <-e.selecting }()
	default:
		return nil, errSelecting
	}
	tools := slices.Clone(p.query.Tools)
	for i, name := range tools {
		tools[i] = e.outbound(name)
	}
	picked, err := e.selector.Select(ctx, e.outbound(p.query.Query), tools, lines)
	if err != nil {
		return nil, err
	}
	return picked, checkPicked(picked, len(lines))
}

// offer returns the manifest of what a plan finds: of the first rows of the
// order a line each, and their ids. A session's notes stay where they are.
func (e *Engine) offer(ctx context.Context, p *plan) (ids, lines []string, err error) {
	probe := *p // the search that answers begins anew
	var rows []memd.Memory
	err = e.store.View(ctx, func(v *store.View) error {
		r, err := e.search(v, &probe, everything)
		if err != nil {
			return err
		}
		for _, s := range r.rows {
			if s.memory.Tier == memd.Transient {
				continue
			}
			if len(rows) == memd.MaxManifest {
				break
			}
			rows = append(rows, s.memory)
		}
		return nil
	})
	for _, m := range rows { // with no reader held: a summary is looked through
		ids = append(ids, m.ID)
		lines = append(lines, e.fence.Line(tiers.ManifestLine(e.offered(m), p.now)))
	}
	return ids, lines, err
}

// offeredBytes is how much of a summary is looked through before its line is cut to
// its length, so that the cut goes through no secret.
const offeredBytes = 4 << 10

// offered is a row with a summary that may be sent away.
func (e *Engine) offered(m memd.Memory) memd.Memory {
	if e.leaving != nil {
		m.Summary = e.leaving(strings.ToValidUTF8(m.Summary[:min(len(m.Summary), offeredBytes)], ""))
	}
	return m
}

// checkPicked holds a choice against what was asked for. One that names a line
// twice, too many or none of those there are follows something else than the
// question, and counts for nothing.
func checkPicked(picked []int, lines int) error {
	if len(picked) > memd.MaxSelected {
		return errChoice
	}
	for n, i := range picked {
		if i < 0 || i >= lines || slices.Contains(picked[:n], i) {
			return errChoice
		}
	}
	return nil
}

// A chosen row rises above every other of its band that is as fresh as it, and
// stays below the next band and below the fresh rows if it is stale: the room
// between the most relevance there is and the step of staleSinks is its own.
const (
	relevanceMost = (weightKeyword + weightLabels) * (1 + tiltMax + lendNext + lendSession)
	selectedRoom  = -staleSinks - relevanceMost
)

// raise moves the chosen rows to the front of their bands, in their own order.
func (r *ranking) raise(c *choice) {
	if c == nil || len(c.IDs) == 0 {
		return
	}
	for _, s := range r.rows {
		if !slices.Contains(c.IDs, s.memory.ID) {
			continue
		}
		relevance := s.score - s.parts.Authority - s.parts.Stale
		s.parts.Selected = relevanceMost + selectedRoom*(1+relevance/relevanceMost)/3 - relevance
		s.score = s.parts.Sum()
	}
	sortScored(r.rows)
}

// checkTools bounds what a request says of the tools in use.
func checkTools(names []string) error {
	if len(names) > memd.MaxTools {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "tools", "tools has more than %d entries", memd.MaxTools)
	}
	for _, name := range names {
		if n := utf8.RuneCountInString(name); n == 0 || n > memd.MaxToolChars {
			return memd.FieldErrorf(memd.CodeInvalidRequest, "tools", "tools holds a name of other than 1 to %d characters", memd.MaxToolChars)
		}
	}
	return nil
}
