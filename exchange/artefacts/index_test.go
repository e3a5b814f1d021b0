package artefacts_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/exchange/artefacts"
	"memd/guard/sources"
	"memd/internal/memtest"
	"memd/store"
	"memd/tiers"
)

var ctx = context.Background()

// house is a store, and a folder whose artefacts it knows.
type house struct {
	*tiers.Service
	t      *testing.T
	folder string
	clock  *memtest.Clock
	store  *store.Set
	opts   artefacts.Options
	writes []string                          // calls that write, since the last run
	before func(memd.RememberLongTerm) error // of each
}

func newHouse(t *testing.T, edit func(*configs.Budgets)) *house {
	t.Helper()
	h := &house{t: t, folder: t.TempDir(), clock: memtest.NewClock()}
	roots := map[string]string{"project/x": h.folder}
	h.opts = artefacts.Options{
		Folder: h.folder, Names: []string{"AGENTS.md", "CLAUDE.md"}, Roots: roots, Budgets: configs.DefaultBudgets(), Now: h.clock.Now,
	}
	if edit != nil {
		edit(&h.opts.Budgets)
	}
	h.store = memtest.Store(t, "", h.clock, edit)
	h.Service = tiers.New(h.store).WithSources(sources.New(roots)).WithGuard(configs.DefaultGuard())
	h.put("README.md", "a folder that is not empty\n")
	return h
}

// put writes a file, an hour before now.
func (h *house) put(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.folder, name)
	h.must(os.MkdirAll(filepath.Dir(path), 0o700))
	h.must(os.WriteFile(path, []byte(text), 0o600))
	h.touch(name, -time.Hour)
}

