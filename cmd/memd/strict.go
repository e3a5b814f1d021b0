package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// strict makes cobra's own commands, `help` and `completion`, refuse what they
// do not know: by themselves they print their help and succeed. The streams of
// root must be set: the completion scripts are written where they lead now.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			print := cmd.Run
			cmd.RunE = func(cmd *cobra.Command, topic []string) error {
				found, rest, err := cmd.Root().Find(topic)
				if err != nil {
					return usage(cmd.Root(), err)
				}
				if len(rest) > 0 {
					return usagef("`"+found.CommandPath()+" --help` shows what there is", "unknown command %q for %q", rest[0], found.CommandPath())
				}
				print(cmd, topic)
				return nil
			}
		case "completion":
			subs := slices.Clone(cmd.Commands())
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, only(subs)
		}
	}
}
