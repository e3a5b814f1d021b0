package tiers_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/tiers"
)

// What stands under a key since before the guards is unchanged when it is sent again:
// nothing of it is written. What would be new is held against them.
func TestWhatStandsIsUnchanged(t *testing.T) {
	text := hidden["plain"]
	trace := "goroutine 1 [running]:\nmain.main()\n\t/app/main.go:12 +0x1d\nmain.run()\n\t/app/main.go:40 +0x2a\nexit status 2"
	durable := configs.DefaultGuard()
	durable.Derivable = configs.GuardBlock
	for name, c := range map[string]struct {
		guard configs.Guard
		text  string
		code  memd.Code // of a new content, "" where it is redacted
	}{
		"block": {with(configs.GuardBlock), text, memd.CodeSecretDetected}, "redact": {with(configs.GuardRedact), text, ""},
		"personal data": {configs.Guard{Cards: configs.GuardBlock}, aCard, memd.CodeSecretDetected}, "derivable": {durable, trace, memd.CodeNotDurableFact},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			guarded := h.WithGuard(c.guard)
			h.Service = h.WithGuard(configs.Guard{})
			tagged := func(tags ...string) func(*memd.RememberLongTerm) {
				return func(r *memd.RememberLongTerm) { r.Tags = tags }
			}
			was := h.keep("k", c.text, tagged("a"))
			h.Service = guarded
			h.clock.Advance(time.Hour)
			w := h.keep("k", c.text)
			if !w.Unchanged || w.ID != was.ID || w.Version != 1 || w.Summary != c.text || !w.VerifiedAt.After(was.VerifiedAt.Time) {
				t.Errorf("sent again: %+v", w)
			}
			told := strings.Join(w.Warnings, "\n")
			if strings.Contains(told, "stands since before") == (name == "derivable") || strings.Contains(told, "[redacted") {
				t.Errorf("told %q", told)
			}
			h.clean("the warning", told)
			if w := h.keep("k", c.text, tagged("b"), func(r *memd.RememberLongTerm) { r.BaseVersion = ptr(1) }); !w.Unchanged || w.Tags[0] != "b" {
				t.Errorf("with another tag: %+v", w)
			}
			_, err := h.RememberLongTerm(ctx, ann, longRequest("k", c.text, func(r *memd.RememberLongTerm) { r.BaseVersion = ptr(3) }))
			refused(t, err, memd.CodeVersionConflict, "base_version")

			for what, edit := range map[string]func(*memd.RememberLongTerm){
				"another word": func(r *memd.RememberLongTerm) { r.Summary = "now " + r.Summary },
				"a reason":     func(r *memd.RememberLongTerm) { r.Why = "it was so" },
				"a kind":       func(r *memd.RememberLongTerm) { r.Kind = memd.Decision },
				"another key":  func(r *memd.RememberLongTerm) { r.MemoryKey = "new" },
			} {
				w, err := h.RememberLongTerm(ctx, ann, longRequest("k", c.text, edit))
				if e, _ := errors.AsType[*memd.Error](err); c.code != "" && (e == nil || e.Code != c.code) {
					t.Errorf("%s: %+v, %v", what, w, err)
				}
				if c.code == "" && (err != nil || w.Unchanged || !strings.Contains(w.Summary, "[redacted:")) {
					t.Errorf("%s: %+v, %v", what, w, err)
				}
			}
		})
	}
}

