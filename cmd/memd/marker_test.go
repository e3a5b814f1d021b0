package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A process tells nothing of what it was given: not in its log at the debug level,
// not in what its commands say on stderr, not in the stacks with which it dies.
func TestMarkerInProcess(t *testing.T) {
	const m = "mark7f3a"
	b := newBox(t)
	b.env = append(b.env, "MEMD_LOG_LEVEL=debug", "MEMD_GUARD_DERIVABLE=block")
	long := func(extra ...string) []string {
		return append([]string{"remember-long-term", m + " fact", "--key", "k", "--source", "a.md"}, extra...)
	}
	diff := "--- a/" + m + "\n+++ b/" + m + "\n"
	commands := [][]string{
		{"remember", m}, {"remember", m, "--importance", "11"}, {"remember", m, "--kind", m}, {"remember", " "}, {"remember", m, "--namespace", m + "!"},
		{"remember", m, m}, {"remember", m, "--" + m},
		{"remember", "- " + m}, {"remember", "--" + m + " or so"}, {"remember", "-" + m}, {"remember", "--- " + m}, {"remember", strings.Repeat(m, 2000)},
		long(), long("--base-version", "9"), long("--kind", "feedback"), {"remember-long-term", diff, "--key", "d", "--source", "a.md"},
		{"remember-long-term", m, "--key", m + " x", "--source", "a.md"}, {"remember-long-term", m, "--key", "k"},
		{"note", m, "--session", "s", "--ttl", m}, {"note", m, "--session", "s"}, {"session", "end", m},
		{"recall", m}, {"recall", `"` + m + ` OR (`}, {"recall", m, "--limit", "0"}, {"recall", m, "--cursor", m}, {"context", m}, {"why", m, "--id", m},
		{"get", "--key", m}, {"list", "--q", m}, {"list", "--cursor", m}, {"edit", m, "--importance", "3"}, {"forget", "--key", m, "--yes"}, {"forget", "--key", m},
		{"promote", m, "--key", "x", "--source", "a.md"}, {"archive", m}, {"verify", m}, {"hit", m}, {"log", "--id", m}, {"log", "--cursor", m},
		{"groom"}, {"audit"}, {"doctor"}, {"stats"}, {"token", "revoke", m},
	}
	check := func(what, text string) {
		t.Helper()
		if i := strings.Index(strings.ToLower(text), m); i >= 0 {
			t.Errorf("%s holds the marker: …%s…", what, text[max(0, i-200):min(len(text), i+100)])
		}
	}
	refused := 0
	run := func() {
		t.Helper()
		for _, args := range commands {
			r := b.run(args...)
			if r.code != 0 {
				refused++
			}
			check("stderr of "+args[0], r.err)
		}
	}
	run() // without a daemon
	d := b.serve()
	run()
	for _, token := range []string{"", m, b.adminToken()} {
		for _, body := range []string{`{"summary":"` + m + `"}`, m, `{"` + m + `":1}`} {
			d.overTCP("POST", "/v1/remember?"+m, token, body)
			d.overTCP("POST", "/v1/remember", token, body)
		}
		if status := d.overTCP("GET", "/"+m, token, ""); token != "" && token != m && status != http.StatusNotFound {
			t.Errorf("no route: %d", status)
		}
	}
	if refused < 40 {
		t.Errorf("%d commands were refused", refused)
	}
	d.signal(syscall.SIGQUIT)
	<-d.done
	log := d.log.String()
	if !strings.Contains(log, "goroutine ") || !strings.Contains(log, "request served") {
		t.Errorf("the log tells too little: %.400s", log)
	}
	check("the daemon's log", log)
	if strings.Contains(log, b.adminToken()) {
		t.Error("the daemon's log holds a token")
	}
	check("the log of writes", b.must("log", "--json", "--limit", "200"))
	for _, name := range []string{"memd.lock", "token", "tokens"} {
		data, err := os.ReadFile(filepath.Join(b.dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		check(name, string(data))
	}
}
