package tiers_test

import (
	"strings"
	"testing"

	"memd"
)

// Artefacts a long row of any kind may rest on.
var goodSources = []string{
	// Paths, with and without a folder.
	"AGENTS.md", "AGENTS.md#commands", "AGENTS.md#commands:12", "./AGENTS.md", "README", "LICENSE", "Makefile", "Makefile:12",
	"Dockerfile", "docs/Makefile#all", "docs/adr/0007.md", "docs/adr/0007.md#Decision", "pkg/x.go:12", "pkg/x.go:12-40",
	"x.go", "x.go:1", "go.mod", "go.sum", "main_test.go:7", "a.b.c.py", "a-b_c.rs", "docker-compose.yml", "package.json",
	".gitignore", ".env", ".github/workflows/ci.yml", ".github/CODEOWNERS", "src/.eslintrc", "docs/v1.2.3/notes.md",
	"v1.2.3/main.go", "src/node.js/index.js", "docs/../README.md", "docs//a.md", "assets/logo.png", "data/table.parquet",
	"internal/api/server.go#Handler:88", "docs/a.md#a-b_c.d", "docs/a.md#标题", "文档/设计.md", "docs/über.md#größe",
	"docs/with%20space.md#x", "docs/a+b@c,d=e.md", "docs/a.md#one#two", "docs/(draft).md", "[id].tsx", "app/[slug]/page.tsx",
	"scripts/deploy", "./deploy", "cmd/memd", "docs/adr/0007", "docs/adr/0007#status", "report.pdf", "notes.ipynb", "schema.sql:4", "proto/x.proto", "infra/main.tf",
	// Web addresses.
	"https://example.com", "http://example.com/", "https://example.com/a/b?c=d&e=f#g", "http://localhost:8080/x",
	"http://127.0.0.1:6363/docs", "https://[::1]:8443/x", "https://例え.jp/パス", "HTTPS://EXAMPLE.COM/x",
	"https://github.com/o/r/pull/12#discussion_r1", "https://example.com/a%20b", "https://example.com/node.js",
}

// What is no artefact: prose, products, other memories, places outside.
var badSources = []string{
	// Nothing, or hardly anything.
	" ", "\u200b", "\t\n", ".", "..", "/", "./", "#", "#x", ":12", "AGENTS.md#", "docs/", "?",
	// Prose and products.
	"the wiki", "we agreed on it", "conversation", "common knowledge", "v1.2.3", "1.2.3", "e.g.", "i.e.", "node.js", "Node.js",
	"Next.js", "ASP.NET", "etc.", "...", "John said so", "see docs/a.md", "docs/a.md and docs/b.md", "README.md, AGENTS.md", "TODO", "n/a", "none",
	// Memories.
	"memd://default/k", "memd:k", "memd://memories/01900000-0000-7000-8000-000000000000",
	"01900000-0000-7000-8000-000000000000", "01900000-0000-7000-8000-00000000000A", "build.test-command", "deploy",
	"some_key", "deploy.approval", "prefs.editor",
	// Outside the root, or no way to write a path.
	"/etc/passwd.conf", "/abs/file.md", "../x.md", "../../x.md", "docs/../../x.md", "..", "a/../../b.md", `docs\a.md`, `C:\x.go`, "C:/x.go",
	"docs/a b.md", "docs/a.md #x", "a\nb.md", "docs/a.md\x7f", "docs/*.md", "docs/a?.md", "docs/<a>.md", `"docs/a.md"`, "docs/a|b.md",
	"%2e%2e/x.md", "..%2fx.md", "a/%2e%2e/%2e%2e/x.md", "%2Fetc/x.md", "docs%5Ca.md", "docs/%zz.md", "~/x.md", "~root/x.md", "x.go:0",
	"x.go:12:5", "x.go:abc", "x.go:", "x.go:12345678",
	// Other schemes, and addresses that lead nowhere.
	"ftp://example.com/x", "file:///etc/passwd", "file://docs/a.md", "javascript:alert(1)", "data:text/plain,x", "mailto:a@b.md",
	"http://", "https://", "https:///x", "http://:80/", "https://exa mple.com/", "https://example.com/a b", "http:example.com", "://x", "https://%zz/",
	"ssh://git@example.com/x.git", "git@example.com:o/r.git",
	// People, for kinds that state no one's wish.
	"user", "session:abc", "User", "me", "Alice",
	// Encodings.
	"docs/\xff.md", "docs/\x00.md",
}

func TestGoodSources(t *testing.T) {
	h := newHouse(t, nil)
	if len(goodSources) < 40 || len(badSources) < 40 {
		t.Fatalf("%d good and %d bad sources", len(goodSources), len(badSources))
	}
	for n, source := range goodSources {
		w, err := h.RememberLongTerm(ctx, ann, longRequest("k", "what it says", func(r *memd.RememberLongTerm) { r.Source = source }))
		if err != nil {
			t.Errorf("%q was refused: %v", source, err)
			continue
		}
		if m, _ := h.get(w.ID); m.Source != source || m.SourceStatus != memd.SourceUnchecked {
			t.Errorf("%q came back as %q, %s", source, m.Source, m.SourceStatus)
		}
		if _, err := h.Remember(ctx, ann, memd.Remember{Summary: strings.Repeat("x", n+1), Source: source}); err != nil {
			t.Errorf("short row: %q was refused: %v", source, err)
		}
	}
}

