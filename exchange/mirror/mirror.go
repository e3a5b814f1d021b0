package mirror

import (
	"context"
	"errors"
	"path"
	"time"

	"memd"
	"memd/exchange/folder"
	"memd/exchange/notes"
	"memd/exchange/watch"
	"memd/store"
)

// Store is what is asked of memd.
type Store interface {
	folder.Store
	// Log returns the newest entries of the log, the newest first.
	Log(ctx context.Context, limit int) ([]store.Entry, error)
}

// Options say what is kept the same, and who is told.
type Options struct {
	Notes folder.Options
	Every time.Duration // from one look at the store's log to the next
	// Began is called once the folder is watched and both sides are the same.
	Began func(*folder.Report)
	// Tell is told what became of a note, but not that nothing did, nor twice in a row
	// the same of a file that nobody touched. Its error ends the run.
	Tell func(folder.Entry) error
	// Lost is told, once, why the two cannot be kept the same for now, and Found that
	// they are again.
	Lost  func(err error)
	Found func()
	// Warn is told what does not keep it from going on.
	Warn func(err error)
}

// Run keeps both the same until ctx ends, which is no error. It is one that the folder
// goes away, that Tell fails, or that both cannot be brought together at first.
func Run(ctx context.Context, s Store, o Options) error {
	o.Notes.Existing = true // what is made in its place would be another folder
	w, err := watch.Open(o.Notes.Dir, watch.Options{Warn: o.Warn})
	if err != nil {
		return noFolder(err)
	}
	outer := ctx
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := w.Run(ctx); err != nil {
			stop(err)
		}
	}()
	c := comparing{store: s, opts: o, stands: w.Stands, told: map[place]folder.Entry{}}
	l := loop{
		pace: pace(o.Every), namespace: o.Notes.Namespace, changes: w.Changes(), log: s.Log, compare: c.compare, lost: o.Lost, found: o.Found,
	}
	err = l.run(ctx)
	stop(nil)
	<-ended
	if cause := context.Cause(ctx); err == nil && outer.Err() == nil && cause != context.Canceled {
		err = cause
	}
	return errors.Join(err, w.Close())
}

func noFolder(err error) error {
	return &memd.Error{Code: memd.CodeNotFound, Message: "the folder cannot be watched", Err: err, Hint: "make it first, or name another one"}
}

// paces are how long is waited for what.
type paces struct {
	ask   time.Duration // from one look at the store's log to the next
	whole time.Duration // from one comparison to the next, whatever is told
	retry time.Duration // before the store is tried anew, doubled each time
	most  time.Duration // before it is, at most
}

func pace(ask time.Duration) paces {
	return paces{ask: ask, whole: 5 * time.Minute, retry: 500 * time.Millisecond, most: 15 * time.Second}
}

// loop decides when to compare.
type loop struct {
	pace      paces
	namespace string // entries of the log about another one mean nothing; "" for all
	changes   <-chan watch.Changes
	log       func(ctx context.Context, limit int) ([]store.Entry, error)
	// compare brings both together. touched are files of which it was told that they may
	// have changed since the last time. With again it is to be called soon.
	compare func(ctx context.Context, touched []string) (again bool, err error)
	lost    func(err error)
	found   func()

	due     bool
	touched []string
	seen    int64 // the newest entry of the log that was taken into account
	began   bool
	wait    time.Duration // how long the store is left alone after a failure; 0: it works
}

// run compares until ctx ends. It is an error that the first comparison fails, or that
// one does for good.
func (l *loop) run(ctx context.Context) error {
	whole := time.NewTicker(l.pace.whole)
	defer whole.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	l.due = true
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-l.changes:
			l.note(c)
			if l.wait > 0 || !l.due {
				continue
			}
		case <-whole.C:
			l.due = true
			if l.wait > 0 {
				continue
			}
		case <-next.C:
		}
		err := l.turn(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if final, ok := errors.AsType[finalError](err); ok || err != nil && !l.began {
			if ok {
				err = final.error
			}
			return err
		}
		l.began = true
		next.Reset(l.after(err))
	}
}

// finalError is one after which there is nothing to go on with.
type finalError struct{ error }

// maxTouched bounds what is kept while the store is away.
const maxTouched = 10_000

// note takes into account what may have changed in the folder, as far as it is of notes.
func (l *loop) note(c watch.Changes) {
	l.due = l.due || c.All
	for _, name := range c.Paths {
		if notes.IsNote(name) || path.Base(name) == notes.IndexFile {
			l.due = true
			if len(l.touched) < maxTouched {
				l.touched = append(l.touched, name)
			}
		}
	}
}

// turn asks what is new in the store, and compares if that or anything else is.
func (l *loop) turn(ctx context.Context) error {
	if err := l.ask(ctx); err != nil || !l.due {
		return err
	}
	again, err := l.compare(ctx, l.touched)
	if l.touched = nil; err == nil {
		l.due = again
	}
	return err
}

// newest is how many entries of the log are asked for.
const newest = 50

// ask takes into account what was written since the last time. More than was read, or
// less than there was, is the log of who knows what.
func (l *loop) ask(ctx context.Context) error {
	entries, err := l.log(ctx, newest)
	if err != nil {
		return err
	}
	seen, reached := int64(0), len(entries) < newest
	for _, e := range entries {
		seen = max(seen, e.Seq)
		reached = reached || e.Seq <= l.seen
		l.due = l.due || e.Seq > l.seen && l.concerns(e)
	}
	l.due = l.due || seen < l.seen || !reached
	l.seen = seen
	return nil
}

// concerns reports whether an entry may be about a long-term memory that has a note.
// Only those have a key; a groom has none, and may have changed any.
func (l *loop) concerns(e store.Entry) bool {
	switch e.Action {
	case store.Refused, store.Blocked:
		return false
	case "groom", "import":
		return true
	}
	return e.MemoryKey != "" && (l.namespace == "" || e.Namespace == l.namespace)
}

// after is how long is waited after a turn.
func (l *loop) after(err error) time.Duration {
	switch {
	case err != nil && l.wait == 0:
		l.lost(err)
		l.wait, l.due = l.pace.retry, true // nobody knows how far it came
		return l.wait
	case err != nil:
		l.wait = min(2*l.wait, l.pace.most)
		return l.wait
	case l.wait > 0:
		l.wait = 0
		l.found()
	}
	return l.pace.ask
}
