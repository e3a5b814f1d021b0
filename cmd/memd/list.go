package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) list() *cobra.Command {
	var req memd.List
	var stale bool
	var limit *int
	cmd := &cobra.Command{
		Use:               "list",
		Short:             "List memories, newest first",
		Example:           `  memd list --tier long --stale --namespace project/memd`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("stale") {
				req.Stale = &stale
			}
			if limit != nil {
				if req.Limit = *limit; req.Limit == 0 { // on the wire an absent limit
					return memd.FieldErrorf(memd.CodeInvalidRequest, "limit", "limit must be 1 to %d", memd.MaxListLimit)
				}
			}
			return c.reading(cmd, func(m *memory) error {
				reply, err := m.List(cmd.Context(), req)
				return show(c, reply, err, func(w io.Writer, page memd.Page) {
					rows(w, page.Memories)
					if page.NextCursor != "" {
						fmt.Fprintf(w, "more: --cursor %s\n", page.NextCursor)
					}
				})
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar((*string)(&req.Tier), "tier", "", "only this tier (default all but transient)")
	names(cmd, "tier", memd.AllTiers())
	flags.StringVar(&req.Namespace, "namespace", "", `the namespace, "*" for all (default "default")`)
	flags.StringVar((*string)(&req.Kind), "kind", "", "only this kind")
	names(cmd, "kind", memd.AllKinds())
	flags.StringVar(&req.Tag, "tag", "", "only rows with this tag")
	flags.StringVar(&req.MemoryKey, "key", "", "only this memory_key")
	flags.BoolVar(&stale, "stale", false, "only stale rows; --stale=false: only fresh ones")
	flags.StringVar(&req.Q, "q", "", "only rows whose summary holds this text")
	repeatedVar(cmd, &req.Access, "access", "an access tag to read under")
	numberVar(flags, &limit, "limit", "rows of a page, 1 to 200 (default 50)")
	flags.StringVar(&req.Cursor, "cursor", "", "the next_cursor of the page before")
	return cmd
}

// rows lists memories as an aligned table.
func rows(w io.Writer, memories []memd.Memory) {
	if len(memories) == 0 {
		fmt.Fprintln(w, "none")
		return
	}
	lines := [][]string{{"ID", "TIER", "KIND", "KEY", "IMP", "AGE", "SUMMARY"}}
	for _, m := range memories {
		key := m.MemoryKey
		if m.Version > 0 {
			key += fmt.Sprintf(" v%d", m.Version)
		}
		when := age(m)
		if m.Stale {
			when += " STALE"
		}
		lines = append(lines, []string{
			m.ID, string(m.Tier), string(m.Kind), key, fmt.Sprint(m.Importance), when, clip(oneLine(m.Summary), 60),
		})
	}
	table(w, lines...)
}
