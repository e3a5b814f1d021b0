package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) context() *cobra.Command {
	var req memd.ContextRequest
	cmd := &cobra.Command{
		Use:   "context [QUERY]",
		Short: "Print the memories a session should start from, ready for a prompt",
		Example: `  memd context --namespace project/memd --max-chars 4000
  memd context "release checklist" --session s1`,
		Args:              atMostOneText("query"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.Query, err = c.text(args); err != nil {
				return err
			}
			return c.reading(cmd, func(m *memory) error {
				reply, err := m.Context(cmd.Context(), req)
				if err == nil && reply.Value.Text == "" && !c.json {
					fmt.Fprintf(c.errs, "memd: %s\n", plain(noContext(req, reply.Value)))
				}
				if err == nil && len(reply.Value.Degraded) > 0 && !c.json {
					fmt.Fprintf(c.errs, "memd: degraded: %s\n", plain(strings.Join(reply.Value.Degraded, ", ")))
				}
				return show(c, reply, err, func(w io.Writer, a memd.Context) {
					if a.Text != "" {
						fmt.Fprintln(w, a.Text)
					}
				})
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.SessionID, "session", "", "the session whose notes belong to it")
	numberVar(flags, &req.MaxChars, "max-chars", "characters at most (default 8000)")
	repeatedVar(cmd, &req.Namespaces, "namespace", "a namespace; the first named wins a key")
	repeatedVar(cmd, &req.Access, "access", "an access tag to read under")
	repeatedVar(cmd, &req.Tools, "tool", "a tool in use, whose manual a selector need not pick")
	return cmd
}

// noContext says why a context is empty.
func noContext(req memd.ContextRequest, got memd.Context) string {
	where := "the namespace " + memd.DefaultNamespace
	if len(req.Namespaces) == 1 {
		where = "the namespace " + req.Namespaces[0]
	} else if len(req.Namespaces) > 1 {
		where = "the namespaces " + strings.Join(req.Namespaces, ", ")
	}
	text := "there is nothing to start from in " + where
	unfit := func(ref memd.Ref) bool { return ref.Reason == memd.LeftBudget }
	switch {
	case slices.ContainsFunc(got.LeftOut, unfit):
		limit := memd.DefaultContextChars
		if req.MaxChars != nil {
			limit = *req.MaxChars
		}
		text = fmt.Sprintf("nothing fits into %d characters", limit)
	case req.Query != "":
		text = "nothing in " + where + " bears on the query"
	}
	switch n := len(got.LeftOut); n {
	case 0:
		return text
	case 1:
		return text + "; 1 memory was left out"
	default:
		return fmt.Sprintf("%s; %d memories were left out", text, n)
	}
}
