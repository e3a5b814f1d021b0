package claude_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/exchange/importers"
	"memd/exchange/importers/claude"
	"memd/exchange/notes"
	"memd/guard/confine"
)

// written is when the files of a test were last written.
var written = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// folder makes a folder of files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "memory")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t testing.TB, dir string, o claude.Options) (found []importers.Item, faults []string) {
	t.Helper()
	opened, err := confine.Open(dir, ".md")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for item, err := range claude.Read(opened, o) {
		if fault, ok := errors.AsType[*notes.Fault](err); ok {
			faults = append(faults, fault.Error())
		} else if err != nil {
			t.Fatal(err)
		} else {
			found = append(found, item)
		}
	}
	return found, faults
}

var place = claude.Options{Origin: importers.Origin{File: "memory", Source: ".claude/memory"}, Project: "project/dock"}

// shown is a row as a test compares it.
func shown(it importers.Item) string {
	m := it.Long
	return strings.Join([]string{it.File, m.Namespace, string(m.Kind), m.MemoryKey, m.Summary, m.RawContent, m.Why, m.HowToApply, m.Source, m.VerifiedAt.String()}, "|")
}

func TestFolder(t *testing.T) {
	dir := folder(t, map[string]string{
		"MEMORY.md":                 "# Memory\n\n- [Who](user_who.md) — harbour master\n- [Berths](berths.md) — where ships lie\n\n## Build\n\nRun `make dock` first.\n\n```\n# no heading\n```\n\n## Empty\n\n> Not listed: 3\n",
		"user_who.md":               "---\nname: who\ndescription: harbour master\ntype: user\n---\nHarbour master.\n",
		"feedback_minutes.md":       "---\nname: minutes\ndescription: \"minutes: within a day\"\nmetadata:\n  node_type: memory\n  type: feedback\n  originSessionId: 00000000-0000-4000-8000-000000000000\n---\n\nSend minutes within a day.\n\n**Why:** they were forgotten\n\n**How to apply:** after each meeting\n",
		"style.md":                  "---\nname: style\ndescription: wrapped answers\ntype: preference\nupdatedAt: 2025-01-15T10:30:00Z\n---\nWrap answers.\n",
		"berths.md":                 "# Berths\r\n\r\nBerth 4 is shallow.\r\n",
		"project_freeze.md":         "No paint after June.\n",
		"reference_brand.md":        "---\ndescription: brand folder\n---\nOn the share.\n",
		"topics/crane.md":           "* The crane counts twice.\n",
		"topics/deep/notes.memd.md": "---\nname: overtaken\ndescription: x\ntype: user\n---\n",
		".hidden/x.md":              "hidden",
		"photo.txt":                 "no note",
	})
	found, faults := read(t, dir, place)
	var got []string
	for _, it := range found {
		got = append(got, shown(it))
	}
	const at = "2026-03-01T10:00:00.000Z"
	want := []string{
		"memory/MEMORY.md|project/dock|fact|memory-md/Build|Build: Run `make dock` first.|<!-- name: \"Build\" -->\nRun `make dock` first.\n\n```\n# no heading\n```|||.claude/memory/MEMORY.md#build|" + at,
		"memory/berths.md|project/dock|fact|berths|where ships lie|# Berths\n\nBerth 4 is shallow.|||.claude/memory/berths.md|" + at,
		"memory/feedback_minutes.md|user|feedback|minutes|minutes: within a day|Send minutes within a day.|they were forgotten|after each meeting|.claude/memory/feedback_minutes.md|" + at,
		"memory/project_freeze.md|project/dock|fact|project_freeze|No paint after June.|No paint after June.|||.claude/memory/project_freeze.md|" + at,
		"memory/reference_brand.md|project/dock|reference|reference_brand|brand folder|On the share.|||.claude/memory/reference_brand.md|" + at,
		"memory/style.md|user|preference|style|wrapped answers|Wrap answers.|||.claude/memory/style.md|2025-01-15T10:30:00.000Z",
		"memory/topics/crane.md|project/dock|fact|topics/crane|The crane counts twice.|* The crane counts twice.|||.claude/memory/topics/crane.md|" + at,
		"memory/user_who.md|user|user|who|harbour master|Harbour master.|||.claude/memory/user_who.md|" + at,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || len(faults) > 0 {
		t.Errorf("got\n%s\nwant\n%s\n%q", strings.Join(got, "\n"), strings.Join(want, "\n"), faults)
	}
}

// What cannot be read is reported with file and line, and the others go on.
func TestFaults(t *testing.T) {
	dir := folder(t, map[string]string{
		"broken.md":     "---\nname: a\ndescription: [b\ntype: user\n---\nx\n",
		"open.md":       "---\nname: a\ndescription: b\n",
		"type.md":       "---\nname: a\ndescription: b\ntype: wish\n---\nx\n",
		"reasons.md":    "---\nname: a\ndescription: b\ntype: project\n---\nx\n",
		"nested.md":     "---\nname: a\nmetadata: [1]\n---\nx\n",
		"list.md":       "---\nname: [a]\ndescription: b\ntype: user\n---\nx\n",
		"bytes.md":      "a\nb\xff\n",
		"nul.md":        "a\x00\n",
		"empty.md":      "",
		"blank.md":      "---\ntype: user\n---\n\n",
		"deep.md":       "---\nx: " + strings.Repeat("[", 10_000) + "\n---\n",
		"aliases.md":    "---\na: &a [x,x]\nname: *a\ntype: user\n---\n",
		"unreasoned.md": "---\n# why\nname: u\n\ndescription: b\nmetadata:\n  type: feedback\n---\nx\n",
		"ends.md":       "---\nname: e\ndescription: b\ntype: user\nexpires_at: 2027-01-01\n---\nx\n",
		"zz_large.md":   strings.Repeat("x", notes.MaxBytes+1),
		"zz_good.md":    "---\nname: good\ndescription: b\ntype: user\n---\nx\n",
	})
	found, faults := read(t, dir, place)
	if len(found) != 1 || found[0].Long.MemoryKey != "good" {
		t.Errorf("found %d", len(found))
	}
	want := []string{
		"aliases.md:3: ", "blank.md:", "broken.md:4: ", "bytes.md:2: ", "deep.md:2: ", "empty.md:", "ends.md:1: ", "list.md:2: ", "nested.md:1: ", "nul.md:1: ",
		"open.md:1: ", "reasons.md:4: ", "type.md:4: ", "unreasoned.md:1: ", "zz_large.md:",
	}
	if len(faults) != len(want) {
		t.Fatalf("faults are %s", strings.Join(faults, "\n"))
	}
	for i, f := range faults {
		if !strings.HasPrefix(f, "memory/"+want[i]) {
			t.Errorf("%s, want %s", f, want[i])
		}
	}
}

// Without a project what is the project's has no namespace, and says so.
func TestWithoutAProject(t *testing.T) {
	dir := folder(t, map[string]string{
		"MEMORY.md": "Run make.\n", "a.md": "plain\n", "b.md": "---\nname: b\ndescription: b\ntype: user\n---\n",
	})
	o := place
	o.Project = ""
	found, faults := read(t, dir, o)
	if len(found) != 1 || len(faults) != 2 || !strings.Contains(strings.Join(faults, " "), "namespace") {
		t.Errorf("%d, %q", len(found), faults)
	}
	o.Namespace = "team/dock"
	found, faults = read(t, dir, o)
	if len(found) != 3 || len(faults) > 0 || found[0].Long.Namespace != "team/dock" || found[2].Long.Namespace != "team/dock" {
		t.Errorf("%d, %q", len(found), faults)
	}
}

func TestHostileFolder(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a\n", "Q3 Report.md": "b\n", "q3-report.md": "c\n", "🚀.md": "d\n", "会议.md": "e\n"})
	outside := filepath.Join(filepath.Dir(dir), "secret.md")
	if err := os.WriteFile(outside, []byte("outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"out.md": outside, "loop": ".", "self.md": "self.md", "gone.md": "nowhere.md"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	found, faults := read(t, dir, place)
	keys := map[string]bool{}
	for _, it := range found {
		keys[it.Long.MemoryKey] = true
		if strings.Contains(it.Long.RawContent, "outside") {
			t.Error("a link leads out")
		}
	}
	if len(found) != 5 || len(keys) != 5 || len(faults) != 3 {
		t.Errorf("%d found, %q", len(keys), faults)
	}
}

// The folder of a project is found again by the name that Claude Code gives its own.
func TestFolderOf(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"src/my.app", "src/my/apps", "src-x", "a-b", "a/b"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fsys := os.DirFS(root)
	for name, want := range map[string]string{"-src-my-app": "src/my.app", "-src-my-apps": "src/my/apps", "-src-x": "src-x", "-src": "src", "-gone": "", "-a-b": "", "src": "", "": "", "-": ""} {
		if got := claude.FolderOf(fsys, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("# T\n\n- [a](a.md) — b\n\n## S\ntext\n", "---\nname: a\nmetadata:\n  type: feedback\n---\nb\n**Why:** c\n**How to apply:** d\n")
	f.Add("", "\ufeff---\r\ndescription: >\r\n  x\r\n---\r\nb")
	f.Add("x", "---\n---\n")
	f.Fuzz(func(t *testing.T, index, file string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"MEMORY.md": index, "a.md": file} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, faults := read(t, dir, place)
		for _, it := range found {
			m := it.Long
			if !memd.ValidKey(m.MemoryKey) || !memd.ValidNamespace(m.Namespace) || m.Summary == "" || m.VerifiedAt.IsZero() {
				t.Fatalf("%+v", m)
			}
		}
		for _, fault := range faults {
			var line int
			if _, err := fmt.Sscanf(fault, "memory/a.md:%d:", &line); err == nil && line > strings.Count(file, "\n")+strings.Count(file, "\r")+2 {
				t.Fatalf("%s", fault)
			}
		}
	})
}
