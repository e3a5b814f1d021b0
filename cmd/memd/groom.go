package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd/api/client"
	"memd/groom"
)

func (c *cli) groom() *cobra.Command {
	var opts groom.Options
	var reports, ids bool
	cmd := &cobra.Command{
		Use:               "groom",
		Short:             "Keep the store in order now",
		Example:           "  memd groom --dry-run\n  memd groom --light",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A real run too finds the store as its dry run would: it puts the budgets
			// in force itself.
			return c.reading(cmd, func(m *memory) error {
				if reports {
					reply, err := m.GroomReports(cmd.Context())
					return show(c, reply, err, func(w io.Writer, past client.GroomReports) { pastRuns(w, past, ids) })
				}
				end := c.watchGroom(cmd.Context(), m)
				reply, err := m.Groom(cmd.Context(), opts)
				end()
				if err := show(c, reply, err, func(w io.Writer, r groom.Report) { groomed(w, r, ids) }); err != nil {
					return err
				}
				return reply.Value.Failed()
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&opts.DryRun, "dry-run", false, "only say what a run would change")
	flags.BoolVar(&opts.Force, "force", false, "lift the cap on what one run may judge away")
	flags.BoolVar(&opts.Light, "light", false, "only what belongs into every hour: expiry, access counts, space")
	flags.BoolVar(&ids, "ids", false, "list the ids of the rows as well")
	flags.BoolVar(&reports, "reports", false, "show the last runs in place of a new one")
	for _, other := range []string{"dry-run", "force", "light"} {
		cmd.MarkFlagsMutuallyExclusive("reports", other)
	}
	return cmd
}

// groomed shows one run as a table of its passes, and the rows of each by id if
// ids is set.
func groomed(w io.Writer, r groom.Report, ids bool) {
	kind := "full"
	if r.Light {
		kind = "light"
	}
	if r.DryRun {
		kind += ", dry run: nothing was changed"
	}
	fmt.Fprintf(w, "%s (%s)\n", r.StartedAt, kind)
	lines := [][]string{{"PASS", "PLANNED", "CHANGED", "SKIPPED", "FREED", "MS", ""}}
	for _, p := range r.Passes {
		remark := p.Error
		if p.Capped {
			remark = "capped " + remark
		}
		lines = append(lines, []string{p.Name, fmt.Sprint(p.Planned), fmt.Sprint(p.Changed), fmt.Sprint(p.Skipped),
			fmt.Sprint(p.Bytes), fmt.Sprintf("%.1f", p.MS), remark})
	}
	table(w, lines...)
	for _, p := range r.Passes {
		samePairs(w, p)
	}
	for _, p := range r.Passes {
		if !ids || len(p.IDs) == 0 {
			continue
		}
		fmt.Fprintln(w, p.Name)
		for _, id := range p.IDs {
			fmt.Fprintln(w, "  "+id)
		}
		if p.MoreIDs > 0 {
			fmt.Fprintf(w, "  and %d more\n", p.MoreIDs)
		}
	}
}

// shownPairs is how many pairs of a pass are shown to people.
const shownPairs = 10

// samePairs lists the first pairs of rows that say the same, and what tells of the
// rest.
func samePairs(w io.Writer, p groom.Pass) {
	shown := p.Pairs[:min(len(p.Pairs), shownPairs)]
	if len(shown) == 0 {
		return
	}
	fmt.Fprintln(w, "say the same, one of the two may go (memd forget --key):")
	for _, d := range shown {
		fmt.Fprintf(w, "  %s and %s in %s (%s)\n", d.Keys[0], d.Keys[1], d.Namespace, d.Reason)
	}
	if more := p.Planned - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %d more; see --json\n", more)
	}
}

func pastRuns(w io.Writer, past client.GroomReports, ids bool) {
	if p := past.Running; p != nil {
		fmt.Fprintf(w, "%s under way: %s\n", p.StartedAt, underWay(*p))
	}
	if len(past.Reports) == 0 {
		fmt.Fprintln(w, "none")
	}
	for _, r := range past.Reports {
		groomed(w, r, ids)
	}
}
