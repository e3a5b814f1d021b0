package tiers_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"memd"
)

func TestLongDefaults(t *testing.T) {
	h := newHouse(t, nil)
	w := h.keep("a/Key.1", "the rule")
	if !w.Created || w.Unchanged || len(w.Warnings) != 0 {
		t.Errorf("answered %+v", w)
	}
	m, _ := h.get(w.ID)
	if m.Tier != memd.Long || m.Kind != memd.Fact || m.Version != 1 || m.Importance != 5 || m.Source != agents || m.SourceStatus != memd.SourceUnchecked ||
		m.VerifiedAt != h.now() || m.VerifiedBy != "ann" || m.Stale || m.Tags == nil || m.Access == nil {
		t.Errorf("the row is %+v", m)
	}
	head, err := h.Head(ctx, reader, "", "a/Key.1")
	if err != nil || head.ID != w.ID {
		t.Errorf("its key leads to %s, %v", head.ID, err)
	}
	if _, err := h.Head(ctx, reader, "", "a/key.1"); err == nil {
		t.Error("keys are compared without case")
	}
	if _, err := h.Head(ctx, reader, "user", "a/Key.1"); err == nil {
		t.Error("a key is seen from another namespace")
	}
}

// A changed content, source or kind is a new version; anything else refreshes
// the head in place.
func TestLongVersions(t *testing.T) {
	base := func(r *memd.RememberLongTerm) { r.RawContent, r.Why, r.HowToApply = "raw", "why", "how" }
	for name, c := range map[string]struct {
		edit    func(*memd.RememberLongTerm)
		version int
	}{
		"summary":       {func(r *memd.RememberLongTerm) { r.Summary = "the rule!" }, 2},
		"case":          {func(r *memd.RememberLongTerm) { r.Summary = "The rule" }, 2},
		"raw_content":   {func(r *memd.RememberLongTerm) { r.RawContent = "" }, 2},
		"why":           {func(r *memd.RememberLongTerm) { r.Why = "other" }, 2},
		"how_to_apply":  {func(r *memd.RememberLongTerm) { r.HowToApply = "" }, 2},
		"source":        {func(r *memd.RememberLongTerm) { r.Source = "AGENTS.md#tests" }, 2},
		"kind":          {func(r *memd.RememberLongTerm) { r.Kind = memd.Rule }, 2},
		"nothing":       {func(*memd.RememberLongTerm) {}, 1},
		"white space":   {func(r *memd.RememberLongTerm) { r.Summary, r.Why = " the \n rule", "why " }, 1},
		"kind as it is": {func(r *memd.RememberLongTerm) { r.Kind = memd.Fact }, 1},
		"labels":        {func(r *memd.RememberLongTerm) { r.Tags, r.Importance, r.Owner = []string{"t"}, ptr(9), "o" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			v1 := h.keep("k", "the rule", base)
			h.clock.Advance(72 * time.Hour)
			w := h.keep("k", "the rule", base, c.edit)
			if w.Version != c.version || w.Unchanged != (c.version == 1) || w.Created || (w.ID == v1.ID) != (c.version == 1) {
				t.Errorf("answered version %d, unchanged %v, created %v", w.Version, w.Unchanged, w.Created)
			}
			if w.VerifiedAt != h.now() || w.Age != "" {
				t.Errorf("verified at %v, age %q", w.VerifiedAt, w.Age)
			}
			versions, err := h.Versions(ctx, reader, "", "k")
			if err != nil || len(versions) != c.version || versions[0].ID != w.ID || versions[0].Version != c.version {
				t.Errorf("versions %+v, %v", versions, err)
			}
			if got := h.list(reader, memd.List{}); len(got) != 1 || got[0] != w.ID {
				t.Errorf("a list shows %q, want the head alone", got)
			}
			if old, ok := h.get(v1.ID); !ok || old.Summary != "the rule" {
				t.Error("the first version cannot be read any more")
			}
		})
	}
}

