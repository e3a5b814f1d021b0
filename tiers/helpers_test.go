package tiers_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
	"memd/tiers"
)

var ctx = context.Background()

// Callers of the tests.
var (
	admin  = memd.LocalAdmin()
	ann    = memd.Caller{Name: "ann", Role: memd.RoleWrite}
	ben    = memd.Caller{Name: "ben", Role: memd.RoleWrite}
	reader = memd.Caller{Name: "reader", Role: memd.RoleRead}
)

const agents = "AGENTS.md#commands"

// house is a service on a real store under a clock that the test moves.
type house struct {
	*tiers.Service
	t     testing.TB
	store *store.Set
	clock *memtest.Clock
}

func newHouse(t testing.TB, edit func(*configs.Budgets)) *house {
	t.Helper()
	clock := memtest.NewClock()
	s := memtest.Store(t, "", clock, edit)
	return &house{Service: tiers.New(s), t: t, store: s, clock: clock}
}

func (h *house) now() memd.Time { return memd.At(h.clock.Now()) }

func (h *house) at(d time.Duration) memd.Time { return memd.At(h.clock.Now().Add(d)) }

// remember writes a short row as ann.
func (h *house) remember(summary string, edits ...func(*memd.Remember)) memd.Written {
	h.t.Helper()
	w, err := h.Remember(ctx, ann, shortRequest(summary, edits...))
	h.must(err)
	return w
}

func shortRequest(summary string, edits ...func(*memd.Remember)) memd.Remember {
	req := memd.Remember{Summary: summary}
	for _, edit := range edits {
		edit(&req)
	}
	return req
}

// keep writes a long row as ann.
func (h *house) keep(key, summary string, edits ...func(*memd.RememberLongTerm)) memd.Written {
	h.t.Helper()
	w, err := h.RememberLongTerm(ctx, ann, longRequest(key, summary, edits...))
	h.must(err)
	return w
}

func longRequest(key, summary string, edits ...func(*memd.RememberLongTerm)) memd.RememberLongTerm {
	req := memd.RememberLongTerm{MemoryKey: key, Summary: summary, Source: agents}
	for _, edit := range edits {
		edit(&req)
	}
	return req
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("unexpected error: %v", err)
	}
}

// get reads a row as the administrator; ok is false when it is not found.
func (h *house) get(id string) (memd.Memory, bool) {
	h.t.Helper()
	m, err := h.Get(ctx, admin, id)
	if err != nil {
		refused(h.t, err, memd.CodeNotFound, "")
		return m, false
	}
	return m, true
}

// gone fails if a row is still readable.
func (h *house) gone(id string) {
	h.t.Helper()
	if m, ok := h.get(id); ok {
		h.t.Errorf("the row is still there, in %s", m.Tier)
	}
}

// list returns the ids a list shows the caller, newest first, over all pages.
func (h *house) list(c memd.Caller, req memd.List) []string {
	h.t.Helper()
	ids := []string{}
	for {
		page, err := h.List(ctx, c, req)
		h.must(err)
		for _, m := range page.Memories {
			ids = append(ids, m.ID)
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			return ids
		}
	}
}

// rows counts the rows of each tier, as "long short transient archive".
func (h *house) rows() string {
	h.t.Helper()
	var counts []string
	h.must(h.store.Update(ctx, func(tx *store.Tx) error {
		for _, t := range memd.AllTiers() {
			n, err := tx.Rows(t)
			if err != nil {
				return err
			}
			counts = append(counts, fmt.Sprint(n))
		}
		return nil
	}))
	return strings.Join(counts, " ")
}

// shell runs SQL in the stock shell on the open database.
func (h *house) shell(sql string) string {
	h.t.Helper()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		h.t.Fatal("the stock sqlite3 shell is not installed (Debian and Ubuntu: apt-get install sqlite3); .ci/run installs it")
	}
	cmd := exec.Command(path, "-batch", "-bail", "-cmd", ".timeout 5000", filepath.Join(h.store.Dir(), store.ActiveName))
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("sqlite3: %v: %s\n%s", err, out, sql)
	}
	return strings.TrimSpace(string(out))
}

// roll rolls over and wants a new historical database.
func (h *house) roll() store.Rolled {
	h.t.Helper()
	r, err := h.store.Rollover(ctx)
	h.must(err)
	if !r.Rolled {
		h.t.Fatalf("rolled %+v", r)
	}
	return r
}

// shellOn runs SQL in the stock shell on a database below the folder.
func (h *house) shellOn(name, sql string) string {
	h.t.Helper()
	return h.shell(`.open ` + filepath.Join(h.store.Dir(), name) + "\n" + sql)
}

// everywhere runs a query on every database and returns what they print.
func (h *house) everywhere(sql string) (printed []string) {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.store.Dir(), store.HistoryDir, "*.db"))
	h.must(err)
	for _, file := range files {
		printed = append(printed, h.shell(`.open `+file+"\n"+sql))
	}
	return append(printed, h.shell(sql))
}

// refused fails unless err is an Error of the code and about the field.
func refused(t testing.TB, err error, code memd.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*memd.Error](err)
	switch {
	case err == nil:
		t.Errorf("was accepted, want %s %s", code, field)
	case !ok:
		t.Errorf("%v has no code, want %s %s", err, code, field)
	case e.Code != code || e.Field != field:
		t.Errorf("%s about %q (%s), want %s about %q", e.Code, e.Field, e.Message, code, field)
	case e.Message == "" || code == memd.CodeInvalidRequest && field != "to" && !strings.Contains(e.Message, field):
		t.Errorf("the message %q does not name %s", e.Message, field)
	}
}

func ptr[T any](v T) *T { return &v }

// must unwraps a pair whose error would be the test's own fault.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
