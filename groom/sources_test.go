package groom_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/groom"
	"memd/guard/sources"
	"memd/store"
)

// rooted is a house whose default namespace has a root.
func rooted(t *testing.T) (h *house, root string) {
	t.Helper()
	h, root = newHouse(t), t.TempDir()
	h.runner.WithSources(sources.New(map[string]string{memd.DefaultNamespace: root}))
	return h, root
}

// write writes a file below a root.
func (h *house) write(root, name, text string) {
	h.t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	h.must(os.MkdirAll(filepath.Dir(path), 0o700))
	h.must(os.WriteFile(path, []byte(text), 0o600))
}

// cite remembers a long row that rests on a source, as verified so long ago; with
// hashed memd has read the source then.
func (h *house) cite(root, key, source string, age time.Duration, hashed bool) memd.Memory {
	h.t.Helper()
	m := h.rememberLong(memd.RememberLongTerm{MemoryKey: key, Summary: "rests on " + source, Source: source,
		VerifiedAt: memd.At(h.clock.Now().Add(-age))})
	if hashed {
		found := sources.New(map[string]string{memd.DefaultNamespace: root}).File(memd.DefaultNamespace, source)
		if found.Hash == "" {
			h.t.Fatalf("%s has no hash: %+v", source, found)
		}
		h.must(h.store.Update(context.Background(), func(tx *store.Tx) error {
			return tx.KeepSourceHash(m.Namespace, m.MemoryKey, m.ID, found.Hash)
		}))
	}
	return m
}

// wantSource fails unless a row has that status and is marked so.
func (h *house) wantSource(when string, m memd.Memory, status memd.SourceStatus, reason memd.StaleReason) {
	h.t.Helper()
	got, _ := h.row(m.ID)
	if got.SourceStatus != status || got.StaleReason != reason || got.Stale != (reason != "") {
		h.t.Errorf("%s: %s has the status %q, stale %v by %q; want %q, %q", when, m.MemoryKey, got.SourceStatus, got.Stale, got.StaleReason, status, reason)
	}
}

const rules = "# Rules\n\n## Commands\n\nRun the tests first.\n\n## Style\n\nShort.\n"

// A head follows its source: changed, missing, as it was. Nothing but the marks
// moves, and a source that cannot be looked at now says nothing.
func TestSourcesAreFollowed(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h, root := rooted(t)
		h.write(root, "AGENTS.md", rules)
		cited := h.cite(root, "cited", "AGENTS.md#commands", 0, true)
		plain := h.cite(root, "plain", "AGENTS.md#style", 0, false) // memd never read it
		lost := h.cite(root, "lost", "docs/none.md", 0, false)
		elsewhere := h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: "s", Source: "AGENTS.md#commands", Namespace: "project/x"})
		said := h.rememberLong(memd.RememberLongTerm{MemoryKey: "said", Summary: "t", Source: "user", Kind: memd.Preference})
		settle(h)
		first, _ := h.row(cited.ID)
		groomed := func(when string, marked, checked int) {
			t.Helper()
			dry := h.groom(groom.Options{DryRun: true})
			report := h.groom(groom.Options{})
			for name, want := range map[string]int{"mark_stale": marked, "check_sources": checked} {
				p, d := h.pass(report, name), h.pass(dry, name)
				if p.Changed != want || p.Skipped != 0 || d.Changed != want || !slices.Equal(d.IDs, p.IDs) {
					t.Errorf("%s: %+v, the dry run %+v, want %d", when, p, d, want)
				}
			}
			for _, p := range h.groom(groom.Options{}).Passes {
				if p.Changed != 0 {
					t.Errorf("%s, again: %+v", when, p)
				}
			}
			h.wantSource(when, elsewhere, memd.SourceUnchecked, "")
			h.wantSource(when, said, memd.SourceUnchecked, "")
			m, _ := h.row(cited.ID)
			if m.VerifiedAt != first.VerifiedAt || m.UpdatedAt != first.UpdatedAt || m.VerifiedBy != first.VerifiedBy {
				t.Errorf("%s: verified %s by %s, updated %s", when, m.VerifiedAt, m.VerifiedBy, m.UpdatedAt)
			}
		}
		groomed("at first", 1, 3)
		h.wantSource("at first", cited, memd.SourceOK, "")
		h.wantSource("at first", plain, memd.SourceOK, "")
		h.wantSource("at first", lost, memd.SourceMissing, memd.StaleSourceMissing)

		h.write(root, "AGENTS.md", "# Rules\n\n## Commands\n\nRun the linter first.\n\n## Style\n\nLong.\n")
		groomed("changed", 1, 1)
		h.wantSource("changed", cited, memd.SourceChanged, memd.StaleSourceChanged)
		h.wantSource("changed", plain, memd.SourceOK, "")

		h.must(os.Rename(root, root+".away")) // a disk that is not mounted
		h.cite(root, "new", "AGENTS.md", 0, false)
		groomed("away", 0, 0)
		h.wantSource("away", cited, memd.SourceChanged, memd.StaleSourceChanged)
		h.wantSource("away", lost, memd.SourceMissing, memd.StaleSourceMissing)
		h.must(os.Rename(root+".away", root))

		h.write(root, "AGENTS.md", "# Rules\n\n## Style\n\nLong.\n")
		groomed("without the section", 1, 2) // and the new one
		h.wantSource("without the section", cited, memd.SourceMissing, memd.StaleSourceMissing)

		h.write(root, "AGENTS.md", rules)
		h.write(root, "docs/none.md", "Here it is.\n")
		groomed("as it was", 2, 2)
		h.wantSource("as it was", cited, memd.SourceOK, "")
		h.wantSource("as it was", lost, memd.SourceOK, "")
	})
}

