package groom

import (
	"context"
	"time"

	"memd"
	"memd/store"
	"memd/tiers"
)

// passes are in the order in which they run.
var passes = [...]pass{
	{"expire_transient", true, expire},
	{"archive_short", false, archive},
	{"prune_archive", false, pruneArchive},
	{"prune_versions", false, pruneVersions},
	{"mark_stale", false, markStale},
	{"check_sources", false, checkSources},
	{"drop_embeddings", false, dropEmbeddings},
	{"report_duplicates", false, reportDuplicates},
	{"enforce_budgets", false, enforce},
	{"retire_history", true, retire},
	{"fold_access", true, fold},
	{"vacuum", true, vacuum},
}

// importedFor is how long passes that judge leave a row alone that was imported.
const importedFor = 24 * time.Hour

// hitsFor is how long it is known when a pitfall was hit.
const hitsFor = 365 * 24 * time.Hour

// before is the time that lies that long back.
func (r *run) before(d time.Duration) memd.Time { return memd.At(r.now.Add(-d)) }

// imported is the time after which an imported row is left alone.
func (r *run) imported() memd.Time { return r.before(importedFor) }

// byRule is a condition of a step: the rule is still true of the row.
func byRule(rule store.Rule, then func(*store.Tx, store.Candidate) (bool, error)) func(*store.Tx, store.Candidate) (bool, error) {
	return func(tx *store.Tx, c store.Candidate) (bool, error) {
		if _, ok, err := tx.Matches(rule, c.ID); !ok || err != nil {
			return false, err
		}
		return then(tx, c)
	}
}

// expire deletes transient, short and archived rows whose time has come, and
// what else is kept for a while only: sessions without a note, idempotency keys
// of yesterday, hits of a year ago, marks of imports. A long row, or an archived
// one with a key, is never deleted: expired, it only vanishes from reads.
func expire(ctx context.Context, r *run) (p plan, err error) {
	for _, t := range []memd.Tier{memd.Transient, memd.Short, memd.Archive} {
		rule := store.Expired(t, r.now)
		rows, err := r.matching(ctx, rule)
		if err != nil {
			return p, err
		}
		p.steps = append(p.steps, step{rows: rows, moves: true, do: byRule(rule, func(tx *store.Tx, c store.Candidate) (bool, error) {
			return tx.Delete(c.Tier, c.ID)
		})})
	}
	p.then = func(ctx context.Context, _ *Pass) error {
		if err := r.store.DropImports(ctx, r.imported()); err != nil {
			return err
		}
		return r.store.DropRelics(ctx, store.OldOnce(r.before(tiers.OnceFor)),
			store.EmptySessions(r.before(r.store.Budgets().TransientTTL)), store.OldHits(r.before(hitsFor)))
	}
	return p, nil
}

// archive moves short rows to the archive that are past their retention, that
// were never read and matter little, and pitfalls of the long tier that are no
// longer. Of the second kind one run takes so many at most.
func archive(ctx context.Context, r *run) (p plan, err error) {
	if err := r.store.FlushAccess(ctx); err != nil {
		return p, err
	}
	b := r.store.Budgets()
	old := store.Unretained(r.before(b.ShortRetention), r.now)
	unread := store.Unread(b.ShortArchiveImportance, r.before(b.ShortArchiveAfter), r.imported(), r.now)
	resolved := store.Resolved(r.now)
	var past, little, pitfalls []store.Candidate
	err = r.store.View(ctx, func(v *store.View) error {
		read, err := v.Unfolded()
		if err != nil {
			return err
		}
		if past, err = v.Matching(old); err != nil {
			return err
		}
		if little, err = v.Matching(unread); err != nil {
			return err
		}
		if pitfalls, err = v.Matching(resolved); err != nil {
			return err
		}
		past, little = unlessRead(past, read, keptReads), unlessRead(little, read, 1)
		pitfalls, err = onlyHeads(v, pitfalls)
		return err
	})
	if err != nil {
		return p, err
	}
	past = r.standing(past)
	little, capped, err := r.capped(r.standing(without(little, past)), func() (int, error) { return r.count(ctx, memd.Short) })
	if err != nil {
		return p, err
	}
	shelve := func(tx *store.Tx, c store.Candidate) (bool, error) { return r.rules.ArchiveRow(tx, c, r.now) }
	p.capped = capped
	p.steps = []step{
		{rows: past, moves: true, to: memd.Archive, do: byRule(old, unlessReadSince(keptReads, shelve))},
		{rows: r.standing(pitfalls), moves: true, to: memd.Archive, do: byRule(resolved, ifHead(shelve))},
		{rows: little, moves: true, to: memd.Archive, do: byRule(unread, unlessReadSince(1, shelve))},
	}
	return p, nil
}

// keptReads is how many accesses keep a row in the short tier past its retention.
const keptReads = 3

// unlessRead leaves out rows that were read so often, counting the accesses that
// are yet to be folded in.
func unlessRead(rows []store.Candidate, read map[string]int, reads int) []store.Candidate {
	kept := rows[:0]
	for _, c := range rows {
		if read[c.ID]+c.Reads < reads {
			kept = append(kept, c)
		}
	}
	return kept
}

