package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
	"memd/store/terms"
)

var ctx = context.Background()

// row is a memory as tiers would hand it to the store. Its id ends in n, so
// that rows made later sort later.
func row(t memd.Tier, n int, summary string) memd.Memory {
	at := memd.At(memtest.NewClock().Now())
	sum := sha256.Sum256([]byte(summary))
	m := memd.Memory{
		ID: fmt.Sprintf("01900000-0000-7000-8000-%012d", n), Tier: t, Namespace: memd.DefaultNamespace,
		Kind: memd.Fact, Summary: summary, Importance: 5, SourceStatus: memd.SourceNone,
		CreatedAt: at, UpdatedAt: at, WrittenAt: at, ContentHash: "sha256:" + hex.EncodeToString(sum[:]),
	}
	if t == memd.Long {
		m.MemoryKey, m.Version, m.Source, m.VerifiedAt = fmt.Sprintf("key-%d", n), 1, "AGENTS.md#x", at
	}
	if t == memd.Transient {
		m.SessionID = "s"
	}
	return m
}

// put inserts rows in one write; a long row becomes its key's head.
func put(t testing.TB, s *store.Set, rows ...memd.Memory) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		for i := range rows {
			m := &rows[i]
			if err := tx.Insert(m); err != nil {
				return err
			}
			if m.Tier == memd.Long {
				if err := tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: m.Version, ID: m.ID}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func write(t testing.TB, s *store.Set, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Update(ctx, fn); err != nil {
		t.Fatalf("update: %v", err)
	}
}

func view(t testing.TB, s *store.Set, fn func(*store.View) error) {
	t.Helper()
	if err := s.View(ctx, fn); err != nil {
		t.Fatalf("view: %v", err)
	}
}

// scope sees the default namespace.
func scope() store.Scope {
	return store.Scope{Namespaces: []string{memd.DefaultNamespace}, Now: memd.At(memtest.NewClock().Now())}
}

// match is a query as recall would hand it to the keyword index.
func match(query string) string {
	var parts []string
	for _, term := range terms.Query(query, 32) {
		if term.Char { // which find nothing in a query so short
			continue
		}
		parts = append(parts, term.Match)
	}
	return strings.Join(parts, " OR ")
}

// find returns the ids that a keyword search of a tier finds, sorted.
func find(t testing.TB, s *store.Set, tier memd.Tier, query string) []string {
	t.Helper()
	ids := []string{}
	view(t, s, func(v *store.View) error {
		var locs []store.Loc
		if err := v.Postings(tier, nil, match(query), func(l store.Loc) { locs = append(locs, l) }); err != nil {
			return err
		}
		rows, err := v.Load(tier, locs, scope(), store.Filter{})
		for _, m := range rows {
			ids = append(ids, m.ID)
		}
		return err
	})
	slices.Sort(ids)
	return ids
}

// finds fails unless the search finds exactly the wanted rows.
func finds(t testing.TB, s *store.Set, tier memd.Tier, query string, want ...memd.Memory) {
	t.Helper()
	ids := []string{}
	for _, m := range want {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	if got := find(t, s, tier, query); !slices.Equal(got, ids) {
		t.Errorf("search of %s for %q finds %q, want %q", tier, query, got, ids)
	}
}

func get(t testing.TB, s *store.Set, id string) (memd.Memory, bool) {
	t.Helper()
	var m memd.Memory
	var ok bool
	view(t, s, func(v *store.View) (err error) {
		m, ok, err = v.Get(id)
		return err
	})
	return m, ok
}

func head(t testing.TB, s *store.Set, key string) (h store.Head, ok bool) {
	t.Helper()
	write(t, s, func(tx *store.Tx) (err error) {
		h, ok, err = tx.Head(memd.DefaultNamespace, key)
		return err
	})
	return h, ok
}

// healthy fails if any check of the store has a finding.
func healthy(t testing.TB, s *store.Set) {
	t.Helper()
	findings, err := s.Check(ctx, false)
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	for _, f := range findings {
		t.Errorf("%s: %s", f.Check, f.Detail)
	}
}

// open opens the store in dir under the default budgets.
func open(dir string) (*store.Set, error) {
	return store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now})
}

// shellPath finds the stock shell. A missing one fails the test: what it does
// is a promise of the contract, and .ci/run installs it.
func shellPath(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Fatal("the stock sqlite3 shell is not installed (Debian and Ubuntu: apt-get install sqlite3); .ci/run installs it")
	}
	return path
}

// tryShell runs SQL in the stock shell on the active database of dir.
func tryShell(t testing.TB, dir, sql string) (string, error) {
	t.Helper()
	return tryShellOn(t, filepath.Join(dir, store.ActiveName), sql)
}

// tryShellOn is tryShell on any database.
func tryShellOn(t testing.TB, path, sql string) (string, error) {
	t.Helper()
	cmd := exec.Command(shellPath(t), "-batch", "-bail", "-cmd", ".timeout 5000", path)
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = errors.Join(err, errors.New(string(out)))
	}
	return strings.TrimSpace(string(out)), err
}

// shellOn runs SQL in the stock shell on any database.
func shellOn(t testing.TB, path, sql string) string {
	t.Helper()
	out, err := tryShellOn(t, path, sql)
	if err != nil {
		t.Fatalf("sqlite3: %v\n%s", err, sql)
	}
	return out
}

func shell(t testing.TB, dir, sql string) string {
	t.Helper()
	out, err := tryShell(t, dir, sql)
	if err != nil {
		t.Fatalf("sqlite3: %v\n%s", err, sql)
	}
	return out
}

// indexCheck is FTS5's own comparison of index and rows, run by the shell.
const indexCheck = `INSERT INTO short_fts (short_fts, rank) VALUES ('integrity-check', 1);
INSERT INTO long_fts (long_fts, rank) VALUES ('integrity-check', 1);
INSERT INTO archive_fts (archive_fts, rank) VALUES ('integrity-check', 1);
PRAGMA integrity_check;`

// digest identifies the bytes of a file.
func digest(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// codeIs fails unless err carries the code.
func codeIs(t testing.TB, err error, want memd.Code) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", want)
	}
	if e, ok := errors.AsType[*memd.Error](err); !ok || e.Code != want {
		t.Fatalf("error %v, want code %s", err, want)
	}
}
