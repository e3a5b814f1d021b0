package groom_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/internal/memtest"
	"memd/tiers"
)

var light = groom.Options{Light: true}

const day = 24 * time.Hour

func TestExpiry(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	in := func(d time.Duration) memd.Time { return memd.At(h.clock.Now().Add(d)) }

	note, err := h.tiers.Note(ctx, root, "s1", memd.Note{Summary: "a note", TTL: "90s"})
	if err != nil {
		t.Fatal(err)
	}
	soon := h.remember(memd.Remember{Summary: "gone in an hour", ExpiresAt: in(time.Hour)})
	later := h.remember(memd.Remember{Summary: "gone in two hours", ExpiresAt: in(2 * time.Hour)})
	never := h.remember(memd.Remember{Summary: "stays"})
	cold := h.remember(memd.Remember{Summary: "archived, gone in an hour", ExpiresAt: in(time.Hour)})
	if _, err := h.tiers.Archive(ctx, root, cold.ID); err != nil {
		t.Fatal(err)
	}
	rule := h.rememberLong(memd.RememberLongTerm{MemoryKey: "rule", Summary: "expires, but is never deleted", Source: "AGENTS.md"})
	if _, err := h.tiers.Patch(ctx, root, rule.ID, memd.Patch{ExpiresAt: memd.Some(in(time.Hour))}); err != nil {
		t.Fatal(err)
	}
	alive := func(step string, want ...string) {
		t.Helper()
		left := map[string]bool{}
		for _, id := range want {
			left[id] = true
		}
		for _, m := range []memd.Memory{note.Memory, soon, later, never, cold, rule} {
			if _, ok := h.row(m.ID); ok != left[m.ID] {
				t.Errorf("%s: %q is there: %t", step, m.Summary, ok)
			}
		}
	}
	h.clock.Advance(-48 * time.Hour) // a clock set back deletes nothing early
	h.groom(light)
	alive("two days before", note.ID, soon.ID, later.ID, never.ID, cold.ID, rule.ID)
	h.clock.Advance(48*time.Hour + 89*time.Second)
	h.groom(light)
	alive("a second before", note.ID, soon.ID, later.ID, never.ID, cold.ID, rule.ID)
	h.clock.Advance(time.Second)
	if p := h.pass(h.groom(light), "expire_transient"); p.Changed != 1 {
		t.Errorf("changed %d rows, want 1", p.Changed)
	}
	alive("90 s", soon.ID, later.ID, never.ID, cold.ID, rule.ID)
	h.clock.Advance(time.Hour)
	h.groom(light)
	alive("an hour", later.ID, never.ID, rule.ID)
	h.clock.Advance(365 * 24 * time.Hour) // a laptop that slept for a year
	h.groom(light)
	alive("a year", never.ID, rule.ID)
}

func TestFoldCountsOnceASessionAndDay(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	m := h.remember(memd.Remember{Summary: "kumquat"})
	read := func(c memd.Caller) {
		t.Helper()
		if _, err := h.tiers.Get(ctx, c, m.ID); err != nil {
			t.Fatal(err)
		}
	}
	wantCount := func(want int) {
		t.Helper()
		if row, _ := h.row(m.ID); row.AccessCount != want {
			t.Errorf("access_count %d, want %d", row.AccessCount, want)
		}
	}
	ann := memd.Caller{Name: "ann", Role: memd.RoleRead}
	read(root)
	read(root)
	wantCount(0)
	if p := h.pass(h.groom(light), "fold_access"); p.Planned != 1 || p.Changed != 1 {
		t.Errorf("fold: %+v", p)
	}
	wantCount(1)
	read(root)
	h.groom(light)
	wantCount(1)
	read(ann)
	h.groom(light)
	wantCount(2)
	h.clock.Advance(24 * time.Hour)
	read(root)
	h.groom(light)
	wantCount(3)
	before, _ := h.row(m.ID)
	if got := before.LastAccessedAt; !got.Equal(h.clock.Now()) {
		t.Errorf("last_accessed_at %s", got)
	}
	if before.UpdatedAt != m.UpdatedAt {
		t.Error("an access moved updated_at")
	}
	// An access of a row that is gone folds into nothing and goes, too.
	read(ann)
	if err := h.tiers.Forget(ctx, root, m.ID); err != nil {
		t.Fatal(err)
	}
	if p := h.pass(h.groom(light), "fold_access"); p.Changed != 0 {
		t.Errorf("fold of a forgotten row: %+v", p)
	}
	if p := h.pass(h.groom(light), "fold_access"); p.Planned != 0 {
		t.Errorf("planned again: %+v", p)
	}
}

