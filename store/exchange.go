package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"memd"
	"memd/internal/atomicfile"
	"memd/internal/regular"
)

// Names below the data directory while a restore is under way.
const (
	stagingDir = "restoring"      // what is to take the databases' place
	markerName = "restoring.json" // there from when the exchange began until it is done
)

// marker says that an exchange is under way.
type marker struct {
	From     string `json:"from"`     // the backup, for people
	Replaced string `json:"replaced"` // the folder below BackupDir for what is replaced
}

var replacedForm = regexp.MustCompile(`^replaced-[0-9]{8}T[0-9]{6}Z(-[0-9]{1,6})?$`)

// newMarker makes the folder for what is replaced. It must lie on the data
// directory's own file system, for what goes there is renamed.
func newMarker(dir, from string, now memd.Time) (marker, error) {
	backups := filepath.Join(dir, BackupDir)
	if err := os.MkdirAll(backups, 0o700); err != nil {
		return marker{}, fail("create "+backups, err)
	}
	empty, err := os.MkdirTemp(filepath.Join(dir, stagingDir), "replaced")
	if err != nil {
		return marker{}, fail("create a folder in "+dir, err)
	}
	aside, err := settleName(empty, filepath.Join(backups, replacedPrefix+stamp(now)))
	if errors.Is(err, syscall.EXDEV) {
		return marker{}, memd.Errorf(memd.CodeStoreFailed, "%s is on another file system, so that the databases in place cannot be moved there", backups).
			WithHint("put an ordinary folder in its place while you restore; the store was not touched")
	}
	return marker{From: from, Replaced: filepath.Base(aside)}, fail("create a folder in "+backups, err)
}

func (m marker) write(dir string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, markerName), append(text, '\n'), 0o600)
}

// resumeRestore carries through an exchange that was cut short, and removes
// what is left of a restore that did not come so far.
func resumeRestore(ctx context.Context, dir string) error {
	ctx = context.WithoutCancel(ctx)
	text, err := regular.ReadFile(filepath.Join(dir, markerName))
	if errors.Is(err, fs.ErrNotExist) {
		return fail("remove what is left of a restore", os.RemoveAll(filepath.Join(dir, stagingDir)))
	}
	if err != nil {
		return fail("read "+markerName, err)
	}
	var m marker
	if err := json.Unmarshal(text, &m); err != nil || !replacedForm.MatchString(m.Replaced) {
		return memd.Errorf(memd.CodeStoreFailed, "%s cannot be read, so that the restore it stands for cannot go on", filepath.Join(dir, markerName)).
			WithHint("docs/format.md says how to end a restore by hand")
	}
	_, err = exchange(ctx, dir, m)
	return fail("go on with the restore of "+m.From, err)
}

// exchange moves the databases of dir into the folder that m names, and those
// of the staging folder into their place. Every state that it may be cut short
// in tells what is still to be done: as long as a name stands in the staging
// folder, what stands under it in dir is old. It reports whether anything was
// replaced.
func exchange(ctx context.Context, dir string, m marker) (moved bool, err error) {
	staging, aside := filepath.Join(dir, stagingDir), filepath.Join(dir, BackupDir, m.Replaced)
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return false, err
	}
	old := map[string][]string{
		ActiveName: {ActiveName, ActiveName + "-wal", ActiveName + "-shm", ActiveName + "-journal"},
		HistoryDir: {HistoryDir},
	}
	order := []string{HistoryDir, ActiveName}
	for _, name := range order {
		if !exists(filepath.Join(staging, name)) {
			continue
		}
		for _, name := range old[name] {
			if err := moveInto(aside, filepath.Join(dir, name)); err != nil {
				return false, err
			}
			reached(ctx, "restore/aside/"+name)
		}
	}
	// What is old must be durable in its new place before its name is taken.
	if err := errors.Join(atomicfile.SyncDir(aside), atomicfile.SyncDir(dir)); err != nil {
		return false, err
	}
	for _, name := range order {
		if err := moveInto(dir, filepath.Join(staging, name)); err != nil {
			return false, err
		}
		reached(ctx, "restore/placed/"+name)
	}
	if err := errors.Join(atomicfile.SyncDir(dir), os.RemoveAll(staging)); err != nil {
		return false, err
	}
	reached(ctx, "restore/placed")
	if err := errors.Join(os.Remove(filepath.Join(dir, markerName)), atomicfile.SyncDir(dir)); err != nil {
		return false, err
	}
	reached(ctx, "restore/done")
	// Empty where there was no database.
	empty := os.Remove(aside) == nil
	return !empty, nil
}

// moveInto renames path into folder, if it is there. It takes no other's place.
func moveInto(folder, path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	to := filepath.Join(folder, filepath.Base(path))
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s stands in the way of %s", to, path)
	}
	return os.Rename(path, to)
}
