package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/api/mcp"
)

// Pages that are cut by max_chars leave out none and repeat none, over several
// namespaces too.
func TestPagesAreWhole(t *testing.T) {
	d := start(t, nil)
	ctx := context.Background()
	var want []string
	for i := range 24 {
		reply, err := d.rest.Remember(ctx, memd.Remember{
			Summary:   fmt.Sprintf("plum number %d %s", i, strings.Repeat("\"quoted\" \n", i*i%200)),
			Namespace: []string{"agent/a", "project/p", "user", "default"}[i%4], Tags: []string{"t"},
		})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, reply.Value.ID)
	}
	slices.Sort(want)
	s := d.open(mcp.Options{Defaults: mcp.Defaults{Agent: "a", Project: "project/p"}})
	for _, tool := range []string{"list", "recall"} {
		for _, room := range []int{500, 1500, 4000, 100000} {
			for _, limit := range []int{3, 100} {
				in := args{"max_chars": room, "limit": limit}
				if tool == "recall" {
					in["query"] = "plum"
				}
				var got []string
				for {
					var page struct {
						Results, Memories []memd.Memory
						NextCursor        string `json:"next_cursor"`
					}
					s.call(tool, in).into(&page)
					rows := append(page.Results, page.Memories...)
					if len(rows) > limit || len(rows) == 0 && page.NextCursor != "" {
						t.Fatalf("%s %d %d: a page of %d, next %q", tool, room, limit, len(rows), page.NextCursor)
					}
					for _, m := range rows {
						got = append(got, m.ID)
					}
					if page.NextCursor == "" {
						break
					}
					in["cursor"] = page.NextCursor
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s, max_chars %d, limit %d: %d rows, %d of them different", tool, room, limit, len(got), len(slices.Compact(got)))
				}
			}
		}
	}
}

func TestForeignCursors(t *testing.T) {
	d := start(t, nil)
	s := d.open(mcp.Options{})
	for _, cursor := range []string{"x", "next-0123456789abcdef", "eyJuIjoidGVhbS94In0", "{}"} {
		s.call("list", args{"cursor": cursor}).refused(memd.CodeInvalidRequest, "cursor")
		s.call("recall", args{"query": "plum", "cursor": cursor}).refused(memd.CodeInvalidRequest, "cursor")
	}
}
