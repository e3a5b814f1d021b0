//go:build unix

package groom_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/guard/sources"
	"memd/internal/memtest"
	"memd/store"
)

var (
	killRounds = flag.Int("groom.kills", 1, "how often a groom is killed in each of its passes")
	killDir    = flag.String("groom.dir", "", "internal: groom the store in this folder and die on the way")
	killIn     = flag.String("groom.pass", "", "internal: the pass to die in")
	killAfter  = flag.Int("groom.after", 0, "internal: after how many looks of that pass at its context")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *killDir != "" {
		if err := groomUntilKilled(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killBudgets have every pass find something to do in the store of TestKilled.
func killBudgets(b *configs.Budgets) {
	b.LongVersions, b.ShortRows = 3, 20
}

// killClock is two hours after that store was made.
func killClock() *memtest.Clock {
	c := memtest.NewClock()
	c.Advance(2 * time.Hour)
	return c
}

// groomUntilKilled is the child.
func groomUntilKilled() error {
	budgets := configs.DefaultBudgets()
	killBudgets(&budgets)
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(*killDir, "store"), Budgets: budgets, Now: killClock().Now})
	if err != nil {
		return err
	}
	r := killRunner(s, *killDir)
	after := *killAfter
	_, err = r.Run(inPass(r, *killIn, func() {
		if after--; after < 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}), groom.Options{})
	return err
}

// killRunner grooms with the root that is beside the store.
func killRunner(s *store.Set, dir string) *groom.Runner {
	return groom.New(s, nil).WithSources(sources.New(map[string]string{memd.DefaultNamespace: filepath.Join(dir, "root")}))
}

// inPass is a context that has look run at every look at it within a pass.
func inPass(r *groom.Runner, name string, look func()) context.Context {
	return &looked{context.Background(), func() {
		if p := r.Running(); p != nil && p.Pass == name {
			look()
		}
	}}
}

// state is what a groom is to leave of all rows, wherever they stand.
func (h *house) state() string {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, store.HistoryDir, "*.db"))
	h.must(err)
	const common = `id, namespace, memory_key, version, stale, stale_reason, source_status, verified_at, verified_by,
 updated_at, written_at, access_count, last_accessed_at, content_hash, seg, summary FROM `
	var all []string
	for _, path := range append(files, filepath.Join(h.dir, store.ActiveName)) {
		name, err := filepath.Rel(h.dir, path)
		h.must(err)
		out := h.shellOn(name, `SELECT 'transient', `+common+`transient; SELECT 'short', `+common+`short; SELECT 'long', `+common+`long;
SELECT 'archive', `+common+`archive; SELECT 'vector', memory_id FROM embedding; SELECT 'edited', rid FROM short_reindex;
SELECT 'mark', memory_id FROM imported; SELECT 'gone', memory_id FROM gone`)
		all = append(all, strings.Split(out, "\n")...)
	}
	all = append(all, strings.Split(h.shell(`SELECT 'head', namespace, memory_key, version, id, source_hash FROM head;
SELECT 'session', session_id FROM session; SELECT 'access', memory_id, folded FROM access_log; SELECT 'hit', memory_id FROM pitfall_hit`), "\n")...)
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// A groom that is killed in any of its passes, at any of its looks around, is
// made good by the next: the rows are then as if it had not been killed, each
// access counted once.
func TestKilled(t *testing.T) {
	from := t.TempDir()
	makeStoreToKill(t, from)
	copied := func(t *testing.T) string {
		dir := t.TempDir()
		if out, err := exec.Command("cp", "-a", from+"/.", dir).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v: %s", err, out)
		}
		return dir
	}
	open := func(t *testing.T, dir string) *house {
		h := houseIn(t, filepath.Join(dir, "store"), killClock(), killBudgets)
		h.runner = killRunner(h.store, dir)
		return h
	}
	dir := copied(t)
	h := open(t, dir)
	looks := map[string]int{}
	report, err := h.runner.Run(&looked{context.Background(), func() {
		if p := h.runner.Running(); p != nil {
			looks[p.Pass]++
		}
	}}, groom.Options{})
	h.must(err)
	want := h.state()
	for _, p := range report.Passes {
		if p.Error != "" || p.Changed == 0 && p.Name != "report_duplicates" && p.Name != "retire_history" {
			t.Fatalf("the test shows nothing of %+v", p)
		}
	}
	for _, p := range report.Passes {
		for round := range *killRounds {
			t.Run(fmt.Sprint(p.Name, " ", round), func(t *testing.T) {
				dir := copied(t)
				after := rand.IntN(looks[p.Name])
				child := exec.Command(os.Args[0], "-groom.dir="+dir, "-groom.pass="+p.Name, fmt.Sprint("-groom.after=", after))
				out, err := child.CombinedOutput()
				status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
				// How often a pass looks around depends a little on what else runs: the
				// last looks may not come, and the run ended whole.
				late := err == nil && after >= looks[p.Name]-looks[p.Name]/20-1
				if !ok || !status.Signaled() && !late {
					t.Fatalf("killed at look %d of %d: the child ended by itself: %v: %s", after, looks[p.Name], err, out)
				}
				h := open(t, dir)
				h.groom(groom.Options{})
				if got := h.state(); got != want {
					t.Errorf("killed at look %d of %d, and groomed again: %s", after, looks[p.Name], difference(got, want))
				}
			})
		}
	}
}

