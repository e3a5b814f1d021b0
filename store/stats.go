package store

import (
	"cmp"
	"context"
	"database/sql"
	"os"
	"path/filepath"

	"memd"
)

// TierStats is the use of one tier over all databases.
type TierStats struct {
	Tier  memd.Tier `json:"tier"`
	Rows  int       `json:"rows"`
	Chars int64     `json:"chars"` // code points of summaries
}

// FileStats is the use of one database.
type FileStats struct {
	File      string `json:"file"`       // name below the data directory
	State     string `json:"state"`      // active, sealed, retiring, or unavailable: then nothing is counted
	UsedBytes int64  `json:"used_bytes"` // pages in use
	FreeBytes int64  `json:"free_bytes"` // pages that wait for vacuum
	WALBytes  int64  `json:"wal_bytes"`  // beside the file
	Rows      int    `json:"rows"`
}

// BudgetStats is one budget with its use.
type BudgetStats struct {
	Budget string `json:"budget"`
	Used   *int64 `json:"used"` // null where use is not counted
	Limit  string `json:"limit"`
}

// EmbedderStats is the state of the vectors.
type EmbedderStats struct {
	Name    string `json:"name"` // of its model, "none" for none
	Dim     int    `json:"dim"`  // of its vectors
	Backend string `json:"backend"`
	Vectors int    `json:"vectors"` // over all databases, of whichever model
	Pending int    `json:"pending"` // rows that wait for a vector
	Parked  int    `json:"parked"`  // rows whose vectors were refused too often
}

// Stats is the state of a store, without any body.
type Stats struct {
	Tiers            []TierStats   `json:"tiers"`
	Databases        []FileStats   `json:"databases"`
	Budgets          []BudgetStats `json:"budgets"`
	Heads            int           `json:"heads"`
	Embedder         EmbedderStats `json:"embedder"`
	QueueDepth       int           `json:"queue_depth"`
	RolloverDeferred bool          `json:"rollover_deferred"`
	RolloverReason   string        `json:"rollover_reason,omitempty"` // why it is
	SchemaVersion    string        `json:"schema_version"`
	LastGroomAt      string        `json:"last_groom_at,omitempty"`       // the end of the last whole full run
	LastLightGroomAt string        `json:"last_light_groom_at,omitempty"` // of the last whole run, light or full
	LastBackupAt     string        `json:"last_backup_at,omitempty"`
	StartedAt        memd.Time     `json:"started_at"`
}

// Stats reads the state of the store.
func (s *Set) Stats(ctx context.Context) (Stats, error) {
	st := Stats{QueueDepth: s.QueueDepth(), StartedAt: memd.At(s.opened), Budgets: []BudgetStats{}}
	st.RolloverReason = s.deferred.why()
	st.RolloverDeferred = st.RolloverReason != ""
	err := s.View(ctx, func(v *View) error {
		byTier := map[memd.Tier]TierStats{}
		for i, p := range v.parts {
			file := FileStats{File: p.name(), State: stateOf(p)}
			if c := v.conn(i); c == nil {
				file.State = "unavailable"
			} else if err := fileStats(ctx, c, filepath.Join(s.dir, file.File), &file, byTier); err != nil {
				return err
			}
			st.Databases = append(st.Databases, file)
		}
		for _, t := range memd.AllTiers() {
			st.Tiers = append(st.Tiers, byTier[t])
		}
		limits := map[string]string{} // in force; those in meta may be of before
		for _, b := range s.budgets.Map() {
			limits[b.Key] = b.Value
		}
		c := v.active()
		err := c.each(ctx, `SELECT budget, used, "limit" FROM budget ORDER BY budget`, nil, func(rows *sql.Rows) error {
			var b BudgetStats
			err := rows.Scan(&b.Budget, &b.Used, &b.Limit)
			b.Limit = cmp.Or(limits[b.Budget], b.Limit)
			st.Budgets = append(st.Budgets, b)
			return err
		})
		if err != nil {
			return fail("read budgets", err)
		}
		return fail("read statistics", c.row(ctx, `SELECT (SELECT count(*) FROM head WHERE id IS NOT NULL),
 (SELECT count(*) FROM embedding) + (SELECT coalesce(sum(vectors), 0) FROM history WHERE state <> 'copying'),
 (SELECT count(*) FROM outbox WHERE attempts < ?1), (SELECT count(*) FROM outbox WHERE attempts >= ?1),
 (SELECT value FROM meta WHERE key = 'embedder'), (SELECT cast(value AS INTEGER) FROM meta WHERE key = 'embedder_dim'), (SELECT value FROM meta WHERE key = 'vector_backend'),
 (SELECT value FROM meta WHERE key = 'schema_version'), (SELECT value FROM meta WHERE key = 'last_groom_at'), (SELECT value FROM meta WHERE key = 'last_light_groom_at'),
 (SELECT value FROM meta WHERE key = 'last_backup_at')`, []any{parkedAfter},
			&st.Heads, &st.Embedder.Vectors, &st.Embedder.Pending, &st.Embedder.Parked, nullText{&st.Embedder.Name},
			number{&st.Embedder.Dim}, nullText{&st.Embedder.Backend}, nullText{&st.SchemaVersion}, nullText{&st.LastGroomAt},
			nullText{&st.LastLightGroomAt}, nullText{&st.LastBackupAt}))
	})
	return st, err
}

// stateOf is the state of a database as stats show it.
func stateOf(p *part) string {
	if p.file == "" {
		return "active"
	}
	return p.state
}

// fileStats measures one database and adds its tiers to byTier.
func fileStats(ctx context.Context, c *conn, path string, f *FileStats, byTier map[memd.Tier]TierStats) (err error) {
	if f.UsedBytes, f.FreeBytes, err = pageBytes(ctx, c); err != nil {
		return err
	}
	if info, err := os.Stat(path + "-wal"); err == nil {
		f.WALBytes = info.Size()
	}
	err = c.each(ctx, `SELECT tier, rows, chars FROM tally`, nil, func(rows *sql.Rows) error {
		var t TierStats
		err := rows.Scan((*string)(&t.Tier), &t.Rows, &t.Chars)
		f.Rows += t.Rows
		sum := byTier[t.Tier]
		byTier[t.Tier] = TierStats{Tier: t.Tier, Rows: sum.Rows + t.Rows, Chars: sum.Chars + t.Chars}
		return err
	})
	return fail("count rows", err)
}
