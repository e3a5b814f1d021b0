package recall_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memd"
	"memd/guard/fence"
)

// context assembles a context and checks what holds for every one.
func (h *house) context(req memd.ContextRequest) memd.Context {
	h.t.Helper()
	out, err := h.engine.Context(context.Background(), root, req)
	if err != nil {
		h.t.Fatal(err)
	}
	checkContext(h.t, req, out)
	return out
}

func checkContext(t testing.TB, req memd.ContextRequest, out memd.Context) {
	t.Helper()
	limit := memd.DefaultContextChars
	if req.MaxChars != nil {
		limit = *req.MaxChars
	}
	if n := utf8.RuneCountInString(out.Text); n != out.UsedChars || n > limit {
		t.Fatalf("the text has %d characters, used_chars says %d, max_chars %d", n, out.UsedChars, limit)
	}
	if !utf8.ValidString(out.Text) {
		t.Fatal("the text is cut within a character")
	}
	if out.Included == nil || out.LeftOut == nil {
		t.Error("a list is nil")
	}
	// Every row is in, or left out for one reason; only a shortened one is both.
	in := map[string]bool{}
	for _, ref := range out.Included {
		if in[ref.ID] || ref.Reason != "" {
			t.Errorf("%s is included twice, or with reason %q", ref.ID, ref.Reason)
		}
		in[ref.ID] = true
	}
	left := map[string]bool{}
	for _, ref := range out.LeftOut {
		if left[ref.ID] || ref.Reason == "" || in[ref.ID] != (ref.Reason == memd.LeftShortened) {
			t.Errorf("%s is left out twice, or is in: %q", ref.ID, ref.Reason)
		}
		left[ref.ID] = true
	}
	if len(out.Included) == 0 {
		if out.Text != "" {
			t.Errorf("nothing is included, the text is %q", out.Text)
		}
		return
	}
	lines := strings.Split(out.Text, "\n")
	first, last := lines[0], lines[len(lines)-1]
	if strings.Replace(first, "<", "</", 1) != last || !strings.HasPrefix(last, "</"+fence.Name) {
		t.Errorf("fence: %q ... %q", first, last)
	}
	if strings.Count(out.Text, last) != 1 || strings.Count(out.Text, first) != 1 {
		t.Error("the fence occurs within the text")
	}
	entries := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "- [") {
			entries++
		}
	}
	if entries != len(out.Included) {
		t.Errorf("%d entries in the text, %d are included", entries, len(out.Included))
	}
}

// reason is why a row was left out, "in" if it was not, "" if it is nowhere.
func reason(out memd.Context, id string) string {
	for _, ref := range out.LeftOut {
		if ref.ID == id {
			return string(ref.Reason)
		}
	}
	if slices.ContainsFunc(out.Included, func(r memd.Ref) bool { return r.ID == id }) {
		return "in"
	}
	return ""
}

func rule(key, summary string, mods ...mod) memd.Memory {
	return long(key, summary, append([]mod{ofKind(memd.Rule)}, mods...)...)
}

func TestContextOrder(t *testing.T) {
	h := newHouse(t)
	h.put(
		long("fact", "Kumquat fact"),
		rule("minor", "Never push on Fridays", importance(3)),
		long("pref", "Tabs", ofKind(memd.Preference), importance(9)),
		long("user", "Ann", ofKind(memd.User), importance(8)),
		long("said", "Shorter, please", ofKind(memd.Feedback), because("w", "h"), importance(7)),
		short("Kumquat event"),
		short("Important event", importance(7)),
		short("Often read event", accessed(3)),
		short("Unimportant event"),
	)
	if _, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: "A note"}); err != nil {
		t.Fatal(err)
	}
	out := h.context(memd.ContextRequest{Query: "kumquat", SessionID: "s1"})
	at := -1
	for _, text := range []string{"Tabs", "Ann", "Shorter", "Never push", "Kumquat fact", "Kumquat event", "Important event", "Often read", "A note"} {
		i := strings.Index(out.Text, text)
		if i < at {
			t.Errorf("%q stands at %d, behind %d is its place", text, i, at)
		}
		at = i
	}
	if strings.Contains(out.Text, "Unimportant") {
		t.Error("a row that nothing speaks for is in")
	}
}

