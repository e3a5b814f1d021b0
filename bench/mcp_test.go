//go:build unix

package bench

import (
	"os/exec"
	"strconv"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
)

// BenchmarkRecallStdio asks a daemon the same questions by turns through `memd mcp`,
// with the Go SDK's client, and over REST on the unix socket, and reports the medians
// and their ratio. What it measures beside the call are two more processes' worth of
// pipes, JSON-RPC, the fence and the bounds.
func BenchmarkRecallStdio(b *testing.B) {
	binary := buildMemd(b)
	for _, rows := range []int{1000, manyRows} {
		b.Run("rows="+strconv.Itoa(rows), func(b *testing.B) { recallStdio(b, binary, rows) })
	}
}

func recallStdio(b *testing.B, binary string, rows int) {
	dir := filledDir(b, rows)
	p := startMemd(b, binary, dir, rows)
	defer p.stop(b)
	cmd := exec.Command(binary, "mcp", "--dir", dir, "--project=", "--no-start")
	cmd.Env = p.cmd.Env
	session, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	questions := makeQuestions(makeRows(rows), 200)
	var stdio, rest []float64
	i := 0
	for b.Loop() {
		question := questions[i%len(questions)]
		i++
		began := time.Now()
		res, err := session.CallTool(b.Context(), &sdk.CallToolParams{Name: "recall", Arguments: map[string]any{"query": question}})
		stdio = append(stdio, milliseconds(time.Since(began)))
		if err != nil || res.IsError {
			b.Fatalf("%+v, error %v", res, err)
		}
		began = time.Now()
		reply, err := p.client.Recall(b.Context(), memd.Query{Query: question, Namespaces: []string{"user", memd.DefaultNamespace}})
		rest = append(rest, milliseconds(time.Since(began)))
		if err != nil || len(reply.Value.Results) == 0 {
			b.Fatalf("%d results, error %v", len(reply.Value.Results), err)
		}
	}
	b.ReportMetric(0, "ns/op") // a sum of both
	b.ReportMetric(median(stdio), "stdio-p50-ms")
	b.ReportMetric(median(rest), "rest-p50-ms")
	b.ReportMetric(median(stdio)/median(rest), "ratio")
}
