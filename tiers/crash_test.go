package tiers_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
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
	crashRounds = flag.Int("crash.rounds", 15, "rounds of killing a writing process, over all kinds of budgets")
	crashChild  = flag.String("crash.dir", "", "internal: write to the store in this folder until killed")
	crashUnder  = flag.String("crash.kind", "", "internal: the kind of budgets, see crashKinds")
	crashRound  = flag.Int("crash.round", 0, "internal: the round, to make texts unique")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *crashChild != "" {
		if err := writeUntilKilled(*crashChild, crashKinds()[*crashUnder], *crashRound); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// crashKind are budgets under which processes are killed.
type crashKind struct {
	budgets func(*configs.Budgets)
	history bool // whether databases become historical all the time
	retires bool // whether they go again, with all that is not owed
}

// crashKinds are by name. In each a write of a full short tier archives another
// row.
func crashKinds() map[string]crashKind {
	return map[string]crashKind{
		"one database": {budgets: func(b *configs.Budgets) { b.ShortRows = 150 }},
		"history": {history: true, budgets: func(b *configs.Budgets) {
			b.ShortRows, b.ActiveBytes, b.HistoryFiles, b.StoreBytes = 150, configs.MinActiveBytes, 100_000, 1<<40
		}},
		"retirement": {history: true, retires: true, budgets: func(b *configs.Budgets) {
			b.ShortRows, b.ActiveBytes, b.HistoryFiles = 150, configs.MinActiveBytes, 3
		}},
	}
}

// writeUntilKilled is the child: a few writers, each of which says on stdout
// what it is about to do with what stands already ("try"), and what was
// acknowledged ("did").
func writeUntilKilled(dir string, kind crashKind, round int) error {
	budgets := configs.DefaultBudgets()
	kind.budgets(&budgets)
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Budgets: budgets, KeepBackups: 1})
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
		w := crashWriter{Service: service, store: s, kind: kind, g: g, round: round, say: say}
		go func() { fatal <- w.run() }()
	}
	return <-fatal
}

// crashWriter is one writer. Its keys are its own.
type crashWriter struct {
	*tiers.Service
	store    *store.Set
	kind     crashKind
	g, round int
	say      func(...any)
	mine     []string // short rows that it wrote and has not touched since
	cold     []string // rows that it archived
}

func (w *crashWriter) run() error {
	for n := 0; ; n++ {
		err := w.act(n)
		if err != nil && !(w.kind.retires && memd.CodeOf(err) == memd.CodeNotFound) {
			return err
		}
		if w.kind.history && rand.IntN(100) == 0 {
			if err := w.keep(rand.IntN(4)); err != nil && memd.CodeOf(err) != memd.CodeStoreBusy {
				return err
			}
		}
	}
}

// keep does one of the things that an operator or a schedule asks for.
func (w *crashWriter) keep(what int) (err error) {
	switch what {
	case 0:
		_, err = w.store.Rollover(ctx)
	case 1:
		_, err = w.store.Compact(ctx)
	case 2:
		_, err = w.store.Backup(ctx, "")
	case 3:
		if _, err = w.store.MakeRoom(ctx); err == nil {
			_, err = w.store.Settle(ctx, true)
		}
	}
	return err
}

// take takes a row off a list, the oldest or the newest.
func take(ids *[]string, oldest bool) string {
	i := len(*ids) - 1
	if oldest {
		i = 0
	}
	id := (*ids)[i]
	*ids = slices.Delete(*ids, i, i+1)
	return id
}

