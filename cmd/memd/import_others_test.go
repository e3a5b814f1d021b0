package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/exchange/importers"
)

// foreign is a home folder with what other programs have left in it, of the first of
// March.
func foreign(t *testing.T, b *box) string {
	t.Helper()
	home := filepath.Dir(b.dir)
	hyphened := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(home + "/src/dock")
	kept := filepath.Join(".claude", "projects", hyphened)
	for name, text := range map[string]string{
		"src/dock/go.mod":                  "module dock\n",
		kept + "/memory/MEMORY.md":         "- [who](user_who.md) — harbour master\n",
		kept + "/memory/user_who.md":       "---\nname: who\nmetadata:\n  type: user\n---\nHarbour master.\n",
		kept + "/memory/berths.md":         "berth 4 is shallow\n",
		kept + "/memory/project_freeze.md": "---\nname: freeze\ndescription: no paint\ntype: project\n---\nno reasons\n",
		kept + "/s1.jsonl":                 `{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-03-01T10:00:00Z","cwd":"` + home + `/src/dock","message":{"role":"user","content":"where is the ramp?"}}` + "\n",
		"memory.json":                      `{"type":"entity","name":"Ada Park","entityType":"person","observations":["leads the port"]}` + "\nbroken\n",
		"engram.json":                      `{"version":"0.1.0","exported_at":"2026-03-02T00:00:00Z","sessions":[{"id":"s","project":"x","directory":"` + home + `/src/dock","started_at":"2026-03-01 10:00:00"}],"observations":[{"id":1,"session_id":"s","type":"decision","title":"Rail","content":"by rail","scope":"project","created_at":"2026-03-01 10:00:00","updated_at":"2026-03-01 10:00:00"}],"prompts":[{"id":1,"session_id":"s","content":"which way?","created_at":"2026-03-01 10:00:00"}]}`,
		"chat.md":                          "**User:** when does the crane rest?\n\n**Assistant:** at noon\n",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return kept
}

// report is what an import with --json prints.
func report(t *testing.T, r result) importers.Report {
	t.Helper()
	var report importers.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	return report
}

// Each form is taken in as often as anybody likes, and stands once, with a daemon and
// without; what cannot be taken makes the exit code 1, and the others go on.
func TestImportOfOtherPrograms(t *testing.T) {
	b := newBox(t)
	kept := foreign(t, b)
	forms := []struct {
		flag, place    string
		created, wrong int
	}{
		{"--claude", filepath.Join(kept, "memory"), 2, 1},
		{"--mcp-memory", "memory.json", 1, 1},
		{"--engram", "engram.json", 2, 0},
		{"--transcript", filepath.Join(kept, "s1.jsonl"), 1, 0},
		{"--transcript", "chat.md", 1, 0},
	}
	for _, f := range forms {
		dry := report(t, b.run("--json", "import", f.flag, f.place, "--dry-run"))
		if !dry.DryRun || dry.Created != f.created || dry.Refused != f.wrong {
			t.Errorf("%s: a dry run says %+v", f.flag, dry)
		}
		first := b.run("--json", "import", f.flag, f.place)
		if r := report(t, first); r.Created != f.created || r.Refused != f.wrong || first.code != min(f.wrong, 1) {
			t.Errorf("%s: %+v, exit %d: %s", f.flag, r, first.code, first.err)
		}
	}
	d := b.serve()
	for range 2 {
		for _, f := range forms {
			again := b.run("--json", "import", f.flag, f.place)
			if r := report(t, again); r.Created != 0 || r.Unchanged != f.created || r.Refused != f.wrong || again.code != min(f.wrong, 1) {
				t.Errorf("%s again: %+v, exit %d: %s", f.flag, r, again.code, again.err)
			}
		}
	}
	d.stop()

	var page memd.Page
	if err := json.Unmarshal([]byte(b.must("--json", "list", "--namespace", "*")), &page); err != nil {
		t.Fatal(err)
	}
	in := map[string]string{}
	for _, m := range page.Memories {
		in[strings.Fields(m.Summary)[0]+" "+string(m.Tier)] = m.Namespace + " " + m.Source
	}
	dock := in["berth long"]
	if !strings.HasPrefix(dock, "project/dock-") || !strings.HasSuffix(dock, " "+kept+"/memory/berths.md") {
		t.Errorf("a project's note stands in %q", dock)
	}
	ns, _, _ := strings.Cut(dock, " ")
	for what, want := range map[string]string{
		"harbour long": "user " + kept + "/memory/user_who.md", "Ada long": "default ./memory.json#Ada%20Park", "Rail: long": ns + " ./engram.json#1",
	} {
		if in[what] != want {
			t.Errorf("%s stands in %q, want %q", what, in[what], want)
		}
	}
	if out := b.must("recall", "ramp", "--namespace", ns); !strings.Contains(out, "where is the ramp") {
		t.Errorf("what was imported is not found: %s", out)
	}
	people := b.run("import", "--mcp-memory", "memory.json")
	if want := "refused    memory.json:2: the line is no entity and no relation in JSON\n0 created, 0 updated, 1 unchanged, 0 in conflict, 1 refused\n"; people.out != want {
		t.Errorf("people read %q", people.out)
	}
}

// stdin is a file like any other; knowledge from a pipe has no date, and is refused.
func TestImportFromStdin(t *testing.T) {
	b := newBox(t)
	const entity = `{"type":"entity","name":"a","entityType":"t","observations":["x"]}`
	file := filepath.Join(t.TempDir(), "memory.json")
	if err := os.WriteFile(file, []byte(entity), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := b.command("--json", "import", "--mcp-memory", "-", "--namespace", "team/dock")
	cmd.Stdin = in
	if r := report(t, b.finish(cmd)); r.Created != 1 {
		t.Errorf("%+v", r)
	}
	if r := b.feed(entity, "--json", "import", "--mcp-memory", "-"); r.code != 1 || report(t, r).Refused != 1 {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
	if r := b.feed("User: a\nAssistant: b\n", "--json", "import", "--transcript", "-"); r.code != 0 || report(t, r).Created != 1 {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestImportUsage(t *testing.T) {
	b := newBox(t)
	for _, args := range [][]string{
		{"--claude", "nowhere"}, {"--claude", ""}, {"--engram", ""}, {"--transcript", "."}, {"--mcp-memory", "nowhere.json"},
		{"--claude", ".", "--access", "x"}, {"--engram", "x", "--rejects", "y"}, {"--claude", ".", "--namespace", "No"}, {"--claude", ".", "--engram", "x"},
	} {
		if r := b.run(append([]string{"import"}, args...)...); r.code != memd.ExitUsage || r.out != "" || !strings.HasPrefix(r.err, "memd: ") {
			t.Errorf("%q exits %d: %s%s", args, r.code, r.out, r.err)
		}
	}
}

// A chat is taken in whatever its file is called; a name that no source can have is cited
// by none.
func TestImportOfChatsOfAnyName(t *testing.T) {
	b := newBox(t)
	for _, name := range []string{"Why? 10:30 - *notes*.md", strings.Repeat("long ", 45) + ".md", "percent %zz #1.md", `back\slash.md`} {
		path := filepath.Join(filepath.Dir(b.dir), name)
		if err := os.WriteFile(path, []byte("User: "+name+"\nAssistant: b\n"), 0o600); err != nil {
			t.Skipf("%v", err) // names that this system does not have
		}
		for _, want := range []int{1, 0} {
			if r := b.run("--json", "import", "--transcript", path); r.code != 0 || report(t, r).Created != want {
				t.Errorf("%q: %d %s%s", name, r.code, r.out, r.err)
			}
		}
	}
}
