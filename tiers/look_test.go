package tiers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/guard/sources"
)

// rooted is a house whose namespace project/x has a root with an AGENTS.md.
type rooted struct {
	*house
	root string
}

func newRooted(t *testing.T) *rooted {
	t.Helper()
	h, root := newHouse(t, nil), t.TempDir()
	h.Service = h.WithSources(sources.New(map[string]string{"project/x": root}))
	r := &rooted{h, root}
	r.write("README.md", "") // an empty root is one that is not mounted
	r.write("AGENTS.md", "# Rules\n\n## Commands\n\nmake test\n\n## Style\n\ntabs\n")
	return r
}

func (r *rooted) write(name, text string) {
	r.t.Helper()
	r.must(os.WriteFile(filepath.Join(r.root, name), []byte(text), 0o600))
}

func (r *rooted) remove(name string) {
	r.t.Helper()
	r.must(os.Remove(filepath.Join(r.root, name)))
}

func inX(edits ...func(*memd.RememberLongTerm)) func(*memd.RememberLongTerm) {
	return func(req *memd.RememberLongTerm) {
		req.Namespace = "project/x"
		for _, edit := range edits {
			edit(req)
		}
	}
}

func from(source string) func(*memd.RememberLongTerm) {
	return inX(func(req *memd.RememberLongTerm) { req.Source = source })
}

// hash is the kept hash of a key's source.
func (r *rooted) hash(key string) string {
	r.t.Helper()
	return r.shell(fmt.Sprintf(`SELECT coalesce(source_hash, '') FROM head WHERE memory_key = '%s'`, key))
}

// stored is what a row says of its source in the shell: its status, its stale mark
// and the mark's reason.
func (r *rooted) stored(id string) string {
	r.t.Helper()
	return r.shell(fmt.Sprintf(`SELECT source_status || ' ' || stale || ' ' || coalesce(stale_reason, '') FROM long WHERE id = '%s'`, id))
}

// mark does what groom does with what it finds.
func (r *rooted) mark(id, status, reason string) {
	r.t.Helper()
	r.shell(fmt.Sprintf(`UPDATE long SET source_status = '%s', stale = 1, stale_reason = '%s' WHERE id = '%s'`, status, reason, id))
}

func missing(w memd.Written) bool {
	return w.SourceStatus == memd.SourceMissing && len(w.Warnings) == 1 && strings.HasPrefix(w.Warnings[0], "the source is missing: ")
}

func TestSourceOfAWrite(t *testing.T) {
	r := newRooted(t)
	r.must(os.MkdirAll(filepath.Join(r.root, "docs", "adr"), 0o700))
	for source, c := range map[string]struct {
		status memd.SourceStatus
		hashed bool
	}{
		"AGENTS.md": {memd.SourceOK, true}, "AGENTS.md#commands": {memd.SourceOK, true}, "AGENTS.md:5": {memd.SourceOK, true},
		"AGENTS.md#gone": {memd.SourceMissing, false}, "docs/gone.md": {memd.SourceMissing, false}, "AGENTS.md:99": {memd.SourceMissing, false},
		"https://127.0.0.1:1/AGENTS.md": {memd.SourceUnchecked, false}, "docs/adr": {memd.SourceOK, false}, "docs/adr#1": {memd.SourceUnchecked, false},
	} {
		w := r.keep("k", "rests on "+source, from(source))
		if w.SourceStatus != c.status || missing(w) != (c.status == memd.SourceMissing) || !missing(w) && w.Warnings != nil {
			t.Errorf("%s: %s with %q", source, w.SourceStatus, w.Warnings)
		}
		if m, _ := r.get(w.ID); m.SourceStatus != c.status || m.Stale {
			t.Errorf("%s is kept as %s, stale %v", source, m.SourceStatus, m.Stale)
		}
		if hash := r.hash("k"); strings.HasPrefix(hash, "sha256:") != c.hashed {
			t.Errorf("%s: the kept hash is %q", source, hash)
		}
	}
	if w := r.keep("k", "a namespace without a root"); w.SourceStatus != memd.SourceUnchecked || w.Warnings != nil {
		t.Errorf("without a root: %s, %q", w.SourceStatus, w.Warnings)
	}
	if w := r.remember("short", func(req *memd.Remember) { req.Namespace, req.Source = "project/x", "docs/gone.md" }); w.SourceStatus != memd.SourceUnchecked {
		t.Errorf("a short row's source is %s", w.SourceStatus)
	}
}

