package mcp_test

import (
	"context"
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
