package groom

import (
	"context"

	"memd"
	"memd/store"
	"memd/tiers"
)

// batch is how many rows one write of a pass changes.
const batch = 500

// pass is one duty of a groom.
type pass struct {
	name  string
	light bool // whether it belongs into every hour
	run   func(ctx context.Context, s *store.Set, opts Options) (Pass, error)
}

var passes = [...]pass{
	{"expire_transient", true, expire},
	{"enforce_budgets", false, enforce},
	{"retire_history", true, retire},
	{"fold_access", true, fold},
	{"vacuum", true, vacuum},
}

// expire deletes transient, short and archived rows whose time has come,
// sessions without a note and idempotency keys of yesterday. A long row, or an archived one with a key, is never
// deleted: expired, it only vanishes from reads.
func expire(ctx context.Context, s *store.Set, opts Options) (Pass, error) {
	var out Pass
	now := s.Now()
	for _, t := range []memd.Tier{memd.Transient, memd.Short, memd.Archive} {
		plan := func(v *store.View, limit int) ([]string, error) { return v.Expired(t, limit, now) }
		run := func(tx *store.Tx, id string) (bool, error) { return tx.Expire(t, id, now) }
		if err := inBatches(ctx, s, opts, &out, plan, run); err != nil {
			return out, err
		}
	}
	if opts.DryRun {
		return out, nil
	}
	before := memd.At(now.Add(-s.Budgets().TransientTTL))
	return out, s.Update(ctx, func(tx *store.Tx) error {
		if err := tx.DropOnce(memd.At(now.Add(-tiers.OnceFor))); err != nil {
			return err
		}
		return tx.DropSessions(before)
	})
}

// enforce brings rows and vectors down to their budgets, and historical
// databases to theirs short of retiring one. It is never capped. Under byte
// pressure planned is an estimate: only the file tells what a deleted row gave
// back.
func enforce(ctx context.Context, s *store.Set, opts Options) (Pass, error) {
	var out Pass
	rules := tiers.New(s)
	rows, err := rules.Excess(ctx)
	if err != nil {
		return out, err
	}
	surplus, err := s.Surplus(ctx)
	if err != nil {
		return out, err
	}
	out.Planned = rows + surplus.Rows + surplus.Vectors
	if opts.DryRun {
		out.Changed = out.Planned
		return out, nil
	}
	for n := 1; n > 0 && err == nil; {
		if err = ctx.Err(); err == nil {
			n, err = rules.Enforce(ctx)
			out.Changed += n
		}
	}
	if err != nil {
		return out, err
	}
	room, err := s.Trim(ctx)
	out.Changed += room.Rows + room.Vectors
	out.Planned = max(out.Planned, out.Changed)
	return out, err
}

// retire brings the historical databases down to their budgets, and counts those
// that are gone. Where a light run found no room otherwise it deletes as enforce
// does, and counts that as well.
func retire(ctx context.Context, s *store.Set, opts Options) (Pass, error) {
	var out Pass
	surplus, err := s.Surplus(ctx)
	if err != nil {
		return out, err
	}
	out.Planned = surplus.Files
	if opts.Light { // else enforce has had its turn
		out.Planned += surplus.Rows + surplus.Vectors
	}
	if opts.DryRun {
		out.Changed = out.Planned
		return out, nil
	}
	room, err := s.MakeRoom(ctx)
	out.Changed = len(room.Retired) + room.Rows + room.Vectors
	out.Planned = max(out.Planned, out.Changed)
	return out, err
}

// fold adds buffered accesses to access_count and drops those of days gone
// by.
func fold(ctx context.Context, s *store.Set, opts Options) (Pass, error) {
	var out Pass
	err := inBatches(ctx, s, opts, &out, (*store.View).Accessed, (*store.Tx).Fold)
	if err != nil || opts.DryRun {
		return out, err
	}
	today := s.Now().String()[:len("2006-01-02")]
	return out, s.Update(ctx, func(tx *store.Tx) error { return tx.DropFolded(today) })
}