func TestContextReasons(t *testing.T) {
	h := newHouse(t)
	old := h.put(long("kumquat.way", "Peel the kumquat"))
	rows := h.put(
		func() memd.Memory { m := long("kumquat.way", "Eat the kumquat whole"); m.Version = 2; return m }(),
		rule("house", "Kumquat damson quince medlar", in("project/x")),
		rule("house", "No kumquat indoors", in("default")),
		rule("dusty", "Wash hands", daysAgo(91)),
		rule("dusty.kumquat", "Wash every kumquat", daysAgo(91)),
		rule("long", strings.Repeat("a very long rule, ", 400)),
		short("Eat the kumquat  whole"),
		short("damson jam"),
		short("Kumquat log: "+strings.Repeat("x", 7000)),
	)
	out := h.context(memd.ContextRequest{Query: "kumquat", Namespaces: []string{"project/x", "default"}, MaxChars: ptr(6000)})
	for id, want := range map[string]string{
		old[0]:  "superseded",
		rows[0]: "in",
		rows[1]: "in",
		rows[2]: "overridden",
		rows[3]: "stale",
		rows[4]: "in",
		rows[5]: "shortened",
		rows[6]: "duplicate",
		rows[7]: "",
		rows[8]: "budget",
	} {
		if got := reason(out, id); got != want {
			t.Errorf("row %s: %q, want %q", id, got, want)
		}
	}
	h.put(long("far", "A kumquat, for once among many other words"), short("quince jelly"), short("quince tree"), short("medlar quince"))
	out = h.context(memd.ContextRequest{Query: "kumquat quince medlar jelly tree"})
	if got := reason(out, rows[0]); got != "below_floor" {
		t.Errorf("a long row under the floor: %q", got)
	}
}

func TestStaleRuleEntersForItsQuery(t *testing.T) {
	h := newHouse(t)
	id := h.put(rule("wash", "Wash every kumquat", daysAgo(91), from("AGENTS.md#fruit", memd.SourceOK)))[0]
	if got := reason(h.context(memd.ContextRequest{}), id); got != "stale" {
		t.Errorf("unasked: %q, want stale", got)
	}
	out := h.context(memd.ContextRequest{Query: "kumquat"})
	if got := reason(out, id); got != "in" {
		t.Errorf("asked for: %q, want in", got)
	}
	for _, want := range []string{"wash", "AGENTS.md#fruit", "This memory is 91 days old", "STALE: age", "check it before you assert it"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
}

func TestContextWithoutQuery(t *testing.T) {
	h := newHouse(t)
	for i := range 15 {
		h.put(short(fmt.Sprintf("event %02d", i), daysAgo(15-i)))
	}
	h.put(short("far event", importance(7), daysAgo(20)), short("elsewhere", in("user")), long("fact", "a fact"))
	for _, query := range []string{"", "  ", "?!"} {
		out := h.context(memd.ContextRequest{Query: query})
		for i := range 15 {
			if in := strings.Contains(out.Text, fmt.Sprintf("event %02d", i)); in != (i >= 5) {
				t.Errorf("query %q: event %d is in: %t", query, i, in)
			}
		}
		if !strings.Contains(out.Text, "far event") || strings.Contains(out.Text, "elsewhere") || strings.Contains(out.Text, "a fact") {
			t.Errorf("query %q: %s", query, out.Text)
		}
	}
}

func TestContextBudget(t *testing.T) {
	h := newHouse(t)
	pieces := []string{"规则", "rule 🧑‍🚀 ", "é", "漢字かな", "x\n", "👍🏽 "}
	for i := range 12 {
		text := strings.Repeat(pieces[i%len(pieces)], 15*(i+1)*(i+1))
		h.put(rule(fmt.Sprintf("r%d", i), text, importance(1+i%10)), short(text+"近事", importance(6+i%4)),
			long(fmt.Sprintf("f%d", i), "kumquat "+text))
	}
	if _, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: "笔记 📝"}); err != nil {
		t.Fatal(err)
	}
	for max := 1; max <= 3000; max += 13 {
		h.context(memd.ContextRequest{Query: "kumquat", SessionID: "s1", MaxChars: ptr(max)})
	}
	for _, max := range []int{0, -1, 1e6 + 1} {
		_, err := h.engine.Context(context.Background(), root, memd.ContextRequest{MaxChars: ptr(max)})
		checkRefusal(t, err, memd.CodeInvalidRequest, "max_chars")
	}
}

func TestPinnedTakeHalf(t *testing.T) {
	h := newHouse(t)
	for i := range 60 {
		h.put(rule(fmt.Sprintf("r%02d", i), fmt.Sprintf("Rule %02d ", i)+strings.Repeat("文", 150), importance(1+i%10)))
	}
	fact := h.put(long("fact", "Kumquat "+strings.Repeat("q", 1500)))[0]
	out := h.context(memd.ContextRequest{Query: "kumquat", MaxChars: ptr(4000)})
	if got := reason(out, fact); got != "in" {
		t.Errorf("the fact that was asked for: %q", got)
	}
	rules, _, _ := strings.Cut(out.Text, "\n## Known")
	_, rules, _ = strings.Cut(rules, "\n## ")
	if n := utf8.RuneCountInString(rules); n > 2000 || n < 1700 {
		t.Errorf("the rules take %d of 4000 characters", n)
	}
	for i := range 60 { // by importance: the tens are in
		key := fmt.Sprintf("] r%02d (", i)
		if i%10 == 9 && !strings.Contains(out.Text, key) || i%10 < 8 && strings.Contains(out.Text, key) {
			t.Errorf("rule %d of importance %d: in %t", i, 1+i%10, strings.Contains(out.Text, key))
		}
	}
}

