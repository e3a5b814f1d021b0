package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memd"
	"memd/internal/atomicfile"
	"memd/internal/regular"
)

// RestoreOptions are what Restore needs to know. Now has a default.
type RestoreOptions struct {
	Dir  string // the data directory; it must exist and be locked by this process
	From string // the folder of one backup
	By   string // who asked for it, for the log
	Now  func() time.Time
}

// Restored is what a restore did.
type Restored struct {
	Path      string         `json:"path"`      // the backup
	Replaced  string         `json:"replaced"`  // the folder that keeps what was there, "" where nothing was
	Forgotten int            `json:"forgotten"` // rows of the backup that were forgotten since, and stay so
	Manifest  BackupManifest `json:"manifest"`
	Warnings  []string       `json:"warnings"`
}

// Restore puts the databases of a backup in place of those of a data
// directory, which are kept below BackupDir. No Set may be open on the
// directory.
//
// The backup is copied into the directory and verified there, then rid of what
// was forgotten since; only then are files exchanged, by renames that the next
// Open carries through should this process die (docs/format.md). A backup that
// is not whole, foreign, or of a newer schema is store_failed with the field
// "path", and leaves the directory as it was.
func Restore(ctx context.Context, opts RestoreOptions) (done Restored, err error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if err := resumeRestore(ctx, opts.Dir); err != nil {
		return Restored{}, err
	}
	r := restore{dir: opts.Dir, from: opts.From, by: opts.By, staging: filepath.Join(opts.Dir, stagingDir), now: memd.At(opts.Now())}
	if r.manifest, err = readManifest(r.from); err != nil {
		return Restored{}, err
	}
	if err := r.refuseForeign(); err != nil {
		return Restored{}, err
	}
	done = Restored{Path: r.from, Manifest: r.manifest, Warnings: []string{}}
	for _, name := range r.manifest.Missing {
		done.Warnings = append(done.Warnings, name+" could not be read when the backup was made, and is not in it; its memories are unavailable")
	}
	next, err := r.prepare(ctx, &done)
	if err != nil {
		return Restored{}, errors.Join(err, os.RemoveAll(r.staging))
	}
	// From here on it is carried through, now or at the next start.
	if err := next.write(opts.Dir); err != nil {
		return Restored{}, fail("begin the exchange", err)
	}
	reached(ctx, "restore/marked")
	moved, err := exchange(context.WithoutCancel(ctx), opts.Dir, next)
	if moved {
		done.Replaced = filepath.Join(opts.Dir, BackupDir, next.Replaced)
	}
	return done, fail("exchange the databases; the next start of memd goes on with it", err)
}

// restore is a restore on its way to the exchange.
type restore struct {
	dir, from, staging string
	by                 string
	manifest           BackupManifest
	now                memd.Time
}

// prepare makes the staging folder hold what is to take the databases' place,
// whole and on disk.
func (r *restore) prepare(ctx context.Context, done *Restored) (marker, error) {
	if err := r.room(); err != nil {
		return marker{}, err
	}
	if err := os.MkdirAll(filepath.Join(r.staging, HistoryDir), 0o700); err != nil {
		return marker{}, fail("create "+r.staging, err)
	}
	for _, f := range r.manifest.Files {
		reached(ctx, "restore/copy")
		if err := r.copy(f); err != nil {
			return marker{}, err
		}
	}
	reached(ctx, "restore/copied")
	for _, f := range r.manifest.Files {
		if err := verifyCopy(ctx, r.staged(f.Name), f); err != nil {
			return marker{}, err
		}
	}
	reached(ctx, "restore/verified")
	// What a rollover in place left half done is what a start would end first. A
	// store without remedy is no reason not to restore.
	if err := resumeRollover(ctx, r.dir); err != nil {
		done.Warnings = append(done.Warnings, "the store in place: "+messageOf(err))
	}
	graves, warnings, err := gravesOf(ctx, r.dir)
	if err != nil {
		return marker{}, err
	}
	done.Warnings = append(done.Warnings, warnings...)
	if done.Forgotten, err = r.bury(ctx, graves); err != nil {
		return marker{}, err
	}
	if err := r.enter(ctx, done.Forgotten); err != nil {
		return marker{}, fail("write an audit entry", err)
	}
	reached(ctx, "restore/buried")
	for _, folder := range []string{filepath.Join(r.staging, HistoryDir), r.staging, r.dir} {
		if err := atomicfile.SyncDir(folder); err != nil {
			return marker{}, fail("write "+folder, err)
		}
	}
	return newMarker(r.dir, r.from, r.now)
}

func (r *restore) staged(name string) string {
	return filepath.Join(r.staging, filepath.FromSlash(name))
}

// enter has the log of the restored store tell of the restore.
func (r *restore) enter(ctx context.Context, forgotten int) error {
	c, err := openWriter(ctx, r.staged(ActiveName))
	if err != nil {
		return err
	}
	_, err = c.exec(ctx, `INSERT INTO audit (at, caller, action, detail) VALUES (?, ?, 'restore', ?)`, r.now.String(),
		cmp.Or(r.by, Memd), fmt.Sprintf("%d databases, %d rows, %d of them forgotten since", len(r.manifest.Files), r.manifest.rows(), forgotten))
	return errors.Join(err, c.close())
}

// room refuses a restore for whose copies the disk is too small.
func (r *restore) room() error {
	need := int64(1 << 20)
	for _, f := range r.manifest.Files {
		need += f.Size + f.Size/4 // and a log, while rows are deleted from it
	}
	free, err := freeSpace(r.dir)
	if err != nil {
		return fail("measure the disk of "+r.dir, err)
	}
	if free < need {
		return memd.Errorf(memd.CodeBudgetExceeded, "the restore needs %d bytes and the disk of %s has %d free; nothing was changed", need, r.dir, free).
			WithHint("free space there")
	}
	return nil
}

// refuseForeign wants nothing in the backup's folder but what the manifest
// names.
func (r *restore) refuseForeign() error {
	known := map[string]bool{ManifestName: true}
	for _, f := range r.manifest.Files {
		known[f.Name] = true
	}
	err := filepath.WalkDir(r.from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(r.from, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if entry.IsDir() && (name == "." || name == HistoryDir) || entry.Type().IsRegular() && known[name] {
			return nil
		}
		return badBackup("%s is not in the backup's manifest, or no regular file", path)
	})
	return fail("look through "+r.from, err)
}

// copy brings one file of the backup into the staging folder and holds it
// against the manifest.
func (r *restore) copy(want BackupFile) (err error) {
	path := filepath.Join(r.from, filepath.FromSlash(want.Name))
	from, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return badBackup("%s is missing", path)
	}
	if err != nil {
		return fail("read "+path, err)
	}
	defer from.Close()
	to, err := os.OpenFile(r.staged(want.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fail("create "+r.staged(want.Name), err)
	}
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(to, h), io.LimitReader(from, want.Size+1))
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return fail("copy "+path, err)
	}
	if size != want.Size || hex.EncodeToString(h.Sum(nil)) != want.SHA256 {
		return badBackup("%s is not the file that its manifest names: size or SHA-256 differ", path)
	}
	return nil
}
