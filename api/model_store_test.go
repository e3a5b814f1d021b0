package api

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

var (
	ctx   = context.Background()
	admin = memd.LocalAdmin()
	ann   = memd.Caller{Name: "ann", Role: memd.RoleWrite}
)

// premises are a store that a test opens and closes, and what stands on it.
type premises struct {
	dir          string
	clock        *memtest.Clock
	historyFiles int
	store        *store.Set
	tiers        *tiers.Service
	recall       *recall.Engine
	groom        *groom.Runner
	shell        *openShell // nil: nobody else has the active database open
}

func (p *premises) now() memd.Time { return memd.At(p.clock.Now()) }

func (p *premises) open() error {
	budgets := configs.DefaultBudgets()
	budgets.HistoryFiles = p.historyFiles
	s, err := store.Open(ctx, store.Options{Dir: p.dir, Budgets: budgets, Now: p.clock.Now})
	if err != nil {
		return err
	}
	p.store, p.tiers, p.recall, p.groom = s, tiers.New(s), recall.New(s, nil), groom.New(s, nil)
	return nil
}

// openShell is a stock shell that has the active database open.
type openShell struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// leaveOpen starts a shell and returns once it has read the active database.
func leaveOpen(dir string) (*openShell, error) {
	cmd := exec.Command("sqlite3", "-batch", "-bail", "-cmd", ".timeout 5000", filepath.Join(dir, store.ActiveName))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = io.WriteString(in, "SELECT count(*) FROM meta;\n")
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	return &openShell{cmd, in}, err
}

// leave closes the shell.
func (s *openShell) leave() error {
	if s == nil {
		return nil
	}
	s.in.Close()
	return s.cmd.Wait()
}

