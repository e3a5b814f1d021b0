package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/embedding"
	"memd/embedding/embeddingtest"
	"memd/internal/memtest"
	"memd/store"
)

var hashed = embeddingtest.Hashed{Name: "hashed", Size: 12}

// openEmbedding opens the store in dir with an embedder.
func openEmbedding(t testing.TB, dir string, clock *memtest.Clock, e embedding.Embedder, edit func(*configs.Budgets)) *store.Set {
	t.Helper()
	budgets := configs.DefaultBudgets()
	if edit != nil {
		edit(&budgets)
	}
	if clock == nil {
		clock = memtest.NewClock()
	}
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: budgets, Now: clock.Now, Embedder: e})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// drain embeds all that waits and all that lacks a vector, and returns how many
// vectors it made.
func drain(t testing.TB, s *store.Set, e embedding.Embedder) (n int) {
	t.Helper()
	for {
		rows, err := s.Lease(ctx, 7)
		must(t, err)
		if len(rows) == 0 {
			more, err := s.Fill(ctx)
			must(t, err)
			if !more {
				return n
			}
			continue
		}
		n += len(rows)
		must(t, s.Deliver(ctx, embedded(t, e, rows)))
	}
}

// embedded are leased rows with their vectors.
func embedded(t testing.TB, e embedding.Embedder, rows []embedding.Waiting) []embedding.Settled {
	t.Helper()
	settled := make([]embedding.Settled, len(rows))
	for i, r := range rows {
		vectors, err := e.Embed(ctx, []string{r.Text})
		must(t, err)
		settled[i] = embedding.Settled{Waiting: r, Outcome: embedding.Embedded, Vector: vectors[0]}
		if vectors[0] == nil {
			settled[i].Outcome = embedding.Wordless
		}
	}
	return settled
}

// lease takes the rows that wait, as "id id".
func lease(t testing.TB, s *store.Set) ([]embedding.Waiting, string) {
	t.Helper()
	rows, err := s.Lease(ctx, 100)
	must(t, err)
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return rows, strings.Join(ids, " ")
}

// Writes of all tiers but the transient wait for a vector, the newest first;
// transient ones leave nothing, nor does any without an embedder.
func TestWritesQueue(t *testing.T) {
	for _, e := range []embedding.Embedder{nil, hashed} {
		s := openEmbedding(t, t.TempDir(), nil, e, nil)
		rows := []memd.Memory{row(memd.Transient, 1, "one"), row(memd.Short, 2, "two"), row(memd.Long, 3, "three"), row(memd.Archive, 4, "four")}
		put(t, s, rows...)
		moved := rows[1]
		moved.Tier = memd.Archive
		write(t, s, func(tx *store.Tx) error { return tx.Move(&moved, memd.Short) })
		want := rows[3].ID + " " + rows[2].ID + " " + rows[1].ID
		if e == nil {
			want = ""
		}
		if _, got := lease(t, s); got != want {
			t.Errorf("waiting are %q, want %q", got, want)
		}
		if got := shell(t, s.Dir(), `SELECT count(*) FROM outbox WHERE memory_id = '`+rows[0].ID+`'`); got != "0" {
			t.Error("a transient row waits for a vector")
		}
		healthy(t, s)
	}
}

// What is stored is the int8 and the bit form, under model and dimension, and
// the row waits no more.
func TestDeliver(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	m, blank := row(memd.Short, 1, "some words"), row(memd.Short, 2, " ")
	put(t, s, m, blank)
	if n := drain(t, s, hashed); n != 3 { // nothing tells the filling that the blank one has none
		t.Errorf("%d rows were embedded", n)
	}
	v, err := hashed.Embed(ctx, []string{m.Summary})
	must(t, err)
	want := fmt.Sprintf("%s|hashed|12|%X|%X|0", m.ID, embedding.Int8(v[0]), embedding.Bits(v[0]))
	if got := shell(t, s.Dir(), `SELECT memory_id, model, dim, hex(vec), hex(bits), (SELECT count(*) FROM outbox) FROM embedding`); got != want {
		t.Errorf("stored is %s\nwant %s", got, want)
	}
	healthy(t, s)
}

