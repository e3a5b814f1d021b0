package store_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// vocabulary is what the rows of indexed are made of.
var vocabulary = strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike 迁移 数据库 E_SIG_47 the a of")

// sayings are texts of words of the vocabulary.
func saying(rng *rand.Rand) string {
	var words []string
	for range 1 + rng.IntN(12) {
		words = append(words, vocabulary[rng.IntN(len(vocabulary))])
	}
	return strings.Join(words, " ")
}

// agrees fails unless the index in memory covers all databases and finds what
// SQLite's finds, with the same document frequencies.
func agrees(t *testing.T, s *store.Set, after string) {
	t.Helper()
	words := strings.Fields("alpha bravo charli delta echo foxtrot golf hotel india juliet kilo lima mike 迁 迁移 数据 据库 esig47 47 the of fact 移动")
	view(t, s, func(v *store.View) error {
		counted, err := v.DocFreqs(words)
		if err != nil {
			return err
		}
		for _, tier := range []memd.Tier{memd.Long, memd.Short, memd.Archive} {
			for _, word := range words {
				got, rest, err := v.Indexed(tier, word)
				if err != nil {
					return err
				}
				if len(rest) > 0 {
					t.Errorf("%s: databases %v are not covered", after, rest)
					return nil
				}
				var want []store.Loc
				err = v.Postings(tier, nil, `"`+word+`"`, func(l store.Loc) { want = append(want, l) })
				if err != nil {
					return err
				}
				for _, locs := range [][]store.Loc{got, want} {
					slices.SortFunc(locs, func(a, b store.Loc) int { return cmp.Or(a.Part-b.Part, cmp.Compare(a.RID, b.RID)) })
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %s %q in memory at %v, in SQLite at %v", after, tier, word, got, want)
				}
			}
		}
		want, err := v.WithoutIndex().DocFreqs(words)
		if !slices.Equal(counted, want) {
			t.Errorf("%s: document frequencies %v, want %v", after, counted, want)
		}
		return err
	})
}

// change runs fn as a write on a row, if it is there.
func change(t *testing.T, s *store.Set, id string, fn func(*store.Tx, *memd.Memory) error) {
	t.Helper()
	m, ok := get(t, s, id)
	if !ok {
		return
	}
	write(t, s, func(tx *store.Tx) error {
		if _, _, err := tx.Get(id); err != nil { // which tells where it stands
			return err
		}
		return fn(tx, &m)
	})
}

// The index in memory follows whatever is done to the rows, by memd and by
// hand, in the active and in the historical databases.
func TestIndexFollows(t *testing.T) {
	s, err := open(t.TempDir()) // what is done by hand below, doctor would tell of
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(7, 7))
	n := 0
	insert := func(tiers ...memd.Tier) {
		for _, tier := range tiers {
			n++
			m := row(tier, n, saying(rng))
			m.Why = saying(rng)
			m.Tags = []string{vocabulary[rng.IntN(10)], "t"}
			if n%3 == 0 {
				m.Namespace = fmt.Sprint("project/", n%5)
			}
			put(t, s, m)
		}
	}
	some := func(n int) (tiers []memd.Tier) {
		for range n {
			tiers = append(tiers, []memd.Tier{memd.Short, memd.Long, memd.Archive}[rng.IntN(3)])
		}
		return tiers
	}
	id := func() string { return row(memd.Short, 1+rng.IntN(n), "").ID }
	old := func() string { // a historical database
		files, err := filepath.Glob(filepath.Join(s.Dir(), store.HistoryDir, "*.db"))
		if err != nil || len(files) == 0 {
			t.Fatal("no historical database", err)
		}
		return files[rng.IntN(len(files))]
	}
	byHand := func(sql string) func() {
		return func() {
			for _, tier := range []string{"short", "long", "archive"} {
				statement := strings.ReplaceAll(sql, "{t}", tier)
				if rng.IntN(2) == 0 {
					shell(t, s.Dir(), statement)
				} else {
					shellOn(t, old(), statement)
				}
			}
		}
	}
	insert(some(40)...)
	rollover := func() {
		if _, err := s.Rollover(ctx); err != nil {
			t.Fatal(err)
		}
		insert(some(3)...)
	}
	rollover()
	steps := []struct {
		name string
		do   func()
	}{
		{"inserts", func() { insert(some(5)...) }},
		{"a patch", func() {
			change(t, s, id(), func(tx *store.Tx, m *memd.Memory) error {
				m.Tags = []string{vocabulary[rng.IntN(10)]}
				return tx.UpdateMeta(m)
			})
		}},
		{"a deletion", func() {
			change(t, s, id(), func(tx *store.Tx, m *memd.Memory) error {
				_, err := tx.Delete(m.Tier, m.ID)
				return err
			})
		}},
		{"the newest deleted, and another", func() {
			byHand(`DELETE FROM {t} WHERE rid = (SELECT max(rid) FROM {t})`)()
			insert(memd.Short, memd.Long, memd.Archive)
		}},
		{"a summary by hand", byHand(`UPDATE {t} SET summary = 'golf hotel india', why = NULL WHERE rid = (SELECT max(rid) - 1 FROM {t})`)},
		{"a namespace by hand", byHand(`UPDATE {t} SET namespace = 'elsewhere' WHERE rid = (SELECT min(rid) FROM {t})`)},
		{"a number by hand", byHand(`UPDATE {t} SET rid = rid + 1000 WHERE rid = (SELECT min(rid) FROM {t})`)},
		{"a lower number by hand", byHand(`UPDATE {t} SET rid = (SELECT min(rid) FROM {t}) - 7 WHERE rid = (SELECT max(rid) FROM {t})`)},
		{"all of a tier deleted", byHand(`DELETE FROM {t}`)},
		{"a rollover", rollover},
		{"what moved forgotten", byHand(`DELETE FROM moved`)},
		{"compaction", func() {
			if _, err := s.Compact(ctx); err != nil {
				t.Fatal(err)
			}
		}},
		{"a look at what was edited", func() {
			var ids []string
			view(t, s, func(v *store.View) (err error) { ids, err = v.Edited(100); return err })
			for _, id := range ids {
				change(t, s, id, func(tx *store.Tx, m *memd.Memory) error { return tx.Reindex(m) })
			}
		}},
	}
	for round := range 60 {
		step := steps[rng.IntN(len(steps))]
		if round < len(steps) {
			step = steps[round]
		}
		step.do()
		if err := s.Index(ctx); err != nil {
			t.Fatal(err)
		}
		agrees(t, s, fmt.Sprintf("round %d, %s", round, step.name))
		if t.Failed() {
			return
		}
	}
}

