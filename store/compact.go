package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"memd"
	"memd/internal/atomicfile"
)

// Compacted is what a compaction did.
type Compacted struct {
	Files      []CompactedFile `json:"files"`
	FreedBytes int64           `json:"freed_bytes"`
}

// CompactedFile is one database of a compaction.
type CompactedFile struct {
	File    string `json:"file"`   // below the data directory
	Before  int64  `json:"before"` // bytes
	After   int64  `json:"after"`
	Skipped string `json:"skipped,omitempty"` // why it was left as it was
}

// Compact rewrites every historical database into as few pages as its rows
// need, each in one rename, and gives back what is free in the active one.
// One that cannot be read, or for whose copy the disk has no room, is left as
// it was and says why.
func (s *Set) Compact(ctx context.Context) (Compacted, error) {
	return s.CompactBy(ctx, Memd)
}

// CompactBy is Compact for a caller, whom the log names.
func (s *Set) CompactBy(ctx context.Context, who string) (Compacted, error) {
	done, err := s.compactAll(ctx)
	if len(done.Files) > 0 {
		s.logDone(ctx, Entry{Caller: who, Action: "compact", Detail: fmt.Sprintf("%d databases, %d bytes freed", len(done.Files), max(0, done.FreedBytes))}, nil)
	}
	return done, err
}

func (s *Set) compactAll(ctx context.Context) (Compacted, error) {
	s.busy.Lock()
	defer s.busy.Unlock()
	done := Compacted{Files: []CompactedFile{}}
	err := s.writer.alone(ctx, func() error {
		if err := s.writer.ready(ctx); err != nil {
			return err
		}
		f, err := s.compactActive(context.WithoutCancel(ctx))
		done.Files = append(done.Files, f)
		return err
	})
	if err != nil {
		return done, err
	}
	var files []string
	err = s.View(ctx, func(v *View) error {
		for _, p := range v.parts[1:] {
			files = append(files, p.file)
		}
		return nil
	})
	for _, file := range files {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return done, err
		}
		err = s.writer.alone(ctx, func() error {
			if err := s.writer.ready(ctx); err != nil {
				return err
			}
			f, err := s.compact(context.WithoutCancel(ctx), s.writer.part(file))
			done.Files = append(done.Files, f)
			return err
		})
	}
	for _, f := range done.Files {
		done.FreedBytes += f.Before - f.After
	}
	return done, err
}

// compactActive gives back what is free in the active database.
func (s *Set) compactActive(ctx context.Context) (f CompactedFile, err error) {
	f.File = ActiveName
	if f.Before, err = fileBytes(ctx, s.writer.conn); err != nil {
		return f, err
	}
	if _, err = settle(ctx, s.writer.conn, true); err != nil {
		return f, err
	}
	f.After, err = fileBytes(ctx, s.writer.conn)
	return f, err
}

// compact rewrites one historical database.
func (s *Set) compact(ctx context.Context, p *part) (f CompactedFile, err error) {
	f.File = HistoryDir + "/" + p.file
	skip := func(err error) (CompactedFile, error) {
		f.After, f.Skipped = f.Before, messageOf(err)
		return f, nil
	}
	c, err := p.own(ctx)
	if err != nil {
		return skip(err)
	}
	if f.Before, err = fileBytes(ctx, c); err != nil {
		return skip(p.failed(err))
	}
	if err := s.room(s.dir, f.Before+f.Before/4+1<<20); err != nil {
		return skip(err)
	}
	path := filepath.Join(s.dir, ActiveName) + compactSuffix
	if err := s.rewriteAlone(ctx, p, c, path); err != nil {
		err = fail("rewrite "+p.file, p.failed(err))
		s.log.Warn("not compacted", "file", p.file, "error", err)
		if left := removeDatabase(path); left != nil {
			return f, fail("remove "+path, left)
		}
		return skip(err)
	}
	if c, err = p.own(ctx); err == nil {
		f.After, err = fileBytes(ctx, c)
	}
	if err == nil {
		err = s.writer.plainly(ctx, func() error { return recount(ctx, s.writer.conn, p, c) })
	}
	reached(ctx, "compact/done")
	return f, err
}

// rewriteAlone rewrites a historical database at path and puts that in its
// place. Nobody else can write to it meanwhile: what came between would be lost.
func (s *Set) rewriteAlone(ctx context.Context, p *part, c *conn, path string) error {
	if err := p.alone(ctx, still{s}, func(c *conn) error {
		if err := optimize(ctx, c); err != nil {
			return err
		}
		return noteSettled(ctx, c)
	}); err != nil {
		return err
	}
	// One that was made by hand may be without, and then gives no page back.
	if _, err := c.value(ctx, `PRAGMA auto_vacuum = INCREMENTAL`); err != nil {
		return err
	}
	keeper, err := connect(ctx, p.path, "rw", historyPragmas)
	if err != nil {
		return err
	}
	if _, err = keeper.exec(ctx, "BEGIN IMMEDIATE"); err == nil {
		err = s.rewrite(ctx, p, c, path)
	}
	if err == nil {
		err = s.replace(ctx, p, path)
	}
	return errors.Join(err, keeper.close())
}

// rewrite writes all of a historical database into a new one at path.
func (s *Set) rewrite(ctx context.Context, p *part, c *conn, path string) error {
	if err := removeDatabase(path); err != nil {
		return err
	}
	if err := makePrivate(path); err != nil {
		return err
	}
	reached(ctx, "compact/copy")
	want, err := countRows(ctx, c)
	if err != nil {
		return err
	}
	if _, err := c.exec(ctx, `VACUUM INTO ?`, path); err != nil {
		return err
	}
	made, err := connect(ctx, path, "ro", readerPragmas)
	if err != nil {
		return err
	}
	got, err := countRows(ctx, made)
	if err := errors.Join(err, made.close()); err != nil {
		return err
	}
	if got != want {
		return memd.Errorf(memd.CodeStoreFailed, "the copy of %s holds other rows", p.file)
	}
	reached(ctx, "compact/copied")
	return syncFile(path)
}

// replace puts the database at path in the place of a historical one.
func (s *Set) replace(ctx context.Context, p *part, path string) error {
	s.views.Lock()
	defer s.views.Unlock()
	if err := p.close(); err != nil {
		return err
	}
	if exists(p.path + "-journal") { // it would be played back into the new file
		return fmt.Errorf("%s was not closed whole", p.file)
	}
	if err := os.Rename(path, p.path); err != nil {
		return err
	}
	p.gen.Add(1)
	reached(ctx, "compact/renamed")
	return errors.Join(atomicfile.SyncDir(filepath.Dir(p.path)), atomicfile.SyncDir(s.dir))
}
