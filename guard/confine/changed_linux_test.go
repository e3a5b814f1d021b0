package confine_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"memd/guard/confine"
)

// A file whose links may have changed since it was opened is read once it has
// settled, and not before.
func TestFreshFiles(t *testing.T) {
	root, _ := tree(t)
	f := open(t, root)
	must(t, os.WriteFile(filepath.Join(root, "new.md"), []byte("new"), 0o600))
	made := time.Now()
	now, waits := made, 0
	f.WithClock(func() time.Time { return now }, func(time.Duration) { waits++ })
	if got, err := f.Read("new.md", 10); err != confine.Moved || waits == 0 || waits > 5 {
		t.Errorf("%q, %v after %d waits", got, err, waits)
	}
	f.WithClock(func() time.Time { return now }, func(d time.Duration) { now = now.Add(d) })
	if got, err := f.Read("new.md", 10); err != nil || string(got) != "new" || now.Sub(made) > time.Second {
		t.Errorf("%q, %v after %v", got, err, now.Sub(made))
	}
	for _, at := range []time.Time{made.Add(time.Hour), made.Add(-time.Hour)} { // noted by another clock
		f.WithClock(func() time.Time { return at }, func(time.Duration) { t.Error("it waits") })
		if got, err := f.Read("new.md", 10); err != nil || string(got) != "new" {
			t.Errorf("%q, %v", got, err)
		}
	}
}