func TestBadSources(t *testing.T) {
	h := newHouse(t, nil)
	for _, source := range badSources {
		t.Run(source, func(t *testing.T) {
			_, err := h.RememberLongTerm(ctx, ann, longRequest("k", "what it says", func(r *memd.RememberLongTerm) { r.Source = source }))
			refused(t, err, memd.CodeMissingSource, "source")
			_, err = h.Remember(ctx, ann, memd.Remember{Summary: "what it says", Source: source})
			refused(t, err, memd.CodeInvalidRequest, "source")
		})
	}
	_, err := h.RememberLongTerm(ctx, ann, longRequest("k", "what it says", func(r *memd.RememberLongTerm) { r.Source = "" }))
	refused(t, err, memd.CodeMissingSource, "source")
	_, err = h.RememberLongTerm(ctx, ann, longRequest("k", "x", func(r *memd.RememberLongTerm) { r.Source = "docs/" + strings.Repeat("a", 1020) + ".md" }))
	refused(t, err, memd.CodeTooLarge, "source")
	if got := h.rows(); got != "0 0 0 0" {
		t.Errorf("refused writes left rows: %s", got)
	}
}

// A path without a suffix may be a key as well: where a memory has it for its
// key, it is no source.
func TestKeyIsNoSource(t *testing.T) {
	h := newHouse(t, nil)
	for _, key := range []string{"team/rules", "team/rules.naming"} {
		request := longRequest("k", "what it says about "+key, func(r *memd.RememberLongTerm) { r.Source = key })
		if _, err := h.RememberLongTerm(ctx, ann, request); err != nil {
			t.Fatalf("%s before it is a key: %v", key, err)
		}
		if _, err := h.RememberLongTerm(ctx, ann, longRequest(key, "a memory of its own, "+key)); err != nil {
			t.Fatal(err)
		}
		request.Summary += ", again"
		_, err := h.RememberLongTerm(ctx, ann, request)
		refused(t, err, memd.CodeMissingSource, "source")
	}
}

// A person, or a session in which they spoke, bears out what people wish and
// say, and nothing else; a short row needs no source at all.
func TestPersonalSources(t *testing.T) {
	h := newHouse(t, nil)
	for _, kind := range memd.AllKinds() {
		if !kind.Durable() {
			continue
		}
		for source, good := range map[string]bool{
			"user": kind.Personal(), "session:abc-1": kind.Personal(), "session:会话": kind.Personal(),
			"session:": false, "session:a b": false, "session: ": false, "users": false, agents: true,
		} {
			_, err := h.RememberLongTerm(ctx, ann, longRequest("k", "what it says", func(r *memd.RememberLongTerm) {
				r.Kind, r.Source, r.Why, r.HowToApply = kind, source, "because", "so"
			}))
			if good && err != nil {
				t.Errorf("%s from %q: %v", kind, source, err)
			} else if !good {
				refused(t, err, memd.CodeMissingSource, "source")
			}
		}
	}
	// A write that leaves the kind out takes the head's, and its sources.
	h.keep("wish", "likes tabs", func(r *memd.RememberLongTerm) { r.Kind, r.Source = memd.Preference, "user" })
	if w := h.keep("wish", "likes spaces", func(r *memd.RememberLongTerm) { r.Source = "session:2" }); w.Kind != memd.Preference || w.Version != 2 {
		t.Errorf("the second version is %s %d", w.Kind, w.Version)
	}
	_, err := h.RememberLongTerm(ctx, ann, longRequest("new", "likes tabs", func(r *memd.RememberLongTerm) { r.Source = "user" }))
	refused(t, err, memd.CodeMissingSource, "source")
	if w := h.remember("no source"); w.SourceStatus != memd.SourceNone {
		t.Errorf("a short row without a source has status %s", w.SourceStatus)
	}
}

// Whether a key exists that the caller may not see, a source of its name does not tell.
func TestHiddenKeyAsSource(t *testing.T) {
	h := newHouse(t, nil)
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr"}}
	h.must(second(h.RememberLongTerm(ctx, boss, longRequest("salary/plan", "what is paid", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} }))))
	from := func(source string) func(*memd.RememberLongTerm) {
		return func(r *memd.RememberLongTerm) { r.Source = source }
	}
	for _, source := range []string{"salary/plan", "salary/none"} {
		w, err := h.RememberLongTerm(ctx, ann, longRequest("of/"+source[7:], "what "+source+" says", from(source)))
		if err != nil || !w.Created || len(w.Warnings) != 0 {
			t.Errorf("%s: %+v, %v", source, w, err)
		}
		short := must(h.Remember(ctx, ann, shortRequest("said by "+source)))
		if w, err := h.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "up/" + source[7:], Source: source}); err != nil || len(w.Warnings) != 0 {
			t.Errorf("%s, promoted: %+v, %v", source, w, err)
		}
	}
	_, err := h.RememberLongTerm(ctx, boss, longRequest("k", "what it says", from("salary/plan")))
	refused(t, err, memd.CodeMissingSource, "source")

	// A key with a version that the caller may see is one to it, also archived or expired.
	trap := h.keep("team/trap", "a trap", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	h.must(second(h.Patch(ctx, ann, trap.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	_, err = h.RememberLongTerm(ctx, ann, longRequest("k", "what it says", from("team/trap")))
	refused(t, err, memd.CodeMissingSource, "source")
}
