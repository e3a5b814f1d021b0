package tiers_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"memd"
	"memd/guard/fence"
)

func TestRememberDefaults(t *testing.T) {
	h := newHouse(t, nil)
	w := h.remember("what happened")
	if !w.Created || w.Deduplicated || w.DuplicateOf != "" || len(w.Warnings) != 0 {
		t.Errorf("the write is answered %+v", w)
	}
	m, _ := h.get(w.ID)
	if m.Tier != memd.Short || m.Namespace != "default" || m.Kind != memd.Event || m.Importance != 5 || m.SourceStatus != memd.SourceNone ||
		m.Tags == nil || m.Access == nil || m.MemoryKey != "" || m.Version != 0 || m.Stale || m.Age != "" || m.AccessCount != 0 ||
		m.CreatedAt != h.now() || m.UpdatedAt != h.now() || !m.ExpiresAt.IsZero() {
		t.Errorf("the row is %+v", m)
	}
	if !strings.HasPrefix(m.ContentHash, "sha256:") || len(m.ContentHash) != 71 {
		t.Errorf("its hash is %q", m.ContentHash)
	}
	if m.ID[14] != '7' {
		t.Errorf("its id %s is no UUIDv7", m.ID)
	}
}

func TestRememberKeepsEveryField(t *testing.T) {
	h := newHouse(t, nil)
	for _, kind := range memd.AllKinds() {
		w := h.remember("kind "+string(kind), func(r *memd.Remember) { r.Kind = kind })
		if m, _ := h.get(w.ID); m.Kind != kind {
			t.Errorf("kind %s came back as %s", kind, m.Kind)
		}
	}
	caller := memd.Caller{Name: "ann", Role: memd.RoleWrite, Access: []string{"hr"}}
	w, err := h.Remember(ctx, caller, memd.Remember{
		Summary: "  s\n ", RawContent: "raw", Kind: memd.Task, Importance: ptr(8), Tags: []string{"b", "a", "b"}, Source: agents,
		Namespace: "project/x", SessionID: "s1", Agent: "bot", Access: []string{"hr", "hr"}, ExpiresAt: h.at(time.Hour),
	})
	h.must(err)
	m, _ := h.get(w.ID)
	if m.Summary != "  s\n " || m.RawContent != "raw" || m.Importance != 8 || fmt.Sprint(m.Tags) != "[b a]" || m.Source != agents ||
		m.Namespace != "project/x" || m.SessionID != "s1" || m.Agent != "bot" || fmt.Sprint(m.Access) != "[hr]" || m.ExpiresAt != h.at(time.Hour) {
		t.Errorf("the row is %+v", m)
	}
	if w.RawContent != "" {
		t.Error("a write answers with raw_content")
	}
}

// Only equal content is a duplicate, and equal means: after NFC, trimming and
// collapsing white space, with its case.
func TestRememberTwins(t *testing.T) {
	const said = "p95 was 120 ms\non build é 41"
	for name, c := range map[string]struct {
		again memd.Remember
		twin  bool
	}{
		"the same":           {memd.Remember{Summary: said}, true},
		"other white space":  {memd.Remember{Summary: "  p95 was \t120 ms on\u00a0build é   41\r\n"}, true},
		"NFD":                {memd.Remember{Summary: "p95 was 120 ms on build e\u0301 41"}, true},
		"other labels":       {memd.Remember{Summary: said, Tags: []string{"x"}, Importance: ptr(9), Kind: memd.Fact, Source: agents}, true},
		"another session":    {memd.Remember{Summary: said, SessionID: "other", Agent: "other"}, true},
		"one digit":          {memd.Remember{Summary: "p95 was 126 ms on build é 41"}, false},
		"another build":      {memd.Remember{Summary: "p95 was 120 ms on build é 42"}, false},
		"another case":       {memd.Remember{Summary: "P95 was 120 ms on build é 41"}, false},
		"no white space":     {memd.Remember{Summary: "p95 was 120ms on build é 41"}, false},
		"without the accent": {memd.Remember{Summary: "p95 was 120 ms on build e 41"}, false},
		"full width":         {memd.Remember{Summary: "p95 was １20 ms on build é 41"}, false},
		"zero width inside":  {memd.Remember{Summary: "p95 was 1\u200b20 ms on build é 41"}, false},
		"with raw content":   {memd.Remember{Summary: said, RawContent: "log"}, false},
		"another namespace":  {memd.Remember{Summary: said, Namespace: "user"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			first := h.remember(said)
			h.clock.Advance(49 * time.Hour)
			w, err := h.Remember(ctx, ben, c.again)
			h.must(err)
			if w.Deduplicated != c.twin || w.Created == c.twin || (w.ID == first.ID) != c.twin {
				t.Errorf("answered deduplicated %v, created %v, the same id %v", w.Deduplicated, w.Created, w.ID == first.ID)
			}
			if want := map[bool]string{true: "0 1 0 0", false: "0 2 0 0"}[c.twin]; h.rows() != want {
				t.Errorf("rows %s, want %s", h.rows(), want)
			}
			m, _ := h.get(first.ID)
			if m.Summary != said {
				t.Errorf("the first wording became %q", m.Summary)
			}
			if refreshed := m.Age == "" && m.UpdatedAt == h.now(); refreshed != c.twin {
				t.Errorf("the first row has age %q and was updated at %v", m.Age, m.UpdatedAt)
			}
			if c.twin && w.Age != "" {
				t.Errorf("the answer has age %q", w.Age)
			}
		})
	}
}

