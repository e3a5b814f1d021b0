package tiers_test

import (
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/tiers"
)

// dated is a house in which it is Monday, 2026-11-30, 10:00 UTC.
func dated(t *testing.T, edit func(*configs.Budgets)) *house {
	h := newHouse(t, edit)
	h.clock.Advance(time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC).Sub(h.clock.Now()))
	h.Service = h.WithDates(configs.Dates{Absolute: true, TimeZone: "UTC"})
	return h
}

const aDay = 24 * time.Hour

// planned writes a project note.
func (h *house) planned(key, summary string, edits ...func(*memd.RememberLongTerm)) memd.Written {
	h.t.Helper()
	return h.keep(key, summary, append([]func(*memd.RememberLongTerm){func(r *memd.RememberLongTerm) {
		r.Kind, r.Why, r.HowToApply = memd.Project, "the branch is cut then", "check the date"
	}}, edits...)...)
}

func (h *house) raw(id string) string {
	h.t.Helper()
	m, _ := h.get(id)
	return m.RawContent
}

// What is remembered gets its dates as it is written, in both texts; what holds at any
// time and what is a note of a session gets none.
func TestDatesOfShort(t *testing.T) {
	h := dated(t, nil)
	w := h.remember("Ship on Thursday", func(r *memd.Remember) { r.RawContent = "下周四上线" })
	if w.Summary != "Ship on Thursday (2026-12-03)" || h.raw(w.ID) != "下周四（2026-12-10）上线" || w.ContentHash == "" {
		t.Errorf("%q, %q", w.Summary, h.raw(w.ID))
	}
	if m, _ := h.get(w.ID); m.ContentHash != tiers.ContentHash(&m) {
		t.Error("the hash is of another text")
	}
	for _, k := range []memd.Kind{memd.Rule, memd.Practice, memd.Pitfall, memd.Preference, memd.Fact} {
		text := string(k) + ": deploy on Thursday"
		if w := h.remember(text, func(r *memd.Remember) { r.Kind = k }); w.Summary != text {
			t.Errorf("%s: %q", k, w.Summary)
		}
	}
	for _, k := range []memd.Kind{memd.Task, memd.Summary, memd.Decision, memd.Project} {
		if w := h.remember(string(k)+": due tomorrow", func(r *memd.Remember) { r.Kind = k }); !strings.HasSuffix(w.Summary, "tomorrow (2026-12-01)") {
			t.Errorf("%s: %q", k, w.Summary)
		}
	}
	if w, err := h.Note(ctx, ann, "s", memd.Note{Summary: "Ship tomorrow"}); err != nil || w.Summary != "Ship tomorrow" {
		t.Errorf("a note: %q, %v", w.Summary, err)
	}
}

// The same words are one memory on one day, and two on two days that they tell.
func TestDatesOfRepeats(t *testing.T) {
	h := dated(t, nil)
	first := h.remember("The build broke yesterday")
	h.clock.Advance(time.Hour)
	if w := h.remember("The build broke yesterday"); w.ID != first.ID || !w.Deduplicated {
		t.Errorf("on the same day: %+v", w)
	}
	if w := h.remember(first.Summary); w.ID != first.ID || !w.Deduplicated {
		t.Errorf("quoted: %+v", w)
	}
	h.clock.Advance(aDay)
	second := h.remember("The build broke yesterday")
	if second.ID == first.ID || second.Summary != "The build broke yesterday (2026-11-30)" {
		t.Errorf("on the next day: %+v", second)
	}
	if w := h.remember(first.Summary); w.ID != first.ID || w.Summary != "The build broke yesterday (2026-11-29)" {
		t.Errorf("the older one, quoted: %+v", w)
	}
	ship := h.remember("Ship on Thursday")
	h.clock.Advance(aDay)
	if w := h.remember("Ship on Thursday"); w.ID != ship.ID {
		t.Errorf("the same Thursday, a day later: %+v", w)
	}
	long := h.planned("ship", "Demo on Friday")
	if w := h.remember("Demo on Friday", func(r *memd.Remember) { r.Kind = memd.Event }); w.ID == long.ID || w.Summary != long.Summary {
		t.Errorf("another content than that of the note with its reasons: %+v", w)
	}
}

