package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeSet writes a made-up set and returns its folder.
func writeSet(t *testing.T, corpus, queries string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const tinyCorpus = `{"id": "a/1", "text": "Ann: The kiln in the shed is fixed.", "group": "a", "session": 1, "speaker": "Ann"}
{"id": "a/2", "text": "Bob: Lunch was soup again.", "group": "a", "session": 1}

{"id": "a/3", "text": "Bob:  Lunch was soup\tagain.", "group": "a", "session": 2}
{"id": "b/1", "text": "Cem: The kiln cost ninety crowns.", "group": "b", "session": "s01"}
{"id": "b/2", "text": "Bob: Lunch was soup again.", "group": "b", "session": null}`

const tinyQueries = `{"id": "q1", "query": "Who has a kiln?", "relevant": ["a/1"], "category": "one", "corpus_group": "a"}
{"id": "q2", "query": "What was for lunch?", "relevant": ["a/3", "a/2"], "category": "two", "corpus_group": "a"}
{"id": "q3", "query": "What did the kiln cost?", "relevant": ["b/1"], "category": "one", "corpus_group": "b", "prohibited": ["b/2"]}
{"id": "q4", "query": "Who won?", "relevant": [], "category": "one", "corpus_group": "b"}
`

func TestReadSet(t *testing.T) {
	s, err := readSet(writeSet(t, tinyCorpus, tinyQueries))
	if err != nil {
		t.Fatal(err)
	}
	want := []row{
		{"a/1", "Ann: The kiln in the shed is fixed.", "a", "1"},
		{"a/2", "Bob: Lunch was soup again.", "a", "1"},
		{"b/1", "Cem: The kiln cost ninety crowns.", "b", "s01"},
		{"b/2", "Bob: Lunch was soup again.", "b", ""},
	}
	if !slices.Equal(s.rows, want) {
		t.Errorf("rows = %v, want %v", s.rows, want)
	}
	if s.twins != 1 {
		t.Errorf("twins = %d, want 1", s.twins)
	}
	if got := s.questions[1].Relevant; !slices.Equal(got, []string{"a/2"}) {
		t.Errorf("the question about twins wants %v", got)
	}
	if len(s.questions) != 4 || s.questions[3].Group != "b" || s.questions[2].Category != "one" {
		t.Errorf("questions = %v", s.questions)
	}
	if s.only("c") {
		t.Error("there is no conversation c")
	}
}

func TestOnly(t *testing.T) {
	s, err := readSet(writeSet(t, tinyCorpus, tinyQueries))
	if err != nil {
		t.Fatal(err)
	}
	if !s.only("b") || len(s.rows) != 2 || len(s.questions) != 2 {
		t.Errorf("conversation b: %v, %v", s.rows, s.questions)
	}
}

func TestThin(t *testing.T) {
	read := func() *set {
		s, err := readSet(writeSet(t, tinyCorpus, tinyQueries))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := read()
	s.thin(share{1, 1})
	if len(s.rows) != 4 || len(s.questions) != 4 {
		t.Errorf("all of it: %v, %v", s.rows, s.questions)
	}
	s = read()
	s.thin(share{2, 2})
	if len(s.rows) != 2 || len(s.questions) != 1 || s.questions[0].ID != "q1" {
		t.Errorf("every second: %v, %v", s.rows, s.questions)
	}
	s = read()
	s.thin(share{1, 3})
	if len(s.rows) != 4 || len(s.questions) != 2 || s.questions[1].ID != "q4" {
		t.Errorf("every third question: %v, %v", s.rows, s.questions)
	}
}

func TestReadSetRefuses(t *testing.T) {
	if _, err := readSet(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v, want fs.ErrNotExist", err)
	}
	for corpus, want := range map[string]string{
		tinyCorpus + "\n{\"id\": ": "corpus.jsonl: line 7:",
		`{"session": [1]}`:         "corpus.jsonl: line 1:",
		`{"session": true}`:        "corpus.jsonl: line 1:",
	} {
		if _, err := readSet(writeSet(t, corpus, tinyQueries)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want one with %q", err, want)
		}
	}
}
