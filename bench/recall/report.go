package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"memd/configs"
)

// maxSections bounds the conversations that get lines of their own.
const maxSections = 20

// report is what was measured over one set.
type report struct {
	title   string
	set     *set
	budgets configs.Budgets
	refused int // rows that memd would not take; they count as not found
	loaded  time.Duration
	systems []system

	superseded *superseded // nil: the set has no superseded facts
}

// system is one searcher's scores, one for each question that has an answer.
type system struct {
	name   string
	scores []scores
	took   time.Duration // for all questions
}

// answered are the questions that some row answers.
func (r *report) answered() []question {
	return slices.DeleteFunc(slices.Clone(r.set.questions), func(q question) bool { return len(q.Relevant) == 0 })
}

// ask puts every question to s, keeps the scores under name and closes s.
func (r *report) ask(ctx context.Context, name string, s searcher) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	measured := system{name: name}
	began := time.Now()
	for _, q := range r.answered() {
		ranked, err := s.search(ctx, q.Group, q.Query, depth)
		if err != nil {
			return fmt.Errorf("%s: question %s: %w", name, q.ID, err)
		}
		measured.scores = append(measured.scores, measure(ranked, q.Relevant))
	}
	measured.took = time.Since(began)
	r.systems = append(r.systems, measured)
	return nil
}

// write prints the means: overall, by kind of question and by conversation.
func (r *report) write(w io.Writer, markdown bool) error {
	questions := r.answered()
	fmt.Fprintf(w, "%s: %d rows", r.title, len(r.set.rows))
	if r.set.twins > 0 {
		fmt.Fprintf(w, " (%d that repeat another left out)", r.set.twins)
	}
	fmt.Fprintf(w, ", %d questions (%d without an answer left out), the first %d results of each.\n",
		len(questions), len(r.set.questions)-len(questions), depth)
	fmt.Fprintf(w, "Budgets raised so that every row stays in the short tier of one database: short_rows %d, short_chars %d, active_bytes %d.\n",
		r.budgets.ShortRows, r.budgets.ShortChars, r.budgets.ActiveBytes)
	if r.refused > 0 {
		fmt.Fprintf(w, "memd refused %d rows as holding a secret; they count as not found.\n", r.refused)
	}
	fmt.Fprintf(w, "Loading through REST took %.1f s; the questions:", r.loaded.Seconds())
	for i, s := range r.systems {
		fmt.Fprintf(w, "%s %s %.2f ms each", comma(i), s.name, s.took.Seconds()*1000/float64(max(len(questions), 1)))
	}
	fmt.Fprint(w, ".\n\n")

	lines := [][]string{{"questions", "n", "system"}}
	for _, m := range metrics() {
		lines[0] = append(lines[0], m.name)
	}
	lines = append(lines, r.section("all", questions, func(question) bool { return true })...)
	byCategory := func(q question) string { return q.Category }
	byGroup := func(q question) string { return q.Group }
	for _, key := range []func(question) string{byCategory, byGroup} {
		names := distinct(questions, key)
		if len(names) < 2 || len(names) > maxSections {
			continue
		}
		for _, name := range names {
			lines = append(lines, r.section(name, questions, func(q question) bool { return key(q) == name })...)
		}
	}
	if err := table(w, lines, markdown); err != nil {
		return err
	}
	if r.superseded != nil {
		fmt.Fprintf(w, "\n%s\n", r.superseded)
	}
	return nil
}

// of returns the means of a system over all questions, and whether it was
// asked.
func (r *report) of(name string) (scores, bool) {
	for _, s := range r.systems {
		if s.name == name {
			return mean(s.scores), true
		}
	}
	return scores{}, false
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// section is one line a system over the questions that are in.
func (r *report) section(title string, questions []question, in func(question) bool) [][]string {
	var lines [][]string
	for _, s := range r.systems {
		var part []scores
		for i, q := range questions {
			if in(q) {
				part = append(part, s.scores[i])
			}
		}
		line := []string{title, fmt.Sprint(len(part)), s.name}
		for _, m := range metrics() {
			line = append(line, fmt.Sprintf("%.3f", m.of(mean(part))))
		}
		lines = append(lines, line)
	}
	return lines
}

// distinct returns the values of key, sorted.
func distinct(questions []question, key func(question) string) []string {
	var names []string
	for _, q := range questions {
		names = append(names, key(q))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// table writes lines of cells, the first as the head.
func table(w io.Writer, lines [][]string, markdown bool) error {
	if markdown {
		for i, cells := range lines {
			fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
			if i == 0 {
				fmt.Fprintf(w, "|%s\n", strings.Repeat(" --- |", len(cells)))
			}
		}
		return nil
	}
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(aligned, strings.Join(cells, "\t"))
	}
	return aligned.Flush()
}
