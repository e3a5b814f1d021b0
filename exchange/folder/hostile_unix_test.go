//go:build unix

package folder_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"memd/exchange/folder"
)

// No link is followed or written over, nothing waits for a pipe or a device, and a
// folder with the name of a note is a folder.
func TestLinksAndPipes(t *testing.T) {
	p := newPlace(t, nil)
	outside := filepath.Join(filepath.Dir(p.o.Dir), "outside")
	must(t, os.MkdirAll(outside, 0o755))
	must(t, os.WriteFile(filepath.Join(outside, "secret.md"), []byte("---\nname: s\ndescription: secret\ntype: reference\n---\n"), 0o644))
	p.note("a.md", "a", "a")
	p.note("dir.md/b.md", "b", "b")
	p.note("sub/c.md", "c", "c")
	for name, target := range map[string]string{
		"in.md": "a.md", "out.md": filepath.Join(outside, "secret.md"), "up.md": "../outside/secret.md", "loop.md": "loop.md", "none.md": "nowhere.md",
		"dirlink.md": "sub", "passwd.md": "/etc/passwd", "null.md": "/dev/null", "sub/round": "..", "far": outside,
	} {
		must(t, os.Symlink(target, p.at(name)))
	}
	must(t, unix.Mkfifo(p.at("pipe.md"), 0o600))
	must(t, os.Link(filepath.Join(outside, "secret.md"), p.at("hard.md")))
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	defer unix.Close(socket)
	t.Chdir(p.o.Dir) // the address of a socket is short
	must(t, unix.Bind(socket, &unix.SockaddrUnix{Name: "socket.md"}))
	r := p.report(folder.Import)
	p.want("the import", words(r), "3 created, 11 refused")
	for _, e := range r.Files {
		if strings.HasSuffix(e.File, "link.md") && !strings.Contains(e.Reason, "link") {
			t.Errorf("it says %+v", e)
		}
	}
	said, err := json.Marshal(r)
	must(t, err)
	if p.row("project/x", "s").ID != "" || strings.Contains(string(said), outside) {
		t.Errorf("what lies outside came in: %s", said)
	}
	p.want("the export", p.did(folder.Export), "3 unchanged, 11 refused")
	if target, err := os.Readlink(p.at("in.md")); err != nil || target != "a.md" {
		t.Errorf("the link is %q, %v", target, err)
	}
}

// A link at the place of a new file, of its folder or of the index is not followed.
func TestLinksInTheWay(t *testing.T) {
	p := newPlace(t, nil)
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "k.md"), []byte("mine"), 0o644))
	must(t, os.Symlink(filepath.Join(outside, "k.md"), p.at("k.md")))
	must(t, os.Symlink(filepath.Join(outside, "k.md"), p.at("MEMORY.md")))
	must(t, os.Symlink(outside, p.at("user")))
	p.keep("k", "k")
	w := p.keep("u", "u")
	must(t, second(p.store.RememberLongTerm(t.Context(), requestIn("user"))))
	r := p.report(folder.Export)
	p.want("the export", words(r), "1 created, 2 refused")
	entries, err := os.ReadDir(outside)
	must(t, err)
	if data, _ := os.ReadFile(filepath.Join(outside, "k.md")); len(entries) != 1 || string(data) != "mine" || r.Index.Outcome != "refused" || w.ID == "" {
		t.Errorf("outside are %v, %q; the index %+v", entries, data, r.Index)
	}
}

// Names that are no UTF-8, and names that some systems read otherwise, are reported as
// text that can be shown.
func TestNamesOfBytes(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "a")
	for _, name := range []string{"\xff\xfe.md", "line\nfeed.md", "back\\slash.md", "nul .md ", "esc\x1b[31m.md", "\u202etxt.md", "con.md", "dot..md"} {
		if err := os.WriteFile(p.at(name), []byte(p.read("a.md")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := p.report(folder.Import)
	if r.Created != 1 || r.Refused < 6 {
		t.Errorf("the import: %s", words(r))
	}
	for _, e := range r.Files {
		if !utf8.ValidString(e.File) {
			t.Errorf("%q cannot be shown", e.File)
		}
	}
}

// What cannot be read or written is reported, with what there is to do as far as it
// can be done.
func TestPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	p := newPlace(t, nil)
	p.note("a.md", "a", "a")
	p.note("closed.md", "closed", "closed")
	p.note("shut/b.md", "b", "b")
	must(t, os.Chmod(p.at("closed.md"), 0))
	must(t, os.Chmod(p.at("shut"), 0))
	p.keep("k", "k")
	r := p.report(folder.Import)
	p.want("the import", words(r), "1 created, 2 refused")
	if e := entry(t, r, "closed.md"); !strings.Contains(e.Reason, "may not") {
		t.Errorf("it says %+v", e)
	}
	must(t, os.Chmod(p.o.Dir, 0o500))
	defer os.Chmod(p.o.Dir, 0o700)
	p.want("an import from a folder that cannot be written", p.did(folder.Import), "1 unchanged, 2 refused")
	r = p.report(folder.Export)
	p.want("an export into it", words(r), "4 refused")
	if e := entry(t, r, "k.md"); !strings.Contains(e.Reason, "may not") || strings.Contains(p.read("a.md"), "syncHash") {
		t.Errorf("it says %+v of %q", e, p.read("a.md"))
	}
	must(t, os.Chmod(p.o.Dir, 0o700))
	must(t, os.Chmod(p.at("closed.md"), 0o600))
	must(t, os.Chmod(p.at("shut"), 0o700))
	p.want("with permission", p.did(folder.Sync), "3 created, 1 unchanged")
}

// asNobody runs the test once more as a user whom permissions hold.
func asNobody(t *testing.T) {
	t.Helper()
	const nobody = 65534
	dir := t.TempDir()
	binary := filepath.Join(dir, "test")
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		must(t, os.Chmod(up, 0o755))
	}
	self, err := os.Executable()
	must(t, err)
	data, err := os.ReadFile(self)
	must(t, err)
	must(t, os.WriteFile(binary, data, 0o755))
	must(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o777))
	must(t, os.Chown(filepath.Join(dir, "tmp"), nobody, nobody))
	cmd := exec.Command(binary, "-test.run=^"+t.Name()+"$")
	cmd.Dir = filepath.Join(dir, "tmp")
	cmd.Env = []string{"TMPDIR=" + cmd.Dir, "PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

// A disk that is full leaves every file whole, and nothing beside it. It is a limit of the
// process, which go test would run into as well with what it notes of a test: so this runs
// in one of its own.
func TestFullDisk(t *testing.T) {
	const alone = "MEMD_TEST_ALONE"
	if os.Getenv(alone) == "" {
		self, err := os.Executable()
		must(t, err)
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("alone: %v\n%s", err, out)
		}
		return
	}
	p := newPlace(t, nil)
	p.keep("old", "first")
	p.did(folder.Export)
	before := p.all()
	p.keep("old", "second")
	p.keep("new", "new")
	limit := func(n uint64) {
		var r syscall.Rlimit
		must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &r))
		r.Cur = min(n, r.Max)
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &r))
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	defer limit(1<<63 - 1)
	p.once("list", func() { limit(40) }) // what the export writes is files alone
	r := p.report(folder.Export)
	limit(1<<63 - 1)
	p.want("the export", words(r), "2 refused")
	if e := entry(t, r, "new.md"); e.Reason == "" {
		t.Errorf("it says %+v", e)
	}
	if !maps.Equal(before, p.all()) {
		t.Errorf("%v became %v", before, p.all())
	}
	p.want("with room", p.did(folder.Export), "1 created, 1 updated")
}
