package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"memd"
)

// What the tests of package store_test need to see from inside.

const (
	QueueLen    = queueLen
	MaxLogged   = maxLogged
	MaxBuffered = maxBuffered

	OpeningsLook = openingsLook
	MaxOnce      = maxOnce
	OnceLook     = onceLook
)

// SessionHash is what stands for a session under a key.
func SessionHash(key []byte, session string) string { return (&Set{key: key}).sessionHash(session) }

// EmptySessionsMost is how many sessions without a note are kept.
func (s *Set) EmptySessionsMost() int64 { return s.emptySessionsMost() }

// Explainer tells what statements a connection has compiled so far, and how
// SQLite would run one.
type Explainer struct {
	ctx context.Context
	c   *conn
}

// Explainer explains this View's reading of the active database.
func (v *View) Explainer() Explainer { return Explainer{v.ctx, v.active()} }

// Explainer explains the writer's statements.
func (tx *Tx) Explainer() Explainer { return Explainer{tx.ctx, tx.conn} }

// Statements are the texts of every statement compiled so far.
func (e Explainer) Statements() []string {
	var texts []string
	for text := range e.c.stmts {
		texts = append(texts, text)
	}
	return texts
}

// Plan explains a statement, one step a line.
func (e Explainer) Plan(query string) (string, error) {
	var steps []string
	err := e.c.each(e.ctx, `EXPLAIN QUERY PLAN `+query, make([]any, parameters(query)), func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	})
	return strings.Join(steps, "\n"), err
}

// parameters is the highest parameter of a statement, whether it numbers them
// or not.
func parameters(query string) int {
	highest, plain := 0, 0
	for i := 0; i < len(query); i++ {
		if query[i] != '?' {
			continue
		}
		n := 0
		for i+1 < len(query) && query[i+1] >= '0' && query[i+1] <= '9' {
			i++
			n = n*10 + int(query[i]-'0')
		}
		if n == 0 {
			plain++
		}
		highest = max(highest, n)
	}
	return max(highest, plain)
}

// Pragma reads one pragma on the writer's connection.
func (s *Set) Pragma(ctx context.Context, name string) (value string, err error) {
	err = s.Update(ctx, func(tx *Tx) error { return tx.conn.row(tx.ctx, `PRAGMA `+name, nil, &value) })
	return value, err
}

// Exec runs any statement within a write: damage that no public method does.
func (tx *Tx) Exec(query string, args ...any) error {
	_, err := tx.conn.exec(tx.ctx, query, args...)
	return err
}

// Buffered is how many accesses wait to be flushed.
func (s *Set) Buffered() int {
	s.accesses.mu.Lock()
	defer s.accesses.mu.Unlock()
	return len(s.accesses.seen)
}

// WithSteps returns a context under which each half-step of a backup or a
// restore is told to listen.
func WithSteps(ctx context.Context, listen func(step string)) context.Context {
	return context.WithValue(ctx, stepKey{}, listen)
}

// SetFreeSpace makes every disk have n bytes left.
func (s *Set) SetFreeSpace(n int64) {
	// On the writer's goroutine, which may be looking after a write was answered.
	err := s.writer.alone(context.Background(), func() error {
		s.free = func(string) (int64, error) { return n, nil }
		return nil
	})
	if err != nil {
		panic(err)
	}
}

// CannotTell makes it impossible to tell who has a file open.
func (s *Set) CannotTell() {
	s.alone = func(string) (bool, error) { return false, errors.ErrUnsupported }
}

// Unfinished is how the folder of an unfinished backup of dir begins.
func Unfinished(dir string) string { return unfinished(dir) }

// Impatient has the writer not wait for anyone who reads a historical database.
func (s *Set) Impatient(ctx context.Context) error {
	return s.writer.alone(ctx, func() error {
		for _, p := range s.history {
			c, err := p.own(ctx)
			if err == nil {
				_, err = c.value(ctx, `PRAGMA busy_timeout = 0`)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// MoveOwed moves some of what is owed in one historical database into another.
func (tx *Tx) MoveOwed(from, to string) (int, error) {
	return tx.moveOwed(tx.w.part(from), tx.w.part(to))
}

// Indexed are the rows of tier t that hold a term, by the indexes in memory,
// and the databases that these do not cover.
func (v *View) Indexed(t memd.Tier, term string) (found []Loc, rest []int, err error) {
	rest, err = v.Shards(t, func(s *Shard) error {
		for p := s.Postings(term); ; {
			row, _, _, ok := p.Next()
			if !ok {
				return nil
			}
			if s.Live(row) {
				found = append(found, s.Loc(row))
			}
		}
	})
	return found, rest, err
}

// IndexRows is how many rows the indexes in memory hold, dead or alive.
func (s *Set) IndexRows() (n int) {
	for _, p := range s.parts() {
		if x := p.index.Load(); x != nil {
			for i := range x.tiers {
				for _, l := range x.tiers[i].layers {
					n += l.Rows().Len()
				}
			}
		}
	}
	return n
}

// WithoutIndex has the View search with SQLite's index alone.
func (v *View) WithoutIndex() *View {
	v.indexer = nil
	return v
}

// StepIndex has the index of the active database look at what a View reads,
// with between called once that View reads, and reports whether the index keeps
// its place.
func (s *Set) StepIndex(ctx context.Context, between func()) (kept bool, err error) {
	p := s.active
	x := p.index.Load()
	from := x.heeds()
	err = s.View(ctx, func(v *View) error {
		return v.only(p, func(i int, c *conn) error {
			e, err := v.extent(i, c)
			if err != nil {
				return err
			}
			between()
			state, err := x.step(ctx, c, e, from)
			kept = state != indexLost
			return err
		})
	})
	return kept, err
}

// Waiting looks up rows that wait for a vector as Lease does.
func (v *View) Waiting() error {
	ids, err := v.waiting(10, memd.Time{})
	if err == nil {
		_, _, err = v.spots(append(ids, "none"))
	}
	return err
}

// Lacking looks through the active database for rows without a vector as Fill
// does.
func (v *View) Lacking() error {
	f := &scan{}
	for range indexed {
		f.advance("")
		if _, err := f.look(v, 0, space{"m", 8}, memd.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// RenewSigns has the bits of the vectors read anew.
func (s *Set) RenewSigns() { s.signs.renew(s.active) }

// Readings is how often the bits of a database were read.
func (s *Set) Readings() int64 { return s.signs.readings.Load() }

// HeldSigns is how many vectors' bits are held of the active database.
func (s *Set) HeldSigns() (n int) {
	s.signs.mu.Lock()
	defer s.signs.mu.Unlock()
	if h := s.signs.held[s.active]; h != nil {
		for _, m := range h.spaces {
			n += len(m.ends)
		}
	}
	return n
}

// Begun reports whether the first turn of what goes on beside requests is over.
func (s *Set) Begun() bool { return s.upkeep.begun.Load() }
