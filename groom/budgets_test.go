package groom_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/store"
	"memd/tiers"
)

// fill inserts rows from..to-1 of a tier, as they were written under larger
// budgets.
func (h *house) fill(t memd.Tier, from, to int) {
	h.t.Helper()
	err := h.store.Update(context.Background(), func(tx *store.Tx) error {
		for n := from; n < to; n++ {
			m := memd.Memory{
				ID: fmt.Sprintf("01900000-0000-7000-8000-%012d", n), Tier: t, Namespace: memd.DefaultNamespace,
				Kind: memd.Event, Summary: fmt.Sprint("filled row ", n), Importance: 1 + n%10, SourceStatus: memd.SourceNone,
				CreatedAt: h.store.Now(), UpdatedAt: h.store.Now(), WrittenAt: h.store.Now(), Tags: []string{}, Access: []string{},
			}
			if t == memd.Transient {
				m.SessionID = "s"
			}
			m.ContentHash = tiers.ContentHash(&m)
			if err := tx.Insert(&m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// count counts the rows of a tier over all databases.
func (h *house) count(t memd.Tier) (n int) {
	h.t.Helper()
	st, err := h.store.Stats(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, s := range st.Tiers {
		if s.Tier == t {
			n = s.Rows
		}
	}
	return n
}

// Under row budgets that were lowered a groom brings the tiers down to them,
// whatever database a row stands in, by the rules by which writes do: the least
// valuable short rows are archived, the least valuable archived ones go. It is
// not capped, its dry run tells the truth, and a second run finds nothing.
func TestLoweredRowBudgets(t *testing.T) {
	h := newHouse(t)
	h.fill(memd.Short, 0, 300)
	h.fill(memd.Archive, 1000, 1300)
	h.roll()
	h.fill(memd.Short, 300, 600)
	h.fill(memd.Archive, 1300, 1600)
	h.fill(memd.Transient, 2000, 2080)
	h = h.reopened(func(b *configs.Budgets) { b.ShortRows, b.ArchiveRows, b.TransientRows = 200, 500, 30 })
	want := 50 + 400 + 500 // evicted, archived, deleted
	for _, opts := range []groom.Options{{DryRun: true}, {}, {}} {
		p := h.pass(h.groom(opts), "enforce_budgets")
		if p.Planned != want || p.Changed != want || p.Capped {
			t.Errorf("%+v: %+v, want %d", opts, p, want)
		}
		if !opts.DryRun {
			want = 0
		}
	}
	if s, a, n := h.count(memd.Short), h.count(memd.Archive), h.count(memd.Transient); s != 200 || a != 500 || n != 30 {
		t.Errorf("%d short, %d archived rows and %d notes, want 200, 500 and 30", s, a, n)
	}
	for n := range 600 { // the 200 most valuable of 600 are those of importance 10, 9, 8 and some of 7
		m, ok := h.row(fmt.Sprintf("01900000-0000-7000-8000-%012d", n))
		if m.Importance >= 8 && (!ok || m.Tier != memd.Short) || m.Importance < 7 && ok && m.Tier == memd.Short {
			t.Errorf("row %d of importance %d is in %q", n, m.Importance, m.Tier)
		}
	}
}

// A light groom does not enforce row budgets.
func TestLightLeavesRowBudgets(t *testing.T) {
	h := newHouse(t)
	h.fill(memd.Short, 0, 30)
	h = h.reopened(func(b *configs.Budgets) { b.ShortRows = 10 })
	var light []string
	for _, p := range h.groom(groom.Options{Light: true}).Passes {
		light = append(light, p.Name)
	}
	if want := []string{"expire_transient", "retire_history", "fold_access", "vacuum"}; !slices.Equal(light, want) {
		t.Errorf("a light groom runs %q, want %q", light, want)
	}
	if n := h.count(memd.Short); n != 30 {
		t.Errorf("%d short rows, want 30", n)
	}
}

// A retirement that could not be done when it was due is done by the light
// groom.
func TestRetireHistory(t *testing.T) {
	ctx := context.Background()
	h := newHouse(t)
	for n := range 2 {
		h.rememberLong(memd.RememberLongTerm{MemoryKey: fmt.Sprint("k", n), Summary: fmt.Sprint("head ", n), Source: "AGENTS.md"})
		h.roll()
	}
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(h.dir, store.HistoryDir, "*.db"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	slices.SortFunc(files, func(a, b string) int { return len(a) - len(b) })
	release := hold(t, files[1]) // the newer one, which takes what is owed
	failed := &seen{text: "no room made for historical databases", found: make(chan struct{})}
	budgets := configs.DefaultBudgets()
	budgets.HistoryFiles = 1
	s, err := store.Open(ctx, store.Options{Dir: h.dir, Budgets: budgets, Now: h.clock.Now, Log: slog.New(slog.NewTextHandler(failed, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h = &house{t: t, dir: h.dir, clock: h.clock, store: s, tiers: tiers.New(s), runner: groom.New(s, nil)}
	<-failed.found
	report, err := h.runner.Run(ctx, groom.Options{Light: true})
	if p := h.pass(report, "retire_history"); err != nil || p.Planned != 1 || p.Changed != 0 || p.Error != string(memd.CodeStoreBusy) {
		t.Errorf("held by another program: %+v, %v", p, err)
	}
	release()
	want := 1
	for _, opts := range []groom.Options{{DryRun: true, Light: true}, {DryRun: true}, {Light: true}, {}} {
		if p := h.pass(h.groom(opts), "retire_history"); p.Planned != want || p.Changed != want || p.Error != "" {
			t.Errorf("%+v: %+v, want %d", opts, p, want)
		}
		if !opts.DryRun {
			want = 0
		}
	}
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("the oldest file is there: %v", err)
	}
	for n := range 2 {
		if m, err := h.tiers.Head(ctx, root, "", fmt.Sprint("k", n)); err != nil || m.Summary != fmt.Sprint("head ", n) {
			t.Errorf("head %d: %+v, %v", n, m, err)
		}
	}
}

// seen is a log that tells when it has seen a text, once.
type seen struct {
	text  string
	found chan struct{}
	done  bool
}

func (s *seen) Write(b []byte) (int, error) { // a handler writes one record at a time
	if !s.done && strings.Contains(string(b), s.text) {
		s.done = true
		close(s.found)
	}
	return len(b), nil
}

// hold keeps a database locked against writers until it is released.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	cmd := exec.Command("sqlite3", "-batch", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal("the sqlite3 shell is missing; .ci/run installs it")
	}
	io.WriteString(in, "BEGIN IMMEDIATE; SELECT 'held';\n")
	if _, err := io.ReadFull(out, make([]byte, len("held\n"))); err != nil {
		t.Fatal(err)
	}
	return func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// Over several databases, too, a second groom changes no row, index entry or
// vector in any of them, and expiry and accesses reach every one.
func TestSecondGroomOverHistory(t *testing.T) {
	for _, opts := range []groom.Options{light, {}} {
		h := newHouse(t)
		for range 3 {
			furnish(h)
			h.roll()
		}
		furnish(h)
		h.fill(memd.Short, 0, 5)
		short := h.remember(memd.Remember{Summary: "read over and over"})
		h.roll()
		if _, err := h.tiers.Get(context.Background(), root, short.ID); err != nil {
			t.Fatal(err)
		}
		before := h.allTables()
		h.groom(opts)
		first := h.allTables()
		if m, _ := h.row(short.ID); m.AccessCount != 1 {
			t.Errorf("access_count %d in a historical database, want 1", m.AccessCount)
		}
		if strings.Contains(first, "'expires one'") || !strings.Contains(before, "'expires one'") {
			t.Error("a row whose time has come is in a historical database")
		}
		h.clock.Advance(10 * time.Minute)
		for _, p := range h.groom(opts).Passes {
			if p.Changed != 0 || p.Planned != 0 && p.Name != "report_duplicates" {
				t.Errorf("second run: %+v", p)
			}
		}
		if h.allTables() != first {
			t.Error("the second run changed a row, an index entry or a vector")
		}
	}
}

// allTables are the tables of every database.
func (h *house) allTables() string { return h.everywhere(tables) }

// everywhere runs SQL in a shell on every database, the active one first.
func (h *house) everywhere(sql string) string {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, store.HistoryDir, "*.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	all := h.shell(sql)
	for _, path := range files {
		all += h.shellOn(filepath.Join(store.HistoryDir, filepath.Base(path)), sql)
	}
	return all
}

// Words that were taken out of a row by hand are in no file after a light
// groom, in a historical database either.
func TestEditedWordsAreGone(t *testing.T) {
	h := newHouse(t)
	h.fill(memd.Short, 0, 40)
	m := h.remember(memd.Remember{Summary: "the word quokkazanzibar is secret, 鑫龘麤"})
	h.roll()
	h.groom(light)
	files, err := filepath.Glob(filepath.Join(h.dir, store.HistoryDir, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	words := []string{"quokkazanzibar", "kazanzibar", "鑫龘麤"}
	if len(h.files(words)) != len(words) {
		t.Fatal("a word is nowhere: the test shows nothing")
	}
	if out, err := exec.Command("sqlite3", "-cmd", "PRAGMA secure_delete = ON", files[0],
		`UPDATE short SET summary = 'nothing to see' WHERE id = '`+m.ID+`'`).CombinedOutput(); err != nil {
		t.Fatalf("sqlite3: %v: %s", err, out)
	}
	h.groom(light)
	for word, file := range h.files(words) {
		t.Errorf("%s is still in %s", word, file)
	}
}

// What is owed above a namespace's share does not spare the rows of others.
func TestShareOfOwedRows(t *testing.T) {
	h := newHouse(t)
	h.fill(memd.Archive, 0, 60)
	for n := range 80 {
		h.aged(memd.Archive, time.Hour, func(m *memd.Memory) {
			m.Namespace, m.MemoryKey, m.Version = "a", fmt.Sprint("key", n), 1
			m.Source, m.VerifiedAt = "AGENTS.md", m.CreatedAt
		})
	}
	h = h.reopened(func(b *configs.Budgets) { b.ArchiveRows, b.PerNamespace = 100, 0.7 })
	h.groom(groom.Options{})
	if n := h.count(memd.Archive); n != 100 {
		t.Errorf("%d archived rows, want 100", n)
	}
}
