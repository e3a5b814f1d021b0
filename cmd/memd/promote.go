package main

import (
	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) promote() *cobra.Command {
	var req memd.Promote
	cmd := &cobra.Command{
		Use:   "promote ID",
		Short: "Move a memory to the long tier, or back from the archive to short",
		Example: `  memd promote 0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b --key ci/timeouts --source docs/ci.md
  memd promote 0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b --to short`,
		Args:              oneID("id"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Promote(cmd.Context(), args[0], req)
				return show(c, reply, err, written("promoted"))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar((*string)(&req.To), "to", "", "long or short (default long)")
	names(cmd, "to", []memd.Tier{memd.Long, memd.Short})
	flags.StringVar(&req.MemoryKey, "key", "", "the memory_key it gets")
	flags.StringVar(&req.Source, "source", "", "the artefact it rests on")
	kindVar(cmd, &req.Kind, "its own if durable, else fact")
	flags.StringVar(&req.Why, "why", "", "why it is so")
	flags.StringVar(&req.HowToApply, "how-to-apply", "", "what to do about it")
	importanceVar(flags, &req.Importance)
	flags.StringArrayVar(&req.Tags, "tag", nil, "a tag (repeatable)")
	instantVar(flags, &req.VerifiedAt, "verified-at", "when it was checked against its source")
	flags.StringVar(&req.Owner, "owner", "", "who answers for it")
	return cmd
}