// Content is what the four texts say together, not where one ends.
func TestTwinsDoNotRunTogether(t *testing.T) {
	h := newHouse(t, nil)
	h.remember("a b", func(r *memd.Remember) { r.RawContent = "c" })
	if w := h.remember("a", func(r *memd.Remember) { r.RawContent = "b c" }); w.Deduplicated {
		t.Error("texts divided otherwise count as equal")
	}
}

func TestRememberTwinExpiry(t *testing.T) {
	for name, c := range map[string]struct{ first, again, want time.Duration }{ // 0: never
		"later":        {time.Hour, 2 * time.Hour, 2 * time.Hour},
		"sooner":       {2 * time.Hour, time.Hour, 2 * time.Hour},
		"never after":  {time.Hour, 0, 0},
		"never before": {0, time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			in := func(d time.Duration) memd.Time {
				if d == 0 {
					return memd.Time{}
				}
				return h.at(d)
			}
			first := h.remember("x", func(r *memd.Remember) { r.ExpiresAt = in(c.first) })
			w := h.remember("x", func(r *memd.Remember) { r.ExpiresAt = in(c.again) })
			if m, _ := h.get(first.ID); !w.Deduplicated || m.ExpiresAt != in(c.want) {
				t.Errorf("expires at %v, want %v", m.ExpiresAt, in(c.want))
			}
		})
	}
	// What has expired is no twin: the write is found again.
	h := newHouse(t, nil)
	h.remember("x", func(r *memd.Remember) { r.ExpiresAt = h.at(time.Hour) })
	h.clock.Advance(2 * time.Hour)
	if w := h.remember("x"); w.Deduplicated {
		t.Error("an expired row swallowed a write")
	}
}

// A twin in the long tier is the answer, and nothing is written.
func TestRememberTwinInLong(t *testing.T) {
	h := newHouse(t, nil)
	long := h.keep("k", "a durable fact")
	h.clock.Advance(48 * time.Hour)
	w := h.remember("  a durable\nfact ")
	if w.ID != long.ID || w.DuplicateOf != long.ID || !w.Deduplicated || w.Created || w.Tier != memd.Long {
		t.Errorf("answered %+v", w)
	}
	if m, _ := h.get(long.ID); m.VerifiedAt != long.VerifiedAt || m.UpdatedAt != long.UpdatedAt || h.rows() != "1 0 0 0" {
		t.Errorf("the write changed something: %+v, rows %s", m, h.rows())
	}
	// What an old version said is no longer known.
	h.keep("k", "a newer fact")
	if w := h.remember("a durable fact"); !w.Created || w.Tier != memd.Short {
		t.Errorf("the twin of an old version is answered %+v", w)
	}
	// Nor is it in another namespace, or when it has expired.
	if w := h.remember("a newer fact", func(r *memd.Remember) { r.Namespace = "user" }); !w.Created {
		t.Error("a twin of another namespace swallowed a write")
	}
	expiring := h.keep("e", "a passing fact")
	h.must(second(h.Patch(ctx, ann, expiring.ID, memd.Patch{ExpiresAt: memd.Some(h.at(time.Hour))})))
	h.clock.Advance(2 * time.Hour)
	if w := h.remember("a passing fact"); !w.Created {
		t.Error("an expired long row swallowed a write")
	}
}

// A write finds its twin only where whoever may read the write may read the
// twin, and the other way round.
func TestTwinsUnderAccessTags(t *testing.T) {
	h := newHouse(t, nil)
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr", "pay"}}
	write := func(c memd.Caller, access ...string) memd.Written {
		t.Helper()
		w, err := h.Remember(ctx, c, memd.Remember{Summary: "the same words", Access: access})
		h.must(err)
		return w
	}
	hr := write(boss, "hr")
	if w := write(ann); w.Deduplicated {
		t.Error("a hidden row answered for one that anybody may read")
	}
	if w := write(boss, "hr", "pay"); w.Deduplicated {
		t.Error("a row that fewer may read was folded into one that more may read")
	}
	if w := write(boss, "hr", "hr"); !w.Deduplicated || w.ID != hr.ID {
		t.Error("an equally restricted twin was not found")
	}
	if w := write(boss, "pay", "hr"); !w.Deduplicated {
		t.Error("the order of access tags matters")
	}
	// In the long tier likewise: an open write is not swallowed by a hidden row.
	long, err := h.RememberLongTerm(ctx, boss, longRequest("k", "kept words", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} }))
	h.must(err)
	for _, c := range []memd.Caller{ann, boss} {
		w, err := h.Remember(ctx, c, memd.Remember{Summary: "kept words"})
		h.must(err)
		if w.DuplicateOf != "" {
			t.Errorf("an open write of %s was answered with a hidden row", c.Name)
		}
	}
	w, err := h.Remember(ctx, boss, memd.Remember{Summary: "kept words", Access: []string{"hr"}})
	h.must(err)
	if w.DuplicateOf != long.ID {
		t.Error("an equally restricted twin in the long tier was not found")
	}
}

