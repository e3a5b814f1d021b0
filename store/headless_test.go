package store_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
)

// headless is a store with keys in a historical database whose current versions
// are gone or archived, and what is left of them.
type headless struct {
	dir                string
	last, older, below []memd.Memory // newest versions left, older ones, and those below an archived one
}

func newHeadless(t *testing.T) *headless {
	h := &headless{dir: t.TempDir()}
	s := under(t, h.dir, nil)
	id := 0
	next := func() (int, string) { id++; return id, textOf(id, 6000) }
	first := func() memd.Memory {
		n, text := next()
		m := row(memd.Long, n, text)
		put(t, s, m)
		return m
	}
	after := func(m memd.Memory) memd.Memory {
		n, text := next()
		return supersede(t, s, m, m.Version+1, n, text)
	}
	inHistory, beside := first(), []memd.Memory{}
	third := after(inHistory)
	for range 6 {
		one := first()
		h.older = append(h.older, one)
		h.last = append(h.last, after(one))
		two := first()
		h.below = append(h.below, two)
		beside = append(beside, after(two))
	}
	h.last = append(h.last, inHistory)
	roll(t, s)
	for i, m := range h.last[:6] {
		gone := after(m)
		shell(t, h.dir, `DELETE FROM long WHERE id = '`+gone.ID+`'`)
		cold := beside[i]
		write(t, s, func(tx *store.Tx) error {
			m, _, err := tx.Get(cold.ID)
			if err != nil {
				return err
			}
			m.Tier = memd.Archive
			return tx.Move(&m, memd.Long)
		})
	}
	for _, name := range names(t, filepath.Join(h.dir, store.HistoryDir)) {
		shellOn(t, filepath.Join(h.dir, store.HistoryDir, name), `DELETE FROM long WHERE id = '`+third.ID+`'`)
	}
	must(t, s.Close())
	return h
}

func (h *headless) left(t *testing.T, s *store.Set) string {
	return fmt.Sprint(kept(t, s, h.last), " ", kept(t, s, h.older), " ", kept(t, s, h.below))
}

// Where the current version of a key was deleted by hand, the newest that is
// left is the last word of the key: no pressure takes it.
func TestPressureSparesHeadless(t *testing.T) {
	h := newHeadless(t)
	s := under(t, h.dir, func(b *configs.Budgets) { b.StoreBytes = historyBytes(t, h.dir) / 3 })
	_, err := s.Trim(ctx)
	must(t, err)
	if got := h.left(t, s); got != "7 0 0" {
		t.Errorf("of newest versions, older ones and those below an archived one %s are left, want 7 0 0", got)
	}
}

// Nor does a retirement.
func TestRetirementTakesHeadlessAlong(t *testing.T) {
	h := newHeadless(t)
	s := under(t, h.dir, func(b *configs.Budgets) { b.HistoryFiles = 1 })
	for n := range 3 {
		put(t, s, row(memd.Short, 1000+n, fmt.Sprint("filler ", n)))
		roll(t, s)
	}
	if got := h.left(t, s); got != "7 0 0" {
		t.Errorf("of newest versions, older ones and those below an archived one %s are left, want 7 0 0", got)
	}
	healthy(t, s)
}
