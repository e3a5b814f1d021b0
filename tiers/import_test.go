package tiers_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/store"
	"memd/tiers"
)

// exported are the records of a house, as lines of JSON.
func (h *house) exported() []memd.Record {
	h.t.Helper()
	var all []memd.Record
	h.must(h.Export(ctx, admin, nil, func(tiers.Exported) error { return nil }, func(rec *memd.Record) error {
		all = append(all, *rec)
		return nil
	}))
	return all
}

func linesOf(t testing.TB, records []memd.Record) []string {
	t.Helper()
	var lines []string
	for _, rec := range records {
		line, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

// imports takes records in and returns their outcomes.
func (h *house) imports(records ...memd.Record) []memd.Imported {
	h.t.Helper()
	var all []memd.Imported
	for some := range slices.Chunk(records, memd.MaxRecords) {
		out, err := h.Import(ctx, admin, some, false)
		h.must(err)
		all = append(all, out...)
	}
	return all
}

// outcomes wants an outcome of each record.
func (h *house) outcomes(want memd.Outcome, records ...memd.Record) {
	h.t.Helper()
	for i, out := range h.imports(records...) {
		if out.Outcome != want || out.Outcome.Failed() && (out.Reason == "" || out.Code == "") {
			h.t.Errorf("%s %s %s: %+v, want %s", records[i].Type, records[i].ID, records[i].MemoryKey, out, want)
		}
	}
}

// furnish fills a house with rows of every tier, versions, and what was forgotten, over
// three databases.
func (h *house) furnish() {
	h.t.Helper()
	step := func() { h.clock.Advance(time.Hour) }
	h.keep("build/go", "go build runs with CGO off", func(r *memd.RememberLongTerm) { r.Kind = memd.Rule })
	h.keep("deploy/window", "deploys go out on Tuesday")
	forgotten := h.keep("forgotten/key", "this goes")
	short := h.remember("the cache was cold at nine", func(r *memd.Remember) { r.RawContent = "a long story\nof two lines"; r.Tags = []string{"cache"} })
	gone := h.remember("nobody needs this")
	step()
	h.keep("deploy/window", "deploys go out on Wednesday", func(r *memd.RememberLongTerm) { r.Access = []string{}; r.Importance = ptr(8) })
	step()
	h.roll()
	h.keep("deploy/window", "deploys go out on Thursday")
	h.keep("pitfall/cold", "a cold cache times out", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	must(h.Hit(ctx, ann, must(h.Head(ctx, ann, "", "pitfall/cold")).ID))
	closed := h.keep("pitfall/old", "an old trap", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	h.must(h.Forget(ctx, ann, gone.ID))
	h.must(h.Forget(ctx, ann, forgotten.ID))
	must(h.Patch(ctx, ann, closed.ID, memd.Patch{ResolvedAt: memd.Opt[memd.Time]{Set: true, Value: h.now()}}))
	step()
	h.roll()
	must(h.Archive(ctx, ann, short.ID))
	h.remember("设备在九点重启", func(r *memd.Remember) { r.Namespace = "project/x"; r.SessionID = "s1" })
	secret := h.keep("board/plan", "the board meets in March")
	must(h.Patch(ctx, admin, secret.ID, memd.Patch{Access: memd.Opt[[]string]{Set: true, Value: []string{"board"}}}))
	must(h.Note(ctx, ann, "s1", memd.Note{Summary: "looking at the cache"}))
	must(h.Verify(ctx, ann, must(h.Head(ctx, ann, "", "build/go")).ID, memd.Verify{SourceStatus: memd.SourceMissing}))
	h.keep("by/hand", "version one")
	h.keep("by/hand", "version two")
	h.shell(`DELETE FROM long WHERE id = '` + must(h.Head(ctx, ann, "", "by/hand")).ID + `'`)
}

// What a store exported and another one took in, that one exports just so.
func TestRoundTrip(t *testing.T) {
	from := newHouse(t, nil)
	from.furnish()
	records := from.exported()
	byTier := map[string]int{}
	for _, rec := range records {
		byTier[cmp.Or(string(rec.Tier), string(rec.Type))]++
	}
	if want := map[string]int{"long": 7, "archive": 2, "short": 1, "transient": 1, "key": 1, "tombstone": 2}; !maps.Equal(byTier, want) {
		t.Fatalf("exported %v, want %v", byTier, want)
	}
	to := newHouse(t, nil)
	to.clock.Advance(from.clock.Now().Sub(to.clock.Now()))
	to.outcomes(memd.Created, records...)
	for range 2 {
		to.outcomes(memd.Unchanged, records...)
	}
	if got, want := linesOf(t, to.exported()), linesOf(t, records); !slices.Equal(got, want) {
		t.Errorf("exported\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A key that groom has not pruned yet, and a pitfall that goes off all the time, are
// exported so that they are taken in.
func TestRoundTripOfMany(t *testing.T) {
	from := newHouse(t, nil)
	id := func(n int) string { return fmt.Sprintf("01a22e00-0000-7000-8000-%012x", n) }
	records := []memd.Record{versionRecord(id(0), "k", memd.MaxSupersedes+3, "current", current(), func(r *memd.Record) { r.Kind = memd.Pitfall })}
	for n := 1; n <= memd.MaxSupersedes+2; n++ {
		records = append(records, versionRecord(id(n), "k", n, fmt.Sprint("version ", n), behind(id(0))))
	}
	from.outcomes(memd.Created, records...)
	from.must(from.store.Update(ctx, func(tx *store.Tx) error {
		for n := range memd.MaxHits + 1 {
			if err := tx.Hit(id(0), from.at(-time.Duration(n)*time.Second)); err != nil {
				return err
			}
		}
		return nil
	}))
	all := from.exported()
	if head := all[0]; len(head.Supersedes) != memd.MaxSupersedes || head.Supersedes[0] != id(memd.MaxSupersedes+2) || len(head.Hits) != memd.MaxHits {
		t.Errorf("%d older ones and %d hits", len(head.Supersedes), len(head.Hits))
	}
	to := newHouse(t, nil)
	for _, want := range []memd.Outcome{memd.Created, memd.Unchanged} {
		to.outcomes(want, all...)
	}
	if got := must(to.Head(ctx, ann, "", "k")); got.ID != id(0) {
		t.Errorf("current is %+v", got)
	}
}
