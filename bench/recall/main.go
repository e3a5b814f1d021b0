// Command recall measures how well memd finds things. It replays the
// conversations of a retrieval set as short-term memories through the REST
// interface, asks the set's questions, and prints how many of the rows that
// answer them were found, beside SQLite's own bm25() over the same rows.
//
// The sets (LoCoMo and others of the same two files, corpus.jsonl and
// queries.jsonl) are no part of memd: their licences allow to measure with
// them, not to pass them on. Where they are absent the command says so and
// succeeds.
//
//	go run ./bench/recall
//	go run ./bench/recall -set memdaily_zh -markdown
//	go run ./bench/recall -conversation conv-26
//	go run ./bench/recall -static words.txt -words 40000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memd/bench"
	"memd/embedding"
	"memd/embedding/static"
)

func main() {
	data := flag.String("data", "../shared/bench", "folder of the retrieval sets")
	name := flag.String("set", "locomo", "set to measure with: a folder below -data")
	conversation := flag.String("conversation", "all", "load and ask one conversation only")
	markdown := flag.Bool("markdown", false, "print Markdown tables")
	model := flag.String("static", "", "file or folder of a static model for the vector leg, as static.Convert takes it")
	words := flag.Int("words", 0, "words kept of a file of words")
	flag.Parse()
	err := run(context.Background(), os.Stdout, options{filepath.Join(*data, *name), *conversation, *markdown, *model, *words})
	if err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

type options struct {
	dir          string // of the set
	conversation string // "all" or a group
	markdown     bool
	model        string // of the static embedder, "" for none
	words        int
}

// table converts and opens the static model, nil where there is none.
func (o options) table(ctx context.Context, dir string) (*static.Table, error) {
	if o.model == "" {
		return nil, nil
	}
	path := filepath.Join(dir, "table")
	if _, err := static.Convert(ctx, o.model, path, static.Options{Words: o.words}); err != nil {
		return nil, err
	}
	return static.Open(path)
}

// searcher is a system under measurement: it returns the ids of the rows of a
// group that bear on a query, best first.
type searcher interface {
	search(ctx context.Context, group, query string, limit int) ([]string, error)
	close() error
}

// run measures and writes the report to w.
func run(ctx context.Context, w io.Writer, opts options) error {
	s, err := readSet(opts.dir)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(w, "There is no retrieval set in %s, so nothing was measured. "+
			"The sets are not part of memd; name the folder that holds them with -data.\n", opts.dir)
		return nil
	}
	if err != nil {
		return err
	}
	if opts.conversation != "all" && !s.only(opts.conversation) {
		return fmt.Errorf("the set has no conversation %q", opts.conversation)
	}
	dir, err := os.MkdirTemp("", "memd-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	table, err := opts.table(ctx, dir)
	if err != nil {
		return err
	}
	var e embedding.Embedder
	if table != nil {
		defer table.Close()
		e = table
	}
	r := report{title: filepath.Base(opts.dir), set: s}
	budgets := bench.Room(len(s.rows))
	began := time.Now()
	d, err := startDaemon(dir, budgets, e)
	if err != nil {
		return err
	}
	if err := d.load(ctx, s.rows); err != nil {
		return errors.Join(err, d.close())
	}
	r.budgets, r.refused, r.loaded = budgets, d.refused, time.Since(began)
	if err := r.ask(ctx, "memd", d); err != nil {
		return err
	}
	for _, baseline := range baselines(s) {
		sub, err := os.MkdirTemp(dir, "fts-")
		if err != nil {
			return err
		}
		f, err := openFTS(ctx, sub, baseline.tokenizer, baseline.prepare, s.rows)
		if err != nil {
			return err
		}
		if err := r.ask(ctx, baseline.name, f); err != nil {
			return err
		}
	}
	return r.write(w, opts.markdown)
}

type baseline struct {
	name, tokenizer string
	prepare         func(string) string
}

// baselines are what memd is measured against. unicode61 takes a run of
// Chinese for one word, so Chinese sets get a baseline that knows better.
func baselines(s *set) []baseline {
	list := []baseline{
		{"bm25, unicode61", "unicode61", asIs},
		{"bm25, porter unicode61", "porter unicode61", asIs},
	}
	if s.hasHan() {
		list = append(list, baseline{"bm25, pairs of characters", "unicode61", pairs})
	}
	return list
}
