package main

import (
	"regexp"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// What was rolled over is reached as any memory, and alike with and without a
// daemon.
func TestSameAnswersFromHistory(t *testing.T) {
	const noon, port = "the gateway restarts at noon", "the gateway listens on port 8443"
	sameAnswers(t, []step{
		does("rollover"), // holds nothing
		makes("short", "remember", noon),
		makes("long", "remember-long-term", port, "--key", "net/gateway", "--source", "AGENTS.md#gateway"),
		does("note", "table three is next", "--session", "s1"),
		does("rollover"),
		does("rollover"),
		does("recall", "when does the gateway restart"),
		does("get", "$short"),
		does("get", "$long"),
		does("get", "--key", "net/gateway"),
		does("list"),
		does("session", "notes", "s1"),
		does("remember", noon),
		does("remember-long-term", "the gateway listens on port 9443", "--key", "net/gateway", "--source", "AGENTS.md#gateway"),
		does("get", "--key", "net/gateway", "--versions"),
		does("edit", "$short", "--importance", "8"),
		does("archive", "$short"),
		does("recall", "gateway", "--include-archive"),
		does("rollover"),
		does("stats"),
		does("forget", "--key", "net/gateway", "--yes"),
		fails(3, "get", "$long"),
		does("session", "end", "s1"),
		does("groom"),
		does("compact", "--yes"),
		does("doctor"),
		does("backup"),
	})
}

func TestRolloverForPeople(t *testing.T) {
	b := newBox(t)
	says := func(form string, args ...string) {
		t.Helper()
		if out := b.must(args...); !regexp.MustCompile("^" + form + "$").MatchString(out) {
			t.Errorf("%q does not say %s: %s", args, form, out)
		}
	}
	const file = `history/agent_memory-\d{8}T\d{6}Z(-\d+)?\.db`
	says("nothing to roll over: the active database holds no memory\n", "rollover")
	b.must("remember", "the gateway restarts at noon")
	says(file+`: \d+ bytes, 1 rows\n`, "rollover")
	says("nothing to roll over: the active database holds no memory\n", "rollover")
	says(`agent_memory\.db: \d+ bytes, now \d+\n`+file+`: \d+ bytes, now \d+\n-?\d+ bytes freed\n`, "compact", "--yes")
}

// Where a person sits at a terminal, compact asks.
func TestCompactAsks(t *testing.T) {
	b := newBox(t)
	b.must("remember", "kept")
	for answer, done := range map[string]bool{"n\n": false, "\n": false, "y\n": true} {
		r := b.typed(answer, "compact")
		if !strings.Contains(r.out, "[y/N]") || (r.code == 0) != done || strings.Contains(r.out, "bytes freed") != done {
			t.Errorf("%q: exit code %d: %s%s", answer, r.code, r.out, r.err)
		}
	}
	if r := b.run("compact"); r.code != memd.ExitUsage || !strings.Contains(r.err, "--yes") {
		t.Errorf("where nobody is there to ask: exit code %d: %s%s", r.code, r.out, r.err)
	}
}

// What cannot be brought about at will is worded too.
func TestWordsOfRolloverAndCompact(t *testing.T) {
	const first, second = "history/agent_memory-20261130T020000Z.db", "history/agent_memory-20261130T020000Z-2.db"
	for want, r := range map[string]store.Rolled{
		"nothing to roll over: the active database holds no memory\n":  {Reason: "empty"},
		second + ": 45056 bytes, 3 rows\n  retired " + first + "\n":    {Rolled: true, File: second, Rows: 3, Bytes: 45056, Retired: []string{first}},
		"not rolled over: another program reads the active database\n": {Reason: "another program reads the active database"},
	} {
		var got strings.Builder
		if rolledOver(&got, r); got.String() != want {
			t.Errorf("%q, want %q", got.String(), want)
		}
	}
	for want, done := range map[string]store.Compacted{
		"0 bytes freed\n": {},
		"agent_memory.db: 8192 bytes, now 4096\n" + first + ": skipped: another program reads it\n4096 bytes freed\n": {
			Files:      []store.CompactedFile{{File: "agent_memory.db", Before: 8192, After: 4096}, {File: first, Before: 8192, After: 8192, Skipped: "another program reads it"}},
			FreedBytes: 4096,
		},
	} {
		var got strings.Builder
		if compacted(&got, done); got.String() != want {
			t.Errorf("%q, want %q", got.String(), want)
		}
	}
}

// What operations.md says that statistics show, they show to people as well.
func TestWordsOfStats(t *testing.T) {
	const first = "history/agent_memory-20261130T020000Z.db"
	var got strings.Builder
	statistics(&got, store.Stats{
		Databases: []store.FileStats{
			{File: "agent_memory.db", State: "active", Rows: 3, UsedBytes: 8192, WALBytes: 4152},
			{File: first, State: "unavailable"},
		},
		RolloverDeferred: true,
		RolloverReason:   "another program has the active database open",
	})
	for _, want := range []string{
		`agent_memory\.db +active +3 +8192 +0 +4152\n`,
		first + ` +unavailable +- +- +- +-\n`,
		`rollover deferred +another program has the active database open\n`,
	} {
		if !regexp.MustCompile(want).MatchString(got.String()) {
			t.Errorf("%s is not in:\n%s", want, got.String())
		}
	}
	got.Reset()
	if statistics(&got, store.Stats{}); !regexp.MustCompile(`rollover deferred +no\n`).MatchString(got.String()) {
		t.Errorf("no deferral:\n%s", got.String())
	}
}
