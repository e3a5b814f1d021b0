package api

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"memd"
)

const day = 24 * time.Hour

var someSession = rapid.SampledFrom([]string{"s", "t"})

// begin opens the store of a sequence. A memory of another namespace stands by.
func (m *model) begin(t *rapid.T) {
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := m.open(); err != nil {
		t.Fatal(err)
	}
	_, err := m.tiers.RememberLongTerm(ctx, ann, memd.RememberLongTerm{MemoryKey: "k", Summary: "alpha", Source: "AGENTS.md", Namespace: elsewhere})
	if err != nil {
		t.Fatal(err)
	}
}

// elsewhere is the namespace of the bystander.
const elsewhere = "project/aside"

// check compares everything that can be read with the model.
func (m *model) check(t *rapid.T) {
	m.checkRows(t)
	m.checkLists(t)
	for _, key := range []string{"k", "l"} {
		m.checkKey(t, key)
	}
	for _, word := range []string{"alpha", "beta", "42"} {
		m.checkRecall(t, word)
	}
	for _, id := range []string{"s", "t"} {
		m.checkSession(t, id)
	}
	m.checkStats(t)
}

// ageDays is a row's age.
func (m *model) ageDays(r *modelRow) int { return int(m.now().Sub(r.since.Time) / day) }

func (m *model) checkRows(t *rapid.T) {
	today := m.now().String()[:len("2006-01-02")]
	for _, r := range m.rows {
		row, err := m.tiers.Get(ctx, admin, r.id)
		if err != nil {
			t.Fatalf("row of %s, version %d, in %d: %v", r.tier, r.version, r.file, err)
		}
		if row.Tier != r.tier || row.Age != memd.AgeText(m.ageDays(r)) || row.Source != r.source || row.ContentHash == "" || row.AccessCount != r.accesses {
			t.Fatalf("row in %s (want %s), age %q (want %d days), source %q (want %q), accesses %d (want %d)",
				row.Tier, r.tier, row.Age, m.ageDays(r), row.Source, r.source, row.AccessCount, r.accesses)
		}
		if r.folded != today && !slices.Contains(r.days, today) { // the reading counts
			r.days = append(r.days, today)
		}
	}
}

