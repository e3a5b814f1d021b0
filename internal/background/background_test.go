//go:build unix

package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"memd"
	"memd/internal/dirlock"
)

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// The daemons of these tests are this program with an argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		os.Exit(serve(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == "exit" {
		fmt.Fprintln(os.Stderr, "this daemon does not start")
		code, _ := strconv.Atoi(os.Args[2])
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

// serve tells its pid to whoever connects, until it is killed.
func serve(dir string) int {
	lock, err := dirlock.Acquire(context.Background(), dir, 0, dirlock.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return memd.CodeOf(err).Statuses().Exit
	}
	defer lock.Release()
	socket := filepath.Join(dir, dirlock.SocketName)
	_ = os.Remove(socket)
	l, err := net.Listen("unix", socket)
	if err != nil {
		return 1
	}
	fmt.Println("listens")
	for {
		conn, err := l.Accept()
		if err != nil {
			return 1
		}
		fmt.Fprint(conn, os.Getpid())
		_ = conn.Close()
	}
}

// folder is a short path to a data folder that is not there yet. When the test ends
// every daemon that it started on it has ended.
func folder(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "memd")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "d")
	t.Cleanup(func() {
		for deadline := time.Now().Add(patience); goleak.Find() != nil; { // one that lost a race may come late
			if pid, held, _ := dirlock.Holder(dir); held && pid > 0 && pid != os.Getpid() {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
			if time.Now().After(deadline) {
				t.Error("a daemon does not end")
				break
			}
		}
		_ = os.RemoveAll(home)
	})
	return dir
}

// kill ends the daemon on dir at once, and waits until the folder is free.
func kill(t *testing.T, dir string, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	free, err := dirlock.Acquire(t.Context(), dir, patience, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := free.Release(); err != nil {
		t.Fatal(err)
	}
}

// of is the daemon of these tests on dir.
func of(t *testing.T, dir string) *Daemon {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Dir: dir, Command: []string{self, "serve", dir}, Wait: patience})
}

// pid connects to the daemon and returns what it says.
func pid(t *testing.T, d *Daemon) int {
	t.Helper()
	conn, err := d.Dial(t.Context())
	if err != nil {
		t.Error(err)
		return 0
	}
	defer conn.Close()
	said, err := io.ReadAll(conn)
	n, _ := strconv.Atoi(string(said))
	if err != nil || n == 0 {
		t.Errorf("the daemon says %q, %v", said, err)
	}
	return n
}

func TestDialStarts(t *testing.T) {
	dir := folder(t)
	d := of(t, dir)
	first := pid(t, d)
	if again := pid(t, d); again != first {
		t.Errorf("process %d answers, then %d", first, again)
	}
	if session, err := unix.Getsid(first); err != nil || session != first {
		t.Errorf("the daemon is in session %d, %v, want one of its own, %d", session, err, first)
	}
	path := filepath.Join(dir, LogName)
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "listens\n" {
		t.Errorf("the log says %q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the log has mode %v, %v", info.Mode(), err)
	}
	kill(t, dir, first)
	if again := pid(t, d); again == first {
		t.Errorf("process %d answers, which was killed", again)
	}
}

// Of those who race each speaks to the same daemon.
func TestDialRaces(t *testing.T) {
	dir := folder(t)
	var racing sync.WaitGroup
	pids := make([]int, 16)
	daemons := [8]*Daemon{}
	for i := range daemons {
		daemons[i] = of(t, dir)
	}
	for i := range pids { // two at a time of each
		racing.Go(func() { pids[i] = pid(t, daemons[i%len(daemons)]) })
	}
	racing.Wait()
	for _, pid := range pids {
		if pid != pids[0] {
			t.Fatalf("more than one daemon answers: %d", pids)
		}
	}
}

func TestDialFails(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{self, "exit", "1"}, {self, "exit", "2"}, {filepath.Join(t.TempDir(), "nothing")}} {
		dir := folder(t)
		_, err := New(Options{Dir: dir, Command: command, Wait: time.Hour}).Dial(t.Context())
		e, ok := errors.AsType[*memd.Error](err)
		if !ok || e.Code != memd.CodeStoreFailed || !strings.Contains(e.Hint, filepath.Join(dir, LogName)) {
			t.Errorf("%q: %v, want a failure that names the log", command[1:], err)
		}
	}

	dir := folder(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d := of(t, dir)
	if err := os.Symlink("elsewhere", filepath.Join(dir, LogName)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Dial(t.Context()); memd.CodeOf(err) != memd.CodeStoreFailed {
		t.Errorf("a link in place of the log: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link was followed: %v", err)
	}

	thesis := t.TempDir() // a folder of something else is not taken
	if err := errors.Join(os.WriteFile(filepath.Join(thesis, "thesis.odt"), nil, 0o600), os.Chmod(thesis, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := of(t, thesis).Dial(t.Context()); memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("a folder of somebody else's: %v", err)
	}
	if entries, err := os.ReadDir(thesis); len(entries) != 1 || err != nil {
		t.Errorf("it holds %v, %v now", entries, err)
	}
}

// Without a command none is started, and one that runs is spoken to.
func TestDialStartsNone(t *testing.T) {
	dir := folder(t)
	d := of(t, dir)
	none := New(Options{Dir: dir})
	if _, err := none.Dial(t.Context()); memd.CodeOf(err) != memd.CodeStoreBusy || !strings.Contains(err.(*memd.Error).Hint, "memd serve") {
		t.Errorf("without a daemon: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	if pid(t, d) != pid(t, none) {
		t.Error("another daemon answers")
	}
}

// A folder that another process has is waited for, as long as may be.
func TestDialWaits(t *testing.T) {
	dir := folder(t)
	lock, err := dirlock.Acquire(t.Context(), dir, 0, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := of(t, dir)
	d.Wait = 100 * time.Millisecond
	if _, err := d.Dial(t.Context()); memd.CodeOf(err) != memd.CodeStoreBusy || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a held folder: %v, want store_busy that names the holder", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
	d.Wait = patience
	var waiting sync.WaitGroup
	waiting.Go(func() { pid(t, d) })
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	waiting.Wait()
}

func TestLogIsPutAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LogName)
	write := func(text string) {
		t.Helper()
		f, err := openLog(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	full := strings.Repeat("x", maxLog)
	for _, old := range []string{"", "older than that"} {
		if err := os.WriteFile(path+".1", []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path)
		write(full)
		write("y") // as large as it may be, it goes on
		write("new")
		for name, want := range map[string]string{path: "new", path + ".1": full + "y"} {
			if text, err := os.ReadFile(name); err != nil || string(text) != want {
				t.Errorf("%s has %d bytes, want %d (%v)", name, len(text), len(want), err)
			}
		}
	}
}
