package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memd/api/client"
	"memd/api/mcp"
)

var update = flag.Bool("update", false, "write testdata/session.txt anew")

// transcript is what was said over stdio in sessions one after the other, with names
// in the place of what differs from run to run.
type transcript struct {
	t     *testing.T
	d     *daemon
	text  strings.Builder
	names map[string]string // of ids
}

var (
	anID    = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	fenceID = regexp.MustCompile(`(memd-memories id=\\?")[0-9a-f]{16}`)
	aTime   = regexp.MustCompile(`\d{4}-\d\d-\d\d(?:T[0-9:.]+Z)?`)
	aFigure = regexp.MustCompile(`("(?:took_ms|score)": )[0-9.]+`)
)

func (x *transcript) write(mark, text string) {
	text = anID.ReplaceAllStringFunc(text, func(id string) string {
		if x.names[id] == "" {
			x.names[id] = fmt.Sprintf("ID-%d", len(x.names)+1)
		}
		return x.names[id]
	})
	text = fenceID.ReplaceAllString(text, "${1}FENCE")
	text = aFigure.ReplaceAllString(aTime.ReplaceAllString(text, "TIME"), "${1}0")
	for line := range strings.Lines(text) {
		x.text.WriteString(strings.TrimRight(mark+" "+line, " \n") + "\n")
	}
}

// session says messages to a new session, each once the one before it is answered, and
// closes its end.
func (x *transcript) session(title string, messages ...string) {
	x.t.Helper()
	x.text.WriteString("# " + title + "\n")
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := mcp.New(mcp.Options{
			Client: func(context.Context) *client.Client { return x.d.rest }, Version: "test", Defaults: mcp.Defaults{Project: "widgets"},
		}).Run(context.Background(), mcp.NewStdio(theirs, ours))
		_ = ours.Close()
		done <- err
	}()
	answers := bufio.NewReader(out)
	for i, message := range append(strings.Split(strings.TrimSpace(hello), "\n"), messages...) {
		if comment, ok := strings.CutPrefix(message, "# "); ok {
			x.text.WriteString("# " + comment + "\n")
			continue
		}
		if !strings.HasPrefix(message, `{"jsonrpc"`) {
			message = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, i, message)
		}
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			x.t.Fatal(err)
		}
		x.write(">", message)
		if strings.Contains(message, `"notifications/`) {
			continue
		}
		line, err := answers.ReadBytes('\n')
		if err != nil {
			x.t.Fatal(err)
		}
		var text bytes.Buffer
		if err := json.Indent(&text, bytes.TrimSpace(line), "", " "); err != nil {
			x.t.Fatal(err)
		}
		// Texts are easier to read in lines; as JSON they are held against schemas elsewhere.
		x.write("<", strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\n`, "\n   ").Replace(text.String()))
	}
	_ = in.Close()
	if err := <-done; err != nil {
		x.t.Error(err)
	}
}

// A whole session as a client sees it, and the one after it. The file is for people to
// read whenever it changes: go test ./api/mcp -run Transcript -update.
func TestTranscript(t *testing.T) {
	x := &transcript{t: t, d: start(t, nil), names: map[string]string{}}
	call := func(tool, args string) string {
		return fmt.Sprintf(`"method":"tools/call","params":{"name":%q,"arguments":%s}`, tool, args)
	}
	x.session("A session starts.",
		call("context", `{"query":"move the billing batch"}`),
		"# Nothing is known yet; the work begins.",
		call("note", `{"summary":"Table three of five is moved; invoices come next."}`),
		call("remember", `{"summary":"The billing batch was moved to the new cluster up to table three.","tags":["billing"]}`),
		call("remember_long_term", `{"memory_key":"billing/freeze","kind":"rule","summary":"No deploys while the billing batch runs, from six until noon.","source":"AGENTS.md#billing","tags":["billing"]}`),
		call("remember_long_term", `{"memory_key":"billing/owner","summary":"Anna looks after billing."}`),
		"# The client compacts the conversation, and asks again.",
		call("context", `{"query":"move the billing batch"}`),
		`"method":"prompts/get","params":{"name":"wrap-up-session"}`,
		"# It ends.",
	)
	said := x.text.String()
	x.session("Another session starts.",
		call("context", `{"query":"move the billing batch"}`),
		call("recall", `{"query":"how far is the billing batch?"}`),
		call("get", `{"memory_key":"billing/freeze"}`),
		`"method":"prompts/get","params":{"name":"wrap-up-session"}`,
	)
	const note, event, rule = "invoices come next", "up to table three", "from six until noon"
	after := x.text.String()[len(said):]
	if again := said[strings.Index(said, "# The client compacts"):]; !strings.Contains(again, note) {
		t.Error("after the compaction the note is gone")
	}
	if strings.Contains(after, note) || !strings.Contains(after, event) || !strings.Contains(after, rule) {
		t.Error("the next session sees the note, or not what was remembered")
	}
	file := filepath.Join("testdata", "session.txt")
	if *update {
		if err := os.WriteFile(file, []byte(x.text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(x.text.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d of %s, which -update writes anew:\nwant %q\ngot  %q", i+1, file, line, append(got, "")[min(i, len(got))])
		}
	}
	if len(got) != strings.Count(string(want), "\n")+1 {
		t.Errorf("the transcript has more lines than %s", file)
	}
}
