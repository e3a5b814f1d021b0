package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memd"
)

// What is wrong with a command line is said on stderr with the way out, and
// nothing is done.
func TestUsage(t *testing.T) {
	b := newBox(t)
	for _, c := range []struct {
		args string // split at spaces
		says string
	}{
		{"recal x", "recall"},
		{"stat", "stats"},
		{"completion tcsh", "tcsh"},
		{"completion", "memd completion bash"},
		{"completion bash x", "x"},
		{"help bogus", "bogus"},
		{"help recal", "recall"},
		{"help session fin", "fin"},
		{"help completion tcsh", "tcsh"},
		{"session", "memd session end"},
		{"session fin s", "memd session end"},
		{"token", "memd token new"},
		{"guard", "memd guard allow"},
		{"guard allow a b --reason r", "one fingerprint"},
		{"recall", "missing"},
		{"recall two words", "quote it"},
		{"remember two words", "quote it"},
		{"context two words", "quote it"},
		{"why two words --key k", "quote it"},
		{"why x", "--key"},
		{"why x --key k --id i", "--key"},
		{"recall -x", "put -- before"},
		{"recall x --fast", "--fast"},
		{"recall x --limit many", "many"},
		{"remember x --expires-at tomorrow", "RFC 3339"},
		{"remember x --raw-content a --raw-file b", "raw-file"},
		{"remember - --raw-file -", "stdin"},
		{"note x", "session"},
		{"get", "one id"},
		{"get a b", "one id"},
		{"get a --key k", "--key"},
		{"get a --namespace n", "--key"},
		{"get a --versions", "--key"},
		{"get --key=", "empty"},
		{"forget a", "--yes"},
		{"forget --key k", "--yes"},
		{"compact", "--yes"},
		{"compact x --yes", "memd compact"},
		{"rollover x", "memd rollover"},
		{"list x", "list"},
		{"list --limit 0", "limit"},
		{"groom --reports --light", "reports"},
		{"list --wait soon", "soon"},
		{"token new a b --role read", "one name"},
		{"setup emacs", "claude-code"},
		{"setup cursor zed", "one client"},
		{"setup --print", "which client"},
		{"setup --agent a", "which client"},
		{"setup cursor --scope team", "scope"},
		{"setup zed --scope project", "--scope"},
		{"setup cursor --agent A", "agent"},
		{"version x", "version"},
	} {
		r := b.run(strings.Split(c.args, " ")...)
		if r.code != memd.ExitUsage || !strings.HasPrefix(r.err, "memd: ") || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("%s: exit code %d, want %d saying %q: %s%s", c.args, r.code, memd.ExitUsage, c.says, r.out, r.err)
		}
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("a refused command made the data folder (%v)", err)
	}
}

func TestHelpAndCompletion(t *testing.T) {
	b := newBox(t)
	for args, says := range map[string]string{
		"":                               "remember-long-term",
		"--help":                         "remember-long-term",
		"help":                           "remember-long-term",
		"help recall":                    "--include-archive",
		"help token new":                 "--role",
		"help compact":                   "--yes",
		"help rollover":                  "history/",
		"help help":                      "any command",
		"help completion":                "zsh",
		"completion --help":              "zsh",
		"completion bash --help":         "bash-completion",
		"__complete help rec":            "recall",
		"__complete completion b":        "bash",
		"recall --help":                  "--include-archive",
		"completion bash":                "memd",
		"completion zsh":                 "memd",
		"completion fish":                "memd",
		"completion powershell":          "memd",
		"version":                        "memd ",
		"version --json":                 `"go":"go`,
		"__complete recall x --tier ":    "transient",
		"__complete remember x --kind p": "pitfall",
		"help setup":                     "--print",
		"help index":                     "--include",
		"__complete setup c":             "claude-code",
		"__complete setup cursor ":       ":4",
		"__complete setup zed --scope ":  "project",
	} {
		var list []string
		if args != "" {
			list = strings.Split(args, " ")
		}
		if out := b.must(list...); !strings.Contains(out, says) {
			t.Errorf("memd %s does not say %q: %s", args, says, out)
		}
	}
}

// Flags stand before the text or after it.
func TestFlagPlaces(t *testing.T) {
	b := newBox(t)
	for _, args := range [][]string{
		{"remember", "first place", "--importance", "9", "--json"},
		{"--json", "remember", "--importance", "9", "second place"},
		{"remember", "--importance=9", "--json", "--", "third place"},
	} {
		if out := b.must(args...); !strings.Contains(out, `"importance":9`) || !strings.Contains(out, `place"`) {
			t.Errorf("%q: %s", args, out)
		}
	}
	if out := b.must("recall", "second", "--limit", "1", "--json"); !strings.Contains(out, "second place") || strings.Contains(out, "first place") {
		t.Errorf("recall: %s", out)
	}
}

