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

// A source that was found not to say it is not taken for found because its section
// stands: with no hash kept, with one, and where nobody can look.
func TestSourceThatLacksIt(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h, folder := rooted(t)
		h.write(folder, "AGENTS.md", rules)
		rows := []memd.Memory{
			h.cite(folder, "hashed", "AGENTS.md#commands", 0, true), h.cite(folder, "plain", "AGENTS.md#style", 0, false),
			h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: "s", Source: "AGENTS.md#commands", Namespace: "project/x"}),
		}
		for _, m := range rows {
			_, err := h.tiers.Verify(context.Background(), root, m.ID, memd.Verify{SourceStatus: memd.SourceMissing})
			h.must(err)
		}
		settle(h)
		h.groom(groom.Options{})
		h.wantSource("with a hash", rows[0], memd.SourceMissing, memd.StaleSourceMissing)
		h.wantSource("without one", rows[1], memd.SourceMissing, memd.StaleSourceMissing)
		h.wantSource("without a root", rows[2], memd.SourceMissing, memd.StaleSourceMissing)
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
// run. Of one that does not answer any more it is not known that it stands; one
// that was missing stays so.
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
	left := len(rows)
	for run := range 4 {
		report := h.groom(groom.Options{})
		if p := h.pass(report, "mark_stale"); p.Changed != 0 {
			t.Errorf("run %d of a server that is down: %+v", run, p)
		}
		if p := h.pass(report, "check_sources"); p.Changed > left || run < 2 && p.Changed == 0 {
			t.Errorf("run %d of a server that is down: %+v, of %d that were found", run, p, left)
		} else {
			left -= p.Changed
		}
	}
	if left != 0 {
		t.Errorf("%d are still held to be there", left)
	}
	h.wantSource("the server is down", rows[0], memd.SourceUnchecked, "")
	h.wantSource("the server is down", gone, memd.SourceMissing, memd.StaleSourceMissing)
	for _, p := range h.groom(groom.Options{}).Passes {
		if p.Changed != 0 {
			t.Errorf("once more: %+v", p)
		}
	}
	// Without leave to fetch nothing is found out.
	down.Store(false)
	h.runner.WithSources(sources.New(nil))
	if p := h.pass(h.groom(groom.Options{}), "check_sources"); p.Changed != 0 {
		t.Errorf("without leave: %+v", p)
	}
}

// Rows that rest on one page share one GET, and count as one of the 200.
func TestOnePage(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<h1 id="a">A</h1>`)
	}))
	defer server.Close()
	h := newHouse(t)
	h.runner.WithSources(sources.New(nil).WithURLs(0))
	rows := map[string]memd.Memory{}
	for n := range 250 {
		fragment := [...]string{"", "#a", "#b"}[n%3]
		rows[fragment] = h.rememberLong(memd.RememberLongTerm{MemoryKey: fmt.Sprintf("k%03d", n), Summary: fmt.Sprint("page ", n), Source: server.URL + "/p" + fragment})
	}
	other := h.rememberLong(memd.RememberLongTerm{MemoryKey: "other", Summary: "another page", Source: server.URL + "/other#a"})
	if p := h.pass(h.groom(groom.Options{}), "check_sources"); p.Changed != 251 || asked.Load() != 2 {
		t.Errorf("two pages were asked for %d times: %+v", asked.Load(), p)
	}
	h.wantSource("whole", rows[""], memd.SourceOK, "")
	h.wantSource("with a section", rows["#a"], memd.SourceOK, "")
	h.wantSource("without the section", rows["#b"], memd.SourceMissing, memd.StaleSourceMissing)
	h.wantSource("another", other, memd.SourceOK, "")
}

// A source held missing that is there again and cannot be read is missing no more;
// neither is a folder that is there again. Nothing is missing in an empty root.
func TestThereAgain(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h, root := rooted(t)
		h.write(root, "a.md", rules)
		h.write(root, "docs/adr/1.md", rules)
		file := h.cite(root, "file", "a.md#style", 0, false)
		folder := h.cite(root, "folder", "docs/adr", 0, false)
		settle(h)
		groomed := func(when string, one, other memd.SourceStatus, reason memd.StaleReason) {
			t.Helper()
			h.groom(groom.Options{})
			h.wantSource(when, file, one, reason)
			h.wantSource(when, folder, other, reason)
			for _, p := range h.groom(groom.Options{}).Passes {
				if p.Changed != 0 {
					t.Errorf("%s, again: %+v", when, p)
				}
			}
		}
		groomed("at first", memd.SourceOK, memd.SourceOK, "")
		h.must(os.Rename(root, root+".away"))
		h.must(os.Mkdir(root, 0o700)) // where it was mounted
		groomed("nothing mounted", memd.SourceOK, memd.SourceOK, "")
		h.must(os.Remove(root))
		h.must(os.Rename(root+".away", root))
		h.must(os.Rename(filepath.Join(root, "docs", "adr"), filepath.Join(root, "docs", "old")))
		h.must(os.Remove(filepath.Join(root, "a.md")))
		groomed("gone", memd.SourceMissing, memd.SourceMissing, memd.StaleSourceMissing)
		h.write(root, "a.md", "no text any more\x00")
		h.must(os.Rename(filepath.Join(root, "docs", "old"), filepath.Join(root, "docs", "adr")))
		groomed("there again", memd.SourceUnchecked, memd.SourceOK, "")
	})
}
