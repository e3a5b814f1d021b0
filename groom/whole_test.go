package groom_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/groom"
	"memd/store"
	"memd/tiers"
)

// looked is a context that tells of every look at it.
type looked struct {
	context.Context
	look func()
}

func (l *looked) Done() <-chan struct{} {
	l.look()
	return l.Context.Done()
}

func (l *looked) Err() error {
	l.look()
	return l.Context.Err()
}

// cutAfter is a context that ends at the nth look at it.
func cutAfter(n int) (_ context.Context, cancel func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var left atomic.Int64
	left.Store(int64(n))
	return &looked{ctx, func() {
		if left.Add(-1) < 0 {
			cancel()
		}
	}}, cancel
}

// Whatever moment a groom is cut off at, the next one makes it good: what was
// forgotten before is then in no file.
func TestGroomCutOffIsMadeGood(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	for i := range 30 {
		h.remember(memd.Remember{Summary: fmt.Sprintf("filler row %d about things", i)})
	}
	cut, whole := 0, false
	for n := 0; !whole; n++ {
		if n > 3000 {
			t.Fatal("a groom is never whole")
		}
		word := fmt.Sprintf("quokkazanzibar%dx", n)
		m := h.remember(memd.Remember{Summary: "the word " + word + " is secret"})
		h.groom(light)
		if err := h.tiers.Forget(ctx, root, m.ID); err != nil {
			t.Fatal(err)
		}
		short, cancel := cutAfter(n)
		_, err := h.runner.Run(short, light)
		cancel()
		if whole = err == nil; !whole {
			cut++
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cut off after %d looks: %v", n, err)
			}
			h.groom(light)
		}
		for part, file := range h.files([]string{word, word[4:]}) { // an index shares first characters
			t.Errorf("cut off after %d looks: %s is still in %s", n, part, file)
		}
	}
	if cut < 10 {
		t.Errorf("only %d grooms were cut off: the test shows nothing", cut)
	}
}

// A merge of the index that failed is owed: the next groom makes it up,
// though nothing was written since.
func TestFailedMergeIsMadeGood(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	for i := range 30 {
		h.remember(memd.Remember{Summary: fmt.Sprintf("filler row %d about things", i)})
	}
	h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: "a long row", Source: "AGENTS.md"})
	words := []string{"quokkazanzibar99", "kazanzibar99"} // an index shares first characters
	m := h.remember(memd.Remember{Summary: "the word " + words[0] + " is secret"})
	h.groom(light)
	if err := h.tiers.Forget(ctx, root, m.ID); err != nil {
		t.Fatal(err)
	}
	h.shell(`CREATE TABLE aside AS SELECT * FROM long_fts_data WHERE id = 10;
UPDATE long_fts_data SET block = x'00000001FFFFFFFFFFFFFFFFFF' WHERE id = 10`)
	report, err := h.runner.Run(ctx, light)
	if err != nil {
		t.Fatal(err)
	}
	if p := h.pass(report, "vacuum"); p.Error != string(memd.CodeStoreFailed) {
		t.Fatalf("the merge did not fail: %+v", p)
	}
	if len(h.files(words)) == 0 {
		t.Fatal("the word is gone already: the test shows nothing")
	}
	h.shell(`UPDATE long_fts_data SET block = (SELECT block FROM aside) WHERE id = 10; DROP TABLE aside`)
	h.groom(light)
	for part, file := range h.files(words) {
		t.Errorf("%s is still in %s", part, file)
	}
}

// The only copy of a key's memory outlives its time in the archive too.
func TestArchivedKeyOutlivesItsTime(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	trap := h.rememberLong(memd.RememberLongTerm{MemoryKey: "trap", Summary: "a trap", Source: "AGENTS.md", Kind: memd.Pitfall})
	loose := h.remember(memd.Remember{Summary: "without a key"})
	soon := memd.Some(memd.At(h.clock.Now().Add(time.Hour)))
	for id, patch := range map[string]memd.Patch{
		trap.ID:  {ResolvedAt: memd.Some(h.store.Now()), ExpiresAt: soon},
		loose.ID: {ExpiresAt: soon},
	} {
		if _, err := h.tiers.Patch(ctx, root, id, patch); err != nil {
			t.Fatal(err)
		}
		if _, err := h.tiers.Archive(ctx, root, id); err != nil {
			t.Fatal(err)
		}
	}
	h.clock.Advance(2 * time.Hour)
	for _, opts := range []groom.Options{{DryRun: true}, light, {}, {Force: true}} {
		want := 0
		if _, there := h.row(loose.ID); there {
			want = 1
		}
		if p := h.pass(h.groom(opts), "expire_transient"); p.Planned != want || p.Changed != want {
			t.Errorf("%+v: planned %d, changed %d, want %d", opts, p.Planned, p.Changed, want)
		}
	}
	if m, ok := h.row(trap.ID); !ok || m.Tier != memd.Archive || m.Version != 1 {
		t.Errorf("the row with a key is there: %v, %+v", ok, m)
	}
	if _, ok := h.row(loose.ID); ok {
		t.Error("the row without a key is still there")
	}
	if next := h.rememberLong(memd.RememberLongTerm{MemoryKey: "trap", Summary: "another trap", Source: "AGENTS.md"}); next.Version != 2 {
		t.Errorf("the next version is %d, want 2", next.Version)
	}
}

