package tiers_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
	"memd/tiers"
)

var (
	crashRounds = flag.Int("crash.rounds", 15, "rounds of killing a writing process")
	crashChild  = flag.String("crash.dir", "", "internal: write to the store in this folder until killed")
	crashRound  = flag.Int("crash.round", 0, "internal: the round, to make texts unique")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *crashChild != "" {
		if err := writeUntilKilled(*crashChild, *crashRound); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// crashBudgets make a write of a full short tier archive another row.
func crashBudgets(b *configs.Budgets) { b.ShortRows = 150 }

// writeUntilKilled is the child: a few writers, each of which says on stdout
// what it is about to do with what stands already ("try"), and what was
// acknowledged ("did").
func writeUntilKilled(dir string, round int) error {
	budgets := configs.DefaultBudgets()
	crashBudgets(&budgets)
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Budgets: budgets})
	if err != nil {
		return err
	}
	service := tiers.New(s)
	var mu sync.Mutex
	say := func(words ...any) {
		mu.Lock()
		defer mu.Unlock()
		os.Stdout.WriteString(fmt.Sprintln(words...)) // one write: whole or not at all
	}
	fatal := make(chan error)
	for g := range 4 {
		go func() { fatal <- crashWriter(service, g, round, say) }()
	}
	return <-fatal
}

// crashWriter is one writer. Its keys are its own.
func crashWriter(s *tiers.Service, g, round int, say func(...any)) error {
	var mine []string // short rows that this writer wrote and has not touched since
	for n := 0; ; n++ {
		text := fmt.Sprintf("round %d writer %d row %d", round, g, n)
		key := fmt.Sprintf("w%d/k%d", g, n%3)
		switch dice := rand.IntN(10); {
		case dice < 4:
			w, err := s.Remember(ctx, ann, memd.Remember{Summary: text, RawContent: strings.Repeat("raw ", rand.IntN(600))})
			if err != nil {
				return err
			}
			say("did", "remember", w.ID)
			mine = append(mine, w.ID)
		case dice < 8:
			say("try", "upsert", key)
			w, err := s.RememberLongTerm(ctx, ann, longRequest(key, text))
			if err != nil {
				return err
			}
			say("did", "upsert", key, w.Version, w.ID)
		case dice == 8 && len(mine) > 0:
			id := mine[0]
			mine = mine[1:]
			say("try", "forget", id)
			if err := s.Forget(ctx, ann, id); err != nil {
				return err
			}
			say("did", "forget", id)
		case n%7 == 0:
			say("try", "forget-key", key)
			if err := s.ForgetKey(ctx, ann, "", key); err != nil && memd.CodeOf(err) != memd.CodeNotFound {
				return err
			}
			say("did", "forget-key", key)
		case len(mine) > 0:
			id := mine[len(mine)-1]
			mine = mine[:len(mine)-1]
			if _, err := s.Archive(ctx, ann, id); err != nil {
				return err
			}
			say("did", "archive", id)
		}
	}
}

// crashLedger is what the parent knows to have been acknowledged.
type crashLedger struct {
	rows map[string]string // id to "there", "maybe" (a forget was tried) or "gone"; archived rows are "archived"
	keys map[string]*crashKey
}

type crashKey struct {
	version int    // acknowledged, 0 for none
	id      string // of that version
	open    string // what was tried and not acknowledged
}

func (l *crashLedger) read(line string) {
	w := strings.Fields(line)
	key := func(name string) *crashKey {
		if l.keys[name] == nil {
			l.keys[name] = &crashKey{}
		}
		return l.keys[name]
	}
	switch w[0] + " " + w[1] {
	case "did remember":
		l.rows[w[2]] = "there"
	case "did archive":
		l.rows[w[2]] = "archived"
	case "try forget":
		l.rows[w[2]] = "maybe"
	case "did forget":
		l.rows[w[2]] = "gone"
	case "try upsert", "try forget-key":
		key(w[2]).open = w[1]
	case "did upsert":
		k := key(w[2])
		fmt.Sscan(w[3], &k.version)
		k.id, k.open = w[4], ""
	case "did forget-key":
		*key(w[2]) = crashKey{}
	}
}

