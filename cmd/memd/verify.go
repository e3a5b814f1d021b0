package main

import (
	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) verify() *cobra.Command {
	var req memd.Verify
	var missing bool
	cmd := &cobra.Command{
		Use:               "verify ID",
		Short:             "Say that a long-term memory was checked against its source",
		Args:              oneID("id"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			done := "verified"
			if missing {
				req.SourceStatus, done = memd.SourceMissing, "marked stale"
			}
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Verify(cmd.Context(), args[0], req)
				return show(c, reply, err, written(done))
			})
		},
	}
	instantVar(cmd.Flags(), &req.VerifiedAt, "verified-at", "when, if not now")
	cmd.Flags().BoolVar(&missing, "missing", false, "the source does not say it any more: mark the memory stale")
	cmd.MarkFlagsMutuallyExclusive("verified-at", "missing")
	return cmd
}
