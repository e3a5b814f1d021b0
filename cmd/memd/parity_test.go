package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// step is a command, the exit code it must end with, and the name under which
// later steps find the id in its answer, as $name.
type step struct {
	code int
	name string
	args []string
}

func does(args ...string) step               { return step{args: args} }
func makes(name string, args ...string) step { return step{name: name, args: args} }
func fails(code int, args ...string) step    { return step{code: code, args: args} }
func (s step) String() string                { return strings.Join(s.args, " ") }
func (s step) with(ids map[string]string) []string {
	args := make([]string, len(s.args))
	for i, arg := range s.args {
		if args[i] = arg; strings.HasPrefix(arg, "$") {
			args[i] = ids[arg[1:]]
		}
	}
	return args
}

// everyCommand uses each command that reaches the store, in success and in
// failure.
func everyCommand() []step {
	return []step{
		makes("short", "remember", "the build is red since monday", "--tag", "ci", "--tag", "a,b", "--importance", "7",
			"--session", "s1", "--agent", "codex", "--source", "pkg/x.go:12", "--raw-content", "the whole log"),
		does("remember", "the build is red since monday"),
		makes("other", "remember", "lunch was late", "--namespace", "user", "--expires-at", "2099-01-01T00:00:00Z"),
		makes("pit", "remember", "the linker runs out of memory", "--kind", "pitfall"),
		makes("secret", "remember", "for eyes of ops", "--access", "ops"),
		fails(2, "remember", "  "),
		fails(2, "remember", "x", "--importance", "11"),
		fails(2, "remember", "x", "--kind", "gossip"),
		makes("long", "remember-long-term", "deploys go through make release", "--key", "deploy/how",
			"--source", "AGENTS.md#deploy", "--kind", "rule", "--owner", "ops", "--verified-at", "2026-01-02T03:04:05Z"),
		does("remember-long-term", "deploys go through make ship", "--key", "deploy/how", "--source", "AGENTS.md#deploy",
			"--base-version", "1"),
		does("remember-long-term", "deploys go through make ship", "--key", "deploy/how", "--source", "AGENTS.md#deploy"),
		fails(4, "remember-long-term", "deploys are gone", "--key", "deploy/how", "--source", "AGENTS.md#deploy",
			"--base-version", "1"),
		fails(2, "remember-long-term", "no source", "--key", "k"),
		fails(2, "remember-long-term", "feedback lacks its reason", "--key", "k", "--source", "user", "--kind", "feedback"),
		does("remember-long-term", "tests first", "--key", "style/tests", "--source", "user", "--kind", "feedback",
			"--why", "regressions", "--how-to-apply", "write the failing test"),
		makes("note", "note", "on branch fix/lock", "--session", "s1", "--ttl", "2h"),
		fails(2, "note", "x", "--session", "s1", "--ttl", "soon"),
		does("session", "notes", "s1"),
		fails(3, "session", "notes", "nobody"),
		does("recall", "why is the build red"),
		does("recall", "branch", "--session", "s1", "--explain", "--no-touch"),
		does("recall", "build", "--include-raw", "--limit", "1"),
		does("recall", "lunch", "--namespace", "user", "--namespace", "default", "--tier", "short", "--kind", "event"),
		does("recall", "eyes", "--access", "ops"),
		does("recall", "xyzzy", "--explain"),
		does("recall", "deploys", "--max-chars", "5"),
		fails(2, "recall", "x", "--limit", "0"),
		fails(2, "recall", "x", "--cursor", "forged"),
		does("context"),
		does("context", "build", "--session", "s1", "--max-chars", "900"),
		does("get", "$short"),
		does("get", "$long"),
		fails(3, "get", "00000000-0000-7000-8000-000000000000"),
		does("why", "how do deploys go", "--key", "deploy/how"),
		does("why", "--id", "$short", "--session", "s1"),
		does("why", "eyes", "--id", "$secret", "--access", "ops", "--namespace", "default"),
		does("why", "lunch", "--key", "no/such"),
		fails(2, "why", "lunch", "--key", "no such"),
		fails(2, "why", "lunch", "--id", "x", "--namespace", "A"),
		fails(3, "get", "../../etc/passwd"),
		fails(3, "get", ".."),
		does("get", "--key", "deploy/how"),
		does("get", "--key", "deploy/how", "--versions"),
		fails(3, "get", "--key", "no/such"),
		does("list"),
		does("list", "--namespace", "*", "--limit", "2"),
		does("list", "--tier", "long", "--kind", "rule", "--stale=false"),
		does("list", "--tag", "a,b", "--q", "BUILD"),
		does("list", "--key", "deploy/how"),
		fails(2, "list", "--tier", "attic"),
		fails(2, "list", "--limit", "201"),
		does("edit", "$short", "--importance", "3", "--tag", "", "--owner", "me"),
		does("edit", "$pit", "--resolved-at", "2026-05-01T00:00:00Z"),
		fails(2, "edit", "$short"),
		fails(3, "edit", "nothing", "--importance", "3"),
		does("verify", "$long"),
		does("verify", "$long", "--missing"),
		does("list", "--stale"),
		does("verify", "$long"),
		fails(2, "verify", "$short"),
		does("hit", "$pit"),
		fails(2, "hit", "$short"),
		does("archive", "$short"),
		does("recall", "build", "--include-archive"),
		does("promote", "$short", "--to", "short"),
		does("promote", "$short", "--key", "ci/red", "--source", "docs/ci.md"),
		fails(2, "promote", "$pit"),
		does("forget", "$other", "--yes"),
		fails(3, "forget", "$other", "--yes"),
		fails(2, "forget", "$long"),
		does("forget", "--key", "deploy/how", "--yes"),
		fails(3, "forget", "--key", "deploy/how", "--yes"),
		does("session", "end", "s1"),
		fails(3, "session", "end", "s1"),
		does("groom", "--dry-run"),
		does("groom", "--light"),
		does("groom", "--ids"),
		does("groom", "--reports"),
		does("groom", "--reports", "--ids"),
		does("audit"),
		fails(2, "audit", "--sample", "201"),
		does("stats"),
		does("doctor"),
		does("backup"),
		does("export", "--jsonl", "whole.jsonl"),
		does("import", "--jsonl", "whole.jsonl"),
		does("import", "--jsonl", "whole.jsonl", "--dry-run"),
		fails(2, "import", "--jsonl", "none.jsonl"),
		fails(2, "export", "--jsonl", ""),
		fails(2, "backup", "--to", "/proc/none"),
		fails(2, "compact"),
		makes("token", "token", "new", "ci", "--role", "read", "--namespace", "project/memd"),
		fails(2, "token", "new", "ci", "--role", "read"),
		fails(2, "token", "new", "no-role"),
		does("token", "list"),
		does("token", "revoke", "ci"),
		fails(3, "token", "revoke", "ci"),
		fails(5, "remember-long-term", "the bot uses "+aToken, "--key", "ci/bot", "--source", "docs/ci.md"),
		does("remember", "the bot uses "+aToken),
		does("guard", "allow", aPrint, "--reason", "made up"),
		fails(2, "guard", "allow", aPrint),
		fails(2, "guard", "allow", "none", "--reason", "made up"),
		fails(5, "guard", "allow", aPrint, "--reason", "it is "+aToken),
		does("guard", "list"),
		does("guard", "revoke", aPrint),
		fails(3, "guard", "revoke", aPrint),
	}
}

