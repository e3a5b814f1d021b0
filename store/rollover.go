package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"memd"
)

// Names beside the active database while databases are exchanged.
const (
	nextSuffix    = ".next"    // the next active database
	copySuffix    = ".copy"    // a copy of the active one that is to be historical
	compactSuffix = ".compact" // a historical one rewritten
)

// Rolled is what a rollover did.
type Rolled struct {
	Rolled  bool     `json:"rolled"`
	Reason  string   `json:"reason,omitempty"` // why nothing rolled: "empty"
	File    string   `json:"file,omitempty"`   // the new historical database, below the data directory
	Rows    int      `json:"rows"`             // memories that it holds
	Bytes   int64    `json:"bytes"`            // its size
	Retired []string `json:"retired"`          // historical databases that went to make room, oldest first
	MS      float64  `json:"ms"`
}

// Rollover makes the active database a historical one, whatever its size, puts
// a fresh one in its place, and makes room where the budgets of historical
// databases are then exceeded. An active database without a memory stays.
func (s *Set) Rollover(ctx context.Context) (Rolled, error) { return s.RolloverBy(ctx, Memd) }

// RolloverBy is Rollover for a caller, whom the log names.
func (s *Set) RolloverBy(ctx context.Context, who string) (Rolled, error) {
	began := s.now()
	r, err := s.rollNow(ctx, who)
	if err != nil {
		return r, err
	}
	r.Retired = []string{}
	if r.Rolled {
		room, err := s.MakeRoom(ctx)
		if err != nil {
			return r, err
		}
		r.Retired = room.Retired
	}
	r.MS = float64(s.now().Sub(began).Microseconds()) / 1000
	return r, nil
}

func (s *Set) rollNow(ctx context.Context, who string) (r Rolled, err error) {
	s.busy.Lock()
	defer s.busy.Unlock()
	ctx = context.WithoutCancel(ctx)
	err = s.writer.alone(ctx, func() error {
		if err := s.writer.ready(ctx); err != nil {
			return err
		}
		r, err = s.roll(ctx, who, true)
		return err
	})
	return r, err
}

// Reasons why a rollover is deferred.
const (
	deferredOpen = "another program has the active database open" // a shell, mostly
	deferredBusy = "a backup is being written"
	deferredDisk = "the disk is nearly full"
	deferredFail = "the last attempt failed"
)

// deferral is a rollover that is due and could not be done.
type deferral struct {
	mu     sync.Mutex
	reason string // "" for none
	at     time.Time
	used   int64
}

// again reports whether to try again: some time after the last attempt, or
// once the database has grown by some more.
func (d *deferral) again(now time.Time, used, limit int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reason == "" {
		return true
	}
	waited := now.Sub(d.at)
	return waited < 0 || waited >= 10*time.Second || used >= d.used+limit/32
}

func (d *deferral) set(reason string, now time.Time, used int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reason, d.at, d.used = reason, now, used
}

// why is the reason of the deferral, "" for none.
func (d *deferral) why() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reason
}

// rollIfFull rolls over once the active database holds more than its budget:
// on the writer's goroutine, between two groups.
func (s *Set) rollIfFull(ctx context.Context) {
	w := s.writer
	if w.conn == nil || s.asItIs {
		return
	}
	used, _, err := pageBytes(ctx, w.conn)
	limit := s.budgets.ActiveBytes
	if err != nil || used <= limit || !s.grown(ctx, used) || !s.deferred.again(s.now(), used, limit) {
		return
	}
	if !s.busy.TryLock() {
		s.deferred.set(deferredBusy, s.now(), used)
		return
	}
	defer s.busy.Unlock()
	_, err = s.roll(ctx, Memd, used >= limit+limit/2)
	reason := ""
	switch {
	case err == nil:
		s.upkeep.makeRoom()
	case errors.Is(err, errOpenElsewhere):
		reason = deferredOpen
	case memd.CodeOf(err) == memd.CodeBudgetExceeded:
		reason = deferredDisk
	default:
		reason = deferredFail
		s.log.Error("rollover failed", "error", err)
	}
	s.deferred.set(reason, s.now(), used)
}

