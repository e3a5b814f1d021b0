package store_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// holding names the files below dir that hold text, in the form of the row or
// in that of an index term, whose first characters an index shares with the
// term before it.
func holding(t testing.TB, dir, text string) []string {
	t.Helper()
	wanted := [][]byte{[]byte(text), []byte(strings.ToLower(text))[len(text)/4:]}
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b := memtest.ReadFile(t, path)
		for _, w := range wanted {
			if bytes.Contains(b, w) {
				found = append(found, filepath.Base(path))
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Once a row was deleted and the store has settled, its words are in no file:
// not in the row, not in the index, not in the log.
func TestSettleLeavesNothing(t *testing.T) {
	for _, rest := range []int{0, 40} { // rows that stay beside it
		t.Run(fmt.Sprint(rest, " others"), func(t *testing.T) {
			s := memtest.Store(t, "", nil, nil)
			for n := range rest {
				put(t, s, row(memd.Tier([]memd.Tier{memd.Short, memd.Archive}[n%2]), n, fmt.Sprintf("another row %d with xylo words 别的内容", n)))
			}
			secrets := []string{"Xylophonequark77", "zanzibarfluke88", "翡翠鸟的巢穴在河边", "whyvortexes99", "howlandrover66", "tagwombatter55", "ownerquokka44"}
			var gone []memd.Memory
			for n, tier := range []memd.Tier{memd.Short, memd.Long, memd.Archive, memd.Transient} {
				m := row(tier, 500+n, "the "+secrets[0]+" and "+secrets[2])
				m.RawContent = strings.Repeat("padding ", 2000) + secrets[1] // on overflow pages
				m.Why, m.HowToApply, m.Owner, m.Tags = secrets[3], secrets[4], secrets[6], []string{secrets[5]}
				put(t, s, m)
				gone = append(gone, m)
			}
			for _, secret := range secrets {
				if len(holding(t, s.Dir(), secret)) == 0 {
					t.Fatalf("%q is nowhere before the delete: the test shows nothing", secret)
				}
			}
			write(t, s, func(tx *store.Tx) error {
				for _, m := range gone {
					if ok, err := tx.Delete(m.Tier, m.ID); !ok || err != nil {
						t.Errorf("delete from %s: %v, %v", m.Tier, ok, err)
					}
				}
				return nil
			})
			if _, err := s.Settle(ctx, true); err != nil {
				t.Fatal(err)
			}
			for _, secret := range secrets {
				if files := holding(t, s.Dir(), secret); len(files) > 0 {
					t.Errorf("%q is still in %q", secret, files)
				}
			}
			finds(t, s, memd.Short, secrets[0])
			if rest > 0 && len(find(t, s, memd.Short, "another")) != rest/2 {
				t.Error("the rows beside it were lost")
			}
		})
	}
}

// Whoever asked for it may go away at any moment: it is carried through, and
// leaves the writer's settings as they were.
func TestSettleIsWholeWhenCancelled(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	for n := range 20 {
		put(t, s, row(memd.Short, n, fmt.Sprintf("row %d that stays", n)))
	}
	for n := range 60 { // how many looks at the context it may take
		m := row(memd.Short, 100+n, fmt.Sprintf("the secret zanzibarfluke%dx", n))
		put(t, s, m)
		write(t, s, func(tx *store.Tx) error { _, err := tx.Delete(memd.Short, m.ID); return err })
		f := newFuse(n)
		_, err := s.Settle(f, true)
		f.cancel()
		if err != nil {
			t.Errorf("cancelled after %d looks: %v", n, err)
		}
		if wal := size(t, filepath.Join(s.Dir(), store.ActiveName)+"-wal"); wal != 0 {
			t.Errorf("cancelled after %d looks: the log has %d bytes", n, wal)
		}
		if files := holding(t, s.Dir(), fmt.Sprintf("zanzibarfluke%dx", n)); len(files) > 0 {
			t.Errorf("cancelled after %d looks: the deleted words are in %q", n, files)
		}
		if ms, err := s.Pragma(ctx, "busy_timeout"); err != nil || ms != "5000" {
			t.Fatalf("cancelled after %d looks: busy_timeout %s, %v", n, ms, err)
		}
	}
}

// Deleted rows give their space back to the file system.
func TestSettleFreesSpace(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	var all []memd.Memory
	for n := range 300 {
		m := row(memd.Short, n, fmt.Sprintf("row %d %s", n, strings.Repeat("filling words ", 100)))
		all = append(all, m)
	}
	put(t, s, all...)
	if _, err := s.Settle(ctx, false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir(), store.ActiveName)
	full := size(t, path)
	write(t, s, func(tx *store.Tx) error {
		for _, m := range all[1:] {
			if _, err := tx.Delete(memd.Short, m.ID); err != nil {
				return err
			}
		}
		return nil
	})
	done, err := s.Settle(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	if now := size(t, path); now > full/2 || full-now > done.Bytes+64<<10 || done.Bytes <= 0 {
		t.Errorf("the file went from %d to %d bytes, Settle says it freed %d", full, now, done.Bytes)
	}
	if wal := size(t, path+"-wal"); wal != 0 {
		t.Errorf("the log has %d bytes after it was emptied", wal)
	}
	again, err := s.Settle(ctx, true)
	if again.Bytes != 0 || err != nil {
		t.Errorf("a second Settle freed %d, %v", again.Bytes, err)
	}
	finds(t, s, memd.Short, "filling", all[0])
}

func size(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
