package recall_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/guard/sources"
	"memd/recall"
	"memd/store"
)

// Questions 1 and 6 tell of one look: a row whose source is gone or changed is not
// fresh, whether or not groom has marked it.
func TestWhyOfASource(t *testing.T) {
	h, folder := newHouse(t), t.TempDir()
	h.engine.WithSources(sources.New(map[string]string{memd.DefaultNamespace: folder}))
	write := func(text string) { h.ok(os.WriteFile(filepath.Join(folder, "a.md"), []byte(text), 0o600)) }
	write("# A\n")
	h.ok(os.WriteFile(filepath.Join(folder, "b.md"), nil, 0o600))
	id := h.put(long("k", "kumquat", from("a.md", memd.SourceOK)))[0]
	hash := sources.New(map[string]string{"x": folder}).File("x", "a.md").Hash
	h.ok(h.store.Update(context.Background(), func(tx *store.Tx) error { return tx.KeepSourceHash(memd.DefaultNamespace, "k", id, hash) }))
	check := func(when, first, sixth string, looked bool) {
		t.Helper()
		questions := h.why(root, memd.WhyRequest{ID: id}).Questions
		q1, q6 := questions[0], questions[5]
		if q1.Answer != first || q6.Answer != sixth {
			t.Errorf("%s: %q and %q; want %q and %q", when, q1.Answer, q6.Answer, first, sixth)
		}
		for _, q := range []memd.WhyQuestion{q1, q6} {
			if got := strings.Contains(strings.Join(q.Evidence, "\n"), "looked at now"); got != looked {
				t.Errorf("%s: the evidence %q", when, q.Evidence)
			}
		}
	}
	const fresh, nobody = "no: it is fresh, and no mark stands", "unknown: nobody could look at its source"
	check("as it was", "yes: its source stands", fresh, true)
	write("# B\n")
	check("changed", "unknown: its source stands, and says something else than when it was verified",
		"yes: its source says something else, and groom has not marked it yet", true)
	h.ok(os.Remove(filepath.Join(folder, "a.md")))
	check("gone", "no: its source is not there", "yes: its source is missing, and groom has not marked it yet", true)
	h.shell(`UPDATE long SET source_status = 'missing', stale = 1, stale_reason = 'source_missing'`)
	check("gone and marked", "no: its source is not there", "yes: groom has marked it (source_missing)", true)
	h.shell(`UPDATE long SET stale = 0, stale_reason = NULL`)
	h.ok(os.Rename(folder, folder+".away"))
	check("away", "no: its source is not there", "yes: its source is missing, and groom has not marked it yet", false)
	h.ok(os.Mkdir(folder, 0o700))
	h.ok(os.MkdirAll(filepath.Join(folder, "a.md"), 0o700))
	h.shell(`UPDATE long SET source = 'a.md#a'`)
	check("there and unread", nobody, fresh, true)
}

// Of a row beyond those that a recall reads of its tier why tells what stands
// before it, by its own score.
func TestWhyBeyondTheRowsRead(t *testing.T) {
	h := newHouse(t)
	var rows []memd.Memory
	for n := range recall.MaxScored + 20 {
		rows = append(rows, long(fmt.Sprintf("k%04d", n), fmt.Sprintf("kumquat kumquat damson number %d", n), importance(1+n%10)))
	}
	ids := h.put(rows...)
	last := h.put(long("last", "there was a kumquat once, beside many other things in the long story of a garden", importance(1)))[0]
	req := memd.WhyRequest{Query: "kumquat damson", ID: last}
	a := h.why(root, req)
	checkChain(t, a)
	if a.Reason != memd.WhyOutranked || a.Rank != 0 || !strings.Contains(a.Detail, "beyond the rows read") {
		t.Fatalf("%s at %d: %s", a.Reason, a.Rank, a.Detail)
	}
	q4, q5 := a.Questions[3], a.Questions[4]
	if !slices.Contains(q4.Evidence, "matched keyword") {
		t.Errorf("question 4: %q", q4.Evidence)
	}
	if q5.Answer != fmt.Sprintf("yes: %d of the rows read stand before it by its own terms", recall.MaxScored) || len(q5.Evidence) != 12 {
		t.Fatalf("question 5: %+v", q5)
	}
	if !strings.HasPrefix(q5.Evidence[0], "its score ") || !strings.Contains(q5.Evidence[0], "keyword +") || q5.Evidence[1] != "its place is beyond the rows read" {
		t.Errorf("question 5: %q", q5.Evidence)
	}
	results := h.recall(memd.Query{Query: req.Query}).Results
	for i, line := range q5.Evidence[2:] {
		if !strings.HasPrefix(line, fmt.Sprintf("place %d: %s (long, key ", i+1, results[i].ID)) || !strings.Contains(line, "keyword +") || !slices.Contains(ids, results[i].ID) {
			t.Errorf("place %d is %s, and why says %q", i+1, results[i].ID, line)
		}
	}
	if again := h.why(root, req); asJSON(t, again) != asJSON(t, a) {
		t.Error("asked again, the answer is another")
	}
}
