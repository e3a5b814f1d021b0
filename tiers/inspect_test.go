package tiers_test

import (
	"strings"
	"testing"

	"memd"
	"memd/configs"
)

const aDiff = "--- a/limits\n+++ b/limits\n@@ -1 +1 @@\n-5\n+8"

// guarded is the house with a guard's setting.
func guarded(t *testing.T, derivable string) *house {
	h := newHouse(t, nil)
	h.Service = h.WithGuard(configs.Guard{Derivable: derivable})
	return h
}

// What code or git can be asked for is written with a warning on every way in, and
// refused in the long tier alone, where the configuration says so.
func TestDerivable(t *testing.T) {
	for name, write := range map[string]func(h *house, text string) (memd.Written, error){
		"remember": func(h *house, text string) (memd.Written, error) {
			return h.Remember(ctx, ann, memd.Remember{Summary: text})
		},
		"remember again": func(h *house, text string) (memd.Written, error) {
			h.remember(text)
			return h.Remember(ctx, ann, memd.Remember{Summary: text})
		},
		"long": func(h *house, text string) (memd.Written, error) {
			return h.RememberLongTerm(ctx, ann, longRequest("k", text))
		},
		"long, in its reason": func(h *house, text string) (memd.Written, error) {
			return h.RememberLongTerm(ctx, ann, longRequest("k", "the limit was raised", func(r *memd.RememberLongTerm) { r.Why = text }))
		},
		"promote": func(h *house, text string) (memd.Written, error) {
			return h.Promote(ctx, ann, h.remember(text).ID, memd.Promote{MemoryKey: "k", Source: agents})
		},
		"promote, in what it adds": func(h *house, text string) (memd.Written, error) {
			return h.Promote(ctx, ann, h.remember("the limit was raised").ID, memd.Promote{MemoryKey: "k", Source: agents, HowToApply: text})
		},
	} {
		t.Run(name, func(t *testing.T) {
			long := !strings.HasPrefix(name, "remember")
			w, err := write(guarded(t, configs.GuardWarn), aDiff)
			if err != nil || len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "(diff)") || strings.Contains(w.Warnings[0], "limits") {
				t.Errorf("warn: %q, %v", w.Warnings, err)
			}
			if w, err = write(guarded(t, configs.GuardOff), aDiff); err != nil || len(w.Warnings) != 0 {
				t.Errorf("off: %q, %v", w.Warnings, err)
			}
			h := guarded(t, configs.GuardBlock)
			w, err = write(h, aDiff)
			if !long {
				if err != nil || len(w.Warnings) != 1 {
					t.Errorf("block: %q, %v", w.Warnings, err)
				}
				return
			}
			if memd.CodeOf(err) != memd.CodeNotDurableFact || strings.Contains(err.Error(), "limits") {
				t.Errorf("block: %v", err)
			}
			if n := h.shell(`SELECT count(*) FROM long`); n != "0" {
				t.Errorf("%s long rows after a refusal", n)
			}
			if w, err = write(h, "the limit is 8, see limits"); err != nil || len(w.Warnings) != 0 {
				t.Errorf("a fact: %q, %v", w.Warnings, err)
			}
		})
	}
}

// A note is of one session, and need not last.
func TestDerivableNote(t *testing.T) {
	h := guarded(t, configs.GuardBlock)
	if w, err := h.Note(ctx, ann, "s1", memd.Note{Summary: aDiff}); err != nil || len(w.Warnings) != 0 {
		t.Errorf("%q, %v", w.Warnings, err)
	}
}

// A row that came before the guard is still verified and changed.
func TestDerivableStands(t *testing.T) {
	h := newHouse(t, nil)
	old := h.keep("k", aDiff)
	h.Service = h.WithGuard(configs.Guard{Derivable: configs.GuardBlock})
	h.must(second(h.Verify(ctx, ann, old.ID, memd.Verify{})))
	h.must(second(h.Patch(ctx, ann, old.ID, memd.Patch{Importance: memd.Some(9)})))
}
