package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/api/client"
	"memd/configs"
	"memd/exchange/jsonl"
)

// unguarded has no guard look at what is written, which takes longer than all the rest of
// a heavy memory.
func unguarded(o *Options) {
	o.Tiers = o.Tiers.WithGuard(configs.Guard{Derivable: configs.GuardOff})
}

// heavy writes memories of 60 KB each, by their numbers.
func (d *daemon) heavy(from, to int) {
	d.t.Helper()
	for i := from; i < to; i++ {
		raw := strings.Repeat(fmt.Sprintf("%d words of a log. ", i), 60<<10/len("00 words of a log. "))
		body, _ := json.Marshal(memd.Remember{Summary: fmt.Sprint("heavy ", i), RawContent: raw[:min(len(raw), 60<<10)]})
		d.post("/v1/remember", string(body)).want(http.StatusCreated)
	}
}

// exporting asks for an export and reads its first line. The rest waits to be read.
func (d *daemon) exporting(network, address string) (rest *bufio.Reader, header string, end func()) {
	d.t.Helper()
	conn, err := net.Dial(network, address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() })
	fmt.Fprintf(conn, "GET /v1/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", d.admin)
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != linesType {
		d.t.Fatalf("%d %s", res.StatusCode, res.Header)
	}
	rest = bufio.NewReaderSize(res.Body, 512)
	if header, err = rest.ReadString('\n'); err != nil {
		d.t.Fatal(err)
	}
	return rest, header, func() { _ = conn.Close() }
}

// While somebody reads an export slowly, writes, forgetting across databases, a rollover
// and recalls go on; what is read is the store as it was.
func TestExportHoldsNobodyUp(t *testing.T) {
	d := start(t, unguarded, func(b *configs.Budgets) { b.ActiveBytes = 1 << 20 })
	d.heavy(0, 60) // many times what a socket holds
	first := d.short("as it was")
	d.post("/v1/rollover", ``).want(http.StatusOK)
	d.long("kept/key", "version one")
	rest, _, end := d.exporting("unix", d.socket)
	defer end()

	d.short("written meanwhile")
	d.del("/v1/memories/" + first.ID).want(http.StatusNoContent) // in a historical database
	d.heavy(200, 220)                                            // more than one rollover
	var rolled struct{ Rolled bool }
	d.post("/v1/rollover", ``).want(http.StatusOK).into(&rolled)
	if !rolled.Rolled {
		t.Error("no rollover while an export was read")
	}
	var answer memd.Answer
	d.post("/v1/recall", `{"query":"written meanwhile"}`).want(http.StatusOK).into(&answer)
	if len(answer.Results) == 0 {
		t.Error("nothing recalled while an export was read")
	}
	d.get("/v1/export").refused(503, memd.CodeStoreBusy, "") // one at a time

	f := jsonl.NewFollower(io.Discard, nil)
	all, err := io.ReadAll(rest)
	if err != nil {
		t.Fatal(err)
	}
	text := string(all)
	if _, err := f.Write([]byte("{\"type\":\"header\"}\n" + text)); err != nil || !f.Whole() || f.Lines() != 62 {
		t.Errorf("%d lines, whole %t", f.Lines(), f.Whole())
	}
	if !strings.Contains(text, first.ID) || !strings.Contains(text, "kept/key") || strings.Contains(text, "written meanwhile") {
		t.Error("the export is not the store as it was")
	}
	if _, err := d.store.Check(context.Background(), false); err != nil {
		t.Error(err)
	}
}

// Who stops reading is cut off, and the next may export.
func TestExportCutOff(t *testing.T) {
	d := start(t, unguarded, nil)
	d.heavy(0, 200)
	addr := hurried(t, d.server, nil)
	rest, _, end := d.exporting("tcp", addr)
	defer end()
	for deadline := time.Now().Add(15 * time.Second); ; {
		r := d.get("/v1/export")
		if r.Status == http.StatusOK {
			break
		}
		r.refused(503, memd.CodeStoreBusy, "")
		if time.Now().After(deadline) {
			t.Fatal("the export that nobody reads is not cut off")
		}
	}
	if all, err := io.ReadAll(rest); err == nil || strings.Contains(string(all), `"trailer"`) {
		t.Errorf("%d bytes came as a whole export, %v", len(all), err)
	}
	if strings.Contains(d.log.String(), "words of a log") {
		t.Error("the log holds a body")
	}
}

