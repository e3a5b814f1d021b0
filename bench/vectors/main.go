// Command vectors measures what the vectors of a model find by themselves: it
// ranks the rows of each question's group by cosine and prints recall@k, for
// the vectors as they are, as int8, and as int8 of what a coarse pass over bits
// leaves. The model is a file or folder as static.Convert takes it.
//
//	go run ./bench/vectors words.txt
//	go run ./bench/vectors -set locomo -words 40000 words.txt
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"memd/embedding"
	"memd/embedding/static"
)

// coarse is how many rows the pass over bits leaves for each of the first ten.
const coarse = 20

func main() {
	data := flag.String("data", "../shared/bench", "folder of the retrieval sets")
	set := flag.String("set", "", "the one set to measure with, a folder below -data")
	words := flag.Int("words", 0, "words kept of a file of words")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: vectors [-data DIR] [-set NAME] [-words N] MODEL")
		os.Exit(2)
	}
	sets := []string{"locomo", "bakeoff_stress500", "memdaily_zh", "cmrc2018_zh"}
	if *set != "" {
		sets = []string{*set}
	}
	if err := run(*data, sets, flag.Arg(0), *words); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(data string, sets []string, model string, words int) error {
	dir, err := os.MkdirTemp("", "vectors")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "table")
	report, err := static.Convert(context.Background(), model, path, static.Options{Words: words})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d words x %d, %d bytes\n", report.Model, report.Words, report.Dim, report.Bytes)
	table, err := static.Open(path)
	if err != nil {
		return err
	}
	defer table.Close()
	for _, set := range sets {
		err := measure(filepath.Join(data, set), table)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Printf("%s: not there, not measured\n", set)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type row struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Group string `json:"group"`
	exact []float32
	small []float32 // int8, as numbers
	bits  []byte
}

type question struct {
	Query    string   `json:"query"`
	Relevant []string `json:"relevant"`
	Group    string   `json:"corpus_group"`
}

// small is what the cosine of sqlite-vec sees of v as int8.
func small(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, b := range embedding.Int8(v) {
		out[i] = float32(int8(b))
	}
	embedding.Unit(out)
	return out
}

func measure(dir string, e embedding.Embedder) error {
	rows, err := read[row](filepath.Join(dir, "corpus.jsonl"))
	if err != nil {
		return err
	}
	questions, err := read[question](filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return err
	}
	groups := map[string][]*row{}
	for i := range rows {
		vectors, err := e.Embed(context.Background(), []string{rows[i].Text})
		if err != nil {
			return err
		}
		if v := vectors[0]; v != nil {
			rows[i].exact, rows[i].small, rows[i].bits = v, small(v), embedding.Bits(v)
			groups[rows[i].Group] = append(groups[rows[i].Group], &rows[i])
		}
	}
	var exact, int8s, coarsed [3]float64 // recall@1, 5, 10
	n := 0
	for _, q := range questions {
		if len(q.Relevant) == 0 {
			continue
		}
		n++
		vectors, err := e.Embed(context.Background(), []string{q.Query})
		if err != nil {
			return err
		}
		v := vectors[0]
		if v == nil {
			continue
		}
		s, b, group := small(v), embedding.Bits(v), groups[q.Group]
		add(&exact, first(group, 10, func(r *row) float64 { return dot(r.exact, v) }), q.Relevant)
		add(&int8s, first(group, 10, func(r *row) float64 { return dot(r.small, s) }), q.Relevant)
		left := first(group, 10*coarse, func(r *row) float64 { return -float64(hamming(r.bits, b)) })
		add(&coarsed, first(left, 10, func(r *row) float64 { return dot(r.small, s) }), q.Relevant)
	}
	for _, line := range []struct {
		name string
		sums [3]float64
	}{{"float32", exact}, {"int8", int8s}, {"bits, then int8", coarsed}} {
		fmt.Printf("%s, %s: recall@1 %.3f, @5 %.3f, @10 %.3f of %d questions\n", filepath.Base(dir), line.name,
			line.sums[0]/float64(n), line.sums[1]/float64(n), line.sums[2]/float64(n), n)
	}
	return nil
}

// first returns the k rows of the highest score.
func first(rows []*row, k int, score func(*row) float64) []*row {
	type scored struct {
		*row
		score float64
	}
	all := make([]scored, len(rows))
	for i, r := range rows {
		all[i] = scored{r, score(r)}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ID, b.ID)) })
	best := make([]*row, min(k, len(all)))
	for i := range best {
		best[i] = all[i].row
	}
	return best
}

// add adds the shares of the relevant rows among the first 1, 5 and 10.
func add(sums *[3]float64, found []*row, relevant []string) {
	for i, k := range []int{1, 5, 10} {
		hits := 0
		for _, r := range found[:min(k, len(found))] {
			if slices.Contains(relevant, r.ID) {
				hits++
			}
		}
		sums[i] += float64(hits) / float64(len(relevant))
	}
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func hamming(a, b []byte) int {
	n := 0
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// read reads a file of one JSON value a line.
func read[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := json.NewDecoder(bufio.NewReader(f))
	var items []T
	for {
		var item T
		err := in.Decode(&item)
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		items = append(items, item)
	}
}