// A project note gets dates in all of its texts, and keeps them when the same words are
// written again later; other words get the dates of their own day.
func TestDatesOfProjects(t *testing.T) {
	h := dated(t, nil)
	reasons := func(r *memd.RememberLongTerm) {
		r.RawContent, r.Why, r.HowToApply = "QA starts tomorrow.\nRelease 下周四.", "the vendor leaves next week", "ask before Friday"
	}
	w := h.planned("ship", "Ship on Thursday", reasons)
	if w.Summary != "Ship on Thursday (2026-12-03)" || w.Why != "the vendor leaves next week (2026-12-07 to 2026-12-13)" ||
		w.HowToApply != "ask before Friday (2026-12-04)" || h.raw(w.ID) != "QA starts tomorrow (2026-12-01).\nRelease 下周四（2026-12-10）." {
		t.Errorf("%+v %q", w, h.raw(w.ID))
	}
	h.clock.Advance(7 * aDay)
	for name, again := range map[string]memd.Written{
		"the same words":       h.planned("ship", "Ship on Thursday", reasons),
		"in other white space": h.planned("ship", " Ship  on Thursday\n", reasons),
		"with a date":          h.planned("ship", "Ship on Thursday (2026-12-03)", reasons),
		"without a kind":       h.planned("ship", "Ship on Thursday", reasons, func(r *memd.RememberLongTerm) { r.Kind = "" }),
		"as it stands":         h.planned("ship", w.Summary, func(r *memd.RememberLongTerm) { r.RawContent, r.Why, r.HowToApply = h.raw(w.ID), w.Why, w.HowToApply }),
	} {
		if !again.Unchanged || again.ID != w.ID || again.Summary != w.Summary {
			t.Errorf("%s: unchanged %v, version %d, %q", name, again.Unchanged, again.Version, again.Summary)
		}
	}
	if w := h.planned("ship", "Ship on Thursday (2026-12-10)", reasons); w.Unchanged || w.Version != 2 || w.Summary != "Ship on Thursday (2026-12-10)" {
		t.Errorf("with a date of its own: %+v", w)
	}
	if w := h.planned("ship", "Ship on Thursday, at last", reasons); w.Version != 3 || w.Summary != "Ship on Thursday (2026-12-10), at last" || w.Why != "the vendor leaves next week (2026-12-14 to 2026-12-20)" {
		t.Errorf("other words: %+v", w)
	}
	if w := h.keep("ship", "Ship tomorrow", reasons); w.Kind != memd.Project || w.Summary != "Ship tomorrow (2026-12-08)" {
		t.Errorf("of the head's kind: %+v", w)
	}
}

// Other kinds of long rows are left alone, and keep the dates that they have.
func TestDatesOfOtherKinds(t *testing.T) {
	h := dated(t, nil)
	for _, k := range memd.AllKinds() {
		if k == memd.Project || !k.Durable() {
			continue
		}
		of := func(r *memd.RememberLongTerm) { r.Kind, r.Why, r.HowToApply = k, "said yesterday", "on Thursday" }
		if w := h.keep(string(k), "Ship on Thursday", of); w.Summary != "Ship on Thursday" || w.Why != "said yesterday" || w.HowToApply != "on Thursday" {
			t.Errorf("%s: %+v", k, w)
		}
	}
	row := h.remember("We go with NATS from next week", func(r *memd.Remember) { r.Kind = memd.Decision })
	up := must(h.Promote(ctx, ann, row.ID, memd.Promote{MemoryKey: "bus", Source: agents}))
	h.clock.Advance(30 * aDay)
	if w := h.keep("bus", "We go with NATS from next week", func(r *memd.RememberLongTerm) { r.Kind = memd.Decision }); !w.Unchanged || w.Summary != up.Summary {
		t.Errorf("%+v", w)
	}
}

// A row that is promoted was said when it was written.
func TestDatesOfPromoted(t *testing.T) {
	h := dated(t, nil)
	on := h.Service
	h.Service = on.WithDates(configs.Dates{})
	row := h.remember("Ship on Thursday")
	if row.Summary != "Ship on Thursday" {
		t.Errorf("switched off: %q", row.Summary)
	}
	h.Service = on
	h.clock.Advance(14 * aDay)
	w := must(h.Promote(ctx, ann, row.ID, memd.Promote{MemoryKey: "ship", Source: agents, Kind: memd.Project, Why: "the vendor leaves tomorrow", HowToApply: "ask"}))
	if w.Summary != "Ship on Thursday (2026-12-03)" || w.Why != "the vendor leaves tomorrow (2026-12-15)" {
		t.Errorf("%+v", w)
	}
}

