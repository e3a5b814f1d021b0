package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// hold keeps the writer busy with one write until release is called.
func hold(t testing.TB, s *store.Set) (release func()) {
	t.Helper()
	begun, gate, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.Update(ctx, func(*store.Tx) error {
			close(begun)
			<-gate
			return nil
		})
	}()
	<-begun
	return sync.OnceFunc(func() {
		close(gate)
		if err := <-done; err != nil {
			t.Errorf("the holding write: %v", err)
		}
	})
}

// await spins until cond holds.
func await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about", what)
		}
	}
}

// queued starts writes while the writer is held, in order, and returns their
// outcomes after its release.
func queued(t testing.TB, s *store.Set, writes ...func(*store.Tx) error) []error {
	t.Helper()
	release := hold(t, s)
	results := make([]error, len(writes))
	var wg sync.WaitGroup
	for i, fn := range writes {
		wg.Go(func() { results[i] = s.Update(ctx, fn) })
		await(t, "a queued write", func() bool { return s.QueueDepth() > i })
	}
	release()
	wg.Wait()
	return results
}

func inserting(m memd.Memory) func(*store.Tx) error {
	return func(tx *store.Tx) error { return tx.Insert(&m) }
}

// Writes of one group: a bad one fails alone, leaving nothing behind.
func TestWriterBadWriteFailsAlone(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	wrong := errors.New("wrong")
	a, b, c, d, e := row(memd.Short, 1, "alpha"), row(memd.Short, 2, "beta"), row(memd.Short, 3, "gamma"), row(memd.Short, 4, "delta"), row(memd.Short, 5, "epsilon")
	results := queued(t, s,
		inserting(a),
		func(tx *store.Tx) error { // did something before it failed
			if err := tx.Insert(&b); err != nil {
				return err
			}
			return wrong
		},
		inserting(c),
		inserting(a), // the id is taken
		func(tx *store.Tx) error {
			if err := tx.Insert(&d); err != nil {
				return err
			}
			panic(strings.Repeat("secret body", 3))
		},
		func(tx *store.Tx) error { return tx.Exec(`INSERT INTO nowhere VALUES (1)`) },
		inserting(e),
	)
	for i, bad := range []bool{false, true, false, true, true, true, false} {
		if (results[i] != nil) != bad {
			t.Errorf("write %d: error %v", i, results[i])
		}
	}
	if !errors.Is(results[1], wrong) {
		t.Errorf("the caller's own error came back as %v", results[1])
	}
	codeIs(t, results[4], memd.CodeStoreFailed)
	if strings.Contains(results[4].Error(), "secret body") {
		t.Error("a panic's value, which may be a body, is in the error")
	}
	for _, m := range []memd.Memory{a, c, e} {
		finds(t, s, memd.Short, m.Summary, m)
	}
	for _, m := range []memd.Memory{b, d} {
		finds(t, s, memd.Short, m.Summary)
		if _, ok := get(t, s, m.ID); ok {
			t.Errorf("row %q of a failed write stayed", m.Summary)
		}
	}
}

// On a full disk nothing is half written and nobody is told otherwise; with
// space again the store takes writes as before.
func TestWriterFullDisk(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	limit := func(pages int) {
		write(t, s, func(tx *store.Tx) error { return tx.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)) })
	}
	limit(1) // SQLite makes it what there is
	var rows []memd.Memory
	var writes []func(*store.Tx) error
	for n := range 9 {
		m := row(memd.Short, n, fmt.Sprintf("number%d", n))
		if n == 4 {
			m.RawContent = strings.Repeat("x", 600<<10)
		}
		rows, writes = append(rows, m), append(writes, inserting(m))
	}
	results := queued(t, s, writes...)
	codeIs(t, results[4], memd.CodeBudgetExceeded)
	for i, m := range rows {
		if _, ok := get(t, s, m.ID); ok != (results[i] == nil) {
			t.Errorf("row %d is there: %v, its write was answered %v", i, ok, results[i])
		}
	}
	limit(1 << 20)
	healthy(t, s)
	m := row(memd.Short, 100, "afterwards")
	put(t, s, m)
	finds(t, s, memd.Short, "afterwards", m)
}