// unlessReadSince is unlessRead within a write.
func unlessReadSince(reads int, then func(*store.Tx, store.Candidate) (bool, error)) func(*store.Tx, store.Candidate) (bool, error) {
	return func(tx *store.Tx, c store.Candidate) (bool, error) {
		n, err := tx.Unfolded(c.ID)
		if n+c.Reads >= reads || err != nil {
			return false, err
		}
		return then(tx, c)
	}
}

// onlyHeads are those of rows that are the current versions of their keys.
func onlyHeads(v *store.View, rows []store.Candidate) (heads []store.Candidate, err error) {
	for _, c := range rows {
		h, _, err := v.Head(c.Namespace, c.Key)
		if err != nil {
			return nil, err
		}
		if h.ID == c.ID {
			heads = append(heads, c)
		}
	}
	return heads, nil
}

// ifHead is onlyHeads within a write.
func ifHead(then func(*store.Tx, store.Candidate) (bool, error)) func(*store.Tx, store.Candidate) (bool, error) {
	return func(tx *store.Tx, c store.Candidate) (bool, error) {
		if h, _, err := tx.Head(c.Namespace, c.Key); h.ID != c.ID || err != nil {
			return false, err
		}
		return then(tx, c)
	}
}

// without are those of rows that others do not hold.
func without(rows, others []store.Candidate) []store.Candidate {
	has := make(map[string]bool, len(others))
	for _, c := range others {
		has[c.ID] = true
	}
	kept := rows[:0]
	for _, c := range rows {
		if !has[c.ID] {
			kept = append(kept, c)
		}
	}
	return kept
}

// pruneArchive deletes archived rows past their retention, of which a key has no
// need.
func pruneArchive(ctx context.Context, r *run) (p plan, err error) {
	rule := store.Unkept(r.before(r.store.Budgets().ArchiveRetention), r.imported(), r.now)
	rows, err := r.matching(ctx, rule)
	if err != nil {
		return p, err
	}
	rows, p.capped, err = r.capped(rows, func() (int, error) { return r.count(ctx, memd.Archive) })
	p.steps = []step{{rows: rows, moves: true, do: byRule(rule, r.prune)}}
	return p, err
}

func (r *run) prune(tx *store.Tx, c store.Candidate) (bool, error) {
	return r.rules.PruneRow(tx, c, r.now)
}

// pruneVersions deletes versions of a key beyond the newest long_versions.
func pruneVersions(ctx context.Context, r *run) (p plan, err error) {
	keep := max(1, r.store.Budgets().LongVersions)
	var rows []store.Candidate
	err = r.store.View(ctx, func(v *store.View) error {
		rows, err = v.OldVersions(keep, r.has, r.now)
		return err
	})
	p.steps = []step{{rows: rows, moves: true, do: func(tx *store.Tx, c store.Candidate) (bool, error) {
		if old, err := tx.IsOldVersion(c, keep); !old || err != nil {
			return false, err
		}
		return r.prune(tx, c)
	}}}
	return p, err
}

// dropEmbeddings deletes vectors that serve nobody.
func dropEmbeddings(ctx context.Context, r *run) (p plan, err error) {
	dead, err := r.store.DeadVectors(ctx, r.imported(), r.now)
	if err != nil {
		return p, err
	}
	byTier := map[memd.Tier][]store.Candidate{}
	for _, c := range r.standing(dead) {
		byTier[c.Tier] = append(byTier[c.Tier], c)
	}
	for _, t := range []memd.Tier{memd.Short, memd.Long, memd.Archive} {
		rows, capped, err := r.capped(byTier[t], func() (int, error) { return r.countVectors(ctx, t) })
		if err != nil {
			return p, err
		}
		p.capped = p.capped || capped
		p.steps = append(p.steps, step{rows: rows, do: func(tx *store.Tx, c store.Candidate) (bool, error) {
			return tx.DropDeadVector(c, r.imported(), r.now)
		}})
	}
	return p, nil
}

// countVectors is how many rows of a tier have a vector.
func (r *run) countVectors(ctx context.Context, t memd.Tier) (n int, err error) {
	err = r.store.View(ctx, func(v *store.View) error {
		for _, from := range []memd.Tier{memd.Short, memd.Long, memd.Archive} {
			err := v.EachVector(from, func(id string) {
				if m, moved := r.moved[id]; moved && m.To == t || !moved && from == t {
					n++
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// reportDuplicates names rows that say the same, and changes none.
func reportDuplicates(ctx context.Context, r *run) (p plan, err error) {
	pairs, err := findDuplicates(ctx, r.store)
	named := map[string]bool{}
	for _, d := range pairs {
		if r.has(d.ids[0]) || r.has(d.ids[1]) {
			continue
		}
		if p.found++; p.found <= maxPairs {
			p.pairs = append(p.pairs, Pair{d.namespace, d.ids, d.keys, d.reason})
		}
		for _, id := range d.ids {
			if !named[id] {
				named[id] = true
				p.named = append(p.named, id)
			}
		}
	}
	return p, err
}

// has reports whether a pass of a dry run has moved a row.
func (r *run) has(id string) bool { _, ok := r.moved[id]; return ok }
