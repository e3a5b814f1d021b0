package mcp

import (
	"context"
	"errors"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// after is what is kept behind an index, nil with the error where something is not.
func after(e *events, session, id string, index int) (got []string, err error) {
	for data, err := range e.After(context.Background(), session, id, index) {
		if err != nil {
			return nil, err
		}
		got = append(got, string(data))
	}
	return got, nil
}

func TestEvents(t *testing.T) {
	ctx := context.Background()
	e := &events{}
	say := func(session, id string, data ...string) {
		t.Helper()
		if err := e.Open(ctx, session, id); err != nil {
			t.Fatal(err)
		}
		for _, d := range data {
			if err := e.Append(ctx, session, id, []byte(d)); err != nil {
				t.Fatal(err)
			}
		}
	}
	say("s", "", "standalone")
	say("s", "a", "", "one", "two")
	say("t", "a", "other")
	for index, want := range map[int]string{-1: "[ one two]", 0: "[one two]", 1: "[two]", 2: "[]", 9: "[]"} {
		if got, err := after(e, "s", "a", index); err != nil || fmt.Sprint(got) != want {
			t.Errorf("after %d: %q, %v", index, got, err)
		}
	}
	if _, err := after(e, "s", "none", 0); !errors.Is(err, sdk.ErrEventsPurged) {
		t.Errorf("an unknown stream: %v", err)
	}
	// A session keeps its last streams, and the one without an id.
	for i := range maxStreams {
		say("s", fmt.Sprint(i), "x")
	}
	if _, err := after(e, "s", "a", 0); !errors.Is(err, sdk.ErrEventsPurged) {
		t.Errorf("the oldest stream: %v", err)
	}
	for _, id := range []string{"", "0"} {
		if got, err := after(e, "s", id, -1); err != nil || len(got) != 1 {
			t.Errorf("stream %q: %q, %v", id, got, err)
		}
	}
	if got, err := after(e, "t", "a", -1); err != nil || len(got) != 1 {
		t.Errorf("another session: %q, %v", got, err)
	}
	// Bytes are bounded over all sessions: the oldest go, and say so.
	large := string(make([]byte, maxEventBytes/4))
	for i := range 6 {
		say("u", fmt.Sprint(i), large)
	}
	if e.bytes > maxEventBytes {
		t.Errorf("%d bytes are kept", e.bytes)
	}
	if _, err := after(e, "s", "", -1); !errors.Is(err, sdk.ErrEventsPurged) {
		t.Errorf("the oldest events: %v", err)
	}
	if got, err := after(e, "u", "5", -1); err != nil || len(got) != 1 {
		t.Errorf("the newest: %d, %v", len(got), err)
	}
	for _, session := range []string{"s", "t", "u"} {
		if err := e.SessionClosed(ctx, session); err != nil {
			t.Fatal(err)
		}
	}
	if e.bytes != 0 || len(e.streams) != 0 {
		t.Errorf("left: %d bytes, %d streams", e.bytes, len(e.streams))
	}
}
