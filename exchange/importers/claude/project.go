package claude

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxLooks bounds the folders that FolderOf reads.
const maxLooks = 2000

// FolderOf returns the folder, below the root that fsys is, of the project that Claude
// Code keeps things of under a name such as -home-ada-src-app: the folder's path with a
// hyphen for whatever is no letter and no digit. It is "" where there is none, or where
// several fit.
func FolderOf(fsys fs.FS, name string) string {
	if !strings.HasPrefix(name, "-") || len(name) < 2 {
		return ""
	}
	s := search{fsys: fsys}
	s.below(".", name)
	if len(s.found) != 1 {
		return ""
	}
	return s.found[0]
}

// search looks for folders of a name.
type search struct {
	fsys  fs.FS
	looks int
	found []string
}

// below looks in a folder for what is left of the name.
func (s *search) below(dir, rest string) {
	if s.looks++; s.looks > maxLooks || len(s.found) > 1 {
		return
	}
	entries, err := fs.ReadDir(s.fsys, dir)
	if err != nil {
		return // what cannot be read was not worked in
	}
	for _, e := range entries {
		after, ok := strings.CutPrefix(rest, "-"+hyphened(e.Name()))
		if !ok || !e.IsDir() {
			continue
		}
		switch {
		case after == "":
			s.found = append(s.found, path.Join(dir, e.Name()))
		case after[0] == '-':
			s.below(path.Join(dir, e.Name()), after)
		}
	}
}

// hyphened is a name with a hyphen for each unit of UTF-16 that is no letter and no
// digit of ASCII.
func hyphened(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'):
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// Worked returns the folder of the project that a folder of memories is of: the one that
// Claude Code keeps it for, "" where that is not on this machine, else the folder itself.
// dir is absolute.
func Worked(dir string) string {
	kept := filepath.Dir(dir)
	if filepath.Base(dir) != "memory" || filepath.Base(filepath.Dir(kept)) != "projects" || !strings.HasPrefix(filepath.Base(kept), "-") {
		return dir
	}
	root := filepath.VolumeName(dir) + string(filepath.Separator)
	found := FolderOf(os.DirFS(root), filepath.Base(kept))
	if found == "" {
		return ""
	}
	return filepath.Join(root, found)
}
