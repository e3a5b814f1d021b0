package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A copy that a killed backup or export left below the store is removed by the next
// start; what somebody else put there stays.
func TestUnfinishedCopiesGo(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, BackupDir, unfinished(dir)+"1"), filepath.Join(dir, BackupDir, "kept")
	for _, path := range []string{ours, theirs} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(ours, ActiveName), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if exists(ours) || !exists(theirs) {
		t.Errorf("ours %t, theirs %t", exists(ours), exists(theirs))
	}
}