// A vector is of the words that the row has when it is stored, or not stored:
// the row waits on. So it is where the row was edited by hand, which leaves its
// content hash, and where it was forgotten meanwhile.
func TestDeliverComparesText(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	edited, gone, moved := row(memd.Short, 1, "old words"), row(memd.Short, 2, "gone words"), row(memd.Short, 3, "same words")
	put(t, s, edited, gone, moved)
	rows, _ := lease(t, s)
	shell(t, s.Dir(), `UPDATE short SET summary = 'new words' WHERE id = '`+edited.ID+`'`)
	write(t, s, func(tx *store.Tx) error { _, err := tx.Delete(memd.Short, gone.ID); return err })
	roll(t, s)
	must(t, s.Deliver(ctx, embedded(t, hashed, rows)))
	path := historyFile(t, s.Dir())
	if got := shellFile(t, path, `SELECT memory_id FROM embedding`); got != moved.ID {
		t.Errorf("vectors of %s, want that of the row that kept its words", got)
	}
	left, ids := lease(t, s)
	if ids != edited.ID || left[0].Text != "new words" {
		t.Fatalf("waiting are %+v", left)
	}
	must(t, s.Deliver(ctx, embedded(t, hashed, left)))
	if got := shellFile(t, path, `SELECT count(*) FROM embedding`); got != "2" {
		t.Errorf("%s vectors", got)
	}
	healthy(t, s)
}

// historyFile is the one historical database.
func historyFile(t testing.TB, dir string) string {
	t.Helper()
	paths := historyFiles(t, dir)
	if len(paths) != 1 {
		t.Fatalf("historical databases: %q", paths)
	}
	return paths[0]
}

// A leased row is given to nobody else until the lease ends, a refused one
// later each time, and after some attempts not at all; a new start ends leases.
func TestLeases(t *testing.T) {
	dir, clock := t.TempDir(), memtest.NewClock()
	s := openEmbedding(t, dir, clock, hashed, nil)
	m := row(memd.Short, 1, "words")
	put(t, s, m)
	rows, _ := lease(t, s)
	if _, again := lease(t, s); again != "" {
		t.Errorf("leased twice: %s", again)
	}
	must(t, s.Close())
	s = openEmbedding(t, dir, clock, hashed, nil)
	for n := range 5 {
		if _, ids := lease(t, s); ids != m.ID {
			t.Fatalf("attempt %d: waiting are %q", n, ids)
		}
		must(t, s.Deliver(ctx, []embedding.Settled{{Waiting: rows[0], Outcome: embedding.Rejected}}))
		clock.Advance(time.Minute<<n - time.Second)
		if _, ids := lease(t, s); ids != "" {
			t.Errorf("attempt %d: asked again too early", n)
		}
		clock.Advance(time.Second)
	}
	clock.Advance(1000 * time.Hour)
	if _, ids := lease(t, s); ids != "" {
		t.Errorf("a parked row is asked for again")
	}
	st, err := s.Stats(ctx)
	must(t, err)
	if st.Embedder.Parked != 1 || st.Embedder.Pending != 0 {
		t.Errorf("stats tell of %+v", st.Embedder)
	}
	must(t, s.Close())
	other := embeddingtest.Hashed{Name: "other", Size: 8} // might do better
	s = openEmbedding(t, dir, clock, other, nil)
	if _, ids := lease(t, s); ids != m.ID {
		t.Errorf("under another model %q wait", ids)
	}
}

// What was written without an embedder, and what has a vector of another model,
// gets one in every database; until then the old one stays.
func TestFill(t *testing.T) {
	dir := t.TempDir()
	s := openEmbedding(t, dir, nil, nil, nil)
	for n := range 9 {
		put(t, s, row([]memd.Tier{memd.Short, memd.Long, memd.Archive}[n%3], n, fmt.Sprint("row ", n)), row(memd.Transient, 100+n, "passing"))
		if n%3 == 2 && n < 8 {
			roll(t, s)
		}
	}
	old := row(memd.Long, 1, "")
	supersede(t, s, old, 2, 50, "row 1, revised")
	must(t, s.Close())

	s = openEmbedding(t, dir, nil, hashed, nil)
	if n := drain(t, s, hashed); n != 9 { // not the superseded one
		t.Errorf("%d rows were embedded, want 9", n)
	}
	if n := drain(t, s, hashed); n != 0 {
		t.Errorf("%d rows were embedded twice", n)
	}
	healthy(t, s)
	must(t, s.Close())

	other := embeddingtest.Hashed{Name: "other", Size: 5}
	s = openEmbedding(t, dir, nil, other, nil)
	if got := vectors(t, s, memd.Short); got != 3 {
		t.Errorf("%d vectors of short rows are left before others are there", got)
	}
	healthy(t, s)
	if n := drain(t, s, other); n != 9 {
		t.Errorf("%d rows were embedded again, want 9", n)
	}
	if n := vectors(t, s, memd.Short) + vectors(t, s, memd.Long) + vectors(t, s, memd.Archive); n != 9 {
		t.Errorf("%d vectors, want 9", n)
	}
	for _, path := range append(historyFiles(t, dir), filepath.Join(dir, store.ActiveName)) {
		if got := shellFile(t, path, `SELECT count(*) FROM embedding WHERE model <> 'other' OR dim <> 5`); got != "0" {
			t.Errorf("%s holds %s vectors of the old model", filepath.Base(path), got)
		}
	}
	st, err := s.Stats(ctx)
	must(t, err)
	if e := st.Embedder; e.Name != "other" || e.Dim != 5 || e.Vectors != 9 || e.Pending != 0 {
		t.Errorf("stats tell of %+v", e)
	}
	healthy(t, s)
}

