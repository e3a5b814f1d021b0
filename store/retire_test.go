package store_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// A head outlives any number of rollovers and retirements as it was, and so
// does a tombstone; of its versions only those go that were in a retired file.
func TestHeadSurvivesRetirements(t *testing.T) {
	dir := t.TempDir()
	s := under(t, dir, func(b *configs.Budgets) { b.HistoryFiles = 2 })
	old := row(memd.Long, 1, "the head's own words 头的话")
	old.Tags, old.AccessCount, old.Stale, old.StaleReason = []string{"a", "b"}, 7, true, memd.StaleAge
	old.Why, old.HowToApply, old.RawContent, old.Owner = "for this", "like that", "raw", "ops"
	old.VerifiedAt, old.VerifiedBy = memd.At(old.CreatedAt.Add(-time.Hour)), "ann"
	old.LastAccessedAt, old.ExpiresAt = old.CreatedAt, memd.At(old.CreatedAt.Add(1e6*time.Hour))
	put(t, s, old)
	edited, cold, lost := row(memd.Long, 2, "before the edit"), row(memd.Archive, 3, "cold with a key"), row(memd.Short, 4, "lost with its file")
	cold.MemoryKey, cold.Version = "cold", 1
	put(t, s, edited, cold, lost)
	first := row(memd.Long, 5, "version one")
	put(t, s, first)
	supersede(t, s, first, 2, 6, "version two")
	forgotten := row(memd.Short, 7, "forgotten")
	put(t, s, forgotten)
	write(t, s, func(tx *store.Tx) error { return tx.Bury(&forgotten, s.Now()) })
	embed(t, s, old.ID, 8)
	shell(t, dir, `UPDATE long SET summary = 'after 手改 the edit' WHERE id = '`+edited.ID+`'`)
	want, _ := get(t, s, old.ID)
	versionsAre := func(want string) {
		t.Helper()
		view(t, s, func(v *store.View) error {
			found, err := v.Versions(memd.DefaultNamespace, first.MemoryKey)
			got := ""
			for _, m := range found {
				got += fmt.Sprint(m.Version, " ")
			}
			if got != want {
				t.Errorf("the versions are %q, want %q", got, want)
			}
			return err
		})
	}
	for n := range 30 {
		r := roll(t, s)
		if n == 1 {
			supersede(t, s, first, 3, 8, "version three") // in the third file
			versionsAre("3 2 1 ")
		} else {
			put(t, s, row(memd.Short, 100+n, fmt.Sprint("filler ", n)))
		}
		if want := min(max(0, n-1), 1); len(r.Retired) != want {
			t.Fatalf("rollover %d retired %q, want %d", n, r.Retired, want)
		}
		if n == 15 {
			must(t, s.Close())
			s = under(t, dir, func(b *configs.Budgets) { b.HistoryFiles = 2 })
		}
	}
	versionsAre("3 ")
	if got, ok := get(t, s, old.ID); !ok || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("the head was\n%+v\nand is\n%+v", want, got)
	}
	if n := vectors(t, s, memd.Long); n != 1 {
		t.Errorf("%d vectors are left, want 1", n)
	}
	if n := kept(t, s, []memd.Memory{cold}); n != 1 {
		t.Error("an archived row with a key went")
	}
	if n := kept(t, s, []memd.Memory{lost}); n != 0 {
		t.Error("nothing went with its file: the test shows nothing")
	}
	finds(t, s, memd.Long, "头", old)
	finds(t, s, memd.Long, "after", edited)
	view(t, s, func(v *store.View) error {
		waiting, err := v.Edited(10)
		if len(waiting) != 1 || waiting[0] != edited.ID {
			t.Errorf("%q wait to be indexed anew, want the edited row", waiting)
		}
		return err
	})
	h, _ := head(t, s, old.MemoryKey)
	if h.ID != old.ID || h.Version != 1 || h.File == "" {
		t.Errorf("its head is %+v", h)
	}
	graves := 0
	for _, name := range names(t, filepath.Join(dir, store.HistoryDir)) {
		graves += strings.Count(shellFile(t, filepath.Join(dir, store.HistoryDir, name), `SELECT id FROM tombstone`), forgotten.ID)
	}
	if graves == 0 {
		t.Error("the tombstone went with its file")
	}
}

// large makes TestLargeHeads as large as the budgets allow, which takes minutes.
var large = flag.Bool("store.large", false, "run the test of large heads with 2,000 of them")

// bigHeads writes n long rows of 12,000 characters each.
func bigHeads(t testing.TB, s *store.Set, n int, cjk bool) (rows []memd.Memory) {
	t.Helper()
	for i := range n {
		var b strings.Builder
		for c := 0; b.Len() < 12_000; c++ {
			fmt.Fprintf(&b, "word%d ", (i*7919+c*c*31+c*17)%5000)
		}
		text := b.String()[:12_000]
		if cjk {
			b.Reset()
			for c := range 12_000 {
				b.WriteRune(rune(0x4e00 + (i*7919+c*c*31+c*17)%3000))
			}
			text = b.String()
		}
		m := row(memd.Long, i, text)
		put(t, s, m)
		rows = append(rows, m)
	}
	return rows
}

