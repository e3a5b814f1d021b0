package main

import (
	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) rememberLongTerm() *cobra.Command {
	var req memd.RememberLongTerm
	var content raw
	cmd := &cobra.Command{
		Use:   "remember-long-term SUMMARY --key KEY --source SOURCE",
		Short: "Remember durable knowledge under a key (long tier)",
		Long: `Remember durable knowledge under a key. The same key again makes a new version
where the content, source or kind differs, and else renews the verification.`,
		Example: `  memd remember-long-term "Deploys go through make release" \
      --key deploy/how --source docs/deploy.md#release --kind rule`,
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
				reply, err := m.RememberLongTerm(cmd.Context(), req)
				return show(c, reply, err, written("remembered"))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.MemoryKey, "key", "", "the memory_key, such as deploy/how")
	flags.StringVar(&req.Source, "source", "", "the artefact it rests on: path[#anchor][:line] or a URL")
	namespaceVar(cmd, &req.Namespace)
	kindVar(cmd, &req.Kind, "fact, or the head's")
	importanceVar(flags, &req.Importance)
	flags.StringArrayVar(&req.Tags, "tag", nil, "a tag (repeatable)")
	content.flags(cmd)
	flags.StringVar(&req.Why, "why", "", "why it is so (feedback and project need it)")
	flags.StringVar(&req.HowToApply, "how-to-apply", "", "what to do about it (feedback and project need it)")
	flags.StringVar(&req.Owner, "owner", "", "who answers for it")
	flags.StringArrayVar(&req.Access, "access", nil, "an access tag a reader must hold and name (repeatable)")
	instantVar(flags, &req.VerifiedAt, "verified-at", "when it was checked against its source")
	instantVar(flags, &req.CreatedAt, "created-at", "when this version came to be, if not now")
	numberVar(flags, &req.BaseVersion, "base-version", "refuse unless the head has this version; 0: the key must not exist")
	return cmd
}
