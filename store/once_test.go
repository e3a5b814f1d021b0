package store_test

import (
	"fmt"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// uses keeps n idempotency keys of a caller.
func uses(t *testing.T, s *store.Set, caller string, n int) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		for i := range n {
			if err := tx.KeepOnce(store.Once{Caller: caller, Key: fmt.Sprint("key ", i), Print: "p", ID: "i", Outcome: "{}", At: s.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
}

// knows reports whether a key of a caller is known.
func knows(t *testing.T, s *store.Set, caller, key string) (found bool) {
	t.Helper()
	write(t, s, func(tx *store.Tx) (err error) {
		_, found, err = tx.Once(caller, key, memd.Time{})
		return err
	})
	return found
}

// However many idempotency keys one caller uses, those of another stay: a repeat of
// theirs is no second write.
func TestManyKeysPushOutTheirOwn(t *testing.T) {
	clock := memtest.NewClock()
	s := memtest.Store(t, "", clock, nil)
	uses(t, s, "patient", 3)
	clock.Advance(1)
	uses(t, s, "hasty", store.MaxOnce+200)
	for _, key := range []string{"key 0", "key 1", "key 2"} {
		if !knows(t, s, "patient", key) {
			t.Errorf("%s of who used three is forgotten", key)
		}
	}
	if knows(t, s, "hasty", "key 0") {
		t.Error("the oldest of who used many is kept")
	}
	if newest := fmt.Sprint("key ", store.MaxOnce+199); !knows(t, s, "hasty", newest) {
		t.Errorf("%s, the newest, is forgotten", newest)
	}
	var kept int
	if _, err := fmt.Sscan(shell(t, s.Dir(), `SELECT count(*) FROM once`), &kept); err != nil || kept < store.MaxOnce || kept > store.MaxOnce+store.OnceLook {
		t.Errorf("%d keys are kept, %v, want %d and %d at most beyond", kept, err, store.MaxOnce, store.OnceLook)
	}
}

// The same where a rollover hands on fewer than there are.
func TestRolloverHandsOnKeysOfEveryCaller(t *testing.T) {
	s := memtest.Store(t, "", nil, small)
	put(t, s, row(memd.Short, 1, "a row to roll"))
	uses(t, s, "patient", 3)
	uses(t, s, "hasty", 500)
	if rolled, err := s.Rollover(ctx); err != nil || !rolled.Rolled {
		t.Fatalf("rolled %v, %v", rolled, err)
	}
	if knows(t, s, "hasty", "key 0") {
		t.Fatal("everything was handed on, which tests nothing")
	}
	if !knows(t, s, "patient", "key 0") || !knows(t, s, "hasty", "key 499") {
		t.Error("a key of who used three, or the newest of who used many, is forgotten")
	}
}
