package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
)

// homes is which historical database each head stands in.
func homes(t testing.TB, s *store.Set) map[string]string {
	t.Helper()
	at := map[string]string{}
	for _, line := range strings.Fields(shell(t, s.Dir(), `SELECT id || '|' || file FROM head WHERE file IS NOT NULL`)) {
		id, file, _ := strings.Cut(line, "|")
		at[id] = file
	}
	return at
}

// However much is owed, what retirements move for each byte that was written is
// bounded: a row moves into the oldest file that stays, and stays there once that
// file holds more than half of the active database's budget. What is not owed
// goes with the age of its file all the same.
func TestRetirementIsAmortised(t *testing.T) {
	const each = 12_000
	for _, c := range []struct{ files, heads int }{{2, 100}, {3, 100}, {4, 20}} {
		t.Run(fmt.Sprintf("%d files, %d heads", c.files, c.heads), func(t *testing.T) {
			s := under(t, "", func(b *configs.Budgets) {
				b.HistoryFiles, b.ActiveBytes, b.StoreBytes = c.files, configs.MinActiveBytes, 1<<30
			})
			heads := bigHeads(t, s, c.heads, false)
			_, err := s.Rollover(ctx)
			must(t, err)
			makeRoom(t, s)
			const rollovers = 12
			var shorts []memd.Memory
			moved, was := 0, homes(t, s)
			for n := range rollovers {
				short := row(memd.Short, 10_000+n, "a short row")
				put(t, s, short, row(memd.Long, 20_000+n, textOf(n, each)))
				shorts = append(shorts, short)
				before := len(names(t, filepath.Join(s.Dir(), store.HistoryDir)))
				r := roll(t, s)
				if n := len(names(t, filepath.Join(s.Dir(), store.HistoryDir))); n != min(c.files, before+1) || len(r.Retired) != before+1-n {
					t.Errorf("one rollover: %+v; %d historical databases", r, n)
				}
				now := homes(t, s)
				for id, file := range was {
					if now[id] != file {
						moved++
					}
				}
				was = now
			}
			t.Logf("%d rollovers moved %d rows", rollovers, moved)
			if most := rollovers * configs.MinActiveBytes / 2 / each; moved > most {
				t.Errorf("%d rollovers moved %d rows of %d bytes, want %d at most", rollovers, moved, each, most)
			}
			if n := kept(t, s, heads); n != c.heads {
				t.Errorf("%d of %d heads are left", n, c.heads)
			}
			for n := range shorts {
				_, ok := get(t, s, shorts[n].ID)
				if age := rollovers - n; ok && age > c.files || !ok && age < c.files {
					t.Errorf("the short row of %d rollovers ago is there: %v", age, ok)
				}
			}
		})
	}
}

