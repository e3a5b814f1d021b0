package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// plot is one thing done to the store of aged, which may be cut short at
// each of its steps. Done a second time it changes nothing more, or as much
// again.
type plot struct {
	budgets func(*configs.Budgets)
	prepare func(t *testing.T, dir string) // what aged has not
	held    bool                           // another program reads the active database meanwhile
	opening bool                           // the opening of the store is part of it
	act     func(context.Context, *store.Set) error
}

// plots are by the names under which a child is told of them.
func plots() map[string]plot {
	few := func(b *configs.Budgets) { b.HistoryFiles = 2 }
	heavy := func(b *configs.Budgets) { b.HistoryFiles, b.ActiveBytes = 2, configs.MinActiveBytes }
	rollover := func(ctx context.Context, s *store.Set) error {
		_, err := s.Rollover(ctx)
		return err
	}
	return map[string]plot{
		"patch":       {act: changing(1, patched)},
		"archive":     {act: changing(1, archived)},
		"resolve":     {act: changing(6, archived)},
		"forget":      {act: changing(8, forgetting)},
		"promote":     {act: changing(4, promoted)},
		"upsert":      {act: changing(2, succeeded)},
		"rollover":    {act: rollover},
		"copy":        {act: rollover, held: true},
		"retire":      {act: makingRoom, opening: true, budgets: few},
		"retire-into": {act: makingRoom, opening: true, budgets: heavy, prepare: stripOldest},
		"compact": {act: func(ctx context.Context, s *store.Set) error {
			_, err := s.Compact(ctx)
			return err
		}},
		"backup": {act: func(ctx context.Context, s *store.Set) error {
			_, err := s.Backup(ctx, "")
			return err
		}},
		"migrate":     {act: settled, opening: true, prepare: alone(outdate)},
		"migrate-old": {act: settled, opening: true, prepare: outdateOldest},
		"open":        {act: makingRoom, opening: true},
	}
}

func settled(ctx context.Context, s *store.Set) error {
	_, err := s.Settle(ctx, false)
	return err
}

func makingRoom(ctx context.Context, s *store.Set) error {
	_, err := s.MakeRoom(ctx)
	return err
}

// changing is a write that changes the row of number n; one that is no more
// stays as it is.
func changing(n int, change func(*store.Tx, *memd.Memory) error) func(context.Context, *store.Set) error {
	return func(ctx context.Context, s *store.Set) error {
		return s.Update(ctx, func(tx *store.Tx) error {
			m, ok, err := tx.Get(row(memd.Short, n, "").ID)
			if !ok || err != nil {
				return err
			}
			if err := change(tx, &m); err != nil {
				return err
			}
			return tx.Audit(store.Entry{At: m.UpdatedAt, Caller: "test", Action: "change", ID: m.ID, Namespace: m.Namespace})
		})
	}
}

func patched(tx *store.Tx, m *memd.Memory) error {
	m.Importance, m.Tags = 9, []string{"patched"}
	return tx.UpdateMeta(m)
}

func archived(tx *store.Tx, m *memd.Memory) error {
	from := m.Tier
	m.Tier = memd.Archive
	return tx.Move(m, from)
}

// forgetting forgets all versions of a key.
func forgetting(tx *store.Tx, m *memd.Memory) error {
	versions, err := tx.Versions(m.Namespace, m.MemoryKey)
	if err != nil {
		return err
	}
	for i := range versions {
		if err := tx.Bury(&versions[i], m.UpdatedAt); err != nil {
			return err
		}
	}
	return tx.DropHead(m.Namespace, m.MemoryKey)
}

func promoted(tx *store.Tx, m *memd.Memory) error {
	from := m.Tier
	m.Tier = memd.Short
	return tx.Move(m, from)
}

// succeeded writes the second version of a key.
func succeeded(tx *store.Tx, m *memd.Memory) error {
	next := row(memd.Long, 60, "common second version of row 2")
	next.MemoryKey, next.Version = m.MemoryKey, 2
	if _, ok, err := tx.Get(next.ID); ok || err != nil {
		return err
	}
	if err := tx.Insert(&next); err != nil {
		return err
	}
	return tx.SetHead(next.Namespace, next.MemoryKey, store.Head{Version: 2, ID: next.ID})
}

