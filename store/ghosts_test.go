package store_test

import (
	"path/filepath"
	"testing"

	"memd"
	"memd/store"
)

// Two historical databases change in one group and the second cannot: what was
// to move into it stays where it was.
func TestGravesStayUntilMoved(t *testing.T) {
	s, err := open(t.TempDir())
	must(t, err)
	defer s.Close()
	forgotten, stays := row(memd.Short, 1, "forgotten"), row(memd.Short, 2, "stays")
	put(t, s, forgotten, stays)
	write(t, s, func(tx *store.Tx) error { return tx.Bury(&forgotten, s.Now()) })
	roll(t, s)
	write(t, s, func(tx *store.Tx) error { return tx.Exec(`DELETE FROM tombstone`) }) // as one that was not handed on
	put(t, s, row(memd.Short, 3, "of the next file"))
	roll(t, s)
	files := historyFiles(t, s.Dir())
	release := lockedBy(t, files[1], `BEGIN; SELECT count(*) FROM short;`)
	err = s.Update(ctx, func(tx *store.Tx) error {
		m, _, err := tx.Get(stays.ID)
		if err == nil {
			err = patched(tx, &m)
		}
		if err == nil {
			_, err = tx.MoveOwed(filepath.Base(files[0]), filepath.Base(files[1]))
		}
		return err
	})
	codeIs(t, err, memd.CodeStoreBusy)
	release()
	graves := shellOn(t, files[0], `SELECT id FROM tombstone`) + shellOn(t, files[1], `SELECT id FROM tombstone`)
	if graves != forgotten.ID {
		t.Errorf("the tombstones of the files are %q, want the one of the forgotten row", graves)
	}
}
