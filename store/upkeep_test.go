package store_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// A retirement that fails is tried again with the next rollover and by groom,
// not with every write that asks for what a file holds: each try keeps others
// waiting.
func TestFailedRetirementIsNotTriedByWrites(t *testing.T) {
	dir := t.TempDir()
	s := under(t, dir, nil)
	for n := range 4 {
		put(t, s, row(memd.Long, n, fmt.Sprint("head ", n)))
		roll(t, s)
	}
	must(t, s.Close())
	shell := leaveOpen(t, dir, filepath.Join(store.HistoryDir, filepath.Base(historyFiles(t, dir)[0])))
	shell.ask(`BEGIN EXCLUSIVE; SELECT 1;`)
	var tries atomic.Int64
	listening := store.WithSteps(ctx, func(step string) {
		if step == "retire/begin" {
			tries.Add(1)
		}
	})
	s, err := store.Open(listening, store.Options{Dir: dir, Now: memtest.NewClock().Now,
		Budgets: budgets(func(b *configs.Budgets) { b.HistoryFiles = 3 })})
	must(t, err)
	await(t, "first turn", s.Begun)
	for n := range 10 {
		write(t, s, func(tx *store.Tx) error {
			_, err := tx.HasContent(memd.DefaultNamespace, fmt.Sprintf("sha256:%064d", n))
			return err
		})
		_, err := s.Trim(ctx) // waits for what makes room meanwhile
		must(t, err)
	}
	must(t, s.Close())
	if n := tries.Load(); n != 1 {
		t.Errorf("the retirement was tried %d times", n)
	}
	shell.leave()
	s = under(t, dir, func(b *configs.Budgets) { b.HistoryFiles = 3 })
	makeRoom(t, s)
	if n := len(historyFiles(t, dir)); n != 3 {
		t.Errorf("%d historical databases, want 3", n)
	}
}
