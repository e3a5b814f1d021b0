package recall_test

import (
	"context"
	"os/exec"
	"path/filepath"

	"memd/store"
)

// shell runs SQL in the sqlite3 shell on the open store.
func (h *house) shell(sql string) {
	h.t.Helper()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		h.t.Fatal("the sqlite3 shell is missing; .ci/run installs it")
	}
	out, err := exec.Command(path, "-bail", "-cmd", ".timeout 5000", filepath.Join(h.dir, store.ActiveName), sql).CombinedOutput()
	if err != nil {
		h.t.Fatalf("sqlite3: %v: %s", err, out)
	}
}

// fold does what the light groom does with accesses.
func (h *house) fold() {
	h.t.Helper()
	ctx := context.Background()
	if err := h.store.FlushAccess(ctx); err != nil {
		h.t.Fatal(err)
	}
	var accessed []string
	err := h.store.View(ctx, func(v *store.View) (err error) {
		accessed, err = v.Accessed(1000)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	err = h.store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range accessed {
			if _, err := tx.Fold(id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}
