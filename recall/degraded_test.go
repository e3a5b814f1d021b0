package recall_test

import (
	"context"
	"os"
	"path/filepath"
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
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now, NoIndex: true})
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

// A historical database that is not there is named with its rows, by recall and
// by context; the rest answers, and "nothing found" is not claimed of it.
func TestUnreadableDatabaseIsNamed(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	open := func() *house {
		s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return &house{t: t, dir: dir, store: s, tiers: tiers.New(s), engine: recall.New(s, nil)}
	}
	h := open()
	h.put(short("kumquat of old"), short("damson of old"))
	rolled, err := h.store.Rollover(ctx)
	if err != nil {
		t.Fatal(err)
	}
	h.put(short("kumquat of today"))
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, rolled.File)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	want := []string{rolled.File + ": 2 rows unavailable"}

	h = open()
	answer := h.recall(memd.Query{Query: "kumquat"})
	if len(answer.Results) != 1 || answer.Results[0].Summary != "kumquat of today" || !slices.Equal(answer.Degraded, want) {
		t.Errorf("%d results, degraded %q", len(answer.Results), answer.Degraded)
	}
	answer = h.recall(memd.Query{Query: "damson"})
	if len(answer.Results) != 0 || !slices.Equal(answer.Degraded, want) || answer.EmptyReason != memd.EmptyLegFailed {
		t.Errorf("%d results, degraded %q, reason %q", len(answer.Results), answer.Degraded, answer.EmptyReason)
	}
	for _, query := range []string{"kumquat", ""} {
		got, err := h.engine.Context(ctx, root, memd.ContextRequest{Query: query})
		if err != nil || len(got.Included) != 1 || !slices.Equal(got.Degraded, want) {
			t.Errorf("context of %q: %d rows, degraded %q, %v", query, len(got.Included), got.Degraded, err)
		}
	}
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}

	h = open()
	answer = h.recall(memd.Query{Query: "kumquat"})
	if len(answer.Results) != 2 || len(answer.Degraded) != 0 {
		t.Errorf("put back: %d results, degraded %q", len(answer.Results), answer.Degraded)
	}
	if got, err := h.engine.Context(ctx, root, memd.ContextRequest{}); err != nil || len(got.Degraded) != 0 {
		t.Errorf("put back: degraded %q, %v", got.Degraded, err)
	}
}
