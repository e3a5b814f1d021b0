package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
)

// The log and the doctor of a running daemon tell of a file of tokens or allowances
// that cannot be used, whether or not anybody asked meanwhile.
func TestGuardFilesAreWatched(t *testing.T) {
	b := newBox(t)
	b.must("token", "new", "ci", "--role", "read")
	b.must("guard", "allow", strings.Repeat("0a", 16), "--reason", "made up")
	d := b.serve()
	for name, says := range map[string]string{"tokens": "token file refused", "allowed": "allow-list refused"} {
		path := filepath.Join(b.dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(good, "no line\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the log tells of "+name, func() bool { return strings.Contains(d.log.String(), says) })
		if r := b.run("doctor"); r.code != memd.ExitFailed || !strings.Contains(r.out, "guard_file: "+path+": line 2") {
			t.Errorf("doctor of %s: exit code %d: %s%s", name, r.code, r.out, r.err)
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.must("doctor")
}

// Without the key of fingerprints nothing runs but what says so; no command takes
// that for its own misuse.
func TestDamagedKey(t *testing.T) {
	b := newBox(t)
	b.must("remember", "the build is red")
	key := filepath.Join(b.dir, "guard.key")
	good, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, []byte("no key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.run("doctor", "--json"); r.code != memd.ExitFailed || strings.Count(r.out, key+" holds no key") != 1 || !strings.Contains(r.out, `"ok":false`) {
		t.Errorf("doctor: exit code %d: %s%s", r.code, r.out, r.err)
	}
	for _, args := range []string{"list", "serve", "guard list", "doctor --repair"} {
		if r := b.run(strings.Fields(args)...); r.code != memd.ExitFailed || !strings.Contains(r.out+r.err, key+" holds no key") {
			t.Errorf("%s: exit code %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	if err := errors.Join(os.WriteFile(key, good, 0o600), os.Chmod(key, 0o644)); err != nil {
		t.Fatal(err)
	}
	if r := b.run("list"); r.code != memd.ExitFailed || !strings.Contains(r.err, "chmod 600") {
		t.Errorf("an open key: exit code %d: %s", r.code, r.err)
	}
	b.must("doctor", "--repair") // which closes it
}
