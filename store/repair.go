package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
)

// Repaired is what a repair did.
type Repaired struct {
	Backup string   `json:"backup"` // the folder of the backup taken before, "" where nothing was to mend
	Mended []Mended `json:"mended"`
}

// Mended is one kind of fault that was mended.
type Mended struct {
	Check  string `json:"check"` // as the finding's
	Detail string `json:"detail"`
}

// Repair mends what Check finds and has a remedy for, after it took a backup.
// That backup lets no older one go: it holds a store at fault. Where pages are
// damaged nothing is touched, for every write may do harm then. Nobody else may
// use the Set meanwhile.
func (s *Set) Repair(ctx context.Context) (Repaired, error) {
	done := Repaired{Mended: []Mended{}}
	found, err := s.Check(ctx, false)
	if err != nil {
		return done, err
	}
	faults := map[string]bool{}
	for _, f := range found {
		faults[f.Check] = true
	}
	if faults["integrity"] || faults["files"] {
		return done, nil
	}
	if !slices.ContainsFunc(remedies, func(r remedy) bool { return faults[r.check] }) {
		return done, nil
	}
	b, err := s.backup(ctx, filepath.Join(s.dir, BackupDir))
	if err != nil {
		return done, err
	}
	done.Backup = b.Path
	ctx = context.WithoutCancel(ctx)
	for _, r := range remedies {
		if !faults[r.check] {
			continue
		}
		n, err := s.mend(ctx, r)
		if err != nil {
			return done, fail("mend "+r.check, err)
		}
		m := Mended{Check: r.check, Detail: r.did}
		if n > 0 {
			m.Detail = fmt.Sprintf("%s (%d)", r.did, n)
		}
		done.Mended = append(done.Mended, m)
	}
	return done, nil
}

// remedy is what mends one kind of finding.
type remedy struct {
	check, did string
	counts     bool     // whether the rows that its statements change say something
	queries    []string // run in one transaction
	alone      []string // in place of queries: outside any transaction
}

// mendable is the way out that findings with a remedy name.
const mendable = "memd doctor --repair"

// fixOf is the Fix of a finding, "" where there is no remedy.
func fixOf(check string) string {
	if slices.ContainsFunc(remedies, func(r remedy) bool { return r.check == check }) {
		return mendable
	}
	return ""
}

const noMemory = ` NOT EXISTS (SELECT 1 FROM short WHERE id = memory_id) AND NOT EXISTS (SELECT 1 FROM long WHERE id = memory_id)
 AND NOT EXISTS (SELECT 1 FROM archive WHERE id = memory_id)`

// remedies are in the order in which they are applied. The index comes after
// the marks of rows to index anew, which have a say in it.
var remedies = []remedy{
	{check: "auto_vacuum", did: "rewrote the database so that deleted rows give their space back",
		alone: []string{`PRAGMA auto_vacuum = INCREMENTAL`, `VACUUM`}},
	{check: "head_target", did: "tied heads to the newest version of their key, or to none where it is gone", counts: true, queries: []string{
		// A head whose memory is there but under another version.
		`UPDATE head SET version = (SELECT l.version FROM long l WHERE l.id = head.id)
 WHERE file IS NULL AND EXISTS (SELECT 1 FROM long l WHERE l.id = head.id AND l.version <> head.version
   AND l.namespace = head.namespace AND l.memory_key = head.memory_key
   AND l.version = (SELECT max(version) FROM long m WHERE m.namespace = l.namespace AND m.memory_key = l.memory_key))`,
		// Any other points to nowhere. The counter stays: no older version revives.
		`UPDATE head SET id = NULL, version = max(version, coalesce((SELECT max(l.version) FROM long l
   WHERE l.namespace = head.namespace AND l.memory_key = head.memory_key), 0))
 WHERE id IS NOT NULL AND file IS NULL AND NOT EXISTS (SELECT 1 FROM long l WHERE l.id = head.id AND l.version = head.version
   AND l.namespace = head.namespace AND l.memory_key = head.memory_key)`,
	}},
	{check: "orphan_vector", did: "deleted vectors without a memory", counts: true,
		queries: []string{`DELETE FROM embedding WHERE` + noMemory}},
	{check: "orphan_outbox", did: "deleted queue entries without a memory", counts: true,
		queries: []string{`DELETE FROM outbox WHERE` + noMemory}},
	{check: "orphan_reindex", did: "deleted index marks without a row", counts: true, queries: []string{
		`DELETE FROM short_reindex WHERE rid NOT IN (SELECT rid FROM short)`,
		`DELETE FROM long_reindex WHERE rid NOT IN (SELECT rid FROM long)`,
		`DELETE FROM archive_reindex WHERE rid NOT IN (SELECT rid FROM archive)`,
	}},
	{check: "tally", did: "counted rows and characters anew", queries: []string{
		`INSERT OR REPLACE INTO tally (tier, rows, chars)
 SELECT 'transient', count(*), coalesce(sum(length(summary)), 0) FROM transient
 UNION ALL SELECT 'short', count(*), coalesce(sum(length(summary)), 0) FROM short
 UNION ALL SELECT 'long', count(*), coalesce(sum(length(summary)), 0) FROM long
 UNION ALL SELECT 'archive', count(*), coalesce(sum(length(summary)), 0) FROM archive`,
	}},
	{check: "index", did: "built the keyword index anew", queries: []string{
		`INSERT INTO short_fts (short_fts) VALUES ('rebuild')`,
		`INSERT INTO long_fts (long_fts) VALUES ('rebuild')`,
		`INSERT INTO archive_fts (archive_fts) VALUES ('rebuild')`,
	}},
}

// mend applies one remedy and returns the number of rows it changed, 0 where
// that says nothing.
func (s *Set) mend(ctx context.Context, r remedy) (n int64, err error) {
	if len(r.alone) > 0 {
		var size int64
		if err := s.View(ctx, func(v *View) (err error) { size, err = fileBytes(ctx, v.active()); return err }); err != nil {
			return 0, err
		}
		if err := s.room(s.dir, 2*size); err != nil {
			return 0, err
		}
		return 0, s.writer.alone(ctx, func() error {
			if err := s.writer.ready(ctx); err != nil {
				return err
			}
			for _, query := range r.alone {
				if err := s.writer.conn.each(ctx, query, nil, func(*sql.Rows) error { return nil }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = s.Update(ctx, func(tx *Tx) error {
		n = 0
		for _, query := range r.queries {
			changed, err := tx.conn.exec(ctx, query)
			if err != nil {
				return fail("mend "+r.check, err)
			}
			if r.counts {
				n += changed
			}
		}
		return nil
	})
	return n, err
}