// Filling stops at the budgets, and does not undo what they dropped.
func TestFillKeepsBudgets(t *testing.T) {
	for name, edit := range map[string]func(*configs.Budgets){
		"rows":  func(b *configs.Budgets) { b.EmbeddingRows = 4 },
		"bytes": func(b *configs.Budgets) { b.EmbeddingBytes = 4*12 + 3 },
		"none":  func(b *configs.Budgets) { b.EmbeddingRows = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openEmbedding(t, dir, nil, nil, nil)
			for n := range 10 {
				put(t, s, row(memd.Short, n, fmt.Sprint("row ", n)))
				if n == 7 {
					roll(t, s)
				}
			}
			must(t, s.Close())
			want := map[string]int{"none": 0}[name]
			if name != "none" {
				want = 4
			}
			s = openEmbedding(t, dir, nil, hashed, edit)
			if n := drain(t, s, hashed); n != want {
				t.Errorf("%d vectors were made, want %d", n, want)
			}
			put(t, s, row(memd.Short, 20, "a new one")) // has its turn
			if n := drain(t, s, hashed); n != min(1, want) {
				t.Errorf("%d vectors were made of a new row", n)
			}
			makeRoom(t, s)
			must(t, s.Close())
			s = openEmbedding(t, dir, nil, hashed, edit)
			if n := drain(t, s, hashed); n != 0 {
				t.Errorf("%d vectors were made anew that a budget had dropped", n)
			}
			if n := vectors(t, s, memd.Short); n != want {
				t.Errorf("%d vectors are kept, want %d", n, want)
			}
			healthy(t, s)
		})
	}
}

// Killed between embedding and storing, a row waits still; killed while the
// databases commit one after the other, it waits or has its vector, or both. The
// next start embeds what waits, and each row has one vector.
func TestEmbedKilled(t *testing.T) {
	for _, step := range []string{"embed/made", "across/change", "across/commit"} {
		t.Run(strings.ReplaceAll(step, "/", " "), func(t *testing.T) {
			dir := t.TempDir()
			s := openEmbedding(t, dir, nil, hashed, nil)
			for n := range 5 {
				put(t, s, row(memd.Short, n, fmt.Sprint("row ", n)))
				if n == 2 {
					roll(t, s)
				}
			}
			must(t, s.Close())
			die(t, dir, "embed", step)
			s = openEmbedding(t, dir, nil, hashed, nil)
			healthy(t, s)
			waiting := shell(t, dir, `SELECT count(*) || ' ' || count(leased_until) FROM outbox`)
			if waiting != "5 0" && (step == "embed/made" || waiting != "3 0") {
				t.Errorf("waiting and leased after the kill: %s", waiting)
			}
			drain(t, s, hashed)
			if n := vectors(t, s, memd.Short); n != 5 {
				t.Errorf("%d vectors, want 5", n)
			}
			st, err := s.Stats(ctx)
			must(t, err)
			if e := st.Embedder; e.Vectors != 5 || e.Pending != 0 {
				t.Errorf("stats tell of %+v", e)
			}
			healthy(t, s)
		})
	}
}

// telling is an embedder that tells when its vectors are made.
type telling struct {
	embeddingtest.Hashed
	told func()
}

func (d telling) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := d.Hashed.Embed(ctx, texts)
	d.told()
	return vectors, err
}

// embedUntil is the child: its worker embeds until it is told to die.
func embedUntil(ctx context.Context, dir string, told func()) error {
	e := telling{hashed, told}
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now, Embedder: e})
	if err != nil {
		return err
	}
	embedding.Start(ctx, e, s, 0, slog.New(slog.DiscardHandler))
	select {}
}