// difference are the first lines that only one of two sorted texts has.
func difference(got, want string) string {
	has, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	var b strings.Builder
	for _, line := range has {
		if !slices.Contains(wants, line) && b.Len() < 1000 {
			b.WriteString("\nthere is    " + line)
		}
	}
	for _, line := range wants {
		if !slices.Contains(has, line) && b.Len() < 2000 {
			b.WriteString("\nthere is no " + line)
		}
	}
	return b.String()
}

// makeStoreToKill makes a store in a folder, and a root beside it, that has
// something for every pass to do in every database, in more than one write.
func makeStoreToKill(t *testing.T, dir string) {
	rootDir := filepath.Join(dir, "root")
	h := houseIn(t, filepath.Join(dir, "store"), memtest.NewClock(), nil)
	h.must(os.MkdirAll(h.dir, 0o700))
	h.write(rootDir, "AGENTS.md", rules)
	ctx := context.Background()
	for file := range 3 {
		if file > 0 {
			h.roll()
		}
		soon := memd.At(h.clock.Now().Add(time.Millisecond))
		for n := range 60 {
			h.aged(memd.Short, 8*day, nil)
			h.remember(memd.Remember{Summary: fmt.Sprint("expires ", file, " ", n), ExpiresAt: soon})
		}
		h.fill(memd.Short, 100*file, 100*file+30)
		h.fill(memd.Archive, 1000+100*file, 1000+100*file+30)
		with := []memd.Memory{h.aged(memd.Archive, 366*day, nil)}
		pit := h.rememberLong(memd.RememberLongTerm{MemoryKey: fmt.Sprint("pit", file), Summary: fmt.Sprint("a pit ", file), Source: "AGENTS.md", Kind: memd.Pitfall})
		for n := range 7 {
			key, summary := fmt.Sprint("k", n%2), fmt.Sprint(file, " says ", n)
			with = append(with, h.rememberLong(memd.RememberLongTerm{MemoryKey: key, Summary: summary, Source: "AGENTS.md"}))
		}
		h.cite(rootDir, fmt.Sprint("old", file), "AGENTS.md#commands", 20*day, true)
		h.cite(rootDir, fmt.Sprint("lost", file), "AGENTS.md#none", 0, false)
		stays := h.remember(memd.Remember{Summary: fmt.Sprint("read ", file)})
		h.must(second(h.tiers.Get(ctx, root, stays.ID)))
		h.must(second(h.tiers.Note(ctx, root, "s", memd.Note{Summary: fmt.Sprint("note ", file), TTL: "90s"})))
		edited := h.rememberLong(memd.RememberLongTerm{MemoryKey: fmt.Sprint("edited", file), Summary: fmt.Sprint("to be edited ", file), Source: "AGENTS.md"})
		h.vector(with...)
		h.shell(`UPDATE long SET summary = summary || ' 手改' WHERE id = '` + edited.ID + `'; UPDATE long SET resolved_at = verified_at WHERE id = '` + pit.ID + `'`)
	}
	h.must(h.store.FlushAccess(ctx))
	h.must(h.store.Close())
}
