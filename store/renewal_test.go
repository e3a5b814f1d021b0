package store_test

import (
	"fmt"
	"testing"

	"memd"
	"memd/embedding/embeddingtest"
	"memd/store"
)

// renewed fails unless the store says so of its vectors.
func renewed(t *testing.T, s *store.Set, when string, want bool) {
	t.Helper()
	got, err := s.Renewed(ctx)
	must(t, err)
	if got != want {
		t.Errorf("%s: renewed is %v", when, got)
	}
}

// After a change of model the old one is named until half of the vectors are the
// new one's, over restarts and over a time without an embedder.
func TestRenewal(t *testing.T) {
	dir := t.TempDir()
	second := embeddingtest.Hashed{Name: "second", Size: 9}
	s := openEmbedding(t, dir, nil, hashed, nil)
	for n := range 6 {
		put(t, s, row(memd.Short, n, fmt.Sprint("row ", n)))
		if n == 2 {
			roll(t, s)
		}
	}
	before := func(want string, wantDim int) {
		t.Helper()
		if model, dim := s.Before(); model != want || dim != wantDim {
			t.Errorf("before is %q, %d, want %q, %d", model, dim, want, wantDim)
		}
	}
	before("", 0)
	drain(t, s, hashed)
	renewed(t, s, "the first model", true)
	must(t, s.Close())
	s = openEmbedding(t, dir, nil, nil, nil)
	must(t, s.Close())

	s = openEmbedding(t, dir, nil, second, nil)
	before("hashed", 12)
	renewed(t, s, "nothing yet", false)
	deliver := func(n int) {
		t.Helper()
		for n > 0 {
			rows, err := s.Lease(ctx, n)
			must(t, err)
			if len(rows) == 0 {
				_, err := s.Fill(ctx)
				must(t, err)
			}
			must(t, s.Deliver(ctx, embedded(t, second, rows)))
			n -= len(rows)
		}
	}
	deliver(2)
	renewed(t, s, "two of six", false)
	must(t, s.Close())
	s = openEmbedding(t, dir, nil, second, nil)
	before("hashed", 12)
	renewed(t, s, "two of six, after a restart", false)
	put(t, s, row(memd.Short, 7, "row 7"))
	deliver(1)
	renewed(t, s, "three of seven", false)
	deliver(1)
	renewed(t, s, "four of seven", true)
	must(t, s.Close())

	s = openEmbedding(t, dir, nil, second, nil)
	before("", 0)
	renewed(t, s, "after a restart", true)
	if got := shell(t, dir, `SELECT group_concat(value) FROM meta WHERE key LIKE 'embedder_before%' AND value NOT IN ('', '0')`); got != "" {
		t.Errorf("meta still names %q", got)
	}
	drain(t, s, second)
	healthy(t, s)
}
