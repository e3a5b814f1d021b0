package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// past are the states that one memory, or key, was brought to, and how many of
// them are acknowledged; the one after those may be under way.
type past struct {
	states []string
	acked  int
}

// ledger is what one writer wrote. A memory goes by its id, a key of the long
// tier by its name.
type ledger struct {
	mu   sync.Mutex
	all  map[string]*past
	rows map[string]memd.Memory // as they were acknowledged
}

// span is what a memory may be found as: any state from the first to the last.
type span struct {
	states      []string
	first, last int
}

// begin is the span so far, whose first state every later reading must hold.
func (l *ledger) begin(spans map[string]span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, p := range l.all {
		if p.acked > 0 {
			spans[id] = span{first: p.acked - 1}
		}
	}
}

// end completes the spans by what was written meanwhile.
func (l *ledger) end(spans map[string]span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, p := range l.all {
		if s, ok := spans[id]; ok {
			s.states, s.last = slices.Clone(p.states), len(p.states)-1
			spans[id] = s
		}
	}
}

const forgotten = "forgotten"

// stateOf is a memory as the ledger has it.
func stateOf(m memd.Memory) string { return fmt.Sprint(m.Tier, " v", m.Version, " ", m.Tags) }

// change writes a memory's next state: do is run in one write, and returns what
// the memory is then, nil where it is gone.
func (l *ledger) change(s *store.Set, name, next string, m memd.Memory, do func(*store.Tx) error) error {
	l.mu.Lock()
	p := l.all[name]
	if p == nil {
		p = &past{}
		l.all[name] = p
	}
	p.states = append(p.states, next)
	l.mu.Unlock()
	err := s.Update(ctx, do)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s to %s: %w", name, next, err)
	}
	p.acked = len(p.states)
	l.rows[name] = m
	if next == forgotten {
		delete(l.rows, name)
	}
	return nil
}

// author writes what one of several writers does: to rows of its own, wherever
// they have come to stand.
type author struct {
	ledger
	s     *store.Set
	dice  *rand.Rand
	next  int // of ids
	first int
	owed  bool // writes only what a retirement must keep
}

func newAuthor(s *store.Set, n int, owed bool) *author {
	return &author{s: s, dice: rand.New(rand.NewPCG(uint64(n), 7)), next: n * 1_000_000, first: n * 1_000_000, owed: owed,
		ledger: ledger{all: map[string]*past{}, rows: map[string]memd.Memory{}}}
}

func (a *author) fresh(t memd.Tier, words string) memd.Memory {
	a.next++
	m := row(t, a.next, fmt.Sprintf("%s number %d of many words", words, a.next))
	m.Tags = []string{"r0"}
	if t == memd.Archive && a.owed {
		m.MemoryKey, m.Version = fmt.Sprintf("cold-%d", a.next), 1
	}
	return m
}

func (a *author) insert(m memd.Memory) error {
	name := m.ID
	if m.Tier == memd.Long {
		name = m.MemoryKey
	}
	return a.change(a.s, name, stateOf(m), m, func(tx *store.Tx) error {
		if err := tx.Insert(&m); err != nil || m.Tier != memd.Long {
			return err
		}
		return tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: m.Version, ID: m.ID})
	})
}

// one does one thing to a memory of its own, or writes a new one.
func (a *author) one() error {
	names := make([]string, 0, len(a.rows))
	for name := range a.rows {
		names = append(names, name)
	}
	slices.Sort(names)
	if a.dice.IntN(4) == 0 || len(names) == 0 {
		tiers := []memd.Tier{memd.Long, memd.Archive, memd.Short}
		if a.owed {
			tiers = tiers[:2]
		}
		return a.insert(a.fresh(tiers[a.dice.IntN(len(tiers))], "new"))
	}
	name := names[a.dice.IntN(len(names))]
	m := a.rows[name]
	switch pick := a.dice.IntN(10); {
	case pick < 1:
		return a.change(a.s, name, forgotten, m, func(tx *store.Tx) error {
			got, ok, err := tx.Get(m.ID)
			if err != nil || !ok {
				return fmt.Errorf("not found: %w", err)
			}
			rows := []memd.Memory{got}
			if got.Tier == memd.Long {
				if rows, err = tx.Versions(got.Namespace, got.MemoryKey); err != nil {
					return err
				}
				if err := tx.DropHead(got.Namespace, got.MemoryKey); err != nil {
					return err
				}
			}
			for i := range rows {
				if err := tx.Bury(&rows[i], a.s.Now()); err != nil {
					return err
				}
			}
			return nil
		})
	case pick < 4 && m.Tier == memd.Long:
		v := a.fresh(memd.Long, "changed")
		v.MemoryKey, v.Version = m.MemoryKey, m.Version+1
		return a.insert(v)
	case pick < 6 && m.Tier == memd.Archive && !a.owed:
		to := m
		to.Tier = memd.Short
		return a.change(a.s, name, stateOf(to), to, func(tx *store.Tx) error {
			got, ok, err := tx.Get(m.ID)
			if err != nil || !ok {
				return fmt.Errorf("not found: %w", err)
			}
			got.Tier = memd.Short
			return tx.Move(&got, memd.Archive)
		})
	}
	var rev int
	_, _ = fmt.Sscanf(m.Tags[0], "r%d", &rev)
	m.Tags = []string{fmt.Sprintf("r%d", rev+1)}
	return a.change(a.s, name, stateOf(m), m, func(tx *store.Tx) error {
		got, ok, err := tx.Get(m.ID)
		if err != nil || !ok {
			return fmt.Errorf("not found: %w", err)
		}
		got.Tags = m.Tags
		return tx.UpdateMeta(&got)
	})
}