// A hash is that of the cited section, and is kept only where the verification is
// of now.
func TestSourceHash(t *testing.T) {
	r := newRooted(t)
	at := func(d time.Duration) func(*memd.RememberLongTerm) {
		return inX(func(req *memd.RememberLongTerm) { req.VerifiedAt = r.at(d) })
	}
	r.keep("a", "a rule", inX())
	was := r.hash("a")
	r.keep("style", "another", from("AGENTS.md#style"))
	if r.hash("style") == was || was == "" {
		t.Errorf("two sections have the hash %q", was)
	}
	for d, kept := range map[time.Duration]bool{0: true, -4 * time.Minute: true, 4 * time.Minute: true, -6 * time.Minute: false, -time.Hour: false} {
		w := r.keep("a", "a rule", at(d))
		if (r.hash("a") == was) != kept || !kept && r.hash("a") != "" || w.SourceStatus != memd.SourceOK || !w.Unchanged {
			t.Errorf("verified %s from now: %s with the hash %q", d, w.SourceStatus, r.hash("a"))
		}
		if w = r.keep("a"+d.String(), "a rule of its own, "+d.String(), at(d)); (r.hash(w.MemoryKey) == was) != kept {
			t.Errorf("written as of %s from now: the hash %q", d, r.hash(w.MemoryKey))
		}
		v, err := r.Verify(ctx, ann, w.ID, memd.Verify{VerifiedAt: r.at(d)})
		if r.must(err); (r.hash(w.MemoryKey) == was) != kept || v.SourceStatus != memd.SourceOK {
			t.Errorf("verified %s from now: %s with the hash %q", d, v.SourceStatus, r.hash(w.MemoryKey))
		}
	}
	r.write("AGENTS.md", "# Rules\n\n## Commands\n\nmake check\n")
	if r.keep("a", "a rule", inX()); r.hash("a") == was || r.hash("a") == "" {
		t.Errorf("the source has changed, and the hash is %q", r.hash("a"))
	}
	now := r.hash("a")
	r.remove("AGENTS.md")
	if w := r.keep("a", "a rule", inX()); !missing(w) || r.hash("a") != "" || now == "" {
		t.Errorf("the source is gone: %+v with the hash %q", w, r.hash("a"))
	}
}

// The mark goes where the source resolves, and nowhere else.
func TestVerifyAgainstTheSource(t *testing.T) {
	verify := func(r *rooted, id string) memd.Written { return must(r.Verify(ctx, ann, id, memd.Verify{})) }
	upsert := func(r *rooted, id string) memd.Written { return r.keep("k", "a rule", inX()) }
	for name, refresh := range map[string]func(*rooted, string) memd.Written{"verify": verify, "unchanged upsert": upsert} {
		t.Run(name, func(t *testing.T) {
			r := newRooted(t)
			id := r.keep("k", "a rule", inX()).ID
			r.write("AGENTS.md", "# Rules\n\n## Commands\n\nmake check\n")
			r.mark(id, "changed", "source_changed")
			was := r.hash("k")
			if w := refresh(r, id); w.Stale || w.StaleReason != "" || r.stored(id) != "ok 0" || r.hash("k") == was {
				t.Errorf("looked at again: %s, hash %q", r.stored(id), r.hash("k"))
			}
			r.remove("AGENTS.md")
			if w := refresh(r, id); !missing(w) || w.Stale || r.stored(id) != "missing 0" || w.VerifiedAt != r.now() {
				t.Errorf("a fresh row whose source is gone: %+v, %s", w, r.stored(id))
			}
			r.mark(id, "changed", "source_changed")
			if w := refresh(r, id); !missing(w) || !w.Stale || r.stored(id) != "missing 1 source_missing" || r.hash("k") != "" {
				t.Errorf("a marked row whose source is gone: %+v, %s", w, r.stored(id))
			}
			r.write("AGENTS.md", "# Rules\n\n## Commands\n\nmake test\n")
			if w := refresh(r, id); w.Stale || r.stored(id) != "ok 0" || r.hash("k") != was || w.Warnings != nil {
				t.Errorf("the source is back: %+v, %s, hash %q", w, r.stored(id), r.hash("k"))
			}
			// A row that is stale by its age alone stays so where its source is gone.
			r.remove("AGENTS.md")
			r.clock.Advance(91 * 24 * time.Hour)
			if w := refresh(r, id); !w.Stale || w.StaleReason != memd.StaleSourceMissing || r.stored(id) != "missing 1 source_missing" {
				t.Errorf("an old row whose source is gone: %+v, %s", w, r.stored(id))
			}
			// Where nobody can look what was known holds.
			r.must(os.Rename(r.root, r.root+".away"))
			if w := refresh(r, id); !w.Stale || w.Warnings != nil || r.stored(id) != "missing 1 source_missing" {
				t.Errorf("without its root: %+v, %s", w, r.stored(id))
			}
			r.mark(id, "ok", "age")
			if w := refresh(r, id); w.Stale || r.stored(id) != "unchecked 0" || r.hash("k") != "" {
				t.Errorf("verified without its root: %+v, %s, hash %q", w, r.stored(id), r.hash("k"))
			}
			// What is there and is not read, the caller vouches for.
			r.must(os.Rename(r.root+".away", r.root))
			r.write("AGENTS.md", "no text any more\x00")
			for status, reason := range map[string]string{"missing": "source_missing", "changed": "source_changed", "ok": "age"} {
				r.mark(id, status, reason)
				if w := refresh(r, id); w.Stale || w.Warnings != nil || r.stored(id) != "unchecked 0" || r.hash("k") != "" {
					t.Errorf("%s, and there unread: %+v, %s", status, w, r.stored(id))
				}
			}
			// So they do where memd may not look.
			r.Service = r.WithSources(sources.New(nil))
			r.mark(id, "missing", "source_missing")
			if w := refresh(r, id); w.Stale || w.Warnings != nil || r.stored(id) != "unchecked 0" {
				t.Errorf("no root is configured: %+v, %s", w, r.stored(id))
			}
		})
	}
}

