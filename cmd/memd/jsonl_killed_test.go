package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/api/client"
	"memd/exchange/jsonl"
)

var importKills = flag.Int("import.kills", 3, "how often TestKilledImport kills the daemon")

// deadly is a way into a daemon that is killed while it takes records in.
type deadly struct {
	*client.Client
	calls int // until that
	spins int // of another goroutine, from the beginning of that call
	kill  func()
}

func (d *deadly) Import(ctx context.Context, records []json.RawMessage, dry bool) ([]memd.Imported, error) {
	if d.calls--; d.calls == 0 {
		go func() {
			for range d.spins {
				runtime.Gosched()
			}
			d.kill()
		}()
	}
	reply, err := d.Client.Import(ctx, records, dry)
	return reply.Value.Records, err
}

// A daemon that is killed at any moment of an import takes the same file in after that
// as if nothing had been: once, and whole.
func TestKilledImport(t *testing.T) {
	from := newBox(t)
	from.fill()
	from.serve()
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 0))
	send := jsonl.NewSender(client.Values{Client: from.client()}, false, func(number int, _ []byte, out memd.Imported) error {
		if out.Outcome != memd.Created {
			return fmt.Errorf("record %d: %+v", number, out)
		}
		return nil
	})
	for i := range 1200 {
		rec := memd.Record{Type: memd.MemoryRecord, Tier: memd.Short, Summary: fmt.Sprintf("event %d of a long day", i), RawContent: strings.Repeat(fmt.Sprint(i, " "), 200)}
		if i%3 == 0 {
			rec.Tier, rec.MemoryKey, rec.Source = memd.Long, fmt.Sprint("event/", i), "AGENTS.md#ops"
		}
		if err := send.AddRecord(context.Background(), i, rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := send.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	whole := from.must("export", "--jsonl", "-")
	lines := strings.SplitAfter(whole, "\n")[1:]
	calls := len(lines)/256 + 1

	for round := range *importKills {
		to := newBox(t)
		to.env = append(to.env, "MEMD_BUDGETS_ACTIVE_BYTES=1048576") // rollovers among it
		d := to.serve()
		way := &deadly{to.client(), 1 + dice.IntN(calls), dice.IntN(100000), func() { _ = d.cmd.Process.Kill() }}
		at := fmt.Sprintf("round %d (seed %d), call %d, %d spins", round, seed, way.calls, way.spins)
		report, err := jsonl.Import(context.Background(), way, strings.NewReader(whole), jsonl.Options{})
		if err == nil && report.Failed() {
			t.Errorf("%s: %+v", at, report)
		}
		d.kill()
		r := to.feed(whole, "import", "--jsonl", "-", "--json")
		var again jsonl.Report
		if err := json.Unmarshal([]byte(r.out), &again); err != nil || r.code != 0 {
			t.Fatalf("%s: %d %s%s", at, r.code, r.out, r.err)
		}
		if got := again.Outcomes[memd.Created] + again.Outcomes[memd.Unchanged]; got != len(lines)-2 {
			t.Errorf("%s: %d of %d lines stand: %v", at, got, len(lines)-2, again.Outcomes)
		}
		if again.Outcomes[memd.Unchanged] < report.Outcomes[memd.Created] {
			t.Errorf("%s: %d lines were answered as created, %d stood", at, report.Outcomes[memd.Created], again.Outcomes[memd.Unchanged])
		}
		exported := strings.SplitAfter(to.must("export", "--jsonl", "-"), "\n")[1:]
		if !slices.Equal(exported, lines) {
			t.Errorf("%s: %d lines are exported, %d were imported", at, len(exported), len(lines))
		}
		t.Logf("%s: %d created before, %d after", at, report.Outcomes[memd.Created], again.Outcomes[memd.Created])
	}
}
