package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"memd"
	"memd/tiers"
)

// row is one thing said, of corpus.jsonl.
type row struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Group   string `json:"group"` // the conversation
	Session label  `json:"session"`
}

// question is one line of queries.jsonl.
type question struct {
	ID       string   `json:"id"`
	Query    string   `json:"query"`
	Relevant []string `json:"relevant"` // ids of the rows that answer it
	Category string   `json:"category"`
	Group    string   `json:"corpus_group"` // the only conversation searched

	// Prohibited are rows that must not be taken for the answer: superseded
	// facts, and facts about something else.
	Prohibited []string `json:"prohibited"`
}

// label is a string that some sets write as a number.
type label string

// UnmarshalJSON takes a string, a number or null.
func (l *label) UnmarshalJSON(b []byte) error {
	var s string
	if bytes.HasPrefix(b, []byte(`"`)) {
		err := json.Unmarshal(b, &s)
		*l = label(s)
		return err
	}
	var n json.Number
	err := json.Unmarshal(b, &n)
	*l = label(n)
	return err
}

// set is a corpus with its questions.
type set struct {
	rows      []row
	questions []question
	twins     int // rows left out because their group says the same already
}

// readSet reads the two files of a folder. A missing folder is fs.ErrNotExist.
func readSet(dir string) (*set, error) {
	var s set
	var err error
	if s.rows, err = readFile[row](filepath.Join(dir, "corpus.jsonl")); err != nil {
		return nil, err
	}
	if s.questions, err = readFile[question](filepath.Join(dir, "queries.jsonl")); err != nil {
		return nil, err
	}
	s.fold()
	return &s, nil
}

func readFile[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	items, err := readLines[T](f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return items, nil
}

// readLines reads one JSON value a line; blank lines count only as lines.
func readLines[T any](r io.Reader) ([]T, error) {
	var items []T
	lines := bufio.NewReader(r) // not a Scanner: lines have no bound
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var item T
			if err := json.Unmarshal(line, &item); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			items = append(items, item)
		}
		if err == io.EOF {
			return items, nil
		}
	}
}

// fold makes one row of those that say the same within a group, as memd
// itself would, and points the questions at the one that stays. So all systems
// search the same rows.
func (s *set) fold() {
	type content struct{ group, hash string }
	first := map[content]string{}
	stands := map[string]string{} // id left out -> id that stays
	kept := s.rows[:0]
	for _, r := range s.rows {
		c := content{r.Group, tiers.ContentHash(&memd.Memory{Summary: r.Text})}
		if id, ok := first[c]; ok {
			stands[r.ID] = id
			continue
		}
		first[c] = r.ID
		kept = append(kept, r)
	}
	s.rows, s.twins = kept, len(stands)
	for i := range s.questions {
		q := &s.questions[i]
		q.Relevant, q.Prohibited = standing(q.Relevant, stands), standing(q.Prohibited, stands)
	}
}

// standing puts the ids that stay in the place of those left out.
func standing(ids []string, stands map[string]string) []string {
	var kept []string
	for _, id := range ids {
		if other, ok := stands[id]; ok {
			id = other
		}
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept
}

// only keeps one group and its questions; it reports whether there is one.
func (s *set) only(group string) bool {
	s.rows = slices.DeleteFunc(s.rows, func(r row) bool { return r.Group != group })
	s.questions = slices.DeleteFunc(s.questions, func(q question) bool { return q.Group != group })
	return len(s.rows) > 0
}

// share is the part of a set that is measured: of its groups, and of the
// questions of those, the first and every so many after it.
type share struct{ groups, questions int }

// thin keeps a share of the set.
func (s *set) thin(part share) {
	kept := map[string]bool{}
	for _, r := range s.rows {
		if _, seen := kept[r.Group]; !seen {
			kept[r.Group] = len(kept)%part.groups == 0
		}
	}
	s.rows = slices.DeleteFunc(s.rows, func(r row) bool { return !kept[r.Group] })
	s.questions = slices.DeleteFunc(s.questions, func(q question) bool { return !kept[q.Group] })
	n := 0
	s.questions = slices.DeleteFunc(s.questions, func(question) bool {
		n++
		return (n-1)%part.questions != 0
	})
}
