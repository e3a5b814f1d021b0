package tiers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
)

// permutations calls fn with every order of items.
func permutations[T any](items []T, fn func([]T)) {
	var place func(n int)
	place = func(n int) {
		if n == len(items) {
			fn(slices.Clone(items))
			return
		}
		for i := n; i < len(items); i++ {
			items[n], items[i] = items[i], items[n]
			place(n + 1)
			items[n], items[i] = items[i], items[n]
		}
	}
	place(0)
}

// threeVersions is a key as a store exports it, in the namespace ns.
func threeVersions(ns string) []memd.Record {
	in := func(r *memd.Record) { r.Namespace = ns }
	id := func(n int) string {
		return fmt.Sprintf("01a22e00-0000-7000-8000-%06x%06d", len(ns)<<8+int(ns[len(ns)-1]), n)
	}
	return []memd.Record{
		versionRecord(id(3), "k", 3, "version three", current(id(2), id(1)), in),
		versionRecord(id(2), "k", 2, "version two", behind(id(3)), in),
		versionRecord(id(1), "k", 1, "version one", behind(id(3)), in),
	}
}

// In whatever order the versions of a key come, one by one, the head is right after each
// of them: a superseded version never is one.
func TestImportOrder(t *testing.T) {
	h := newHouse(t, nil)
	n := 0
	permutations([]int{0, 1, 2}, func(order []int) {
		n++
		ns := fmt.Sprintf("team/%d", n)
		records := threeVersions(ns)
		came := false
		for _, i := range order {
			h.outcomes(memd.Created, records[i])
			came = came || records[i].IsHead
			m, err := h.Head(ctx, admin, ns, "k")
			switch {
			case came && (err != nil || m.Version != 3 || m.Summary != "version three"):
				t.Errorf("%v: the head is %+v, %v", order, m, err)
			case !came && memd.CodeOf(err) != memd.CodeNotFound:
				t.Errorf("%v: a superseded version is the head: %+v, %v", order, m, err)
			}
		}
		if found := must(h.Versions(ctx, admin, ns, "k")); len(found) != 3 {
			t.Errorf("%v: %d versions", order, len(found))
		}
		h.outcomes(memd.Unchanged, records...)
		next, err := h.RememberLongTerm(ctx, admin, longRequest("k", "version four", func(r *memd.RememberLongTerm) { r.Namespace = ns }))
		if err != nil || next.Version != 4 {
			t.Errorf("%v: the next version is %d, %v", order, next.Version, err)
		}
		h.outcomes(memd.Unchanged, records...)
	})
}

// A store that has an earlier state of a key takes the later one in: its head follows.
func TestImportFollows(t *testing.T) {
	for _, rolled := range []bool{false, true} {
		t.Run(fmt.Sprintf("rolled %t", rolled), func(t *testing.T) {
			h := newHouse(t, nil)
			now := threeVersions("default")
			was := now[2]
			was.IsHead, was.SupersededBy = true, ""
			h.outcomes(memd.Created, was)
			if rolled {
				h.roll()
			}
			for _, out := range h.imports(now...) {
				if out.Outcome.Failed() {
					t.Errorf("%+v", out)
				}
			}
			if m := must(h.Head(ctx, admin, "", "k")); m.Version != 3 {
				t.Errorf("the head is version %d", m.Version)
			}
			h.outcomes(memd.Unchanged, now...)
			h.outcomes(memd.Unchanged, was)
			if m := must(h.Head(ctx, admin, "", "k")); m.Version != 3 {
				t.Errorf("the head is version %d after the earlier state came again", m.Version)
			}
		})
	}
}

