package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/exchange/jsonl"
)

// fill writes rows of every tier, versions and tombstones, over several databases.
func (b *box) fill() {
	b.t.Helper()
	for i := range 3 {
		for _, words := range []string{"the gateway restarts at noon", "deploys go through make release", "设备在九点重启，看门狗误杀"} {
			b.must("remember", fmt.Sprintf("%s, the %dth time", words, i), "--tag", "ops", "--session", "s1", "--importance", fmt.Sprint(3+i))
			b.must("remember-long-term", fmt.Sprintf("%s, version %d", words, i), "--key", fmt.Sprintf("key/%x", words[:3]), "--source", "AGENTS.md#ops")
		}
		b.must("rollover")
	}
	gone := b.field("id", "remember", "nobody needs the lunch menu")
	cold := b.field("id", "remember", "the cache was cold on friday")
	b.must("archive", cold)
	b.must("remember", "for eyes of the board: the merger", "--access", "board")
	b.must("note", "looking at the gateway", "--session", "s1")
	b.must("rollover")
	b.must("forget", gone, "--yes")
}

// linesOf are the lines of a file without its header.
func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(string(text), "\n")[1:]
}

// A store that leaves in a file enters another one: that one exports the same lines, and
// answers questions by the same memories in the same order. It does so with a daemon and
// without, and three times as once.
func TestWholeStore(t *testing.T) {
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprintf("daemon %t", served), func(t *testing.T) {
			from, to := newBox(t), newBox(t)
			from.fill()
			if served {
				from.serve()
				to.serve()
			}
			first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
			from.must("export", "--jsonl", first)
			if info, err := os.Stat(first); err != nil || info.Mode() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			for range 3 {
				to.must("import", "--jsonl", first)
			}
			to.must("export", "--jsonl", second)
			if a, b := linesOf(t, first), linesOf(t, second); !slices.Equal(a, b) {
				t.Errorf("exported\n%s\nand again\n%s", strings.Join(a, ""), strings.Join(b, ""))
			}
			from.must("export", "--jsonl", second) // over a file that is there
			if a, b := linesOf(t, first), linesOf(t, second); !slices.Equal(a, b) {
				t.Error("an unchanged store is exported as something else")
			}
			for _, question := range []string{"when does the gateway restart", "how do deploys go", "看门狗", "cold cache", "merger", "version 2"} {
				ask := []string{"recall", question, "--no-touch", "--include-archive", "--access", "board", "--session", "s1"}
				if a, b := from.found(ask), to.found(ask); len(a) == 0 || !slices.Equal(a, b) {
					t.Errorf("%s: %v, and in the other store %v", question, a, b)
				}
			}
		})
	}
}

// found are the ids that a recall answers.
func (b *box) found(args []string) (ids []string) {
	b.t.Helper()
	var answer memd.Answer
	if err := json.Unmarshal([]byte(b.must(append(args, "--json")...)), &answer); err != nil {
		b.t.Fatal(err)
	}
	for _, hit := range answer.Results {
		ids = append(ids, hit.ID)
	}
	return ids
}

