package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/store"
)

func (c *cli) logCommand() *cobra.Command {
	var f store.LogFilter
	var limit *int
	var cursor string
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show who wrote, changed and forgot what, and what was refused",
		Long: `Show who wrote, changed and forgot what, and what was refused, newest first: ids
and counts, no memory's text. Changes of tokens and of the configuration stand in it
too. The log keeps the newest few thousand entries.`,
		Example:           "  memd log --action refuse\n  memd log --id 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit != nil {
				if f.Limit = *limit; f.Limit < 1 || f.Limit > memd.MaxListLimit {
					return memd.FieldErrorf(memd.CodeInvalidRequest, "limit", "--limit must be 1 to %d", memd.MaxListLimit)
				}
			}
			if cursor != "" {
				var ok bool
				if f.Before, ok = store.ParseLogPlace(cursor); !ok {
					return memd.FieldErrorf(memd.CodeInvalidRequest, "cursor", "--cursor is not one that memd gave")
				}
			}
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Log(cmd.Context(), f)
				return show(c, reply, err, logged)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Caller, "caller", "", "only what this caller did")
	flags.StringVar(&f.Action, "action", "", "only this action, such as forget or refuse")
	flags.StringVar(&f.ID, "id", "", "only what was done to this memory")
	numberVar(flags, &limit, "limit", "entries of a page, 1 to 200 (default 50)")
	flags.StringVar(&cursor, "cursor", "", "the next_cursor of the page before")
	return cmd
}

// logged lists entries as an aligned table.
func logged(w io.Writer, page client.LogPage) {
	if len(page.Entries) == 0 {
		fmt.Fprintln(w, "none")
		return
	}
	lines := [][]string{{"AT", "CALLER", "ACTION", "ID", "KEY", "WHAT"}}
	for _, e := range page.Entries {
		lines = append(lines, []string{e.At.String(), e.Caller, e.Action, e.ID, e.MemoryKey, whatOf(e)})
	}
	table(w, lines...)
	if page.NextCursor != "" {
		fmt.Fprintf(w, "more: --cursor %s\n", page.NextCursor)
	}
}

// whatOf is what an entry says beside who did what to which memory.
func whatOf(e store.Entry) string {
	what := e.Detail
	for _, more := range []string{string(e.Code), e.Field} {
		if more != "" {
			what = join([]string{what, more})
		}
	}
	if e.Code != "" && e.Count > 1 {
		what += fmt.Sprintf(" (%d times)", e.Count)
	}
	return oneLine(what)
}
