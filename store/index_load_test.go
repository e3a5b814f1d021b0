package store_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"memd"
	"memd/store"
)

// A View that reads an older state than others have brought the index to is no
// reason to make it anew.
func TestIndexOutrunKeepsItsPlace(t *testing.T) {
	s := openBare(t, t.TempDir())
	defer s.Close()
	put(t, s, row(memd.Short, 1, "alpha"), row(memd.Short, 2, "alpha bravo"))
	if err := s.Index(ctx); err != nil {
		t.Fatal(err)
	}
	kept, err := s.StepIndex(ctx, func() {
		write(t, s, func(tx *store.Tx) error {
			_, err := tx.Delete(memd.Short, row(memd.Short, 1, "").ID)
			return err
		})
		agrees(t, s, "the View that is quicker")
	})
	if err != nil || !kept {
		t.Errorf("the index keeps its place: %v, error %v", kept, err)
	}
	agrees(t, s, "the View that was outrun")
}

// agreesWithin fails where an index in memory that covers what a View reads
// finds other rows than SQLite's does within the same View. It tells how many
// databases were covered.
func agreesWithin(ctx context.Context, t *testing.T, s *store.Set, words []string) (covered int, err error) {
	err = s.View(ctx, func(v *store.View) error {
		counted, err := v.DocFreqs(words)
		if err != nil {
			return err
		}
		for _, tier := range []memd.Tier{memd.Long, memd.Short, memd.Archive} {
			for _, word := range words {
				got, rest, err := v.Indexed(tier, word)
				if err != nil {
					return err
				}
				var want []store.Loc
				err = v.Postings(tier, nil, `"`+word+`"`, func(l store.Loc) {
					if !slices.Contains(rest, l.Part) {
						want = append(want, l)
					}
				})
				if err != nil {
					return err
				}
				for _, locs := range [][]store.Loc{got, want} {
					slices.SortFunc(locs, func(a, b store.Loc) int { return cmp.Or(a.Part-b.Part, cmp.Compare(a.RID, b.RID)) })
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s %q in memory at %v, in SQLite at %v", tier, word, got, want)
				}
				if len(got) > 0 {
					covered++
				}
			}
		}
		want, err := v.WithoutIndex().DocFreqs(words)
		if err == nil && !slices.Equal(counted, want) {
			t.Errorf("document frequencies %v, want %v", counted, want)
		}
		return err
	})
	return covered, err
}