// What was written without dates, or edited by hand, stays so while it says the same;
// a switch that is turned off takes none away.
func TestDatesOfWhatStands(t *testing.T) {
	h := dated(t, nil)
	on := h.Service
	off := on.WithDates(configs.Dates{})
	h.Service = off
	old := h.planned("old", "Ship on Thursday")
	h.Service = on
	if w := h.planned("old", "Ship on Thursday"); !w.Unchanged || w.Summary != old.Summary {
		t.Errorf("from before: %+v", w)
	}
	w := h.planned("new", "Ship on Thursday")
	h.Service = off
	if again := h.planned("new", "Ship on Thursday"); !again.Unchanged || again.Summary != w.Summary {
		t.Errorf("switched off: %+v", again)
	}
	h.Service = on
	h.edit(w.ID, "Ship on Thursday")
	if again := h.planned("new", "Ship on Thursday"); !again.Unchanged || again.Summary != "Ship on Thursday" {
		t.Errorf("edited by hand: %+v", again)
	}
	edited := h.planned("edited", "Ship on Thursday")
	h.edit(edited.ID, "Ship on Thursday (2026-12-24)")
	if again := h.planned("edited", "Ship on Thursday"); !again.Unchanged || again.Summary != "Ship on Thursday (2026-12-24)" {
		t.Errorf("a date set by hand: %+v", again)
	}
}

// A text that is as long as it may be stays as it is.
func TestDatesWithinLimits(t *testing.T) {
	h := dated(t, func(b *configs.Budgets) { b.ShortChars, b.LongChars, b.RawBytes = 40, 40, 40 })
	text := "Ship it tomorrow, then rest for a while."
	if w := h.remember(text, func(r *memd.Remember) { r.RawContent = text }); w.Summary != text || h.raw(w.ID) != text {
		t.Errorf("%q, %q", w.Summary, h.raw(w.ID))
	}
	why := strings.Repeat("x", memd.MaxReasonChars-len(" tomorrow")) + " tomorrow"
	w := h.planned("k", text, func(r *memd.RememberLongTerm) { r.RawContent, r.Why, r.HowToApply = text, why, "tomorrow" })
	if w.Summary != text || h.raw(w.ID) != text || w.Why != why || w.HowToApply != "tomorrow (2026-12-01)" {
		t.Errorf("%q, %q, %q", w.Summary, h.raw(w.ID), w.HowToApply)
	}
	if again := h.planned("k", text, func(r *memd.RememberLongTerm) { r.RawContent, r.Why, r.HowToApply = text, why, "tomorrow" }); !again.Unchanged {
		t.Errorf("again: %+v", again)
	}
}

// The day is that of the configured zone.
func TestDatesOfZone(t *testing.T) {
	h := dated(t, nil)
	h.clock.Advance(8 * time.Hour)
	h.Service = h.WithDates(configs.Dates{Absolute: true, TimeZone: "Asia/Shanghai"})
	if w := h.remember("Ship it tomorrow"); w.Summary != "Ship it tomorrow (2026-12-02)" {
		t.Errorf("%q", w.Summary)
	}
}

// Dates stand beside what the guards leave, and a redacted note is known again with them.
func TestDatesBesideGuards(t *testing.T) {
	h := dated(t, nil)
	h.Service = h.WithGuard(with(configs.GuardRedact))
	text := "tomorrow " + hidden["plain"]
	w := h.remember(text)
	if !strings.HasPrefix(w.Summary, "tomorrow (2026-12-01) ") || !strings.Contains(w.Summary, "[redacted:") {
		t.Errorf("%q", w.Summary)
	}
	if again := h.remember(text); again.ID != w.ID {
		t.Errorf("again: %+v", again)
	}
	long := h.planned("k", text)
	h.clock.Advance(7 * aDay)
	if again := h.planned("k", text); !again.Unchanged || again.Summary != long.Summary || !strings.HasPrefix(again.Summary, "tomorrow (2026-12-01) ") {
		t.Errorf("a week later: %+v", again)
	}
}
