package main

import (
	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) remember() *cobra.Command {
	var req memd.Remember
	var content raw
	cmd := &cobra.Command{
		Use:   "remember SUMMARY",
		Short: "Remember something recent (short tier)",
		Example: `  memd remember "CI is red since the Go 1.26 update" --tag ci --session s1
  git log -1 --format=%B | memd remember - --kind event --source pkg/x.go:12`,
		Args:              oneText("summary"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.RawContent, err = content.read(c, args); err != nil {
				return err
			}
			if req.Summary, err = c.text(args); err != nil {
				return err
			}
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Remember(cmd.Context(), req)
				return show(c, reply, err, written("remembered"))
			})
		},
	}
	flags := cmd.Flags()
	namespaceVar(cmd, &req.Namespace)
	kindVar(cmd, &req.Kind, "event")
	importanceVar(flags, &req.Importance)
	flags.StringArrayVar(&req.Tags, "tag", nil, "a tag (repeatable)")
	flags.StringVar(&req.Source, "source", "", "the artefact it rests on: path[#anchor][:line] or a URL")
	content.flags(cmd)
	flags.StringVar(&req.SessionID, "session", "", "the session it comes from")
	flags.StringVar(&req.Agent, "agent", "", "the agent that says so")
	flags.StringArrayVar(&req.Access, "access", nil, "an access tag a reader must hold and name (repeatable)")
	instantVar(flags, &req.ExpiresAt, "expires-at", "when it ends to hold")
	return cmd
}
