package dirlock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"memd"
	"memd/internal/dirlock"
)

// holderVariable makes the test binary a holder of the folder it names.
const holderVariable = "DIRLOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holderVariable); dir != "" {
		hold(dir)
		return
	}
	os.Exit(m.Run())
}

// hold takes dir, says so, and leaves when its standard input ends.
func hold(dir string) {
	lock, err := dirlock.Acquire(context.Background(), dir, 0, dirlock.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := lock.Release(); err != nil {
		os.Exit(1)
	}
}

// holder is another process that has a folder.
type holder struct {
	*exec.Cmd
	stdin io.Closer
}

// startHolder returns once the process has the folder.
func startHolder(t *testing.T, dir string) holder {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderVariable+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	return holder{cmd, stdin}
}

func acquire(t *testing.T, dir string, wait time.Duration) *dirlock.Lock {
	t.Helper()
	lock, err := dirlock.Acquire(t.Context(), dir, wait, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	})
	return lock
}

func checkHolder(t *testing.T, dir string, pid int, held bool) {
	t.Helper()
	gotPID, gotHeld, err := dirlock.Holder(dir)
	if gotPID != pid || gotHeld != held || err != nil {
		t.Errorf("Holder = %d, %t, %v, want %d, %t", gotPID, gotHeld, err, pid, held)
	}
}

func checkMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != want {
		t.Errorf("mode of %s = %v, want %v", path, info.Mode(), want)
	}
}

func TestAcquireWritesPIDAndReleases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	checkHolder(t, dir, 0, false) // no folder
	lock := acquire(t, dir, 0)
	text, err := os.ReadFile(filepath.Join(dir, "memd.lock"))
	if want := fmt.Sprintln(os.Getpid()); err != nil || string(text) != want {
		t.Errorf("memd.lock = %q, %v, want %q", text, err, want)
	}
	checkHolder(t, dir, os.Getpid(), true)
	for range 2 { // the second does nothing
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
	checkHolder(t, dir, 0, false)
	acquire(t, dir, 0)
}

func TestSecondAcquireNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	other := startHolder(t, dir)
	start := time.Now()
	_, err := dirlock.Acquire(t.Context(), dir, 0, dirlock.Options{})
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("failed after %s, want at once", took)
	}
	held, ok := errors.AsType[*dirlock.HeldError](err)
	if !ok || held.PID != other.Process.Pid || held.Dir != dir {
		t.Fatalf("error = %#v, want a HeldError of %d on %s", err, other.Process.Pid, dir)
	}
	if want := fmt.Sprintf("%s is in use by process %d", dir, other.Process.Pid); err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
	if got := memd.CodeOf(err); got != memd.CodeStoreBusy {
		t.Errorf("code = %s, want %s", got, memd.CodeStoreBusy)
	}
	checkHolder(t, dir, other.Process.Pid, true)

	// The holder may have opened the folder to others, which is its own affair.
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	if _, err := dirlock.Acquire(t.Context(), dir, 0, dirlock.Options{}); err == nil {
		t.Fatal("a second holder")
	}
	checkMode(t, dir, fs.ModeDir|0o711)
}

func TestKilledHolderFreesTheLock(t *testing.T) {
	dir := t.TempDir()
	other := startHolder(t, dir)
	if err := other.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	checkHolder(t, dir, 0, false) // although its pid still stands in the file
	acquire(t, dir, 0)
	checkHolder(t, dir, os.Getpid(), true)
}