// aged is a closed store of three historical databases and an active one.
// In the oldest stands something of all that a retirement owes: heads, more
// than one step moves, an archived row with a key, a tombstone. The key of row
// 8 has a version in each of three files.
func aged(t testing.TB, dir string) {
	t.Helper()
	s, err := open(dir)
	must(t, err)
	one := func(tier memd.Tier, n int) memd.Memory { return row(tier, n, fmt.Sprint("common row ", n)) }
	versioned := func(n, version int) memd.Memory {
		m := one(memd.Long, n)
		m.MemoryKey, m.Version = "key-8", version
		return m
	}
	bulky := one(memd.Long, 7)
	bulky.RawContent = strings.Repeat("raw ", 80<<10)
	pitfall := one(memd.Long, 6)
	pitfall.Kind = memd.Pitfall
	keyed := one(memd.Archive, 5)
	keyed.MemoryKey, keyed.Version = "key-5", 1
	lost := one(memd.Short, 9)
	put(t, s, one(memd.Short, 1), one(memd.Long, 2), one(memd.Archive, 4), keyed, pitfall, bulky, versioned(8, 1), lost)
	write(t, s, func(tx *store.Tx) error {
		for _, n := range []int{2, 4} {
			if err := tx.Exec(`INSERT INTO embedding (memory_id, model, dim, vec, bits) VALUES (?, 'm', 1, x'7f', x'01')`, row(memd.Short, n, "").ID); err != nil {
				return err
			}
		}
		if err := tx.SetHead(keyed.Namespace, keyed.MemoryKey, store.Head{Version: 1}); err != nil {
			return err
		}
		return tx.Bury(&lost, s.Now())
	})
	roll(t, s)
	put(t, s, one(memd.Short, 11), one(memd.Long, 12), versioned(13, 2))
	roll(t, s)
	put(t, s, one(memd.Archive, 21), one(memd.Long, 22))
	roll(t, s)
	put(t, s, one(memd.Short, 31), one(memd.Long, 32), one(memd.Archive, 33), one(memd.Transient, 34), versioned(35, 3))
	must(t, s.Close())
}

// alone prepares a store without historical databases, whose file edit changes.
func alone(edit func(t *testing.T, path string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		must(t, os.RemoveAll(filepath.Join(dir, store.HistoryDir)))
		path := filepath.Join(dir, store.ActiveName)
		shellOn(t, path, `DELETE FROM history; DELETE FROM head WHERE file IS NOT NULL`)
		edit(t, path)
	}
}

// outdate takes a database back to schema 1.
func outdate(t *testing.T, path string) {
	first, err := os.ReadFile(filepath.Join("..", "migrations", "00001_init.sql"))
	must(t, err)
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	shellOn(t, fresh, string(first))
	old := shellOn(t, fresh, `SELECT sql || ';' FROM sqlite_schema WHERE name IN ('history', 'budget') ORDER BY name DESC`)
	unmoved := shellOn(t, path, `SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '*_moved_*'`)
	shellOn(t, path, `BEGIN; ALTER TABLE audit DROP COLUMN code; ALTER TABLE audit DROP COLUMN field; ALTER TABLE audit DROP COLUMN count; ALTER TABLE head DROP COLUMN source_hash; DROP TABLE imported; DROP VIEW budget; DROP TABLE history; DROP TABLE gone; DROP INDEX head_file; DROP INDEX short_session; DROP INDEX archive_session; DROP INDEX outbox_queued; DROP TABLE moved; `+unmoved+old+`
DELETE FROM goose_db_version WHERE version_id > 1; COMMIT;`)
}

func outdateOldest(t *testing.T, dir string) { outdate(t, historyFiles(t, dir)[0]) }

// stripOldest leaves in the oldest database what is owed alone, so much that it
// stays.
func stripOldest(t *testing.T, dir string) {
	shellOn(t, historyFiles(t, dir)[0], `DELETE FROM short; DELETE FROM archive WHERE memory_key IS NULL; DELETE FROM long WHERE memory_key = 'key-8'`)
}

// historyFiles are the paths of the historical databases, oldest first.
func historyFiles(t testing.TB, dir string) (paths []string) {
	paths, err := filepath.Glob(filepath.Join(dir, store.HistoryDir, "*.db"))
	must(t, err)
	slices.SortFunc(paths, func(a, b string) int { // the first within a second has no number
		return strings.Compare(strings.TrimSuffix(a, ".db"), strings.TrimSuffix(b, ".db"))
	})
	return paths
}

// truth is what a closed store holds, read with the shell file by file: every
// row as often as it stands, every head, every tombstone.
func truth(t testing.TB, dir string) string {
	t.Helper()
	var all []string
	graves := map[string]bool{}
	for _, path := range append([]string{filepath.Join(dir, store.ActiveName)}, historyFiles(t, dir)...) {
		var query strings.Builder
		for _, tier := range memd.AllTiers() {
			fmt.Fprintf(&query, `SELECT '%[1]s', id, memory_key, version, importance, tags, summary, length(raw_content),
 EXISTS (SELECT 1 FROM embedding WHERE memory_id = id) FROM %[1]s;`, tier)
		}
		query.WriteString(`SELECT 'head', namespace, memory_key, version, id FROM head; SELECT 'grave', id, content_hash FROM tombstone;`)
		if filepath.Base(path) == store.ActiveName && shellOn(t, path, `SELECT 1 FROM sqlite_schema WHERE name = 'gone'`) != "" { // not of schema 1
			query.WriteString(`SELECT 'gone', * FROM gone;`)
		}
		for line := range strings.Lines(shellOn(t, path, query.String())) {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, "grave"):
				graves[line] = true
			case strings.HasPrefix(line, "head") && filepath.Base(path) != store.ActiveName:
			default:
				all = append(all, line)
			}
		}
	}
	for grave := range graves {
		all = append(all, grave)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// intact opens the store in dir, as it was left, closes it again and fails
// unless it is whole and serves what it holds, which it returns.
func intact(t testing.TB, dir string, budgets func(*configs.Budgets)) string {
	t.Helper()
	b := configs.DefaultBudgets()
	if budgets != nil {
		budgets(&b)
	}
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: b, Now: memtest.NewClock().Now})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	must(t, makingRoom(ctx, s))
	healthy(t, s)
	live := served(t, s)
	must(t, s.Close())
	held := truth(t, dir)
	if want := liveIn(held); live != want {
		t.Errorf("the store serves\n%s\nand holds\n%s", live, want)
	}
	return held
}

