package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memd"
	"memd/internal/dirlock"
	"memd/store"
)

// Modes of the data folder and its socket while others may use the socket.
const (
	sharedDir    fs.FileMode = 0o711
	sharedSocket fs.FileMode = 0o666
)

// looseFiles names what in the data folder others than its owner may open: of
// the socket and the way to it only where it is not shared. A folder that is not
// there is nobody's.
func looseFiles(dir string, shared bool) ([]store.Finding, error) {
	var found []store.Finding
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if shared && (path == dir && info.Mode().Perm() == sharedDir ||
			path == filepath.Join(dir, dirlock.SocketName) && info.Mode().Perm() == sharedSocket) {
			return nil
		}
		want := ownMode(entry)
		if perm := info.Mode().Perm(); entry.Type() != fs.ModeSymlink && perm&0o077 != 0 {
			found = append(found, store.Finding{
				Check:  "mode",
				Detail: fmt.Sprintf("%s has mode %04o", path, perm),
				Fix:    fmt.Sprintf("chmod %04o '%s', or memd doctor --repair", want, path),
			})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) { // also of a file that just went away
		err = nil
	}
	return found, err
}

// looseKey names the key of the certificate where every user of the machine may
// open it. A group may: that of the proxy and of other servers.
func looseKey(path string) []store.Finding {
	info, err := os.Stat(path)
	if path == "" || err != nil || info.Mode().Perm()&0o007 == 0 { // one that is not there is the start's to tell
		return nil
	}
	return []store.Finding{{
		Check:  "mode",
		Detail: fmt.Sprintf("tls.key, %s, has mode %04o: every user of this machine may open it", path, info.Mode().Perm()),
		Fix:    fmt.Sprintf("chmod 0600 '%s', and have a new key made where others may have read it", path),
	}}
}

// ownMode is the mode of what lies in the data folder.
func ownMode(entry fs.DirEntry) fs.FileMode {
	if entry.IsDir() {
		return 0o700
	}
	return 0o600
}

// closeFiles takes from others what looseFiles names.
func closeFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type() == fs.ModeSymlink {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			return err
		}
		return os.Chmod(path, ownMode(entry))
	})
}

// beforeMemd is a time at which no memd ran.
var beforeMemd = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// wrongClock compares the clock with the calendar and with the newest rows:
// under a clock set back new rows sort below old ones and nothing expires.
func wrongClock(now time.Time, newest []memd.Memory) []store.Finding {
	const fix = "set the clock (NTP), then start memd again"
	if now.Before(beforeMemd) {
		return []store.Finding{{Check: "clock", Detail: "the clock shows " + memd.At(now).String(), Fix: fix}}
	}
	for _, m := range newest {
		if m.CreatedAt.After(now) {
			return []store.Finding{{
				Check: "clock", Fix: fix,
				Detail: fmt.Sprintf("the clock shows %s, but %s was written at %s", memd.At(now), m.ID, m.CreatedAt),
			}}
		}
	}
	return nil
}
