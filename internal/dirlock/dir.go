package dirlock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"memd"
	"memd/internal/atomicfile"
)

// SocketName is the unix socket within a data folder.
const SocketName = "memd.sock"

// CheckSocketPath refuses a data folder whose socket could not be bound, for
// the kernel bounds the path of a socket.
func CheckSocketPath(dir string) error {
	path := filepath.Join(dir, SocketName)
	if len(path) <= maxSocketPath {
		return nil
	}
	return memd.FieldErrorf(memd.CodeInvalidRequest, "dir",
		"the socket path %s has %d bytes, the limit is %d", path, len(path), maxSocketPath).
		WithHint("choose a data folder with a shorter path (--dir, MEMD_DIR)")
}

// checkFS looks at the file system of dir, which need not exist yet.
func checkFS(dir string, o Options) (warning string, err error) {
	name, network, err := NetworkFS(dir)
	if err != nil {
		return "", fmt.Errorf("file system of %s: %w", dir, err)
	}
	return judgeFS(dir, name, network, o)
}

// judgeFS refuses a network file system, where a lock may hold on one machine
// alone and SQLite's shared memory does not work. FUSE may be either, so it is
// allowed with a warning.
func judgeFS(dir, name string, network bool, o Options) (warning string, err error) {
	switch {
	case network && !o.AllowNetworkFS:
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "dir", "%s is on a network file system (%s)", dir, name).
			WithHint("choose a local data folder, or accept the risk of a broken database with --allow-network-fs")
	case network:
		return fmt.Sprintf("%s is on a network file system (%s): locks may not hold and the database may break", dir, name), nil
	case name == fuse:
		return fmt.Sprintf("%s is on a FUSE file system: if another machine can reach it, locks may not hold", dir), nil
	}
	return "", nil
}

// fuse is the name under which NetworkFS reports FUSE.
const fuse = "fuse"

// existing returns the nearest ancestor of dir, or dir itself, that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// ensureDir makes dir a folder, and reports whether one that was there is ours to
// close to others. What it creates on the way is 0700 under any umask and on
// disk when it returns, or the first memories written could vanish with their
// folder in a power cut.
func ensureDir(dir string) (loose bool, err error) {
	info, err := os.Stat(dir)
	if err == nil {
		return looseDir(dir, info)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	var missing []string
	for at, top := dir, existing(dir); at != top; at = filepath.Dir(at) {
		missing = append(missing, at)
	}
	for _, path := range slices.Backward(missing) {
		// Another process may have the same idea at the same time.
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		if err := os.Chmod(path, 0o700); err != nil {
			return false, err
		}
		if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil {
			return false, err
		}
	}
	return false, nil
}

// looseDir reports whether a folder is ours, with nothing but memd in it, and open
// to others. A folder of someone else's is left as its owner made it (volumes of
// containers are owned by root), and one that everybody shares, or that others
// may enter for what else it holds, is no data folder at all.
func looseDir(dir string, info fs.FileInfo) (bool, error) {
	switch {
	case !info.IsDir():
		return false, memd.FieldErrorf(memd.CodeInvalidRequest, "dir", "%s is not a folder", dir).
			WithHint("choose another data folder (--dir, MEMD_DIR)")
	case info.Mode()&fs.ModeSticky != 0 && info.Mode().Perm()&0o077 != 0:
		return false, memd.FieldErrorf(memd.CodeInvalidRequest, "dir", "%s is shared by all users", dir).
			WithHint("choose a folder of its own, such as %s", filepath.Join(dir, "memd"))
	case info.Mode().Perm()&0o077 == 0 || !ownedByUs(info):
		return false, nil
	}
	ours, err := emptyOrOurs(dir)
	if err != nil {
		return false, err
	}
	if !ours {
		return false, memd.FieldErrorf(memd.CodeInvalidRequest, "dir",
			"%s holds other files and is open to other users (mode %04o)", dir, info.Mode().Perm()).
			WithHint("choose a folder of its own, such as %s, or chmod 700 it", filepath.Join(dir, "memd"))
	}
	return true, nil
}

// dbName is what tells a data folder from others, beside the lock file; it is
// package store's name for the active database.
const dbName = "agent_memory.db"

// emptyOrOurs reports whether dir holds nothing, or memd's own files: a folder with
// neither is someone's, and closing it would lock others out. A new file
// system's lost+found is nothing.
func emptyOrOurs(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	foreign := false
	for _, e := range entries {
		switch e.Name() {
		case FileName, dbName:
			return true, nil
		case "lost+found":
		default:
			foreign = true
		}
	}
	return !foreign, nil
}
