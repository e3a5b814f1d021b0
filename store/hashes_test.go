package store_test

import (
	"runtime"
	"testing"

	"memd"
	"memd/store"
)

// A historical row that was edited by hand, and whose hash a patch then made
// anew, is found by that: the content is not written twice.
func TestHashOfPatchedRow(t *testing.T) {
	s, err := open(t.TempDir())
	must(t, err)
	defer s.Close()
	m := row(memd.Short, 1, "before the edit")
	put(t, s, m)
	roll(t, s)
	edited := row(memd.Short, 1, "after the edit")
	stands := func() (has bool) {
		write(t, s, func(tx *store.Tx) (err error) {
			has, err = tx.HasContent(m.Namespace, edited.ContentHash)
			return err
		})
		return has
	}
	for stands() { // until the hashes of the file are read
		runtime.Gosched()
	}
	shellOn(t, historyFiles(t, s.Dir())[0], `UPDATE short SET summary = 'after the edit'`)
	write(t, s, func(tx *store.Tx) error {
		got, _, err := tx.Get(m.ID)
		if err != nil {
			return err
		}
		got.ContentHash = edited.ContentHash
		return tx.UpdateMeta(&got)
	})
	if !stands() {
		t.Error("content that stands is not found")
	}
}
