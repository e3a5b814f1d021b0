package groom_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/internal/memtest"
	"memd/store"
)

// commits counts the transactions in the write-ahead log: frames that say how
// large the database is after them (sqlite.org/fileformat2.html, "WAL Frame
// Header Format").
func (h *house) commits() (n int) {
	h.t.Helper()
	log := memtest.ReadFile(h.t, filepath.Join(h.dir, store.ActiveName+"-wal"))
	if len(log) < 32 {
		return 0
	}
	page := int(binary.BigEndian.Uint32(log[8:]))
	for at := 32; at+24+page <= len(log); at += 24 + page {
		if string(log[at+8:at+16]) == string(log[16:24]) && binary.BigEndian.Uint32(log[at+4:]) > 0 {
			n++
		}
	}
	return n
}

// A light groom that finds nothing to do writes its report and nothing else, over
// however many databases, and reads no more than it has to.
func TestQuietGroomWritesItsReportAlone(t *testing.T) {
	h := newHouse(t)
	furnish(h)
	h.roll()
	furnish(h)
	h.groom(groom.Options{})
	h.clock.Advance(time.Hour)
	h.groom(light)
	state := func() string {
		t.Helper()
		all := h.allTables() + h.shell(`SELECT key, value FROM meta WHERE key NOT IN ('groom_reports', 'last_light_groom_at') ORDER BY key;
SELECT * FROM audit; SELECT * FROM once; SELECT * FROM session; SELECT * FROM history`)
		files, err := filepath.Glob(filepath.Join(h.dir, store.HistoryDir, "*"))
		h.must(err)
		for _, path := range files {
			info, err := os.Stat(path)
			h.must(err)
			all += fmt.Sprint(path, info.Size(), info.ModTime())
		}
		return all
	}
	before, commits := state(), h.commits()
	for n := range 3 {
		h.clock.Advance(time.Hour)
		h.groom(light)
		if got := h.commits(); got != commits+n+1 {
			t.Errorf("%d light grooms made %d commits", n+1, got-commits)
		}
	}
	if state() != before {
		t.Error("a light groom without anything to do changed something")
	}
	m := h.remember(memd.Remember{Summary: "something new"})
	h.must(h.tiers.Forget(context.Background(), root, m.ID))
	h.groom(light)
	if got := h.commits(); got != 2 { // what was settled, and the report
		t.Errorf("the log has %d commits after it was emptied", got)
	}
}

// The reports that are kept are the last 20, and small whatever they name: the
// oldest lose their ids first, and say how many.
func TestKeptReportsAreSmall(t *testing.T) {
	h := houseUnder(t, func(b *configs.Budgets) { b.ActiveBytes = 1 << 26 })
	for n := range 24 {
		h.fill(memd.Short, 300*n, 300*(n+1))
		h.shell(`UPDATE short SET expires_at = '2026-11-01T00:00:00.000Z'`)
		if p := h.pass(h.groom(light), "expire_transient"); p.Changed != 300 || len(p.IDs) != 300 || p.MoreIDs != 0 {
			t.Fatalf("run %d: changed %d, %d ids and %d more", n, p.Changed, len(p.IDs), p.MoreIDs)
		}
	}
	if n := len(h.meta("groom_reports")); n > 48<<10 || n < 40<<10 {
		t.Errorf("the reports take %d bytes", n)
	}
	reports, err := h.runner.Reports(context.Background())
	h.must(err)
	if len(reports) != 20 {
		t.Fatalf("%d reports are kept", len(reports))
	}
	for i, r := range reports {
		p := h.pass(r, "expire_transient")
		if p.Changed != 300 || len(p.IDs)+p.MoreIDs != 300 || i < 2 && len(p.IDs) != 300 || i > 10 && len(p.IDs) != 0 {
			t.Errorf("report %d: changed %d, %d ids and %d more", i, p.Changed, len(p.IDs), p.MoreIDs)
		}
	}
	// The answer to a run names more rows than are kept, and not all either.
	h.fill(memd.Short, 10000, 11300)
	h.shell(`UPDATE short SET expires_at = '2026-11-01T00:00:00.000Z'`)
	if p := h.pass(h.groom(light), "expire_transient"); p.Changed != 1300 || len(p.IDs) != 1000 || p.MoreIDs != 300 {
		t.Errorf("changed %d, %d ids and %d more", p.Changed, len(p.IDs), p.MoreIDs)
	}
	if n := len(h.meta("groom_reports")); n > 48<<10 {
		t.Errorf("the reports take %d bytes", n)
	}
}