// Where another program holds a historical database, the vectors of its rows
// wait for the lease to end, and no others do.
func TestDeliverWhileHeld(t *testing.T) {
	clock := memtest.NewClock()
	s := openEmbedding(t, t.TempDir(), clock, hashed, nil)
	old, fresh := row(memd.Short, 1, "an old row"), row(memd.Short, 2, "a new row")
	put(t, s, old)
	roll(t, s)
	put(t, s, fresh)
	rows, _ := lease(t, s)
	release := lockedBy(t, historyFile(t, s.Dir()), `BEGIN IMMEDIATE;`)
	must(t, s.Deliver(ctx, embedded(t, hashed, rows)))
	release()
	if got := shell(t, s.Dir(), `SELECT memory_id FROM embedding`); got != fresh.ID {
		t.Errorf("vectors of %q, want that of the row in the active database", got)
	}
	clock.Advance(5 * time.Minute)
	if n := drain(t, s, hashed); n != 1 {
		t.Errorf("%d rows waited on", n)
	}
	if n := vectors(t, s, memd.Short); n != 2 {
		t.Errorf("%d vectors, want 2", n)
	}
	healthy(t, s)
}

// A row that moves with other words, from whichever database, loses the vector
// of the old ones and waits for another.
func TestMoveWithOtherWords(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	old, fresh := row(memd.Short, 1, "an old row"), row(memd.Short, 2, "a new row")
	put(t, s, old)
	roll(t, s)
	put(t, s, fresh)
	drain(t, s, hashed)
	write(t, s, func(tx *store.Tx) error {
		for n, id := range []string{old.ID, fresh.ID} {
			m, _, err := tx.Get(id)
			if err != nil {
				return err
			}
			m.Tier, m.MemoryKey, m.Version, m.Source, m.VerifiedAt = memd.Long, fmt.Sprint("k", n), 1, "AGENTS.md", m.CreatedAt
			m.Summary = "revised " + m.Summary
			if err := tx.Move(&m, memd.Short); err != nil {
				return err
			}
			if err := tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: 1, ID: m.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	if n := vectors(t, s, memd.Long) + vectors(t, s, memd.Short); n != 0 {
		t.Errorf("%d vectors of other words are left", n)
	}
	if n := drain(t, s, hashed); n != 2 || vectors(t, s, memd.Long) != 2 {
		t.Errorf("%d rows waited, and %d vectors are there", n, vectors(t, s, memd.Long))
	}
	healthy(t, s)
}

// delivering tells of each delivery.
type delivering struct {
	*store.Set
	done chan struct{}
}

func (d delivering) Deliver(ctx context.Context, rows []embedding.Settled) error {
	err := d.Set.Deliver(ctx, rows)
	d.done <- struct{}{}
	return err
}

// A worker over a real store embeds what is written while it runs, over
// rollovers, and ends wholly.
func TestWorkerOverStore(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	told := delivering{s, make(chan struct{}, 100)}
	w := embedding.Start(ctx, hashed, told, 3, slog.New(slog.DiscardHandler))
	for n := range 12 {
		put(t, s, row(memd.Short, n, fmt.Sprint("row ", n)))
		if n%5 == 4 {
			roll(t, s)
		}
	}
	for vectors(t, s, memd.Short) < 12 { // go test's own limit ends it
		<-told.done
	}
	w.Stop()
	st, err := s.Stats(ctx)
	must(t, err)
	if e := st.Embedder; e.Vectors != 12 || e.Pending != 0 {
		t.Errorf("stats tell of %+v", e)
	}
	healthy(t, s)
}

// Vectors of rows in historical databases are not made where they would press
// rows out, nor longer ones in the place of shorter.
func TestFillKeepsStoreBytes(t *testing.T) {
	dir := t.TempDir()
	tight := func(b *configs.Budgets) { b.StoreBytes = b.ActiveBytes }
	s := openEmbedding(t, dir, nil, hashed, nil)
	put(t, s, row(memd.Short, 1, "an old row"))
	drain(t, s, hashed)
	roll(t, s)
	must(t, s.Close())
	longer, shorter := embeddingtest.Hashed{Name: "longer", Size: 13}, embeddingtest.Hashed{Name: "shorter", Size: 11}
	for _, c := range []struct {
		e    embeddingtest.Hashed
		want int
	}{{longer, 0}, {shorter, 1}} {
		s = openEmbedding(t, dir, nil, c.e, tight)
		if n := drain(t, s, c.e); n != c.want {
			t.Errorf("%d vectors of the model %s were made, want %d", n, c.e.Name, c.want)
		}
		if n := vectors(t, s, memd.Short); n != 1 {
			t.Errorf("%d vectors are there", n)
		}
		must(t, s.Close())
	}
}