// Two stores have written the same key. What stands here stays as it is, to the letter;
// what comes is refused with a reason.
func TestImportForeignKey(t *testing.T) {
	for name, prepare := range map[string]func(h *house){
		"one version": func(h *house) { h.keep("k", "ours") },
		"as many":     func(h *house) { h.keep("k", "ours"); h.keep("k", "ours two"); h.keep("k", "ours three") },
		"more": func(h *house) {
			for i := range 5 {
				h.keep("k", fmt.Sprint("ours ", i))
			}
		},
		"in history": func(h *house) { h.keep("k", "ours"); h.roll(); h.keep("k", "ours two"); h.roll() },
		"older ones gone": func(h *house) {
			h.keep("k", "ours")
			h.keep("k", "ours two")
			h.shell(`DELETE FROM long WHERE version = 1`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			prepare(h)
			was := h.exported()
			permutations([]int{0, 1, 2}, func(order []int) {
				for _, i := range order {
					out := h.imports(threeVersions("default")[i])[0]
					if out.Outcome != memd.Conflict || out.Reason == "" || strings.Contains(out.Reason, "ours") {
						t.Errorf("%v: %+v", order, out)
					}
				}
			})
			if got, want := linesOf(t, h.exported()), linesOf(t, was); !slices.Equal(got, want) {
				t.Errorf("the key is now\n%s\nand was\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// A key that was written on here after it was taken in keeps what was written.
func TestImportKeepsLater(t *testing.T) {
	h := newHouse(t, nil)
	records := threeVersions("default")
	h.imports(records...)
	h.keep("k", "ours, the fourth")
	fourth := versionRecord(idD, "k", 4, "theirs, the fourth", current(records[0].ID, records[1].ID, records[2].ID))
	fifth := versionRecord(idC, "k", 5, "theirs, the fifth", current(idD, records[0].ID))
	h.outcomes(memd.Conflict, fourth, fifth)
	if m := must(h.Head(ctx, admin, "", "k")); m.Summary != "ours, the fourth" {
		t.Errorf("the head is %q", m.Summary)
	}
}

// A counter keeps what was deleted by hand from coming back, and no number is given out
// twice.
func TestImportCounter(t *testing.T) {
	h := newHouse(t, nil)
	counter := memd.Record{Type: memd.KeyRecord, Namespace: "default", MemoryKey: "k", Version: 5}
	h.outcomes(memd.Created, counter)
	h.outcomes(memd.Unchanged, counter)
	two := versionRecord(idA, "k", 2, "version two")
	h.outcomes(memd.Created, two)
	if _, err := h.Head(ctx, admin, "", "k"); memd.CodeOf(err) != memd.CodeNotFound {
		t.Errorf("version two revived: %v", err)
	}
	h.outcomes(memd.Conflict, versionRecord(idB, "k", 3, "version three", current(idA)))
	if w := h.keep("k", "written anew"); w.Version != 6 {
		t.Errorf("version %d", w.Version)
	}
	counter.Version = 9
	h.outcomes(memd.Conflict, counter) // the key lives here
	if m := must(h.Head(ctx, admin, "", "k")); m.Summary != "written anew" {
		t.Errorf("the head is %q", m.Summary)
	}
}

// An older version that comes later shows to nobody to whom the head does not.
func TestImportCovers(t *testing.T) {
	h := newHouse(t, nil)
	records := threeVersions("default")
	h.outcomes(memd.Created, records[0])
	must(h.Patch(ctx, admin, records[0].ID, memd.Patch{Access: memd.Opt[[]string]{Set: true, Value: []string{"board"}}}))
	h.outcomes(memd.Created, records[1], records[2])
	if found, err := h.Versions(ctx, ann, "", "k"); memd.CodeOf(err) != memd.CodeNotFound {
		t.Errorf("shown to ann: %+v, %v", found, err)
	}
}

// What was forgotten here stays so, whether it comes under its id or says the same
// under another, but for what was written after.
func TestImportOfForgotten(t *testing.T) {
	for _, rolled := range []bool{false, true} {
		t.Run(fmt.Sprintf("rolled %t", rolled), func(t *testing.T) {
			h := newHouse(t, nil)
			short := h.remember("nobody needs this")
			long := h.keep("forgotten/key", "nor this")
			h.clock.Advance(time.Minute)
			before := h.exported()
			h.must(h.Forget(ctx, ann, short.ID))
			h.must(h.Forget(ctx, ann, long.ID))
			h.remember("stays")
			if rolled {
				h.roll()
			}
			h.outcomes(memd.Tombstoned, before...)
			written := func(at memd.Time) func(*memd.Record) { return func(r *memd.Record) { r.CreatedAt = at } }
			h.outcomes(memd.Tombstoned,
				shortRecord(idA, "nobody needs this", written(h.at(-time.Hour))), shortRecord("", " nobody  needs this ", written(h.at(-time.Hour))),
				versionRecord("", "forgotten/key", 0, "nor this", written(h.at(-time.Hour))))
			if rows := h.rows(); rows != "0 1 0 0" {
				t.Errorf("rows %s", rows)
			}
			h.clock.Advance(time.Minute)
			h.outcomes(memd.Created, shortRecord(idA, "nobody needs this"), versionRecord(idB, "another/key", 1, "nor this", current(), written(h.at(-time.Hour))))
		})
	}
}

// What was forgotten there is forgotten here as well, and stays so; unless it was changed
// here since.
func TestImportOfTombstones(t *testing.T) {
	for _, rolled := range []bool{false, true} {
		t.Run(fmt.Sprintf("rolled %t", rolled), func(t *testing.T) {
			from, h := newHouse(t, nil), newHouse(t, nil)
			short := from.remember("nobody needs this")
			from.keep("k", "version one")
			long := from.keep("k", "version two")
			changed := from.remember("somebody needs this")
			before := from.exported()
			h.outcomes(memd.Created, before...)
			if rolled {
				h.roll()
			}
			from.clock.Advance(time.Hour)
			for _, id := range []string{short.ID, long.ID, changed.ID} {
				from.must(from.Forget(ctx, ann, id))
			}
			h.clock.Advance(2 * time.Hour)
			must(h.Patch(ctx, ann, changed.ID, memd.Patch{Importance: memd.Opt[int]{Set: true, Value: 9}}))
			graves := from.exported()
			for round, want := range []memd.Outcome{memd.Forgotten, memd.Unchanged, memd.Unchanged} {
				for i, out := range h.imports(graves...) {
					if graves[i].ID == changed.ID && out.Outcome != memd.Conflict || graves[i].ID != changed.ID && out.Outcome != want {
						t.Errorf("round %d: %s %+v", round, graves[i].ID, out)
					}
				}
			}
			h.gone(short.ID)
			h.gone(long.ID)
			if _, err := h.Head(ctx, admin, "", "k"); memd.CodeOf(err) != memd.CodeNotFound {
				t.Errorf("the key lives: %v", err)
			}
			if m, ok := h.get(changed.ID); !ok || m.Importance != 9 {
				t.Error("what was changed here is gone")
			}
			for i, out := range h.imports(before...) {
				if want := memd.Tombstoned; before[i].ID != changed.ID && out.Outcome != want {
					t.Errorf("%s %+v, want %s", before[i].ID, out, want)
				}
			}
			if w := h.keep("k", "written anew"); w.Version != 1 {
				t.Errorf("version %d", w.Version)
			}
		})
	}
}

// A tombstone of one version leaves the others, of which none revives.
func TestTombstoneOfAHead(t *testing.T) {
	for _, rolled := range []bool{false, true} {
		h := newHouse(t, nil)
		records := threeVersions("default")
		h.imports(records...)
		if rolled {
			h.roll()
		}
		head := memd.Memory{Summary: "version three"}
		h.clock.Advance(time.Minute)
		h.outcomes(memd.Forgotten, grave(records[0].ID, "k", &head, h.now()))
		if _, err := h.Head(ctx, admin, "", "k"); memd.CodeOf(err) != memd.CodeNotFound {
			t.Errorf("rolled %t: an older version revived: %v", rolled, err)
		}
		if _, ok := h.get(records[1].ID); !ok {
			t.Errorf("rolled %t: version two is gone", rolled)
		}
		if w := h.keep("k", "written anew"); w.Version != 4 {
			t.Errorf("rolled %t: version %d", rolled, w.Version)
		}
	}
}
