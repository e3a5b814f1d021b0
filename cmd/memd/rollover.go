package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd/store"
)

func (c *cli) rollover() *cobra.Command {
	return &cobra.Command{
		Use:   "rollover",
		Short: "Start a fresh active database; the old one becomes a historical one",
		Long: `Start a fresh active database. The one in use becomes a historical one below
history/, whatever its size; what it holds is found there as before.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Rollover(cmd.Context())
				return show(c, reply, err, rolledOver)
			})
		},
	}
}

func rolledOver(w io.Writer, r store.Rolled) {
	switch {
	case r.Rolled:
		fmt.Fprintf(w, "%s: %d bytes, %d rows\n", r.File, r.Bytes, r.Rows)
	case r.Reason == "empty":
		fmt.Fprintln(w, "nothing to roll over: the active database holds no memory")
	default:
		fmt.Fprintf(w, "not rolled over: %s\n", r.Reason)
	}
	for _, file := range r.Retired {
		fmt.Fprintf(w, "  retired %s\n", file)
	}
}
