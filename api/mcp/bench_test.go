package mcp_test

import (
	"context"
	"fmt"
	"testing"

	"memd/api/mcp"
)

// What a session costs before its first call of a tool.
func BenchmarkSession(b *testing.B) {
	d := start(b, nil)
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			mcp.New(mcp.Options{})
		}
	})
	b.Run("list tools", func(b *testing.B) {
		s := d.open(mcp.Options{})
		for b.Loop() {
			if got, err := s.ListTools(context.Background(), nil); err != nil || len(got.Tools) != 10 {
				b.Fatal(err)
			}
		}
	})
}

// A context of which much is left out for want of room.
func BenchmarkContext(b *testing.B) {
	d := start(b, nil)
	s := d.open(mcp.Options{})
	for i := range 180 {
		s.call("remember_long_term", args{"memory_key": fmt.Sprintf("kumquat/%d", i), "summary": fmt.Sprintf("fact %d waits for the kumquat", i), "source": "AGENTS.md"})
		s.call("remember", args{"summary": fmt.Sprintf("event %d waits for the kumquat", i)})
	}
	for b.Loop() {
		s.call("context", args{"query": "kumquat"})
	}
}