func TestPromoteAgainstTheSource(t *testing.T) {
	r := newRooted(t)
	short := func(summary string) string {
		return r.remember(summary, func(req *memd.Remember) { req.Namespace, req.Source = "project/x", "AGENTS.md" }).ID
	}
	w := must(r.Promote(ctx, ann, short("a rule"), memd.Promote{MemoryKey: "k"}))
	if w.SourceStatus != memd.SourceOK || r.hash("k") == "" {
		t.Errorf("by its own source: %s with the hash %q", w.SourceStatus, r.hash("k"))
	}
	w = must(r.Promote(ctx, ann, short("another rule"), memd.Promote{MemoryKey: "gone", Source: "docs/gone.md"}))
	if !missing(w) || r.hash("gone") != "" {
		t.Errorf("by another source: %+v", w)
	}
	old := short("an old rule")
	r.clock.Advance(time.Hour)
	w = must(r.Promote(ctx, ann, old, memd.Promote{MemoryKey: "old"}))
	if w.SourceStatus != memd.SourceOK || r.hash("old") != "" {
		t.Errorf("as of an hour ago: %s with the hash %q", w.SourceStatus, r.hash("old"))
	}
	w = must(r.Promote(ctx, ann, short("a rule of today"), memd.Promote{MemoryKey: "now", VerifiedAt: r.now()}))
	if w.SourceStatus != memd.SourceOK || r.hash("now") == "" {
		t.Errorf("verified now: %s with the hash %q", w.SourceStatus, r.hash("now"))
	}
	// A promotion of what the head says already, and was checked for later, is no
	// verification: what the head knows of its source stays.
	late := short("a late rule")
	r.clock.Advance(time.Hour)
	head := r.keep("late", "a late rule", from("AGENTS.md"))
	kept := r.hash("late")
	r.write("AGENTS.md", "other")
	r.mark(head.ID, "changed", "source_changed")
	w = must(r.Promote(ctx, ben, late, memd.Promote{MemoryKey: "late"}))
	if !w.Unchanged || w.ID != head.ID || r.hash("late") != kept || kept == "" || r.stored(head.ID) != "changed 1 source_changed" || w.VerifiedBy != "ann" {
		t.Errorf("promoted onto its head: %+v, %s, hash %q", w, r.stored(head.ID), r.hash("late"))
	}
}

// The head in a historical database is looked at alike.
func TestSourceOfAHistoricalHead(t *testing.T) {
	r := newRooted(t)
	id := r.keep("k", "a rule", inX()).ID
	was := r.hash("k")
	r.roll()
	if r.hash("k") != was {
		t.Fatalf("the hash went with the rollover: %q", r.hash("k"))
	}
	r.write("AGENTS.md", "# Rules\n\n## Commands\n\nmake check\n")
	w := must(r.Verify(ctx, ann, id, memd.Verify{}))
	if w.SourceStatus != memd.SourceOK || r.hash("k") == was || r.hash("k") == "" {
		t.Errorf("%s with the hash %q", w.SourceStatus, r.hash("k"))
	}
	if m, _ := r.get(id); m.SourceStatus != memd.SourceOK || m.VerifiedBy != "ann" {
		t.Errorf("kept as %+v", m)
	}
}

