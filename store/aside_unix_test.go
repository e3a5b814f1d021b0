//go:build unix

package store_test

import (
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
