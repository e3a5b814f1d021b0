package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// damagedStore is a store whose keyword index of the archive cannot be written:
// one write to that tier fails, at its commit or before. No check would pass.
func damagedStore(t *testing.T) *store.Set {
	t.Helper()
	s := openBare(t, t.TempDir())
	t.Cleanup(func() { s.Close() })
	var rows []memd.Memory
	for n := range 50 {
		rows = append(rows, row(memd.Archive, n, fmt.Sprintf("row %d alpha", n)))
	}
	put(t, s, rows...)
	shell(t, s.Dir(), `UPDATE archive_fts_data SET block = x'00' WHERE id = 10`)
	return s
}

// Damage that one write meets is no fault of those that wait beside it: they
// are committed without it.
func TestDamageFailsAlone(t *testing.T) {
	s := damagedStore(t)
	before, poison, after := row(memd.Long, 100, "before"), row(memd.Archive, 101, "poison"), row(memd.Short, 102, "after")
	results := queued(t, s, inserting(before), inserting(poison), inserting(after), inserting(poison))
	for i, err := range results {
		if i%2 == 1 {
			codeIs(t, err, memd.CodeStoreFailed)
		} else if err != nil {
			t.Errorf("neighbour %d: %v", i, err)
		}
	}
	for _, m := range []memd.Memory{before, poison, after} {
		if _, ok := get(t, s, m.ID); ok != (m.ID != poison.ID) {
			t.Errorf("%q is there: %v", m.Summary, ok)
		}
	}
	m := row(memd.Short, 103, "later")
	put(t, s, m)
	finds(t, s, memd.Short, "later", m)
}

// What a write found in a transaction that was then lost is not its answer:
// it is told of the state that stands.
func TestNoAnswerFromALostTransaction(t *testing.T) {
	m, poison := row(memd.Long, 100, "first wording"), row(memd.Archive, 101, "poison")
	big := row(memd.Short, 102, "big")
	big.RawContent = strings.Repeat("x", 8<<20)
	taken := errors.New("the key has a head")
	claim := func(tx *store.Tx) error {
		if err := tx.Insert(&m); err != nil {
			return err
		}
		return tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: 1, ID: m.ID})
	}
	for name, lose := range map[string]func(tx *store.Tx) error{
		"damage":    inserting(poison),
		"full disk": inserting(big),
	} {
		t.Run(name, func(t *testing.T) {
			s := damagedStore(t)
			pages, err := s.Pragma(ctx, "page_count")
			if err != nil {
				t.Fatal(err)
			}
			write(t, s, func(tx *store.Tx) error { return tx.Exec(`PRAGMA max_page_count = ` + pages + `0`) }) // tenfold
			seen := 0
			look := func(tx *store.Tx) error {
				_, ok, err := tx.Head(m.Namespace, m.MemoryKey)
				if ok {
					seen++
					return taken
				}
				return err
			}
			results := queued(t, s, claim, look, lose)
			_, stands := head(t, s, m.MemoryKey)
			if seen == 0 {
				t.Error("nobody saw the head: the test shows nothing")
			}
			if errors.Is(results[1], taken) != stands {
				t.Errorf("the head stands: %v, yet a write is answered %v", stands, results[1])
			}
			if stands != (results[0] == nil) {
				t.Errorf("the head stands: %v, its write is answered %v", stands, results[0])
			}
		})
	}
}

// Nobody is told that a write is done which was rolled back, not even one who
// went away meanwhile.
func TestCancelledWriterIsNotToldDone(t *testing.T) {
	s := damagedStore(t)
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	poison := row(memd.Archive, 101, "poison")
	err := s.Update(running, func(tx *store.Tx) error {
		cancel()
		return tx.Insert(&poison)
	})
	if err == nil {
		t.Error("a write that was lost at its commit is answered as done")
	}

	// Behind a write that ends the transaction, before its own turn.
	write(t, s, func(tx *store.Tx) error { return tx.Exec(`PRAGMA max_page_count = 1`) }) // SQLite makes it what there is
	release := hold(t, s)
	big, small := row(memd.Short, 102, "big"), row(memd.Short, 103, "small")
	big.RawContent = strings.Repeat("x", 600<<10)
	waiting, cancelWaiting := context.WithCancel(ctx)
	defer cancelWaiting()
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		first <- s.Update(ctx, func(tx *store.Tx) error {
			cancelWaiting()
			return tx.Insert(&big)
		})
	}()
	await(t, "a queued write", func() bool { return s.QueueDepth() == 1 })
	go func() { second <- s.Update(waiting, inserting(small)) }()
	await(t, "two queued writes", func() bool { return s.QueueDepth() == 2 })
	release()
	codeIs(t, <-first, memd.CodeBudgetExceeded)
	err = <-second
	if _, ok := get(t, s, small.ID); ok || err == nil {
		t.Errorf("a cancelled write is there: %v, answered %v", ok, err)
	}
}