// baseKey is where a database notes how many bytes it held when it was new.
const baseKey = "carried_bytes"

// grown reports whether more than what a rollover carries over has come to the
// active database: one that is filled by that alone must not roll for ever, nor
// write it anew for little.
func (s *Set) grown(ctx context.Context, used int64) bool {
	var base int64
	err := s.writer.conn.row(ctx, `SELECT cast(value AS INTEGER) FROM meta WHERE key = ?`, []any{baseKey}, &base)
	_, err = none(err)
	return err == nil && used-base >= max(s.budgets.ActiveBytes/8, base/4)
}

// errOpenElsewhere is why the active database cannot be exchanged: another
// program has it open.
var errOpenElsewhere = memd.Errorf(memd.CodeStoreBusy, "another program has the active database open").
	WithHint("close the sqlite3 shell that has it open")

// roll makes the active database a historical one. The caller is the writer
// and holds busy. Where another program has the database open, its rows are
// copied, if insist, and else the rollover is refused with errOpenElsewhere.
// Where it cannot be told, they are copied.
func (s *Set) roll(ctx context.Context, who string, insist bool) (Rolled, error) {
	var r Rolled
	var rows int
	if err := s.writer.conn.row(ctx, `SELECT sum(rows) FROM tally WHERE tier <> 'transient'`, nil, &rows); err != nil {
		return r, fail("count rows", err)
	}
	if rows == 0 {
		r.Reason = "empty"
		return r, nil
	}
	used, _, err := pageBytes(ctx, s.writer.conn)
	if err != nil {
		return r, err
	}
	if err := s.room(s.dir, used/2+2<<20); err != nil {
		return r, err
	}
	if err := s.dropLeft(ctx); err != nil {
		return r, err
	}
	file, err := s.freeName()
	if err != nil {
		return r, err
	}
	p := newPart(s.dir, file, stateSealed)
	p.by = who
	reached(ctx, "rollover/begin")
	err = s.rename(ctx, p)
	if s.active != nil && (errors.Is(err, errOpenElsewhere) && insist || errors.Is(err, errUntold)) {
		if err = s.room(s.dir, 2*used+2<<20); err == nil {
			err = s.copyOut(ctx, p)
		}
	}
	if errors.Is(err, syscall.EXDEV) {
		err = memd.Errorf(memd.CodeStoreFailed, "%s is on another file system, so that no database can be moved there", filepath.Dir(p.path)).
			WithHint("stop memd and put an ordinary folder in its place")
	}
	if err != nil {
		return r, fail("roll the active database over", err)
	}
	s.deferred.set("", s.now(), 0)
	s.log.Info("rolled over", "file", file, "rows", rows)
	r.Rolled, r.File, r.Rows = true, HistoryDir+"/"+file, rows
	r.Bytes, err = s.bytesOf(ctx, file)
	return r, err
}

// bytesOf is what the catalogue says of the size of a historical database.
func (s *Set) bytesOf(ctx context.Context, file string) (n int64, err error) {
	err = s.writer.conn.row(ctx, `SELECT bytes FROM history WHERE file = ?`, []any{file}, &n)
	return n, fail("read the catalogue", err)
}

// freeName is the name of a historical database that is sealed now.
func (s *Set) freeName() (string, error) {
	base := "agent_memory-" + stamp(s.Now())
	for n := 1; n < 1_000_000; n++ {
		name := base + ".db"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.db", base, n)
		}
		if s.writer.part(name) == nil && !exists(filepath.Join(s.dir, HistoryDir, name)) {
			return name, nil
		}
	}
	return "", memd.Errorf(memd.CodeStoreFailed, "no name is left for a historical database")
}