func (w *crashWriter) act(n int) error {
	text := fmt.Sprintf("round %d writer %d row %d", w.round, w.g, n)
	key := fmt.Sprintf("w%d/k%d", w.g, n%3)
	raw := strings.Repeat("raw ", rand.IntN(600))
	if w.kind.history {
		raw = strings.Repeat(raw, 5)
	}
	switch dice := rand.IntN(16); {
	case dice < 5:
		return w.remember(text, raw)
	case dice < 9:
		w.say("try", "upsert", key)
		up, err := w.RememberLongTerm(ctx, ann, longRequest(key, text))
		if err == nil {
			w.say("did", "upsert", key, up.Version, up.ID)
		}
		return err
	case dice == 9 && len(w.mine) > 0:
		id := take(&w.mine, true)
		w.say("try", "forget", id)
		err := w.Forget(ctx, ann, id)
		if err == nil {
			w.say("did", "forget", id)
		}
		return err
	case dice == 10 && len(w.mine) > 0: // it may stand in a historical database
		id, importance := take(&w.mine, true), 1+rand.IntN(10)
		w.say("try", "patch", id, importance)
		_, err := w.Patch(ctx, ann, id, memd.Patch{Importance: memd.Some(importance)})
		if err == nil {
			w.say("did", "patch", id, importance)
			w.mine = append(w.mine, id)
		}
		return err
	case dice == 11 && len(w.cold) > 0:
		id := take(&w.cold, rand.IntN(2) == 0)
		w.say("try", "promote", id)
		_, err := w.Promote(ctx, ann, id, memd.Promote{To: memd.Short})
		return err
	case dice == 12 && n%5 == 0:
		return w.resolve(fmt.Sprintf("pit/w%d/r%d/n%d", w.g, w.round, n), text)
	case n%7 == 0:
		w.say("try", "forget-key", key)
		if err := w.ForgetKey(ctx, ann, "", key); err != nil && memd.CodeOf(err) != memd.CodeNotFound {
			return err
		}
		w.say("did", "forget-key", key)
	case len(w.mine) > 0:
		id := take(&w.mine, n%2 == 0)
		if _, err := w.Archive(ctx, ann, id); err != nil {
			return err
		}
		w.say("did", "archive", id)
		w.cold = append(w.cold, id)
	}
	return nil
}

// remember writes a short row and, at times, the same again.
func (w *crashWriter) remember(text, raw string) error {
	first, err := w.Remember(ctx, ann, memd.Remember{Summary: text, RawContent: raw})
	if err != nil {
		return err
	}
	w.say("did", "remember", first.ID)
	w.mine = append(w.mine, first.ID)
	if rand.IntN(4) == 0 {
		_, err = w.Remember(ctx, ann, memd.Remember{Summary: text, RawContent: raw})
	}
	return err
}

// resolve resolves a pitfall, which archives it: a row with a key, which is owed
// for ever.
func (w *crashWriter) resolve(key, text string) error {
	pit, err := w.RememberLongTerm(ctx, ann, longRequest(key, text, func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }))
	if err != nil {
		return err
	}
	if _, err = w.Patch(ctx, ann, pit.ID, memd.Patch{ResolvedAt: memd.Some(w.store.Now())}); err == nil {
		w.say("did", "resolve", pit.ID)
	}
	return err
}

// crashLedger is what the parent knows to have been acknowledged.
type crashLedger struct {
	kind crashKind
	rows map[string]string // id to "there", "maybe" (a forget was tried) or "gone"; archived rows are "archived", those with a key "owed"
	keys map[string]*crashKey

	importance map[string][]string // of patched rows: the last acknowledged, and what was tried since
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
	case "did resolve":
		l.rows[w[2]] = "owed"
	case "try promote":
		l.rows[w[2]] = "there"
	case "try patch":
		if l.importance[w[2]] == nil {
			l.importance[w[2]] = []string{"5"}
		}
		l.importance[w[2]] = append(l.importance[w[2]], w[3])
	case "did patch":
		l.importance[w[2]] = w[3:]
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
// none twice, and shows no superseded version: also where its databases become
// historical all the time, and where those are retired, of what is owed.
func TestCrash(t *testing.T) {
	kinds := crashKinds()
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			var dir string
			var ledger *crashLedger
			for round := range (*crashRounds + len(kinds) - 1) / len(kinds) {
				if round%25 == 0 { // a store that ever grows would be all that takes time
					dir = t.TempDir()
					ledger = &crashLedger{kind: kind, rows: map[string]string{}, keys: map[string]*crashKey{}, importance: map[string][]string{}}
				}
				acknowledged := crashRun(t, dir, name, round, ledger)
				// The subtest's store is checked and closed before the next round.
				t.Run(fmt.Sprintf("round %d killed at %d", round, acknowledged), func(t *testing.T) {
					s := memtest.Store(t, dir, nil, kind.budgets)
					h := &house{Service: tiers.New(s), t: t, store: s}
					ledger.verify(t, h)
					t.Logf("historical databases, and how many there were: %s", h.shell(`SELECT count(*), max(seq) FROM history`))
				})
				if t.Failed() {
					return
				}
			}
		})
	}
}