// A label with a secret is refused beside a content that stands, unless it stands too.
func TestLabelsOfWhatStands(t *testing.T) {
	h := newHouse(t, nil)
	guarded := h.WithGuard(with(configs.GuardBlock))
	h.Service = h.WithGuard(configs.Guard{})
	h.keep("k", hidden["plain"], func(r *memd.RememberLongTerm) { r.Tags, r.Owner = []string{"a", aToken}, "ops" })
	short := h.remember("x "+hidden["plain"], func(r *memd.Remember) { r.Tags = []string{aToken} })
	h.Service = guarded
	if w := h.keep("k", hidden["plain"], func(r *memd.RememberLongTerm) { r.Tags = []string{aToken} }); !w.Unchanged || len(w.Tags) != 1 {
		t.Errorf("the tag that stands: %+v", w)
	}
	if w := h.remember("x "+hidden["plain"], func(r *memd.Remember) { r.Tags = []string{aToken} }); w.ID != short.ID {
		t.Errorf("the tag that stands: %+v", w)
	}
	other := strings.Replace(aToken, "q7Xw2", "Zx8Kd", 1)
	for field, edit := range map[string]func(*memd.RememberLongTerm){
		"tags":   func(r *memd.RememberLongTerm) { r.Tags = []string{aToken, other} },
		"owner":  func(r *memd.RememberLongTerm) { r.Owner = other },
		"source": func(r *memd.RememberLongTerm) { r.Source = "https://ci.internal/" + other },
	} {
		_, err := h.RememberLongTerm(ctx, ann, longRequest("k", hidden["plain"], edit))
		if e, _ := errors.AsType[*memd.Error](err); e == nil || e.Code != memd.CodeSecretDetected || !strings.Contains(strings.Join(e.Fields, " "), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for field, edit := range map[string]func(*memd.Remember){
		"tags": func(r *memd.Remember) { r.Tags = []string{other} }, "session_id": func(r *memd.Remember) { r.SessionID = other },
		"agent": func(r *memd.Remember) { r.Agent = other }, "source": func(r *memd.Remember) { r.Source = "https://ci.internal/" + other },
	} {
		_, err := h.Remember(ctx, ann, shortRequest("x "+hidden["plain"], edit))
		if e, _ := errors.AsType[*memd.Error](err); e == nil || e.Code != memd.CodeSecretDetected || !strings.Contains(strings.Join(e.Fields, " "), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if h.rows() != "1 1 0 0" {
		t.Errorf("rows: %s", h.rows())
	}
}

// A short row from before the guards is known again by what was sent, one from since by
// what was left: no write makes a second.
func TestRepeatsAcrossTheGuards(t *testing.T) {
	for _, mode := range []string{configs.GuardRedact, configs.GuardBlock} {
		h := newHouse(t, nil)
		guarded := h.WithGuard(with(mode))
		h.Service = h.WithGuard(configs.Guard{})
		old := h.remember(hidden["plain"])
		long := h.keep("k", "kept: "+hidden["plain"])
		h.Service = guarded
		h.clock.Advance(time.Hour)
		w := h.remember(hidden["plain"])
		if w.ID != old.ID || !w.Deduplicated || w.Summary != hidden["plain"] || len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "stands since before") {
			t.Errorf("%s: the old row again: %+v", mode, w)
		}
		if m, _ := h.get(old.ID); m.WrittenAt != h.now() {
			t.Errorf("%s: its last-written time is %s", mode, m.WrittenAt)
		}
		if w := h.remember("kept: " + hidden["plain"]); w.ID != long.ID || w.DuplicateOf != long.ID {
			t.Errorf("%s: the twin in long: %+v", mode, w)
		}
		if n := h.GuardCounts().Redacted["github-pat"]; n != 0 || h.shell(`SELECT count(*) FROM audit WHERE action LIKE 'guard%'`) != "0" {
			t.Errorf("%s: %d redactions are counted where nothing was taken out", mode, n)
		}
		if h.rows() != "1 1 0 0" {
			t.Errorf("%s: rows: %s", mode, h.rows())
		}
	}
}

// A repeat under an Idempotency-Key is answered as the first was, also where a guard
// came between; another request under it is still refused for that.
func TestOnceAcrossTheGuards(t *testing.T) {
	h := newHouse(t, nil)
	guarded := h.WithGuard(with(configs.GuardBlock))
	h.Service = h.WithGuard(configs.Guard{})
	under := func(key string) tiers.Once { return tiers.Once{Key: key, Print: "p"} }
	row := h.remember("to be promoted: " + hidden["plain"])
	writes := map[string]func() (memd.Written, error){
		"short": func() (memd.Written, error) {
			return h.Remember(tiers.WithOnce(ctx, under("short")), ann, shortRequest(hidden["plain"]))
		},
		"long": func() (memd.Written, error) {
			return h.RememberLongTerm(tiers.WithOnce(ctx, under("long")), ann, longRequest("k", hidden["assigned"]))
		},
		"note": func() (memd.Written, error) {
			return h.Note(tiers.WithOnce(ctx, under("note")), ann, "s", memd.Note{Summary: hidden["plain"]})
		},
		"promote": func() (memd.Written, error) {
			return h.Promote(tiers.WithOnce(ctx, under("promote")), ann, row.ID, memd.Promote{MemoryKey: "p", Source: agents})
		},
	}
	first := map[string]memd.Written{}
	for name, write := range writes {
		first[name] = must(write())
	}
	h.Service = guarded
	for name, write := range writes {
		if w, err := write(); err != nil || w.ID != first[name].ID || w.Created != first[name].Created || w.Unchanged {
			t.Errorf("%s again: %+v, %v", name, w, err)
		}
	}
	other := tiers.WithOnce(ctx, tiers.Once{Key: "short", Print: "q"})
	_, err := h.Remember(other, ann, shortRequest("other "+hidden["plain"]))
	refused(t, err, memd.CodeInvalidRequest, "")
}

// An old row leaves the short tier as it is, comes back redacted, and is promoted onto
// a head that says the same already.
func TestOldRowsMove(t *testing.T) {
	h := newHouse(t, nil)
	guarded := h.Service
	h.Service = h.WithGuard(configs.Guard{})
	old := h.remember(hidden["plain"])
	same := h.remember("the same " + hidden["plain"])
	head := h.keep("k", "the same "+hidden["plain"])
	h.Service = guarded
	if w := must(h.Archive(ctx, ann, old.ID)); w.Tier != memd.Archive || w.Summary != hidden["plain"] {
		t.Errorf("archived: %+v", w)
	}
	if w := must(h.Promote(ctx, ann, old.ID, memd.Promote{To: memd.Short})); w.Summary != "the bot uses [redacted:github-pat] for pushes" || w.ContentHash != tiers.ContentHash(&w.Memory) {
		t.Errorf("back: %+v", w)
	}
	w := must(h.Promote(ctx, ann, same.ID, memd.Promote{MemoryKey: "k", Source: agents, Kind: memd.Fact}))
	if w.ID != head.ID || !w.Unchanged {
		t.Errorf("promoted onto its twin: %+v", w)
	}
	h.gone(same.ID)
	if w := must(h.Patch(ctx, ann, head.ID, memd.Patch{Importance: memd.Some(9)})); w.Importance != 9 {
		t.Errorf("patched: %+v", w)
	}
}
