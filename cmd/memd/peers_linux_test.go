package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memd"
)

// stranger is a user that this machine need not have.
const stranger = 20001

// as runs a command as another user.
func (b *box) as(uid uint32, args ...string) result {
	b.t.Helper()
	cmd := b.command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return b.finish(cmd)
}

// reachable lets other users reach the program under test and the way to a
// box's folder, as an installation would.
func (b *box) reachable() {
	b.t.Helper()
	if os.Geteuid() != 0 {
		b.t.Skip("another user can be tried by root alone")
	}
	for _, dir := range []string{filepath.Dir(b.dir), filepath.Dir(os.Getenv(binaryVariable))} {
		if err := os.Chmod(dir, 0o711); err != nil {
			b.t.Fatal(err)
		}
	}
}

// Another user of the machine may do what socket.peers says, over the socket,
// and open nothing else; without it that user does not come as far.
func TestPeers(t *testing.T) {
	b := newBox(t)
	b.reachable()
	d := b.serve()
	if r := b.as(stranger, "recall", "anything"); r.code == 0 || !strings.Contains(r.err, "permission denied") {
		t.Errorf("without peers: exit code %d: %s%s", r.code, r.out, r.err)
	}
	d.stop()

	config := filepath.Join(filepath.Dir(b.dir), "memd.yaml")
	if err := os.WriteFile(config, []byte("socket:\n  peers:\n    20001: {role: write, namespaces: [team/a]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.env = append(b.env, "MEMD_CONFIG="+config)
	cmd := b.command()
	cmd.Path, cmd.Args = sh(t), []string{"sh", "-c", `umask 000; exec "$0" serve`, cmd.Path}
	d = b.start(cmd)
	b.must("remember", "the owner's row")
	if r := b.as(stranger, "remember", "a shared row", "--namespace", "team/a"); r.code != 0 {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	for _, args := range [][]string{{"list"}, {"stats"}, {"backup"}, {"list", "--namespace", "*"}} {
		if r := b.as(stranger, args...); r.code != memd.ExitRefused || strings.Contains(r.out, "row") {
			t.Errorf("%q: exit code %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	if r := b.as(stranger+1, "list", "--namespace", "team/a"); r.code != memd.ExitRefused || !strings.Contains(r.err, "socket.peers") {
		t.Errorf("a user that is not named: exit code %d: %s%s", r.code, r.out, r.err)
	}
	b.opensNothingElse()
	if r := b.run("serve"); r.code != memd.ExitBusy { // which looks at the folder as well
		t.Errorf("a second daemon: exit code %d", r.code)
	}
	if r := b.as(stranger, "list", "--namespace", "team/a"); r.code != 0 || !strings.Contains(r.out, "a shared row") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	if out := b.must("doctor"); strings.Contains(out, "mode") {
		t.Errorf("the doctor: %s", out)
	}
	d.stop()

	if err := os.WriteFile(config, []byte("listen: 127.0.0.1:0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d = b.serve()
	if info, err := os.Stat(b.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("without peers again the folder has mode %04o, %v", info.Mode().Perm(), err)
	}
	d.stop()
}

// opensNothingElse checks that another user gets at the socket alone.
func (b *box) opensNothingElse() {
	b.t.Helper()
	err := filepath.Walk(b.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		switch {
		case path == b.dir:
			want = 0o711
		case path == b.socket():
			want = 0o666
		case info.IsDir():
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			b.t.Errorf("%s has mode %04o, want %04o", path, got, want)
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, look := range []string{"ls " + b.dir, "cat " + filepath.Join(b.dir, "token"), "cat " + filepath.Join(b.dir, "agent_memory.db")} {
		cmd := exec.Command("sh", "-c", look)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
		if out, err := cmd.Output(); err == nil || len(out) > 0 {
			b.t.Errorf("%s as another user: %q, %v", look, out, err)
		}
	}
}