// crashRun starts a child, kills it once it has acknowledged a random number
// of writes, or at a random moment of its start, and enters all that it said.
func crashRun(t *testing.T, dir, kind string, round int, ledger *crashLedger) (acknowledged int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-crash.dir="+dir, "-crash.kind="+kind, fmt.Sprint("-crash.round=", round))
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
	// A store that is busy with itself may acknowledge little: any moment will do.
	defer time.AfterFunc(time.Minute, func() {
		t.Logf("round %d: %d writes are not acknowledged within a minute", round, after)
		child.Process.Kill()
	}).Stop()
	if round%4 == 3 { // while it opens the store, or recovers it
		after = 1 << 30
		time.AfterFunc(time.Duration(rand.IntN(40))*time.Millisecond, func() { child.Process.Kill() })
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		ledger.read(lines.Text())
		if strings.HasPrefix(lines.Text(), "did") {
			acknowledged++
		}
		if acknowledged >= after {
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
		if l.kind.retires && !there && (state == "there" || state == "archived") {
			l.rows[id] = "gone" // for good
			continue
		}
		switch {
		case state == "owed" && tier[id] != memd.Archive:
			t.Errorf("an archived row with a key is in tier %q", tier[id])
		case state == "there" && !there, state == "archived" && tier[id] != memd.Archive, state == "gone" && there:
			t.Errorf("a row that should be %s is in tier %q", state, tier[id])
		case state == "maybe" && there:
			l.rows[id] = "there"
		case state == "maybe":
			l.rows[id] = "gone"
		}
	}
	for id, allowed := range l.importance {
		m, ok := h.get(id)
		if !ok {
			continue
		}
		got := fmt.Sprint(m.Importance)
		if !slices.Contains(allowed, got) {
			t.Errorf("a row has importance %s, acknowledged and tried were %q", got, allowed)
		}
		l.importance[id] = []string{got}
	}
	heads := 0
	for name, k := range l.keys {
		versions, err := h.Versions(ctx, admin, "", name)
		if err != nil && memd.CodeOf(err) != memd.CodeNotFound {
			t.Fatal(err)
		}
		for i, m := range versions {
			next := len(versions) - i
			if l.kind.retires { // the old ones may be gone
				next = min(m.Version, versions[0].Version-i)
			}
			if m.Version != next || (i > 0) != (shown[m.ID] == 0) {
				t.Errorf("%s: version %d of %d is at place %d, shown %d times", name, m.Version, len(versions), i, shown[m.ID])
			}
		}
		now := crashKey{}
		if len(versions) > 0 {
			now.version, now.id = versions[0].Version, versions[0].ID
			heads++
		}
		switch {
		case now.version == k.version && now.id == k.id:
		case k.open == "upsert" && now.version == k.version+1 && (k.version == 0 || l.kind.retires || versions[1].ID == k.id):
		case k.open == "forget-key" && now.version == 0:
		default:
			t.Errorf("%s: acknowledged was version %d, then %q was tried; now there is version %d", name, k.version, k.open, now.version)
		}
		*k = now
	}
	if long := len(h.list(admin, memd.List{Tier: memd.Long, Kind: memd.Fact, Limit: 200})); long != heads {
		t.Errorf("%d long rows are shown for %d keys", long, heads)
	}
}
