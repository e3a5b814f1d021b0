package groom

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memd"
)

// A practice contradicts a rule where the one commands what the other forbids.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Always squash commits", "Never squash commits of others", true},
		{"You must mock the database in tests", "Do not mock the database", true},
		{"必须直接推送到主干", "禁止推送到主干", true},
		{"应当在主干上修复", "不得在主干上修复", true},
		{"Always keep commits small", "Never rebase shared branches", false},
		{"Squash commits", "Never squash commits", false}, // it commands nothing
		{"Never use npm", "Always use pnpm", false},
		{"Always squash commits", "Always squash commits", false},
		{"Never squash commits", "Never squash commits", false},
	} {
		for _, text := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			var f contradictionFinder
			found, err := f.find(context.Background(), []head{about("p", text[0], "git")}, []head{about("r", text[1], "git")})
			if err != nil || (len(found) > 0) != c.want {
				t.Errorf("%q: %q, want %v; error %v", text, found, c.want, err)
			}
		}
	}
}

// about is a row about tags.
func about(id, text string, tags ...string) head {
	return head{Memory: memd.Memory{ID: id, Namespace: "default", MemoryKey: id, Summary: text, Tags: tags}}
}

// Only rows of one namespace that are about the same contradict each other.
func TestContradictionsAboutTheSame(t *testing.T) {
	always, never := about("p", "Always squash commits"), about("r", "Never squash commits")
	for name, c := range map[string]struct {
		edit func(p, r *head)
		want int
	}{
		"nothing":            {func(p, r *head) {}, 0},
		"a tag":              {func(p, r *head) { p.Tags, r.Tags = []string{"a", "git", "git"}, []string{"git"} }, 1},
		"a tag, elsewhere":   {func(p, r *head) { p.Tags, r.Tags, r.Namespace = []string{"git"}, []string{"git"}, "team" }, 0},
		"the name of a kind": {func(p, r *head) { p.Tags, r.Tags = []string{"rule"}, []string{"rule"} }, 0},
		"a stem":             {func(p, r *head) { p.MemoryKey, r.MemoryKey = "git.squash.a", "git.squash.b" }, 1},
		"a stem and a tag": {func(p, r *head) {
			p.MemoryKey, r.MemoryKey, p.Tags, r.Tags = "git.a", "git.b", []string{"x"}, []string{"x"}
		}, 1},
		"a stem that is a tag": {func(p, r *head) { p.MemoryKey, r.Tags = "git.a", []string{"git"} }, 0},
	} {
		p, r := always, never
		c.edit(&p, &r)
		var f contradictionFinder
		found, err := f.find(context.Background(), []head{p}, []head{r})
		if err != nil || len(found) != 2*c.want || f.compared != c.want {
			t.Errorf("%s in common: %q, %d compared, error %v", name, found, f.compared, err)
		}
	}
}

// many are so many rows, each with long texts, and a tag that every n-th has.
func many(kind, says string, rows, n int) (all []head) {
	for i := range rows {
		var b strings.Builder
		for w := 0; b.Len() < 4000; w++ {
			fmt.Fprintf(&b, "%s %s%c%c%c. ", says, kind, 'a'+(i+w)%26, 'a'+w%26, 'a'+w/26%26)
		}
		all = append(all, about(fmt.Sprint(kind, i), b.String()+says+" squash commits.", fmt.Sprint("tag", i%n)))
	}
	return all
}

// However many practices and rules there are, and however long, only those about
// the same are compared.
func TestContradictionsAmongMany(t *testing.T) {
	practices, rules := many("p", "Always", 1000, 500), many("r", "Never", 1000, 500)
	var f contradictionFinder
	found, err := f.find(context.Background(), practices, rules)
	if err != nil || f.compared != 2000 || len(found) != 4000 || !slices.Equal(found[:4], []string{"p0", "r0", "p0", "r500"}) {
		t.Errorf("%d compared, %d found, error %v", f.compared, len(found)/2, err)
	}
}

// ending is a context that ends once it was looked at so often.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// Whoever gives up on an audit does not wait for the rest of it.
func TestContradictionsCutOff(t *testing.T) {
	practices, rules := many("p", "Always", 100, 1), many("r", "Never", 100, 1)
	for looks, compared := range map[int]int{0: 0, 50: 0, 200: 0, 203: 300, 299: 9900} {
		var f contradictionFinder
		_, err := f.find(&ending{context.Background(), looks}, practices, rules)
		if err == nil || f.compared != compared {
			t.Errorf("cut off at look %d, %d compared, want %d; error %v", looks, f.compared, compared, err)
		}
	}
}