// Whatever the text holds, it is stored as it is, refused, or made harmless on
// its way to a terminal.
func TestHostileText(t *testing.T) {
	b := newBox(t)
	for _, text := range []string{
		"-x", "--yes", "don't; DROP TABLE long", `"quoted" NEAR(a b)`, "tab\tand\nline", "emoji 🚀 修复watchdog", "%_*",
	} {
		if got := b.field("summary", "remember", "--", text); got != text {
			t.Errorf("%q is stored as %q", text, got)
		}
		b.must("recall", "--", text)
	}
	for _, args := range [][]string{
		{"remember", "broken \xff byte"},
		{"remember", "x", "--tag", "\xc3"},
		{"recall", "\xed\xa0\x80"},
		{"get", "\xff"},
		{"note", "x", "--session", "\xfe"},
		{"forget", "--key", "\xff", "--yes"},
	} {
		if r := b.run(args...); r.code != memd.ExitUsage || !strings.Contains(r.err, "UTF-8") {
			t.Errorf("%q: exit code %d: %s", args, r.code, r.err)
		}
	}
	if r := b.feed("broken \xff byte", "remember", "-"); r.code != memd.ExitUsage || !strings.Contains(r.err, "UTF-8") {
		t.Errorf("stdin: exit code %d: %s", r.code, r.err)
	}
	id := b.field("id", "remember", "red \x1b[31malert\x1b]0;owned\x07 \u202egnp.exe \u009b2J", "--namespace", "user")
	for _, args := range [][]string{
		{"get", id}, {"list", "--namespace", "user"}, {"recall", "red alert", "--namespace", "user"}, {"context", "red", "--namespace", "user"},
	} {
		if out := b.must(args...); strings.ContainsAny(out, "\x1b\x07\u202e\u009b") {
			t.Errorf("%q prints control characters: %q", args, out)
		}
	}
	b.must("remember", "unseen \u200bzero\u2060 \U000E0068\U000E0069 ![x](http://e.example/?q=1)", "--namespace", "user")
	if out := b.must("recall", "unseen", "--namespace", "user"); !strings.Contains(out, "<U+200B>zero<U+2060> <U+E0068><U+E0069> ![x](") {
		t.Errorf("recall hides what is there: %q", out)
	}
	if out := b.must("context", "unseen", "--namespace", "user"); !strings.Contains(out, `unseen zero  ![x]\(http`) {
		t.Errorf("the context is %q", out)
	}
	b.env = append(b.env, "MEMD_GUARD_LINKS=keep")
	if out := b.must("context", "unseen", "--namespace", "user"); !strings.Contains(out, "unseen zero  ![x](http") {
		t.Errorf("with links kept the context is %q", out)
	}
	for _, id := range []string{"../../../etc/passwd", "..", ".", "a/b", "%2e%2e", "?x=1", "#", " ", "\x1b[31m", strings.Repeat("x", 10000)} {
		r := b.run("get", "--", id)
		if r.code != memd.ExitNotFound || strings.Contains(r.err, "\x1b") {
			t.Errorf("get %.20q: exit code %d: %.200q", id, r.code, r.err)
		}
	}
}

// Who gives a key where an id belongs is shown the way.
func TestKeyInPlaceOfAnID(t *testing.T) {
	b := newBox(t)
	b.must("remember-long-term", "it is there", "--key", "deploy/how", "--source", "user", "--kind", "user")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"get", "deploy/how"}, "memd get --key deploy/how"},
		{[]string{"get", "two words"}, "memd get --key KEY"},
		{[]string{"get", "0193a1b2"}, "memd get --key 0193a1b2"},
		{[]string{"forget", "deploy/how", "--yes"}, "memd forget --key deploy/how"},
		{[]string{"--json", "get", "deploy/how"}, "memd get --key deploy/how"},
	} {
		if r := b.run(c.args...); r.code != memd.ExitNotFound || !strings.Contains(r.err, "hint: ") || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit code %d, want a hint at %s: %s", c.args, r.code, c.says, r.err)
		}
	}
	if r := b.run("get", "0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b"); r.code != memd.ExitNotFound || strings.Contains(r.err, "--key") {
		t.Errorf("an id that is none's: exit code %d: %s", r.code, r.err)
	}
	b.must("get", "--key", "deploy/how")
}

// A context without a text says why, beside the output.
func TestEmptyContext(t *testing.T) {
	b := newBox(t)
	empty := func(says string, args ...string) {
		t.Helper()
		r := b.run(append([]string{"context"}, args...)...)
		if r.code != 0 || r.out != "" || r.err != "memd: "+says+"\n" {
			t.Errorf("%q: exit code %d, want %q: %q %q", args, r.code, says, r.out, r.err)
		}
	}
	empty("there is nothing to start from in the namespace default")
	empty("there is nothing to start from in the namespaces user, a/b", "--namespace", "user", "--namespace", "a/b")
	b.must("remember-long-term", strings.Repeat("the release checklist is long. ", 20), "--key", "a", "--kind", "rule", "--source", "AGENTS.md#a")
	empty("nothing fits into 30 characters; 1 memory was left out", "--max-chars", "30")
	b.must("remember-long-term", strings.Repeat("the other checklist is longer. ", 20), "--key", "b", "--kind", "rule", "--source", "AGENTS.md#b")
	empty("nothing fits into 30 characters; 2 memories were left out", "--max-chars", "30")
	if r := b.run("context", "--max-chars", "30", "--json"); r.code != 0 || r.err != "" || !strings.HasPrefix(r.out, `{"text":""`) {
		t.Errorf("--json: exit code %d: %q %q", r.code, r.out, r.err)
	}
	if r := b.run("context"); r.code != 0 || r.out == "" || r.err != "" {
		t.Errorf("with room: exit code %d: %q %q", r.code, r.out, r.err)
	}
	b.must("remember", "the kitchen is blue", "--namespace", "user")
	b.must("remember", "an unrelated event", "--namespace", "user")
	empty("nothing in the namespace user bears on the query", "zebra crossing", "--namespace", "user")
}