// Neither a rollover nor a retirement sets off another, however much the heads
// hold: what is carried over are their names alone.
func TestLargeHeads(t *testing.T) {
	for _, c := range []struct {
		name   string
		heads  int
		cjk    bool
		active int64
		files  int
	}{
		{"default", 600, false, configs.DefaultBudgets().ActiveBytes, 1},
		{"least", 60, false, configs.MinActiveBytes, 1},
		{"least, three files", 100, false, configs.MinActiveBytes, 3},
		{"CJK", 12, true, configs.MinActiveBytes, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if *large {
				c.heads = 2000
			}
			dir := t.TempDir()
			s := under(t, dir, func(b *configs.Budgets) {
				b.HistoryFiles, b.ActiveBytes, b.StoreBytes = c.files, c.active, 4<<30
			})
			began := time.Now()
			rows := bigHeads(t, s, c.heads, c.cjk)
			_, err := s.Rollover(ctx) // of nothing, where the last head has just rolled over by itself
			must(t, err)
			makeRoom(t, s)
			t.Log("written and retired after", time.Since(began))
			files := func(want int) (bytes int64) {
				t.Helper()
				if n := len(names(t, filepath.Join(dir, store.HistoryDir))); n != want {
					t.Errorf("%d historical databases, want %d", n, want)
				}
				return historyBytes(t, dir)
			}
			bytes := files(c.files)
			for n := range 2 { // each rollover is one, and retires one
				put(t, s, row(memd.Short, 10_000+n, "a small row"))
				began := time.Now()
				if r := roll(t, s); len(r.Retired) != 1 || r.Rows != 1 {
					t.Errorf("one rollover: %+v", r)
				}
				t.Log("a retirement took", time.Since(began))
				if now := files(c.files); now > bytes+bytes/4+1<<20 {
					t.Errorf("the historical databases went from %d to %d bytes", bytes, now)
				}
			}
			for _, m := range rows {
				if got, ok := get(t, s, m.ID); !ok || got.Summary != m.Summary {
					t.Fatalf("head %s is not as it was", m.ID)
				}
			}
			each := 30_000 // bytes that a head takes
			if c.cjk {
				each = 500_000
			}
			// Each makes way for an eighth of the budget at least, and for one head.
			if n := rollovers(t, s); n > 3+min(c.heads, c.heads*each*8/int(c.active)) {
				t.Errorf("%d rollovers", n)
			}
		})
	}
}

// rollovers is how many there have been.
func rollovers(t testing.TB, s *store.Set) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(shell(t, s.Dir(), `SELECT max(seq) FROM history`), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// One that cannot be read neither goes nor stops others from going.
func TestRetireBesideBroken(t *testing.T) {
	dir := t.TempDir()
	s := under(t, dir, nil)
	var rows []memd.Memory
	for n := range 4 {
		m := row(memd.Long, n, fmt.Sprint("head ", n))
		put(t, s, m)
		rows = append(rows, m)
		roll(t, s)
	}
	must(t, s.Close())
	files := names(t, filepath.Join(dir, store.HistoryDir))
	oldest := filepath.Join(dir, store.HistoryDir, "agent_memory-20261130T020000Z.db")
	must(t, os.WriteFile(oldest, []byte(strings.Repeat("no database ", 1000)), 0o600))
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: budgets(func(b *configs.Budgets) { b.HistoryFiles = 2 }), Now: memtest.NewClock().Now})
	must(t, err)
	defer s.Close()
	makeRoom(t, s)
	left := names(t, filepath.Join(dir, store.HistoryDir))
	if len(files) != 4 || len(left) != 2 || !slices.Contains(left, filepath.Base(oldest)) {
		t.Errorf("of %q are left %q", files, left)
	}
	if n := kept(t, s, rows[1:]); n != 3 {
		t.Errorf("%d of 3 heads are left", n)
	}
}

// budgets are the default ones but for what edit changes.
func budgets(edit func(*configs.Budgets)) configs.Budgets {
	b := configs.DefaultBudgets()
	edit(&b)
	return b
}

// A retirement for which the disk has no room is not begun.
func TestRetireOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := under(t, dir, nil)
	for n := range 3 {
		put(t, s, row(memd.Long, n, fmt.Sprint("head ", n)))
		roll(t, s)
	}
	must(t, s.Close())
	s = under(t, dir, func(b *configs.Budgets) { b.HistoryFiles = 3 })
	s.SetFreeSpace(1 << 20)
	put(t, s, row(memd.Short, 10, "more"))
	_, err := s.Rollover(ctx)
	codeIs(t, err, memd.CodeBudgetExceeded)
	s.SetFreeSpace(4 << 20) // enough to roll over, not to retire
	r, err := s.Rollover(ctx)
	codeIs(t, err, memd.CodeBudgetExceeded)
	if n := len(names(t, filepath.Join(dir, store.HistoryDir))); !r.Rolled || n != 4 {
		t.Errorf("rolled %v, %d historical databases", r.Rolled, n)
	}
	if state := shell(t, dir, `SELECT count(*) FROM history WHERE state <> 'sealed'`); state != "0" {
		t.Error("a retirement was begun")
	}
	s.SetFreeSpace(1 << 40)
	if room := makeRoom(t, s); len(room.Retired) != 1 {
		t.Errorf("retired %q", room.Retired)
	}
}

// A rollover for which the disk has no room is deferred, says why, and is done
// once there is room.
func TestRollOnFullDisk(t *testing.T) {
	s := under(t, "", func(b *configs.Budgets) { b.ActiveBytes = configs.MinActiveBytes })
	s.SetFreeSpace(1 << 20)
	fill := func(from int) {
		for n := from; n < from+60; n++ {
			put(t, s, row(memd.Short, n, textOf(n, 6000)))
		}
	}
	reason := func() (string, int) {
		st, err := s.Stats(ctx)
		must(t, err)
		return st.RolloverReason, len(st.Databases)
	}
	fill(0)
	if why, n := reason(); why != "the disk is nearly full" || n != 1 {
		t.Errorf("deferred since %q, %d databases", why, n)
	}
	s.SetFreeSpace(1 << 40)
	fill(100)
	if why, n := reason(); why != "" || n < 2 {
		t.Errorf("deferred since %q, %d databases", why, n)
	}
}