func (m *model) Rollover(t *rapid.T) {
	r, err := m.store.Rollover(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, row := range m.rows {
		if row.file == 0 {
			rows++
		}
	}
	if m.bystander == 0 {
		rows++
	}
	if rows == 0 {
		if r.Rolled || r.Reason != "empty" {
			t.Fatalf("rolled an empty database: %+v", r)
		}
		return
	}
	m.rolled++
	m.files = append(m.files, m.rolled)
	if m.bystander == 0 {
		m.bystander = m.rolled
	}
	for _, row := range m.rows {
		if row.file == 0 {
			row.file = m.rolled
		}
	}
	if m.shell == nil { // a copy leaves expired notes to the groom
		m.dropNotes()
	}
	gone := 0
	for ; len(m.files) > m.historyFiles; gone++ {
		m.retire()
	}
	if !r.Rolled || r.Rows != rows || len(r.Retired) != gone {
		t.Fatalf("rolled %+v, want %d rows and %d files retired", r, rows, gone)
	}
}

// retire lets the oldest historical database go: heads and archived rows with a
// key stay, in the next-oldest.
func (m *model) retire() {
	oldest := m.files[0]
	m.files = m.files[1:]
	if m.bystander == oldest {
		m.bystander = m.files[0]
	}
	m.rows = slices.DeleteFunc(m.rows, func(r *modelRow) bool {
		if r.file != oldest {
			return false
		}
		r.file = m.files[0]
		return !(r.tier == memd.Archive && r.key != "" || r.tier == memd.Long && m.isCurrent(r))
	})
}

func (m *model) Compact(t *rapid.T) {
	done, err := m.store.Compact(ctx)
	if err != nil || len(done.Files) != 1+len(m.files) {
		t.Fatalf("compacted %+v, %v; want %d databases", done, err, 1+len(m.files))
	}
	for _, f := range done.Files {
		if f.Skipped != "" {
			t.Fatalf("not compacted: %+v", f)
		}
	}
}

func (m *model) Groom(t *rapid.T) {
	report, err := m.groom.Run(ctx, groom.Options{Light: true})
	if err != nil || !report.Whole() {
		t.Fatalf("groomed %+v, %v", report, err)
	}
	for _, r := range m.rows {
		if r.accesses += len(r.days); len(r.days) > 0 {
			r.folded = r.days[len(r.days)-1]
		}
		r.days = nil
	}
	m.dropNotes()
	for id, s := range m.sessions {
		if len(s.notes) == 0 && m.now().Sub(s.opened.Time) > day {
			delete(m.sessions, id)
		}
	}
}

func (m *model) Restart(t *rapid.T) {
	if err := m.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := m.open(); err != nil {
		t.Fatal(err)
	}
}

func (m *model) Shell(t *rapid.T) {
	if m.shell != nil {
		if err := m.shell.leave(); err != nil {
			t.Fatal(err)
		}
		m.shell = nil
		return
	}
	var err error
	if m.shell, err = leaveOpen(m.dir); err != nil {
		t.Fatal(err)
	}
}

func (m *model) Note(t *rapid.T) {
	id, text := someSession.Draw(t, "session"), someText.Draw(t, "text")
	hours := rapid.SampledFrom([]int{1, 24, 72}).Draw(t, "hours")
	w, err := m.tiers.Note(ctx, ann, id, memd.Note{Summary: text, TTL: fmt.Sprint(hours, "h")})
	if err != nil {
		t.Fatal(err)
	}
	s := m.sessions[id]
	if s == nil {
		s = &modelSession{opened: m.now()}
		m.sessions[id] = s
	}
	s.notes = append(s.notes, modelNote{w.ID, text, memd.At(m.now().Add(time.Duration(hours) * time.Hour))})
}

func (m *model) EndSession(t *rapid.T) {
	id := someSession.Draw(t, "session")
	err := m.tiers.EndSession(ctx, ann, id)
	if m.sessions[id] == nil && memd.CodeOf(err) != memd.CodeNotFound || m.sessions[id] != nil && err != nil {
		t.Fatal(err)
	}
	delete(m.sessions, id)
}

// dropNotes takes those out whose time is over.
func (m *model) dropNotes() {
	for _, s := range m.sessions {
		s.notes = slices.DeleteFunc(s.notes, m.over)
	}
}

func (m *model) over(n modelNote) bool { return !n.expires.After(m.now().Time) }

// end closes a sequence: nothing is found amiss in any database, and each
// memory stands in one place.
func (m *model) end(t *rapid.T) {
	findings, err := m.store.Check(ctx, false)
	if err != nil || len(findings) > 0 {
		t.Errorf("check: %+v, %v", findings, err)
	}
	if err := m.store.Close(); err != nil {
		t.Error(err)
	}
	if err := m.shell.leave(); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob(filepath.Join(m.dir, store.HistoryDir, "*"))
	if err != nil || len(files) != len(m.files) {
		t.Errorf("the history folder holds %q, %v; want %d databases", files, err, len(m.files))
	}
	seen := map[string]string{}
	for _, file := range append(files, filepath.Join(m.dir, store.ActiveName)) {
		out, err := exec.Command("sqlite3", "-batch", file, `SELECT id FROM memory ORDER BY id`).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v %s", file, err, out)
		}
		for _, id := range strings.Fields(string(out)) {
			if other, twice := seen[id]; twice {
				t.Errorf("%s stands in %s and in %s", id, other, file)
			}
			seen[id] = file
		}
	}
	notes := 1 // and the bystander
	for _, s := range m.sessions {
		notes += len(s.notes)
	}
	if len(seen) != len(m.rows)+notes {
		t.Errorf("%d rows on disk, want %d and %d beside", len(seen), len(m.rows), notes)
	}
}

// modelSequences is how many sequences the plain run takes: ten seconds or so.
// -rapid.checks asks for others, -rapid.steps for longer ones.
const modelSequences = "28"

// However calls, rollovers, retirements, grooms, compactions and restarts
// follow one another, a store answers what the plain model says.
func TestModel(t *testing.T) {
	if asked := flag.Lookup("rapid.checks"); asked.Value.String() == asked.DefValue {
		if err := asked.Value.Set(modelSequences); err != nil {
			t.Fatal(err)
		}
		defer asked.Value.Set(asked.DefValue)
	}
	folder, runs := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		p := &premises{dir: filepath.Join(folder, fmt.Sprint(runs)), clock: memtest.NewClock(),
			historyFiles: rapid.IntRange(2, 3).Draw(t, "history files")}
		m := &model{premises: p, heads: map[string]*modelHead{}, sessions: map[string]*modelSession{}}
		m.begin(t)
		defer m.end(t)
		t.Repeat(map[string]func(*rapid.T){
			"remember": m.Remember, "upsert": m.Upsert, "upsert again": m.Upsert, "forget": m.Forget, "forget key": m.ForgetKey,
			"archive": m.Archive, "promote to long": m.PromoteToLong, "promote to short": m.PromoteToShort, "patch": m.Patch,
			"verify": m.Verify, "note": m.Note, "end session": m.EndSession, "wait": m.Wait, "groom": m.Groom,
			"rollover": m.Rollover, "rollover again": m.Rollover, "compact": m.Compact, "restart": m.Restart, "shell": m.Shell,
			"": m.check,
		})
	})
}
