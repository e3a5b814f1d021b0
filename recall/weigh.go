package recall

import (
	"cmp"
	"slices"

	"memd"
	"memd/store"
	"memd/store/terms"
)

// corpus is what a query's terms are weighed against. A cursor carries it, so
// that all pages of one recall share one order, whatever is written meanwhile.
type corpus struct {
	Rows  int   `json:"n"`
	Chars int64 `json:"c"` // code points of all summaries
	DF    []int `json:"f"` // rows that hold each term of the query; 0 for one that carries nothing
}

// carries reports of each term of a query whether it says anything. Stop words
// do not, unless the query has nothing else.
func carries(query []terms.Term) []bool {
	onlyStops := !slices.ContainsFunc(query, func(t terms.Term) bool { return !t.Stop })
	says := make([]bool, len(query))
	for i, t := range query {
		says[i] = !t.Stop || onlyStops
	}
	return says
}

// survey counts the terms that carry in the whole corpus.
func survey(v *store.View, query []terms.Term) (*corpus, error) {
	rows, chars, err := v.Corpus()
	if err != nil {
		return nil, err
	}
	c := &corpus{Rows: rows, Chars: chars, DF: make([]int, len(query))}
	var words []string
	var places []int // of words in the query
	for i, says := range carries(query) {
		if says {
			words, places = append(words, query[i].Text), append(places, i)
		}
	}
	counts, err := v.DocFreqs(words)
	if err != nil {
		return nil, err
	}
	for i, n := range counts {
		c.DF[places[i]] = n
	}
	return c, nil
}

// fits reports whether c can be the corpus of a query with n terms. One that
// can yields finite weights.
func (c *corpus) fits(n int) bool {
	for _, df := range c.DF {
		if df < 0 || df > c.Rows {
			return false
		}
	}
	return len(c.DF) == n && c.Rows <= maxCorpus && c.Chars >= 0
}

// weighed is a query's terms with their weights in a corpus.
type weighed struct {
	terms      []terms.Term
	corpus     *corpus
	weight     []float64 // by term
	says       []bool    // whether a term makes a match: not a stop word beside others
	rare       []bool    // held by fewer than floorRare of the rows
	carriers   []int     // places of the terms that occur and carry weight, rarest first
	mass       float64   // weight of the carriers: what the floor is a share of
	noteMass   float64   // weight of all terms that say something: the corpus does not count notes
	stopMass   float64   // weight of stop words beside others: relevance is a share of it too
	clauses    [][]int   // places of the terms of each sentence, of a query of several
	clauseMass []float64 // by sentence: weight of its terms that occur, what its answer is a share of
	perChar    float64   // what a code point of a text adds to norm, by the length of the average summary
	counter    *terms.Counter
	floor      float64 // the cosine from which on a row is near, 0 without vectors
}

// weigh gives a query's terms their weights. The parts of an identifier weigh little where an
// identifier of the query occurs whole: rows that share a number with it are
// not about it.
func weigh(query []terms.Term, clauses [][]int, c *corpus) *weighed {
	n := len(query)
	w := &weighed{
		terms: query, corpus: c, weight: make([]float64, n), rare: make([]bool, n),
		clauses: clauses, clauseMass: make([]float64, len(clauses)),
		perChar: saturation * lengthBias / max(1, float64(c.Chars)/float64(max(c.Rows, 1))), counter: terms.NewCounter(query),
	}
	whole := false
	for i, t := range query {
		whole = whole || t.Whole && c.DF[i] > 0
	}
	w.says = carries(query)
	for i, says := range w.says {
		if !says {
			w.weight[i] = stopWeighs * idf(c.Rows, c.Rows/2)
			w.stopMass += w.weight[i]
			continue
		}
		df, part := c.DF[i], query[i].Part && whole
		w.weight[i] = idf(c.Rows, df)
		switch {
		case part:
			w.weight[i] *= partWeighs
		case query[i].Char:
			w.weight[i] *= charWeighs
		}
		w.rare[i] = !part && !query[i].Char && c.Rows >= floorRareFrom && float64(df) < floorRare*float64(c.Rows)
		w.noteMass += w.weight[i]
		if df > 0 {
			w.mass += w.weight[i]
			w.carriers = append(w.carriers, i)
		}
	}
	w.weighClauses()
	slices.SortStableFunc(w.carriers, func(a, b int) int { return cmp.Compare(c.DF[a], c.DF[b]) })
	return w
}

// weighClauses adds up the weights of each sentence.
func (w *weighed) weighClauses() {
	w.clauseMass = make([]float64, len(w.clauses))
	for c, clause := range w.clauses {
		for _, i := range clause {
			if !w.says[i] || w.corpus.DF[i] > 0 {
				w.clauseMass[c] += w.weight[i]
			}
		}
	}
}

// any is an FTS5 expression for the rows that hold any carrier, "" when there
// is none.
func (w *weighed) any() string {
	var expr []byte
	for _, i := range w.carriers {
		if expr != nil {
			expr = append(expr, " OR "...)
		}
		expr = append(expr, w.terms[i].Match...)
	}
	return string(expr)
}

// massFor is what the relevance of a row of tier t is a share of.
func (w *weighed) massFor(t memd.Tier) float64 {
	if t == memd.Transient {
		return w.noteMass
	}
	return w.mass
}