func TestInput(t *testing.T) {
	b := newBox(t)
	raw := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(raw, []byte("line 1\nline 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := b.feed("two\nlines\r\n", "remember", "-", "--raw-file", raw, "--json")
	if r.code != 0 || !strings.Contains(r.out, `"summary":"two\nlines"`) {
		t.Errorf("from stdin: %d %s%s", r.code, r.out, r.err)
	}
	id := b.field("id", "remember", "with raw content", "--raw-file", raw)
	if got := b.field("raw_content", "get", id); got != "line 1\nline 2\n" {
		t.Errorf("raw content %q", got)
	}
	if r := b.feed("from a pipe", "remember", "raw from stdin", "--raw-file", "-"); r.code != 0 {
		t.Errorf("raw from stdin: %d %s", r.code, r.err)
	}
	if r := b.run("remember", "x", "--raw-file", raw+".none"); r.code != memd.ExitFailed || !strings.Contains(r.err, raw+".none") {
		t.Errorf("no such file: %d %s", r.code, r.err)
	}
	if r := b.feed("lines", "recall", "-", "--json"); r.code != 0 || !strings.Contains(r.out, `two\nlines`) {
		t.Errorf("recall from stdin: %d %s", r.code, r.out)
	}
	if r := b.feed(strings.Repeat("x", 8001), "remember", "-"); r.code != memd.ExitUsage || !strings.Contains(r.err, "8000") {
		t.Errorf("too long: %d %s", r.code, r.err)
	}
}

// A disk that takes no output is a failure, not a success without words.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full")
	}
	defer full.Close()
	b := newBox(t)
	for _, args := range [][]string{{"list"}, {"stats", "--json"}, {"config"}, {"version"}} {
		cmd := b.command(args...)
		cmd.Stdout = full
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != memd.ExitFailed {
			t.Errorf("%q onto a full disk: %v", args, err)
		}
	}
}

func TestConfiguration(t *testing.T) {
	b := newBox(t)
	file := filepath.Join(t.TempDir(), "memd.yaml")
	if err := os.WriteFile(file, []byte("log:\n  level: warn\nbudgets:\n  short_rows: lots\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := b.run("list", "--config", file)
	if r.code != memd.ExitUsage || !strings.Contains(r.err, file+":4") || !strings.Contains(r.err, "short_rows") {
		t.Errorf("a bad value: exit code %d: %s", r.code, r.err)
	}
	if err := os.WriteFile(file, []byte("log:\n  level: warn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := b.must("config", "--config", file, "--dir", b.dir+"2")
	for _, want := range []string{"log.level", "memd.yaml:2", "env MEMD_LOG_FORMAT", "flag --dir", "default"} {
		if !strings.Contains(out, want) {
			t.Errorf("the configuration does not show %s: %s", want, out)
		}
	}
	long := filepath.Join(filepath.Dir(b.dir), strings.Repeat("d", 100))
	if r := b.run("list", "--dir", long); r.code != memd.ExitUsage || !strings.Contains(r.err, "107") {
		t.Errorf("a socket path too long: exit code %d: %s", r.code, r.err)
	}
	if out := b.must("config", "--json"); !strings.Contains(out, `{"key":"listen","value":"127.0.0.1:0","origin":"env MEMD_LISTEN"}`) {
		t.Errorf("--json: %s", out)
	}
}

// Where a person sits at a terminal, forget asks.
func TestForgetAsks(t *testing.T) {
	b := newBox(t)
	for answer, gone := range map[string]bool{"n\n": false, "\n": false, "y\n": true} {
		id := b.field("id", "remember", "answered "+answer)
		r := b.typed(answer, "forget "+id)
		if !strings.Contains(r.out, "[y/N]") || (r.code == 0) != gone {
			t.Errorf("%q: exit code %d: %s%s", answer, r.code, r.out, r.err)
		}
		if code := b.run("get", id).code; (code == memd.ExitNotFound) != gone {
			t.Errorf("%q: get exits %d", answer, code)
		}
	}
}

// typed runs a command on a terminal at which a person types an answer.
func (b *box) typed(answer, args string) result {
	b.t.Helper()
	script, err := exec.LookPath("script")
	if err != nil {
		b.t.Skip("script(1) is not installed")
	}
	cmd := b.command()
	cmd.Args = []string{script, "-qec", cmd.Path + " " + args, "/dev/null"}
	cmd.Path = script
	cmd.Stdin = strings.NewReader(answer)
	return b.finish(cmd)
}