// touch sets when a file was last written, from now.
func (h *house) touch(name string, ago time.Duration) {
	h.t.Helper()
	at := h.clock.Now().Add(ago)
	h.must(os.Chtimes(filepath.Join(h.folder, name), at, at))
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// door is the store as a run sees it.
type door struct{ *house }

func (d door) List(ctx context.Context, req memd.List) (memd.Page, error) {
	return d.Service.List(ctx, memd.LocalAdmin(), req)
}

func (d door) RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (memd.Written, error) {
	d.writes = append(d.writes, "remember "+req.MemoryKey)
	if d.before != nil {
		if err := d.before(req); err != nil {
			return memd.Written{}, err
		}
	}
	return d.Service.RememberLongTerm(ctx, memd.LocalAdmin(), req)
}

func (d door) Verify(ctx context.Context, id string, req memd.Verify) (memd.Written, error) {
	d.writes = append(d.writes, strings.TrimSpace("verify "+string(req.SourceStatus)))
	return d.Service.Verify(ctx, memd.LocalAdmin(), id, req)
}

func (d door) Gone(ctx context.Context, namespace string) (map[string]memd.Fate, error) {
	page, err := d.Service.Gone(ctx, memd.LocalAdmin(), namespace, "")
	return page.Fates(), err
}

func (d door) Room(ctx context.Context) (memd.Room, error) {
	stats, err := d.store.Stats(ctx)
	return memd.Room{memd.Long: d.opts.Budgets.LongRows - stats.Heads}, err
}

// index runs once, an hour after the last time.
func (h *house) index() *artefacts.Report {
	h.t.Helper()
	h.clock.Advance(time.Hour)
	h.writes = nil
	report, err := artefacts.Index(ctx, door{h}, h.opts)
	h.must(err)
	return report
}

// want fails unless a run came to that.
func (h *house) want(when string, r *artefacts.Report, created, updated, unchanged, stale, refused int) {
	h.t.Helper()
	got := []int{r.Created, r.Updated, r.Unchanged, r.Stale, r.Refused}
	if want := []int{created, updated, unchanged, stale, refused}; !slices.Equal(got, want) {
		h.t.Errorf("%s: created, updated, unchanged, stale, refused %v, want %v\n%+v", when, got, want, r.Results)
	}
}

// rows are the long rows by key, as key, version, kind and summary.
func (h *house) rows() map[string]memd.Memory {
	h.t.Helper()
	page, err := h.Service.List(ctx, memd.LocalAdmin(), memd.List{Tier: memd.Long, Namespace: "project/x", Limit: 200})
	h.must(err)
	rows := map[string]memd.Memory{}
	for _, m := range page.Memories {
		rows[m.MemoryKey] = m
	}
	return rows
}

const guide = `# Guide

## Commands

- Run make test before a commit
- Run make test-all before a release

## Pitfalls

- The clock may jump: never compare wall times
`

const (
	keyTest    = "AGENTS.md/commands/run-make-test-before-a-commit"
	keyTestAll = "AGENTS.md/commands/run-make-test-all-before-a-release"
	keyClock   = "AGENTS.md/pitfalls/the-clock-may-jump-never-compare"
)

func TestIndex(t *testing.T) {
	h := newHouse(t, nil)
	h.put("AGENTS.md", guide)
	h.want("at first", h.index(), 3, 0, 0, 0, 0)
	rows := h.rows()
	m := rows[keyTest]
	if len(rows) != 3 || m.Summary != "Commands: Run make test before a commit" || m.Kind != memd.Rule || m.Importance != 8 || m.Source != "AGENTS.md#commands" ||
		m.SourceStatus != memd.SourceOK || m.VerifiedAt != memd.At(h.clock.Now()) || m.CreatedAt != memd.At(h.clock.Now().Add(-2*time.Hour)) ||
		!slices.Contains(m.Tags, "indexed") || !slices.Contains(m.Tags, "agents") {
		t.Errorf("%+v", rows)
	}
	if m = rows[keyClock]; m.Kind != memd.Pitfall || m.Source != "AGENTS.md#pitfalls" {
		t.Errorf("%+v", m)
	}
	h.want("again", h.index(), 0, 0, 3, 0, 0)
	if len(h.writes) != 0 {
		t.Errorf("a second run writes: %q", h.writes)
	}
	// Added, removed and reordered: what stays is left alone but for its verification.
	h.put("AGENTS.md", "# Guide\n\n## Commands\n\n- Say what changed in the log\n- Run make test-all before a release\n\n## Pitfalls\n\n- The clock may jump: never compare wall times\n")
	h.touch("AGENTS.md", 0)
	r := h.index()
	h.want("another item", r, 1, 0, 2, 1, 0)
	if r.Verified != 2 || len(h.writes) != 4 {
		t.Errorf("%d verified, writes %q", r.Verified, h.writes)
	}
	rows = h.rows()
	if m = rows[keyTest]; !m.Stale || m.StaleReason != memd.StaleSourceMissing || m.Version != 1 {
		t.Errorf("what is gone: %+v", m)
	}
	if m = rows[keyTestAll]; m.Stale || m.Version != 1 || m.SourceStatus != memd.SourceOK {
		t.Errorf("what stays: %+v", m)
	}
	h.want("and again", h.index(), 0, 0, 3, 0, 0)
	if len(h.writes) != 0 {
		t.Errorf("it writes: %q", h.writes)
	}
	// Back again, and changed.
	h.put("AGENTS.md", strings.Replace(guide, "before a release", "before every release, twice", 1))
	h.touch("AGENTS.md", 0)
	h.want("changed", h.index(), 0, 1, 2, 1, 0)
	rows = h.rows()
	if m = rows[keyTestAll]; m.Version != 2 || m.Stale || m.Summary != "Commands: Run make test-all before every release, twice" {
		t.Errorf("what changed: %+v", m)
	}
	if m = rows[keyTest]; m.Stale || m.Version != 1 {
		t.Errorf("what came back: %+v", m)
	}
}

// An edit keeps its key, whatever else happens to its section at the same time, and a
// row keeps its key where its section is renamed.
func TestKeysStay(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		versions string // of the keys in their order
		stale    int
	}{
		"one word":             {"- use npm for scripts\n- lint first", "- use pnpm for scripts\n- lint first", "1 2", 0},
		"reordered and edited": {"- alpha is for tests\n- beta is for users", "- beta is for all users\n- alpha is for tests", "1 2", 0},
		"equal beginnings":     {"- run make a for x\n- run make b for y", "- run make b for z\n- run make a for x", "1 2", 0},
		"one gone, one edited": {"- alpha is for tests\n- beta is for users", "- beta is for most users", "1 2", 1},
		"a new section's name": {"- alpha is for tests\n- beta is for users\n\n## Other", "- alpha is for tests\n\n## More\n\n- beta is for users", "1 2", 0},
		"little words shared":  {"- Run the tests before a commit\n- Never push to the main branch", "- Sign the tag before a release of the server\n- Never push to the main branch", "", 1},
		"endings":              {"- Commits need a signed tag\n- lint first", "- Every commit needs signed tags\n- lint first", "2 1", 0},
		"chinese":              {"- 提交前必须运行测试\n- 不要跳过", "- 提交前必须运行全部测试\n- 不要跳过", "1 2", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			h.put("AGENTS.md", "## Rules\n\n"+c.from+"\n")
			h.want("at first", h.index(), 2, 0, 0, 0, 0)
			h.put("AGENTS.md", "## Rules\n\n"+c.to+"\n")
			r := h.index()
			rows := h.rows()
			var versions []string
			for _, key := range slices.Sorted(maps.Keys(rows)) {
				versions = append(versions, fmt.Sprint(rows[key].Version))
			}
			if c.versions == "" { // one is new
				h.want("another item", r, 1, 0, 1, 1, 0)
				return
			}
			if got := strings.Join(versions, " "); got != c.versions || r.Created != 0 || r.Stale != c.stale {
				t.Errorf("versions %s, want %s; %+v", got, c.versions, rows)
			}
			h.want("again", h.index(), 0, 0, 2-c.stale, 0, 0)
			if len(h.writes) != 0 {
				t.Errorf("a further run writes: %q", h.writes)
			}
		})
	}
}

