package segment

import (
	"strings"
	"unsafe"

	"memd/store/terms"
)

// Growing is an index that takes rows. It can be read between two calls of
// Add, by any number at once; its owner sees to it that nobody reads during one.
type Growing struct {
	rows    Rows
	spaces  map[string]int32 // namespaces to their place in rows
	terms   map[string]int32 // terms to their place in lists
	lists   []list
	indexer *terms.Indexer
	held    int // bytes of terms and of posting lists

	// Of the row being added.
	touched []int32 // lists of its terms
	onText  func(term []byte)
	onLabel func(term []byte)
}

// list is the posting list of one term.
type list struct {
	data         []byte
	n            int32  // postings
	end          int32  // the row after the last one
	text, labels uint16 // counts in the row being added, 0 outside Add
}

func (l *list) postings() Postings { return Postings{data: l.data, n: int(l.n)} }

// NewGrowing returns an index without rows.
func NewGrowing() *Growing {
	g := &Growing{spaces: map[string]int32{}, terms: map[string]int32{}, indexer: terms.NewIndexer()}
	g.onText = func(term []byte) { increment(&g.list(term).text) }
	g.onLabel = func(term []byte) { increment(&g.list(term).labels) }
	return g
}

// Add adds a row, with the texts that count (summary, why, how_to_apply) and
// all that labels it (key, tags, kind ...) in one. Its ordinal is the number of
// rows before. What it keeps of the strings it copies.
func (g *Growing) Add(r Row, text []string, labels string) {
	row := g.rows.Len()
	g.rows.add(r, g.space(r.Namespace))
	for _, t := range text {
		g.indexer.Each(t, g.onText)
	}
	g.indexer.Each(labels, g.onLabel)
	for _, i := range g.touched {
		l := &g.lists[i]
		before := cap(l.data)
		l.data = appendPosting(l.data, row-int(l.end), int(l.text), int(l.labels))
		l.n, l.end, l.text, l.labels = l.n+1, int32(row+1), 0, 0
		g.held += cap(l.data) - before
	}
	g.touched = g.touched[:0]
}

// list returns the list of a term of the row being added.
func (g *Growing) list(term []byte) *list {
	i, known := g.terms[string(term)]
	if !known {
		i = int32(len(g.lists))
		g.terms[string(term)] = i
		g.lists = append(g.lists, list{})
		g.held += stringBytes + len(term) + 4 + mapBytes
	}
	l := &g.lists[i]
	if l.text == 0 && l.labels == 0 {
		g.touched = append(g.touched, i)
	}
	return l
}

func increment(count *uint16) {
	if *count < maxCount {
		*count++
	}
}

// space returns the place of a namespace among those of the rows.
func (g *Growing) space(name string) int32 {
	i, known := g.spaces[name]
	if !known {
		i = int32(len(g.spaces))
		name = strings.Clone(name)
		g.spaces[name] = i
		g.rows.names = append(g.rows.names, name)
		g.rows.texts += stringBytes + len(name)
	}
	return i
}

// Rows are the rows of the index, and those that will be added.
func (g *Growing) Rows() *Rows { return &g.rows }

// DF is in how many rows a term stands, in text or labels.
func (g *Growing) DF(term string) int {
	if i, known := g.terms[term]; known {
		return int(g.lists[i].n)
	}
	return 0
}

// Postings returns these rows. Rows added later are not among them.
func (g *Growing) Postings(term string) Postings {
	i, known := g.terms[term]
	if !known {
		return Postings{}
	}
	return g.lists[i].postings()
}

// Bytes is about how much memory the index holds, without the words its
// Indexer remembers, which are bounded.
func (g *Growing) Bytes() int {
	return g.rows.bytes() + g.held + cap(g.lists)*int(unsafe.Sizeof(list{})) + 4*cap(g.touched) +
		len(g.spaces)*(stringBytes+4+mapBytes)
}
