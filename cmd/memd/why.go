package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) why() *cobra.Command {
	var req memd.WhyRequest
	cmd := &cobra.Command{
		Use:   "why [QUERY]",
		Short: "Say why a memory comes back for a question, or does not",
		Long: `Ask the seven questions of the memory chain about one memory: its artefact, its
key, its labels, its place among what the question recalls, what outranks it,
whether it is stale, and which guard would refuse it today. Without a question
its place is not asked. What is named and was never written is answered too.`,
		Example: `  memd why "how do we deploy?" --key deploy/how
  memd why "lock order" --id 0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b --namespace project/memd`,
		Args:              atMostOneText("query"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if (req.MemoryKey == "") == (req.ID == "") {
				return usagef(cmd.CommandPath()+` "the question" --key KEY`, "name one memory, by --key or by --id")
			}
			if req.Query, err = c.text(args); err != nil {
				return err
			}
			return c.reading(cmd, func(m *memory) error {
				reply, err := m.Why(cmd.Context(), req)
				return show(c, reply, err, chain)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.MemoryKey, "key", "", "the memory's key")
	flags.StringVar(&req.ID, "id", "", "its id, in place of a key")
	repeatedVar(cmd, &req.Namespaces, "namespace", "a namespace to search; the first named wins a key")
	repeatedVar(cmd, &req.Access, "access", "an access tag to read under")
	flags.StringVar(&req.SessionID, "session", "", "the session whose notes may appear")
	return cmd
}

// chain shows the answers to the seven questions.
func chain(w io.Writer, a memd.WhyAnswer) {
	fmt.Fprintf(w, "%s: %s\n", a.Reason, a.Detail)
	name := a.ID
	if a.MemoryKey != "" && name != "" {
		name = a.MemoryKey + " (" + name + ")"
	} else if name == "" {
		name = a.MemoryKey
	}
	if a.Namespace != "" {
		name += " in " + a.Namespace
	}
	fmt.Fprintln(w, name)
	for _, q := range a.Questions {
		fmt.Fprintf(w, "\n%d. %s\n   %s\n", q.N, q.Question, q.Answer)
		for _, line := range q.Evidence {
			indent(w, "   - ", line, 0)
		}
	}
}
