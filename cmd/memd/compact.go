package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd/store"
)

func (c *cli) compact() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "compact",
		Short:             "Rewrite every database without its free space",
		Long:              `Rewrite every database without its free space. Writes wait meanwhile.`,
		Example:           "  memd compact --yes",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes {
				if err := c.confirm("rewrite every database without its free space, while writes wait?"); err != nil {
					return err
				}
			}
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Compact(cmd.Context())
				return show(c, reply, err, compacted)
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func compacted(w io.Writer, done store.Compacted) {
	for _, f := range done.Files {
		if f.Skipped != "" {
			fmt.Fprintf(w, "%s: skipped: %s\n", f.File, f.Skipped)
			continue
		}
		fmt.Fprintf(w, "%s: %d bytes, now %d\n", f.File, f.Before, f.After)
	}
	fmt.Fprintf(w, "%d bytes freed\n", done.FreedBytes)
}