func TestWriterFullQueue(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	release := hold(t, s)
	defer release()
	var wg sync.WaitGroup
	results := make(chan error, store.QueueLen)
	for n := range store.QueueLen {
		wg.Go(func() { results <- s.Update(ctx, inserting(row(memd.Short, n, "queued"))) })
	}
	await(t, "a full queue", func() bool { return s.QueueDepth() == store.QueueLen })
	codeIs(t, s.Update(ctx, func(*store.Tx) error { return nil }), memd.CodeStoreBusy)
	release()
	wg.Wait()
	close(results)
	for err := range results {
		if err != nil {
			t.Fatalf("a queued write was lost: %v", err)
		}
	}
	write(t, s, func(tx *store.Tx) error {
		if n, err := tx.Rows(memd.Short); n != store.QueueLen || err != nil {
			t.Errorf("%d rows, %v; want %d", n, err, store.QueueLen)
		}
		return nil
	})
}

func TestWriterCancelled(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	a, b, c := row(memd.Short, 1, "alpha"), row(memd.Short, 2, "beta"), row(memd.Short, 3, "gamma")
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Update(gone, inserting(a)); !errors.Is(err, context.Canceled) {
		t.Errorf("a request cancelled before it began: %v", err)
	}
	// Cancelled in the queue: told so, and not carried out; its neighbour is.
	release := hold(t, s)
	waiting, cancelWaiting := context.WithCancel(ctx)
	results := make(chan error, 2)
	go func() { results <- s.Update(waiting, inserting(b)) }()
	await(t, "a queued write", func() bool { return s.QueueDepth() == 1 })
	cancelWaiting()
	neighbour := make(chan error, 1)
	go func() { neighbour <- s.Update(ctx, inserting(c)) }()
	await(t, "two queued writes", func() bool { return s.QueueDepth() == 2 })
	release()
	if err := <-results; !errors.Is(err, context.Canceled) {
		t.Errorf("a request cancelled in the queue: %v", err)
	}
	if err := <-neighbour; err != nil {
		t.Errorf("its neighbour: %v", err)
	}
	// Cancelled once begun: carried through, and answered with the commit.
	d := row(memd.Short, 4, "delta")
	running, cancelRunning := context.WithCancel(ctx)
	err := s.Update(running, func(tx *store.Tx) error {
		cancelRunning()
		return tx.Insert(&d)
	})
	if err != nil {
		t.Errorf("a request cancelled while it ran: %v", err)
	}
	for _, m := range []memd.Memory{a, b} {
		finds(t, s, memd.Short, m.Summary)
	}
	for _, m := range []memd.Memory{c, d} {
		finds(t, s, memd.Short, m.Summary, m)
	}
}

func TestWriterCloseDrains(t *testing.T) {
	dir := t.TempDir()
	s, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	release := hold(t, s)
	const writes = 100
	results := make(chan error, writes)
	for n := range writes {
		go func() { results <- s.Update(ctx, inserting(row(memd.Short, n, "drained"))) }()
	}
	await(t, "the queue", func() bool { return s.QueueDepth() == writes })
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	await(t, "the refusal of new writes", func() bool {
		return memd.CodeOf(s.View(ctx, func(*store.View) error { return nil })) == memd.CodeStoreBusy
	})
	release()
	for range writes {
		if err := <-results; err != nil {
			t.Errorf("a write queued before the close: %v", err)
		}
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	s = memtest.Store(t, dir, nil, nil)
	if got := len(find(t, s, memd.Short, "drained")); got != writes {
		t.Errorf("%d rows after the close, want %d", got, writes)
	}
}

// Fifty writers look for a twin before they insert: however they interleave,
// one row per content.
func TestWriterCheckThenInsert(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	const writers, rounds = 50, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for r := range rounds {
				m := row(memd.Short, w*rounds+r, fmt.Sprintf("content %d", r))
				err := s.Update(ctx, func(tx *store.Tx) error {
					twins, err := tx.FindContent(memd.Short, m.Namespace, m.ContentHash)
					if err != nil || len(twins) > 0 {
						return err
					}
					return tx.Insert(&m)
				})
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	wg.Wait()
	write(t, s, func(tx *store.Tx) error {
		for r := range rounds {
			m := row(memd.Short, 0, fmt.Sprintf("content %d", r))
			twins, err := tx.FindContent(memd.Short, m.Namespace, m.ContentHash)
			if err != nil {
				return err
			}
			if len(twins) != 1 {
				t.Errorf("%d rows of content %d", len(twins), r)
			}
		}
		n, err := tx.Rows(memd.Short)
		if n != rounds {
			t.Errorf("%d rows, want %d", n, rounds)
		}
		return err
	})
}