// inBatches plans and runs until the plan is empty. Rows that run declines
// count as skipped, and so do those of a historical database that another
// program holds: the error tells, once the others are done.
func inBatches(ctx context.Context, s *store.Set, opts Options, out *Pass,
	plan func(*store.View, int) ([]string, error), run func(*store.Tx, string) (bool, error)) error {
	var held error
	for {
		limit := batch
		if opts.DryRun {
			limit = 1 << 30
		}
		var ids []string
		err := s.View(ctx, func(v *store.View) (err error) {
			ids, err = plan(v, limit)
			return err
		})
		if err != nil {
			return err
		}
		out.Planned += len(ids)
		if opts.DryRun {
			out.Changed += len(ids)
			return nil
		}
		changed := 0
		for rest := ids; len(rest) > 0; {
			did, later, err := inOneDatabase(ctx, s, rest, run)
			if err != nil {
				if memd.CodeOf(err) != memd.CodeStoreBusy || len(later) == len(rest) {
					return err
				}
				held = err
			}
			changed += did
			out.Changed += did
			out.Skipped += len(rest) - len(later) - did
			rest = later
		}
		if len(ids) < limit || changed == 0 {
			return held
		}
	}
}

// inOneDatabase runs, as one write, those of ids that stand in the same database
// as the first, and returns how many changed and the ids that are left for later.
// A write over two historical databases, one of which is held, would be half done.
func inOneDatabase(ctx context.Context, s *store.Set, ids []string, run func(*store.Tx, string) (bool, error)) (changed int, later []string, err error) {
	later = ids // until it is known where they stand
	err = s.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Locate(ids); err != nil {
			return err
		}
		here := []string{}
		changed, later = 0, nil
		for _, id := range ids {
			if tx.File(id) == tx.File(ids[0]) {
				here = append(here, id)
			} else {
				later = append(later, id)
			}
		}
		for _, id := range here {
			did, err := run(tx, id)
			if err != nil {
				return err
			}
			if did {
				changed++
			}
		}
		return nil
	})
	if err != nil {
		changed = 0
	}
	return changed, later, err
}

// settledKey is where vacuum notes how far it had come.
const settledKey = "groom_settled_at_change"

// vacuum indexes anew what was edited by hand, lets the terms of deleted rows
// leave the keyword index, gives free pages back and empties the write-ahead
// log. Where nothing was written since it last ran, it leaves the index alone.
func vacuum(ctx context.Context, s *store.Set, opts Options) (Pass, error) {
	var out Pass
	if err := reindex(ctx, s, opts, &out); err != nil || opts.DryRun {
		return out, err
	}
	var settled, mark string
	err := s.View(ctx, func(v *store.View) (err error) {
		if settled, err = v.Meta(settledKey); err != nil {
			return err
		}
		mark, err = v.Changes()
		return err
	})
	if err != nil {
		return out, err
	}
	if _, err := s.Settle(ctx, mark != settled || out.Changed > 0); err != nil || mark == settled {
		return out, err
	}
	// Only what was settled whole is noted: a run cut off is made good by the
	// next.
	return out, s.Update(ctx, func(tx *store.Tx) error { return tx.SetMeta(settledKey, mark, s.Now()) })
}

// reindex gives rows edited by hand their index terms and the hash of their
// content.
func reindex(ctx context.Context, s *store.Set, opts Options, out *Pass) error {
	plan := func(v *store.View, limit int) ([]string, error) { return v.Edited(limit) }
	run := func(tx *store.Tx, id string) (bool, error) {
		m, ok, err := tx.Get(id)
		if err != nil || !ok {
			return false, err
		}
		m.ContentHash = tiers.ContentHash(&m)
		return true, tx.Reindex(&m)
	}
	return inBatches(ctx, s, opts, out, plan, run)
}
