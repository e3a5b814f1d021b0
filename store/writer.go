package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"memd"
)

// Queue and group sizes of the writer. A full queue is answered with
// store_busy; a group is what happens to be waiting, never waited for.
const (
	queueLen = 1024
	groupLen = 256
)

// write is one queued unit of work; done receives its outcome after commit.
type write struct {
	ctx  context.Context
	fn   func(*Tx) error
	solo func() error // in place of fn: runs on the writer's goroutine, outside any transaction
	done chan error
}

// writer owns the writing connection. Its goroutine takes what is queued,
// runs it in one transaction in which a bad write fails alone, commits, and only
// then answers.
type writer struct {
	set     *Set
	conn    *conn // to the active database; nil after an exchange of databases that failed midway
	files   *files
	queue   chan write
	stopped chan struct{}
	log     *slog.Logger
	ctx     context.Context // of its own work; no request's

	// Of the group under way.
	begun   []*part     // historical databases with an open transaction
	added   []addedHash // to be known once those have committed
	copied  []copied    // rows that also stand elsewhere until those have committed
	leaving bool        // whether rows leave a historical database

	torn   bool // whether a group committed to historical databases alone, so that heads are to be looked at
	queued bool // whether rows wait for their vectors

	untrimmed int // entries that may still come before the log is trimmed
	unswept   int // sessions that may still be opened before empty ones are dropped
	uncounted int // idempotency keys that may still come before they are trimmed

	taken atomic.Int64 // writes taken from the queue so far

	mu     sync.RWMutex // guards closing against sends on queue
	closed bool
}

func newWriter(ctx context.Context, s *Set) *writer {
	return &writer{set: s, ctx: context.WithoutCancel(ctx), queue: make(chan write, queueLen), stopped: make(chan struct{}), log: s.log}
}

// do queues fn and waits for its commit. Once fn has begun it is carried to
// its end whatever becomes of ctx: the outcome is then the commit's.
func (w *writer) do(ctx context.Context, fn func(*Tx) error) error {
	return w.submit(write{ctx: ctx, fn: fn})
}

// alone queues fn to run between groups, outside any transaction, and waits
// for its end: what SQLite does not do inside one, such as a checkpoint, and
// what exchanges databases.
func (w *writer) alone(ctx context.Context, fn func() error) error {
	return w.submit(write{ctx: ctx, solo: fn})
}

func (w *writer) submit(job write) error {
	job.done = make(chan error, 1)
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return errClosing
	}
	select {
	case w.queue <- job:
		w.mu.RUnlock()
	default:
		w.mu.RUnlock()
		return memd.Errorf(memd.CodeStoreBusy, "the write queue is full").WithHint("try again in a second")
	}
	return <-job.done
}

// close lets queued writes finish, then stops the goroutine.
func (w *writer) close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.stopped
}

func (w *writer) run() {
	defer close(w.stopped)
	group := make([]write, 0, groupLen)
	for job := range w.queue {
		group = w.gather(append(group[:0], job))
		w.taken.Add(int64(len(group)))
		for len(group) > 0 {
			n := slices.IndexFunc(group, func(j write) bool { return j.solo != nil })
			switch n {
			case 0:
				group[0].done <- group[0].solo()
				group = group[1:]
				continue
			case -1:
				w.commit(group)
				group = group[:0]
			default:
				w.commit(group[:n])
				group = group[n:]
			}
			w.set.rollIfFull(w.ctx)
		}
	}
}

// gather adds to group what waits in the queue, up to groupLen.
func (w *writer) gather(group []write) []write {
	for len(group) < groupLen {
		select {
		case job, ok := <-w.queue:
			if !ok {
				return group
			}
			group = append(group, job)
		default:
			return group
		}
	}
	return group
}

// commit runs a group as one transaction and answers each write. No outcome
// is told before the group's commit is durable.
//
// A savepoint around each write costs more than the write (FTS5 flushes its
// pending terms at every one), so the group first runs without. A write that
// fails before it has changed anything leaves nothing to undo; one that fails
// later sends the whole group back to be run again with savepoints.
func (w *writer) commit(group []write) {
	// The transaction belongs to the writer, not to any request: a request
	// that goes away must not interrupt its neighbours' commit.
	ctx := w.ctx
	results, err := w.attempt(ctx, group, w.bare)
	if errors.Is(err, errDirty) {
		results, err = w.attempt(ctx, group, w.guarded)
	}
	if code := memd.CodeOf(err); err != nil && len(group) > 1 && (code == memd.CodeStoreFailed || errors.Is(err, errAcross)) {
		// Damage that shows at the commit is no fault of the neighbours, nor is
		// a historical database that another program holds.
		for _, job := range group {
			w.commit([]write{job})
		}
		return
	}
	if w.queued {
		w.queued = false
		w.set.outbox.wake()
	}
	for i, job := range group {
		// What a write found in a transaction that was lost does not stand. One
		// that was cancelled before its turn had no part in it.
		if err != nil && (results[i] == nil || results[i] != job.ctx.Err()) {
			results[i] = err
		}
		job.done <- results[i]
	}
}

