package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// asItIs opens the store in dir for reading, under budgets that edit changes.
func asItIs(t testing.TB, dir string, edit func(*configs.Budgets)) *store.Set {
	t.Helper()
	budgets := configs.DefaultBudgets()
	if edit != nil {
		edit(&budgets)
	}
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: budgets, Now: memtest.NewClock().Now, AsItIs: true})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	await(t, "the first turn beside requests", s.Begun)
	return s
}

// narrow are budgets of which everything has too much.
func narrow(b *configs.Budgets) {
	b.ActiveBytes, b.StoreBytes, b.HistoryFiles, b.EmbeddingRows, b.EmbeddingBytes = 1, 1, 1, 1, 1
}

// Opened for reading, a store keeps what lowered budgets have no room for, and
// names those that were in force, until it is opened otherwise.
func TestOpenAsItIs(t *testing.T) {
	dir := t.TempDir()
	s := under(t, dir, nil)
	var rows []memd.Memory
	for n := range 4 {
		m := row(memd.Short, n, textOf(n, 2000))
		rows = append(rows, m)
		put(t, s, m)
		embed(t, s, m.ID, 8)
		roll(t, s)
	}
	last := row(memd.Short, 9, textOf(9, 400_000))
	rows = append(rows, last)
	put(t, s, last)
	embed(t, s, last.ID, 8)
	must(t, s.Close())
	state := func() string {
		t.Helper()
		return listing(t, filepath.Join(dir, store.HistoryDir)) + shell(t, dir, `SELECT key, value FROM meta WHERE key LIKE 'budgets.%' ORDER BY key; SELECT * FROM history`)
	}
	before := state()

	s = asItIs(t, dir, narrow)
	st, err := s.Stats(ctx)
	must(t, err)
	for _, b := range st.Budgets {
		if b.Budget == "history_files" && b.Limit != "1" {
			t.Errorf("stats say %+v: not the limit of the configuration", b)
		}
	}
	put(t, s, row(memd.Short, 10, "a write of such a store")) // which may not roll over
	if got := kept(t, s, rows); got != len(rows) || vectors(t, s, memd.Short) != len(rows) {
		t.Errorf("of %d rows %d are left, and %d vectors", len(rows), got, vectors(t, s, memd.Short))
	}
	if after := state(); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	if sur, err := s.Surplus(ctx); err != nil || sur.Files != 3 {
		t.Errorf("surplus %+v, %v", sur, err)
	}
	must(t, s.Close())
	if after := state(); after != before {
		t.Errorf("once closed it was\n%s\nand is\n%s", before, after)
	}

	s = asItIs(t, dir, func(b *configs.Budgets) { b.HistoryFiles = 3 })
	makeRoom(t, s)
	left := func() string { return shell(t, dir, `SELECT count(*) FROM history`) }
	inForce := func(want string) {
		t.Helper()
		if got := shell(t, dir, `SELECT value FROM meta WHERE key = 'budgets.history_files'`); got != want {
			t.Errorf("meta says %s, want %s", got, want)
		}
	}
	inForce("3")
	if got := left(); got != "3" {
		t.Errorf("room was made, and %s files are left", got)
	}
	must(t, s.Close())
	under(t, dir, func(b *configs.Budgets) { b.HistoryFiles = 1 }) // which rolls nothing over while the shell looks
	await(t, "room", func() bool { return left() == "1" })
	inForce("1")
}

// What a start carries through is carried through for reading too, and a store
// that is made has its budgets in meta.
func TestOpenAsItIsGoesOn(t *testing.T) {
	dir := t.TempDir()
	s := asItIs(t, dir, nil)
	if got := shell(t, dir, `SELECT count(*) > 5 FROM meta WHERE key LIKE 'budgets.%'`); got != "1" {
		t.Error("a new store names no budgets")
	}
	keyed := row(memd.Long, 1, "what is owed")
	put(t, s, keyed)
	first := roll(t, s)
	put(t, s, row(memd.Short, 2, "what stays"))
	second := roll(t, s)
	must(t, s.Close())
	shell(t, dir, `UPDATE history SET state = 'retiring' WHERE file = '`+filepath.Base(first.File)+`'`)
	s = asItIs(t, dir, narrow)
	if _, err := os.Stat(filepath.Join(dir, first.File)); !os.IsNotExist(err) {
		t.Errorf("the retirement that was cut short is not over: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, second.File)); err != nil {
		t.Error(err)
	}
	if kept(t, s, []memd.Memory{keyed}) != 1 {
		t.Error("what was owed is gone")
	}
	healthy(t, s)
}