// served is what a search finds of the rows of aged, and what stands under
// their ids, in one reading.
func served(t testing.TB, s *store.Set) string {
	t.Helper()
	var all []string
	view(t, s, func(v *store.View) error {
		for _, tier := range []memd.Tier{memd.Short, memd.Long, memd.Archive} {
			var locs []store.Loc
			if err := v.Postings(tier, nil, match("common"), func(l store.Loc) { locs = append(locs, l) }); err != nil {
				return err
			}
			rows, err := v.Load(tier, locs, scope(), store.Filter{})
			if err != nil {
				return err
			}
			for _, m := range rows {
				if got, ok, err := v.Get(m.ID); !ok || err != nil || got.Tier != tier {
					t.Errorf("%s was found in %s, and stands in %q: %v", m.ID, tier, got.Tier, err)
				}
				all = append(all, fmt.Sprint(tier, "|", m.ID))
			}
		}
		return nil
	})
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// liveIn is what a search must find of what truth has: no superseded version.
// A head must name a row.
func liveIn(held string) string {
	var all []string
	heads := map[string][]string{} // key to version and id
	for line := range strings.Lines(held) {
		if f := strings.Split(strings.TrimSpace(line), "|"); f[0] == "head" {
			heads[f[2]] = f[3:]
		}
	}
	for line := range strings.Lines(held) {
		f := strings.Split(strings.TrimSpace(line), "|")
		switch h := heads[at(f, 2)]; f[0] {
		case "head":
			if at(f, 4) != "" && !strings.Contains(held, "long|"+f[4]+"|"+f[2]+"|"+f[3]+"|") {
				all = append(all, "no row for the head of "+f[2])
			}
		case "short":
			all = append(all, f[0]+"|"+f[1])
		case "long":
			if h != nil && h[1] == f[1] {
				all = append(all, f[0]+"|"+f[1])
			}
		case "archive":
			if f[2] == "" || h == nil || h[0] <= f[3] {
				all = append(all, f[0]+"|"+f[1])
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func at(fields []string, i int) string {
	if i < len(fields) {
		return fields[i]
	}
	return ""
}

// onlyParts fails if a file lies in dir that is no part of the closed store.
func onlyParts(t testing.TB, dir string) {
	t.Helper()
	want := strings.Fields(shellOn(t, filepath.Join(dir, store.ActiveName), `SELECT file FROM history WHERE state IN ('sealed', 'retiring') ORDER BY file`))
	var got []string
	if exists(filepath.Join(dir, store.HistoryDir)) {
		got = names(t, filepath.Join(dir, store.HistoryDir))
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("history holds %q, the catalogue names %q", got, want)
	}
	for _, name := range names(t, dir) {
		if name != store.ActiveName && name != store.HistoryDir && name != store.BackupDir {
			t.Errorf("%s is left", name)
		}
	}
}

// doPlot is the child of a plot: it opens the store in dir and acts, listening
// to the steps that are part of it.
func doPlot(dir, name string, listen func(string)) error {
	p, s, armed, err := openPlot(dir, name, listen)
	if err != nil {
		return err
	}
	listen("plot/begin")
	if err := p.act(store.WithSteps(ctx, listen), s); err != nil {
		return err
	}
	armed.Store(false)
	return s.Close()
}

// openPlot opens the store of a plot. What goes on beside is listened to while
// armed.
func openPlot(dir, name string, listen func(string)) (p plot, s *store.Set, armed *atomic.Bool, err error) {
	p, ok := plots()[name]
	if !ok {
		return p, nil, nil, errors.New("there is no plot " + name)
	}
	armed = &atomic.Bool{}
	armed.Store(p.opening)
	b := configs.DefaultBudgets()
	if p.budgets != nil {
		p.budgets(&b)
	}
	doing := store.WithSteps(ctx, func(step string) {
		if armed.Load() {
			listen(step)
		}
	})
	s, err = store.Open(doing, store.Options{Dir: dir, Budgets: b, Now: memtest.NewClock().Now})
	armed.Store(true)
	return p, s, armed, err
}