// errDirty is the end of a transaction in which a write failed half done.
var errDirty = errors.New("a write failed half done")

// attempt runs a group in one transaction, each write by one. It returns each
// write's own outcome and that of the transaction.
func (w *writer) attempt(ctx context.Context, group []write, one func(context.Context, write) (failed, fatal error)) ([]error, error) {
	results := make([]error, len(group))
	err := w.transaction(ctx, func() error {
		for i, job := range group {
			if results[i] = job.ctx.Err(); results[i] != nil {
				continue
			}
			var fatal error
			if results[i], fatal = one(ctx, job); fatal != nil {
				return fatal
			}
		}
		return nil
	})
	return results, err
}

// transaction runs fn as one transaction, over all databases that it changes.
func (w *writer) transaction(ctx context.Context, fn func() error) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	return w.plainly(ctx, fn)
}

// errAcross marks the failure of a group that concerned historical databases.
var errAcross = errors.New("a historical database could not be changed")

// ready makes sure that there is an active database to write to, the one that
// was opened.
func (w *writer) ready(ctx context.Context) error {
	if w.conn == nil {
		if err := w.set.reopen(ctx); err != nil {
			return err
		}
	}
	if err := w.files.check(); err != nil {
		return err
	}
	if w.torn {
		err := w.set.mendHeads(ctx)
		if w.torn = err != nil; w.torn { // a head without its row serves nothing; the next write tries again
			w.log.Warn("heads not mended yet", "error", err)
		}
	}
	return nil
}

// plainly runs fn between BEGIN IMMEDIATE and COMMIT.
func (w *writer) plainly(ctx context.Context, fn func() error) error {
	if _, err := w.conn.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fail("begin a transaction", err)
	}
	defer w.set.signs.settle()
	err := w.watch(ctx)
	if err == nil {
		err = fn()
	}
	across := w.across()
	switch {
	case err != nil:
	case across:
		if err = w.commitAcross(ctx); err == nil {
			return nil
		}
	default:
		if _, err = w.conn.exec(ctx, "COMMIT"); err == nil {
			return nil
		}
	}
	w.abandon(ctx)
	if across && !errors.Is(err, errDirty) {
		err = errors.Join(errAcross, err)
	}
	if _, rollback := w.conn.exec(ctx, "ROLLBACK"); rollback != nil {
		// SQLite has rolled back by itself on a full disk or an I/O error.
		w.log.Debug("rollback after a failed commit", "error", rollback)
	}
	return fail("commit", err)
}

// watch notices that another program has written to the active database, of
// whose vectors nothing else tells. Nobody writes while the transaction lasts.
func (w *writer) watch(ctx context.Context) error {
	var version int64 // changes with others' commits, not with this connection's
	if err := w.conn.row(ctx, `PRAGMA data_version`, nil, &version); err != nil {
		return fail("look for changes", err)
	}
	if version != w.conn.version {
		w.conn.version = version
		w.set.signs.renew(w.set.active)
	}
	return nil
}

// bare runs one write straight in the transaction. failed is its own outcome;
// fatal means that the whole transaction is lost.
func (w *writer) bare(ctx context.Context, job write) (failed, fatal error) {
	tx := w.tx(ctx)
	before := w.conn.changes
	failed = call(job.fn, tx)
	if failed != nil && (w.conn.changes != before || tx.changed) {
		return nil, errDirty
	}
	return failed, lost(failed)
}

// guarded runs one write in a savepoint of its own.
func (w *writer) guarded(ctx context.Context, job write) (failed, fatal error) {
	if _, err := w.conn.exec(ctx, "SAVEPOINT job"); err != nil {
		return nil, err
	}
	tx := w.tx(ctx)
	tx.guarded = true
	copied := len(w.copied)
	failed = call(job.fn, tx)
	conns := []*conn{w.conn}
	for _, p := range tx.marked {
		conns = append(conns, p.rw)
	}
	if failed != nil {
		if fatal := lost(failed); fatal != nil {
			return failed, fatal
		}
		for _, c := range conns {
			if _, err := c.exec(ctx, "ROLLBACK TO job"); err != nil {
				return failed, err
			}
		}
		w.copied = w.copied[:copied]
	}
	for _, c := range conns {
		if _, err := c.exec(ctx, "RELEASE job"); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

func (w *writer) tx(ctx context.Context) *Tx {
	return &Tx{ctx: ctx, w: w, conn: w.conn, at: map[string]*part{}}
}

// lost returns err if it may have ended the transaction (sqlite.org/lang_transaction.html).
func lost(err error) error {
	switch sqliteCode(err) {
	case codeFull, codeIOErr, codeNoMem, codeReadOnly, codeCorrupt:
		return err
	}
	return nil
}

// call runs fn and turns a panic into an error, so that one faulty write
// cannot take the writer down. The panic's value may hold a body: only its
// type and place are kept.
func call(fn func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &memd.Error{Code: memd.CodeStoreFailed, Message: "the write failed",
				Err: fmt.Errorf("panic of type %T at %s", p, debug.Stack())}
		}
	}()
	return fn(tx)
}
