package groom_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/internal/memtest"
	"memd/store"
	"memd/store/terms"
	"memd/tiers"
)

// root sees and holds everything.
var root = memd.LocalAdmin()

// house is a store with a groom.
type house struct {
	t      *testing.T
	dir    string
	clock  *memtest.Clock
	store  *store.Set
	tiers  *tiers.Service
	runner *groom.Runner
	made   int // rows, so that ids differ
}

func newHouse(t *testing.T) *house {
	t.Helper()
	return houseUnder(t, nil)
}

// houseUnder is newHouse under budgets that edit changes.
func houseUnder(t *testing.T, edit func(*configs.Budgets)) *house {
	t.Helper()
	return houseIn(t, t.TempDir(), memtest.NewClock(), edit)
}

// houseIn is a house in dir.
func houseIn(t *testing.T, dir string, clock *memtest.Clock, edit func(*configs.Budgets)) *house {
	t.Helper()
	s := memtest.Store(t, dir, clock, edit)
	return &house{t: t, dir: dir, clock: clock, store: s, tiers: tiers.New(s), runner: groom.New(s, nil)}
}

// reopened is the same folder under other budgets.
func (h *house) reopened(edit func(*configs.Budgets)) *house {
	h.t.Helper()
	if err := h.store.Close(); err != nil {
		h.t.Fatal(err)
	}
	return houseIn(h.t, h.dir, h.clock, edit)
}

func (h *house) remember(req memd.Remember) memd.Memory {
	h.t.Helper()
	out, err := h.tiers.Remember(context.Background(), root, req)
	if err != nil {
		h.t.Fatal(err)
	}
	return out.Memory
}

func (h *house) rememberLong(req memd.RememberLongTerm) memd.Memory {
	h.t.Helper()
	out, err := h.tiers.RememberLongTerm(context.Background(), root, req)
	if err != nil {
		h.t.Fatal(err)
	}
	return out.Memory
}

// groom runs and wants every pass to succeed.
func (h *house) groom(opts groom.Options) groom.Report {
	h.t.Helper()
	report, err := h.runner.Run(context.Background(), opts)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, p := range report.Passes {
		if p.Error != "" {
			h.t.Errorf("pass %s failed: %s", p.Name, p.Error)
		}
	}
	return report
}

// pass is the outcome of one pass.
func (h *house) pass(report groom.Report, name string) groom.Pass {
	h.t.Helper()
	for _, p := range report.Passes {
		if p.Name == name {
			return p
		}
	}
	h.t.Fatalf("no pass %s in %+v", name, report.Passes)
	return groom.Pass{}
}

// row reads a row as it stands, ok is false if there is none.
func (h *house) row(id string) (m memd.Memory, ok bool) {
	h.t.Helper()
	err := h.store.View(context.Background(), func(v *store.View) (err error) {
		m, ok, err = v.Get(id)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return m, ok
}

// found reports whether the keyword index of a tier finds a row by a word.
func (h *house) found(t memd.Tier, word, id string) bool {
	h.t.Helper()
	found := false
	err := h.store.View(context.Background(), func(v *store.View) error {
		var locs []store.Loc
		for _, term := range terms.Query(word, 10) {
			if err := v.Postings(t, nil, term.Match, func(l store.Loc) { locs = append(locs, l) }); err != nil {
				return err
			}
		}
		rows, err := v.Load(t, locs, store.Scope{Namespaces: []string{memd.DefaultNamespace}, Now: h.store.Now()}, store.Filter{})
		for _, m := range rows {
			found = found || m.ID == id
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

func (h *house) meta(key string) (value string) {
	h.t.Helper()
	err := h.store.View(context.Background(), func(v *store.View) (err error) {
		value, err = v.Meta(key)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return value
}

// shell runs SQL in the sqlite3 shell on the open store and returns what it
// prints.
func (h *house) shell(sql string) string {
	h.t.Helper()
	return h.shellOn(store.ActiveName, sql)
}

// shellOn is shell on the database of a name below the folder.
func (h *house) shellOn(name, sql string) string {
	h.t.Helper()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		h.t.Fatal("the sqlite3 shell is missing; .ci/run installs it")
	}
	out, err := exec.Command(path, "-bail", "-quote", "-cmd", ".timeout 5000", filepath.Join(h.dir, name), sql).CombinedOutput()
	if err != nil {
		h.t.Fatalf("sqlite3: %v: %s", err, out)
	}
	return string(out)
}

// tables selects all rows, index entries and vectors of the model tiers.
const tables = `SELECT * FROM transient ORDER BY rid; SELECT * FROM short ORDER BY rid;
SELECT * FROM long ORDER BY rid; SELECT * FROM archive ORDER BY rid; SELECT * FROM embedding ORDER BY memory_id;
SELECT * FROM outbox ORDER BY memory_id; SELECT * FROM short_fts_data ORDER BY id; SELECT * FROM long_fts_data ORDER BY id;
SELECT * FROM archive_fts_data ORDER BY id; SELECT * FROM head; SELECT * FROM access_log;
SELECT * FROM short_reindex; SELECT * FROM long_reindex; SELECT * FROM archive_reindex`

func (h *house) tables() string { return h.shell(tables) }

// aged inserts a row of a tier that was last written so long ago, with what edit
// changes, as it is with nobody having looked at it since.
func (h *house) aged(t memd.Tier, age time.Duration, edit func(*memd.Memory)) memd.Memory {
	h.t.Helper()
	h.made++
	at := memd.At(h.clock.Now().Add(-age))
	m := memd.Memory{
		ID: fmt.Sprintf("01800000-0000-7000-8000-%012d", h.made), Tier: t, Namespace: memd.DefaultNamespace,
		Kind: memd.Event, Summary: fmt.Sprint("aged row ", h.made), Importance: 5, SourceStatus: memd.SourceNone,
		CreatedAt: at, UpdatedAt: at, WrittenAt: at, Tags: []string{}, Access: []string{},
	}
	if edit != nil {
		edit(&m)
	}
	m.ContentHash = tiers.ContentHash(&m)
	h.must(h.store.Update(context.Background(), func(tx *store.Tx) error { return tx.Insert(&m) }))
	return m
}

// vector gives rows a vector, as an embedder of before would have.
func (h *house) vector(rows ...memd.Memory) {
	h.t.Helper()
	sql := ""
	for _, m := range rows {
		sql += `INSERT INTO embedding (memory_id, model, dim, vec, bits) VALUES ('` + m.ID + `', 'm', 8, x'0102030405060708', x'ff');`
	}
	h.shell(sql)
}
