package main

import "testing"

const movedCorpus = `{"id": "1", "text": "The build coordinator is host oak.", "group": "g", "session": 1}
{"id": "2", "text": "The build coordinator moved to host elm, which is authoritative.", "group": "g", "session": 2}
{"id": "3", "text": "The lunch coordinator is Ann.", "group": "g", "session": 2}`

const movedQueries = `{"id": "Q1", "query": "Which host is the build coordinator?", "relevant": ["2"], "category": "temporal_current", "corpus_group": "g", "prohibited": ["1"]}
{"id": "Q2", "query": "Which host was the build coordinator?", "relevant": ["1"], "category": "temporal_asof", "corpus_group": "g", "prohibited": ["2"]}
{"id": "Q3", "query": "Who is on call?", "relevant": [], "category": "temporal_current", "corpus_group": "g", "prohibited": ["3"]}`

func TestAskSuperseded(t *testing.T) {
	s, err := readSet(writeSet(t, movedCorpus, movedQueries))
	if err != nil {
		t.Fatal(err)
	}
	got, err := askSuperseded(t.Context(), t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	if want := (superseded{questions: 1, freshFirst: 1}); got == nil || *got != want {
		t.Errorf("got %v, want %v", got, &want)
	}
}

func TestAskSupersededWithoutAny(t *testing.T) {
	s, err := readSet(writeSet(t, tinyCorpus, tinyQueries))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := askSuperseded(t.Context(), t.TempDir(), s); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSupersededCount(t *testing.T) {
	q := question{Relevant: []string{"new"}, Prohibited: []string{"old", "older"}}
	var got superseded
	for _, ranked := range [][]string{{"older", "new"}, {"new", "old"}, {"x", "new"}, nil} {
		got.count(ranked, q)
	}
	if want := (superseded{staleFirst: 1, staleAny: 2, freshFirst: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}
