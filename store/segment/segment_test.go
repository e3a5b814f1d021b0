package segment

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"memd/store/terms"
)

func TestEmpty(t *testing.T) {
	g := NewGrowing()
	newModel().check(t, g)
	newModel().check(t, g.Freeze())
	if _, ok := g.Rows().Find(0); ok {
		t.Error("a row found")
	}
}

// A posting tells what Counter counts over the same texts.
func TestAgreesWithCounter(t *testing.T) {
	pieces := strings.Fields(`a B is test All HTTP Server deploying generalizations s ed 7 数 据库 迁移 的 が ﾊﾞ 안녕 ภา é ß İ я ½ ﬁ ＡＰＩ ℃ 🚀 🏽 ©
		- _ . / : # + ++ :: ' "`)
	pieces = append(pieces, " ", " ", "\n", "\x00", "\u0301", "\u3099", "\xff", "\xe6\x96", strings.Repeat("x", 100), strings.Repeat("é", 200))
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() string {
		var b strings.Builder
		for range rng.IntN(20) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	g := NewGrowing()
	type texts struct {
		text   []string
		labels string
	}
	var rows []texts
	for i := range 100 {
		r := texts{[]string{random(), random(), random()}, random()}
		rows = append(rows, r)
		g.Add(Row{RID: int64(i)}, r.text, r.labels)
	}
	f := g.Freeze()
	query := terms.Query(strings.Join(pieces, " ")+" "+random()+" "+random(), 1<<20)
	counter := terms.NewCounter(query)
	want := make([][]posting, len(query))
	for i, r := range rows {
		text, labels := make([]int, len(query)), make([]int, len(query))
		for _, s := range r.text {
			counter.Count(s, text)
		}
		counter.Count(r.labels, labels)
		for j := range query {
			if text[j]+labels[j] > 0 {
				want[j] = append(want[j], posting{i, Counted(text[j]), min(labels[j], mostLabels)})
			}
		}
	}
	for j, term := range query {
		for _, x := range []Index{g, f} {
			if got := read(x.Postings(term.Text)); !slices.Equal(got, want[j]) {
				t.Errorf("%T: %q: %v, Counter %v", x, term.Text, got, want[j])
			}
		}
	}
}

func TestCountsStop(t *testing.T) {
	for _, test := range []struct{ times, want int }{{61, 61}, {62, 62}, {63, maxCount}, {64, maxCount}, {65536, maxCount}} {
		g := NewGrowing()
		many := strings.Repeat("a ", test.times)
		g.Add(Row{}, []string{many, "", "b"}, many)
		g.Add(Row{}, []string{"a"}, "")
		want := []posting{{0, test.want, mostLabels}, {1, 1, 0}}
		for _, x := range []Index{g, g.Freeze()} {
			if got := read(x.Postings("a")); !slices.Equal(got, want) {
				t.Errorf("%T: %v, want %v", x, got, want)
			}
		}
	}
}

// Every form of a posting comes back, whatever the width of its numbers.
func TestPostingForms(t *testing.T) {
	edges := []int{0, 1, 2, 3, 4, 5, 31, 32, 63, 64, 127, 128, 8191, 8192, 16383, 16384, maxCount}
	var data []byte
	var want []posting
	next := 0
	for _, gap := range append(edges, 1<<20, 1<<27) {
		for _, text := range edges {
			for _, labels := range edges {
				if text+labels == 0 {
					continue
				}
				data = appendPosting(data, gap, text, labels)
				want = append(want, posting{next + gap, Counted(text), min(labels, mostLabels)})
				next += gap + 1
			}
		}
	}
	if got := read(Postings{data: data, n: len(want)}); !slices.Equal(got, want) {
		t.Error("postings differ")
	}
}

// Postings got before an Add end where the index ended then, even if they are
// read during it.
func TestPostingsStayAsTheyWere(t *testing.T) {
	g := NewGrowing()
	var readers sync.WaitGroup
	for i := range 200 {
		p := g.Postings("word")
		readers.Go(func() {
			if got := read(p); len(got) != i {
				t.Errorf("%d rows, want %d", len(got), i)
			}
		})
		g.Add(Row{}, []string{"word"}, "")
	}
	readers.Wait()
}

// Longest texts, and terms that share all but the end.
func TestLongTexts(t *testing.T) {
	m, g := newModel(), NewGrowing()
	long := strings.Repeat("x", 255)
	for _, labels := range []string{
		strings.Repeat("k", 65536), strings.Repeat("数", 65536), strings.Repeat("\xff", 65536),
		long + "a " + long + "b " + long + "cc " + long, "",
	} {
		r := Row{RID: int64(len(m.rows)), Namespace: strings.Repeat("n", 1000)}
		g.Add(r, nil, labels)
		m.add(r, nil, labels)
	}
	if g.DF(long+"a") != 1 || g.DF(long+"cc") != 0 {
		t.Errorf("df %d of a word of 256 bytes, %d of one of 257", g.DF(long+"a"), g.DF(long+"cc"))
	}
	m.check(t, g)
	m.check(t, g.Freeze())
}

func TestCharsAreKeptInBounds(t *testing.T) {
	g := NewGrowing()
	for _, test := range []struct{ chars, want int }{{-1, 0}, {0, 0}, {1<<31 - 1, 1<<31 - 1}, {1 << 31, 1<<31 - 1}, {1 << 40, 1<<31 - 1}} {
		g.Add(Row{Chars: test.chars, Unspaced: true}, nil, "")
		if got := g.Rows().Row(g.Rows().Len() - 1); got.Chars != test.want || !got.Unspaced {
			t.Errorf("%d: %+v", test.chars, got)
		}
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	g := NewGrowing()
	for i, id := range []string{"00000000-0000-0000-0000-000000000001", "hand-made", "00000000-0000-0000-0000-000000000002"} {
		g.Add(Row{RID: int64(i), Namespace: "n"}, []string{"some words", id}, "label")
	}
	f := g.Freeze()
	term := string([]byte("word"))
	for _, x := range []Index{g, f} {
		rows, n := x.Rows(), 0
		allocs := testing.AllocsPerRun(10, func() {
			p := x.Postings(term)
			for row, _, _, ok := p.Next(); ok; row, _, _, ok = p.Next() {
				found, _ := rows.Find(rows.RID(row))
				n += x.DF(term) + found + rows.Chars(row) + rows.NamespaceOf(row) +
					len(rows.Namespace(row)) + len(rows.Namespaces())
			}
		})
		if allocs != 0 || n == 0 {
			t.Errorf("%T: %v allocations", x, allocs)
		}
	}
}

func FuzzSegment(f *testing.F) {
	f.Add("the writer commits", "数据库 test-all", "key", int64(1))
	f.Add("\xff\x00", "a a a", "a", int64(-1))
	f.Fuzz(func(t *testing.T, a, b, labels string, rid int64) {
		m, g := newModel(), NewGrowing()
		for i, text := range [][]string{{a, b}, {b}, nil, {a}} {
			r := Row{RID: rid * int64(i%3), Namespace: labels}
			g.Add(r, text, labels[:len(labels)*i/3])
			m.add(r, text, labels[:len(labels)*i/3])
		}
		m.check(t, g)
		m.check(t, g.Freeze())
	})
}
