package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"memd/bench"
)

// replaced is the category of the questions about a fact that took the place
// of an older one. The prohibited rows of other categories are facts about
// something else, which nobody would write under the key of the answer, or, of
// questions as of a past day, the newer fact.
const replaced = "temporal_current"

// superseded is how questions about replaced facts fare when the old fact and
// the fresh one were written under one key.
type superseded struct {
	questions  int
	staleFirst int // with a prohibited row in the first place
	staleAny   int // with one among the first ten
	freshFirst int // with a relevant row in the first place
}

func (s *superseded) String() string {
	return fmt.Sprintf("Old and fresh fact under one key, %d questions: a prohibited row first in %d, among the first %d in %d; the fresh one first in %d.",
		s.questions, s.staleFirst, depth, s.staleAny, s.freshFirst)
}

// askSuperseded writes in a new store in dir the prohibited and then the
// relevant rows of each question about a replaced fact under one key, all
// others as short-term rows, and asks those questions. It returns nil where
// the set has none.
func askSuperseded(ctx context.Context, dir string, s *set) (_ *superseded, err error) {
	var asked []question
	keyed := map[string]bool{} // ids of rows
	for _, q := range s.questions {
		if q.Category == replaced && len(q.Prohibited) > 0 && len(q.Relevant) > 0 {
			asked = append(asked, q)
			for _, id := range slices.Concat(q.Prohibited, q.Relevant) {
				keyed[id] = true
			}
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	byID := map[string]row{}
	var others []row
	for _, r := range s.rows {
		byID[r.ID] = r
		if !keyed[r.ID] {
			others = append(others, r)
		}
	}
	d, err := startDaemon(dir, bench.Room(len(s.rows)), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.load(ctx, others); err != nil {
		return nil, err
	}
	for _, q := range asked {
		for _, id := range slices.Concat(q.Prohibited, q.Relevant) {
			if err := d.keep(ctx, byID[id], strings.ToLower("fact-"+q.ID)); err != nil {
				return nil, err
			}
		}
	}
	result := &superseded{questions: len(asked)}
	for _, q := range asked {
		ranked, err := d.search(ctx, q.Group, q.Query, depth)
		if err != nil {
			return nil, fmt.Errorf("question %s: %w", q.ID, err)
		}
		result.count(ranked, q)
	}
	return result, nil
}

// count adds the ranking of one question.
func (s *superseded) count(ranked []string, q question) {
	stale := func(id string) bool { return slices.Contains(q.Prohibited, id) }
	if len(ranked) > 0 && stale(ranked[0]) {
		s.staleFirst++
	}
	if slices.ContainsFunc(ranked, stale) {
		s.staleAny++
	}
	if len(ranked) > 0 && slices.Contains(q.Relevant, ranked[0]) {
		s.freshFirst++
	}
}