// What is wrong with a record is told of that one, without a word of it.
func TestImportRecords(t *testing.T) {
	d := start(t, nil, nil)
	good := func(n int) string { return fmt.Sprintf(`{"type":"memory","tier":"short","summary":"good %d"}`, n) }
	for i, c := range []struct{ record, field string }{
		{`{"type":"memory","tier":"short","summary":"x","colour":"mauve"}`, "colour"},
		{`{"type":"memory","tier":"short","summary":"x","vector":[1,2]}`, "vector"},
		{`{"type":"memory","tier":"short","summary":7}`, "summary"},
		{`{"type":"memory","tier":"short","summary":"x","tags":"a"}`, "tags"},
		{`{"type":"memory","tier":"short","summary":"x","importance":5.5}`, "importance"},
		{`{"type":"memory","tier":"short","summary":"x","created_at":"yesterday"}`, "created_at"},
		{`{"type":"memory","tier":"short","summary":"x","is_head":"yes"}`, "is_head"},
		{`{"type":"memory","tier":"short","Summary":"x"}`, "Summary"},
		{`{"tier":"short","summary":"x"}`, "type"},
		{`{"type":"memory","tier":"short"}`, "summary"},
		{`{"type":"memory","tier":"short","summary":"a\u0000b"}`, "summary"},
		{`[]`, ""}, {`"memory"`, ""}, {`7`, ""}, {`{}`, "type"},
	} {
		var out importAnswer
		d.post("/v1/import", `{"records":[`+good(2*i)+`,`+c.record+`,`+good(2*i+1)+`]}`).want(http.StatusOK).into(&out)
		if len(out.Records) != 3 || out.Records[0].Outcome != memd.Created || out.Records[2].Outcome != memd.Created {
			t.Fatalf("%s: %+v", c.record, out)
		}
		if got := out.Records[1]; got.Outcome != memd.Refused || got.Field != c.field || got.Reason == "" || got.Code == "" || strings.Contains(got.Reason, "mauve") {
			t.Errorf("%s: %+v, want the field %q", c.record, got, c.field)
		}
	}
	for body, field := range map[string]string{
		`{}`: "records", `{"records":[]}`: "records", `{"records":null}`: "records", `{"records":7}`: "records",
		`{"records":[` + good(0) + `],"dry_run":"yes"}`: "dry_run", `{"records":[` + good(0) + `],"force":true}`: "force",
	} {
		if r := d.post("/v1/import", body); r.Status != 400 && r.Status != 422 || r.problem().Field != field {
			t.Errorf("%s: %d %s", body, r.Status, r.Body)
		}
	}
	// These spoil the body that they stand in: a Sender finds them by halves.
	for _, body := range []string{
		`{"records":[{"type":"memory","tier":"short","summary":"x","summary":"y"}]}`, `{"records":[null]}`,
		`{"records":[{"type":"memory","tags":[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]}]}`,
	} {
		d.post("/v1/import", body).want(400)
	}
	many := strings.TrimSuffix(strings.Repeat(good(0)+",", memd.MaxRecords+1), ",")
	d.post("/v1/import", `{"records":[`+many+`]}`).refused(413, memd.CodeTooLarge, "records")
}