// What searches catch up with, row by row, does not pile up in the index.
func TestIndexShedsWhatMoved(t *testing.T) {
	s, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n := range 100 {
		put(t, s, row(memd.Short, n+1, "alpha"))
	}
	must(t, s.Index(ctx))
	for range 15 {
		write(t, s, func(tx *store.Tx) error { return tx.Exec(`UPDATE short SET owner = 'bravo'`) })
		agrees(t, s, "an update of all rows")
	}
	must(t, s.Index(ctx))
	if n := s.IndexRows(); n > 1100 {
		t.Errorf("%d rows in the index, of 100", n)
	}
	agrees(t, s, "all")
}

// A row that takes the place of another without the triggers of a deletion, as
// the shell's does, is in the index.
func TestIndexFollowsReplacedRows(t *testing.T) {
	s, err := open(t.TempDir()) // SQLite's own index keeps the terms of the rows replaced
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put(t, s, row(memd.Short, 1, "alpha"), row(memd.Short, 2, "bravo"), row(memd.Short, 3, "charlie"))
	must(t, s.Index(ctx))
	const copied = `id, namespace, kind, importance, source_status, created_at, updated_at, written_at, content_hash`
	found := func(term string, want int) {
		t.Helper()
		view(t, s, func(v *store.View) error {
			got, rest, err := v.Indexed(memd.Short, term)
			if len(got) != want || len(rest) > 0 {
				t.Errorf("%s: %d rows, want %d; not covered %v", term, len(got), want, rest)
			}
			return err
		})
	}
	shell(t, s.Dir(), `INSERT OR REPLACE INTO short (rid, summary, `+copied+`) SELECT rid, 'delta', `+copied+` FROM short WHERE rid = (SELECT max(rid) FROM short)`)
	found("delta", 1)
	found("charli", 0)
	shell(t, s.Dir(), `INSERT OR REPLACE INTO short (summary, `+copied+`) SELECT 'echo', `+copied+` FROM short WHERE summary = 'alpha'`)
	found("echo", 1)
	found("alpha", 0)
}

// A historical database that cannot be brought up to this release answers by
// SQLite's index, and the others by theirs.
func TestIndexBesideOlderSchema(t *testing.T) {
	dir := t.TempDir()
	s, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, row(memd.Short, 1, "alpha bravo"))
	old := roll(t, s).File
	put(t, s, row(memd.Short, 2, "alpha charlie"))
	must(t, s.Close())
	// The triggers that are there already stop the migration.
	shellOn(t, filepath.Join(dir, old), `DROP TABLE moved; DELETE FROM goose_db_version WHERE version_id >= 4`)
	if s, err = open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	must(t, s.Index(ctx))
	view(t, s, func(v *store.View) error {
		counts, err := v.DocFreqs([]string{"alpha", "bravo"})
		if !slices.Equal(counts, []int{2, 1}) {
			t.Errorf("document frequencies %v, %v", counts, err)
		}
		found, rest, err := v.Indexed(memd.Short, "alpha")
		if len(found) != 1 || !slices.Equal(rest, []int{1}) {
			t.Errorf("found %v, not covered %v", found, rest)
		}
		return err
	})
	finds(t, s, memd.Short, "alpha", row(memd.Short, 1, ""), row(memd.Short, 2, ""))
}
