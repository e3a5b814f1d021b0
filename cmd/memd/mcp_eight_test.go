package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
)

var eightFor = flag.Duration("mcp.for", 3*time.Second, "how long TestMCPEightClients goes on; from a minute on it holds answers to their time")

// answerTime is how long an answer may take while eight clients work.
const answerTime = 2 * time.Second

// notesOfAWorker keeps the notes of all of them within budgets.transient_rows.
const notesOfAWorker = 50

// worker is the Go SDK's client at a memd mcp of its own.
type worker struct {
	t       *testing.T
	n       int
	session *sdk.ClientSession
	written map[string]string // summaries, by the id under which they were acknowledged
	noted   map[string]string
	home    string // the session's id
	took    []answered
}

// answered is how long an answer took, and of which tool.
type answered struct {
	time.Duration
	tool string
}

func (b *box) worker(n int) *worker {
	b.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "worker", Version: "1"}, nil)
	cmd := b.command("mcp", "--project=", "--agent", fmt.Sprintf("worker-%d", n), "--wait", patience.String())
	session, err := c.Connect(b.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return &worker{n: n, session: session, written: map[string]string{}, noted: map[string]string{}}
}

// call calls a tool, which must answer, and returns the memory that it answers.
func (w *worker) call(tool string, args map[string]any) (m memd.Memory) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	began := time.Now()
	res, err := w.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	w.took = append(w.took, answered{time.Since(began), tool})
	if err != nil {
		w.t.Errorf("worker %d: %s: %v", w.n, tool, err)
		return m
	}
	structured, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(structured, &m)
	}
	if err != nil || res.IsError {
		w.t.Errorf("worker %d: %s answers %s, %v", w.n, tool, structured, err)
	}
	return m
}

// work writes and reads until late.
func (w *worker) work(late time.Time) {
	for i := 0; i == 0 || time.Now().Before(late); i++ {
		say := func(what string) string { return fmt.Sprintf("%s %d of worker %d waits for the kumquat", what, i, w.n) }
		write := func(tool string, into map[string]string, args map[string]any) string {
			m := w.call(tool, args)
			if into[m.ID] != "" || m.Summary != args["summary"] {
				w.t.Errorf("worker %d: %s answers %+v", w.n, tool, m)
			}
			into[m.ID] = m.Summary
			w.home = max(w.home, m.SessionID)
			return m.ID
		}
		id := write("remember", w.written, map[string]any{"summary": say("event"), "raw_content": say("all of it")})
		write("remember_long_term", w.written, map[string]any{
			"memory_key": fmt.Sprintf("worker-%d/key-%d", w.n, i), "summary": say("fact"), "source": "AGENTS.md",
		})
		if i < notesOfAWorker {
			write("note", w.noted, map[string]any{"summary": say("note"), "ttl": "1h"})
		}
		w.call("recall", map[string]any{"query": "which event waits for the kumquat?"})
		if i%4 == 0 { // as at a start or a compaction
			w.call("context", map[string]any{"query": "kumquat"})
		}
		if got := w.call("get", map[string]any{"id": id}); got.Summary != w.written[id] {
			w.t.Errorf("worker %d: what was just written reads %+v", w.n, got)
		}
		w.call("list", map[string]any{"limit": 5})
	}
}

// Eight clients on one folder, each a process: no call fails, and every write that was
// acknowledged is there afterwards, as it was written.
func TestMCPEightClients(t *testing.T) {
	b := newBox(t)
	b.endsDaemon()
	workers := make([]*worker, 8)
	for i := range workers {
		workers[i] = b.worker(i)
		workers[i].t = t
	}
	workers[0].call("list", nil) // starts the daemon
	workers[0].took = nil
	late := time.Now().Add(*eightFor)
	var all sync.WaitGroup
	for _, w := range workers {
		all.Go(func() { w.work(late) })
	}
	all.Wait()

	c, ctx := b.client(), t.Context()
	writes, took := 0, []answered{}
	for _, w := range workers {
		for id, summary := range w.written {
			reply, err := c.Get(ctx, id)
			if err != nil || reply.Value.Summary != summary || reply.Value.Namespace != fmt.Sprintf("agent/worker-%d", w.n) {
				t.Errorf("%q of worker %d is lost: %+v, %v", summary, w.n, reply.Value, err)
			}
		}
		reply, err := c.Notes(ctx, w.home)
		if err != nil {
			t.Errorf("worker %d: %v", w.n, err)
		}
		for _, m := range reply.Value.Memories {
			if w.noted[m.ID] != m.Summary {
				t.Errorf("worker %d never noted %+v", w.n, m)
			}
		}
		if len(reply.Value.Memories) != len(w.noted) {
			t.Errorf("worker %d has %d notes of %d", w.n, len(reply.Value.Memories), len(w.noted))
		}
		if err := w.session.Close(); err != nil {
			t.Errorf("worker %d: %v", w.n, err)
		}
		if _, err := c.Notes(ctx, w.home); memd.CodeOf(err) != memd.CodeNotFound {
			t.Errorf("the notes of worker %d outlive its session: %v", w.n, err)
		}
		writes, took = writes+len(w.written)+len(w.noted), append(took, w.took...)
	}
	slices.SortFunc(took, func(a, b answered) int { return cmp.Compare(a.Duration, b.Duration) })
	slowest := took[len(took)-1]
	t.Logf("%d calls, %d writes; median %s, slowest %s (%s)", len(took), writes, took[len(took)/2], slowest, slowest.tool)
	if *eightFor >= time.Minute && slowest.Duration > answerTime {
		t.Errorf("an answer of %s took %s", slowest.tool, slowest)
	}
}
