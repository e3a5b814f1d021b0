package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd/groom"
	"memd/store"
)

// manyFiles is a box with rows in six historical databases, of which some are old
// enough to go, under budgets that have room for two.
func manyFiles(t *testing.T) *box {
	t.Helper()
	b := newBox(t)
	for i := range 6 {
		b.must("remember", fmt.Sprintf("row %d of the store", i))
		b.must("remember", fmt.Sprintf("row %d is over", i), "--expires-at", "2099-01-02T03:04:05Z")
		b.shell(`UPDATE short SET expires_at = '2026-01-02T03:04:05.000Z' WHERE expires_at IS NOT NULL`)
		b.must("rollover")
	}
	b.must("remember-long-term", "releases are on tuesdays", "--key", "release/day", "--source", "AGENTS.md#rules")
	b.env = append(b.env, "MEMD_BUDGETS_HISTORY_FILES=2", "MEMD_BUDGETS_EMBEDDING_ROWS=1", "MEMD_BUDGETS_ACTIVE_BYTES=1048576")
	return b
}

// state is what a command that only reads must leave alone: files, rows, the
// catalogue, and the budgets that were in force.
func (b *box) state() string {
	b.t.Helper()
	paths, err := filepath.Glob(filepath.Join(b.dir, store.HistoryDir, "*"))
	if err != nil {
		b.t.Fatal(err)
	}
	all := b.shell(`SELECT id, tier, summary FROM memory ORDER BY id; SELECT * FROM history; SELECT key, value FROM meta WHERE key LIKE 'budgets.%' ORDER BY key`)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			b.t.Fatal(err)
		}
		all += fmt.Sprint("\n", path, info.Size(), info.ModTime())
	}
	return all
}

// What only reads changes nothing where no daemon runs, whatever the budgets, and
// a groom does what its dry run said.
func TestReadingLeavesTheStore(t *testing.T) {
	b := manyFiles(t)
	before := b.state()
	for _, args := range [][]string{
		{"groom", "--dry-run"}, {"groom", "--reports"}, {"audit"}, {"stats"}, {"doctor"}, {"list"}, {"get", "--key", "release/day"},
		{"recall", "releases"}, {"context"}, {"why", "releases", "--key", "release/day"}, {"session", "notes", "s"}, {"config"}, {"backup"}, {"export", "--jsonl", "-"},
	} {
		b.run(args...)
		if after := b.state(); after != before {
			t.Errorf("%q: it was\n%s\nand is\n%s", args, before, after)
		}
	}
	b.shell(`DELETE FROM access_log`) // nothing is folded into rows that go with a database
	dry := b.groomed("--dry-run")
	real := b.groomed()
	if len(real.Passes) != len(dry.Passes) {
		t.Fatalf("%d passes, %d in the dry run", len(real.Passes), len(dry.Passes))
	}
	named := 0
	for i, p := range real.Passes {
		slices.Sort(p.IDs)
		slices.Sort(dry.Passes[i].IDs)
		named += len(p.IDs)
		if !slices.Equal(p.IDs, dry.Passes[i].IDs) || p.Changed != dry.Passes[i].Changed {
			t.Errorf("it did %+v, its dry run %+v", p, dry.Passes[i])
		}
	}
	if named < 6 {
		t.Errorf("only %d rows changed: the test shows little", named)
	}
	if got := b.shell(`SELECT (SELECT count(*) FROM history), (SELECT value FROM meta WHERE key = 'budgets.history_files')`); got != "2|2" {
		t.Errorf("groomed, there are historical databases and a budget of them: %s", got)
	}
}

// groomed is the report of a groom that must succeed.
func (b *box) groomed(args ...string) (r groom.Report) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(b.must(append([]string{"groom", "--json"}, args...)...)), &r); err != nil {
		b.t.Fatal(err)
	}
	return r
}

// An audit without a daemon sees budgets that were edited by hand, and names what
// puts those of the configuration in force.
func TestAuditSeesEditedBudgets(t *testing.T) {
	b := newBox(t)
	b.must("remember", "worth keeping")
	box := func() groom.Box {
		t.Helper()
		var a groom.Audit
		if err := json.Unmarshal([]byte(b.must("audit", "--json")), &a); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(a.Boxes, func(x groom.Box) bool { return strings.HasPrefix(x.Box, "8.3") })
		return a.Boxes[i]
	}
	edit := func() { b.shell(`UPDATE meta SET value = '7' WHERE key = 'budgets.short_rows'`) }
	for name, mend := range map[string]func(){
		"memd groom":         func() { b.must("groom") },
		"restart the daemon": func() { b.serve().stop() },
	} {
		edit()
		if got := box(); got.Verdict != groom.VerdictFail || !strings.Contains(got.How, "short_rows") || !strings.Contains(got.Fix, name) {
			t.Errorf("edited: %+v", got)
		}
		mend()
		if got := box(); got.Verdict != groom.VerdictPass {
			t.Errorf("after %s: %+v", name, got)
		}
	}
}