// A process killed at any moment has lost no write that it acknowledged, holds
// none twice, and shows no superseded version.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	ledger := &crashLedger{rows: map[string]string{}, keys: map[string]*crashKey{}}
	for round := range *crashRounds {
		acknowledged := crashRun(t, dir, round, ledger)
		// The subtest's store is checked and closed before the next round.
		t.Run(fmt.Sprintf("round %d killed at %d", round, acknowledged), func(t *testing.T) {
			s := memtest.Store(t, dir, nil, crashBudgets)
			ledger.verify(t, &house{Service: tiers.New(s), t: t, store: s})
		})
		if t.Failed() {
			return
		}
	}
}

// crashRun starts a child, kills it once it has acknowledged a random number
// of writes, or at a random moment of its start, and enters all that it said.
func crashRun(t *testing.T, dir string, round int, ledger *crashLedger) (acknowledged int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-crash.dir="+dir, fmt.Sprint("-crash.round=", round))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	child.Stderr = &stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	after := rand.IntN(300)
	if round%4 == 3 { // while it opens the store, or recovers it
		after = 1 << 30
		time.AfterFunc(time.Duration(rand.IntN(40))*time.Millisecond, func() { child.Process.Kill() })
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		ledger.read(lines.Text())
		if strings.HasPrefix(lines.Text(), "did") {
			acknowledged++
		}
		if acknowledged == after {
			child.Process.Kill()
		}
	}
	child.Wait()
	if child.ProcessState.Exited() || stderr.Len() > 0 {
		t.Fatalf("the child ended by itself: %s", stderr.String())
	}
	return acknowledged
}

// verify holds the store against the ledger, and settles in the ledger what
// was tried and not acknowledged.
func (l *crashLedger) verify(t *testing.T, h *house) {
	tier := map[string]memd.Tier{}
	shown := map[string]int{}
	for _, want := range []memd.Tier{memd.Short, memd.Archive, memd.Long} {
		for _, id := range h.list(admin, memd.List{Tier: want, Limit: 200}) {
			tier[id] = want
			shown[id]++
		}
	}
	for id, n := range shown {
		if n != 1 {
			t.Errorf("row %s is shown %d times", id, n)
		}
	}
	for id, state := range l.rows {
		there := tier[id] == memd.Short || tier[id] == memd.Archive
		switch {
		case state == "there" && !there, state == "archived" && tier[id] != memd.Archive, state == "gone" && there:
			t.Errorf("a row that should be %s is in tier %q", state, tier[id])
		case state == "maybe" && there:
			l.rows[id] = "there"
		case state == "maybe":
			l.rows[id] = "gone"
		}
	}
	heads := 0
	for name, k := range l.keys {
		versions, err := h.Versions(ctx, admin, "", name)
		if err != nil && memd.CodeOf(err) != memd.CodeNotFound {
			t.Fatal(err)
		}
		for i, m := range versions {
			if m.Version != len(versions)-i || (i > 0) != (shown[m.ID] == 0) {
				t.Errorf("%s: version %d of %d is at place %d, shown %d times", name, m.Version, len(versions), i, shown[m.ID])
			}
		}
		now := crashKey{version: len(versions)}
		if len(versions) > 0 {
			now.id = versions[0].ID
			heads++
		}
		switch {
		case now.version == k.version && now.id == k.id:
		case k.open == "upsert" && now.version == k.version+1 && (k.version == 0 || versions[1].ID == k.id):
		case k.open == "forget-key" && now.version == 0:
		default:
			t.Errorf("%s: acknowledged was version %d, then %q was tried; now there is version %d", name, k.version, k.open, now.version)
		}
		*k = now
	}
	if long := len(h.list(admin, memd.List{Tier: memd.Long, Limit: 200})); long != heads {
		t.Errorf("%d long rows are shown for %d keys", long, heads)
	}
}
