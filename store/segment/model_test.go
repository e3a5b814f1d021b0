package segment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memd/store/terms"

	"pgregory.net/rapid"
)

// model is the plainest index.
type model struct {
	rows     []Row
	spaces   []string
	postings map[string][]posting
}

type posting struct{ row, text, labels int }

func (m *model) add(r Row, text []string, labels string) {
	counts := map[string]posting{}
	x := terms.NewIndexer()
	for _, t := range text {
		x.Each(t, func(term []byte) {
			p := counts[string(term)]
			p.text++
			counts[string(term)] = p
		})
	}
	x.Each(labels, func(term []byte) {
		p := counts[string(term)]
		p.labels++
		counts[string(term)] = p
	})
	for term, p := range counts {
		m.postings[term] = append(m.postings[term], posting{len(m.rows), Counted(p.text), min(p.labels, mostLabels)})
	}
	m.rows = append(m.rows, r)
	if !slices.Contains(m.spaces, r.Namespace) {
		m.spaces = append(m.spaces, r.Namespace)
	}
}

func newModel() *model { return &model{postings: map[string][]posting{}} }

// fataler is a test of either kind.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check compares an index with the model: all terms, those absent, all rows.
func (m *model) check(t fataler, x Index) {
	t.Helper()
	for term, want := range m.postings {
		if got := read(x.Postings(term)); !slices.Equal(got, want) || x.DF(term) != len(want) {
			t.Fatalf("%T: %q: df %d, postings %v, want %v", x, term, x.DF(term), got, want)
		}
		m.checkCounts(t, x, term, want)
		for _, absent := range []string{term + "\x00", term + "\xff", term[:len(term)-1]} {
			if m.postings[absent] == nil && (x.DF(absent) != 0 || len(read(x.Postings(absent))) != 0) {
				t.Fatalf("%T: %q found", x, absent)
			}
		}
	}
	for _, absent := range []string{"", "\x00", "\xff\xff", strings.Repeat("z", 300)} {
		if p := x.Postings(absent); x.DF(absent) != 0 || p.Len() != 0 {
			t.Fatalf("%T: %q found", x, absent)
		}
	}
	m.checkRows(t, x.Rows())
}

// checkCounts looks a term up in every row, and in every third.
func (m *model) checkCounts(t fataler, x Index, term string, want []posting) {
	t.Helper()
	in := make([]posting, len(m.rows))
	for _, p := range want {
		in[p.row] = p
	}
	for _, step := range []int{1, 3} {
		c := x.Postings(term).Counts()
		for row := 0; row < len(m.rows); row += step {
			if text, labels := c.In(row); text != in[row].text || labels != in[row].labels {
				t.Fatalf("%T: %q in row %d: %d, %d, want %+v", x, term, row, text, labels, in[row])
			}
		}
	}
}

func (m *model) checkRows(t fataler, rows *Rows) {
	t.Helper()
	if rows.Len() != len(m.rows) || !slices.Equal(rows.Namespaces(), m.spaces) {
		t.Fatalf("%d rows, namespaces %q; want %d, %q", rows.Len(), rows.Namespaces(), len(m.rows), m.spaces)
	}
	last := map[int64]int{}
	for i, want := range m.rows {
		last[want.RID] = i
		if got := rows.Row(i); got != want {
			t.Fatalf("row %d: %+v, want %+v", i, got, want)
		}
		if rows.Namespaces()[rows.NamespaceOf(i)] != want.Namespace {
			t.Fatalf("row %d: namespace %d", i, rows.NamespaceOf(i))
		}
	}
	for _, r := range m.rows {
		for _, rid := range []int64{r.RID - 1, r.RID, r.RID + 1} {
			want, known := last[rid]
			if got, ok := rows.Find(rid); ok != known || ok && got != want {
				t.Fatalf("rid %d: row %d, %v; want %d, %v", rid, got, ok, want, known)
			}
		}
	}
}

// read reads postings to their end, and past it.
func read(p Postings) []posting {
	var all []posting
	for row, text, labels, ok := p.Next(); ok; row, text, labels, ok = p.Next() {
		all = append(all, posting{row, text, labels})
	}
	if _, _, _, ok := p.Next(); ok || p.Len() != len(all) {
		return append(all, posting{-1, p.Len(), len(all)})
	}
	return all
}

var (
	someWord = rapid.OneOf(
		rapid.SampledFrom(strings.Fields("the writer commits committed a a a 数据库 迁移 test-all src/api/x.go E_SIG_47 HTTPServer C++ 🚀 café ＡＰＩ")),
		rapid.StringMatching(`[a-d]{1,3}`),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	someText = rapid.Map(rapid.SliceOfN(someWord, 0, 12), func(words []string) string { return strings.Join(words, " ") })
	someRow  = rapid.Custom(func(t *rapid.T) Row {
		return Row{
			RID:       rapid.OneOf(rapid.Int64Range(-3, 40), rapid.Int64()).Draw(t, "rid"),
			Namespace: rapid.SampledFrom([]string{"", "a", "b", "数", "\xff"}).Draw(t, "namespace"),
			Chars:     rapid.IntRange(0, 1<<31-1).Draw(t, "chars"),
			Unspaced:  rapid.Bool().Draw(t, "unspaced"),
		}
	})
)

// Growing, between any two adds, and Frozen are as the model says.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, g := newModel(), NewGrowing()
		ascending := rapid.Bool().Draw(t, "ascending")
		for i := range rapid.IntRange(0, 12).Draw(t, "rows") {
			r := someRow.Draw(t, "row")
			if ascending {
				r.RID = int64(i / 2) // duplicates among them
			}
			text := rapid.SliceOfN(someText, 0, 3).Draw(t, "text")
			labels := someText.Draw(t, "labels")
			before := g.Freeze()
			m.check(t, before)
			g.Add(r, text, labels)
			m.add(r, text, labels)
			m.check(t, g)
			if before.Rows().Len() != i {
				t.Fatalf("a frozen index has grown")
			}
		}
		m.check(t, g.Freeze())
	})
}

// Lists with long gaps and a dictionary of many blocks.
func TestManyRows(t *testing.T) {
	m, g := newModel(), NewGrowing()
	for i := range 3000 {
		text := []string{fmt.Sprintf("every row%d fifth%d x%dy", i, i%5, i/7), strings.Repeat("often ", i%40)}
		labels := strings.Repeat("label ", i%6/3*(i%9))
		if i%1000 == 999 {
			text = append(text, "rare")
		}
		r := Row{RID: int64(i ^ 1), Namespace: fmt.Sprint("n", i%300), Chars: i, Unspaced: i%2 == 0}
		g.Add(r, text, labels)
		m.add(r, text, labels)
	}
	m.check(t, g)
	f := g.Freeze()
	m.check(t, f)
	if f.Bytes() <= 0 || f.Bytes() >= g.Bytes() {
		t.Errorf("frozen %d bytes, growing %d", f.Bytes(), g.Bytes())
	}
}
