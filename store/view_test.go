package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// A read sees what was answered before it and never waits for the writer.
func TestViewDoesNotWaitForWriter(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	before, during := row(memd.Short, 1, "before"), row(memd.Short, 2, "during")
	put(t, s, before)
	err := s.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Insert(&during); err != nil {
			return err
		}
		for range 10 { // within a write: were the reader to wait, this would never end
			finds(t, s, memd.Short, "before", before)
			finds(t, s, memd.Short, "during")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	finds(t, s, memd.Short, "during", during)
}

// One View is one state, whatever is written meanwhile.
func TestViewIsConsistent(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	put(t, s, row(memd.Short, 1, "one"))
	view(t, s, func(v *store.View) error {
		count := func() int {
			rows, _, err := v.Corpus()
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		first := count()
		put(t, s, row(memd.Short, 2, "two"))
		if _, ok, _ := v.Get(row(memd.Short, 2, "").ID); ok || count() != first {
			t.Error("a View shows a row that was written after it began")
		}
		return nil
	})
	view(t, s, func(v *store.View) error {
		if rows, _, _ := v.Corpus(); rows != 2 {
			t.Errorf("the next View shows %d rows", rows)
		}
		return nil
	})
}

// fuse is a context that is cancelled when it is asked for the nth time, so
// that a cancellation falls between any two steps of a call.
type fuse struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func newFuse(n int) *fuse {
	f := &fuse{}
	f.Context, f.cancel = context.WithCancel(ctx)
	f.left.Store(int64(n))
	return f
}

func (f *fuse) Done() <-chan struct{} {
	if f.left.Add(-1) < 0 {
		f.cancel()
	}
	return f.Context.Done()
}

// Requests that go away at any moment cost no reader: afterwards as many Views
// run at once as before, and none of them sees an old state.
func TestViewCancelledSparesReaders(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	for n := range 50 {
		put(t, s, row(memd.Short, n, fmt.Sprintf("number %d of many", n)))
	}
	cancelled := 0
	for round := range 40000 {
		f := newFuse(round % 12)
		err := s.View(f, func(v *store.View) error {
			_, _, err := v.Corpus()
			return err
		})
		f.cancel()
		if errors.Is(err, context.Canceled) {
			cancelled++
		} else if err != nil {
			t.Fatalf("read %d: %v", round, err)
		}
	}
	if cancelled < 100 {
		t.Errorf("only %d of the reads were cancelled: the test shows nothing", cancelled)
	}
	late := row(memd.Short, 1000, "latecomer")
	put(t, s, late)
	nested(t, s, 4, func() {}) // every reader at once
	for range 8 {
		finds(t, s, memd.Short, "latecomer", late)
	}
}

// nested runs fn within n Views at once.
func nested(t *testing.T, s *store.Set, n int, fn func()) {
	t.Helper()
	if n == 0 {
		fn()
		return
	}
	short, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.View(short, func(v *store.View) error {
		if _, _, err := v.Corpus(); err != nil {
			return err
		}
		nested(t, s, n-1, fn)
		return nil
	}); err != nil {
		t.Fatalf("reader %d: %v", n, err)
	}
}

// With every reader lent a read waits, and gives up with its request.
func TestViewWaitsForReader(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	nested(t, s, 4, func() {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if err := s.View(gone, func(*store.View) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("a read without a reader: %v", err)
		}
	})
}

// lockingShell is a shell that holds a transaction open until release.
func lockingShell(t *testing.T, dir, begin string) (release func()) {
	t.Helper()
	return lockedBy(t, filepath.Join(dir, store.ActiveName), begin)
}

// lockedBy is lockingShell on the database at path.
func lockedBy(t *testing.T, path, begin string) (release func()) {
	t.Helper()
	cmd := exec.Command(shellPath(t), "-batch", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, begin+"\nSELECT 'locked';\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "locked" {
	}
	release = sync.OnceFunc(func() {
		io.WriteString(in, "COMMIT;\n.quit\n")
		in.Close()
		cmd.Wait()
	})
	t.Cleanup(release)
	return release
}

// A shell that holds the write lock makes writes fail by name, in the time
// that a connection waits for a lock, and loses nothing.
func TestForeignWriteLock(t *testing.T) {
	t.Parallel() // it waits out the busy timeout
	s := memtest.Store(t, "", nil, nil)
	before := row(memd.Short, 1, "before")
	put(t, s, before)
	release := lockingShell(t, s.Dir(), "BEGIN IMMEDIATE;")
	started := time.Now()
	refusal := make(chan error)
	go func() { refusal <- s.Update(ctx, inserting(row(memd.Short, 10, "while locked"))) }()
	finds(t, s, memd.Short, "before", before) // reads go on
	codeIs(t, <-refusal, memd.CodeStoreBusy)
	if took := time.Since(started); took > 8*time.Second {
		t.Errorf("the refusal took %v", took)
	}
	release()
	after := row(memd.Short, 2, "after")
	put(t, s, after)
	finds(t, s, memd.Short, "after", after)
	finds(t, s, memd.Short, "locked")
}

// A shell that only reads, for however long, delays nobody.
func TestForeignReader(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	put(t, s, row(memd.Short, 1, "before"))
	release := lockingShell(t, s.Dir(), "BEGIN; SELECT count(*) FROM short;")
	started := time.Now()
	m := row(memd.Short, 2, "meanwhile")
	put(t, s, m)
	finds(t, s, memd.Short, "meanwhile", m)
	if _, err := s.Settle(ctx, true); err != nil {
		t.Errorf("settle behind a reader: %v", err)
	}
	put(t, s, row(memd.Short, 3, "later"))
	if took := time.Since(started); took > 3*time.Second {
		t.Errorf("writes behind a reader took %v", took)
	}
	release()
	healthy(t, s)
}