// A session is kept as long as a note of it lives, and a day longer than it
// was opened; then it goes, and its name is free.
func TestEmptySessionsGo(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	note := func(session, ttl string) {
		t.Helper()
		if _, err := h.tiers.Note(ctx, root, session, memd.Note{Summary: "a note", TTL: ttl}); err != nil {
			t.Fatal(err)
		}
	}
	sessions := func(want string) {
		t.Helper()
		if got := h.shell(`SELECT group_concat(session_id, ' ') FROM (SELECT session_id FROM session ORDER BY session_id)`); got != "'"+want+"'\n" {
			t.Errorf("there are the sessions %s, want %s", got, want)
		}
	}
	note("brief", "1m")
	note("lasting", "100h")
	note("usual", "")
	h.clock.Advance(time.Hour)
	note("young", "1m")
	h.groom(light)
	sessions("brief lasting usual young") // brief is empty, but of today
	h.clock.Advance(23*time.Hour + time.Millisecond)
	h.groom(groom.Options{DryRun: true})
	sessions("brief lasting usual young")
	h.groom(light)
	sessions("lasting young") // the note of usual went in this run
	h.clock.Advance(time.Hour)
	h.groom(light)
	sessions("lasting")
	if notes, err := h.tiers.Notes(ctx, root, "lasting"); err != nil || len(notes) != 1 {
		t.Errorf("its session holds %d notes, %v", len(notes), err)
	}
	other := memd.Caller{Name: "other", Role: memd.RoleWrite}
	if _, err := h.tiers.Note(ctx, other, "brief", memd.Note{Summary: "another's"}); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
}

// Many rows edited by hand are indexed anew in several writes, so that others
// need not wait for all of them.
func TestMassEditIsIndexedInParts(t *testing.T) {
	h := newHouse(t)
	const rows = 1200
	err := h.store.Update(context.Background(), func(tx *store.Tx) error {
		for n := range rows {
			m := memd.Memory{
				ID: fmt.Sprintf("01900000-0000-7000-8000-%012d", n), Tier: memd.Short, Namespace: memd.DefaultNamespace,
				Kind: memd.Event, Summary: fmt.Sprint("row ", n), Importance: 5, SourceStatus: memd.SourceNone,
				CreatedAt: h.store.Now(), UpdatedAt: h.store.Now(), WrittenAt: h.store.Now(),
			}
			m.ContentHash = tiers.ContentHash(&m)
			if err := tx.Insert(&m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h.shell(`UPDATE short SET summary = summary || ' 手改'`)
	waiting := func() (n int) {
		err := h.store.View(context.Background(), func(v *store.View) error {
			ids, err := v.Edited(2 * rows)
			n = len(ids)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if n := waiting(); n != rows {
		t.Fatalf("%d rows wait to be indexed anew, want %d", n, rows)
	}
	dry := h.pass(h.groom(groom.Options{DryRun: true}), "vacuum")
	seen := map[int]bool{}
	report, err := h.runner.Run(&looked{context.Background(), func() { seen[waiting()] = true }}, light)
	if err != nil {
		t.Fatal(err)
	}
	if p := h.pass(report, "vacuum"); p.Changed != rows || p.Planned != rows || p.Error != "" || dry.Changed != rows {
		t.Errorf("changed %+v, the dry run %+v", p, dry)
	}
	between := 0
	for n := range seen {
		if n > 0 && n < rows {
			between++
		}
	}
	if between < 2 || waiting() != 0 {
		t.Errorf("the rows left to index were %v: not done in several writes", seen)
	}
	for _, n := range []int{0, 499, 500, 1199} {
		id := fmt.Sprintf("01900000-0000-7000-8000-%012d", n)
		if m, _ := h.row(id); m.ContentHash != tiers.ContentHash(&m) || !h.found(memd.Short, "手改", id) {
			t.Errorf("row %d was not indexed anew", n)
		}
	}
}