// Through pipes it is the same, and nothing but the lines is on stdout.
func TestWholeStoreThroughPipes(t *testing.T) {
	from, to := newBox(t), newBox(t)
	from.fill()
	r := from.run("export", "--jsonl", "-")
	if r.code != 0 || r.err != "" || strings.Count(r.out, "\n") != strings.Count(r.out, "{\"type\"") {
		t.Fatalf("%d %s", r.code, r.err)
	}
	if r := to.feed(r.out, "import", "--jsonl", "-", "--json"); r.code != 0 || !json.Valid([]byte(r.out)) {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if again := to.must("export", "--jsonl", "-"); again[strings.Index(again, "\n"):] != r.out[strings.Index(r.out, "\n"):] {
		t.Error("the other store exports something else")
	}
}

// What does not get in is told by line, without its text, and waits in a file to be
// mended; the exit code says so.
func TestImportRejects(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	const secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	in := strings.Join([]string{
		`{"type":"memory","tier":"short","summary":"one"}`,
		`{"type":"memory","tier":"long","summary":"the bot uses ` + secret + `","memory_key":"ci/bot","source":"docs/ci.md"}`,
		`{"type":"memory","tier":"short","summary":"quagga`,
		`{"type":"memory","tier":"short","summary":"okapi","importance":11}`,
		`{"type":"memory","tier":"short","summary":"two"}`,
	}, "\r\n")
	rejects := filepath.Join(t.TempDir(), "rejects")
	r := b.feed(in, "import", "--jsonl", "-", "--rejects", rejects)
	if r.code != memd.ExitFailed || !strings.Contains(r.out, "5 lines: 2 created, 3 refused") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	for _, line := range []string{"line 2: refused: ", "line 3: refused: the line is no JSON object", "line 4: refused: importance must be 1 to 10"} {
		if !strings.Contains(r.out, line) {
			t.Errorf("%q is not said: %s", line, r.out)
		}
	}
	for what, text := range map[string]string{"report": r.out + r.err, "log": d.log.String()} {
		for _, body := range []string{secret, "quagga", "okapi"} {
			if strings.Contains(text, body) {
				t.Errorf("the %s holds %s", what, body)
			}
		}
	}
	text, err := os.ReadFile(rejects)
	if info, _ := os.Stat(rejects); err != nil || info.Mode() != 0o600 || strings.Count(string(text), "\n") != 3 {
		t.Fatalf("%s, %v", text, err)
	}
	mended := strings.NewReplacer(secret, "a token", `quagga`, `quagga"}`, "11", "10").Replace(string(text))
	if r := b.feed(mended, "import", "--jsonl", "-"); r.code != 0 || !strings.Contains(r.out, "3 lines: 3 created") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	var report jsonl.Report
	r = b.feed(in, "import", "--jsonl", "-", "--json")
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || r.code != memd.ExitFailed || report.Outcomes[memd.Unchanged] != 2 || len(report.Parked) != 3 {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
}

// The lines that did not get in never take the place of the file that they came from, by
// whichever name.
func TestImportRejectsIntoItself(t *testing.T) {
	b := newBox(t)
	dir := t.TempDir()
	in, link := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "link.jsonl")
	const lines = `{"type":"memory","tier":"short","summary":"one"}` + "\n{\n"
	if err := errors.Join(os.WriteFile(in, []byte(lines), 0o600), os.Link(in, link)); err != nil {
		t.Fatal(err)
	}
	for _, rejects := range []string{in, link, filepath.Join(dir, ".", "in.jsonl")} {
		r := b.run("import", "--jsonl", in, "--rejects", rejects)
		if text, err := os.ReadFile(in); err != nil || string(text) != lines || r.code != memd.ExitUsage || !strings.Contains(r.err, "--rejects") {
			t.Errorf("%s: %d %s, and %q stands, %v", rejects, r.code, r.err, text, err)
		}
	}
}

// A file that was cut short is noticed; what is there of it gets in.
func TestImportCutShort(t *testing.T) {
	from, to := newBox(t), newBox(t)
	from.fill()
	whole := from.must("export", "--jsonl", "-")
	r := to.feed(whole[:len(whole)*2/3], "import", "--jsonl", "-")
	if r.code != memd.ExitFailed || !strings.Contains(r.out, "cut short") || !strings.Contains(r.out, " created") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if r := to.feed(whole, "import", "--jsonl", "-"); r.code != 0 {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if again := to.must("export", "--jsonl", "-"); again[strings.Index(again, "\n"):] != whole[strings.Index(whole, "\n"):] {
		t.Error("the other store exports something else")
	}
}

// What will not fit is said before anything is written; what stands needs no room.
func TestImportFits(t *testing.T) {
	from, to := newBox(t), newBox(t)
	from.fill()
	whole := from.must("export", "--jsonl", "-")
	small := *to
	small.env = append(slices.Clone(to.env), "MEMD_BUDGETS_SHORT_ROWS=9")
	r := small.feed(whole, "import", "--jsonl", "-")
	if r.code != memd.ExitFailed || !strings.Contains(r.err, "10 short rows are new, and budgets.short_rows has room for 9") || !strings.Contains(r.err, "hint: raise") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if out := to.must("list", "--namespace", "*"); strings.Contains(out, "gateway") {
		t.Errorf("something was written: %s", out)
	}
	to.feed(whole, "import", "--jsonl", "-")
	if r := small.feed(whole, "import", "--jsonl", "-"); r.code != 0 {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if r := to.feed(whole, "import", "--jsonl", "-", "--dry-run"); r.code != 0 || !strings.Contains(r.out, " unchanged") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
}

// A place that is none is refused, and what stands in it is left alone.
func TestExportPlaces(t *testing.T) {
	b := newBox(t)
	b.must("remember", "something")
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	if err := os.WriteFile(kept, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"", dir, "/dev/null"} {
		if r := b.run("export", "--jsonl", place); r.code != memd.ExitUsage {
			t.Errorf("%q: %d %s", place, r.code, r.err)
		}
		if r := b.run("import", "--jsonl", place); place != "/dev/null" && r.code != memd.ExitUsage {
			t.Errorf("%q: %d %s", place, r.code, r.err)
		}
	}
	if r := b.run("export", "--jsonl", filepath.Join(dir, "none", "x")); r.code == 0 {
		t.Error("exported into a folder that is not there")
	}
	if r := b.run("import", "--jsonl", filepath.Join(dir, "none")); r.code != memd.ExitUsage {
		t.Errorf("%d %s", r.code, r.err)
	}
	if r := b.run("export", "--jsonl", kept, "--namespace", "No Namespace"); r.code != memd.ExitUsage {
		t.Errorf("%d %s", r.code, r.err)
	}
	// Nothing takes the place of what memd keeps, by whichever way.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(b.dir, link); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{filepath.Join(b.dir, "agent_memory.db"), filepath.Join(b.dir, "history", "new"), filepath.Join(link, "new")} {
		if r := b.run("export", "--jsonl", place); r.code != memd.ExitUsage || !strings.Contains(r.err, "data directory") {
			t.Errorf("%q: %d %s", place, r.code, r.err)
		}
		if r := b.run("import", "--jsonl", kept, "--rejects", place); r.code != memd.ExitUsage || !strings.Contains(r.err, "--rejects") && !strings.Contains(r.err, "data directory") {
			t.Errorf("%q: %d %s", place, r.code, r.err)
		}
	}
	if out := b.must("recall", "something"); !strings.Contains(out, "something") {
		t.Errorf("recalled %s", out)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
	left, err := fs.ReadDir(os.DirFS(dir), ".")
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// What an export that was killed left holds bodies: the next one into its folder removes
// it, and nothing that may still be written.
func TestExportTidies(t *testing.T) {
	b := newBox(t)
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{".memd-1.tmp": time.Hour, ".memd-2.tmp": 0, "mine.tmp": time.Hour} {
		path, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, []byte("body"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	b.must("export", "--jsonl", filepath.Join(dir, "x"))
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{".memd-2.tmp", "mine.tmp", "x"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %q, %v", left, err)
	}
}

// On a terminal one line shows how far it has come, and is cleared; elsewhere nothing is
// said.
func TestExchangeProgress(t *testing.T) {
	b := newBox(t)
	var in strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&in, `{"type":"memory","tier":"short","summary":"row %d"}`+"\n", i)
	}
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, []byte(in.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"import --jsonl " + file, clearLine + "import: 1000 lines" + clearLine + "1100 lines: 1100 created"},
		{"export --jsonl " + file, clearLine + "export: 1000 lines of about 1100" + clearLine + file + ": 1100 lines, "},
	} {
		if r := b.typed("", c.args); r.code != 0 || !strings.Contains(r.out, c.want) {
			t.Errorf("%s: %d %q", c.args, r.code, r.out)
		}
	}
	if r := b.run("import", "--jsonl", file); r.code != 0 || r.err != "" || strings.Contains(r.out, clearLine) {
		t.Errorf("%d %q %q", r.code, r.out, r.err)
	}
}
