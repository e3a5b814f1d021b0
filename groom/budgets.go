package groom

import (
	"context"

	"memd"
	"memd/store"
	"memd/tiers"
)

// enforce brings rows and vectors down to their budgets, and historical
// databases to theirs short of retiring one. It is never capped. What goes
// beside rows for their budgets is an estimate: under byte pressure only the
// file tells what a deleted row gave back.
func enforce(ctx context.Context, r *run) (p plan, err error) {
	var e tiers.Excess
	err = r.store.View(ctx, func(v *store.View) error {
		e, err = r.rules.Excess(v, r.now, r.moved)
		return err
	})
	if err != nil {
		return p, err
	}
	surplus, err := r.store.Surplus(ctx)
	p.estimate = surplus.Rows + surplus.Vectors
	shelve := func(tx *store.Tx, c store.Candidate) (bool, error) { return r.rules.ArchiveRow(tx, c, r.now) }
	p.steps = []step{ // in an order that has neither tier grow beyond its budget
		{rows: e.Notes, moves: true, do: r.ifOver(memd.Transient, 0, r.prune)},
		{rows: e.Archive, moves: true, do: r.ifOver(memd.Archive, len(e.Short), r.prune)},
		{rows: e.Doomed, moves: true, do: r.ifOver(memd.Short, 0, r.prune)},
		{rows: e.Short, moves: true, to: memd.Archive, do: r.ifOver(memd.Short, 0, shelve)},
	}
	p.then = func(ctx context.Context, out *Pass) error {
		room, err := r.store.Trim(ctx)
		out.Changed += room.Rows + room.Vectors
		return err
	}
	return p, err
}

// ifOver is the condition that a tier is still beyond its budget, with so many
// rows to come, and that a row is worth what it was when it was chosen.
func (r *run) ifOver(t memd.Tier, coming int, then func(*store.Tx, store.Candidate) (bool, error)) func(*store.Tx, store.Candidate) (bool, error) {
	return func(tx *store.Tx, c store.Candidate) (bool, error) {
		if over, err := r.rules.StillOver(tx, t, coming); !over || err != nil {
			return false, err
		}
		if same, err := tiers.Unchanged(tx, c, r.now); !same || err != nil {
			return false, err
		}
		return then(tx, c)
	}
}

// retire brings the historical databases down to their budgets, and counts those
// that are gone. Where a light run found no room otherwise it deletes as enforce
// does, and counts that as well.
func retire(ctx context.Context, r *run) (p plan, err error) {
	surplus, err := r.store.Surplus(ctx)
	p.estimate = surplus.Files
	if r.opts.Light { // else enforce has had its turn
		p.estimate += surplus.Rows + surplus.Vectors
	}
	p.then = func(ctx context.Context, out *Pass) error {
		room, err := r.store.MakeRoom(ctx)
		out.Changed += len(room.Retired) + room.Rows + room.Vectors
		return err
	}
	return p, err
}
