package store_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// openShell is a stock shell at work on a database until it is left.
type openShell struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// leaveOpen starts a shell on a database of dir.
func leaveOpen(t *testing.T, dir, name string) *openShell {
	t.Helper()
	s := &openShell{t: t, cmd: exec.Command(shellPath(t), "-batch", filepath.Join(dir, name))}
	var err error
	s.in, err = s.cmd.StdinPipe()
	must(t, err)
	out, err := s.cmd.StdoutPipe()
	must(t, err)
	s.cmd.Stderr = s.cmd.Stdout
	s.out = bufio.NewReader(out)
	must(t, s.cmd.Start())
	t.Cleanup(s.leave)
	return s
}

// ask runs SQL and returns what the shell prints, errors as well.
func (s *openShell) ask(sql string) string {
	s.t.Helper()
	const end = "-- answered"
	_, err := io.WriteString(s.in, sql+"\n.print "+end+"\n")
	must(s.t, err)
	var printed []string
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the shell left: %v after %q", err, printed)
		}
		if line = strings.TrimSpace(line); line == end {
			return strings.Join(printed, "\n")
		}
		printed = append(printed, line)
	}
}

// leave closes the shell.
func (s *openShell) leave() {
	if s.cmd.ProcessState == nil {
		s.in.Close()
		_ = s.cmd.Wait() // it exits as its last statements did
	}
}

// filling is a store under the smallest budget, and the rows put into it.
type filling struct {
	t     *testing.T
	s     *store.Set
	clock *memtest.Clock
	rows  []memd.Memory
}

const fillBytes = 512 << 10

func newFilling(t *testing.T) *filling {
	clock := memtest.NewClock()
	s := memtest.Store(t, "", clock, func(b *configs.Budgets) { b.ActiveBytes = fillBytes })
	return &filling{t: t, s: s, clock: clock}
}

// add writes one row of 8 KiB and waits for what the writer does after it.
func (c *filling) add() memd.Memory {
	c.t.Helper()
	m := row(memd.Short, len(c.rows)+1, "")
	m.Summary = "a row named " + nameOf(m)
	m.RawContent = strings.Repeat(fmt.Sprint("text ", len(c.rows), " "), 1200)[:8<<10]
	put(c.t, c.s, m)
	c.rows = append(c.rows, m)
	write(c.t, c.s, func(*store.Tx) error { return nil })
	return m
}

// nameOf is a word that one row alone has.
func nameOf(m memd.Memory) string { return "filler" + m.ID[len(m.ID)-4:] }

func (c *filling) stats() store.Stats {
	c.t.Helper()
	st, err := c.s.Stats(ctx)
	must(c.t, err)
	return st
}

// fill adds rows until the active database holds more than want bytes, or has
// rolled over.
func (c *filling) fill(want int64) {
	c.t.Helper()
	for n := 0; ; n++ {
		if st := c.stats(); st.Databases[0].UsedBytes > want || len(st.Databases) > 1 {
			return
		}
		if n > 500 {
			c.t.Fatal("the database does not fill")
		}
		c.add()
	}
}

// whole wants every row that was put, and none else, once over all databases.
func (c *filling) whole(except ...string) {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.s.Dir(), store.HistoryDir, "*.db"))
	must(c.t, err)
	var have, want []string
	for _, file := range append(files, filepath.Join(c.s.Dir(), store.ActiveName)) {
		out, err := exec.Command(shellPath(c.t), "-batch", file, "SELECT id FROM memory").CombinedOutput()
		must(c.t, err)
		have = append(have, strings.Fields(string(out))...)
	}
	for _, m := range c.rows {
		if slices.Contains(except, m.ID) {
			continue
		}
		want = append(want, m.ID)
		if got, ok := get(c.t, c.s, m.ID); !ok || got.RawContent != m.RawContent {
			c.t.Errorf("%s is lost or another", m.ID)
		}
		finds(c.t, c.s, memd.Short, nameOf(m), m)
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		c.t.Errorf("%d rows on disk, want %d", len(have), len(want))
	}
	healthy(c.t, c.s)
}

