package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memd"
)

// The flags that several commands share.

func namespaceVar(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "namespace", "", `the namespace (default "default")`)
}

func kindVar(cmd *cobra.Command, into *memd.Kind, otherwise string) {
	cmd.Flags().StringVar((*string)(into), "kind", "", "what it states (default "+otherwise+")")
	names(cmd, "kind", memd.AllKinds())
}

func importanceVar(flags *pflag.FlagSet, into **int) {
	numberVar(flags, into, "importance", "1 to 10 (default 5)")
}

// repeatedVar is a repeatable flag of a string type.
func repeatedVar[T ~string](cmd *cobra.Command, into *[]T, name, what string) {
	cmd.Flags().Var(repeated[T]{into}, name, what+" (repeatable)")
}

type repeated[T ~string] struct{ into *[]T }

func (r repeated[T]) Type() string { return "string" }

func (r repeated[T]) Set(text string) error {
	*r.into = append(*r.into, T(text))
	return nil
}

func (r repeated[T]) String() string {
	if r.into == nil {
		return ""
	}
	var texts []string
	for _, v := range *r.into {
		texts = append(texts, string(v))
	}
	return strings.Join(texts, ",")
}

// group is a command that only holds others.
func group(name, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, RunE: only(subs)}
	cmd.AddCommand(subs...)
	return cmd
}

// only refuses to run a command that does nothing without one of subs.
func only(subs []*cobra.Command) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		var uses []string
		for _, sub := range subs {
			uses = append(uses, cmd.CommandPath()+" "+sub.Use)
		}
		hint := strings.Join(uses, " | ")
		if len(args) > 0 {
			return usagef(hint, "unknown command %q for %q", args[0], cmd.CommandPath())
		}
		return usagef(hint, "%s does nothing by itself", cmd.CommandPath())
	}
}
