package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Root is the administrator of a socket whose daemon another user runs: it may open
// every file anyway.
func TestRootAtAnothersSocket(t *testing.T) {
	b := newBox(t)
	b.reachable()
	home := filepath.Dir(b.dir)
	config := filepath.Join(home, "memd.yaml")
	if err := os.WriteFile(config, []byte("socket:\n  peers:\n    20002: {role: read}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, stranger, stranger); err != nil {
		t.Fatal(err)
	}
	b.env = append(b.env, "MEMD_CONFIG="+config)
	cmd := b.command("serve")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	d := b.start(cmd)
	b.must("remember", "root's row")
	b.must("stats")
	if r := b.as(stranger+1, "stats"); r.code == 0 {
		t.Error("a reader sees the administrator's statistics")
	}
	if r := b.as(stranger, "stats"); r.code != 0 {
		t.Errorf("the daemon's own user: exit code %d: %s", r.code, r.err)
	}
	d.stop()
}

// What the command line makes is closed to others under any umask.
func TestCommandLineUnderAnyUmask(t *testing.T) {
	b := newBox(t)
	loosely := func(args ...string) {
		t.Helper()
		cmd := b.command(args...)
		shell := exec.Command(sh(t), append([]string{"-c", `umask 000; exec "$0" "$@"`, cmd.Path}, args...)...)
		shell.Env = cmd.Env
		if out, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	loosely("token", "new", "ci", "--role", "read")
	loosely("guard", "allow", "5d41402abc4b2a76b9719d911017c592", "--reason", "a made-up one")
	loosely("remember", "kept")
	loosely("rollover")
	loosely("backup")
	seen := map[string]bool{}
	err := filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
		seen[e.Name()] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"token", "tokens", "allowed", "guard.key", "agent_memory.db", "history", "backups", "manifest.json"} {
		if !seen[name] {
			t.Errorf("there is no %s to look at", name)
		}
	}
}