// A refresh moves verified_at and the labels it states, and nothing else.
func TestLongRefresh(t *testing.T) {
	h := newHouse(t, nil)
	v1 := h.keep("k", "the rule", func(r *memd.RememberLongTerm) {
		r.Tags, r.Importance, r.Owner, r.RawContent = []string{"a"}, ptr(8), "o", "raw"
	})
	h.clock.Advance(time.Hour)
	w, err := h.RememberLongTerm(ctx, ben, longRequest("k", " the rule ", func(r *memd.RememberLongTerm) { r.RawContent = "raw" }))
	h.must(err)
	m, _ := h.get(v1.ID)
	if !w.Unchanged || m.Summary != "the rule" || fmt.Sprint(m.Tags) != "[a]" || m.Importance != 8 || m.Owner != "o" ||
		m.VerifiedAt != h.now() || m.VerifiedBy != "ben" || m.CreatedAt != v1.CreatedAt || m.UpdatedAt != h.now() {
		t.Errorf("after a bare refresh: %+v", m)
	}
	h.keep("k", "the rule", func(r *memd.RememberLongTerm) {
		r.Tags, r.Importance, r.Owner, r.RawContent, r.VerifiedAt = []string{}, ptr(2), "p", "raw", h.at(-time.Minute)
	})
	if m, _ = h.get(v1.ID); len(m.Tags) != 0 || m.Importance != 2 || m.Owner != "p" || m.VerifiedAt != h.at(-time.Minute) {
		t.Errorf("after a refresh of labels: %+v", m)
	}
	// A mark that groom set goes with the confirmation.
	h.shell(`UPDATE long SET stale = 1, stale_reason = 'age'`)
	if w := h.keep("k", "the rule", func(r *memd.RememberLongTerm) { r.RawContent = "raw" }); !w.Unchanged || w.Stale {
		t.Errorf("refreshed, yet stale: %+v", w)
	}
	if m, _ = h.get(v1.ID); m.Stale || m.StaleReason != "" {
		t.Errorf("refreshed, yet stored as stale: %+v", m)
	}
	// A new version keeps what it does not state.
	if w := h.keep("k", "another rule"); w.Importance != 2 || w.Owner != "p" || w.Kind != memd.Fact {
		t.Errorf("version 2 is %+v", w)
	}
}

// When a version came to be may be stated; a refresh leaves it.
func TestLongCreatedAt(t *testing.T) {
	h := newHouse(t, nil)
	long := h.at(-400 * 24 * time.Hour)
	created := func(at memd.Time) func(*memd.RememberLongTerm) {
		return func(r *memd.RememberLongTerm) { r.CreatedAt = at }
	}
	v1 := h.keep("k", "the rule", created(long))
	m, _ := h.get(v1.ID)
	if v1.CreatedAt != long || m.CreatedAt != long || m.VerifiedAt != h.now() || m.UpdatedAt != h.now() {
		t.Errorf("the row is %+v", m)
	}
	if w := h.keep("k", "the rule", created(h.now())); !w.Unchanged || w.CreatedAt != long {
		t.Errorf("a refresh: %+v", w)
	}
	if w := h.keep("k", "another rule", created(h.at(-time.Hour))); w.Version != 2 || w.CreatedAt != h.at(-time.Hour) {
		t.Errorf("version 2: %+v", w)
	}
	if w := h.keep("k", "a third rule"); w.CreatedAt != h.now() {
		t.Errorf("version 3: %+v", w)
	}
	for _, at := range []memd.Time{h.at(6 * time.Minute), memd.At(time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC))} {
		_, err := h.RememberLongTerm(ctx, ann, longRequest("k2", "x", created(at)))
		refused(t, err, memd.CodeInvalidRequest, "created_at")
	}
}

func TestLongReasonedKinds(t *testing.T) {
	h := newHouse(t, nil)
	reasoned := func(r *memd.RememberLongTerm) {
		r.Kind, r.Source, r.Why, r.HowToApply = memd.Feedback, "session:1", "it broke", "ask first"
	}
	w := h.keep("fb", "ask before a deploy", reasoned)
	if m, _ := h.get(w.ID); m.Why != "it broke" || m.HowToApply != "ask first" {
		t.Errorf("the row is %+v", m)
	}
	// The kind stays when it is left out, and with it what the kind needs.
	_, err := h.RememberLongTerm(ctx, ann, memd.RememberLongTerm{MemoryKey: "fb", Summary: "ask before any deploy", Source: "session:2"})
	refused(t, err, memd.CodeMissingField, "why")
	// A kind that needs no reasons may have them.
	h.keep("f", "a fact", func(r *memd.RememberLongTerm) { r.Why, r.HowToApply = "because", "so" })
}