func TestHandEditIsIndexedAnew(t *testing.T) {
	h := newHouse(t)
	m := h.remember(memd.Remember{Summary: "旧的说法 before", Tags: []string{"标签"}})
	h.shell(`UPDATE short SET summary = '修复watchdog误杀设备重启 after' WHERE id = '` + m.ID + `'`)

	if !h.found(memd.Short, "after", m.ID) || h.found(memd.Short, "before", m.ID) {
		t.Error("an English word of a hand edit is not found at once")
	}
	h.groom(light)
	for word, want := range map[string]bool{"重": true, "设备": true, "watchdog": true, "after": true, "标签": true, "旧": false, "说法": false} {
		if got := h.found(memd.Short, word, m.ID); got != want {
			t.Errorf("after the groom %s is found: %t", word, got)
		}
	}
	row, _ := h.row(m.ID)
	if row.ContentHash == m.ContentHash || row.ContentHash != tiers.ContentHash(&row) {
		t.Error("the content_hash is not of the new text")
	}
	again := h.remember(memd.Remember{Summary: "修复watchdog误杀设备重启 after"})
	if again.ID != m.ID {
		t.Error("the same content was stored a second time")
	}
}

// furnish fills a house with something for every pass to do.
func furnish(h *house) {
	h.t.Helper()
	ctx := context.Background()
	soon := memd.At(h.clock.Now().Add(time.Hour))
	for _, text := range []string{"one", "two", "three 三"} {
		h.remember(memd.Remember{Summary: "expires " + text, ExpiresAt: soon})
		m := h.remember(memd.Remember{Summary: "stays " + text})
		if _, err := h.tiers.Get(ctx, root, m.ID); err != nil {
			h.t.Fatal(err)
		}
	}
	cold := h.remember(memd.Remember{Summary: "cold"})
	if _, err := h.tiers.Archive(ctx, root, cold.ID); err != nil {
		h.t.Fatal(err)
	}
	for _, text := range []string{"first", "second 第二"} {
		h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: text, Source: "AGENTS.md"})
	}
	if _, err := h.tiers.Note(ctx, root, "s1", memd.Note{Summary: "note", TTL: "90s"}); err != nil {
		h.t.Fatal(err)
	}
	h.aged(memd.Short, 31*day, nil)
	h.aged(memd.Short, 8*day, nil)
	with := []memd.Memory{h.aged(memd.Archive, 366*day, nil)}
	for n := range 22 {
		with = append(with, h.rememberLong(memd.RememberLongTerm{MemoryKey: "versions", Summary: fmt.Sprint(h.made, " says ", n), Source: "AGENTS.md"}))
	}
	h.vector(with...)
	old := memd.At(h.clock.Now().Add(-91 * day))
	h.rememberLong(memd.RememberLongTerm{MemoryKey: "old", Summary: "as it was", Source: "AGENTS.md", VerifiedAt: old})
	h.rememberLong(memd.RememberLongTerm{MemoryKey: "twin", Summary: "as it was", Source: "AGENTS.md"})
	edited := h.remember(memd.Remember{Summary: "to be edited"})
	h.shell(`UPDATE short SET summary = '手改 by hand' WHERE id = '` + edited.ID + `'`)
	h.clock.Advance(2 * time.Hour)
}

