package tiers_test

import (
	"fmt"
	"slices"
	"testing"

	"memd"
)

// A key that is restricted now was not open before: whatever puts tags on its
// head puts them on its older versions too, those in the archive included.
func TestAccessTagsCoverOlderVersions(t *testing.T) {
	hr := []string{"hr"}
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr", "law"}}
	for name, restrict := range map[string]func(*house, memd.Written) string{ // returns what became the head
		"patch": func(h *house, head memd.Written) string {
			h.must(second(h.Patch(ctx, boss, head.ID, memd.Patch{Access: memd.Some(hr)})))
			return head.ID
		},
		"upsert": func(h *house, _ memd.Written) string {
			return must(h.RememberLongTerm(ctx, boss, longRequest("k", "trap 3", func(r *memd.RememberLongTerm) { r.Access = hr }))).ID
		},
		"refresh": func(h *house, head memd.Written) string {
			w := must(h.RememberLongTerm(ctx, boss, longRequest("k", head.Summary, func(r *memd.RememberLongTerm) { r.Access = hr })))
			if !w.Unchanged {
				t.Error("the same content is a new version")
			}
			return w.ID
		},
		"promotion": func(h *house, _ memd.Written) string {
			short := must(h.Remember(ctx, boss, memd.Remember{Summary: "trap 3", Access: hr}))
			return must(h.Promote(ctx, boss, short.ID, memd.Promote{MemoryKey: "k", Source: agents})).ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			trap := func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }
			v0 := h.keep("k", "trap 0", trap)
			h.must(second(h.Patch(ctx, ann, v0.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})))
			h.must(second(h.Archive(ctx, ann, v0.ID)))
			v1 := h.keep("k", "trap 1", trap)
			v2 := h.keep("k", "trap 2", trap)
			h.shell(`UPDATE long SET access = '["law"]', summary = 'trap I' WHERE id = '` + v1.ID + `'`)
			other := h.keep("other", "trap")
			if v, err := h.Versions(ctx, ann, "", "k"); err != nil || len(v) != 2 { // all but v1
				t.Fatalf("before: %d versions, %v", len(v), err)
			}
			last := restrict(h, v2)
			for _, id := range []string{v0.ID, v1.ID, v2.ID, last} {
				for _, c := range []memd.Caller{ann, reader} {
					if m, err := h.Get(ctx, c, id); memd.CodeOf(err) != memd.CodeNotFound {
						t.Errorf("%s reads %q, %v", c.Name, m.Summary, err)
					}
				}
				m, err := h.Get(ctx, boss, id)
				if err != nil || !slices.Contains(m.Access, "hr") || slices.Contains(m.Access, "law") != (id == v1.ID) {
					t.Errorf("%q has the tags %q, %v", m.Summary, m.Access, err)
				}
			}
			refused(t, second(h.Versions(ctx, reader, "", "k")), memd.CodeNotFound, "")
			if m, ok := h.get(other.ID); !ok || len(m.Access) != 0 {
				t.Errorf("another key has the tags %q", m.Access)
			}
			if m, _ := h.get(v1.ID); m.Summary != "trap I" || m.ContentHash == v1.ContentHash {
				t.Error("a version edited by hand was given the hash of its old wording")
			}
		})
	}
}

// Tags on an older version say nothing of newer ones, and lifting them from
// the head lifts them from it alone.
func TestAccessTagsOfOneVersion(t *testing.T) {
	h := newHouse(t, nil)
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr"}}
	var ids []string
	for n := range 3 {
		ids = append(ids, h.keep("k", fmt.Sprint("wording ", n)).ID)
	}
	seen := func(want ...string) {
		t.Helper()
		v, err := h.Versions(ctx, ann, "", "k")
		h.must(err)
		got := []string{}
		for _, m := range v {
			got = append(got, m.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("ann sees the versions %q, want %q", got, want)
		}
	}
	h.must(second(h.Patch(ctx, boss, ids[1], memd.Patch{Access: memd.Some([]string{"hr"})})))
	seen(ids[2])
	h.must(second(h.Patch(ctx, boss, ids[2], memd.Patch{Access: memd.Some([]string{"hr"})})))
	h.must(second(h.Patch(ctx, boss, ids[2], memd.Patch{Access: memd.Null[[]string]()})))
	seen(ids[2])
}
