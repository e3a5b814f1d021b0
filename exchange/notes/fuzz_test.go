package notes_test

import (
	"errors"
	"strings"
	"testing"

	"memd"
	"memd/exchange/notes"
)

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: b\ntype: user\n---\nbody\n**Why:** c\n**How to apply:** d\n")
	f.Add("\ufeff---\r\nname: 'a'\r\nx: [1,\r\n2]\r\ndescription: |\r\n  b\r\ntype: feedback\r\ntags: [a, b]\r\n# c\r\n---\r\n---\r\n")
	f.Add("---\n? a\n: b\n<<: *x\nname: &a b\n...\n")
	for _, s := range hostile {
		f.Add("---\nname: " + s + "\ndescription: b\ntype: user\nfoo: " + s + "\n---\n" + s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := notes.Parse(strings.NewReader(text), "a.md")
		if err != nil {
			if fault, ok := errors.AsType[*notes.Fault](err); !ok || fault.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+2 {
				t.Fatalf("%v", err)
			}
			return
		}
		if got := render(t, n); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		n.Importance, n.Body, n.Tags, n.Owner = n.Importance%10+1, n.Body+"\nx", []string{"a"}, "o"
		var b strings.Builder
		if err := n.Render(&b); err != nil { // refused: never wrong
			return
		}
		again := read(t, b.String())
		if again.Digest() != n.Digest() || render(t, again) != b.String() {
			t.Fatalf("%q changed to %q", text, b.String())
		}
	})
}

func FuzzReadIndex(f *testing.F) {
	f.Add("# Memory\n\n- [a](a.md) — b\n- **[b](b.md)** (user) — c\n* [c](x%20y.md)\n> Not listed: 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := notes.ReadIndex(strings.NewReader(text))
		if err != nil {
			return
		}
		var once, twice strings.Builder
		if err := notes.RenderIndex(&once, text, entries, nil); err != nil {
			return
		}
		if err := notes.RenderIndex(&twice, once.String(), entries, nil); err != nil || twice.String() != once.String() {
			t.Fatalf("%q, then %q, %v", once.String(), twice.String(), err)
		}
		if len(once.String()) > notes.MaxIndexBytes || strings.Count(once.String(), "\n") > notes.MaxIndexLines {
			t.Fatal("larger than an index may be")
		}
	})
}

func FuzzClaim(f *testing.F) {
	f.Add("<<<<<<< HEAD\n---\nmemory_key: \"k\"\r\nnamespace: project/x\n", "project/x", "k")
	f.Add("memory_key: a\nmemory_key: b\n", "user", "b")
	f.Fuzz(func(t *testing.T, text, namespace, key string) {
		claim := notes.ClaimOf([]byte(text))
		states := strings.Contains(text, "memory_key:") && key != "" && strings.Contains(text, key)
		if claim.Of(namespace, key) && (!states || claim.IsZero()) {
			t.Fatalf("%q is no claim of %q in %q", text, key, namespace)
		}
		head := "memory_key: " + key + "\nnamespace: " + namespace + "\n"
		if memd.ValidKey(key) && memd.ValidNamespace(namespace) && !notes.ClaimOf([]byte(head)).Of(namespace, key) {
			t.Fatalf("%q is not claimed", head)
		}
	})
}
