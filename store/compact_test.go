package store_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
)

// rolledOver is a store whose only historical database holds n short rows.
func rolledOver(t testing.TB, n, size int) (s *store.Set, path string, rows []memd.Memory) {
	t.Helper()
	s = under(t, "", func(b *configs.Budgets) { b.ActiveBytes = 100 << 20 })
	for i := range n {
		rows = append(rows, row(memd.Short, i, fmt.Sprintf("numbered%dx ", i)+textOf(i, size)))
	}
	put(t, s, rows...)
	r := roll(t, s)
	return s, filepath.Join(s.Dir(), r.File), rows
}

// deleteRows deletes rows wherever they stand.
func deleteRows(t testing.TB, s *store.Set, rows []memd.Memory) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		for _, m := range rows {
			if _, _, err := tx.Get(m.ID); err != nil { // which tells where it stands
				return err
			}
			if ok, err := tx.Delete(m.Tier, m.ID); !ok || err != nil {
				t.Errorf("delete %s: %v, %v", m.ID, ok, err)
			}
		}
		return nil
	})
}

// What is deleted from a historical database, by memd or by hand, leaves its
// file with the next settling, and gives its space back; the catalogue follows.
func TestSettleHistory(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		for _, c := range []struct{ rows, size int }{{200, 4000}, {700, 9000}} { // in one turn, and in several
			if byHand && c.rows > 200 {
				continue
			}
			t.Run(fmt.Sprint(byHand, c.rows), func(t *testing.T) {
				s, path, rows := rolledOver(t, c.rows, c.size)
				_, err := s.Settle(ctx, true)
				must(t, err)
				full := size(t, path)
				gone := rows[:len(rows)*9/10]
				if byHand {
					shellFile(t, path, `DELETE FROM short WHERE id <= '`+gone[len(gone)-1].ID+`'`)
				} else {
					deleteRows(t, s, gone)
				}
				done, err := s.Settle(ctx, false)
				must(t, err)
				if now := size(t, path); now > full/4 || done.Bytes < full-now {
					t.Errorf("the file went from %d to %d bytes; Settle says it freed %d", full, now, done.Bytes)
				}
				for _, n := range []int{0, len(gone) / 2, len(gone) - 1} {
					if files := holding(t, s.Dir(), fmt.Sprintf("numbered%dx", n)); len(files) > 0 {
						t.Errorf("a deleted word is still in %q", files)
					}
				}
				if got := shell(t, s.Dir(), `SELECT bytes || ' ' || short FROM history`); got != fmt.Sprint(size(t, path), " ", len(rows)-len(gone)) {
					t.Errorf("the catalogue says %q", got)
				}
				before := digest(t, path)
				if again, err := s.Settle(ctx, true); again.Bytes != 0 || err != nil || digest(t, path) != before {
					t.Errorf("a second Settle freed %d, %v, or changed the file", again.Bytes, err)
				}
				finds(t, s, memd.Short, fmt.Sprintf("numbered%dx", len(rows)-1), rows[len(rows)-1])
			})
		}
	}
}

// Compact gives space back that deletes left, also those by hand, and leaves a
// database like any other: whole, closed to others, with incremental vacuum.
func TestCompact(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		s, path, rows := rolledOver(t, 300, 3000)
		full := size(t, path)
		gone := rows[:270]
		if byHand {
			shellFile(t, path, `DELETE FROM short WHERE id <= '`+gone[len(gone)-1].ID+`'`)
		} else {
			deleteRows(t, s, gone)
		}
		done, err := s.Compact(ctx)
		must(t, err)
		f := done.Files[1]
		if f.Skipped != "" || f.Before < full || f.After != size(t, path) || f.After > full/4 {
			t.Errorf("by hand %v: %+v, the file has %d bytes", byHand, f, size(t, path))
		}
		if files := holding(t, s.Dir(), "numbered7x"); len(files) > 0 {
			t.Errorf("a deleted word is still in %q", files)
		}
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("its mode is %v", info.Mode())
		}
		if got := shellFile(t, path, `PRAGMA auto_vacuum; PRAGMA journal_mode; PRAGMA application_id; PRAGMA integrity_check; SELECT count(*) FROM short`); got != "2\ndelete\n1835363684\nok\n30" {
			t.Errorf("the shell says %q", got)
		}
		deleteRows(t, s, rows[270:280]) // it changes and gives back as before
		before := size(t, path)
		_, err = s.Settle(ctx, false)
		must(t, err)
		if now := size(t, path); now >= before {
			t.Errorf("after a compaction deletes leave %d of %d bytes", now, before)
		}
		finds(t, s, memd.Short, "numbered299x", rows[299])
	}
}

// A database that cannot be compacted is left as it was and says why, and the
// others are compacted.
func TestCompactSkips(t *testing.T) {
	s, path, rows := rolledOver(t, 30, 1000)
	put(t, s, row(memd.Short, 1000, "another"))
	roll(t, s)
	deleteRows(t, s, rows[:20])
	compact := func(reason string, other bool) {
		t.Helper()
		before := digest(t, path)
		done, err := s.Compact(ctx)
		must(t, err)
		if len(done.Files) != 3 {
			t.Fatalf("%+v", done)
		}
		for _, f := range done.Files[1:] {
			here := f.File == store.HistoryDir+"/"+filepath.Base(path)
			if here && (!strings.Contains(f.Skipped, reason) || f.Skipped == "" || f.Before != f.After) || !here && (f.Skipped == "") != other {
				t.Errorf("want %q, is %+v", reason, f)
			}
		}
		if digest(t, path) != before {
			t.Error("the database that was left out was changed")
		}
		for _, name := range names(t, s.Dir()) {
			if strings.HasSuffix(name, ".compact") {
				t.Errorf("%s is left", name)
			}
		}
	}
	s.SetFreeSpace(1000)
	compact("this needs", false)
	s.SetFreeSpace(1 << 40)
	shellWhile(t, path, "BEGIN IMMEDIATE;", func() { compact("another program", true) })
	done, err := s.Compact(ctx)
	must(t, err)
	for _, f := range done.Files {
		if f.Skipped != "" {
			t.Errorf("%+v", f)
		}
	}
}

// shellWhile runs fn while a shell that has begun with sql has a database open.
func shellWhile(t testing.TB, path, sql string, fn func()) {
	t.Helper()
	cmd := exec.Command(shellPath(t), "-batch", path)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	fmt.Fprintln(in, sql, "SELECT 'held';")
	if _, err := fmt.Fscanln(out, new(string)); err != nil {
		t.Fatal(err)
	}
	fn()
	must(t, in.Close())
	must(t, cmd.Wait())
}
