package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// seen is the set that -loo tunes on, the one with long conversations.
const seen = "locomo"

// How many questions stand for one that is asked, to keep a run of -loo short.
const (
	tuneEvery   = 2 // of the conversations tuned on
	unseenEvery = 4 // of the sets never tuned on
)

// trial is what one setting reached.
type trial struct {
	setting setting
	figures figures
}

// left is the outcome for a conversation that was left out.
type left struct {
	conversation string
	questions    int
	chosen       setting // the best on all others
	tuned, plain float64 // recall@10 with it and with the setting in force
}

// leaveOneOut picks for each conversation the setting that is best on all
// others. trials[0] is the setting in force, which wins ties.
func leaveOneOut(trials []trial) []left {
	var all []left
	for _, name := range slices.Sorted(maps.Keys(trials[0].figures)) {
		t := best(trials, name)
		all = append(all, left{
			name, trials[0].figures[name].Questions, t.setting,
			t.figures[name].Recall10, trials[0].figures[name].Recall10,
		})
	}
	return all
}

// best is the first of the trials with the highest mean without a conversation.
// Means within rounding are equal.
func best(trials []trial, without string) trial {
	top := trials[0]
	for _, t := range trials[1:] {
		if t.figures.mean(without) > top.figures.mean(without)+1e-9 {
			top = t
		}
	}
	return top
}

// tuner measures settings; see variants.
type tuner interface {
	// measure returns the figures of a set under a setting, one of every so
	// many questions asked; of a set that is absent, fs.ErrNotExist.
	measure(ctx context.Context, s setting, set string, every int) (figures, error)
}

// runLeaveOneOut tunes on LoCoMo below data and writes what came of it to w.
func runLeaveOneOut(ctx context.Context, w io.Writer, data string) error {
	dir, err := os.MkdirTemp("", "memd-loo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	v, err := newVariants(ctx, dir, data)
	if err != nil {
		return err
	}
	return tune(ctx, w, v, grid())
}

// tune tries the settings on LoCoMo, reports on each conversation with the
// best of the others, and then on the other sets with the best of all.
func tune(ctx context.Context, w io.Writer, t tuner, settings []setting) error {
	var trials []trial
	for _, s := range append([]setting{{}}, settings...) {
		f, err := t.measure(ctx, s, seen, tuneEvery)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(w, "There is no %s below -data, so nothing was tuned.\n", seen)
			return nil
		}
		if err != nil {
			return err
		}
		trials = append(trials, trial{s, f})
		fmt.Fprintf(w, "%s: recall@10 %.4f over all conversations\n", s, f.mean(""))
	}
	if err := writeLeft(w, trials); err != nil {
		return err
	}
	return unseen(ctx, w, t, best(trials, "").setting)
}

// unseen compares the setting chosen on LoCoMo with the one in force on the
// other sets, where it is another one.
func unseen(ctx context.Context, w io.Writer, t tuner, chosen setting) error {
	fmt.Fprintf(w, "\nBest over all conversations: %s.\n", chosen)
	if chosen == (setting{}) {
		return nil
	}
	fmt.Fprintf(w, "On the sets that nothing was tuned on, one question of %d, recall@10:\n\n", unseenEvery)
	lines := [][]string{{"set", "n", "tuned", "in force"}}
	for _, set := range (options{set: "all"}).sets() {
		if set == seen {
			continue
		}
		plain, err := t.measure(ctx, setting{}, set, unseenEvery)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		tuned, err := t.measure(ctx, chosen, set, unseenEvery)
		if err != nil {
			return err
		}
		lines = append(lines, []string{set, fmt.Sprint(plain.questions()), fmt.Sprintf("%.4f", tuned.mean("")), fmt.Sprintf("%.4f", plain.mean(""))})
	}
	return table(w, lines, true)
}

// writeLeft writes a line for each conversation left out, and their mean.
func writeLeft(w io.Writer, trials []trial) error {
	fmt.Fprintf(w, "\nEach conversation with the setting that is best on all others, one question of %d, recall@10:\n\n", tuneEvery)
	lines := [][]string{{"left out", "n", "best on the others", "tuned", "in force"}}
	tuned, plain := figures{}, figures{}
	for _, l := range leaveOneOut(trials) {
		tuned[l.conversation], plain[l.conversation] = figure{l.questions, l.tuned}, figure{l.questions, l.plain}
		lines = append(lines, []string{l.conversation, fmt.Sprint(l.questions), l.chosen.String(), fmt.Sprintf("%.4f", l.tuned), fmt.Sprintf("%.4f", l.plain)})
	}
	lines = append(lines, []string{"mean", fmt.Sprint(tuned.questions()), "", fmt.Sprintf("%.4f", tuned.mean("")), fmt.Sprintf("%.4f", plain.mean(""))})
	return table(w, lines, true)
}

// present is fs.ErrNotExist for a set that is not below data.
func present(data, set string) error {
	_, err := os.Stat(filepath.Join(data, set))
	return err
}