// A command answers alike, in JSON and in text, with and without a daemon.
func TestSameAnswers(t *testing.T) { sameAnswers(t, everyCommand()) }

func sameAnswers(t *testing.T, steps []step) {
	for _, form := range []string{"json", "text"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			alone, served := newBox(t), newBox(t)
			d := served.serve()
			ids := [2]map[string]string{{}, {}}
			for _, s := range steps {
				var said [2]string
				for i, b := range []*box{alone, served} {
					args := s.with(ids[i])
					if form == "json" || s.name != "" {
						args = append(args, "--json")
					}
					r := b.run(args...)
					if r.code != s.code {
						t.Errorf("%s: exit code %d, want %d: %s%s", s, r.code, s.code, r.out, r.err)
					}
					checkStreams(t, s, form, r)
					var answer struct{ ID string }
					_ = json.Unmarshal([]byte(r.out), &answer)
					if s.name != "" {
						ids[i][s.name] = answer.ID
					}
					said[i] = normal(b, r.out) + "---\n" + normal(b, r.err)
				}
				if said[0] != said[1] {
					t.Errorf("%s\nwithout a daemon:\n%s\nwith one:\n%s", s, said[0], said[1])
				}
			}
			d.stop()
		})
	}
}

// checkStreams holds stdout to one JSON document on one line, where asked for,
// and diagnostics to stderr.
func checkStreams(t *testing.T, s step, form string, r result) {
	t.Helper()
	if r.code != 0 && !strings.HasPrefix(r.err, "memd: ") || r.code == 0 && r.err != "" {
		t.Errorf("%s: stderr %q", s, r.err)
	}
	if form == "json" && r.code == 0 {
		if !json.Valid([]byte(r.out)) || strings.Count(r.out, "\n") != 1 || !strings.HasSuffix(r.out, "\n") {
			t.Errorf("%s: not one line of JSON: %q", s, r.out)
		}
	}
	if form == "text" && r.code == 0 && r.out == "" {
		t.Errorf("%s: says nothing", s)
	}
}

