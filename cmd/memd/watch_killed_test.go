package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
)

// A watch that is killed at any moment and started again comes to the same end as one
// that was not: every edit is on both sides, once, and of what was changed on both while
// nobody looked the person's holds and memd's is kept beside it.
func TestWatchKilled(t *testing.T) {
	b := newBox(t)
	b.serve()
	w := b.watch()
	random := rand.New(rand.NewPCG(1, 2))
	texts := map[string][]string{} // of each note, in their order
	says := func(name, body string) string {
		texts[name] = append(texts[name], body)
		return body
	}
	last := func(name string) string { return texts[name][len(texts[name])-1] }
	for round := range 6 {
		want := map[string]string{}
		for i := range 8 {
			name := fmt.Sprintf("n%d", i)
			body := says(name, fmt.Sprintf("round %d of %s", round, name))
			if want[name] = body; (i+round)%2 == 0 {
				w.edit(name, body)
			} else {
				b.write(name, body)
			}
		}
		// Somewhere between the first of it and the last.
		arrived := func() (n int) {
			for name, body := range want {
				if inFile(w.path(name)) == body && b.inStore(name) == body {
					n++
				}
			}
			return n
		}
		until := random.IntN(len(want) + 1)
		eventually(t, "some of it is done", func() bool { return arrived() >= until })
		w.kill()

		b.write("both", says("both", fmt.Sprintf("the store's in round %d", round)))
		editNote(t, w.path("both"), "both", says("both", fmt.Sprintf("the person's in round %d", round)))
		w = b.watch() // and has brought both together
		for name := range texts {
			if file, row := inFile(w.path(name)), b.inStore(name); file != last(name) || row != last(name) {
				t.Fatalf("round %d: of %q the file says %q and the store %q", round, name, file, row)
			}
		}
		if kept := inFile(w.path("both.memd")); kept != fmt.Sprintf("the store's in round %d", round) {
			t.Fatalf("round %d: beside the file is kept %q", round, kept)
		}
	}
	w.stop()
	b.holds(texts)
	found, err := filepath.Glob(filepath.Join(w.dir, "[^.]*")) // without what a killed one left unfinished, which goes after a while
	if err != nil || len(found) != len(texts)+2 {
		t.Errorf("in the folder are %v, %v", found, err)
	}
	for _, way := range []string{"import", "export"} {
		if out := b.must(way, "--notes", w.dir, "--namespace", "user", "--dry-run"); !strings.Contains(out, fmt.Sprintf("0 created, 0 updated, %d unchanged, 0 in conflict, 0 refused", len(texts))) {
			t.Errorf("%s would do more: %s", way, out)
		}
	}
}

// holds fails unless the store holds these texts alone, each once, as the versions of
// their notes.
func (b *box) holds(texts map[string][]string) {
	b.t.Helper()
	c := b.client()
	page, err := c.List(b.t.Context(), memd.List{Namespace: "user", Limit: memd.MaxListLimit})
	if err != nil || len(page.Value.Memories) != len(texts) {
		b.t.Errorf("%d memories are there for %d notes, %v", len(page.Value.Memories), len(texts), err)
	}
	for name, want := range texts {
		versions, err := c.Versions(b.t.Context(), "user", name)
		if err != nil {
			b.t.Fatal(err)
		}
		var got []string
		for _, v := range versions.Value.Versions {
			m, err := c.Get(b.t.Context(), v.ID)
			if err != nil {
				b.t.Fatal(err)
			}
			got = append(got, m.Value.RawContent)
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			b.t.Errorf("the versions of %s are %q, not %q", name, got, want)
		}
	}
}