func TestShortenedRule(t *testing.T) {
	h := newHouse(t)
	text := "起" + strings.Repeat("规🧭", 600) + "终"
	id := h.put(rule("long", text, because("why so", "how so")))[0]
	out := h.context(memd.ContextRequest{MaxChars: ptr(2400)})
	if got := reason(out, id); got != "shortened" {
		t.Fatalf("%q, want shortened", got)
	}
	runes := []rune(text)
	if !strings.Contains(out.Text, "\n  "+string(runes[:800])+"\n  …") || strings.Contains(out.Text, string(runes[:801])) {
		t.Error("the rule does not stand with exactly its first 800 characters")
	}
	if !strings.Contains(out.Text, "memd get "+id) || strings.Contains(out.Text, "why so") {
		t.Error("no pointer to the whole, or more than the summary")
	}
	if got := reason(h.context(memd.ContextRequest{MaxChars: ptr(900)}), id); got != "budget" {
		t.Errorf("%q where not even 800 characters fit, want budget", got)
	}
	if got := reason(h.context(memd.ContextRequest{}), id); got != "in" {
		t.Errorf("%q with room for all, want in", got)
	}
}

// One rule may take more than the share of the rules, shortened, where none of
// them would enter else; not two.
func TestRuleLongerThanItsShare(t *testing.T) {
	for _, c := range []struct{ max, rule int }{{1300, 900}, {1200, 5000}} {
		h := newHouse(t)
		text := strings.Repeat("文", c.rule)
		id := h.put(rule("long", text))[0]
		out := h.context(memd.ContextRequest{MaxChars: ptr(c.max)})
		if got := reason(out, id); got != "shortened" {
			t.Fatalf("a rule of %d in %d characters: %q, want shortened", c.rule, c.max, got)
		}
		if n := strings.Count(out.Text, "文"); n != 800 || !strings.Contains(out.Text, "memd get "+id) {
			t.Errorf("it stands with %d characters, or without a pointer", n)
		}
	}
	h := newHouse(t)
	ids := h.put(
		rule("most", "1 "+strings.Repeat("文", 3000), importance(9)),
		rule("more", "2 "+strings.Repeat("文", 3000), importance(8)),
		rule("some", "3 in few words", importance(7)),
		long("fact", "Kumquat "+strings.Repeat("q", 300)),
	)
	out := h.context(memd.ContextRequest{Query: "kumquat", MaxChars: ptr(1650)}) // the share would hold none
	for i, want := range []string{"shortened", "budget", "budget", "in"} {
		if got := reason(out, ids[i]); got != want {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
	out = h.context(memd.ContextRequest{Query: "kumquat", MaxChars: ptr(2900)}) // room for both, yet one is over half
	for i, want := range []string{"shortened", "budget", "in", "in"} {
		if got := reason(out, ids[i]); got != want {
			t.Errorf("with more room row %d: %q, want %q", i, got, want)
		}
	}
}

// A rule that found no room among the pinned enters, shortened, where it is
// asked for, and is listed as such.
func TestRuleThatEntersLaterIsListedOnce(t *testing.T) {
	h := newHouse(t)
	h.put(rule("first", strings.Repeat("a", 700), importance(10)))
	id := h.put(rule("second", "Kumquat "+strings.Repeat("b", 3000)))[0]
	if got := reason(h.context(memd.ContextRequest{MaxChars: ptr(2200)}), id); got != "budget" {
		t.Errorf("unasked: %q, want budget", got)
	}
	if got := reason(h.context(memd.ContextRequest{Query: "kumquat", MaxChars: ptr(2200)}), id); got != "shortened" {
		t.Errorf("asked for: %q, want shortened", got)
	}
}

func TestContextCountsAccess(t *testing.T) {
	h := newHouse(t)
	h.put(short("kumquat", importance(9)), short("damson"))
	for range 2 {
		h.context(memd.ContextRequest{Query: "kumquat", SessionID: "s1"})
	}
	h.clock.Advance(time.Minute)
	h.fold()
	hits := h.ask("kumquat damson").Results
	for _, hit := range hits {
		if want := map[string]int{"kumquat": 1, "damson": 0}[hit.Summary]; hit.AccessCount != want {
			t.Errorf("%s: access_count %d, want %d", hit.Summary, hit.AccessCount, want)
		}
	}
}
