package groom

import (
	"context"
	"maps"
	"slices"
	"strings"

	"memd"
	"memd/store"
	"memd/tiers"
)

// batch is how many rows one write of a pass changes at most: of the largest,
// about 0.1 s.
const batch = 50

// pass is one duty of a groom. Its plan only reads.
type pass struct {
	name  string
	light bool // whether it belongs into every hour
	plan  func(ctx context.Context, r *run) (plan, error)
}

// plan is what a pass would do.
type plan struct {
	steps    []step
	capped   bool // more is to be done than one run may
	estimate int  // how much then does, as far as that can be told
	then     func(ctx context.Context, out *Pass) error

	found int      // that are for a person alone
	named []string // the rows of those
	pairs []Pair   // in which they are, the first of them
}

// step is the same done to several rows, to each if the condition by which it
// was chosen still holds of it, which do reports.
type step struct {
	rows  []store.Candidate
	moves bool      // out of their tier
	to    memd.Tier // if they do: "" where they are deleted
	do    func(tx *store.Tx, c store.Candidate) (bool, error)
}

// run is one run under way.
type run struct {
	*Runner
	opts  Options
	now   memd.Time // when it began
	rules *tiers.Service
	moved tiers.Moved // in a dry run: by the passes so far
	heads []look      // see examine
	urls  string      // where the next run goes on with URLs, "" where that stays

	barred map[string]bool // historical databases that could not be read
}

// perform plans a pass and, unless the run is dry, does what it planned.
func (r *run) perform(ctx context.Context, p pass) (Pass, error) {
	out := Pass{Name: p.name, IDs: []string{}}
	r.show(out)
	planned, err := p.plan(ctx, r)
	if err != nil {
		return out, err
	}
	out.Capped = planned.capped
	out.Planned = planned.estimate + planned.found
	out.name(planned.named...)
	out.Pairs = planned.pairs
	for i := range planned.steps {
		s := &planned.steps[i]
		slices.SortStableFunc(s.rows, func(a, b store.Candidate) int { return strings.Compare(a.File, b.File) })
		out.Planned += len(s.rows)
	}
	r.show(out)
	if r.opts.DryRun {
		r.pretend(planned, &out)
		return out, nil
	}
	for _, s := range planned.steps {
		if failed := r.inBatches(ctx, s, &out); failed != nil && err == nil {
			err = failed
		}
		if err != nil && memd.CodeOf(err) != memd.CodeStoreBusy || ctx.Err() != nil {
			return out, err
		}
	}
	if planned.then != nil && err == nil {
		err = planned.then(ctx, &out)
		out.Planned = max(out.Planned, out.Changed)
	}
	return out, err
}

// unread is why the pass that has ended could not look into every database: all
// passes do, and none can be whole without. The log has each database once.
func (r *run) unread(ctx context.Context) error {
	var failed map[string]error
	err := r.store.View(ctx, func(v *store.View) error {
		failed = v.Unread()
		return nil
	})
	for _, file := range slices.Sorted(maps.Keys(failed)) {
		if err == nil {
			err = failed[file]
		}
		if !r.barred[file] {
			r.barred[file] = true
			r.log.Error("groom without a historical database", "file", file, "error", failed[file])
		}
	}
	return err
}

// pretend reports what a pass would change, and has the passes after it see
// rows where they would be.
func (r *run) pretend(planned plan, out *Pass) {
	out.Changed = planned.estimate
	for _, s := range planned.steps {
		out.Changed += len(s.rows)
		for _, c := range s.rows {
			out.name(c.ID)
			if s.moves {
				r.moved[c.ID] = tiers.Move{Candidate: c, To: s.to}
			}
		}
	}
}

// inBatches does a step in writes of one database each: a write over two
// historical ones, one of which is held by another program, would be half done.
// Rows of a held one are skipped; the error tells, once the others are done.
func (r *run) inBatches(ctx context.Context, s step, out *Pass) (held error) {
	for rows := s.rows; len(rows) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 1
		for n < min(batch, len(rows)) && rows[n].File == rows[0].File {
			n++
		}
		here := rows[:n]
		rows = rows[n:]
		if err := r.store.FlushAccess(ctx); err != nil { // what was read meanwhile is no longer unread
			return err
		}
		did, err := r.inOneWrite(ctx, here, s.do)
		if err != nil {
			if memd.CodeOf(err) != memd.CodeStoreBusy || here[0].File == "" {
				return err
			}
			held = err
			for len(rows) > 0 && rows[0].File == here[0].File {
				rows = rows[1:]
				out.Skipped++
			}
		}
		out.Changed += len(did)
		out.Skipped += len(here) - len(did)
		out.name(did...)
		r.show(*out)
	}
	return held
}

// inOneWrite does to rows of one database what a step does, and returns the ids
// of those that changed.
func (r *run) inOneWrite(ctx context.Context, rows []store.Candidate, do func(*store.Tx, store.Candidate) (bool, error)) (did []string, err error) {
	err = r.store.Update(ctx, func(tx *store.Tx) error {
		did = did[:0]
		for _, c := range rows {
			if err := tx.At(c.File, c.ID); err != nil {
				return err
			}
			changed, err := do(tx, c)
			if err != nil {
				return err
			}
			if changed {
				did = append(did, c.ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return did, nil
}

// name adds ids to those that a pass tells of.
func (p *Pass) name(ids ...string) {
	n := min(len(ids), max(0, maxIDs-len(p.IDs)))
	p.IDs = append(p.IDs, ids[:n]...)
	p.MoreIDs += len(ids) - n
}

// show tells how far the run has come.
func (r *run) show(p Pass) {
	r.progress.Store(&Progress{DryRun: r.opts.DryRun, Light: r.opts.Light, StartedAt: r.now, Pass: p.Name,
		Planned: p.Planned, Changed: p.Changed})
}

// standing are those of rows that no pass of a dry run has moved so far.
func (r *run) standing(rows []store.Candidate) []store.Candidate {
	return slices.DeleteFunc(rows, func(c store.Candidate) bool {
		_, moved := r.moved[c.ID]
		return moved
	})
}

// matching are the rows that a rule is true of.
func (r *run) matching(ctx context.Context, rule store.Rule) (rows []store.Candidate, err error) {
	err = r.store.View(ctx, func(v *store.View) error {
		rows, err = v.Matching(rule)
		return err
	})
	return r.standing(rows), err
}

// The most that a pass that judges takes of a tier in one run: a share, or a
// number where that is more.
const (
	cappedShare = 20 // of which it takes one
	cappedRows  = 100
)

// capped cuts off the most valuable of rows beyond what one run may take of a
// tier, which count counts. A run that is taken again may take none: what one may
// is that of a turn.
func (r *run) capped(rows []store.Candidate, count func() (int, error)) ([]store.Candidate, bool, error) {
	if r.opts.only != nil {
		return nil, len(rows) > 0, nil
	}
	store.LeastFirst(rows)
	if r.opts.Force || len(rows) <= cappedRows {
		return rows, false, nil
	}
	n, err := count()
	if n = max(n/cappedShare, cappedRows); n >= len(rows) {
		return rows, false, err
	}
	return rows[:n], true, err
}

// count is how many rows a tier holds.
func (r *run) count(ctx context.Context, t memd.Tier) (n int, err error) {
	err = r.store.View(ctx, func(v *store.View) error {
		n, err = v.Rows(t)
		return err
	})
	for _, m := range r.moved {
		if m.Tier == t {
			n--
		}
		if m.To == t {
			n++
		}
	}
	return n, err
}
