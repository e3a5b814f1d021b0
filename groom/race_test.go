package groom_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/store"
	"memd/tiers"
)

// Notes beyond their budget go although time passes between the plan and the run.
func TestNotesGoWhileTimePasses(t *testing.T) {
	h := newHouse(t)
	h.fill(memd.Transient, 0, 80)
	h = h.reopened(func(b *configs.Budgets) { b.TransientRows = 30 })
	h.clock.Advance(time.Hour)
	report, err := h.runner.Run(&looked{context.Background(), func() { h.clock.Advance(time.Millisecond) }}, groom.Options{})
	h.must(err)
	if n := h.count(memd.Transient); n != 30 {
		t.Errorf("%d notes are left: %+v", n, h.pass(report, "enforce_budgets"))
	}
}

// Accesses of a row that moves to another database between the plan and the run
// are folded in by this run or the next.
func TestRowsThatMoveMeanwhile(t *testing.T) {
	promote := func(h *house, m memd.Memory) {
		h.must(second(h.tiers.Promote(context.Background(), root, m.ID, memd.Promote{To: memd.Short})))
	}
	for name, test := range map[string]struct {
		old  bool // whether the row stands in a historical database at first
		move func(*house, memd.Memory)
	}{
		"into history": {false, func(h *house, _ memd.Memory) { h.roll() }},
		"out of it":    {true, promote},
		"out and back": {true, func(h *house, m memd.Memory) { promote(h, m); h.roll() }},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			m := h.aged(memd.Archive, time.Hour, nil)
			if test.old {
				h.roll()
			}
			h.must(second(h.tiers.Get(context.Background(), root, m.ID)))
			report, err := h.runner.Run(h.between("fold_access", func() { test.move(h, m) }), groom.Options{Light: true})
			h.must(err)
			if !report.Whole() {
				t.Errorf("%+v", report)
			}
			h.groom(groom.Options{Light: true})
			if row, _ := h.row(m.ID); row.AccessCount != 1 {
				t.Errorf("%d accesses are counted, want 1", row.AccessCount)
			}
		})
	}
}

// Rows that were chosen for a budget stay where others have made room since.
func TestRoomMadeMeanwhile(t *testing.T) {
	for tier, lower := range map[memd.Tier]func(*configs.Budgets){
		memd.Archive: func(b *configs.Budgets) { b.ArchiveRows = 60 },
		memd.Short:   func(b *configs.Budgets) { b.ShortRows = 60 },
	} {
		h := newHouse(t)
		h.fill(tier, 0, 50)
		h.roll()
		h.fill(tier, 50, 100)
		h = h.reopened(lower)
		report, err := h.runner.Run(h.between("enforce_budgets", func() {
			for n := range 30 {
				h.must(h.tiers.Forget(context.Background(), root, fmt.Sprintf("01900000-0000-7000-8000-%012d", n*10%100+9-n/10)))
			}
		}), groom.Options{})
		h.must(err)
		if n := h.count(tier); n != 60 {
			t.Errorf("%d rows are left in the %s tier, want 60: %+v", n, tier, h.pass(report, "enforce_budgets"))
		}
	}
}

// Nobody waits while heads are looked at, as where their wordings are compared:
// neither a write to a historical database nor a reading behind it.
func TestHeadsHoldNobodyUp(t *testing.T) {
	h := newHouse(t)
	h.largeRows(120)
	other := h.aged(memd.Archive, time.Hour, nil)
	h.roll()
	seen := map[string]bool{}
	h.must(h.store.EachHead(context.Background(), func(m memd.Memory, _ store.Head) error {
		h.passes(other)
		seen[m.ID] = true
		return nil
	}))
	if len(seen) != 120 {
		t.Errorf("%d heads were looked at, want 120", len(seen))
	}
}

// Nor while an audit looks into texts.
func TestAuditHoldsNobodyUp(t *testing.T) {
	h := newHouse(t)
	h.largeRows(120)
	other := h.aged(memd.Archive, time.Hour, nil)
	h.roll()
	scanned, findings := 0, tiers.New(h.store).Findings
	auditor := groom.NewAuditor(groom.AuditorOptions{
		Store: h.store,
		Scan: func(m *memd.Memory) []string {
			h.passes(other)
			scanned++
			return findings(m)
		},
	})
	h.must(second(auditor.Audit(context.Background(), root, groom.AuditOptions{})))
	if scanned != 120 {
		t.Errorf("%d rows were scanned, want 120", scanned)
	}
}

