package store_test

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// tear leaves a database as a process does that dies in the middle of a commit
// to it: some of its pages are new, and the journal holds the old ones. While
// another reads, no page is written: then it is tried again.
func tear(t *testing.T, path string) {
	t.Helper()
	before := memtest.ReadFile(t, path)
	for range 200 {
		dieChanging(t, path)
		journal, err := os.ReadFile(path + "-journal")
		if err == nil && len(journal) > 0 && journal[0] != 0 && !bytes.Equal(memtest.ReadFile(t, path), before) {
			return
		}
	}
	t.Fatal("nothing is torn: the test shows nothing")
}

// dieChanging kills a shell that has changed more pages than it keeps in memory.
func dieChanging(t *testing.T, path string) {
	t.Helper()
	cmd := exec.Command(shellPath(t), "-batch", path)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = io.WriteString(in, `PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;
UPDATE long SET summary = 'torn ' || summary; UPDATE short SET summary = 'torn ' || summary; UPDATE meta SET updated_at = 'torn';
SELECT 'changed';
`)
	must(t, err)
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "changed"); {
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// A commit to one file that was cut short in its middle is undone by the next
// start, which then does all that a start does: by the active database, which
// has a journal while it leaves its log or takes one up, and by a historical
// one.
func TestOpenTorn(t *testing.T) {
	base := t.TempDir()
	aged(t, base)
	want := truth(t, base)
	for i, path := range append([]string{filepath.Join(base, store.ActiveName)}, historyFiles(t, base)...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(base)))
			path := filepath.Join(dir, strings.TrimPrefix(path, base))
			if i == 0 {
				shellOn(t, path, `PRAGMA journal_mode = DELETE`)
			}
			tear(t, path)
			var log strings.Builder
			s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now,
				Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
			must(t, err)
			must(t, s.Close())
			if log.Len() > 0 {
				t.Errorf("the start logs\n%s", log.String())
			}
			if got := intact(t, dir, nil); got != want {
				t.Errorf("the store holds\n%s\nwant\n%s", got, want)
			}
			onlyParts(t, dir)
		})
	}
}

// A shell that dies in the middle of its commit to a historical database does
// not take that from the readers of a running daemon.
func TestReadTorn(t *testing.T) {
	dir := t.TempDir()
	aged(t, dir)
	want := liveIn(truth(t, dir))
	s := memtest.Store(t, dir, nil, nil)
	must(t, makingRoom(ctx, s))
	tear(t, historyFiles(t, dir)[0])
	if got := served(t, s); got != want {
		t.Errorf("it serves\n%s\nwant\n%s", got, want)
	}
}