// What a file says of its own time may be no time that memd keeps; the item counts then
// from the run.
func TestFileOfNoTime(t *testing.T) {
	h := newHouse(t, nil)
	h.put("AGENTS.md", guide)
	at := time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)
	h.must(os.Chtimes(filepath.Join(h.folder, "AGENTS.md"), at, at))
	h.want("of 1960", h.index(), 3, 0, 0, 0, 0)
	if m := h.rows()[keyTest]; m.CreatedAt != memd.At(h.clock.Now()) {
		t.Errorf("created at %s", m.CreatedAt)
	}
}

// What people wrote, forgot to index, or edited is theirs.
func TestWhatIsNotIndexed(t *testing.T) {
	h := newHouse(t, nil)
	h.put("AGENTS.md", guide)
	mine := memd.RememberLongTerm{MemoryKey: "mine", Namespace: "project/x", Source: "AGENTS.md#commands", Kind: memd.Rule, Summary: "Commands: Run make test before a commit"}
	_, err := h.RememberLongTerm(ctx, memd.LocalAdmin(), mine)
	h.must(err)
	other := mine
	other.MemoryKey, other.Summary = "other", "what nobody wrote there"
	_, err = h.RememberLongTerm(ctx, memd.LocalAdmin(), other)
	h.must(err)
	h.want("beside a person's", h.index(), 2, 0, 1, 0, 0)
	row := h.rows()[keyTestAll]
	_, err = h.Patch(ctx, memd.LocalAdmin(), row.ID, memd.Patch{Importance: memd.Some(3), Tags: memd.Some(append(row.Tags, "release"))})
	h.must(err)
	h.put("AGENTS.md", strings.Replace(guide, "a release", "any release", 1))
	h.want("edited", h.index(), 0, 1, 2, 0, 0)
	rows := h.rows()
	if m := rows[keyTestAll]; m.Importance != 3 || !slices.Contains(m.Tags, "release") || m.Version != 2 {
		t.Errorf("a person's labels: %+v", m)
	}
	if m := rows["other"]; m.Stale || m.Version != 1 || len(m.Tags) != 0 {
		t.Errorf("a person's row: %+v", m)
	}
}

