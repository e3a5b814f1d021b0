package store_test

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/embedding"
	"memd/embedding/embeddingtest"
	"memd/internal/memtest"
	"memd/store"
	"memd/store/vectorfill"
)

var sixty = embeddingtest.Hashed{Name: "sixty", Size: 60} // no multiple of 8

// vectorOf is a text's vector as a search asks for it.
func vectorOf(t testing.TB, e embedding.Embedder, text string) store.Vector {
	t.Helper()
	v, err := e.Embed(ctx, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return store.Vector{Model: e.Model(), Int8: embedding.Int8(v[0])}
}

// nearRows are long and short rows of every kind that a search passes over, and
// many more that it finds.
func nearRows(rng *rand.Rand, n int) []memd.Memory {
	words := strings.Fields("kiln damson quorum heron ledger gateway schema rollback cluster watchdog")
	var rows []memd.Memory
	for i := range n {
		var text []string
		for range 3 + rng.IntN(4) {
			text = append(text, words[rng.IntN(len(words))])
		}
		tier := memd.Short
		if i%4 == 0 {
			tier = memd.Long
		}
		m := row(tier, i, fmt.Sprint(strings.Join(text, " "), " ", i))
		switch i % 13 {
		case 3:
			m.Namespace = "project/x"
		case 5:
			m.Access = []string{"secret"}
		case 7:
			m.ExpiresAt = memd.At(memtest.NewClock().Now().Add(-1))
		case 9:
			m.Tags = []string{"ci"}
		}
		rows = append(rows, m)
	}
	return rows
}

// expected is what Nearest has to find, of all rows read one by one.
func expected(t testing.TB, rows []memd.Memory, tier memd.Tier, q store.Vector, sc store.Scope, f store.Filter, n int) []string {
	t.Helper()
	type near struct {
		id       string
		distance int
		cosine   float64
	}
	var all []near
	for i := range rows {
		m := &rows[i]
		open := len(m.Access) == 0 || slices.Equal(m.Access, sc.Access)
		if m.Tier != tier || !slices.Contains(sc.Namespaces, m.Namespace) || !open || !m.ExpiresAt.IsZero() || !f.Keeps(m) {
			continue
		}
		v, _ := sixty.Embed(ctx, []string{m.Summary})
		asked := make([]float32, len(q.Int8))
		for i, b := range q.Int8 {
			asked[i] = float32(int8(b))
		}
		own, query := embedding.Bits(v[0]), embedding.Bits(asked)
		distance := 0
		for i := range own {
			distance += bits.OnesCount8(own[i] ^ query[i])
		}
		var dot, aa, bb float64
		for i, b := range embedding.Int8(v[0]) {
			x, y := float64(int8(b)), float64(int8(q.Int8[i]))
			dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
		}
		all = append(all, near{m.ID, distance, dot / math.Sqrt(aa*bb)})
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.id, b.id)) })
	all = all[:min(16*n, len(all))]
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.id, b.id)) })
	ids := []string{}
	for _, a := range all[:min(n, len(all))] {
		ids = append(ids, fmt.Sprintf("%s %.4f", a.id, a.cosine))
	}
	return ids
}

// What comes nearest is the same over 1, 5 and 21 databases, whatever is not
// visible makes room, and what a search finds and what it measures agree.
func TestNearest(t *testing.T) {
	const n = 420
	for _, files := range []int{1, 5, 21} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			s := memtest.Store(t, "", nil, func(b *configs.Budgets) { b.ShortRows, b.LongRows = n, n })
			rows := nearRows(rand.New(rand.NewPCG(4, 4)), n)
			for part := range files {
				put(t, s, rows[part*n/files:(part+1)*n/files]...)
				if part+1 < files {
					if _, err := s.Rollover(ctx); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := vectorfill.Write(ctx, s.Dir(), sixty); err != nil {
				t.Fatal(err)
			}
			open := scope()
			open.Access = []string{"secret"}
			other := scope()
			other.Namespaces = []string{"project/x"} // few: the look at all vectors is not enough
			for _, c := range []struct {
				scope  store.Scope
				filter store.Filter
			}{{scope: scope()}, {scope: open}, {scope: other}, {scope: scope(), filter: store.Filter{Tags: []string{"ci"}}},
				{scope: scope(), filter: store.Filter{Kinds: []memd.Kind{memd.Rule}}}, {}} {
				for _, tier := range []memd.Tier{memd.Long, memd.Short, memd.Archive} {
					for _, text := range []string{"kiln damson", "the watchdog of the cluster"} {
						for _, limit := range []int{1, 10, 300} {
							q := vectorOf(t, sixty, text)
							want := expected(t, rows, tier, q, c.scope, c.filter, limit)
							got, ids := []string{}, []string{}
							cosines := map[string]float64{}
							view(t, s, func(v *store.View) error {
								found, err := v.Nearest(tier, q, c.scope, c.filter, limit)
								for _, m := range found {
									got = append(got, fmt.Sprintf("%s %.4f", m.ID, m.Cosine))
									ids = append(ids, m.ID)
								}
								if err == nil {
									cosines, err = v.Cosines(q, ids)
								}
								for i, m := range found {
									if i > 0 && m.Cosine > found[i-1].Cosine {
										t.Errorf("%s stands behind one of a lesser cosine", m.ID)
									}
									if cosines[m.ID] != m.Cosine {
										t.Errorf("%s: cosine %v, found with %v", m.ID, cosines[m.ID], m.Cosine)
									}
								}
								return err
							})
							if !sameButTies(got, want) {
								t.Fatalf("%+v %s %q, %d: found\n%q, want\n%q", c, tier, text, limit, got, want)
							}
						}
					}
				}
			}
		})
	}
}

