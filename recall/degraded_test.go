package recall_test

import (
	"context"
	"slices"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// A keyword index that is gone is told, not passed off as "nothing found", and
// the session's notes still answer. The store is damaged on purpose, so it is
// opened without memtest's check.
func TestFailedLegIsNamed(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := &house{t: t, dir: dir, store: s, tiers: tiers.New(s), engine: recall.New(s, nil)}
	h.put(short("kumquat"), short("damson"))
	note, err := h.tiers.Note(ctx, root, "s1", memd.Note{Summary: "kumquat note"})
	if err != nil {
		t.Fatal(err)
	}
	// The vocabulary still counts, the search fails: its content is gone.
	h.shell(`DROP VIEW short_text; CREATE VIEW short_text AS SELECT 1 AS rid; DELETE FROM short_fts_data WHERE id > 10`)

	answer := h.recall(memd.Query{Query: "kumquat", SessionID: "s1"})
	wantIDs(t, answer.Results, note.ID)
	if !slices.Equal(answer.Degraded, []string{"keyword"}) || answer.EmptyReason != "" {
		t.Errorf("degraded %v, reason %q", answer.Degraded, answer.EmptyReason)
	}
	answer = h.recall(memd.Query{Query: "kumquat"})
	if len(answer.Results) != 0 || !slices.Equal(answer.Degraded, []string{"keyword"}) || answer.EmptyReason != memd.EmptyLegFailed {
		t.Errorf("%d results, degraded %v, reason %q", len(answer.Results), answer.Degraded, answer.EmptyReason)
	}
	if _, err := h.engine.Context(ctx, root, memd.ContextRequest{Query: "kumquat"}); memd.CodeOf(err) != memd.CodeStoreFailed {
		t.Errorf("context: error %v, want store_failed", err)
	}
}
