package store_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// Hits live in the active database alone, whichever way it rolls over.
func TestHitsAreHandedOn(t *testing.T) {
	for _, held := range []bool{false, true} {
		t.Run(fmt.Sprint("another program has the database open ", held), func(t *testing.T) {
			s := memtest.Store(t, "", nil, nil)
			trap := row(memd.Short, 1, "a trap")
			put(t, s, trap)
			at := memd.At(memtest.NewClock().Now())
			for range 3 {
				write(t, s, func(tx *store.Tx) error { return tx.Hit(trap.ID, at) })
			}
			if held {
				shell := leaveOpen(t, s.Dir(), store.ActiveName)
				shell.ask(`SELECT count(*) FROM meta;`)
			}
			r := roll(t, s)
			count := `SELECT count(*) FROM pitfall_hit`
			if active, old := shell(t, s.Dir(), count), shellOn(t, filepath.Join(s.Dir(), r.File), count); active != "3" || old != "0" {
				t.Errorf("%s hits in the active database, %s in the historical one; want 3 and 0", active, old)
			}
		})
	}
}
