package store

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"memd"
)

// Snapshot is a copy of all databases as they were at one time, for whoever reads
// slowly: neither writes nor a rollover nor other readings wait for it. Its files have
// no name any more where the system can do without, so that no death of the process
// leaves them. Whoever takes one must Close it.
type Snapshot struct {
	At      memd.Time
	Missing []string // names of historical databases that could not be read; [] for none

	view   *View
	folder string
	free   func() // lets the next one be taken
}

// Snapshot takes a copy, for which the disk must have room. One is taken at a time: as
// long as it is not closed, another is store_busy.
func (s *Set) Snapshot(ctx context.Context) (*Snapshot, error) {
	if !s.snapshot.TryLock() {
		return nil, memd.Errorf(memd.CodeStoreBusy, "the store is being exported already").WithHint("try again when that is done")
	}
	x, err := s.takeSnapshot(ctx)
	if err != nil {
		s.snapshot.Unlock()
		return nil, err
	}
	x.free = s.snapshot.Unlock
	return x, nil
}

func (s *Set) takeSnapshot(ctx context.Context) (*Snapshot, error) {
	s.busy.Lock() // no file comes or goes meanwhile
	defer s.busy.Unlock()
	if err := s.checkFiles(ctx); err != nil {
		return nil, err
	}
	dest := filepath.Join(s.dir, BackupDir)
	if err := s.prepareDest(ctx, dest); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(dest, unfinished(s.dir)+"*")
	if err != nil {
		return nil, fail("create a folder in "+dest, err)
	}
	x := &Snapshot{At: s.Now(), Missing: []string{}, folder: folder}
	parts, copied, err := s.copyAll(ctx, folder)
	if err == nil {
		s.views.RLock()
		ghosts := maps.Clone(s.ghosts)
		s.views.RUnlock()
		err = x.open(ctx, parts, copied, ghosts)
	}
	// What is open stays readable where files without a name do.
	if removed := os.RemoveAll(folder); removed == nil {
		x.folder = ""
	}
	if err != nil {
		return nil, errors.Join(fail("copy the databases", err), x.Close())
	}
	return x, nil
}

// open opens the copies.
func (x *Snapshot) open(ctx context.Context, parts []*part, copied map[*part]int64, ghosts map[ghost]memd.Tier) error {
	v := &View{ctx: ctx, owing: true, ghosts: ghosts, heads: map[headKey]Head{}}
	x.view = v
	for _, p := range parts {
		var c *conn
		var missed error
		if _, has := copied[p]; has || p.file == "" {
			var err error
			if c, err = connect(ctx, filepath.Join(x.folder, filepath.FromSlash(p.name())), "ro", readerPragmas); err != nil {
				return err
			}
			// It opens the file, which has no name soon.
			if err := c.row(ctx, `SELECT count(*) FROM sqlite_schema`, nil, new(int)); err != nil {
				return errors.Join(err, c.close())
			}
		} else {
			x.Missing = append(x.Missing, p.name())
			missed = cmp.Or(p.broken(), setAside(p.file, nil))
		}
		v.parts = append(v.parts, &part{file: p.file, path: p.path})
		v.conns = append(v.conns, c)
		v.missed = append(v.missed, missed)
		v.extents = append(v.extents, nil)
	}
	return nil
}

// Close lets the copy go.
func (x *Snapshot) Close() (err error) {
	if x.view != nil {
		for _, c := range x.view.conns {
			if c != nil {
				err = errors.Join(err, c.close())
			}
		}
		x.view = nil
	}
	if x.folder != "" {
		err = errors.Join(err, os.RemoveAll(x.folder))
		x.folder = ""
	}
	if x.free != nil {
		x.free()
		x.free = nil
	}
	return err
}

// Rows returns how many rows each tier holds, expired ones among them.
func (x *Snapshot) Rows() (map[memd.Tier]int, error) {
	rows := map[memd.Tier]int{}
	for _, t := range memd.AllTiers() {
		n, err := x.view.Rows(t)
		if err != nil {
			return nil, err
		}
		rows[t] = n
	}
	return rows, nil
}
