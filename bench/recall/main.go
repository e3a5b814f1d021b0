// Command recall measures how well memd finds things. It replays the
// conversations of retrieval sets as short-term memories through the REST
// interface, asks the sets' questions, and prints how many of the rows that
// answer them were found, beside SQLite's own bm25() over the same rows.
//
// The sets (LoCoMo and others of the same two files, corpus.jsonl and
// queries.jsonl) are no part of memd: their licences allow to measure with
// them, not to pass them on. Where they are absent the command says so and
// succeeds.
//
// With -floors it fails when a figure is under its floor; -quick measures a
// share of each set in less than a minute. With -loo it tunes the constants of
// the order on all conversations but one and reports on that one, for each.
//
//	go run ./bench/recall
//	go run ./bench/recall -quick -floors
//	go run ./bench/recall -set memdaily_zh -markdown
//	go run ./bench/recall -set locomo -conversation conv-26
//	go run ./bench/recall -static words.txt -words 40000
//	go run ./bench/recall -loo
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

	"memd/embedding/static"
)

func main() {
	var opts options
	flag.StringVar(&opts.data, "data", "../shared/bench", "folder of the retrieval sets")
	flag.StringVar(&opts.set, "set", "all", "set to measure with: a folder below -data")
	flag.StringVar(&opts.conversation, "conversation", "all", "load and ask one conversation of -set only")
	flag.BoolVar(&opts.markdown, "markdown", false, "print Markdown tables")
	flag.StringVar(&opts.model, "static", "", "file or folder of a static model, as static.Convert takes it: measure with it too")
	flag.IntVar(&opts.words, "words", 0, "words kept of a file of words")
	flag.BoolVar(&opts.quick, "quick", false, "measure with a share of each set")
	flag.IntVar(&opts.every, "every", 1, "ask the first and each so many-th question only")
	flag.BoolVar(&opts.floors, "floors", false, "fail when a figure is under its floor")
	flag.BoolVar(&opts.figures, "figures", false, "print memd's recall@10 of each conversation as JSON and nothing else")
	loo := flag.Bool("loo", false, "leave one conversation out: tune on the others and report on it, for each")
	flag.Parse()
	err := opts.check()
	switch {
	case err != nil:
	case *loo:
		err = runLeaveOneOut(context.Background(), os.Stdout, opts.data)
	default:
		err = run(context.Background(), os.Stdout, opts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

type options struct {
	data         string // the folder above the sets
	set          string // "all" or one
	conversation string // "all" or a group
	quick        bool
	every        int // questions, of which one is asked
	markdown     bool
	floors       bool
	figures      bool
	model        string // of the static embedder, "" for none
	words        int
}

// check refuses options that contradict each other.
func (o options) check() error {
	switch {
	case o.every < 1:
		return errors.New("-every must be 1 at least")
	case o.conversation != "all" && o.set == "all":
		return errors.New("-conversation needs the -set it belongs to")
	case o.floors && (o.conversation != "all" || o.every > 1):
		return errors.New("-floors are those of whole sets and of -quick, not of other shares")
	}
	return nil
}

// sets are the names of the sets to measure with.
func (o options) sets() []string {
	if o.set != "all" {
		return []string{o.set}
	}
	return []string{"locomo", "memdaily_zh", "cmrc2018_zh", "bakeoff_stress500"}
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

// run measures set after set and writes their reports to w. With opts.floors
// its error joins all figures that are too low.
func run(ctx context.Context, w io.Writer, opts options) error {
	dir, err := os.MkdirTemp("", "memd-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	table, err := opts.table(ctx, dir)
	if err != nil {
		return err
	}
	if table != nil {
		defer table.Close()
	}
	var low []error
	for _, name := range opts.sets() {
		s, err := opts.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(w, "There is no retrieval set in %s, so nothing was measured. "+
				"The sets are not part of memd; name the folder that holds them with -data.\n", filepath.Join(opts.data, name))
			continue
		}
		if err != nil {
			return err
		}
		r := &report{title: name, set: s}
		if err := r.measure(ctx, dir, table, !opts.figures); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := opts.write(w, r); err != nil {
			return err
		}
		if opts.floors {
			low = append(low, check(r, floors(), opts.quick))
		}
	}
	return errors.Join(low...)
}

// read reads the share of a set that is to be measured.
func (o options) read(name string) (*set, error) {
	s, err := readSet(filepath.Join(o.data, name))
	if err != nil {
		return nil, err
	}
	if o.conversation != "all" && !s.only(o.conversation) {
		return nil, fmt.Errorf("the set has no conversation %q", o.conversation)
	}
	if o.quick {
		s.thin(quickShare(name))
	}
	s.thin(share{1, o.every})
	return s, nil
}

// write writes a report in the form asked for.
func (o options) write(w io.Writer, r *report) error {
	if o.figures {
		return r.writeFigures(w)
	}
	if err := r.write(w, o.markdown); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}
