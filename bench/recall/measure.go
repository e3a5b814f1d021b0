package main

import (
	"context"
	"errors"
	"os"
	"time"

	"memd/bench"
	"memd/embedding"
	"memd/embedding/static"
)

// The names of memd's systems in a report.
const (
	keywordName = "memd" // without an embedder
	staticName  = "memd, static"
)

// searcher is a system under measurement: it returns the ids of the rows of a
// group that bear on a query, best first.
type searcher interface {
	search(ctx context.Context, group, query string, limit int) ([]string, error)
	close() error
}

// measure puts the set's questions to memd, with table as its embedder too
// unless that is nil, and, with beside, to the baselines. Stores are made in
// folders of their own below dir.
func (r *report) measure(ctx context.Context, dir string, table *static.Table, beside bool) error {
	if err := r.measureDaemon(ctx, dir, keywordName, nil); err != nil {
		return err
	}
	if table != nil {
		if err := r.measureDaemon(ctx, dir, staticName, table); err != nil {
			return err
		}
	}
	if !beside {
		return nil
	}
	for _, b := range baselines(r.set) {
		sub, err := os.MkdirTemp(dir, "fts-")
		if err != nil {
			return err
		}
		f, err := openFTS(ctx, sub, b.tokenizer, b.prepare, r.set.rows)
		if err != nil {
			return err
		}
		if err := r.ask(ctx, b.name, f); err != nil {
			return err
		}
	}
	sub, err := os.MkdirTemp(dir, "keyed-")
	if err != nil {
		return err
	}
	r.superseded, err = askSuperseded(ctx, sub, r.set)
	return err
}

// measureDaemon loads the rows into a new store and asks memd.
func (r *report) measureDaemon(ctx context.Context, dir, name string, e embedding.Embedder) error {
	sub, err := os.MkdirTemp(dir, "store-")
	if err != nil {
		return err
	}
	r.budgets = bench.Room(len(r.set.rows))
	began := time.Now()
	d, err := startDaemon(sub, r.budgets, e)
	if err != nil {
		return err
	}
	if err := d.load(ctx, r.set.rows); err != nil {
		return errors.Join(err, d.close())
	}
	r.refused, r.loaded = d.refused, time.Since(began)
	return r.ask(ctx, name, d)
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
