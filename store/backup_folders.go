package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"memd"
)

// Names of folders among backups.
const (
	backupPrefix   = "memd-"
	replacedPrefix = "replaced-"
)

// backupForm is the name of a finished backup: when it was made, and which of
// several within a second it is.
var backupForm = regexp.MustCompile(`^memd-[0-9]{8}T[0-9]{6}Z(-[0-9]{1,6})?$`)

// stamp is a time as names of files have it.
func stamp(at memd.Time) string { return at.UTC().Format("20060102T150405Z") }

// unfinished is how the names of folders begin in which backups of the data
// directory dir are written. Other stores may write theirs beside them.
func unfinished(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return ".memd-" + hex.EncodeToString(sum[:6]) + "-"
}

// removeUnfinished removes what a killed backup of the data directory dir left
// in dest.
func removeUnfinished(dest, dir string) error {
	left, err := os.ReadDir(dest)
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), unfinished(dir)) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dest, entry.Name())))
		}
	}
	return err
}

// settleName gives the folder temp its name, with -2, -3 and so on behind it
// where that is taken, and returns the name.
func settleName(temp, name string) (string, error) {
	for n := 1; ; n++ {
		to := name
		if n > 1 {
			to = fmt.Sprintf("%s-%d", name, n)
		}
		if exists(to) {
			continue
		}
		err := os.Rename(temp, to)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			continue
		}
		return to, err
	}
}

// pruneBackups removes all but the newest keep backups of folder; 0 keeps
// every one. Where each of those lacks a database, the newest that lacks none
// stays beside them. What is no finished backup is left alone.
func pruneBackups(folder string, keep int) error {
	entries, err := os.ReadDir(folder)
	if err != nil || keep == 0 {
		return err
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && backupForm.MatchString(entry.Name()) && exists(filepath.Join(folder, entry.Name(), ManifestName)) {
			names = append(names, entry.Name())
		}
	}
	// -2 is newer than none, and -10 than -9.
	slices.SortFunc(names, func(a, b string) int {
		const timed = len("memd-20060102T150405Z")
		if c := strings.Compare(a[:timed], b[:timed]); c != 0 {
			return c
		}
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	whole := func(name string) bool {
		m, err := readManifest(filepath.Join(folder, name))
		return err == nil && len(m.Missing) == 0
	}
	old := max(0, len(names)-keep)
	spare := old > 0 && !slices.ContainsFunc(names[old:], whole)
	for _, name := range slices.Backward(names[:old]) {
		if spare && whole(name) {
			spare = false
			continue
		}
		// Without its manifest it is no backup any more, should this end midway.
		path := filepath.Join(folder, name)
		err = errors.Join(err, os.Remove(filepath.Join(path, ManifestName)), os.RemoveAll(path))
	}
	return err
}

// within reports whether path is dir or lies below it, by their names.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved is where a path leads that may not be there yet: of what is there the links
// are followed.
func resolved(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); err != nil && parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	if err != nil {
		return path
	}
	return real
}
