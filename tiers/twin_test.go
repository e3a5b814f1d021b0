package tiers_test

import (
	"strings"
	"testing"
	"time"

	"memd"
)

// A long row that will be gone, sunk or archived while the write should still be
// found does not stand for it.
func TestLongTwinThatDoesNotLast(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*house, memd.Written)
		until time.Duration // what the write asks for, 0: no end
		twin  bool
	}{
		"no end after one":     {expiring(3 * time.Second), 0, false},
		"a later end":          {expiring(time.Hour), 2 * time.Hour, false},
		"the same end":         {expiring(time.Hour), time.Hour, true},
		"a sooner end":         {expiring(2 * time.Hour), time.Hour, true},
		"an end where none is": {func(*house, memd.Written) {}, time.Hour, true},
		"resolved": {func(h *house, w memd.Written) {
			h.must(second(h.Patch(ctx, ann, w.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})))
		}, 0, true},
		"a resolved pitfall that nobody archived": {func(h *house, w memd.Written) {
			h.shell(`UPDATE long SET kind = 'pitfall', resolved_at = updated_at`)
		}, 0, false},
		"stale by age": {func(h *house, _ memd.Written) { h.clock.Advance(400 * day) }, 0, true},
		"marked stale": {func(h *house, _ memd.Written) {
			h.shell(`UPDATE long SET stale = 1, stale_reason = 'source_missing'`)
		}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			long := h.keep("k", "a durable fact")
			c.spoil(h, long)
			write := func(r *memd.Remember) {
				if c.until > 0 {
					r.ExpiresAt = h.at(c.until)
				}
			}
			w := h.remember("a durable fact", write)
			if (w.DuplicateOf == long.ID) != c.twin || w.Created == c.twin {
				t.Fatalf("answered %+v", w)
			}
			if again := h.remember("a durable fact", write); !again.Deduplicated || again.ID != w.ID {
				t.Errorf("again: %+v", again)
			}
			if c.until > 0 {
				h.clock.Advance(c.until - time.Second)
			} else {
				h.clock.Advance(day)
			}
			if m, ok := h.get(w.ID); !ok {
				t.Errorf("what was written is gone: %+v", m)
			}
		})
	}
}

func expiring(d time.Duration) func(*house, memd.Written) {
	return func(h *house, w memd.Written) {
		h.must(second(h.Patch(ctx, ann, w.ID, memd.Patch{ExpiresAt: memd.Some(h.at(d))})))
	}
}

// Of two equal rows that one stands which may.
func TestTheTwinThatLasts(t *testing.T) {
	h := newHouse(t, nil)
	lasting := h.keep("k", "a durable fact")
	expiring(time.Minute)(h, h.keep("l", "a durable fact")) // the newer one, asked first
	if w := h.remember("a durable fact"); w.DuplicateOf != lasting.ID {
		t.Errorf("answered %+v", w)
	}
}

// What is written again asks for no end and is not over: a head that was to expire or
// was resolved stays as a new version would, and the writer is told.
func TestWrittenAgainLasts(t *testing.T) {
	for name, again := range map[string]func(*house) (memd.Written, error){
		"long": func(h *house) (memd.Written, error) {
			return h.RememberLongTerm(ctx, ann, longRequest("k", "a durable fact"))
		},
		"promoted": func(h *house) (memd.Written, error) {
			short := must(h.Remember(ctx, ann, shortRequest("a durable fact")))
			return h.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "k", Source: agents, Kind: memd.Fact})
		},
		"promoted from before": func(h *house) (memd.Written, error) {
			short := must(h.Remember(ctx, ann, shortRequest("a durable fact")))
			return h.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "k", Source: agents, Kind: memd.Fact, VerifiedAt: h.at(-day)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			head := h.keep("k", "a durable fact")
			h.must(second(h.Patch(ctx, ann, head.ID, memd.Patch{ExpiresAt: memd.Some(h.at(3 * time.Second)), ResolvedAt: memd.Some(h.now())})))
			w, err := again(h)
			h.must(err)
			told := strings.Join(w.Warnings, "\n")
			if !w.Unchanged || w.ID != head.ID || !w.ExpiresAt.IsZero() || !w.ResolvedAt.IsZero() ||
				!strings.Contains(told, "expires_at") || !strings.Contains(told, "resolved_at") {
				t.Errorf("answered %+v", w)
			}
			h.clock.Advance(time.Hour)
			if m, ok := h.get(head.ID); !ok || !m.ResolvedAt.IsZero() {
				t.Errorf("the head is %+v", m)
			}
			if w := h.keep("k", "a durable fact"); len(w.Warnings) != 0 {
				t.Errorf("once more: %q", w.Warnings)
			}
		})
	}
	h := newHouse(t, nil)
	short := h.remember("a task to do", func(r *memd.Remember) { r.Kind = memd.Task })
	h.must(second(h.Patch(ctx, ann, short.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	w := h.remember("a task to do")
	if m, _ := h.get(short.ID); w.ID != short.ID || !m.ResolvedAt.IsZero() || len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "resolved_at") {
		t.Errorf("the short row is %+v, answered %+v", m, w)
	}
}

// Whatever a write states and the row that stands does not keep is named to it, and
// nothing else is.
func TestWarningsOfATwin(t *testing.T) {
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr"}}
	in := func(h *house, d time.Duration) memd.Time { return h.at(d) }
	for name, c := range map[string]struct {
		edit        func(*house, *memd.Remember)
		short, long string // what is named
	}{
		"nothing":    {func(*house, *memd.Remember) {}, "", ""},
		"kind":       {func(_ *house, r *memd.Remember) { r.Kind = memd.Decision }, "kind", "kind"},
		"source":     {func(_ *house, r *memd.Remember) { r.Source = "docs/a.md" }, "source", "source"},
		"the same":   {func(_ *house, r *memd.Remember) { r.Kind, r.Source, r.Importance = memd.Fact, agents, ptr(5) }, "", ""},
		"session":    {func(_ *house, r *memd.Remember) { r.SessionID = "s" }, "session_id", "session_id"},
		"agent":      {func(_ *house, r *memd.Remember) { r.Agent = "bot" }, "agent", "agent"},
		"expires_at": {func(h *house, r *memd.Remember) { r.ExpiresAt = in(h, time.Hour) }, "expires_at", "expires_at"},
		"access":     {func(_ *house, r *memd.Remember) { r.Access = []string{"hr"} }, "", "access"}, // in short no twin
		"several": {func(_ *house, r *memd.Remember) {
			r.Importance, r.Tags, r.Kind, r.Source, r.Agent = ptr(9), []string{"a"}, memd.Task, "docs/a.md", "bot"
		}, "kind, importance, tags, source and agent", "kind, importance, tags, source and agent"},
	} {
		for tier, want := range map[string]string{"short": c.short, "long": c.long} {
			t.Run(name+" "+tier, func(t *testing.T) {
				h := newHouse(t, nil)
				if tier == "long" {
					h.keep("k", "said once")
				} else {
					h.remember("said once", func(r *memd.Remember) { r.Kind, r.Source = memd.Fact, agents })
				}
				req := shortRequest("said once")
				c.edit(h, &req)
				w := must(h.Remember(ctx, boss, req))
				switch {
				case want == "" && len(w.Warnings) != 0:
					t.Errorf("told %q", w.Warnings)
				case want != "" && (len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "keeps its "+want+"; ")):
					t.Errorf("told %q, want %s", w.Warnings, want)
				}
			})
		}
	}
}