// However a line is spoilt, it alone does not get in, and its number is told.
func TestImportOfHostileLines(t *testing.T) {
	d := start(t, nil, nil)
	good := func(n int) string { return fmt.Sprintf(`{"type":"memory","tier":"short","summary":"good %d"}`, n) }
	hostile := []string{
		`{"type":"memory","tier":"short","summary":"x","summary":"y"}`, `{"type":"memory","type":"memory","tier":"short","summary":"x"}`,
		`{"type":"memory","tier":"short","summary":"x","tags":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`,
		`{"type":"memory","tier":"short","summary":"x","tags":[null]}`, `{"type":"memory","tier":"short","summary":"\ud800"}`,
		`{"type":"memory","tier":"short","summary":"x","raw_content":"` + strings.Repeat(`\u0001`, 170000) + `"}`,
		`{"type":"memory","tier":"short","summary":"` + strings.Repeat(`<`, 8001) + `"}`,
		`{"type":"trailer","lines":1,"sha256":"x"}`, `{"type":"header2"}`, "{", "\xff", `{"type":"memory","tier":"short","summary":"` + "\x01" + `"}`,
	}
	var in strings.Builder
	for i, line := range hostile {
		fmt.Fprintf(&in, "%s\n%s\n", good(i), line)
	}
	c := client.New(client.Handler(d.server.Local()))
	report, err := jsonl.Import(context.Background(), client.Values{Client: c}, strings.NewReader(in.String()), jsonl.Options{})
	if err != nil || report.Outcomes[memd.Created] != len(hostile) || report.Outcomes[memd.Refused] != len(hostile) {
		t.Fatalf("%v, %v", report.Outcomes, err)
	}
	for i, p := range report.Parked {
		if p.Line != 2*i+2 || p.Reason == "" || p.Code == "" {
			t.Errorf("%d: %+v", i, p)
		}
	}
	if got := d.rows(t); got != len(hostile) {
		t.Errorf("%d rows", got)
	}
}

// FuzzImport: whatever stands in a record, the answer is whole, and what is told repeats
// nothing of it.
func FuzzImport(f *testing.F) {
	d := start(f, nil, nil)
	f.Add(`{"type":"memory","tier":"short","summary":"x","tags":["a"]}`)
	f.Add(`{"type":"memory","tier":"long","memory_key":"k","version":1,"is_head":true,"summary":"x","source":"a.md"}`)
	f.Add(`{"type":"tombstone","id":"01a22e00-0000-7000-8000-00000000000a","namespace":"default","content_hash":"sha256:00","forgotten_at":"2026-11-30T02:00:00.000Z"}`)
	f.Add(`{"type":"key","namespace":"default","memory_key":"k","version":7}`)
	f.Fuzz(func(t *testing.T, record string) {
		c := client.New(client.Handler(d.server.Local()))
		if !json.Valid([]byte(record)) {
			return
		}
		reply, err := c.Import(context.Background(), []json.RawMessage{json.RawMessage(record)}, false)
		if err != nil {
			if code := memd.CodeOf(err); code != memd.CodeInvalidRequest && code != memd.CodeTooLarge {
				t.Fatalf("%v", err)
			}
			return
		}
		if got := reply.Value.Records; len(got) != 1 || got[0].Outcome == "" || got[0].Outcome.Failed() && got[0].Reason == "" {
			t.Fatalf("%s", reply.Raw)
		}
	})
}

// In one process as over a socket, an export comes as it is made, and one that nobody
// reads on with ends.
func TestExportInProcess(t *testing.T) {
	d := start(t, unguarded, nil)
	d.heavy(0, 40)
	c := client.New(client.Handler(d.server.Local()))
	var whole bytes.Buffer
	if err := c.Export(context.Background(), nil, &whole); err != nil {
		t.Fatal(err)
	}
	f := jsonl.NewFollower(io.Discard, nil)
	if _, err := f.Write(whole.Bytes()); err != nil || !f.Whole() || f.Lines() != 40 {
		t.Errorf("%d lines, whole %t", f.Lines(), f.Whole())
	}
	for range 2 { // the first one's end lets the second one begin
		full := &full{room: 1000}
		if err := c.Export(context.Background(), nil, full); err != errFull {
			t.Errorf("%v", err)
		}
	}
	if err := c.Export(context.Background(), []string{"Not A Namespace"}, io.Discard); memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("%v", err)
	}
}

var errFull = fmt.Errorf("full")

// full is a writer without much room.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}