// A memory whose text somebody else wrote over is not taken for the artefact's word: it
// is neither verified nor undone until the item says something else. One that a guard
// changed is no such thing.
func TestWhatWasWrittenOver(t *testing.T) {
	h := newHouse(t, nil)
	h.put("AGENTS.md", guide+"- Ask ops@"+"corp.example.io before a restart\n")
	h.index()
	row := h.rows()[keyTestAll]
	w, err := h.RememberLongTerm(ctx, memd.LocalAdmin(), memd.RememberLongTerm{MemoryKey: keyTestAll, Namespace: "project/x", Source: row.Source, Summary: "Commands: skip the tests"})
	h.must(err)
	h.clock.Advance(h.opts.Budgets.LongFreshFor / 5)
	r := h.index()
	m := h.rows()[keyTestAll]
	if r.Held != 1 || r.Verified != 3 || m.Version != 2 || m.VerifiedAt != w.VerifiedAt || m.Summary != "Commands: skip the tests" || len(r.Results) != 1 || r.Results[0].Line != 6 {
		t.Errorf("%+v\n%+v", r, m)
	}
	h.put("AGENTS.md", strings.Replace(guide, "before a release", "before any release", 1))
	if r = h.index(); r.Created != 1 || !h.rows()[keyTestAll].Stale {
		t.Errorf("%+v\n%+v", r, h.rows()[keyTestAll])
	}
}

// What a person forgot, resolved or let expire does not come back while its text
// stands there.
func TestWhatWasEnded(t *testing.T) {
	h := newHouse(t, nil)
	h.put("AGENTS.md", guide)
	h.index()
	rows := h.rows()
	h.must(h.ForgetKey(ctx, memd.LocalAdmin(), "project/x", keyTest))
	for key, patch := range map[string]memd.Patch{
		keyClock: {ResolvedAt: memd.Some(memd.At(h.clock.Now()))}, keyTestAll: {ExpiresAt: memd.Some(memd.At(h.clock.Now().Add(time.Minute)))},
	} {
		_, err := h.Patch(ctx, memd.LocalAdmin(), rows[key].ID, patch)
		h.must(err)
	}
	r := h.index()
	h.want("all ended", r, 0, 0, 0, 0, 0)
	if r.Held != 3 || len(h.writes) != 0 || len(h.rows()) != 0 {
		t.Errorf("%+v, writes %q", r, h.writes)
	}
	h.put("AGENTS.md", strings.Replace(guide, "Run make test before", "Always run make test before", 1))
	if r = h.index(); r.Created != 1 || r.Held != 2 {
		t.Errorf("said anew: %+v", r)
	}
}

// A refusal of one is told with its place, and the others go on.
func TestRefusals(t *testing.T) {
	h := newHouse(t, nil)
	token := "ghp_" + "Zk3vQ9xT7mLw2RbN8sYd4HcJ6fPa1GeU0iXo"
	h.put("AGENTS.md", "## Rules\n\n- push with "+token+"\n- lint first\n")
	r := h.index()
	h.want("with a secret", r, 1, 0, 0, 0, 1)
	i := slices.IndexFunc(r.Results, func(res artefacts.Result) bool { return res.Outcome == artefacts.Refused })
	if res := r.Results[i]; res.Code != memd.CodeSecretDetected || res.File != "AGENTS.md" || res.Line != 3 || strings.Contains(fmt.Sprintf("%+v", r), token) {
		t.Errorf("%+v", res)
	}
	// So is somebody else's edit in the meantime.
	h.put("AGENTS.md", "## Rules\n\n- lint first, then test\n")
	h.before = func(req memd.RememberLongTerm) error {
		h.before = nil
		*req.BaseVersion = 7
		return nil
	}
	r = h.index()
	h.want("overtaken", r, 0, 0, 0, 0, 1)
	if res := r.Results[0]; res.Code != memd.CodeVersionConflict {
		t.Errorf("%+v", res)
	}
}

