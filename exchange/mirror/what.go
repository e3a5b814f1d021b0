package mirror

import (
	"context"
	"slices"

	"memd/exchange/watch"
	"memd/store"
)

// What is to be compared: all, or these files and these memories.
type What struct {
	All   bool
	Paths map[string]bool // of files in the folder, relative, with /
	Keys  map[Key]bool
}

// Key names a long-term memory.
type Key struct{ Namespace, MemoryKey string }

func (w *What) none() bool { return !w.All && len(w.Paths) == 0 && len(w.Keys) == 0 }

func (w *What) all() { *w = What{All: true} }

func (w *What) files(c watch.Changes) {
	if c.All {
		w.all()
	}
	if w.All {
		return
	}
	if w.Paths == nil {
		w.Paths = map[string]bool{}
	}
	for _, path := range c.Paths {
		w.Paths[path] = true
	}
}

func (w *What) key(k Key) {
	if w.All {
		return
	}
	if w.Keys == nil {
		w.Keys = map[Key]bool{}
	}
	w.Keys[k] = true
}

// newest is how many entries of the log are asked for.
const newest = 50

// ask takes into account what was written since the last time.
func (m *mirror) ask(ctx context.Context) error {
	entries, err := m.Log(ctx, newest)
	if err != nil {
		return err
	}
	seen, reached := int64(0), len(entries) < newest
	for _, e := range entries {
		seen = max(seen, e.Seq)
		reached = reached || e.Seq <= m.seen
	}
	if seen < m.seen || !reached { // of another store, or more than was read
		m.due.all()
	}
	for _, e := range entries {
		if e.Seq <= m.seen || e.Action == store.Refused || e.Action == store.Blocked {
			continue
		}
		switch {
		case e.MemoryKey != "":
			m.due.key(Key{e.Namespace, e.MemoryKey})
		case slices.Contains(sweeping[:], e.Action):
			m.due.all()
		}
	}
	m.seen = seen
	return nil
}

// sweeping are the entries without a key that may be about long-term memories.
var sweeping = [...]string{"groom", "import", "restore"}