// What a shell that is left open may be at.
var idling = []struct{ name, sql string }{
	{"idle after a read", `SELECT count(*) > 0 FROM meta;`},
	{"in a transaction that has read", `BEGIN; SELECT count(*) > 0 FROM meta;`},
	{"just started", `SELECT 1;`}, // which opens the file and reads nothing
	{"in a transaction that has not begun to read", `SELECT count(*) > 0 FROM meta; BEGIN;`},
}

// A shell left open defers a rollover; once it is closed the rollover happens
// by itself.
func TestShellLeftOpenDefersARollover(t *testing.T) {
	for _, at := range idling {
		t.Run(at.name, func(t *testing.T) {
			c := newFilling(t)
			c.add()
			shell := leaveOpen(t, c.s.Dir(), store.ActiveName)
			if got := shell.ask(at.sql); got != "1" {
				t.Fatalf("the shell says %s", got)
			}
			c.fill(fillBytes)
			c.add()
			st := c.stats()
			if len(st.Databases) != 1 || !st.RolloverDeferred || !strings.Contains(st.RolloverReason, "another program") || st.Databases[0].WALBytes == 0 {
				t.Fatalf("stats %+v", st)
			}
			c.whole() // reads and writes go on
			kept := c.add()
			shell.ask(`COMMIT;`) // an error where none is open
			if got := shell.ask(`UPDATE short SET importance = 9 WHERE id = '` + kept.ID + `'; SELECT changes();`); got != "1" {
				t.Errorf("the shell's own write: %s", got)
			}
			shell.leave()
			c.clock.Advance(10 * time.Second)
			c.add()
			st = c.stats()
			if len(st.Databases) != 2 || st.RolloverDeferred || st.RolloverReason != "" {
				t.Errorf("after the shell has left: %+v", st)
			}
			if got, _ := get(t, c.s, kept.ID); got.Importance != 9 {
				t.Errorf("what the shell wrote is lost: importance %d", got.Importance)
			}
			c.whole()
		})
	}
}

// At one and a half times the budget rows are copied out, with the shell still
// there, which then meets none of them.
func TestShellLeftOpenAtHalfAsMuchAgain(t *testing.T) {
	for _, at := range idling {
		t.Run(at.name, func(t *testing.T) {
			c := newFilling(t)
			first := c.add()
			shell := leaveOpen(t, c.s.Dir(), store.ActiveName)
			shell.ask(at.sql)
			c.fill(2 * fillBytes)
			st := c.stats()
			if len(st.Databases) != 2 || st.RolloverDeferred || st.Databases[1].State != "sealed" {
				t.Fatalf("stats %+v", st)
			}
			c.whole()
			if strings.Contains(at.name, "has read") {
				// It still sees the rows as they were, and may not write from there.
				if got := shell.ask(`DELETE FROM short WHERE id = '` + first.ID + `';`); !strings.Contains(got, "locked") {
					t.Errorf("a write from an old reading: %s", got)
				}
			}
			shell.ask(`COMMIT;`)
			for _, sql := range []string{`UPDATE short SET importance = 1`, `DELETE FROM short`} {
				if got := shell.ask(sql + ` WHERE id = '` + first.ID + `'; SELECT changes();`); got != "0" {
					t.Errorf("%s of a row that has moved changes %s rows", sql, got)
				}
			}
			if got, ok := get(t, c.s, first.ID); !ok || got.Importance != first.Importance {
				t.Errorf("the row that moved is %+v", got)
			}
			fresh, doomed := c.add(), c.add()
			if got := shell.ask(`UPDATE short SET importance = 9 WHERE id = '` + fresh.ID + `'; SELECT changes();
DELETE FROM short WHERE id = '` + doomed.ID + `'; SELECT changes();`); got != "1\n1" {
				t.Errorf("rows that came since: %s", got)
			}
			if got, _ := get(t, c.s, fresh.ID); got.Importance != 9 {
				t.Errorf("importance %d", got.Importance)
			}
			c.whole(doomed.ID)
			shell.leave()
			c.whole(doomed.ID)
		})
	}
}

