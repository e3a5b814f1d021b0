package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// screen is a pseudo-terminal and what was written to it.
type screen struct {
	mu    sync.Mutex
	shown bytes.Buffer
	tty   *os.File
	done  chan struct{} // closed when the last program has let go of it
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system has no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{done: make(chan struct{})}
	if s.tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skip("this system has no pseudo-terminals: ", err)
	}
	go func() {
		defer close(s.done)
		_, _ = io.Copy(s, master) // ends in EIO
	}()
	return s
}

// Write takes what is shown.
func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.Write(text)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// On a terminal a groom shows the pass under way, in one line that is gone
// afterwards; with --json it shows nothing.
func TestGroomProgress(t *testing.T) {
	for _, args := range [][]string{{"groom", "--light"}, {"groom", "--light", "--json"}} {
		b := newBox(t)
		d := b.serve()
		s := newScreen(t)
		release := b.hold()
		cmd := b.command(args...)
		cmd.Stderr = s.tty
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = s.tty.Close()
		json := args[len(args)-1] == "--json"
		eventually(t, "the groom is under way", func() bool { return b.grooms().Running != nil })
		if !json {
			eventually(t, "the terminal shows it", func() bool { return strings.Contains(s.text(), "groom: vacuum") })
		}
		release()
		_ = cmd.Wait() // 1 where the shell had the database for too long
		<-s.done
		got := s.text()
		if json && strings.Contains(got, "groom:") {
			t.Errorf("with --json: %q", got)
		}
		last, _, cleared := strings.Cut(got[strings.LastIndex(got, "groom: ")+1:], clearLine)
		if !json && (!strings.HasPrefix(got, clearLine+"groom: ") || !cleared || strings.Contains(last, "\n")) {
			t.Errorf("%q", got)
		}
		d.stop()
	}
}