// Of a tier with a smaller share of the rows more vectors are looked at, and the
// same is found.
func TestNearestOfASmallerTier(t *testing.T) {
	const n = 1600
	s := memtest.Store(t, "", nil, func(b *configs.Budgets) { b.ShortRows, b.LongRows = n, n })
	rows := nearRows(rand.New(rand.NewPCG(5, 5)), n) // a quarter is long
	put(t, s, rows...)
	if err := vectorfill.Write(ctx, s.Dir(), sixty); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"kiln damson", "the watchdog of the cluster", "ledger"} {
		q := vectorOf(t, sixty, text)
		want := expected(t, rows, memd.Long, q, scope(), store.Filter{}, 1)
		view(t, s, func(v *store.View) error {
			found, err := v.Nearest(memd.Long, q, scope(), store.Filter{}, 1)
			if err == nil && (len(found) != 1 || fmt.Sprintf("%s %.4f", found[0].ID, found[0].Cosine) != want[0]) {
				t.Errorf("%q: found %d rows, want %s", text, len(found), want)
			}
			return err
		})
	}
	if s.Readings() != 1 {
		t.Errorf("the bits were read %d times: all rows of the tier were looked at instead", s.Readings())
	}
}

// sameButTies compares as sets: cosines that part in the last bit order ties
// otherwise in Go than in SQLite.
func sameButTies(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// A superseded version is not found, in the active database or another.
func TestNearestPassesOverOldVersions(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	put(t, s, row(memd.Long, 1, "kiln damson"))
	second := row(memd.Long, 2, "kiln damson heron")
	second.MemoryKey, second.Version = "key-1", 2
	find := func() (ids []string) {
		if err := vectorfill.Write(ctx, s.Dir(), sixty); err != nil {
			t.Fatal(err)
		}
		view(t, s, func(v *store.View) error {
			found, err := v.Nearest(memd.Long, vectorOf(t, sixty, "kiln damson"), scope(), store.Filter{}, 10)
			for _, m := range found {
				ids = append(ids, m.ID)
			}
			return err
		})
		return ids
	}
	put(t, s, second)
	if got := find(); !slices.Equal(got, []string{second.ID}) {
		t.Errorf("in one database: %q", got)
	}
	if _, err := s.Rollover(ctx); err != nil {
		t.Fatal(err)
	}
	third := row(memd.Long, 3, "kiln damson quorum")
	third.MemoryKey, third.Version = "key-1", 3
	put(t, s, third)
	if got := find(); !slices.Equal(got, []string{third.ID}) {
		t.Errorf("over databases: %q", got)
	}
}

// A vector that cannot be compared, whatever ails it, is passed over and fails
// no search: sqlite-vec would abort the statement.
func TestNearestPassesOverBadVectors(t *testing.T) {
	s, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	rows := nearRows(rand.New(rand.NewPCG(1, 1)), 3)
	put(t, s, rows...)
	if err := vectorfill.Write(ctx, s.Dir(), sixty); err != nil {
		t.Fatal(err)
	}
	ill := map[string]string{"null bits": `bits = NULL`, "empty bits": `bits = x''`, "short bits": `bits = x'00'`, "empty": `vec = x''`,
		"short": `vec = x'01'`, "zero": `vec = zeroblob(60)`, "another dimension": `dim = 61`, "another model": `model = 'other'`}
	q := vectorOf(t, sixty, rows[1].Summary)
	for name, change := range ill {
		shell(t, s.Dir(), `UPDATE embedding SET `+change+` WHERE memory_id = '`+rows[1].ID+`'`)
		view(t, s, func(v *store.View) error {
			found, err := v.Nearest(memd.Short, q, scope(), store.Filter{}, 10)
			if err != nil || len(found) != 1 || found[0].ID != rows[2].ID {
				t.Errorf("%s: %d found, %v", name, len(found), err)
			}
			cosines, err := v.Cosines(q, []string{rows[1].ID, rows[2].ID})
			if _, has := cosines[rows[1].ID]; err != nil || has || len(cosines) != 1 {
				t.Errorf("%s: cosines %v, %v", name, cosines, err)
			}
			return v.RemovedNear(q, -1, scope(), store.Filter{}, memd.LocalAdmin(), 10, func(_ memd.Tier, id, _ string) {
				if id == rows[1].ID {
					t.Errorf("%s: counted", name)
				}
			})
		})
		shell(t, s.Dir(), `DELETE FROM embedding WHERE memory_id = '`+rows[1].ID+`'`)
		if err := vectorfill.Write(ctx, s.Dir(), sixty); err != nil {
			t.Fatal(err)
		}
	}
}

// Without sqlite-vec the search says so, and meta does.
func TestNoVectorSearch(t *testing.T) {
	s, err := store.Open(ctx, store.Options{Dir: t.TempDir(), Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now, NoVectors: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	put(t, s, row(memd.Short, 1, "kiln"))
	view(t, s, func(v *store.View) error {
		q := vectorOf(t, sixty, "kiln")
		_, err := v.Nearest(memd.Short, q, scope(), store.Filter{}, 10)
		codeIs(t, err, memd.CodeStoreFailed)
		_, err = v.Cosines(q, nil)
		codeIs(t, err, memd.CodeStoreFailed)
		return nil
	})
	if got := shell(t, s.Dir(), `SELECT group_concat(value) FROM (SELECT value FROM meta WHERE key LIKE 'vector%' ORDER BY key)`); got != "false,none" {
		t.Errorf("meta says %q", got)
	}
	finds(t, s, memd.Short, "kiln", row(memd.Short, 1, "kiln"))
}
