package groom_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/store"
)

// leaveOpen starts a stock shell on a database below the folder, has it run SQL
// and leaves it open until closed.
func (h *house) leaveOpen(name, sql string) (closed func()) {
	h.t.Helper()
	cmd := exec.Command("sqlite3", "-batch", filepath.Join(h.dir, name))
	in, err := cmd.StdinPipe()
	h.must(err)
	out, err := cmd.StdoutPipe()
	h.must(err)
	h.must(cmd.Start())
	_, err = io.WriteString(in, sql+"\nSELECT 1;\n")
	h.must(err)
	_, err = bufio.NewReader(out).ReadString('\n')
	h.must(err)
	return func() {
		h.t.Helper()
		in.Close()
		h.must(cmd.Wait())
	}
}

// looks is a shell's reading.
const looks = `SELECT count(*) FROM meta;`

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// roll rolls over and wants a new historical database.
func (h *house) roll() store.Rolled {
	h.t.Helper()
	r, err := h.store.Rollover(context.Background())
	h.must(err)
	if !r.Rolled {
		h.t.Fatalf("rolled %+v", r)
	}
	return r
}

func (h *house) forget(id string) {
	h.t.Helper()
	h.must(h.tiers.Forget(context.Background(), root, id))
}

// Bodies of these tests, and words of them that no other text has. What an index
// shares with a neighbouring term is cut off in front.
const (
	bodyText = "the zyzzyvaword of 鑫龘麤字"
	bodyRaw  = "quokkarawbody again and again"
	bodyWhy  = "because of whydahreason"
)

var bodyWords = []string{"zyzzyvaword", "yzzyvaword", "zzyvaword", "quokkarawbody", "okkarawbody", "whydahreason", "ydahreason", "鑫龘麤字", "鑫龘", "龘麤"}

func (h *house) body() memd.Memory {
	h.t.Helper()
	return h.remember(memd.Remember{Summary: bodyText, RawContent: strings.Repeat(bodyRaw+" ", 300)})
}

// version writes the next version of the key that holds the body.
func (h *house) version(n int) memd.Memory {
	h.t.Helper()
	return h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: fmt.Sprint(bodyText, " ", n), Why: bodyWhy, RawContent: bodyRaw, Source: "AGENTS.md"})
}

// fillOld adds rows around, so that pages and index segments are shared.
func (h *house) fillOld(name string) {
	h.t.Helper()
	for n := range 30 {
		h.remember(memd.Remember{Summary: fmt.Sprint(name, " neighbour ", n, strings.Repeat(" zebra", n), " whyte quince 鑫字")})
	}
}

