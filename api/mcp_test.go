package api

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"memd/api/mcp"
)

// speak sends one message of the Model Context Protocol, or with no text a request
// of another method.
func speak(t *testing.T, addr, method, session, text string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+addr+mcpPath, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set(mcp.SessionHeader, session)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// What bounds the time to send a request, and to take an answer, does not end a
// stream on which nothing is to be said.
func TestStreamOutlivesTheBounds(t *testing.T) {
	addr := hurried(t, New(Options{AuthNone: true}), nil)
	res := speak(t, addr, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	id := res.Header.Get(mcp.SessionHeader)
	if _, err := io.ReadAll(res.Body); err != nil || id == "" {
		t.Fatal(res.Status, err)
	}
	stream := speak(t, addr, http.MethodGet, id, "")
	lines := bufio.NewReader(stream.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != ": ok\n" {
		t.Fatalf("%q %v", line, err)
	}
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, lines); ended <- err }()

	slow := dial(t, "tcp", addr) // begun later, and cut off when the bounds are over
	if _, err := io.WriteString(slow, wholeHead+"{"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, slow); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("the stream has ended: %v", err)
	default:
	}
	if res := speak(t, addr, http.MethodDelete, id, ""); res.StatusCode != http.StatusNoContent {
		t.Errorf("end of the session: %s", res.Status)
	}
	if err := <-ended; err != nil {
		t.Errorf("the stream ends with %v", err)
	}
}
