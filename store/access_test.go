package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// logged counts the rows of the access log.
func logged(t *testing.T, s *store.Set) string {
	t.Helper()
	return shell(t, s.Dir(), `SELECT count(*) FROM access_log`)
}

// A caller that names ever new sessions fills neither memory nor disk.
func TestAccessLogIsBounded(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	m := row(memd.Short, 1, "read by everybody")
	put(t, s, m)
	at := memd.At(memtest.NewClock().Now())
	free := 7
	write(t, s, func(tx *store.Tx) error {
		return tx.Exec(`INSERT INTO access_log (memory_id, session, day, at)
 WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
 SELECT 'other', 'session ' || i, '2026-11-30', '2026-11-30T01:00:00.000Z' FROM n`, store.MaxLogged-free)
	})
	for n := range 3 * free {
		s.Touch(fmt.Sprint("s", n), at, m.ID)
	}
	if err := s.FlushAccess(ctx); err != nil {
		t.Fatal(err)
	}
	if got, want := logged(t, s), fmt.Sprint(store.MaxLogged); got != want {
		t.Errorf("the log has %s rows, want %s", got, want)
	}
	// The next day, when the folded ones are gone, accesses count again.
	write(t, s, func(tx *store.Tx) error { return tx.Exec(`UPDATE access_log SET folded = 1`) })
	must(t, s.DropRelics(ctx, store.FoldedBefore("2026-12-01")))
	s.Touch("s", memd.At(at.Add(24*time.Hour)), m.ID)
	groomAccess(t, s, "2026-12-01")
	if got, _ := get(t, s, m.ID); got.AccessCount != 1 {
		t.Errorf("access_count %d after the log was emptied, want 1", got.AccessCount)
	}
	for n := range store.MaxBuffered + 10 {
		s.Touch("s", at, fmt.Sprint("id ", n))
	}
	if got := s.Buffered(); got != store.MaxBuffered {
		t.Errorf("%d accesses wait in memory, want %d", got, store.MaxBuffered)
	}
}

// Of a session's name only a hash is kept, which tells it from others and nothing to
// who has the database and not the key.
func TestSessionNamesAreHashed(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	m := row(memd.Short, 1, "read")
	put(t, s, m)
	at := memd.At(memtest.NewClock().Now())
	long, short := strings.Repeat("n", 1000), "n"
	for range 2 {
		s.Touch(long, at, m.ID)
		s.Touch(long+"another", at, m.ID)
		s.Touch(short, at, m.ID)
	}
	if err := s.FlushAccess(ctx); err != nil {
		t.Fatal(err)
	}
	if got := shell(t, s.Dir(), `SELECT max(length(session)), count(*), count(DISTINCT session), sum(session LIKE '%n%') FROM access_log`); got != "32|3|3|0" {
		t.Errorf("longest name, rows, names and names kept as they are: %s, want 32|3|3|0", got)
	}
	if one, other := store.SessionHash([]byte("a"), short), store.SessionHash([]byte("b"), short); one == other {
		t.Error("another key makes the same hash")
	}
}

// What a flush could not write is written by the next, nothing of it twice.
func TestFailedFlushKeepsAccesses(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	at := memd.At(memtest.NewClock().Now())
	const accesses = 1200 // more than one batch
	for n := range accesses {
		s.Touch(strings.Repeat("long session ", 10), at, fmt.Sprint("id ", n))
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.FlushAccess(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a flush whose caller went away: %v", err)
	}
	if got := logged(t, s); got != "0" {
		t.Errorf("it wrote %s rows", got)
	}
	// A failure between two batches keeps what is left.
	shell(t, s.Dir(), `CREATE TRIGGER full BEFORE INSERT ON access_log WHEN (SELECT count(*) FROM access_log) >= 700
 BEGIN SELECT RAISE(ABORT, 'no more'); END`)
	codeIs(t, s.FlushAccess(ctx), memd.CodeStoreFailed)
	if got := logged(t, s); got != "500" {
		t.Errorf("after one batch of two the log has %s rows, want 500", got)
	}
	shell(t, s.Dir(), `DROP TRIGGER full`)
	if err := s.FlushAccess(ctx); err != nil {
		t.Fatal(err)
	}
	if got, want := logged(t, s), fmt.Sprint(accesses); got != want {
		t.Errorf("the log has %s rows, want %s", got, want)
	}
}