// Where new keys do not fit nothing is written.
func TestNoRoom(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.LongRows = 2 })
	h.put("AGENTS.md", guide)
	_, err := artefacts.Index(ctx, door{h}, h.opts)
	if memd.CodeOf(err) != memd.CodeBudgetExceeded || len(h.writes) != 0 || len(h.rows()) != 0 {
		t.Errorf("%v after %q", err, h.writes)
	}
	h.opts.DryRun = true
	r := h.index()
	h.want("dry", r, 3, 0, 0, 0, 0)
	if len(h.writes) != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "3 new keys do not fit: there is room for 2") {
		t.Errorf("%q, writes %q", r.Warnings, h.writes)
	}
}

// A file that is gone marks its rows; one that cannot be read, is not asked for any
// more, or lies elsewhere does not.
func TestFilesThatGo(t *testing.T) {
	h := newHouse(t, nil)
	h.put("AGENTS.md", "- of the top\n")
	h.put("a/AGENTS.md", "- of a folder\n")
	h.put("b/AGENTS.md", "- of another\n")
	h.put("docs/guide.md", "- of a guide\n")
	h.opts.Include = []string{"docs/*.md"}
	h.want("at first", h.index(), 4, 0, 0, 0, 0)
	h.opts.Include = nil
	h.must(os.Remove(filepath.Join(h.folder, "a/AGENTS.md")))
	h.put("AGENTS.md", "of the \x00 top\n")
	h.opts.Folder, h.opts.Namespace = filepath.Join(h.folder, "b"), "project/x"
	h.want("elsewhere", h.index(), 0, 0, 1, 0, 0)
	h.opts.Folder = h.folder
	r := h.index()
	h.want("gone", r, 0, 0, 1, 1, 0)
	if len(r.Skipped) != 1 || r.Skipped[0].File != "AGENTS.md" || r.Results[0].File != "a/AGENTS.md" || r.Results[0].MemoryKey != "a/AGENTS.md/of-a-folder" {
		t.Errorf("%+v, %+v", r.Skipped, r.Results)
	}
	h.want("again", h.index(), 0, 0, 1, 0, 0)
	// A folder that is empty is one that is not mounted.
	h.opts.Folder, h.opts.Namespace = t.TempDir(), "project/y"
	if r = h.index(); len(r.Skipped) != 1 || r.Stale != 0 {
		t.Errorf("an empty folder: %+v", r)
	}
}

// mark does what groom does with a row whose section has changed.
func (h *house) mark(m memd.Memory) {
	h.t.Helper()
	h.must(h.store.Update(ctx, func(tx *store.Tx) error {
		head, _, err := tx.Head(m.Namespace, m.MemoryKey)
		if err != nil {
			return err
		}
		seen := store.Seen{ID: m.ID, Namespace: m.Namespace, Key: m.MemoryKey, Source: m.Source, Status: m.SourceStatus, VerifiedAt: m.VerifiedAt, SourceHash: head.SourceHash}
		if _, err := tx.MarkStale(seen, memd.StaleSourceChanged); err != nil {
			return err
		}
		_, err = tx.MarkSource(seen, memd.SourceChanged, m.VerifiedAt, "")
		return err
	}))
}

// What groom finds of a section between two runs is no verdict on its items, and long
// after the last run what still stands is verified anew, once.
func TestIndexRenews(t *testing.T) {
	h := newHouse(t, nil)
	h.put("AGENTS.md", guide)
	h.index()
	h.mark(h.rows()[keyTestAll])
	if m := h.rows()[keyTestAll]; !m.Stale || m.SourceStatus != memd.SourceChanged {
		t.Fatalf("not marked: %+v", m)
	}
	r := h.index()
	h.want("after groom", r, 0, 0, 3, 0, 0)
	if m := h.rows()[keyTestAll]; m.Stale || m.SourceStatus != memd.SourceOK || r.Verified != 1 {
		t.Errorf("what stands is marked: %+v", m)
	}
	h.clock.Advance(h.opts.Budgets.LongFreshFor / 5)
	if r = h.index(); r.Verified != 3 || h.rows()[keyTestAll].VerifiedAt != memd.At(h.clock.Now()) {
		t.Errorf("%d verified", r.Verified)
	}
	if h.index(); len(h.writes) != 0 {
		t.Errorf("writes %q", h.writes)
	}
}