// A historical database that could not be brought up to date at the start, since
// another program held it, keeps no pass from the others.
func TestDatabaseOfOlderSchema(t *testing.T) {
	h := newHouse(t)
	h.aged(memd.Short, day, nil)
	file := h.roll().File
	old := h.aged(memd.Short, 40*day, nil)
	h.must(h.store.Close())
	h.shellOn(file, `DROP TABLE imported; ALTER TABLE head DROP COLUMN source_hash;
ALTER TABLE audit DROP COLUMN code; ALTER TABLE audit DROP COLUMN field; ALTER TABLE audit DROP COLUMN count;
DELETE FROM goose_db_version WHERE version_id >= 5`)
	release := hold(t, filepath.Join(h.dir, file))
	h = houseIn(t, h.dir, h.clock, nil)
	report, err := h.runner.Run(context.Background(), groom.Options{})
	h.must(err)
	for _, p := range report.Passes {
		if p.Error != "" {
			t.Errorf("the pass %s failed: %s", p.Name, p.Error)
		}
	}
	h.wantTier("a row of 40 days", old, memd.Archive)
	audit, err := groom.NewAuditor(groom.AuditorOptions{Store: h.store}).Audit(context.Background(), root, groom.AuditOptions{})
	h.must(err)
	for _, b := range audit.Boxes {
		if strings.Contains(b.How, "rows could not be read") {
			t.Errorf("%s: %s", b.Box, b.How)
		}
	}
	release()
	h.groom(groom.Options{})
}

// largeRows inserts n heads that are as large as they may be.
func (h *house) largeRows(n int) {
	h.t.Helper()
	h.must(h.store.Update(context.Background(), func(tx *store.Tx) error {
		for i := range n {
			var text strings.Builder
			for w := uint32(i); text.Len() < 11980; w = w*1664525 + 1013904223 {
				fmt.Fprintf(&text, "word%c%c%c ", 'a'+w>>8%26, 'a'+w>>16%26, 'a'+w>>24%20)
			}
			now := h.store.Now()
			m := memd.Memory{
				ID: fmt.Sprintf("01900000-0000-7000-8000-%012d", i), Tier: memd.Long, Namespace: memd.DefaultNamespace,
				Kind: memd.Rule, MemoryKey: fmt.Sprintf("rules/%04d", i), Version: 1, Summary: text.String(), Importance: 5,
				Source: "AGENTS.md", SourceStatus: memd.SourceUnchecked, VerifiedAt: now, VerifiedBy: "x",
				CreatedAt: now, UpdatedAt: now, WrittenAt: now, Tags: []string{}, Access: []string{},
			}
			m.ContentHash = tiers.ContentHash(&m)
			err := tx.Insert(&m)
			if err == nil {
				err = tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: 1, ID: m.ID})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// passes patches a row and reads behind that, which must not wait for the caller.
func (h *house) passes(m memd.Memory) {
	h.t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := h.tiers.Patch(context.Background(), root, m.ID, memd.Patch{Importance: memd.Some(m.Importance)})
		if err == nil {
			err = h.store.View(context.Background(), func(*store.View) error { return nil })
		}
		done <- err
	}()
	select {
	case err := <-done:
		h.must(err)
	case <-time.After(time.Minute):
		h.t.Fatal("a write and a reading are held up")
	}
}

// Rows that are read for the first time while a groom runs are not taken for never
// read.
func TestRowsReadMeanwhile(t *testing.T) {
	for _, pass := range []string{"expire_transient", "archive_short"} {
		eachPlace(t, func(t *testing.T, settle func(*house)) {
			h := newHouse(t)
			little := func(m *memd.Memory) { m.Importance = 1 }
			read, unread := h.aged(memd.Short, 8*day, little), h.aged(memd.Short, 8*day, little)
			settle(h)
			h.must(second(h.tiers.Note(context.Background(), root, "s", memd.Note{Summary: "a note", TTL: "90s"})))
			h.clock.Advance(time.Hour)
			report, err := h.runner.Run(h.between(pass, func() {
				h.must(second(h.tiers.Get(context.Background(), root, read.ID)))
			}), groom.Options{})
			h.must(err)
			if !report.Whole() {
				t.Errorf("%+v", report.Failed())
			}
			h.wantTier("a row read during "+pass, read, memd.Short)
			h.wantTier("one that nobody read", unread, memd.Archive)
		})
	}
}