// A shell that holds a historical database fails only the writes that concern
// that one.
func TestShellHoldsAHistoricalDatabase(t *testing.T) {
	for _, at := range []struct{ name, sql string }{
		{"writing", `BEGIN IMMEDIATE;`},
		{"reading", `BEGIN; SELECT count(*) FROM short;`},
	} {
		t.Run(at.name, func(t *testing.T) {
			s := memtest.Store(t, "", nil, nil)
			held, other, fresh := row(memd.Short, 1, "kumquat"), row(memd.Short, 2, "quince"), row(memd.Short, 3, "medlar")
			put(t, s, held)
			r := roll(t, s)
			put(t, s, other)
			roll(t, s)
			put(t, s, fresh)
			shell := leaveOpen(t, s.Dir(), r.File)
			shell.ask(at.sql)
			weigh := func(id string, n int) error {
				return s.Update(ctx, func(tx *store.Tx) error {
					m, ok, err := tx.Get(id)
					if err != nil || !ok {
						return fmt.Errorf("%s: %v, %w", id, ok, err)
					}
					m.Importance = n
					return tx.UpdateMeta(&m)
				})
			}
			codeIs(t, weigh(held.ID, 9), memd.CodeStoreBusy)
			// Together with others, which are none the worse.
			errs := make(chan error)
			var bad int
			for n := range 12 {
				go func() { errs <- weigh([]string{held.ID, other.ID, fresh.ID}[n%3], 8) }()
			}
			for range 12 {
				if err := <-errs; err != nil {
					codeIs(t, err, memd.CodeStoreBusy)
					bad++
				}
			}
			if bad != 4 {
				t.Errorf("%d writes failed, want the 4 that concern the held file", bad)
			}
			for _, m := range []memd.Memory{held, other, fresh} {
				want := 8
				if m.ID == held.ID {
					want = m.Importance
				}
				if got, ok := get(t, s, m.ID); !ok || got.Importance != want {
					t.Errorf("%s has importance %d, want %d", m.Summary, got.Importance, want)
				}
				finds(t, s, memd.Short, m.Summary, m)
			}
			shell.ask(`COMMIT;`)
			must(t, weigh(held.ID, 7))
			if got, _ := get(t, s, held.ID); got.Importance != 7 {
				t.Errorf("importance %d", got.Importance)
			}
		})
	}
}

// What is forgotten in a file that a shell holds is dead at once, and leaves
// the file when the shell has gone.
func TestForgetWhileAShellHoldsTheFile(t *testing.T) {
	dir := t.TempDir()
	s := memtest.Store(t, dir, nil, nil)
	m := row(memd.Short, 1, "to be forgotten")
	put(t, s, m, row(memd.Short, 2, "beside it"))
	r := roll(t, s)
	shell := leaveOpen(t, dir, r.File)
	shell.ask(`BEGIN IMMEDIATE;`)
	write(t, s, func(tx *store.Tx) error {
		got, ok, err := tx.Get(m.ID)
		if err != nil || !ok {
			return fmt.Errorf("%v, %w", ok, err)
		}
		return tx.Bury(&got, got.UpdatedAt)
	})
	dead := func() {
		t.Helper()
		if _, ok := get(t, s, m.ID); ok {
			t.Error("it is read")
		}
		finds(t, s, memd.Short, "forgotten")
	}
	dead()
	if got := shell.ask(`COMMIT; SELECT count(*) FROM short WHERE id = '` + m.ID + `';`); got != "1" {
		t.Fatalf("the file was not held: %s rows", got)
	}
	dead()
	if _, err := s.Settle(ctx, true); err != nil {
		t.Fatal(err)
	}
	if got := shell.ask(`SELECT count(*) FROM short;`); got != "1" {
		t.Errorf("%s rows in the file, want 1", got)
	}
	dead()
}
