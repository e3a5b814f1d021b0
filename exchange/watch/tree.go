package watch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"memd"
)

// maxFiles bounds what is gone through every so often.
const maxFiles = 100_000

// note takes what the system tells.
func (w *Watcher) note(e fsnotify.Event) error {
	rel, err := filepath.Rel(w.dir, e.Name)
	if err != nil {
		return nil
	}
	name := filepath.ToSlash(rel)
	if name == "." {
		return w.Stands()
	}
	if passedOver(name) {
		return nil
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		w.forget(name)
		w.gone(name)
	}
	if info, err := w.lstat(name); err == nil && info.IsDir() {
		if e.Has(fsnotify.Create) {
			return w.walk(name, info, map[string]bool{})
		}
		return nil
	}
	w.pending.add(name, w.now())
	return nil
}

// look goes through the folder, and returns when it began. What differs from before is
// pending then. Where a folder has gone of which the system did not say so, it may tell
// of others by names that they no longer have: then it is asked anew for all of them.
func (w *Watcher) look() (began time.Time, err error) {
	began = w.now()
	if err := w.Stands(); err != nil {
		return began, err
	}
	if w.feed.add != nil {
		w.blind = nil
	}
	if len(w.watched) > 0 && len(w.feed.list()) != len(w.watched) {
		w.forget("")
	}
	seen := map[string]bool{}
	if err := w.walk("", w.root, seen); err != nil {
		return began, err
	}
	for folder := range w.watched {
		if !seen[folder] {
			w.forget("")
			if err := w.walk("", w.root, seen); err != nil {
				return began, err
			}
			break
		}
	}
	for name := range w.files {
		if !seen[name] {
			delete(w.files, name)
			w.pending.add(name, w.now())
		}
	}
	if w.blind != nil && !w.warned {
		w.warned = true
		w.opts.Warn(w.blind)
	}
	return began, nil
}

// walk asks for a folder and all below it, and notes what it finds there in seen. It
// asks before it lists, so that nothing is made in between unnoticed.
func (w *Watcher) walk(folder string, info fs.FileInfo, seen map[string]bool) error {
	seen[folder] = true
	w.ask(folder, info)
	entries, err := w.folder.List(folder)
	if err != nil {
		return nil // it is gone again, or cannot be read: whoever reads the files says so
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if passedOver(name) {
			continue
		}
		info, err := e.Info()
		switch {
		case err != nil:
		case info.IsDir():
			if err := w.walk(name, info, seen); err != nil {
				return err
			}
		default:
			seen[name] = true
			if before, known := w.files[name]; !known || !same(before, info) {
				w.files[name] = info
				w.pending.add(name, w.now())
			}
		}
		if len(w.files) > maxFiles {
			return memd.Errorf(memd.CodeBudgetExceeded, "more than %d files are below %s", maxFiles, w.dir)
		}
	}
	return nil
}

// same reports whether a file seems to be as it was.
func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// ask has the system tell of a folder.
func (w *Watcher) ask(folder string, info fs.FileInfo) {
	if w.feed.add == nil {
		return
	}
	if before, ok := w.watched[folder]; ok {
		if os.SameFile(before, info) {
			return
		}
		w.forget(folder)
	}
	switch err := w.feed.add(w.absolute(folder)); {
	case err == nil:
		w.watched[folder] = info
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
	case w.blind == nil:
		w.blind = withHint(err)
	}
}

// forget takes back what was asked for a folder and all below it.
func (w *Watcher) forget(folder string) {
	for name := range w.watched {
		if below(name, folder) {
			_ = w.feed.remove(w.absolute(name)) // mostly it is gone by itself
			delete(w.watched, name)
		}
	}
	if folder == "" && w.feed.list != nil {
		for _, name := range w.feed.list() {
			_ = w.feed.remove(name)
		}
	}
}

// gone notes that what is known below a folder may have gone with it.
func (w *Watcher) gone(folder string) {
	for _, name := range slices.Collect(maps.Keys(w.files)) {
		if below(name, folder) {
			w.pending.add(name, w.now())
		}
	}
}

func below(name, folder string) bool {
	return folder == "" || name == folder || strings.HasPrefix(name, folder+"/")
}

func (w *Watcher) absolute(folder string) string {
	return filepath.Join(w.dir, filepath.FromSlash(folder))
}

// withHint says what to do where the system gives no more watches.
func withHint(err error) error {
	e := memd.Errorf(memd.CodeStoreFailed, "the system does not tell of all changes, so the folder is gone through every few seconds: %v", err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return e.WithHint("raise what one user may watch: sysctl fs.inotify.max_user_watches, fs.inotify.max_user_instances, or ulimit -n")
	}
	return e
}
