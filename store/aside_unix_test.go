//go:build unix

package store_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memd"
	"memd/store"
)

// Too many open files are no damage: what cannot be opened meanwhile is named,
// and served as soon as it can be.
func TestTooManyFilesAreNoDamage(t *testing.T) {
	s, _ := rolled(t, t.TempDir())
	defer s.Close()
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0
	view(t, s, func(v *store.View) error { // this one holds the reader that is kept
		if _, _, err := v.Corpus(); err != nil {
			return err
		}
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
		var names []string
		err := s.View(ctx, func(inner *store.View) (err error) {
			if _, _, err = inner.Corpus(); err == nil {
				names, err = inner.Unavailable()
			}
			return err
		})
		absent := s.View(ctx, func(inner *store.View) error {
			_, _, err := inner.Get(row(memd.Short, 1, "").ID)
			return err
		})
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
		must(t, err)
		if len(names) != 1 {
			t.Errorf("unavailable: %q: the test shows nothing", names)
		}
		codeIs(t, absent, memd.CodeStoreFailed)
		return nil
	})
	if names := unavailable(t, s); len(names) != 0 {
		t.Errorf("unavailable afterwards: %q", names)
	}
	finds(t, s, memd.Short, "short", row(memd.Short, 1, ""), row(memd.Short, 11, ""))
	healthy(t, s)
}

// A history folder on another disk cannot take a renamed database: a rollover
// says so, and every write goes on in the active one.
func TestRolloverToAnotherFileSystem(t *testing.T) {
	if !mayMount(t) {
		t.Skip("needs the right to mount")
	}
	dir := t.TempDir()
	s := openBare(t, dir)
	history := filepath.Join(dir, store.HistoryDir)
	mount(t, history)
	put(t, s, row(memd.Short, 1, "before"))
	_, err := s.Rollover(ctx)
	codeIs(t, err, memd.CodeStoreFailed)
	if !strings.Contains(err.Error(), history+" is on another file system") {
		t.Errorf("error %q does not say why", err)
	}
	put(t, s, row(memd.Short, 2, "after"))
	if entries(t, history) != "" {
		t.Errorf("history holds %s", entries(t, history))
	}
	must(t, s.Close())
	s = openBare(t, dir)
	view(t, s, func(v *store.View) error {
		for n, words := range map[int]string{1: "before", 2: "after"} {
			if m, ok, err := v.Get(id(n)); err != nil || !ok || m.Summary != words {
				t.Errorf("row %d: %q, %v, %v", n, m.Summary, ok, err)
			}
		}
		return nil
	})
}