// found is what a store says of a name of the ledger.
func found(t testing.TB, s *store.Set, name string) string {
	t.Helper()
	state := forgotten
	write(t, s, func(tx *store.Tx) error {
		m, ok := memd.Memory{}, false
		h, isKey, err := tx.Head(memd.DefaultNamespace, name)
		if err == nil && isKey {
			m, ok, err = tx.Row(h)
		} else if err == nil {
			m, ok, err = tx.Get(name)
		}
		if ok {
			state = stateOf(m)
		}
		return err
	})
	return state
}

// onceEach fails where a memory stands in more than one database below dir, or
// twice in one.
func onceEach(t testing.TB, dir string) {
	t.Helper()
	seen := map[string]string{}
	for _, file := range databases(t, dir) {
		for id := range strings.FieldsSeq(shellOn(t, file, `SELECT id FROM memory`)) {
			if at := seen[id]; at != "" {
				t.Errorf("%s stands in %s and in %s", id, at, file)
			}
			seen[id] = file
		}
	}
}

// Under eight writers that change rows in every database, while databases roll
// over and go, a backup is one state of all of them: every write acknowledged
// before it began is in it once.
func TestBackupOfHistoryUnderWriters(t *testing.T) {
	for name, owed := range map[string]bool{"rollovers": false, "retirements": true} {
		t.Run(name, func(t *testing.T) { backupUnderWriters(t, owed) })
	}
}

func backupUnderWriters(t *testing.T, owed bool) {
	s := memtest.Store(t, "", nil, func(b *configs.Budgets) {
		if b.HistoryFiles = 1000; owed {
			b.HistoryFiles = 3
		}
	})
	const writers, rounds = 8, 3
	var authors []*author
	for n := range writers {
		a := newAuthor(s, n+1, owed)
		authors = append(authors, a)
		for range 25 {
			must(t, a.one())
		}
		if n%3 == 2 {
			roll(t, s)
		}
	}
	var acked atomic.Int64
	var at work
	at.begin(ctx, t)
	for _, a := range authors {
		at.loop(func() error {
			err := a.one()
			acked.Add(1)
			return err
		})
	}
	at.loop(func() error {
		goal := acked.Load() + 300
		for acked.Load() < goal && at.ctx.Err() == nil {
			if _, err := s.MakeRoom(ctx); err != nil {
				return err
			}
		}
		_, err := s.Rollover(ctx)
		return err
	})
	type made struct {
		backup store.Backup
		spans  map[string]span
	}
	var all []made
	for n := range rounds {
		goal := acked.Load() + 200
		await(t, "acknowledged writes", func() bool { return acked.Load() >= goal || at.ctx.Err() != nil })
		spans := map[string]span{}
		for _, a := range authors {
			a.begin(spans)
		}
		b, err := s.Backup(ctx, t.TempDir())
		if err != nil {
			t.Errorf("backup %d: %v", n, err)
			break
		}
		for _, a := range authors {
			a.end(spans)
		}
		all = append(all, made{b, spans})
	}
	at.end()
	for _, m := range all {
		if len(m.backup.Warnings) != 0 || len(m.backup.Manifest.Files) < 3 {
			t.Errorf("backup %+v", m.backup)
		}
		onceEach(t, m.backup.Path)
		into := t.TempDir()
		restore(t, into, m.backup.Path)
		r, err := open(into)
		must(t, err)
		healthy(t, r)
		for name, want := range m.spans {
			if got := found(t, r, name); !slices.Contains(want.states[want.first:want.last+1], got) {
				t.Errorf("%s is %q, want one of %q", name, got, want.states[want.first:want.last+1])
			}
		}
		must(t, r.Close())
		onceEach(t, into)
	}
}

// work is goroutines that do something over and over until one fails, or all
// are told to end.
type work struct {
	t      testing.TB
	ctx    context.Context
	cancel context.CancelFunc
	busy   sync.WaitGroup
}

func (w *work) begin(ctx context.Context, t testing.TB) {
	w.t = t
	w.ctx, w.cancel = context.WithCancel(ctx)
	t.Cleanup(w.end)
}

func (w *work) loop(again func() error) {
	w.busy.Go(func() {
		for w.ctx.Err() == nil {
			if err := again(); err != nil {
				w.t.Error(err)
				w.cancel()
			}
		}
	})
}

func (w *work) end() {
	w.cancel()
	w.busy.Wait()
}

// databases are the files of the databases below dir, the active one first.
func databases(t testing.TB, dir string) []string {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(dir, store.HistoryDir, "*.db"))
	must(t, err)
	return append([]string{filepath.Join(dir, store.ActiveName)}, old...)
}
