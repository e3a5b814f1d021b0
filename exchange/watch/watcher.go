package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"memd"
	"memd/guard/confine"
)

// Options say how a folder is watched. Zero fields are the defaults.
type Options struct {
	Quiet  time.Duration   // how long a folder is left alone before changes are told; 300 ms
	AtMost time.Duration   // how long they are kept back where it never is; 2 s
	Look   time.Duration   // how often the folder is gone through; 1 minute
	Blind  time.Duration   // the same where the system does not tell of all changes, and how often that it still stands; 5 s
	Warn   func(err error) // told once that Blind is in force, and why; nil: nobody is
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		to  *time.Duration
		def time.Duration
	}{{&o.Quiet, 300 * time.Millisecond}, {&o.AtMost, 2 * time.Second}, {&o.Look, time.Minute}, {&o.Blind, 5 * time.Second}} {
		if *d.to <= 0 {
			*d.to = d.def
		}
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	return o
}

// Changes are files that may have changed, come or gone.
type Changes struct {
	All   bool     // any; Paths is empty
	Paths []string // relative to the folder, with /, sorted
}

// Watcher watches one folder with all that is below it. [Watcher.Run] does the work.
type Watcher struct {
	opts    Options
	dir     string      // absolute
	root    fs.FileInfo // the folder as it was opened
	folder  *confine.Folder
	feed    feed
	now     func() time.Time
	changes chan Changes

	pending pending
	files   map[string]fs.FileInfo // what was there at the last look, or when it was last told of
	watched map[string]fs.FileInfo // folders that the system tells of; "" is the root
	blind   error                  // why the system does not tell of all; nil: it does
	warned  bool
}

// feed is what the system tells.
type feed struct {
	events <-chan fsnotify.Event
	errors <-chan error // each means that events were lost
	add    func(folder string) error
	remove func(folder string) error
	list   func() []string
	close  func() error
}

// Open opens a folder to be watched; it may be a link. The caller must Close it.
func Open(dir string, o Options) (*Watcher, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	folder, err := confine.Open(dir)
	if err != nil {
		return nil, err
	}
	w := &Watcher{
		opts: o.withDefaults(), dir: dir, root: root, folder: folder, now: time.Now, changes: make(chan Changes),
		files: map[string]fs.FileInfo{}, watched: map[string]fs.FileInfo{},
	}
	w.feed, w.blind = systemFeed()
	return w, nil
}

// systemFeed is a feed of fsnotify, or one that says nothing and why.
func systemFeed() (feed, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return feed{close: func() error { return nil }}, withHint(err)
	}
	return feed{n.Events, n.Errors, n.Add, n.Remove, n.WatchList, n.Close}, nil
}

// Close lets go of the folder. Run must have returned.
func (w *Watcher) Close() error {
	err := w.feed.close()
	if e := w.folder.Close(); err == nil {
		err = e
	}
	return err
}

// Changes is where changes are told, beginning with All. Those that nobody takes are
// kept together.
func (w *Watcher) Changes() <-chan Changes { return w.changes }

// Run watches until ctx ends, which is no error, or until the folder is no longer the
// one that was opened.
func (w *Watcher) Run(ctx context.Context) error {
	lost, stop := w.losses()
	defer stop()
	w.pending.all = true
	looked, err := w.look()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var ready *Changes
	for err == nil {
		now := w.now()
		if ready == nil && w.pending.due(w.opts, now) {
			ready = w.take()
		}
		next := min(looked.Add(w.every()).Sub(now), w.opts.Blind)
		if ready == nil && w.pending.any() {
			next = min(next, w.pending.when(w.opts).Sub(now))
		}
		timer.Reset(next)
		var out chan<- Changes
		var told Changes
		if ready != nil {
			out, told = w.changes, *ready
		}
		select {
		case <-ctx.Done():
			return nil
		case out <- told:
			ready = nil
		case e, open := <-w.feed.events:
			if !open {
				return memd.Errorf(memd.CodeStoreFailed, "the system stopped telling of changes below %s", w.dir)
			}
			err = w.note(e)
		case <-lost:
			w.forget("")
			looked, err = w.look()
		case <-timer.C:
			// Nobody tells that a folder was removed that somebody holds open, as is done here.
			if err = w.Stands(); err == nil && w.now().Sub(looked) >= w.every() {
				looked, err = w.look()
			}
		}
	}
	return err
}

// losses tells that events were lost. It keeps reading: fsnotify may report an error
// while it holds what its methods wait for.
func (w *Watcher) losses() (lost <-chan struct{}, stop func()) {
	told, done, ended := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case _, open := <-w.feed.errors:
				if !open {
					return
				}
				select {
				case told <- struct{}{}:
				default:
				}
			}
		}
	}()
	return told, func() { close(done); <-ended }
}

// every is the time from one look to the next.
func (w *Watcher) every() time.Duration {
	if w.blind != nil {
		return w.opts.Blind
	}
	return w.opts.Look
}

// take is what is pending. What is told of is known from here on.
func (w *Watcher) take() *Changes {
	c := w.pending.take()
	for _, name := range c.Paths {
		info, err := w.lstat(name)
		if err != nil || info.IsDir() {
			delete(w.files, name)
		} else {
			w.files[name] = info
		}
	}
	return &c
}

func (w *Watcher) lstat(name string) (fs.FileInfo, error) {
	return os.Lstat(filepath.Join(w.dir, filepath.FromSlash(name)))
}

// Stands refuses a folder that is not the one that was opened: what is missing in
// another one was not removed by anybody.
func (w *Watcher) Stands() error {
	now, err := os.Stat(w.dir)
	if err == nil && os.SameFile(w.root, now) {
		return nil
	}
	return memd.Errorf(memd.CodeNotFound, "the folder %s is gone, or another one stands in its place", w.dir)
}