// Fifty at once: one row, one creation.
func TestRememberAtOnce(t *testing.T) {
	h := newHouse(t, nil)
	var wg sync.WaitGroup
	created := make(chan bool, 200)
	for range 50 {
		wg.Go(func() {
			for n := range 4 {
				w, err := h.Remember(ctx, ann, memd.Remember{Summary: fmt.Sprint("content ", n)})
				if err != nil {
					t.Error(err)
				}
				created <- w.Created
			}
		})
	}
	wg.Wait()
	close(created)
	n := 0
	for c := range created {
		if c {
			n++
		}
	}
	if n != 4 || h.rows() != "0 4 0 0" {
		t.Errorf("%d creations, rows %s; want 4 of each", n, h.rows())
	}
}

// Saying again what stands changes neither importance nor tags, and is told so.
func TestRememberAgainKeepsMetadata(t *testing.T) {
	h := newHouse(t, nil)
	kept := h.remember("said once", func(r *memd.Remember) { r.Importance, r.Tags = ptr(7), []string{"a", "b"} })
	h.clock.Advance(time.Hour)
	for name, c := range map[string]struct {
		edit func(*memd.Remember)
		told bool
	}{
		"nothing":          {func(*memd.Remember) {}, false},
		"the same":         {func(r *memd.Remember) { r.Importance, r.Tags = ptr(7), []string{"b", "a", "b"} }, false},
		"other importance": {func(r *memd.Remember) { r.Importance = ptr(9) }, true},
		"the default":      {func(r *memd.Remember) { r.Importance = ptr(memd.DefaultImportance) }, true},
		"fewer tags":       {func(r *memd.Remember) { r.Tags = []string{"a"} }, true},
		"no tags":          {func(r *memd.Remember) { r.Tags = []string{} }, true},
	} {
		w := h.remember("said once", c.edit)
		if !w.Deduplicated || w.ID != kept.ID || (len(w.Warnings) == 1) != c.told || len(w.Warnings) > 1 {
			t.Errorf("%s: deduplicated %v, warnings %q", name, w.Deduplicated, w.Warnings)
		}
		if m, _ := h.get(kept.ID); m.Importance != 7 || fmt.Sprint(m.Tags) != "[a b]" || w.Importance != 7 || m.WrittenAt != h.now() {
			t.Errorf("%s: the row has importance %d and tags %q", name, m.Importance, m.Tags)
		}
	}
}

// Text that memd produced is not stored again.
func TestEchoIsNotStored(t *testing.T) {
	h := newHouse(t, nil)
	id := "0123456789abcdef"
	fenced := fence.Open(id) + "\nremembered\n" + fence.Close(id)
	for name, write := range map[string]func(string) (memd.Written, error){
		"remember": func(s string) (memd.Written, error) { return h.Remember(ctx, ann, memd.Remember{Summary: s}) },
		"raw": func(s string) (memd.Written, error) {
			return h.Remember(ctx, ann, memd.Remember{Summary: "recalled", RawContent: s})
		},
		"long": func(s string) (memd.Written, error) { return h.RememberLongTerm(ctx, ann, longRequest("k", s)) },
		"why": func(s string) (memd.Written, error) {
			return h.RememberLongTerm(ctx, ann, longRequest("k", "recalled", func(r *memd.RememberLongTerm) { r.Why = s }))
		},
		"note": func(s string) (memd.Written, error) { return h.Note(ctx, ann, "s", memd.Note{Summary: s}) },
	} {
		w, err := write("it said:\n" + fenced)
		if err != nil || len(w.Warnings) != 1 || w.Created || w.ID != "" || w.Tags == nil || w.Access == nil {
			t.Errorf("%s: answered %+v, %v", name, w, err)
		}
	}
	if h.rows() != "0 0 0 0" {
		t.Errorf("something was written: %s", h.rows())
	}
	for _, s := range []string{
		"the element memd-memories fences memories", `<memd-memories id="x">`, "</memd-memories>", fence.Open(id), "it said:\n" + fenced + "\nand was wrong",
	} {
		if w := h.remember(s); !w.Created {
			t.Errorf("text about the fence is taken for the fence: %q", s)
		}
	}
	if w := h.keep("k", "Never deploy on Mondays", func(r *memd.RememberLongTerm) { r.RawContent = fenced }); !w.Created {
		t.Errorf("words of one's own are lost for what is kept with them: %+v", w)
	}
}
