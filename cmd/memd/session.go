package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) session() *cobra.Command {
	return group("session", "Look at the notes of a session, or end it", c.sessionNotes(), c.sessionEnd())
}

func (c *cli) sessionNotes() *cobra.Command {
	return &cobra.Command{
		Use:               "notes SESSION",
		Short:             "List a session's notes, oldest first",
		Args:              oneID("session"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.reading(cmd, func(m *memory) error {
				reply, err := m.Notes(cmd.Context(), args[0])
				return show(c, reply, err, func(w io.Writer, page memd.Page) {
					for _, n := range page.Memories {
						fmt.Fprintf(w, "%s\n", n.CreatedAt)
						indent(w, "  ", n.Summary, 0)
					}
				})
			})
		},
	}
}

func (c *cli) sessionEnd() *cobra.Command {
	return &cobra.Command{
		Use:               "end SESSION",
		Short:             "End a session and delete its notes",
		Args:              oneID("session"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(m *memory) error {
				reply, err := m.EndSession(cmd.Context(), args[0])
				return show(c, reply, err, func(w io.Writer, _ struct{}) { fmt.Fprintln(w, "ended") })
			})
		},
	}
}