func TestLongBaseVersion(t *testing.T) {
	h := newHouse(t, nil)
	write := func(base int, summary string) (memd.Written, error) {
		return h.RememberLongTerm(ctx, ann, longRequest("k", summary, func(r *memd.RememberLongTerm) { r.BaseVersion, r.RawContent = &base, "raw" }))
	}
	conflict := func(err error, version int) {
		t.Helper()
		refused(t, err, memd.CodeVersionConflict, "base_version")
		e, ok := errors.AsType[*memd.Error](err)
		if !ok {
			return
		}
		if version == 0 && e.Head != nil {
			t.Errorf("a conflict without a head shows %+v", e.Head)
		}
		if version > 0 && (e.Head == nil || e.Head.Version != version || e.Head.RawContent != "" || e.Head.MemoryKey != "k") {
			t.Errorf("the conflict shows the head %+v, want version %d", e.Head, version)
		}
	}
	conflict(second(write(1, "x")), 0)
	h.must(second(write(0, "one")))
	conflict(second(write(0, "two")), 1)
	conflict(second(write(2, "two")), 1)
	h.must(second(write(1, "two")))
	conflict(second(write(1, "three")), 2)
	if w, err := write(2, "two"); err != nil || !w.Unchanged {
		t.Errorf("a refresh with the right base: %+v, %v", w, err)
	}
	conflict(second(write(1, "two")), 2) // also when nothing would change
	if v, _ := h.Versions(ctx, ann, "", "k"); len(v) != 2 {
		t.Errorf("%d versions, want 2", len(v))
	}
}

// Of editors that start from the same version exactly one goes through, and
// the others learn what stands now.
func TestLongEditorsAtOnce(t *testing.T) {
	h := newHouse(t, nil)
	h.keep("k", "start")
	for round := range 20 {
		base := round + 1
		results := make(chan error, 2)
		var wg sync.WaitGroup
		for editor := range 2 {
			wg.Go(func() {
				_, err := h.RememberLongTerm(ctx, ann, longRequest("k", fmt.Sprint("edit ", round, " of ", editor), func(r *memd.RememberLongTerm) { r.BaseVersion = &base }))
				results <- err
			})
		}
		wg.Wait()
		a, b := <-results, <-results
		if (a == nil) == (b == nil) {
			t.Fatalf("round %d: the editors were told %v and %v", round, a, b)
		}
		lost := errors.Join(a, b)
		if memd.CodeOf(lost) != memd.CodeVersionConflict {
			t.Fatalf("round %d: %v", round, lost)
		}
	}
	if v, err := h.Versions(ctx, ann, "", "k"); err != nil || len(v) != 21 {
		t.Errorf("%d versions, %v; want 21", len(v), err)
	}
}

// Without base_version writers of one key line up: no version is given twice.
func TestLongUpsertsAtOnce(t *testing.T) {
	h := newHouse(t, nil)
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			if _, err := h.RememberLongTerm(ctx, ann, longRequest("k", fmt.Sprint("wording ", n))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	versions, err := h.Versions(ctx, ann, "", "k")
	h.must(err)
	for i, m := range versions {
		if m.Version != len(versions)-i {
			t.Errorf("version %d at place %d of %d", m.Version, i, len(versions))
		}
	}
	if head, err := h.Head(ctx, ann, "", "k"); err != nil || len(versions) != 40 || head.ID != versions[0].ID {
		t.Errorf("%d versions, the head is %d, %v", len(versions), head.Version, err)
	}
}

func TestLongSameUnderAnotherKey(t *testing.T) {
	h := newHouse(t, nil)
	h.keep("a", "the same fact")
	if w := h.keep("b", "the same  fact"); len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "key a") || !w.Created {
		t.Errorf("answered %+v", w)
	}
	if w := h.keep("c", "another fact"); len(w.Warnings) != 0 {
		t.Errorf("warnings %q", w.Warnings)
	}
	if got := h.rows(); got != "3 0 0 0" {
		t.Errorf("rows %s: equal content under two keys stays", got)
	}
}

