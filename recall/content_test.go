package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"memd"
)

// A row edited by hand says something else than a new row of its old wording:
// both are found, before groom has made its hash anew, and after.
func TestEditedRowIsNobodysDuplicate(t *testing.T) {
	for _, tier := range []memd.Tier{memd.Short, memd.Long, memd.Archive} {
		t.Run(string(tier), func(t *testing.T) {
			h := newHouse(t)
			of := func(n int, summary string) memd.Memory {
				m := short(summary, importance(9))
				switch tier {
				case memd.Long:
					m = rule(fmt.Sprint("k", n), summary)
				case memd.Archive:
					archived(&m)
				}
				return m
			}
			rows := h.put(of(1, "Kumquat grows in the blue house"), of(2, "Kumquat grows in the red house"))
			for _, id := range rows { // two, so that neither passes for the other
				h.shell(`UPDATE ` + string(tier) + ` SET summary = 'Kumquat grows in the green house of ' || id WHERE id = '` + id + `'`)
			}
			again := h.put(of(3, "Kumquat grows in the blue house"), of(4, "Kumquat grows in the red house"))
			q := memd.Query{Query: "kumquat house", IncludeArchive: true, Explain: true}
			answer := h.recall(q)
			if len(answer.Results) != 4 || answer.Filtered["duplicate"] != 0 {
				t.Errorf("%d results, filtered %v; want all four", len(answer.Results), answer.Filtered)
			}
			for _, hit := range answer.Results {
				if strings.Contains(hit.Summary, "green") != (hit.ID == rows[0] || hit.ID == rows[1]) {
					t.Errorf("%s says %q", hit.ID, hit.Summary)
				}
			}
			if tier == memd.Archive { // which no context shows
				return
			}
			for _, query := range []string{"kumquat house", ""} {
				out := h.context(memd.ContextRequest{Query: query})
				for _, id := range append(rows, again...) {
					if got := reason(out, id); got != "in" {
						t.Errorf("context for %q: %q, want in", query, got)
					}
				}
			}
		})
	}
}

// Of equal content in several namespaces that of the one named first stands,
// within a tier; the authority of a tier goes before it.
func TestFirstNamespaceStandsForEqualContent(t *testing.T) {
	h := newHouse(t)
	// What the second namespace holds stands higher by every other measure.
	rows := h.put(
		short("Kumquat jam sets at 104 degrees", in("project/x"), daysAgo(20), importance(1)),
		short("Kumquat jam sets at 104 degrees", in("user"), importance(10)),
		long("old", "Kumquat trees bear in May", in("project/x"), stale),
		long("new", "Kumquat trees bear in May", in("user"), importance(10)),
		short("Kumquat peel is bitter", in("project/x"), importance(10)),
		long("peel", "Kumquat peel is bitter", in("user")),
	)
	for name, c := range map[string]struct {
		namespaces []string
		want       []string
		out        []string
	}{
		"project/x first": {[]string{"project/x", "user"}, []string{rows[5], rows[2], rows[0]}, []string{rows[1], rows[3], rows[4]}},
		"user first":      {[]string{"user", "project/x"}, []string{rows[3], rows[5], rows[1]}, []string{rows[0], rows[2], rows[4]}},
		"user alone":      {[]string{"user"}, []string{rows[3], rows[5], rows[1]}, nil},
	} {
		answer := h.recall(memd.Query{Query: "kumquat", Namespaces: c.namespaces, Explain: true})
		got := map[string]bool{}
		for _, hit := range answer.Results {
			got[hit.ID] = true
		}
		for _, id := range c.want {
			if !got[id] {
				t.Errorf("%s: the row %s is not found", name, id)
			}
		}
		if len(got) != len(c.want) || answer.Filtered["duplicate"] != len(c.out) {
			t.Errorf("%s: %d results, filtered %v", name, len(got), answer.Filtered)
		}
		out := h.context(memd.ContextRequest{Query: "kumquat", Namespaces: c.namespaces})
		for _, id := range c.want {
			if got := reason(out, id); got != "in" {
				t.Errorf("%s: context: %s is %q, want in", name, id, got)
			}
		}
		for _, id := range c.out {
			if got := reason(out, id); got != string(memd.LeftDuplicate) {
				t.Errorf("%s: context: %s is %q, want duplicate", name, id, got)
			}
		}
	}
}
