package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"memd"
	"memd/configs"
)

// ActiveName is the file of the active database below the data directory.
const ActiveName = "agent_memory.db"

// HistoryDir is the folder of the historical databases below it.
const HistoryDir = "history"

// Options are what a Set needs to know. Log and Now have defaults.
type Options struct {
	Dir     string // the data directory; it must exist and be locked by this process
	Budgets configs.Budgets
	Now     func() time.Time
	Log     *slog.Logger

	Version     string // of this memd, for the manifests of backups
	KeepBackups int    // how many the default folder keeps; 0 keeps every one
}

// Set is the databases of one data directory. It is safe for concurrent use.
type Set struct {
	dir      string
	now      func() time.Time
	log      *slog.Logger
	budgets  configs.Budgets
	active   *part
	writer   *writer
	accesses accessBuffer
	opened   time.Time

	cursorKey []byte

	version   string
	keep      int
	backingUp sync.Mutex                       // held while a backup is written
	free      func(path string) (int64, error) // bytes left on a file system
}

// Open opens the databases of a directory, creating and migrating the active
// one as needed. A file that is no memd database, or of a newer schema, is
// refused before a byte of it is changed; no error ever renames or recreates
// a database. A restore that was cut short is carried through first. The
// caller holds the directory's lock and must Close the Set.
func Open(ctx context.Context, opts Options) (*Set, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	path := filepath.Join(opts.Dir, ActiveName)
	if err := resumeRestore(ctx, opts.Dir); err != nil {
		return nil, err
	}
	if err := identify(ctx, path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(opts.Dir, HistoryDir), 0o700); err != nil {
		return nil, fail("create the history folder", err)
	}
	if err := makePrivate(path); err != nil {
		return nil, fail("create the database file", err)
	}
	w, err := openWriter(ctx, path)
	if err != nil {
		return nil, fail("open the database "+path, err)
	}
	s := &Set{dir: opts.Dir, now: opts.Now, log: opts.Log, budgets: opts.Budgets, opened: opts.Now(),
		version: opts.Version, keep: opts.KeepBackups, free: freeSpace}
	f, err := identifyFiles(path)
	if err != nil {
		return nil, errors.Join(fail("look at the database file", err), w.close())
	}
	s.writer = startWriter(w, f, opts.Log)
	if s.active, err = openPart(ctx, path, ""); err != nil {
		return nil, errors.Join(fail("open the database for reading", err), s.writer.close())
	}
	if err := s.recordMeta(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close waits for a running backup, flushes buffered accesses, lets queued
// writes finish and closes every connection.
func (s *Set) Close() error {
	s.backingUp.Lock()
	defer s.backingUp.Unlock()
	err := s.FlushAccess(context.Background())
	// The last connection to close folds the log into the file, which one that
	// only reads cannot.
	return errors.Join(err, s.active.close(), s.writer.close(), s.writer.files.part())
}

// Update queues fn to the writer and returns after its commit is durable. A
// full queue is store_busy. fn sees the state every earlier write left and
// must not call back into the Set. It may run more than once, when a
// neighbour in its group failed: it sets results, it does not add to them.
func (s *Set) Update(ctx context.Context, fn func(*Tx) error) error { return s.writer.do(ctx, fn) }

// Now is the store's clock, as times are stored.
func (s *Set) Now() memd.Time { return memd.At(s.now()) }

// Clock is the store's clock for measuring: it keeps the monotonic reading.
func (s *Set) Clock() time.Time { return s.now() }

// Budgets are the budgets in force.
func (s *Set) Budgets() configs.Budgets { return s.budgets }

// Dir is the data directory.
func (s *Set) Dir() string { return s.dir }

// QueueDepth is how many writes wait.
func (s *Set) QueueDepth() int { return len(s.writer.queue) }

// parts are the databases a View reads, the active one first.
func (s *Set) parts() []*part { return []*part{s.active} }