// A caller that may not write a row learns nothing of its source.
func TestSourceBehindARefusal(t *testing.T) {
	r := newRooted(t)
	id := r.keep("k", "a rule", inX(func(req *memd.RememberLongTerm) { req.Source = "docs/gone.md" })).ID
	other := memd.Caller{Name: "other", Role: memd.RoleWrite, Namespaces: []string{"default"}}
	refused(t, second(r.Verify(ctx, other, id, memd.Verify{})), memd.CodeNotFound, "")
	refused(t, second(r.Verify(ctx, reader, id, memd.Verify{})), memd.CodeForbidden, "")
	refused(t, second(r.RememberLongTerm(ctx, other, longRequest("k", "a rule", inX()))), memd.CodeForbidden, "namespace")
	refused(t, second(r.Promote(ctx, other, id, memd.Promote{MemoryKey: "x", Source: "docs/gone.md"})), memd.CodeNotFound, "")
}

// A page is fetched at verify alone, and only where that is allowed; else the word
// of whoever verifies or writes it counts.
func TestVerifyOfAPage(t *testing.T) {
	var status, asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	r := newRooted(t)
	short := r.remember("a rule", func(req *memd.Remember) { req.Namespace, req.Source = "project/x", server.URL+"/page" }).ID
	id := r.keep("k", "a rule", from(server.URL+"/page")).ID
	verify := func() memd.Written { return must(r.Verify(ctx, ann, id, memd.Verify{})) }
	upsert := func() memd.Written { return r.keep("k", "a rule", from(server.URL+"/page")) }
	for name, refresh := range map[string]func() memd.Written{"verify": verify, "unchanged upsert": upsert} {
		r.mark(id, "missing", "source_missing")
		if w := refresh(); w.Stale || w.Warnings != nil || r.stored(id) != "unchecked 0" {
			t.Errorf("%s without leave to fetch: %+v, %s", name, w, r.stored(id))
		}
	}
	r.Service = r.WithSources(sources.New(nil).WithURLs(0))
	r.mark(id, "missing", "source_missing")
	if w := upsert(); w.Stale || r.stored(id) != "unchecked 0" || asked.Load() != 0 {
		t.Errorf("an upsert: %s, %d times asked", r.stored(id), asked.Load())
	}
	for _, c := range []struct {
		answer      int64
		held, found string
		warned      bool
	}{
		{http.StatusOK, "missing 1 source_missing", "ok 0 ", false},
		{http.StatusNotFound, "missing 1 source_missing", "missing 1 source_missing", true},
		{http.StatusNotFound, "ok 0", "missing 0 ", true},
		{http.StatusServiceUnavailable, "missing 1 source_missing", "missing 1 source_missing", false},
		{http.StatusServiceUnavailable, "ok 0", "unchecked 0 ", false},
	} {
		status.Store(c.answer)
		asked.Store(0)
		if held := strings.Fields(c.held); len(held) == 3 {
			r.mark(id, held[0], held[2])
		} else {
			r.shell(fmt.Sprintf(`UPDATE long SET source_status = '%s', stale = 0, stale_reason = NULL WHERE id = '%s'`, held[0], id))
		}
		if w := verify(); r.stored(id) != strings.TrimSpace(c.found) || missing(w) != c.warned || asked.Load() != 1 {
			t.Errorf("%s answered %d: %s, warnings %q, %d times asked", c.held, c.answer, r.stored(id), w.Warnings, asked.Load())
		}
	}
	asked.Store(0)
	other := memd.Caller{Name: "other", Role: memd.RoleWrite, Namespaces: []string{"default"}}
	refused(t, second(r.Verify(ctx, other, id, memd.Verify{})), memd.CodeNotFound, "")
	refused(t, second(r.Verify(ctx, reader, id, memd.Verify{})), memd.CodeForbidden, "")
	refused(t, second(r.Verify(ctx, ann, short, memd.Verify{})), memd.CodeInvalidRequest, "")
	if asked.Load() != 0 {
		t.Error("a page was fetched for whoever may not verify its row, or for no long row")
	}
}