func (m *model) checkLists(t *rapid.T) {
	want, lists := []string{}, []string{}
	for _, r := range slices.Backward(m.rows) {
		if !m.isCurrent(r) {
			continue
		}
		want = append(want, fmt.Sprint(r.id, r.tier, r.key, r.version, r.summary, r.importance, r.kind))
		if r.tier == memd.Archive {
			continue
		}
		age, name := "today", r.key
		switch days := m.ageDays(r); {
		case days == 1:
			age = "1 day"
		case days > 1:
			age = fmt.Sprintf("%d days", days)
		}
		if name == "" {
			name = r.id
		}
		lists = append(lists, fmt.Sprintf("[%s] %s (%s): %s", r.kind, name, age, r.summary))
	}
	for _, limit := range []int{3, 200} {
		got := []string{}
		for req := (memd.List{Limit: limit}); ; {
			page, err := m.tiers.List(ctx, admin, req)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Memories {
				got = append(got, fmt.Sprint(r.ID, r.Tier, r.MemoryKey, r.Version, r.Summary, r.Importance, r.Kind))
			}
			if req.Cursor = page.NextCursor; req.Cursor == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the list by %d shows\n%s\nwant\n%s", limit, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	manifest, err := m.tiers.Manifest(ctx, admin, "", nil)
	if err != nil || !slices.Equal(manifest, lists) {
		t.Fatalf("the manifest says %v\n%s\nwant\n%s", err, strings.Join(manifest, "\n"), strings.Join(lists, "\n"))
	}
}

func (m *model) checkKey(t *rapid.T, key string) {
	head, err := m.tiers.Head(ctx, admin, "", key)
	if r := m.head(key); r == nil && memd.CodeOf(err) != memd.CodeNotFound || r != nil && (err != nil || head.ID != r.id || head.Version != r.version) {
		t.Fatalf("the head of %s is %s, %v; want %+v", key, head.ID, err, r)
	}
	versions, _ := m.tiers.Versions(ctx, admin, "", key)
	have, want := []string{}, []string{}
	for _, v := range versions {
		have = append(have, fmt.Sprint(v.Version, v.ID))
	}
	for _, r := range m.rows {
		if r.key == key {
			want = append(want, fmt.Sprint(r.version, r.id))
		}
	}
	slices.Sort(want)
	slices.Reverse(want)
	if !slices.Equal(have, want) {
		t.Fatalf("key %s has the versions %q, want %q", key, have, want)
	}
	other, err := m.tiers.Head(ctx, admin, elsewhere, "k")
	if err != nil || other.Version != 1 || other.Summary != "alpha" {
		t.Fatalf("the memory of another namespace is %+v, %v", other, err)
	}
}

// authority is the place of a tier in an answer.
var authority = map[memd.Tier]int{memd.Long: 0, memd.Short: 1, memd.Archive: 2}

// checkRecall wants of each text that holds the word one current row, of the
// tier with most authority that says it, and those in the order of tiers.
func (m *model) checkRecall(t *rapid.T, word string) {
	best := map[string]memd.Tier{}
	for _, r := range m.rows {
		if !m.isCurrent(r) || !strings.Contains(strings.ToLower(r.summary), word) {
			continue
		}
		if tier, known := best[r.summary]; !known || authority[r.tier] < authority[tier] {
			best[r.summary] = r.tier
		}
	}
	got := m.recallAll(t, word, 100)
	last := 0
	for _, id := range got {
		r := m.find(id)
		if r == nil || !m.isCurrent(r) || r.tier != best[r.summary] || authority[r.tier] < last {
			t.Fatalf("recall of %s answers %s: %+v among %q", word, id, r, got)
		}
		last = authority[r.tier]
		delete(best, r.summary)
	}
	if len(best) > 0 {
		t.Fatalf("recall of %s answers %q and leaves out %v", word, got, best)
	}
	if paged := m.recallAll(t, word, 1); !slices.Equal(paged, got) {
		t.Fatalf("recall of %s answers %q, by pages %q", word, got, paged)
	}
}

func (m *model) recallAll(t *rapid.T, word string, limit int) (found []string) {
	q := memd.Query{Query: word, Limit: &limit, IncludeArchive: true, Touch: new(bool)}
	for {
		answer, err := m.recall.Recall(ctx, admin, q)
		if err != nil || len(answer.Degraded) > 0 {
			t.Fatalf("recall of %s: %+v, %v", word, answer.Degraded, err)
		}
		for _, hit := range answer.Results {
			found = append(found, hit.ID)
		}
		if q.Cursor = answer.NextCursor; q.Cursor == "" {
			return found
		}
	}
}

func (m *model) checkSession(t *rapid.T, id string) {
	notes, err := m.tiers.Notes(ctx, ann, id)
	s := m.sessions[id]
	if s == nil {
		if memd.CodeOf(err) != memd.CodeNotFound {
			t.Fatalf("session %s has %d notes, %v; want none", id, len(notes), err)
		}
		return
	}
	have, want := []string{}, []string{}
	for _, n := range notes {
		have = append(have, n.ID+n.Summary)
	}
	for _, n := range s.notes {
		if !m.over(n) {
			want = append(want, n.id+n.summary)
		}
	}
	if err != nil || !slices.Equal(have, want) {
		t.Fatalf("session %s has the notes %q, %v; want %q", id, have, err, want)
	}
}

func (m *model) checkStats(t *rapid.T) {
	st, err := m.store.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rows, heads := map[memd.Tier]int{}, 1 // the bystander
	rows[memd.Long] = 1
	for _, r := range m.rows {
		rows[r.tier]++
	}
	for _, s := range m.sessions {
		rows[memd.Transient] += len(s.notes)
	}
	for _, h := range m.heads {
		if h.id != "" {
			heads++
		}
	}
	for _, have := range st.Tiers {
		if have.Rows != rows[have.Tier] {
			t.Fatalf("stats count %d rows of %s, want %d", have.Rows, have.Tier, rows[have.Tier])
		}
	}
	if st.Heads != heads || len(st.Databases) != 1+len(m.files) || st.RolloverDeferred {
		t.Fatalf("stats say %d heads in %d databases, want %d in %d: %s", st.Heads, len(st.Databases), heads, 1+len(m.files), st.RolloverReason)
	}
	for _, b := range st.Budgets {
		if tier, counted := map[string]memd.Tier{"short_rows": memd.Short, "archive_rows": memd.Archive}[b.Budget]; counted &&
			*b.Used != int64(rows[tier]) {
			t.Fatalf("the budget %s counts %d rows, want %d", b.Budget, *b.Used, rows[tier])
		}
	}
}
