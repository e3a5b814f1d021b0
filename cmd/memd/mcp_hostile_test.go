package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/internal/dirlock"
)

// hostileLines are what a client might send after its greeting, and how many
// messages answer it, -1 for any number.
func hostileLines() map[string]struct {
	text    string
	answers int
} {
	call := func(id int, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", id, args)
	}
	var pings strings.Builder
	for i := range 500 {
		fmt.Fprintf(&pings, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i)
	}
	return map[string]struct {
		text    string
		answers int
	}{
		"nothing":                 {"", 0},
		"garbage":                 {"\x00\x01garbage\nmore { garbage\n", 2},
		"what memd prints":        {"memd: warning: nothing\nhint: none\n", 2},
		"half a line":             {`{"jsonrpc":"2.0","id":1,"meth`, 1},
		"a line without end":      {strings.TrimSuffix(call(1, `{"name":"list","arguments":{}}`), "\n"), -1},
		"a huge line":             {strings.Repeat("x", 6<<20) + "\n", 1},
		"a huge string":           {call(1, `{"name":"remember","arguments":{"summary":"`+strings.Repeat("y", 3<<20)+`"}}`), 1},
		"a huge line cut":         {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("z", 6<<20), 1},
		"a huge number":           {`{"jsonrpc":"2.0","id":` + strings.Repeat("9", 4000) + `,"method":"ping"}` + "\n", -1},
		"deep nesting":            {call(1, `{"name":"recall","arguments":{"query":`+strings.Repeat(`[`, 9000)+strings.Repeat(`]`, 9000)+`}}`), 1},
		"invalid UTF-8":           {call(1, "{\"name\":\"remember\",\"arguments\":{\"summary\":\"\xff\xfe\"}}"), 1},
		"lone surrogates":         {call(1, `{"name":"remember","arguments":{"summary":"a \ud800 b"}}`), 1},
		"control characters":      {call(1, `{"name":"recall","arguments":{"query":"\u0000\u001b[2J\u202e\u2028\u2029\n\r"}}`), 1},
		"a batch":                 {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]` + "\n", 1},
		"an empty batch":          {"[]\n", 1},
		"a nested batch":          {"[[]]\n", 1},
		"unknown methods":         {`{"jsonrpc":"2.0","id":1,"method":"no/such"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":""}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"debug"}}` + "\n", 3},
		"unknown notices":         {`{"jsonrpc":"2.0","method":"notifications/no/such"}` + "\n", 0},
		"unknown tools":           {call(1, `{"name":"no_such","arguments":{}}`) + call(2, `{"name":"","arguments":{}}`) + call(3, `{}`), 3},
		"odd parameters":          {call(1, `[]`) + call(2, `null`) + call(3, `"x"`) + call(4, `{"name":7}`), 4},
		"odd arguments":           {call(1, `{"name":"recall","arguments":[]}`) + call(2, `{"name":"recall","arguments":null}`) + call(3, `{"name":"recall","arguments":{"query":7,"nope":1}}`), 3},
		"an odd version":          {`{"jsonrpc":"3.0","id":1,"method":"ping"}` + "\n" + `{"id":2,"method":"ping"}` + "\n", 2},
		"odd ids":                 {`{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":true,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 1<<16) + `","method":"ping"}` + "\n", -1},
		"one id twice":            {call(1, `{"name":"list","arguments":{}}`) + call(1, `{"name":"list","arguments":{}}`), 2},
		"answers nobody asked":    {`{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":98,"error":{"code":1,"message":"x"}}` + "\n", 0},
		"a second greeting":       {strings.Replace(hello, `"hello"`, `"again"`, 1), 1},
		"cancellations":           {call(1, `{"name":"list","arguments":{}}`) + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}` + "\n", -1},
		"blank lines":             {"\n\r\n  \n\t\n", 0},
		"Windows lines":           {strings.ReplaceAll(call(1, `{"name":"list","arguments":{}}`), "\n", "\r\n"), 1},
		"forged framing":          {"Content-Length: 17\r\n\r\n", 1},
		"many calls":              {pings.String(), 500},
		"resources":               {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"memd://memory/..%2f..%2ftoken"}}` + "\n", 2},
		"a log that is asked for": {call(1, `{"name":"remember","arguments":{"summary":"x"},"_meta":{"progressToken":"t","io.modelcontextprotocol/logLevel":"debug"}}`), -1},
	}
}

// A hundred hostile runs: whatever is sent and whatever is wrong, stdout carries
// messages of the protocol and nothing else, and each run ends by itself.
func TestMCPHostileRuns(t *testing.T) {
	b := newBox(t)
	b.endsDaemon()
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.odt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	held := b.beside("held")
	lock, err := dirlock.Acquire(context.Background(), held, 0, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for setting, args := range map[string][]string{
		"a daemon":         {"--project="},
		"no daemon":        {"--no-start", "--dir", b.beside("none")},
		"a locked folder":  {"--wait", "0s", "--dir", held},
		"a foreign folder": {"--dir", foreign, "--profile", "core"},
	} {
		for name, line := range hostileLines() {
			runs++
			b.hostile(setting+", "+name, line.text, line.answers, args)
		}
	}
	if runs < 100 {
		t.Errorf("%d runs are no hundred", runs)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// hostile sends one text after the greeting, and closes stdin once as many answers
// came as are wanted; at once where that is any number, or where only the end of
// stdin ends the text.
func (b *box) hostile(what, text string, want int, args []string) {
	b.t.Helper()
	var errs bytes.Buffer
	cmd := b.command(append([]string{"mcp"}, args...)...)
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	stuck := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	greeted, enough, written := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(in, hello) // a server that ends too early is noticed below
		<-greeted
		_, _ = io.WriteString(in, text)
		if want >= 0 && (text == "" || strings.HasSuffix(text, "\n")) {
			<-enough
		}
		_ = in.Close()
	}()
	answers := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		s, err := heard(lines.Bytes())
		if err != nil {
			b.t.Errorf("%s: stdout has %.200q: %v", what, lines.Text(), err)
		}
		if s.Result != nil || s.Error != nil {
			if answers++; answers == 1 {
				close(greeted)
			}
			if answers == want+1 {
				close(enough)
			}
		}
	}
	if answers == 0 {
		close(greeted)
	}
	if answers < want+1 || want < 0 {
		close(enough)
	}
	<-written
	err = cmd.Wait()
	if err != nil || want >= 0 && answers != want+1 {
		b.t.Errorf("%s: %v, %d answers, want %d: %s", what, err, answers, want+1, errs.String())
	}
}

// Bad configuration is told on stderr alone, and an end before the greeting is an end.
func TestMCPHostileStarts(t *testing.T) {
	b := newBox(t)
	b.must("remember", "x")
	b.endsDaemon()
	const ask = hello + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"x"}}}` + "\n"
	plain := b.env
	for env, code := range map[string]int{
		"MEMD_LISTEN=nonsense": memd.ExitUsage, "MEMD_LOG_LEVEL=loud": memd.ExitUsage, "MEMD_CONFIG=/nowhere": memd.ExitUsage,
		"MEMD_NO_SUCH_KEY=1": 0, "MEMD_LOG_LEVEL=debug": 0,
	} {
		b.env = append(append([]string{}, plain...), env)
		r := b.feed(ask, "mcp")
		if r.code != code || (code != 0) != (r.out == "") {
			t.Errorf("%s: exit code %d, stdout %q: %s", env, r.code, r.out, r.err)
		}
		for lines := longLines(r.out); lines.Scan(); {
			if _, err := heard(lines.Bytes()); err != nil {
				t.Errorf("%s: stdout has %q: %v", env, lines.Text(), err)
			}
		}
	}
	b.env = plain

	for name, text := range map[string]string{ // none of them greets
		"nothing": "", "a blank line": "\n", "garbage": "garbage\n", "half a greeting": hello[:40], "a call": ask[len(hello):],
	} {
		r := b.feed(text, "mcp")
		if r.code != 0 {
			t.Errorf("%s: exit code %d: %s", name, r.code, r.err)
		}
		for lines := longLines(r.out); lines.Scan(); {
			if _, err := heard(lines.Bytes()); err != nil {
				t.Errorf("%s: stdout has %q: %v", name, lines.Text(), err)
			}
		}
	}
}

// beside is a folder beside the box's own.
func (b *box) beside(name string) string { return filepath.Join(filepath.Dir(b.dir), name) }

func longLines(text string) *bufio.Scanner {
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 64<<20)
	return lines
}
