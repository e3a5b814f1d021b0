package confine

import (
	"os"
	"path/filepath"
)

// Holds reports whether path, which need not be there, lies below folder, by whichever
// names both are given.
func Holds(folder, path string) bool {
	top, err := os.Stat(folder)
	if err != nil {
		return false
	}
	at, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
		at = filepath.Join(real, filepath.Base(at))
	}
	for above := filepath.Dir(at); above != at; at, above = above, filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && os.SameFile(info, top) {
			return true
		}
	}
	return false
}
