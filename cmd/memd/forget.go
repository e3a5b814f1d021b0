package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
)

func (c *cli) forget() *cobra.Command {
	var at address
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget ID | forget --key KEY [--namespace NS]",
		Short: "Delete a memory for good, older versions included",
		Example: `  memd forget 0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
  memd forget --key deploy/how --namespace project/memd --yes`,
		Args:              at.args,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				if err := c.confirm("forget " + at.key + join(args) + " for good, with its older versions?"); err != nil {
					return err
				}
			}
			return c.with(cmd, func(m *memory) error {
				forget := func() (client.Reply[struct{}], error) { return m.ForgetKey(cmd.Context(), at.namespace, at.key) }
				if at.key == "" {
					forget = func() (client.Reply[struct{}], error) { return m.Forget(cmd.Context(), args[0]) }
				}
				reply, err := forget()
				return show(c, reply, at.explain(cmd, args, err), func(w io.Writer, _ struct{}) { fmt.Fprintln(w, "forgotten") })
			})
		},
	}
	at.flags(cmd)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// confirm asks a person. Where nobody sits at a terminal it refuses: silence
// is no consent.
func (c *cli) confirm(question string) error {
	if !onTerminal(c.in) {
		return usagef("say --yes where no terminal is there to ask on", "this is not done without a yes")
	}
	fmt.Fprintf(c.errs, "%s [y/N] ", plain(question))
	answer, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	fmt.Fprintln(c.errs, "nothing was changed")
	return exitError(memd.ExitFailed)
}