// Tombstones are owed as rows are, and move as seldom.
func TestRetiringGravesIsAmortised(t *testing.T) {
	s := under(t, "", func(b *configs.Budgets) { b.HistoryFiles, b.ActiveBytes = 3, configs.MinActiveBytes })
	const graves = 2500
	write(t, s, func(tx *store.Tx) error {
		return tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
INSERT INTO tombstone SELECT format('gone-%06d', i), 'default', NULL, format('sha256:%064d', i), '2026-11-30T01:00:00.000Z' FROM n`, graves)
	})
	steps := 0
	counting := store.WithSteps(ctx, func(step string) {
		if step == "retire/move" {
			steps++
		}
	})
	for n := range 10 {
		put(t, s, row(memd.Short, n, "a short row"))
		_, err := s.Rollover(counting)
		must(t, err)
	}
	if most := 7 * 3; steps == 0 || steps > most { // seven files went, each with none of its own
		t.Errorf("%d steps, want %d at most", steps, most)
	}
	known := map[string]bool{}
	for _, path := range historyFiles(t, s.Dir()) {
		for _, id := range strings.Fields(shellOn(t, path, `SELECT id FROM tombstone`)) {
			known[id] = true
		}
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), store.HistoryDir, "agent_memory-20261130T020000Z.db")); err != nil {
		t.Errorf("the file that held them moved them on: %v", err)
	}
	if len(known) != graves {
		t.Errorf("%d of %d tombstones are left", len(known), graves)
	}
}

// So it is under byte pressure: near a budget that what is owed nearly fills,
// small files go into the large one. What is owed beyond it is refused, and moves
// no more either.
func TestPressureIsAmortised(t *testing.T) {
	dir := t.TempDir()
	few := func(b *configs.Budgets) { b.ActiveBytes, b.StoreBytes = configs.MinActiveBytes, 1<<30 }
	s := under(t, dir, few)
	heads := bigHeads(t, s, 60, false)
	_, err := s.Rollover(ctx)
	must(t, err)
	must(t, s.Close())
	s = under(t, dir, func(b *configs.Budgets) { few(b); b.HistoryFiles = 1 }) // all into one
	makeRoom(t, s)
	must(t, s.Close())
	limit := historyBytes(t, dir) + configs.MinActiveBytes
	s = under(t, dir, func(b *configs.Budgets) { few(b); b.StoreBytes = limit })
	moved, refused, n := 0, 0, 0
	for was := homes(t, s); n < 25 && refused < 5; n++ {
		for i := range 2 {
			m := row(memd.Long, 1000+10*n+i, textOf(n, 6000))
			err := s.Update(ctx, func(tx *store.Tx) error {
				if err := tx.Insert(&m); err != nil {
					return err
				}
				return tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: 1, ID: m.ID})
			})
			if err != nil {
				codeIs(t, err, memd.CodeBudgetExceeded)
				refused++
				continue
			}
			heads = append(heads, m)
		}
		_, err := s.Rollover(ctx)
		must(t, err)
		now := homes(t, s)
		for id, file := range was {
			if now[id] != file {
				moved++
			}
		}
		was = now
	}
	t.Logf("%d rollovers moved %d rows, %d were refused", n, moved, refused)
	if refused == 0 || n < 5 {
		t.Error("the budget was never reached, or at once: the test shows nothing")
	}
	if moved > 4*2*n { // each row twice as often as it can double
		t.Errorf("%d rollovers of two rows moved %d", n, moved)
	}
	if k := kept(t, s, heads); k != len(heads) {
		t.Errorf("%d of %d heads are left", k, len(heads))
	}
}

// A retirement that was cut short in the middle of a step leaves a row in two
// files, whichever of them is the older: one stays, where its head points.
func TestRetireUntanglesAnyTwo(t *testing.T) {
	dir := t.TempDir()
	s := under(t, dir, nil)
	var heads, colds []memd.Memory
	for n := range 3 {
		head, cold := row(memd.Long, 10*n, fmt.Sprint("head ", n)), row(memd.Archive, 10*n+1, fmt.Sprint("cold ", n))
		cold.MemoryKey, cold.Version = fmt.Sprint("cold-", n), 1
		put(t, s, head, cold)
		heads, colds = append(heads, head), append(colds, cold)
		roll(t, s)
	}
	must(t, s.Close())
	files := historyFiles(t, dir)
	for _, tier := range []memd.Tier{memd.Long, memd.Archive} { // into the middle one, from the newest
		columns := shellOn(t, files[1], fmt.Sprintf(`SELECT group_concat(name) FROM pragma_table_info('%s') WHERE name <> 'rid'`, tier))
		shellOn(t, files[1], fmt.Sprintf(`ATTACH '%[1]s' AS newest; INSERT INTO %[2]s (%[3]s) SELECT %[3]s FROM newest.%[2]s`, files[2], tier, columns))
	}
	shell(t, dir, `UPDATE history SET state = 'retiring' WHERE file = '`+filepath.Base(files[2])+`'`)
	s = under(t, dir, nil) // which fails at its end where a row stands twice
	makeRoom(t, s)
	if n := kept(t, s, append(heads, colds...)); n != 6 {
		t.Errorf("%d of 6 rows are left", n)
	}
	finds(t, s, memd.Archive, "cold", colds...)
	if left := historyFiles(t, dir); len(left) != 2 || left[0] != files[0] || left[1] != files[1] {
		t.Errorf("of %q are left %q", files, left)
	}
}
