package store

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"memd"
	"memd/configs"
	"memd/embedding"
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

	Embedder embedding.Embedder // whose vectors are kept, nil for none; the Set asks it for nothing but its name

	Key []byte // what the names of sessions are hashed with; it must be the same each time and stand in no database

	Version     string // of this memd, for the manifests of backups
	KeepBackups int    // how many the default folder keeps; 0 keeps every one

	// AsItIs opens without putting the budgets in force: beside requests nothing
	// goes and no database rolls over for them, and meta names those of before until
	// MakeRoom is called. Steps that were cut short are carried through as ever.
	AsItIs bool

	NoVectors bool // do as where sqlite-vec is missing
	NoIndex   bool // search with SQLite's index alone
}

// Set is the databases of one data directory. It is safe for concurrent use.
type Set struct {
	dir      string
	now      func() time.Time
	log      *slog.Logger
	budgets  configs.Budgets
	key      []byte
	writer   *writer
	accesses accessBuffer
	refusals refusalBuffer
	opened   time.Time
	closed   atomic.Bool

	// views is held by every View, and by the writer alone while it commits to
	// historical databases or exchanges databases; only then the fields below
	// change.
	views   sync.RWMutex
	turns   *turns // at the readers of the active database; taken before views
	active  *part  // nil after an exchange that failed midway
	lost    error  // why
	history []*part
	ghosts  map[ghost]memd.Tier

	owing    atomic.Bool // whether rows may stand in a file that they have left
	full     atomic.Bool // whether what is owed alone exceeds the budget of historical databases
	deferred deferral    // of a rollover; the writer's
	upkeep   upkeep      // what goes on beside requests
	indexer  indexer     // what makes keyword indexes in memory
	indexing sync.Mutex  // held while they are made
	outbox   *outbox     // of rows that wait for their vectors
	signs    signs       // of the vectors
	making   sync.Mutex  // held while room is made

	cursorKey []byte
	vectors   bool // whether sqlite-vec is there; fixed once open
	withoutIt bool // Options.NoVectors
	noIndex   bool // Options.NoIndex
	asItIs    bool // Options.AsItIs, of a store that was there

	version  string
	keep     int
	backing  sync.Mutex                       // held by a backup
	busy     sync.Mutex                       // held while files are copied for a backup, or exchanged
	snapshot sync.Mutex                       // held while a Snapshot is open
	copying  sync.Mutex                       // held while a historical database is copied; see still
	free     func(path string) (int64, error) // bytes left on a file system
	alone    func(path string) (bool, error)  // whether nobody has a file open
}

// Open opens the databases of a directory, creating and migrating the active
// one as needed. A file that is no memd database, or of a newer schema, is
// refused before a byte of it is changed; no error ever renames or recreates
// a database. A restore or a rollover that was cut short is carried through
// first. A historical database that cannot be read is set aside, and the rest
// opened. The caller holds the directory's lock and must Close the Set.
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
	if err := resumeRollover(ctx, opts.Dir); err != nil {
		return nil, err
	}
	unmade, err := identify(ctx, path)
	if err == nil && unmade {
		err = refuseWithout(opts.Dir)
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(opts.Dir, HistoryDir), 0o700); err != nil {
		return nil, fail("create the history folder", err)
	}
	if err := makePrivate(path); err != nil {
		return nil, fail("create the database file", err)
	}
	if err := removeUnfinished(filepath.Join(opts.Dir, BackupDir), opts.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		opts.Log.Warn("what a backup or an export left is still there", "error", err)
	}
	s := &Set{turns: newTurns(readers), dir: opts.Dir, now: opts.Now, log: opts.Log, budgets: opts.Budgets, key: opts.Key, opened: opts.Now(),
		version: opts.Version, keep: opts.KeepBackups, free: freeSpace, alone: openedAlone, ghosts: map[ghost]memd.Tier{},
		outbox: newOutbox(&opts), withoutIt: opts.NoVectors, noIndex: opts.NoIndex, asItIs: opts.AsItIs && !unmade}
	s.upkeep.calls, s.indexer.calls = make(chan struct{}, 1), make(chan struct{}, 1)
	s.writer = newWriter(ctx, s)
	if err := s.openFiles(ctx, path); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	go s.writer.run()
	if err := s.recordMeta(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.upkeep.begin(ctx, s)
	s.indexer.begin(ctx, s)
	return s, nil
}

// openFiles opens the active database and what its catalogue names.
func (s *Set) openFiles(ctx context.Context, path string) (err error) {
	if err := s.openActive(ctx, path); err != nil {
		return err
	}
	if err := s.openHistory(ctx); err != nil {
		return err
	}
	if failed := s.writer.settleGone(ctx); failed != nil {
		s.log.Warn("rows that left a historical database still stand in its file", "error", failed)
	}
	return nil
}

// openActive opens the writing and the reading connections to the active
// database, all of them or none.
func (s *Set) openActive(ctx context.Context, path string) error {
	c, err := openWriter(ctx, path)
	if err != nil {
		return fail("open the database "+path, err)
	}
	files, err := identifyFiles(path)
	if err != nil {
		return errors.Join(fail("look at the database file", err), c.close())
	}
	readers, err := openActive(ctx, path)
	if err != nil {
		return errors.Join(fail("open the database for reading", err), c.close())
	}
	s.writer.conn, s.writer.files, s.active = c, files, readers
	return nil
}

// closeFiles closes every connection. Nothing may be at work.
func (s *Set) closeFiles() (err error) {
	for _, p := range s.history {
		err = errors.Join(err, p.close())
	}
	if s.active != nil {
		err = errors.Join(err, s.active.close())
	}
	// The last connection to close folds the log into the file, which one that
	// only reads cannot.
	w := s.writer
	if w.conn == nil {
		return err
	}
	err = errors.Join(err, w.conn.close())
	if w.files != nil {
		err = errors.Join(err, w.files.part())
	}
	return err
}

// Close waits for a running backup, flushes what is buffered, lets queued
// writes finish and closes every connection.
func (s *Set) Close() error {
	s.upkeep.end()
	s.indexer.end()
	s.busy.Lock()
	defer s.busy.Unlock()
	if s.closed.Load() {
		return nil
	}
	err := errors.Join(s.FlushAccess(context.Background()), s.flushRefusals(context.Background(), true))
	s.closed.Store(true)
	s.writer.close()
	s.views.Lock()
	defer s.views.Unlock()
	return errors.Join(err, s.closeFiles())
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

// parts are the databases, the active one first, then the historical ones,
// newest first. The caller holds views, or is the writer.
func (s *Set) parts() []*part { return append([]*part{s.active}, s.history...) }
