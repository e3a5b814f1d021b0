package groom

import (
	"context"

	"memd/store"
	"memd/tiers"
)

// fold adds buffered accesses to access_count and drops those of days gone
// by, and what was counted of memories that are gone.
func fold(ctx context.Context, r *run) (p plan, err error) {
	rows, err := r.places(ctx, func(v *store.View) ([]string, error) { return v.Accessed(1 << 30) })
	p.steps = []step{{rows: rows, do: func(tx *store.Tx, c store.Candidate) (bool, error) { return tx.Fold(c.ID) }}}
	p.then = func(ctx context.Context, _ *Pass) error {
		if err := r.store.DropOrphans(ctx); err != nil {
			return err
		}
		return r.store.DropRelics(ctx, store.FoldedBefore(r.now.String()[:len("2006-01-02")]))
	}
	return p, err
}

// places are the rows, wherever they stand, whose ids a reading lists.
func (r *run) places(ctx context.Context, list func(*store.View) ([]string, error)) (rows []store.Candidate, err error) {
	err = r.store.View(ctx, func(v *store.View) error {
		ids, err := list(v)
		if err == nil {
			rows, _, err = v.Places(ids)
		}
		return err
	})
	kept := rows[:0]
	for _, c := range rows {
		if m, moved := r.moved[c.ID]; !moved || m.To != "" {
			kept = append(kept, c)
		}
	}
	return kept, err
}

// settledKey is where vacuum notes how far it had come.
const settledKey = "groom_settled_at_change"

// vacuum indexes anew what was edited by hand, lets the terms of deleted rows
// leave the keyword index, gives free pages back, rewrites historical databases
// that are mostly empty, and empties the write-ahead log. Where nothing was
// written since it last ran, it leaves the active database alone.
func vacuum(ctx context.Context, r *run) (p plan, err error) {
	rows, err := r.places(ctx, func(v *store.View) ([]string, error) { return v.Edited(1 << 30) })
	p.steps = []step{{rows: r.standing(rows), do: reindex}}
	p.then = r.settle
	return p, err
}

// settle is what vacuum does once rows are indexed.
func (r *run) settle(ctx context.Context, out *Pass) error {
	var settled, mark string
	err := r.store.View(ctx, func(v *store.View) (err error) {
		if settled, err = v.Meta(settledKey); err != nil {
			return err
		}
		mark, err = v.Changes()
		return err
	})
	if err != nil {
		return err
	}
	if mark == settled && out.Changed == 0 {
		out.Bytes, err = r.store.SettleHistory(ctx)
		return err
	}
	done, err := r.store.Settle(ctx, true)
	out.Bytes = done.Bytes
	if err != nil || done.Held || mark == settled {
		return err
	}
	// Only what was settled whole is noted: a run cut off is made good by the
	// next.
	return r.store.Update(ctx, func(tx *store.Tx) error { return tx.SetMeta(settledKey, mark, r.now) })
}

// reindex gives a row edited by hand its index terms and the hash of its content,
// wherever it stands by now.
func reindex(tx *store.Tx, c store.Candidate) (bool, error) {
	m, ok, err := tx.Get(c.ID)
	if err != nil || !ok {
		return false, err
	}
	m.ContentHash = tiers.ContentHash(&m)
	return true, tx.Reindex(&m)
}