// Whatever is written, rolled over, compacted, indexed and broken off at once,
// an index that covers a View says what the View reads.
func TestIndexUnderLoad(t *testing.T) {
	s := openBare(t, t.TempDir())
	defer s.Close()
	for n := range 100 {
		put(t, s, row(memd.Short, 100_000+n, saying(rand.New(rand.NewPCG(1, uint64(n))))))
	}
	words := strings.Fields("alpha bravo charli 数据 esig47")
	var covered atomic.Int64
	var others sync.WaitGroup
	ended := make(chan struct{})
	beside := func(fn func(n int) error) {
		others.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				if err := fn(n); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 3 {
		beside(func(int) error {
			n, err := agreesWithin(ctx, t, s, words)
			covered.Add(int64(n))
			return err
		})
	}
	beside(func(n int) error { // one that often goes away in the middle
		cut, cancel := context.WithCancel(ctx)
		defer cancel()
		others.Go(func() {
			for range n % 97 {
				runtime.Gosched()
			}
			cancel()
		})
		_, err := agreesWithin(cut, t, s, words[:1])
		return err
	})
	beside(func(int) error { return s.Index(ctx) })

	rng := rand.New(rand.NewPCG(9, 9))
	written := 0
	for step := range 160 {
		tier := []memd.Tier{memd.Short, memd.Long, memd.Archive}[rng.IntN(3)]
		id := row(memd.Short, 1+rng.IntN(written+1), "").ID
		switch lot := rng.IntN(10); {
		case step%60 == 59:
			if _, err := s.Rollover(ctx); err != nil {
				t.Fatal(err)
			}
		case step == 140:
			if _, err := s.Compact(ctx); err != nil {
				t.Fatal(err)
			}
		case lot < 6:
			written++
			put(t, s, row(tier, written, saying(rng)))
		default:
			change(t, s, id, func(tx *store.Tx, m *memd.Memory) error {
				if lot < 8 {
					m.Tags = []string{vocabulary[rng.IntN(10)]}
					return tx.UpdateMeta(m)
				}
				_, err := tx.Delete(m.Tier, m.ID)
				return err
			})
		}
	}
	close(ended)
	others.Wait()
	if covered.Load() == 0 {
		t.Error("no index ever covered a View: the test shows nothing")
	}
	if err := s.Index(ctx); err != nil {
		t.Fatal(err)
	}
	agrees(t, s, "the load")
}

// A store closes while its indexes are made, whoever makes them.
func TestCloseWhileIndexing(t *testing.T) {
	for range 5 {
		s := openBare(t, t.TempDir())
		var rows []memd.Memory
		for n := range 2000 {
			rows = append(rows, row(memd.Short, n, "alpha bravo"))
		}
		put(t, s, rows...)
		var others sync.WaitGroup
		begun := make(chan struct{}, 3)
		for range 3 {
			others.Go(func() {
				begun <- struct{}{}
				if err := s.Index(ctx); err != nil && memd.CodeOf(err) != memd.CodeStoreBusy {
					t.Errorf("index: %v", err)
				}
			})
		}
		view(t, s, func(v *store.View) error { _, err := v.DocFreqs([]string{"alpha"}); return err }) // wakes the indexer
		<-begun
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		others.Wait()
	}
}

// What could not be read to its end has no index that is taken for whole.
func TestDamagedDatabaseHasNoIndex(t *testing.T) {
	dir := t.TempDir()
	s := openBare(t, dir)
	var rows []memd.Memory
	for n := range 900 {
		rows = append(rows, row(memd.Short, n, fmt.Sprintf("alpha needle%d %s", n, strings.Repeat("x", 200))))
	}
	put(t, s, rows...)
	rolled, err := s.Rollover(ctx)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, row(memd.Short, 1000, "alpha in the active database"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.FromSlash(rolled.File))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(content, []byte("needle700 "))
	if at < 0 {
		t.Fatal("the row is not in the file")
	}
	const page = 4096
	copy(content[at/page*page:], bytes.Repeat([]byte{0xFF}, 12)) // the page's header
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s = openBare(t, dir)
	defer s.Close()
	for range 2 {
		if err := s.Index(ctx); err != nil {
			t.Fatal(err)
		}
		view(t, s, func(v *store.View) error {
			found, rest, err := v.Indexed(memd.Short, "alpha")
			if err != nil {
				return err
			}
			if len(found) != 1 || found[0].Part != 0 || len(rest) != 0 {
				t.Errorf("%d rows found, databases %v left to SQLite", len(found), rest)
			}
			unread, err := v.Unavailable()
			if len(unread) != 1 {
				t.Errorf("not read: %q", unread)
			}
			return err
		})
	}
}

// fading is a context that ends when it was asked for so often whether it has.
type fading struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func (f *fading) Done() <-chan struct{} {
	if f.left.Add(-1) == 0 {
		f.cancel()
	}
	return f.Context.Done()
}

// A reader that goes away in the middle of bringing an index up to date leaves
// it whole.
func TestIndexBrokenOff(t *testing.T) {
	s := openBare(t, t.TempDir())
	defer s.Close()
	put(t, s, row(memd.Short, 1, "alpha"))
	if err := s.Index(ctx); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	broken := 0
	for round := range 15 {
		var rows []memd.Memory
		for n := range 200 {
			rows = append(rows, row(memd.Short, 1000*(1+round)+n, saying(rng)))
		}
		put(t, s, rows...)
		within, cancel := context.WithCancel(ctx)
		cut := &fading{Context: within, cancel: cancel}
		cut.left.Store(int64(1 + 3*round))
		if _, err := agreesWithin(cut, t, s, []string{"alpha"}); err != nil {
			broken++
		}
		cancel()
		if _, err := agreesWithin(ctx, t, s, []string{"alpha", "bravo"}); err != nil {
			t.Fatal(err)
		}
	}
	if broken == 0 {
		t.Error("nobody went away: the test shows nothing")
	}
}