var changing = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "TIME"},
	{regexp.MustCompile(`"(took_ms|ms|[a-z_]+_bytes|active_bytes)":[\d.]+`), `"$1":N`},
	{regexp.MustCompile(`("budget":"(?:active|store)_bytes","used":)\d+`), "${1}N"},
	{regexp.MustCompile(`"(bytes|before|after)":\d+`), `"$1":N`},
	{regexp.MustCompile(`agent_memory-\d{8}T\d{6}Z(-\d+)?`), "agent_memory-TIME"},
	{regexp.MustCompile(`memd-\d{8}T\d{6}Z(-\d+)?`), "memd-TIME"},
	{regexp.MustCompile(`"size":\d+,"sha256":"[0-9a-f]{64}"`), `"size":N,"sha256":"H"`},
	{regexp.MustCompile(`\d+ bytes(, now \d+)?`), "N bytes"},
	{regexp.MustCompile(`"request_id":"\w+"`), `"request_id":"R"`},
	{regexp.MustCompile(`"(next_cursor|token)":"[\w-]+"`), `"$1":"X"`},
	{regexp.MustCompile(`guard allow [0-9a-f]{32}`), "guard allow F"},
	{regexp.MustCompile(`--cursor [\w-]+`), "--cursor X"},
	{regexp.MustCompile(`(memd-memories id=\\?")[0-9a-f]{16}`), "${1}F"},
	{regexp.MustCompile(`(active_bytes|store_bytes|agent_memory(?:-TIME)?\.db(?: +active| +sealed)?)( +\d+)+`), "$1 N"},
	{regexp.MustCompile(`(?m)^([a-z_]+)( +\d+)( +\d+)( +\d+) +\d+ +[\d.]+`), "$1$2$3$4 FREED MS"},
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// normal puts names in place of what differs from run to run: ids by their
// order, times, durations, sizes.
func normal(b *box, s string) string {
	s = strings.ReplaceAll(s, b.dir, "DIR")
	seen := map[string]string{}
	s = uuid.ReplaceAllStringFunc(s, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("ID%d", len(seen))
		}
		return seen[id]
	})
	for _, c := range changing {
		s = c.form.ReplaceAllString(s, c.as)
	}
	return s
}