// Reports of an earlier release, which named no rows, have lists all the same.
func TestReportsWithoutIDs(t *testing.T) {
	h := newHouse(t)
	h.must(h.store.Update(context.Background(), func(tx *store.Tx) error {
		return tx.SetMeta("groom_reports", `[{"dry_run":false,"light":true,"started_at":"2026-11-30T01:00:00.000Z",
"finished_at":"2026-11-30T01:00:00.000Z","passes":[{"name":"vacuum","planned":0,"changed":0,"skipped":0,"capped":false,"ms":1}]}]`, h.store.Now())
	}))
	reports, err := h.runner.Reports(context.Background())
	h.must(err)
	text, err := json.Marshal(reports)
	h.must(err)
	if !strings.Contains(string(text), `"ids":[]`) || strings.Contains(string(text), "null") {
		t.Errorf("the reports are %s", text)
	}
}

// Reports that were spoilt by hand keep no run from ending whole.
func TestSpoiltReports(t *testing.T) {
	for _, spoilt := range []string{`[{"passes": 3`, `{}`, `null`} {
		h := newHouse(t)
		h.groom(groom.Options{})
		last := h.meta("last_groom_at")
		h.shell(`UPDATE meta SET value = '` + spoilt + `' WHERE key = 'groom_reports'`)
		h.clock.Advance(day)
		h.groom(groom.Options{})
		if h.meta("last_groom_at") == last {
			t.Errorf("after %s the last groom stays at %s", spoilt, last)
		}
		if reports, err := h.runner.Reports(context.Background()); err != nil || len(reports) != 1 {
			t.Errorf("after %s there are the reports %+v, %v", spoilt, reports, err)
		}
	}
}

// A historical database of whose pages a quarter is free is rewritten, one that a
// person made without auto_vacuum as well; the pass tells what that gave back.
func TestVacuumRewritesWhatIsMostlyEmpty(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		h := newHouse(t)
		h.fill(memd.Short, 0, 1500)
		r := h.roll()
		path := filepath.Join(h.dir, r.File)
		if byHand {
			h.shellOn(r.File, `PRAGMA auto_vacuum = NONE; VACUUM`)
		}
		h.groom(light)
		size := func() int64 {
			t.Helper()
			info, err := os.Stat(path)
			h.must(err)
			return info.Size()
		}
		full := size()
		h.shellOn(r.File, `DELETE FROM short WHERE rid % 3 <> 0`)
		p := h.pass(h.groom(light), "vacuum")
		if p.Bytes != full-size() || size() > full*2/3 {
			t.Errorf("by hand %v: it went from %d to %d bytes, and %d are said", byHand, full, size(), p.Bytes)
		}
		if got := h.shellOn(r.File, `PRAGMA auto_vacuum; PRAGMA freelist_count; SELECT count(*) FROM short`); got != "2\n0\n500\n" {
			t.Errorf("by hand %v: auto_vacuum, free pages and rows are %q", byHand, got)
		}
		if p := h.pass(h.groom(light), "vacuum"); p.Bytes != 0 {
			t.Errorf("by hand %v: the next run gives %d bytes back", byHand, p.Bytes)
		}
	}
}

// What a reader in the middle of its work keeps in the write-ahead log leaves it
// with the next light groom, though nothing was written since.
func TestHeldLogIsEmptiedLater(t *testing.T) {
	h := newHouse(t)
	m := h.remember(memd.Remember{Summary: "the word quokkazanzibar is secret"})
	h.groom(light)
	leave := h.leaveOpen(store.ActiveName, `BEGIN; SELECT count(*) FROM short;`)
	h.must(h.tiers.Forget(context.Background(), root, m.ID))
	h.groom(light)
	words := []string{"quokkazanzibar"}
	if len(h.files(words)) == 0 {
		t.Fatal("the word is gone already: the test shows nothing")
	}
	leave()
	h.groom(light)
	for word, file := range h.files(words) {
		t.Errorf("%s is still in %s", word, file)
	}
}
