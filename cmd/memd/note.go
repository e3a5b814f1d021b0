package main

import (
	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) note() *cobra.Command {
	var session string
	var req memd.Note
	cmd := &cobra.Command{
		Use:               "note --session SESSION SUMMARY",
		Short:             "Note something for the rest of a session (transient tier)",
		Example:           `  memd note --session s1 "the user is on branch fix/lock" --ttl 2h`,
		Args:              oneText("summary"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if session == "" {
				return usagef("memd note --session SESSION SUMMARY", "a note belongs to a session")
			}
			if req.Summary, err = c.text(args); err != nil {
				return err
			}
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Note(cmd.Context(), session, req)
				return show(c, reply, err, written("noted"))
			})
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "the session")
	cmd.Flags().StringVar(&req.TTL, "ttl", "", `how long it lives, such as "90s" or "24h"`)
	return cmd
}
