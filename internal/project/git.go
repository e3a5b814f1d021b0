package project

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxGitFile bounds the small files of git that hold one path.
const maxGitFile = 8 << 10

// locate finds the working tree that dir lies in, and the root that all working
// trees of its repository share. Both are dir outside of git.
//
// A submodule, and a tree whose repository lies elsewhere, are their own root.
func locate(dir string) (top, root string) {
	for d := dir; ; d = filepath.Dir(d) {
		link := filepath.Join(d, ".git")
		switch info, err := os.Stat(link); {
		case err != nil:
		case info.IsDir() && repository(link):
			return d, d
		case info.Mode().IsRegular():
			if target, ok := pathIn(link, "gitdir:"); ok {
				return d, shared(link, target, d)
			}
		}
		if repository(d) { // a bare one, or the inside of a .git
			if filepath.Base(d) == ".git" {
				return dir, filepath.Dir(d)
			}
			return d, d
		}
		if d == filepath.Dir(d) {
			return dir, dir
		}
	}
}

// repository reports whether git would take the folder for a repository's own.
func repository(dir string) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

// shared is the root of the repository that the .git file link of the tree at top
// leads to by target, if that repository knows the tree as its own worktree: whoever
// can write a folder can write any path into its .git file, yet nothing into the
// repository of another. Else it is top.
func shared(link, target, top string) string {
	entry, err := canonical(target)
	if err != nil || filepath.Base(filepath.Dir(entry)) != "worktrees" {
		return top
	}
	main := filepath.Dir(filepath.Dir(entry))
	back, ok := pathIn(filepath.Join(entry, "gitdir"), "")
	if !ok || !repository(main) {
		return top
	}
	folder, err := canonical(filepath.Dir(back))
	if err != nil || filepath.Join(folder, filepath.Base(back)) != link {
		return top
	}
	if filepath.Base(main) == ".git" {
		return filepath.Dir(main)
	}
	return main // a bare repository, or one that has no tree beside it
}

// pathIn reads the path that is the content of a file behind label. A relative one
// starts at the file's folder.
func pathIn(file, label string) (string, bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() { // a pipe would block
		return "", false
	}
	f, err := os.Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGitFile+1))
	if err != nil || len(data) > maxGitFile {
		return "", false
	}
	path, ok := strings.CutPrefix(string(data), label)
	path = strings.TrimRight(path, "\r\n")
	if label != "" {
		path = strings.TrimLeft(path, " ")
	}
	if !ok || path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return path, true
}
