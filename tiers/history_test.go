package tiers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/configs"
)

// Notes move on with the active database; a historical one holds none.
func TestNotesLiveInTheActiveDatabaseAlone(t *testing.T) {
	h := newHouse(t, nil)
	h.must(second(h.Note(ctx, ann, "s", memd.Note{Summary: "a note"})))
	h.remember("a row")
	h.roll()
	if got := h.everywhere(`SELECT (SELECT count(*) FROM transient) || ' notes, ' || (SELECT count(*) FROM session) || ' sessions'`); !slices.Equal(got,
		[]string{"0 notes, 0 sessions", "1 notes, 1 sessions"}) {
		t.Errorf("the databases hold %q", got)
	}
}

// A tombstone outlives rollovers and the retirement of its file.
func TestTombstonesOutliveTheirFile(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.HistoryFiles = 1 })
	old := h.remember("forgotten before")
	h.must(h.Forget(ctx, ann, old.ID))
	head := h.keep("k", "forgotten after")
	retired := 0
	for n := range 4 {
		h.remember(fmt.Sprint("row ", n))
		retired += len(h.roll().Retired)
		if n == 1 {
			h.must(h.Forget(ctx, ann, head.ID))
		}
	}
	if retired < 2 {
		t.Fatalf("%d files were retired: the test shows nothing", retired)
	}
	for _, id := range []string{old.ID, head.ID} {
		graves := h.everywhere(`SELECT count(*) FROM tombstone WHERE id = '` + id + `'`)
		if !slices.Contains(graves, "1") {
			t.Errorf("no database has the tombstone of %s", id)
		}
		for _, left := range h.everywhere(`SELECT count(*) FROM memory WHERE id = '` + id + `'`) {
			if left != "0" {
				t.Errorf("%s still stands in a database", id)
			}
		}
	}
}

// A row deleted by hand in a historical database is gone at once, no older
// version revives, and the next write goes on counting.
func TestHandDeleteInHistory(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.LongRows = 2 })
	h.keep("k", "version 1")
	short := h.remember("a short row")
	first := h.roll()
	head := h.keep("k", "version 2")
	h.keep("l", "another key")
	r := h.roll()
	h.shellOn(r.File, `DELETE FROM long WHERE id = '`+head.ID+`'`)
	gone := func(step string) {
		t.Helper()
		h.gone(head.ID)
		if _, err := h.Head(ctx, admin, "", "k"); memd.CodeOf(err) != memd.CodeNotFound {
			t.Errorf("%s: the head is read: %v", step, err)
		}
		if got := h.list(admin, memd.List{Tier: memd.Long, MemoryKey: "k"}); len(got) > 0 {
			t.Errorf("%s: the list shows %q", step, got)
		}
		manifest := must(h.Manifest(ctx, admin, "", nil))
		if text := strings.Join(manifest, "\n"); strings.Contains(text, "version") {
			t.Errorf("%s: the manifest says %s", step, text)
		}
		versions := must(h.Versions(ctx, admin, "", "k"))
		if len(versions) != 1 || versions[0].Version != 1 {
			t.Errorf("%s: versions %+v", step, versions)
		}
	}
	gone("at once")
	must(h.store.Settle(ctx, true))
	gone("settled")
	if st := must(h.store.Stats(ctx)); st.Heads != 1 {
		t.Errorf("%d heads, want 1", st.Heads)
	}
	h.keep("m", "takes the place") // in the budget
	_, err := h.RememberLongTerm(ctx, ann, longRequest("k", "version 3"))
	refused(t, err, memd.CodeBudgetExceeded, "")
	h.must(h.ForgetKey(ctx, ann, "", "m"))
	if w := h.keep("k", "version 3"); w.Version != 3 || !w.Created {
		t.Errorf("the next version is %+v", w)
	}
	h.shellOn(first.File, `DELETE FROM short WHERE id = '`+short.ID+`'`)
	h.gone(short.ID)
	must(h.store.Settle(ctx, true))
	if got := h.rows(); got != "3 0 0 0" {
		t.Errorf("rows %s", got)
	}
}
