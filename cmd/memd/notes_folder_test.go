package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/exchange/folder"
)

// A folder of notes goes in and out by the commands, the same way with a daemon and
// without; the exit code tells what to look at.
func TestNotesFolder(t *testing.T) {
	for name, serve := range map[string]bool{"alone": false, "daemon": true} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			if serve {
				d := b.serve()
				defer d.stop()
			}
			dir := b.beside("work/notes")
			put := func(name, text string) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			report := func(code int, args ...string) (r folder.Report) {
				t.Helper()
				res := b.run(append(args, "--json")...)
				if err := json.Unmarshal([]byte(res.out), &r); err != nil || res.code != code {
					t.Fatalf("%q exits %d, want %d: %v: %s%s", args, res.code, code, err, res.out, res.err)
				}
				return r
			}
			if err := os.MkdirAll(filepath.Join(b.beside("work"), ".git", "objects"), 0o755); err != nil {
				t.Fatal(err)
			}
			put("style.md", "---\nname: Style\ndescription: Answers are short\ntype: feedback\n---\n\n**Why:** time\n\n**How to apply:** at most three sentences\n")
			put("db.md", "---\nname: db\ndescription: The database is db7\ntype: reference\n---\n")
			if r := report(0, "import", "--notes", dir); r.Created != 2 || r.Folder != dir {
				t.Errorf("the import: %+v", r)
			}
			if r := report(0, "import", "--notes", dir); r.Unchanged != 2 {
				t.Errorf("the second import: %+v", r)
			}
			if _, err := os.Stat(b.beside("out")); err == nil {
				t.Error("a refused export made its folder")
			}
			if out := b.must("list", "--namespace", "user"); !strings.Contains(out, "Answers are short") {
				t.Errorf("user holds %s", out)
			}
			b.must("remember-long-term", "--key", "release.steps", "--kind", "rule", "--source", "AGENTS.md", "Run the full tests")
			if out := b.must("export", "--notes", dir, "--dry-run"); !strings.Contains(out, "nothing was written; it would be 1 created") {
				t.Errorf("the dry run says %s", out)
			}
			if out := b.must("export", "--notes", dir); !strings.Contains(out, "created    default/release-steps-") || !strings.Contains(out, "created    MEMORY.md") ||
				!strings.Contains(out, "1 created, 0 updated, 2 unchanged, 0 in conflict, 0 refused") {
				t.Errorf("the export says %s", out)
			}
			if out := b.must("export", "--notes", dir); out != "0 created, 0 updated, 3 unchanged, 0 in conflict, 0 refused\n" {
				t.Errorf("the second export says %s", out)
			}
			only := b.beside("only/default")
			if r := report(0, "export", "--notes", only, "--namespace", "default"); r.Created != 1 {
				t.Errorf("the export of one namespace: %+v", r)
			}

			put("bad.md", "---\nname: x\ndescription: y\ntype: bogus\n---\n")
			r := b.run("import", "--notes", dir)
			if r.code != memd.ExitFailed || !strings.Contains(r.out, "refused    bad.md:4: type: must be") || !strings.Contains(r.err, "1 of the files were refused") {
				t.Errorf("a broken note: %d, %s%s", r.code, r.out, r.err)
			}
			if err := os.Remove(filepath.Join(dir, "bad.md")); err != nil {
				t.Fatal(err)
			}
			style, err := os.ReadFile(filepath.Join(dir, "style.md"))
			if err != nil {
				t.Fatal(err)
			}
			put("style.md", strings.Replace(string(style), "Answers are short", "Answers are two lines", 1))
			b.must("remember-long-term", "--key", "style-changed", "--namespace", "user", "--kind", "user", "--source", "user", "Unrelated")
			key := strings.TrimPrefix(strings.Split(string(style[strings.Index(string(style), "memory_key: "):]), "\n")[0], "memory_key: ")
			b.must("remember-long-term", "--key", key, "--namespace", "user", "--kind", "feedback", "--source", "user", "--why", "w", "--how-to-apply", "h", "Answers are one line")
			r = b.run("export", "--notes", dir)
			if r.code != memd.ExitConflict || !strings.Contains(r.out, "conflict   style.md: ") || !strings.Contains(r.err, "NAME.memd.md") {
				t.Errorf("a conflict: %d, %s%s", r.code, r.out, r.err)
			}
		})
	}
}

// What stands before a run is said, and nothing is done.
func TestNotesUsage(t *testing.T) {
	b := newBox(t)
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"import":                                {memd.ExitUsage, "notes"},
		"export":                                {memd.ExitUsage, "notes"},
		"import --notes=":                       {memd.ExitUsage, "names no folder"},
		"export --notes=":                       {memd.ExitUsage, "names no folder"},
		"import --notes none":                   {memd.ExitUsage, "it is not there"},
		"export --notes out --namespace UP":     {memd.ExitUsage, "namespace"},
		"import --notes " + "/dev/null":         {memd.ExitUsage, "folder"},
		"export --notes out x":                  {memd.ExitUsage, "x"},
		"import --notes none --namespace team/": {memd.ExitUsage, "namespace"},
	} {
		r := b.run(strings.Split(args, " ")...)
		if r.code != want.code || !strings.Contains(r.err, want.says) || r.out != "" {
			t.Errorf("%s: %d, %s%s", args, r.code, r.out, r.err)
		}
	}
	dir := b.beside("notes")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte("---\nname: "+name+"\ndescription: d\ntype: reference\n---\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.env = append(b.env, "MEMD_BUDGETS_LONG_ROWS=1")
	r := b.run("import", "--notes", dir)
	if r.code != memd.ExitFailed || !strings.Contains(r.err, "2 new") || !strings.Contains(r.err, "room for 1") || !strings.Contains(r.err, "long_rows") {
		t.Errorf("an import that does not fit: %d, %s%s", r.code, r.out, r.err)
	}
	if out := b.must("list", "--namespace", "*"); out != "none\n" {
		t.Errorf("it wrote %s", out)
	}
}