// Of a row that states no owner the kind's is the owner; one that the write or
// the head names comes first.
func TestOwnersByKind(t *testing.T) {
	h := newHouse(t, nil)
	s := h.WithOwners(map[string]string{"rule": "leads", "pitfall": "ops"})
	owned := func(what string, w memd.Written, err error, want string) {
		t.Helper()
		h.must(err)
		if m, _ := h.get(w.ID); w.Owner != want || m.Owner != want {
			t.Errorf("%s: answered owner %q, stored %q, want %q", what, w.Owner, m.Owner, want)
		}
	}
	keep := func(what, want, key, summary, owner string, k memd.Kind) {
		t.Helper()
		w, err := s.RememberLongTerm(ctx, ann, longRequest(key, summary, func(r *memd.RememberLongTerm) { r.Kind, r.Owner = k, owner }))
		owned(what, w, err, want)
	}
	keep("neither names one", "leads", "a", "one", "", memd.Rule)
	keep("a kind without an owner", "", "b", "one", "", memd.Fact)
	keep("its kind is now another", "leads", "b", "two", "", memd.Rule)
	keep("the write names one", "me", "c", "one", "me", memd.Rule)
	keep("the head names one", "me", "c", "two", "", "")
	keep("and the same content again", "me", "c", "two", "", "")
	keep("the head's kind", "ops", "d", "one", "", memd.Pitfall)
	keep("the head's, though the kind changed", "ops", "d", "two", "", memd.Rule)

	h.keep("e", "one", func(r *memd.RememberLongTerm) { r.Kind = memd.Rule }) // before owners were configured
	keep("a refresh of a row without one", "leads", "e", "one", "", "")

	short := h.remember("a trap", func(r *memd.Remember) { r.Kind = memd.Pitfall })
	w, err := s.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "f", Source: agents})
	owned("a promotion", w, err, "ops")
	short = h.remember("a rule at last")
	w, err = s.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "c", Source: agents, Kind: memd.Rule})
	owned("a promotion onto a key with one", w, err, "me")
	short = h.remember("a trap again", func(r *memd.Remember) { r.Kind = memd.Pitfall })
	w, err = s.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "g", Source: agents, Owner: "ann"})
	owned("a promotion that names one", w, err, "ann")

	w, err = h.RememberLongTerm(ctx, ann, longRequest("h", "one", func(r *memd.RememberLongTerm) { r.Kind = memd.Rule }))
	owned("the service it was made from", w, err, "")
}

// Who does not hold the access tags of a key neither reads nor writes it.
func TestLongAccessTags(t *testing.T) {
	h := newHouse(t, nil)
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr"}}
	w, err := h.RememberLongTerm(ctx, boss, longRequest("pay", "the pay scale", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} }))
	h.must(err)
	_, err = h.RememberLongTerm(ctx, ann, longRequest("pay", "my pay scale"))
	refused(t, err, memd.CodeForbidden, "memory_key")
	if strings.Contains(err.Error(), "scale") {
		t.Errorf("the error tells of the row: %v", err)
	}
	_, err = h.RememberLongTerm(ctx, ann, longRequest("pay", "mine", func(r *memd.RememberLongTerm) { r.BaseVersion = ptr(7) }))
	if e, ok := errors.AsType[*memd.Error](err); !ok || e.Head != nil || e.Code != memd.CodeForbidden {
		t.Errorf("a conflict shows a hidden head: %v", err)
	}
	if w := h.keep("open", "the pay scale"); len(w.Warnings) != 0 {
		t.Errorf("a warning names a hidden key: %q", w.Warnings)
	}
	// A new version keeps the tags; stated ones replace them.
	v2, err := h.RememberLongTerm(ctx, boss, longRequest("pay", "the new pay scale"))
	h.must(err)
	if fmt.Sprint(v2.Access) != "[hr]" || v2.Version != 2 {
		t.Errorf("version 2 has the access tags %q", v2.Access)
	}
	h.must(second(h.RememberLongTerm(ctx, boss, longRequest("pay", "the new pay scale", func(r *memd.RememberLongTerm) { r.Access = []string{} }))))
	if _, err := h.Get(ctx, ann, v2.ID); err != nil {
		t.Errorf("opened by its holder, yet %v", err)
	}
	if _, err := h.Get(ctx, ann, w.ID); memd.CodeOf(err) != memd.CodeNotFound {
		t.Errorf("the old version's tags were lifted: %v", err)
	}
	if v, err := h.Versions(ctx, ann, "", "pay"); err != nil || len(v) != 1 || v[0].ID != v2.ID {
		t.Errorf("ann sees the versions %v, %v", v, err)
	}
}