func TestAcquireWaitsForTheHolder(t *testing.T) {
	dir := t.TempDir()
	other := startHolder(t, dir)
	type result struct {
		lock *dirlock.Lock
		err  error
	}
	got := make(chan result)
	go func() {
		lock, err := dirlock.Acquire(t.Context(), dir, time.Minute, dirlock.Options{})
		got <- result{lock, err}
	}()
	select {
	case r := <-got:
		t.Fatalf("Acquire = %v, %v while the folder is held", r.lock, r.err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := other.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.err != nil {
		t.Fatal(r.err)
	}
	checkHolder(t, dir, os.Getpid(), true)
	if err := r.lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestAcquireGivesUp(t *testing.T) {
	dir := t.TempDir()
	acquire(t, dir, 0)

	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := dirlock.Acquire(t.Context(), dir, 5*time.Second, dirlock.Options{})
		if _, ok := errors.AsType[*dirlock.HeldError](err); !ok || time.Since(start) != 5*time.Second {
			t.Errorf("error = %v after %s, want a HeldError after 5s", err, time.Since(start))
		}
	})

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dirlock.Acquire(ctx, dir, time.Hour, dirlock.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

// Holder takes the lock for an instant. An Acquire that meets it there must
// not report a holder that does not exist.
func TestAcquireOutlastsALook(t *testing.T) {
	dir := t.TempDir()
	look, err := os.Create(filepath.Join(dir, "memd.lock"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if err := syscall.Flock(int(look.Fd()), syscall.LOCK_SH); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(30*time.Millisecond, func() { look.Close() })
		lock, err := dirlock.Acquire(t.Context(), dir, 0, dirlock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestModesUnderAnyUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		t.Run(fmt.Sprintf("%04o", umask), func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "share")
			dir := filepath.Join(parent, "memd")
			old := syscall.Umask(umask)
			lock, err := dirlock.Acquire(t.Context(), dir, 0, dirlock.Options{})
			syscall.Umask(old)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Release()
			checkMode(t, parent, fs.ModeDir|0o700)
			checkMode(t, dir, fs.ModeDir|0o700)
			checkMode(t, filepath.Join(dir, "memd.lock"), 0o600)
		})
	}
}

func TestExistingFolders(t *testing.T) {
	ours := t.TempDir()
	if err := os.Chmod(ours, 0o755); err != nil {
		t.Fatal(err)
	}
	acquire(t, ours, 0)
	checkMode(t, ours, fs.ModeDir|0o700)

	// Only an empty folder and one of memd's are taken for memd's own.
	for name, ok := range map[string]bool{
		"memd.lock": true, "agent_memory.db": true, "lost+found": true, "thesis.odt": false, "history": false, "token": false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		if ok {
			acquire(t, dir, 0)
			checkMode(t, dir, fs.ModeDir|0o700)
			continue
		}
		refused(t, dir, "holds other files and is open to other users (mode 0750)")
		checkMode(t, dir, fs.ModeDir|0o750)
		if _, err := os.Lstat(filepath.Join(dir, "memd.lock")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a refused folder got a lock file (%v)", err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		acquire(t, dir, 0) // what is closed to others may hold anything
	}

	everybodys := t.TempDir()
	if err := os.Chmod(everybodys, fs.ModeSticky|0o777); err != nil {
		t.Fatal(err)
	}
	refused(t, everybodys, "is shared by all users")
	checkMode(t, everybodys, fs.ModeDir|fs.ModeSticky|0o777)

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, file, "is not a folder")

	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	acquire(t, link, 0)
	checkHolder(t, real, os.Getpid(), true)
}

func TestLinkInPlaceOfTheLockFile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(target, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "memd.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := dirlock.Acquire(t.Context(), dir, 0, dirlock.Options{}); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("error = %v, want ELOOP", err)
	}
	if text, _ := os.ReadFile(target); string(text) != "kept" {
		t.Errorf("the link's target holds %q", text)
	}
}

// refused tries to take dir and wants a refusal of the request.
func refused(t *testing.T, dir, message string) {
	t.Helper()
	_, err := dirlock.Acquire(t.Context(), dir, 0, dirlock.Options{})
	e, ok := errors.AsType[*memd.Error](err)
	if !ok || e.Code != memd.CodeInvalidRequest || e.Field != "dir" || e.Hint == "" || !strings.Contains(e.Message, message) {
		t.Errorf("error = %v, want a hinted refusal that says %q", err, message)
	}
}

func TestCheckSocketPath(t *testing.T) {
	limit := 107
	if runtime.GOOS != "linux" {
		limit = 103 // of macOS and the BSDs
	}
	fits := "/" + strings.Repeat("a", limit-len("//memd.sock"))
	if err := dirlock.CheckSocketPath(fits); err != nil {
		t.Errorf("a socket path of %d bytes: %v", limit, err)
	}
	err := dirlock.CheckSocketPath(fits + "a")
	e, ok := errors.AsType[*memd.Error](err)
	if !ok || e.Code != memd.CodeInvalidRequest || e.Hint == "" ||
		!strings.HasSuffix(e.Message, fmt.Sprintf("has %d bytes, the limit is %d", limit+1, limit)) {
		t.Errorf("a socket path of %d bytes: %v", limit+1, err)
	}

	long := filepath.Join(t.TempDir(), strings.Repeat("b", 107))
	refused(t, long, fmt.Sprintf("the limit is %d", limit))
	if _, err := os.Stat(long); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the refused folder was created: %v", err)
	}
}
