package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// A shell that writes at any moment of a rollover or a compaction either does
// so wholly, and the row has what it wrote, or is refused.
func TestShellWritesDuringAnExchange(t *testing.T) {
	for _, c := range []struct {
		step    string
		compact bool
		copied  bool // another shell is left open
		brief   bool // the writer would wait for a shell that is left open
	}{
		{step: "rollover/begin", brief: true}, {step: "rollover/prepared", brief: true}, {step: "rollover/unlogged"},
		{step: "rollover/marked", copied: true, brief: true}, {step: "rollover/copied", copied: true},
		{step: "compact/copy", compact: true}, {step: "compact/copied", compact: true},
	} {
		for _, ending := range []string{"committed at once", "left open", "killed"} {
			if c.brief && ending != "committed at once" {
				continue
			}
			t.Run(strings.ReplaceAll(c.step, "/", " ")+", "+ending, func(t *testing.T) {
				dir := t.TempDir()
				s := openBare(t, dir)
				m := row(memd.Short, 1, "kumquat")
				put(t, s, m, row(memd.Short, 2, "quince"))
				name := store.ActiveName
				if c.compact {
					name = roll(t, s).File
				}
				if c.copied {
					idle := leaveOpen(t, dir, name)
					idle.ask(`SELECT count(*) FROM meta;`)
				}
				var shell *openShell
				var said string
				doing := store.WithSteps(ctx, func(step string) {
					if step == c.step && shell == nil {
						shell = leaveOpen(t, dir, name)
						said = shell.ask(`BEGIN IMMEDIATE; UPDATE short SET importance = 9 WHERE id = '` + m.ID + `';`)
						if ending == "committed at once" {
							said += shell.ask(`COMMIT;`)
						}
					}
				})
				exchange(doing, s, c.compact)
				if shell == nil {
					t.Fatal("the step was not reached")
				}
				switch ending {
				case "left open":
					said += shell.ask(`COMMIT;`)
				case "killed":
					must(t, shell.cmd.Process.Kill())
					_ = shell.cmd.Wait()
					said = "killed"
				}
				shell.leave()
				want := 9
				if said != "" {
					want = m.Importance
				}
				look := func() {
					t.Helper()
					if got, ok := get(t, s, m.ID); !ok || got.Importance != want {
						t.Errorf("the shell was told %q, and the row is there: %v, with importance %d", said, ok, got.Importance)
					}
					finds(t, s, memd.Short, "quince", row(memd.Short, 2, "quince"))
					healthy(t, s)
				}
				look()
				put(t, s, row(memd.Short, 3, "medlar"))
				exchange(ctx, s, c.compact)
				look()
				must(t, s.Close())
				s = openBare(t, dir)
				look()
				must(t, s.Close())
			})
		}
	}
}

// exchange rolls over or compacts. It may be refused.
func exchange(ctx context.Context, s *store.Set, compact bool) {
	if compact {
		_, _ = s.Compact(ctx)
		return
	}
	_, _ = s.Rollover(ctx)
}

// Where it cannot be told who has a file open, rows are copied out, and the
// active database stays the file that it was.
func TestRolloverWhereNobodyCanTell(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	s.CannotTell()
	path := filepath.Join(s.Dir(), store.ActiveName)
	before, err := os.Stat(path)
	must(t, err)
	for n := range 3 {
		put(t, s, row(memd.Short, n, fmt.Sprint("kumquat ", n)))
		roll(t, s)
	}
	after, err := os.Stat(path)
	must(t, err)
	if !os.SameFile(before, after) {
		t.Error("the active database is another file")
	}
	if got := find(t, s, memd.Short, "kumquat"); len(got) != 3 {
		t.Errorf("%d rows", len(got))
	}
	for _, name := range names(t, s.Dir()) {
		if strings.Contains(name, ".next") || strings.Contains(name, ".copy") {
			t.Errorf("%s is left", name)
		}
	}
	healthy(t, s)
}
