package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memd"
)

func (c *cli) edit() *cobra.Command {
	var e edits
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Change the metadata of a memory",
		Long: `Change the metadata of a memory. What is not named stays; an empty value takes
the field away (--owner "", --tag "", --expires-at "").`,
		Example: `  memd edit 0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b --importance 8 --tag ci --tag go
  memd edit 0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b --resolved-at now`,
		Args:              oneID("id"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Patch(cmd.Context(), args[0], e.patch(cmd.Flags()))
				return show(c, reply, err, written("changed"))
			})
		},
	}
	flags := cmd.Flags()
	importanceVar(flags, &e.importance)
	flags.StringArrayVar(&e.tags, "tag", nil, "a tag (repeatable; in place of all there are)")
	flags.StringVar(&e.owner, "owner", "", "who answers for it")
	flags.StringArrayVar(&e.access, "access", nil, "an access tag (repeatable; in place of all there are)")
	instantVar(flags, &e.expiresAt, "expires-at", "when it ends to hold")
	instantVar(flags, &e.resolvedAt, "resolved-at", "when the pitfall was resolved")
	return cmd
}

// edits are the values of the flags.
type edits struct {
	importance            *int
	tags, access          []string
	owner                 string
	expiresAt, resolvedAt memd.Time
}

// patch holds the flags that were given; an empty value clears.
func (e edits) patch(flags *pflag.FlagSet) memd.Patch {
	var p memd.Patch
	if e.importance != nil {
		p.Importance = memd.Some(*e.importance)
	}
	if flags.Changed("tag") {
		p.Tags = memd.Some(named(e.tags))
	}
	if flags.Changed("access") {
		p.Access = memd.Some(named(e.access))
	}
	if flags.Changed("owner") {
		p.Owner = orNull(e.owner, e.owner == "")
	}
	if flags.Changed("expires-at") {
		p.ExpiresAt = orNull(e.expiresAt, e.expiresAt.IsZero())
	}
	if flags.Changed("resolved-at") {
		p.ResolvedAt = orNull(e.resolvedAt, e.resolvedAt.IsZero())
	}
	return p
}

func orNull[T any](value T, empty bool) memd.Opt[T] {
	if empty {
		return memd.Null[T]()
	}
	return memd.Some(value)
}

// named is what one empty value stands for: no tag at all. Among others an
// empty tag is a mistake, which the daemon names.
func named(tags []string) []string {
	if len(tags) == 1 && tags[0] == "" {
		return []string{}
	}
	return tags
}
