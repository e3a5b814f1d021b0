package api

import (
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/internal/memtest"
)

// A new version makes the old one, in a historical database, dead to every
// reading at once: also where only the old wording matches.
func TestNewVersionKillsTheOneInHistory(t *testing.T) {
	p := &premises{dir: t.TempDir(), clock: memtest.NewClock(), historyFiles: 20}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.open())
	t.Cleanup(func() { must(p.store.Close()) })
	put := func(text string) memd.Written {
		t.Helper()
		w, err := p.tiers.RememberLongTerm(ctx, ann, memd.RememberLongTerm{MemoryKey: "deploy/window", Summary: text, Source: "AGENTS.md", Kind: memd.Rule})
		must(err)
		return w
	}
	words := []string{"quokka", "walrus", "zebra"}
	for n, word := range words {
		w := put("deploy on the day of the " + word)
		for i, asked := range words[:n+1] {
			answer, err := p.recall.Recall(ctx, admin, memd.Query{Query: asked, IncludeArchive: true, Touch: new(bool)})
			must(err)
			if found := len(answer.Results) > 0; found != (i == n) || found && answer.Results[0].ID != w.ID {
				t.Errorf("version %d: recall of %s finds %d rows", n+1, asked, len(answer.Results))
			}
			sheet, err := p.recall.Context(ctx, admin, memd.ContextRequest{Query: asked})
			must(err)
			if strings.Contains(sheet.Text, asked) != (i == n) {
				t.Errorf("version %d: the context for %s is\n%s", n+1, asked, sheet.Text)
			}
		}
		manifest, err := p.tiers.Manifest(ctx, admin, "", nil)
		must(err)
		if want := "[rule] deploy/window (today): " + w.Summary; !slices.Equal(manifest, []string{want}) {
			t.Errorf("the manifest says %q", manifest)
		}
		page, err := p.tiers.List(ctx, admin, memd.List{MemoryKey: "deploy/window"})
		must(err)
		if len(page.Memories) != 1 || page.Memories[0].ID != w.ID {
			t.Errorf("version %d: the list shows %d rows", n+1, len(page.Memories))
		}
		versions, err := p.tiers.Versions(ctx, admin, "", "deploy/window")
		must(err)
		if len(versions) != n+1 || versions[0].ID != w.ID {
			t.Errorf("version %d: %d versions", n+1, len(versions))
		}
		r, err := p.store.Rollover(ctx)
		must(err)
		if !r.Rolled {
			t.Fatalf("rolled %+v", r)
		}
	}
}