func TestSecondGroomChangesNothing(t *testing.T) {
	for _, opts := range []groom.Options{light, {}} {
		h := newHouse(t)
		furnish(h)
		before := h.tables()
		h.groom(opts)
		first := h.tables()
		if first == before {
			t.Error("the first run changed nothing")
		}
		h.clock.Advance(10 * time.Minute)
		for _, p := range h.groom(opts).Passes {
			if p.Changed != 0 || p.Planned != 0 && p.Name != "report_duplicates" {
				t.Errorf("second run: %+v", p)
			}
		}
		if h.tables() != first {
			t.Error("the second run changed a row, an index entry or a vector")
		}
	}
}

func TestDryRunTellsTheTruth(t *testing.T) {
	h := newHouse(t)
	furnish(h)
	h.fill(memd.Archive, 0, 9)
	h = h.reopened(func(b *configs.Budgets) { b.ArchiveRows = 4 })
	if err := h.store.FlushAccess(context.Background()); err != nil { // any run writes what is buffered
		t.Fatal(err)
	}
	before := h.tables()
	dry := h.groom(groom.Options{DryRun: true})
	if h.tables() != before {
		t.Error("the dry run changed something")
	}
	if reports, err := h.runner.Reports(context.Background()); err != nil || len(reports) != 0 {
		t.Errorf("the dry run left %d reports, error %v", len(reports), err)
	}
	run := h.groom(groom.Options{})
	for i, p := range run.Passes {
		p.MS, dry.Passes[i].MS = 0, 0
		if !reflect.DeepEqual(p, dry.Passes[i]) {
			t.Errorf("the dry run said %+v, the run did %+v", dry.Passes[i], p)
		}
		switch p.Name {
		case "check_sources", "retire_history": // see TestCheckSources, TestRetireHistory
			continue
		case "report_duplicates": // changes nothing
			p.Changed = p.Planned
		}
		if p.Changed == 0 {
			t.Errorf("pass %s had nothing to do: the test shows nothing", p.Name)
		}
	}
	if !dry.DryRun || run.DryRun {
		t.Error("the reports do not say which was dry")
	}
}

// stopped is a context that stops its user at the first look at it.
type stopped struct {
	context.Context
	once    sync.Once
	inside  chan struct{}
	release chan struct{}
}

func (s *stopped) Done() <-chan struct{} {
	s.once.Do(func() {
		close(s.inside)
		<-s.release
	})
	return s.Context.Done()
}

func TestRunsDoNotOverlap(t *testing.T) {
	h := newHouse(t)
	ctx := &stopped{Context: context.Background(), inside: make(chan struct{}), release: make(chan struct{})}
	done := make(chan error)
	go func() {
		_, err := h.runner.Run(ctx, light)
		done <- err
	}()
	<-ctx.inside
	if _, err := h.runner.Run(context.Background(), light); memd.CodeOf(err) != memd.CodeStoreBusy {
		t.Errorf("a second run at the same time: error %v, want store_busy", err)
	}
	close(ctx.release)
	if err := <-done; err != nil {
		t.Errorf("the first run: %v", err)
	}
	h.groom(light)
}

func TestForgottenBytesAreGone(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	for i := range 40 { // rows around, so that pages are shared
		h.remember(memd.Remember{Summary: strings.Repeat("neighbour ", 20+i)})
	}
	secrets := []string{"zyzzyva", "Quokkabody", "xylograph", "whydah", "鑫龘麤", "kakapo"}
	short := h.remember(memd.Remember{Summary: "a zyzzyva and 鑫龘麤", RawContent: strings.Repeat("Quokkabody ", 900), Tags: []string{"kakapo"}})
	var long memd.Memory
	for _, text := range []string{"xylograph one", "xylograph two"} {
		long = h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: text, Why: "whydah", Source: "AGENTS.md"})
	}
	h.groom(light)
	if holding := h.files(secrets); len(holding) != len(secrets) {
		t.Fatalf("before: the files hold %v", holding)
	}
	for _, id := range []string{short.ID, long.ID} {
		if err := h.tiers.Forget(ctx, root, id); err != nil {
			t.Fatal(err)
		}
	}
	h.groom(light)
	for word, file := range h.files(secrets) {
		t.Errorf("%s is still in %s", word, file)
	}
}

