package guard

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"memd"
)

// A pipe, at the start or later, is no file, and nobody waits for it.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	tokens, allowed := open(t, dir), openAllowed(t, dir)
	token, err := tokens.New(Token{Name: "ci", Role: memd.RoleRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := allowed.Allow(print(1), "r"); err != nil {
		t.Fatal(err)
	}
	admin := adminToken(t, dir)
	for _, name := range []string{AdminFile, TokensFile, KeyFile, AllowedFile} {
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for what, opens := range map[string]string{"token": token, "admin": admin} {
		if _, ok := tokens.Caller(opens); ok {
			t.Errorf("%s: a pipe opens", what)
		}
	}
	if allowed.Has(print(1)) {
		t.Error("a pipe allows")
	}
	if _, err := tokens.List(); memd.CodeOf(err) != memd.CodeStoreFailed {
		t.Errorf("List: %v", err)
	}
	if _, err := Open(dir, nil); memd.CodeOf(err) != memd.CodeStoreFailed {
		t.Errorf("Open: %v", err)
	}
	if _, err := OpenAllowed(dir, nil); memd.CodeOf(err) != memd.CodeStoreFailed {
		t.Errorf("OpenAllowed: %v", err)
	}
}
