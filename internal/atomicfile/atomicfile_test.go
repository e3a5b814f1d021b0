package atomicfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memd/internal/atomicfile"
)

// names lists a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func check(t *testing.T, path, content string, perm fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != perm {
		t.Errorf("mode of %s = %v, want %v", path, info.Mode(), perm)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != content {
		t.Errorf("content of %s = %q, want %q", path, got, content)
	}
}

func TestWriteFileUnderAnyUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077, 0o777} {
		t.Run(fmt.Sprintf("%04o", umask), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "token")
			defer syscall.Umask(syscall.Umask(umask))
			for _, c := range []struct {
				content string
				perm    fs.FileMode
			}{{"first", 0o600}, {"", 0o644}, {"third, longer than the first", 0o600}} {
				if err := atomicfile.WriteFile(path, []byte(c.content), c.perm); err != nil {
					t.Fatal(err)
				}
				check(t, path, c.content, c.perm)
			}
			if got := names(t, dir); got != "token" {
				t.Errorf("folder holds %q, want the file alone", got)
			}
		})
	}
}

func TestWriteFileReplacesALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteFile(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, target, "kept", 0o600)
	check(t, link, "new", 0o600)
}

func TestWriteFileRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := atomicfile.WriteFile("f", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, "f", "x", 0o600)
}

func TestWriteFileFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.WriteFile(path, []byte("x"), 0o600) // a folder cannot be replaced
	if err == nil || !strings.Contains(err.Error(), "write "+path+": ") {
		t.Errorf("error = %v, want one that names %s", err, path)
	}
	if got := names(t, dir); got != "taken" {
		t.Errorf("folder holds %q, want what it held", got)
	}

	missing := filepath.Join(dir, "missing", "f")
	if err := atomicfile.WriteFile(missing, nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want fs.ErrNotExist", err)
	}
}

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := atomicfile.SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := atomicfile.SyncDir(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want fs.ErrNotExist", err)
	}
}
