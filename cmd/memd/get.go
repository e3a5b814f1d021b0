package main

import (
	"errors"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
)

func (c *cli) get() *cobra.Command {
	var at address
	var versions bool
	cmd := &cobra.Command{
		Use:   "get ID | get --key KEY [--namespace NS]",
		Short: "Show one memory",
		Long:  "Show one memory: by its id with its raw content, or the current version of a key.",
		Example: `  memd get 0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
  memd get --key deploy/how --versions`,
		Args:              at.args,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if versions && at.key == "" {
				return usagef("memd get --key KEY --versions", "only a key has versions")
			}
			return c.reading(cmd, func(m *memory) error {
				if versions {
					reply, err := m.Versions(cmd.Context(), at.namespace, at.key)
					return show(c, reply, err, func(w io.Writer, v client.Versions) { rows(w, v.Versions) })
				}
				read := func() (client.Reply[memd.Memory], error) { return m.Head(cmd.Context(), at.namespace, at.key) }
				if at.key == "" {
					read = func() (client.Reply[memd.Memory], error) { return m.Get(cmd.Context(), args[0]) }
				}
				reply, err := read()
				return show(c, reply, at.explain(cmd, args, err), card)
			})
		},
	}
	at.flags(cmd)
	cmd.Flags().BoolVar(&versions, "versions", false, "list every version of the key, newest first")
	return cmd
}

// address names one memory: by a positional id, or by key and namespace.
type address struct{ key, namespace string }

func (a *address) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.key, "key", "", "the memory_key, in place of an id")
	cmd.Flags().StringVar(&a.namespace, "namespace", "", `the key's namespace (default "default")`)
}

func (a *address) args(cmd *cobra.Command, args []string) error {
	switch {
	case a.key == "" && cmd.Flags().Changed("key"):
		return usagef("leave --key out to name a memory by its id", "the key is empty")
	case a.key != "" && len(args) > 0:
		return usagef("give one of them", "an id and --key both name a memory")
	case a.key != "":
		return nil
	case a.namespace != "":
		return usagef("an id needs no namespace; a key is given with --key", "--namespace goes with --key")
	}
	return oneID("id")(cmd, args)
}

// idForm is what an id looks like.
var idForm = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// explain adds the way out to the refusal of an id that is none: it may be a
// key.
func (a *address) explain(cmd *cobra.Command, args []string, err error) error {
	e, ok := errors.AsType[*memd.Error](err)
	if !ok || e.Code != memd.CodeNotFound || a.key != "" || idForm.MatchString(args[0]) {
		return err
	}
	key := "KEY"
	if memd.ValidKey(args[0]) && len(args[0]) <= 40 {
		key = args[0]
	}
	return e.WithHint("that is no id; a memory_key is given with --key: %s --key %s", cmd.CommandPath(), key)
}