// Wherever a row stood, and whatever became of its file, once it is forgotten
// and one light groom has run no file holds its body or its terms.
func TestForgottenBytesAreGoneFromEveryDatabase(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		do   func(h *house)
	}{
		{"in a historical database", func(h *house) {
			m := h.body()
			h.roll()
			h.fillOld("after")
			h.forget(m.ID)
		}},
		{"just before a rollover", func(h *house) {
			h.forget(h.body().ID)
			h.roll()
		}},
		{"just after a rollover", func(h *house) {
			m := h.body()
			h.roll()
			h.forget(m.ID)
		}},
		{"between two rollovers", func(h *house) {
			m := h.body()
			h.roll()
			h.forget(m.ID)
			h.fillOld("next")
			h.roll()
		}},
		{"just before a rollover by copy", func(h *house) {
			leave := h.leaveOpen(store.ActiveName, looks)
			h.forget(h.body().ID)
			h.roll()
			leave()
		}},
		{"after a rollover by copy", func(h *house) {
			leave := h.leaveOpen(store.ActiveName, looks)
			m := h.body()
			h.roll()
			leave()
			h.forget(m.ID)
		}},
		{"after a rollover by copy, a shell still there", func(h *house) {
			leave := h.leaveOpen(store.ActiveName, looks)
			h.t.Cleanup(leave)
			m := h.body()
			h.roll()
			h.forget(m.ID)
		}},
		{"all versions of a key over three files", func(h *house) {
			var head memd.Memory
			for n := range 3 {
				head = h.version(n)
				h.fillOld(fmt.Sprint("file ", n))
				h.roll()
			}
			h.forget(head.ID)
		}},
		{"a superseded version alone", func(h *house) {
			old := h.version(1)
			h.roll()
			h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: "said otherwise", Source: "AGENTS.md"})
			h.forget(old.ID)
		}},
		{"the key", func(h *house) {
			h.version(1)
			h.roll()
			h.version(2)
			h.must(h.tiers.ForgetKey(ctx, root, "", "k"))
		}},
		{"compacted before", func(h *house) {
			m := h.body()
			h.roll()
			h.must(second(h.store.Compact(ctx)))
			h.forget(m.ID)
		}},
		{"compacted after", func(h *house) {
			m := h.body()
			h.roll()
			h.forget(m.ID)
			h.must(second(h.store.Compact(ctx)))
		}},
		{"promoted out of history", func(h *house) {
			m := h.body()
			h.roll()
			h.must(second(h.tiers.Promote(ctx, root, m.ID, memd.Promote{MemoryKey: "k", Source: "AGENTS.md"})))
			h.forget(m.ID)
		}},
		{"archived in history", func(h *house) {
			m := h.body()
			h.roll()
			h.must(second(h.tiers.Archive(ctx, root, m.ID)))
			h.forget(m.ID)
		}},
		{"moved by a retirement", func(h *house) {
			m := h.version(1)
			h.roll()
			for n := range 2 {
				h.fillOld(fmt.Sprint("file ", n))
				if r := h.roll(); n == 1 && len(r.Retired) != 1 {
					h.t.Fatalf("nothing was retired: %+v", r)
				}
			}
			h.forget(m.ID)
		}},
		{"expired in history", func(h *house) {
			m := h.body()
			h.must(second(h.tiers.Patch(ctx, root, m.ID, memd.Patch{ExpiresAt: memd.Some(memd.At(h.clock.Now().Add(time.Hour)))})))
			h.roll()
			h.clock.Advance(2 * time.Hour)
		}},
		{"expired, then rolled over", func(h *house) {
			h.remember(memd.Remember{Summary: bodyText, ExpiresAt: memd.At(h.clock.Now().Add(time.Hour))})
			h.clock.Advance(2 * time.Hour)
			h.roll()
		}},
		{"a note of a session that ended", func(h *house) {
			h.must(second(h.tiers.Note(ctx, root, "s", memd.Note{Summary: bodyText})))
			h.roll()
			h.must(h.tiers.EndSession(ctx, root, "s"))
		}},
		{"a note of a session that ended, by copy", func(h *house) {
			leave := h.leaveOpen(store.ActiveName, looks)
			h.must(second(h.tiers.Note(ctx, root, "s", memd.Note{Summary: bodyText})))
			h.roll()
			leave()
			h.must(h.tiers.EndSession(ctx, root, "s"))
		}},
		{"a note that expired before a rollover", func(h *house) {
			h.must(second(h.tiers.Note(ctx, root, "s", memd.Note{Summary: bodyText, TTL: "1h"})))
			h.clock.Advance(2 * time.Hour)
			h.roll()
		}},
		{"edited by hand in history", func(h *house) {
			m := h.body()
			r := h.roll()
			h.shellOn(r.File, `UPDATE short SET summary = 'zyzzyvaword once more' WHERE id = '`+m.ID+`'`)
			h.forget(m.ID)
		}},
		{"deleted by hand in history", func(h *house) {
			m := h.body()
			r := h.roll()
			h.shellOn(r.File, `PRAGMA secure_delete = ON; DELETE FROM short WHERE id = '`+m.ID+`'`)
		}},
		{"a row let go by a budget", func(h *house) {
			m := h.body()
			h.must(second(h.tiers.Archive(ctx, root, m.ID)))
			h.roll()
			other := h.remember(memd.Remember{Summary: "another row", Importance: new(10)})
			h.must(second(h.tiers.Archive(ctx, root, other.ID))) // the archive holds one
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := houseUnder(t, func(b *configs.Budgets) { b.HistoryFiles, b.ArchiveRows = 2, 1 })
			h.fillOld("before")
			c.do(h)
			h.groom(groom.Options{Light: true})
			for word, file := range h.files(bodyWords) {
				t.Errorf("%s is still in %s", word, file)
			}
		})
	}
}

// What the test above looks for is to be found while the row is there.
func TestForgottenWordsAreSeen(t *testing.T) {
	h := newHouse(t)
	h.fillOld("before")
	h.body()
	h.version(1)
	h.roll()
	h.groom(light)
	if seen := h.files(bodyWords); len(seen) != len(bodyWords) {
		t.Errorf("only %v are seen", seen)
	}
}

func second[T any](_ T, err error) error { return err }
