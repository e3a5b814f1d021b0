// Package project tells which project a folder belongs to, so that sessions that
// work on one repository share its memories, and no others.
//
// It reads where git keeps things and runs no git, whose configuration may name
// programs to run. Nothing that lies in a project can name it: what a checkout or
// an archive brings along could claim the memories of another.
package project

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// prefix begins the namespaces of projects.
const prefix = "project/"

// maxSlug bounds the readable part of an id, in bytes.
const maxSlug = 40

// ID returns the id of the project that dir belongs to: what follows "project/"
// in its namespace. It is "" for the home folder and the root of the file system,
// which stray sessions would share.
//
// configured maps namespaces to folders as the configuration's roots do; a folder
// from dir up to the root of its repository that one of project/… is mapped to
// lends its name. Any other id is made of the name and the path of that root.
func ID(dir string, configured map[string]string) (string, error) {
	dir, err := canonical(dir)
	if err != nil {
		return "", fmt.Errorf("the folder of a project: %w", err)
	}
	top, root := locate(dir)
	within, err := filepath.Rel(top, dir)
	if err != nil {
		return "", fmt.Errorf("the folder of a project: %w", err)
	}
	// In a linked worktree the folder's place is that in the main one.
	if id := named(filepath.Join(root, within), root, configured); id != "" {
		return id, nil
	}
	if nobodys(root) {
		return "", nil
	}
	sum := sha256.Sum256([]byte(root))
	return slug(filepath.Base(root)) + "-" + hex.EncodeToString(sum[:4]), nil
}

// Top returns the folder of dir's working tree, which is a linked worktree's own,
// or dir itself outside of git; links are resolved.
func Top(dir string) (string, error) {
	dir, err := canonical(dir)
	if err != nil {
		return "", fmt.Errorf("the folder of a project: %w", err)
	}
	top, _ := locate(dir)
	return top, nil
}

// Trees returns the folder of dir's working tree, as Top does, and the root that all
// working trees of its repository share.
func Trees(dir string) (top, root string, err error) {
	dir, err = canonical(dir)
	if err != nil {
		return "", "", fmt.Errorf("the folder of a project: %w", err)
	}
	top, root = locate(dir)
	return top, root, nil
}

func canonical(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// named is the name that configured gives dir, or the nearest folder above it up
// to root. Of two namespaces with one folder the first by name has it.
func named(dir, root string, configured map[string]string) string {
	ids := map[string]string{}
	for _, namespace := range slices.Sorted(maps.Keys(configured)) {
		id, ok := strings.CutPrefix(namespace, prefix)
		folder, err := canonical(configured[namespace])
		if ok && err == nil && ids[folder] == "" {
			ids[folder] = id
		}
	}
	for ; ; dir = filepath.Dir(dir) {
		if id := ids[dir]; id != "" || dir == root || dir == filepath.Dir(dir) {
			return id
		}
	}
}

// nobodys reports whether root is the home folder or the whole file system.
func nobodys(root string) bool {
	if root == filepath.Dir(root) {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	home, err = canonical(home)
	return err == nil && home == root
}

// slug makes of a folder's name what may stand in a namespace.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := b.String()
	s = strings.Trim(s[:min(len(s), maxSlug)], "-.")
	if s == "" {
		return "project"
	}
	return s
}