// A verification is renewed where memd read the source at the last one and reads
// the same now, once a tenth of the time has passed that it is fresh for; others
// go stale by their age.
func TestRenewal(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h, root := rooted(t)
		h.write(root, "AGENTS.md", rules)
		young := h.cite(root, "young", "AGENTS.md#commands", 9*day-time.Millisecond, true)
		due := h.cite(root, "due", "AGENTS.md#commands", 9*day, true)
		old := h.cite(root, "old", "AGENTS.md#style", 400*day, true)
		unread := h.cite(root, "unread", "AGENTS.md#style", 90*day+time.Millisecond, false)
		fresh := h.cite(root, "fresh", "AGENTS.md#style", 90*day, false)
		ours := h.rememberLong(memd.RememberLongTerm{MemoryKey: "ours", Summary: "short answers", Source: "user", Kind: memd.Preference,
			VerifiedAt: memd.At(h.clock.Now().Add(-365 * day))})
		theirs := h.rememberLong(memd.RememberLongTerm{MemoryKey: "theirs", Summary: "long answers", Source: "user", Kind: memd.Preference,
			VerifiedAt: memd.At(h.clock.Now().Add(-366 * day))})
		settle(h)
		dry := h.groom(groom.Options{DryRun: true})
		report := h.groom(groom.Options{})
		for name, want := range map[string][]string{
			"mark_stale":    ids(unread, theirs),
			"check_sources": ids(young, due, old, unread, fresh),
		} {
			for _, p := range []groom.Pass{h.pass(dry, name), h.pass(report, name)} {
				if slices.Sort(p.IDs); !slices.Equal(p.IDs, want) {
					t.Errorf("%+v, want the ids %q", p, want)
				}
			}
		}
		now := h.store.Now()
		for _, c := range []struct {
			memd.Memory
			renewed bool
			status  memd.SourceStatus
			reason  memd.StaleReason
		}{
			{young, false, memd.SourceOK, ""}, {due, true, memd.SourceOK, ""}, {old, true, memd.SourceOK, ""},
			{unread, false, memd.SourceOK, memd.StaleAge}, {fresh, false, memd.SourceOK, ""},
			{ours, false, memd.SourceUnchecked, ""}, {theirs, false, memd.SourceUnchecked, memd.StaleAge},
		} {
			h.wantSource("groomed", c.Memory, c.status, c.reason)
			got, _ := h.row(c.ID)
			if renewed := got.VerifiedAt == now && got.VerifiedBy == "groom"; renewed != c.renewed || !renewed && got.VerifiedAt != c.VerifiedAt {
				t.Errorf("%s was verified at %s by %s", c.MemoryKey, got.VerifiedAt, got.VerifiedBy)
			}
		}
		for _, p := range h.groom(groom.Options{}).Passes {
			if p.Changed != 0 {
				t.Errorf("the second run: %+v", p)
			}
		}
	})
}

// URLs are looked at 200 a run, and the next run goes on after them; none in a dry
// run. One that does not answer is unchecked.
func TestURLs(t *testing.T) {
	var asked, busy, most atomic.Int64
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := busy.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer busy.Add(-1)
		asked.Add(1)
		switch {
		case down.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/gone":
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	h := newHouse(t)
	h.runner.WithSources(sources.New(nil).WithURLs(0))
	gone := h.rememberLong(memd.RememberLongTerm{MemoryKey: "gone", Summary: "gone", Source: server.URL + "/gone"})
	var rows []memd.Memory
	for n := range 249 {
		rows = append(rows, h.rememberLong(memd.RememberLongTerm{MemoryKey: fmt.Sprintf("k%03d", n), Summary: fmt.Sprint("page ", n),
			Source: fmt.Sprint(server.URL, "/", n)}))
	}
	h.groom(groom.Options{DryRun: true})
	if asked.Load() != 0 {
		t.Errorf("a dry run fetched %d URLs", asked.Load())
	}
	for run := range 3 {
		asked.Store(0)
		h.groom(groom.Options{})
		if asked.Load() < 200 || most.Load() > 8 {
			t.Errorf("run %d asked %d times, %d at once", run, asked.Load(), most.Load())
		}
		ok := 0
		for _, m := range rows {
			if got, _ := h.row(m.ID); got.SourceStatus == memd.SourceOK {
				ok++
			}
		}
		if ok != min(249, 199+50*run) {
			t.Errorf("after run %d %d pages are found", run, ok)
		}
	}
	h.wantSource("gone", gone, memd.SourceMissing, memd.StaleSourceMissing)
	down.Store(true)
	for range 2 {
		for _, name := range []string{"mark_stale", "check_sources"} {
			if p := h.pass(h.groom(groom.Options{}), name); p.Changed != 0 {
				t.Errorf("of a server that is down: %+v", p)
			}
		}
	}
}
