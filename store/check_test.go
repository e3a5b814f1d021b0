package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/migrations"
	"memd/store"
)

// Each kind of damage is a finding of its name, and nothing else is.
func TestCheckFinds(t *testing.T) {
	id := row(memd.Long, 2, "").ID
	for want, damage := range map[string]string{
		"":              `UPDATE short SET importance = 3`,
		"one_place":     `INSERT INTO archive SELECT NULL, id, namespace, kind, memory_key, version, importance, tags, source, source_status, verified_at, verified_by, stale, stale_reason, owner, access, session_id, agent, created_at, updated_at, written_at, last_accessed_at, access_count, expires_at, resolved_at, content_hash, seg_rev, summary, why, how_to_apply, seg, raw_content FROM short`,
		"head_target":   `UPDATE head SET version = 9`,
		"headless_key":  `DELETE FROM head`,
		"orphan_vector": `INSERT INTO embedding VALUES ('nobody', 'm', 1, x'7f', x'01')`,
		"orphan_outbox": `INSERT INTO outbox (memory_id, queued_at) VALUES ('nobody', '')`,
		"tally":         `UPDATE tally SET rows = rows + 1 WHERE tier = 'long'`,
		"meta_rows":     `INSERT INTO meta SELECT 'k' || value, '', '' FROM (WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 200) SELECT value FROM n)`,
		"times":         `UPDATE long SET updated_at = '2026-11-30 02:00:00' WHERE id = '` + id + `'`,
		"index":         `INSERT INTO short_fts (short_fts, rowid, summary, detail, labels, seg) SELECT 'delete', rid, summary, detail, labels, seg FROM short_text`,
		"schema":        `INSERT INTO goose_db_version (version_id, is_applied) VALUES (7, 1)`,
	} {
		t.Run(want, func(t *testing.T) {
			s, err := open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			put(t, s, row(memd.Short, 1, "a short row"), row(memd.Long, 2, "a long row"))
			write(t, s, func(tx *store.Tx) error { return tx.Exec(damage) })
			findings, err := s.Check(ctx, false)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				got = append(got, f.Check)
				if strings.Contains(f.Detail, "a long row") || strings.Contains(f.Detail, "a short row") {
					t.Errorf("a finding tells a body: %s", f.Detail)
				}
			}
			if got := strings.Join(slices.Compact(got), " "); got != want && !(want == "index" && strings.Contains(got, "index")) {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}

func TestCheckQuick(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	put(t, s, row(memd.Short, 1, "a short row"))
	if findings, err := s.Check(ctx, true); err != nil || len(findings) != 0 {
		t.Errorf("found %v, %v", findings, err)
	}
}

// A database made without incremental vacuum gives no space back: told, with
// what to do.
func TestCheckAutoVacuum(t *testing.T) {
	s, err := open(strings.TrimSuffix(memdFile(t, `PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = 0; VACUUM;`), store.ActiveName))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	findings, err := s.Check(ctx, true)
	if err != nil || len(findings) != 1 || findings[0].Check != "auto_vacuum" || findings[0].Fix == "" {
		t.Errorf("found %v, %v", findings, err)
	}
}

func TestProbeAndStats(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	if err := s.Probe(ctx); err != nil {
		t.Errorf("probe: %v", err)
	}
	put(t, s, row(memd.Short, 1, "five"), row(memd.Short, 2, "五个字符数"), row(memd.Long, 3, "seven x"), row(memd.Transient, 4, "n"))
	st, err := s.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := map[memd.Tier][2]int64{memd.Short: {2, 9}, memd.Long: {1, 7}, memd.Archive: {0, 0}, memd.Transient: {1, 1}}
	for _, tier := range st.Tiers {
		if got := [2]int64{int64(tier.Rows), tier.Chars}; got != want[tier.Tier] {
			t.Errorf("%s has rows and characters %v, want %v", tier.Tier, got, want[tier.Tier])
		}
	}
	if len(st.Tiers) != 4 || st.Heads != 1 || len(st.Databases) != 1 || st.Databases[0].Rows != 4 || st.Databases[0].UsedBytes == 0 || st.SchemaVersion != fmt.Sprint(migrations.Latest) {
		t.Errorf("statistics %+v", st)
	}
	if len(st.Budgets) == 0 {
		t.Error("no budgets in the statistics")
	}
	for _, b := range st.Budgets {
		if b.Limit == "" {
			t.Errorf("budget %s has no limit", b.Budget)
		}
	}
}

// A check changes no historical database, nor its folder.
func TestCheckChangesNothing(t *testing.T) {
	s, path := rolled(t, t.TempDir())
	defer s.Close()
	before := listing(t, filepath.Dir(path))
	healthy(t, s)
	if after := listing(t, filepath.Dir(path)); after != before {
		t.Errorf("history/ was\n%s\nand is\n%s", before, after)
	}
}

// A check beside writes, rollovers and grooming finds nothing where nothing is
// at fault.
func TestCheckBesideWork(t *testing.T) {
	s, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			for n := range 60 {
				m, k := row(memd.Short, 2*n, fmt.Sprint("event ", n)), row(memd.Long, 2*n+1, fmt.Sprint("fact ", n))
				k.MemoryKey, k.Version = "key", n+1
				err := s.Update(ctx, func(tx *store.Tx) error {
					if n > 3 { // of another database, mostly
						old := row(memd.Short, 2*(n-4), "").ID
						if _, _, err := tx.Get(old); err != nil {
							return err
						}
						if _, err := tx.Delete(memd.Short, old); err != nil {
							return err
						}
					}
					return errors.Join(tx.Insert(&m), tx.Insert(&k), tx.SetHead(k.Namespace, k.MemoryKey, store.Head{Version: k.Version, ID: k.ID}))
				})
				if err == nil && n%4 == 0 {
					_, err = s.Rollover(ctx)
				}
				if err == nil && n%3 == 0 {
					_, err = s.Settle(ctx, true)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	for checks := 0; ; checks++ {
		healthy(t, s)
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			if checks < 3 {
				t.Errorf("only %d checks meanwhile: the test shows nothing", checks)
			}
			healthy(t, s)
			return
		default:
		}
	}
}
