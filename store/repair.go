package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"memd"
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
// damaged nothing is touched, for every write may do harm then; and what
// concerns several databases waits until each of them can be read. Nobody else
// may use the Set meanwhile.
func (s *Set) Repair(ctx context.Context) (Repaired, error) {
	done := Repaired{Mended: []Mended{}}
	found, err := s.Check(ctx, false)
	if err != nil {
		return done, err
	}
	at := map[string][]string{} // the databases at fault, by check
	for _, f := range found {
		if f.Fix == mendable && !slices.Contains(at[f.Check], f.part) {
			at[f.Check] = append(at[f.Check], f.part)
		}
		if f.Check == "integrity" || f.Check == "files" {
			return done, nil
		}
	}
	whole := !slices.ContainsFunc(found, func(f Finding) bool { return f.Check == "history_file" })
	due := slices.DeleteFunc(remedies(), func(r remedy) bool {
		return len(at[r.check]) == 0 || r.across != nil && !whole
	})
	if len(due) == 0 {
		return done, nil
	}
	b, err := s.backup(ctx, memd.LocalAdmin().Name, filepath.Join(s.dir, BackupDir))
	if err != nil {
		return done, err
	}
	done.Backup = b.Path
	ctx = context.WithoutCancel(ctx)
	for _, r := range due {
		n, err := s.mend(ctx, r, at[r.check])
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

// remedy is what mends one kind of finding: statements for each database at
// fault, or a function in their place.
type remedy struct {
	check, did string
	counts     bool                                       // whether the rows that its statements change say something
	queries    []string                                   // run in one transaction
	alone      func(context.Context, *Set, *part) error   // on the writer's goroutine, outside any transaction
	across     func(tx *Tx, c *census) (n int, err error) // over all databases at once
}

// mendable is the way out that findings with a remedy name.
const mendable = "memd doctor --repair"

// fixOf is the Fix of a finding, "" where there is no remedy.
func fixOf(check string) string {
	if slices.ContainsFunc(remedies(), func(r remedy) bool { return r.check == check }) {
		return mendable
	}
	return ""
}

const noMemory = ` NOT EXISTS (SELECT 1 FROM short WHERE id = memory_id) AND NOT EXISTS (SELECT 1 FROM long WHERE id = memory_id)
 AND NOT EXISTS (SELECT 1 FROM archive WHERE id = memory_id)`

// ownMeta is the condition that a value of meta is memd's own.
const ownMeta = ` (key LIKE 'budgets.%' OR key LIKE 'groom%' OR key LIKE 'import%' OR key LIKE 'sync%' OR key LIKE 'noticed%' OR key IN ('schema_version',
 'embedder', 'embedder_dim', 'vector_backend', 'vector_available', 'last_groom_at', 'write_probe',
 '` + cursorKeyName + `', '` + baseKey + `', '` + shedKey + `', '` + dueKey + `', '` + settledKey + `'))`

// remedies are in the order in which they are applied. The index comes after
// the marks of rows to index anew, which have a say in it, and before what
// deletes rows.
func remedies() []remedy {
	return []remedy{
		{check: "auto_vacuum", did: "rewrote the database so that deleted rows give their space back", alone: rewriteVacuumed},
		{check: "journal_mode", did: "set the journal mode", alone: setJournal},
		{check: "left_over", did: "deleted what lives in the active database alone", counts: true, queries: deleteCarried()},
		{check: "meta_rows", did: "deleted values of meta that are not memd's, the oldest first", counts: true, queries: []string{
			`DELETE FROM meta WHERE key IN (SELECT key FROM meta WHERE NOT` + ownMeta + `
 ORDER BY updated_at, key LIMIT (SELECT max(0, count(*) - 200) FROM meta))`}},
		{check: "orphan_reindex", did: "deleted index marks without a row", counts: true, queries: []string{
			`DELETE FROM short_reindex WHERE rid NOT IN (SELECT rid FROM short)`,
			`DELETE FROM long_reindex WHERE rid NOT IN (SELECT rid FROM long)`,
			`DELETE FROM archive_reindex WHERE rid NOT IN (SELECT rid FROM archive)`,
		}},
		{check: "index", did: "built the keyword index anew", queries: []string{
			`INSERT INTO short_fts (short_fts) VALUES ('rebuild')`,
			`INSERT INTO long_fts (long_fts) VALUES ('rebuild')`,
			`INSERT INTO archive_fts (archive_fts) VALUES ('rebuild')`,
		}},
		{check: "one_place", did: "deleted further copies of a row", across: mendPlaces},
		{check: "head_target", did: "tied heads to the newest version of their key, or to none where it is gone", across: mendHeads},
		{check: "headless_key", did: "made the newest version of a key without a head its head", across: mendHeadless},
		{check: "orphan_vector", did: "deleted vectors without a memory", counts: true,
			queries: []string{`DELETE FROM embedding WHERE` + noMemory}},
		{check: "bad_vector", did: "deleted vectors that cannot be compared", across: mendBadVectors},
		{check: "mixed_models", did: "deleted vectors of another model and queued their rows", across: mendMixed},
		{check: "orphan_outbox", did: "deleted queue entries without a memory", across: mendOutbox},
		{check: "tally", did: "counted rows and characters anew", queries: []string{
			`INSERT OR REPLACE INTO tally (tier, rows, chars)
 SELECT 'transient', count(*), coalesce(sum(length(summary)), 0) FROM transient
 UNION ALL SELECT 'short', count(*), coalesce(sum(length(summary)), 0) FROM short
 UNION ALL SELECT 'long', count(*), coalesce(sum(length(summary)), 0) FROM long
 UNION ALL SELECT 'archive', count(*), coalesce(sum(length(summary)), 0) FROM archive`,
		}},
		{check: "catalogue", did: "counted what the catalogue says anew", queries: []string{}},
	}
}

func deleteCarried() (queries []string) {
	for _, table := range carried {
		queries = append(queries, `DELETE FROM `+table)
	}
	return queries
}

// mend applies one remedy to the databases at fault and returns the number of
// rows it changed, 0 where that says nothing.
func (s *Set) mend(ctx context.Context, r remedy, files []string) (n int64, err error) {
	switch {
	case r.across != nil:
		err = s.Update(ctx, func(tx *Tx) error {
			c, err := tx.census()
			if err != nil {
				return err
			}
			changed, err := r.across(tx, c)
			n = int64(changed)
			return err
		})
		return n, err
	case r.alone != nil:
		return 0, s.mendAlone(ctx, r, files)
	}
	for _, file := range files {
		changed := int64(0)
		err := s.Update(ctx, func(tx *Tx) (err error) {
			changed, err = tx.mend(r, file)
			return err
		})
		if err != nil {
			return n, err
		}
		n += changed
	}
	return n, nil
}

// mend runs the statements of a remedy in one database. What they do to a
// historical one the catalogue follows.
func (tx *Tx) mend(r remedy, file string) (n int64, err error) {
	c := tx.conn
	if file != "" {
		p := tx.w.part(file)
		if p == nil {
			return 0, errClosing
		}
		if c, err = tx.change(p); err != nil {
			return 0, err
		}
	}
	for _, query := range r.queries {
		changed, err := c.exec(tx.ctx, query)
		if err != nil {
			return 0, fail("mend "+r.check, err)
		}
		if r.counts {
			n += changed
		}
	}
	return n, nil
}

// mendAlone applies a remedy that no transaction may hold. Readers stand aside.
func (s *Set) mendAlone(ctx context.Context, r remedy, files []string) error {
	for _, file := range files {
		err := s.writer.alone(ctx, func() error {
			w := s.writer
			if err := w.ready(ctx); err != nil {
				return err
			}
			s.views.Lock()
			defer s.views.Unlock()
			if file == "" {
				return r.alone(ctx, s, s.active)
			}
			p := w.part(file)
			if p == nil {
				return errClosing
			}
			if err := p.closeReaders(); err != nil {
				return err
			}
			if err := r.alone(ctx, s, p); err != nil {
				return p.failed(err)
			}
			p.gen.Add(1)
			return w.plainly(ctx, func() error { return recount(ctx, w.conn, p, p.rw) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ownOf is the writer's connection to a database.
func (s *Set) ownOf(ctx context.Context, p *part) (*conn, error) {
	if p.file == "" {
		return s.writer.conn, nil
	}
	return p.own(ctx)
}

func rewriteVacuumed(ctx context.Context, s *Set, p *part) error {
	c, err := s.ownOf(ctx, p)
	if err != nil {
		return err
	}
	size, err := fileBytes(ctx, c)
	if err != nil {
		return err
	}
	if err := s.room(s.dir, 2*size); err != nil {
		return err
	}
	for _, query := range []string{`PRAGMA auto_vacuum = INCREMENTAL`, `VACUUM`} {
		if err := c.each(ctx, query, nil, func(*sql.Rows) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func setJournal(ctx context.Context, s *Set, p *part) error {
	c, err := s.ownOf(ctx, p)
	if err != nil {
		return err
	}
	mode := "DELETE"
	if p.file == "" {
		mode = "WAL"
	}
	got, err := c.value(ctx, `PRAGMA journal_mode = `+mode)
	if err == nil && !strings.EqualFold(got, mode) {
		err = memd.Errorf(memd.CodeStoreBusy, "another program has %s open", p.name())
	}
	return fail("set the journal mode", err)
}