// files looks for words, whatever their case, in every file of the folder and
// returns where each was found.
func (h *house) files(words []string) map[string]string {
	h.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content := bytes.ToLower(memtest.ReadFile(h.t, path))
		for _, word := range words {
			if bytes.Contains(content, []byte(strings.ToLower(word))) {
				found[word] = entry.Name()
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

func TestFailedPassIsNamed(t *testing.T) {
	h := newHouse(t)
	furnish(h)
	h.groom(light)
	h.remember(memd.Remember{Summary: "expires", ExpiresAt: memd.At(h.clock.Now().Add(time.Hour))})
	h.clock.Advance(2 * time.Hour)
	h.shell(`CREATE TRIGGER stop BEFORE DELETE ON short BEGIN SELECT RAISE(ABORT, 'the body of a row'); END`)

	report, err := h.runner.Run(context.Background(), groom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := h.pass(report, "expire_transient"); p.Error != string(memd.CodeStoreFailed) || report.Whole() {
		t.Errorf("%+v, whole: %t", p, report.Whole())
	}
	for _, name := range []string{"fold_access", "vacuum"} {
		if p := h.pass(report, name); p.Error != "" {
			t.Errorf("%s fell with it: %s", name, p.Error)
		}
	}
	if at := h.meta("last_groom_at"); at != "" {
		t.Errorf("last_groom_at is %s after a run that did not end whole", at)
	}
	h.shell(`DROP TRIGGER stop`)
	h.groom(groom.Options{})
	if at := h.meta("last_groom_at"); at != h.store.Now().String() {
		t.Errorf("last_groom_at is %q after a whole run", at)
	}
	reports, err := h.runner.Reports(context.Background())
	if err != nil || len(reports) != 3 || !reports[0].Whole() || reports[1].Whole() {
		t.Errorf("%d reports, error %v", len(reports), err)
	}
}

// report_duplicates tells who says the same as whom; of reports that are kept, long
// ones lose that first.
func TestPairsOfDuplicates(t *testing.T) {
	h := newHouse(t)
	long := func(key, text string) string {
		t.Helper()
		return h.rememberLong(memd.RememberLongTerm{MemoryKey: key, Summary: text, Source: "AGENTS.md"}).ID
	}
	a, b := long("a", "Always run make test-all before releasing."), long("b", "Before every release, run make test-all")
	p := h.pass(h.groom(groom.Options{}), "report_duplicates")
	want := groom.Pair{Namespace: memd.DefaultNamespace, IDs: [2]string{a, b}, Keys: [2]string{"a", "b"}, Reason: "similar_wording"}
	if len(p.Pairs) != 1 || p.Pairs[0] != want || p.Planned != 1 {
		t.Errorf("%+v, want %+v", p, want)
	}
	for n := range 240 {
		long(fmt.Sprintf("%s%03d", strings.Repeat("equal/", 30), n), fmt.Sprintf("the same text of pair %d", n/2))
	}
	if p = h.pass(h.groom(groom.Options{}), "report_duplicates"); len(p.Pairs) != 100 || p.Planned < 120 {
		t.Errorf("%d pairs of %d", len(p.Pairs), p.Planned)
	}
	reports, err := h.runner.Reports(context.Background())
	h.must(err)
	last := h.pass(reports[0], "report_duplicates")
	if len(reports) != 2 || last.Pairs != nil || len(last.IDs) != len(p.IDs) || len(h.pass(reports[1], "report_duplicates").Pairs) != 0 {
		t.Errorf("of %d reports the last keeps %d pairs and %d ids", len(reports), len(last.Pairs), len(last.IDs))
	}
	if n := len(h.meta("groom_reports")); n > 48<<10 {
		t.Errorf("the reports take %d bytes", n)
	}
}
