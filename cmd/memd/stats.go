package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd/store"
)

func (c *cli) stats() *cobra.Command {
	return &cobra.Command{
		Use:               "stats",
		Short:             "Show rows, bytes and budgets",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd, func(m *memory) error {
				reply, err := m.Stats(cmd.Context())
				return show(c, reply, err, statistics)
			})
		},
	}
}

// embedder words the state of the vectors.
func embedder(e store.EmbedderStats) string {
	return fmt.Sprintf("%s (%s), dimension %d, %d vectors, %d pending, %d parked", e.Name, e.Backend, e.Dim, e.Vectors, e.Pending, e.Parked)
}

func statistics(w io.Writer, s store.Stats) {
	tiers := [][]string{{"TIER", "ROWS", "CHARACTERS"}}
	for _, t := range s.Tiers {
		tiers = append(tiers, []string{string(t.Tier), fmt.Sprint(t.Rows), fmt.Sprint(t.Chars)})
	}
	table(w, tiers...)
	fmt.Fprintln(w)
	files := [][]string{{"DATABASE", "STATE", "ROWS", "USED", "FREE", "WAL"}}
	for _, f := range s.Databases {
		row := []string{f.File, f.State, "-", "-", "-", "-"}
		if f.State != "unavailable" {
			row = []string{f.File, f.State, fmt.Sprint(f.Rows), fmt.Sprint(f.UsedBytes), fmt.Sprint(f.FreeBytes), fmt.Sprint(f.WALBytes)}
		}
		files = append(files, row)
	}
	table(w, files...)
	fmt.Fprintln(w)
	budgets := [][]string{{"BUDGET", "USED", "LIMIT"}}
	for _, b := range s.Budgets {
		used := "-"
		if b.Used != nil {
			used = fmt.Sprint(*b.Used)
		}
		budgets = append(budgets, []string{b.Budget, used, b.Limit})
	}
	table(w, budgets...)
	fmt.Fprintln(w)
	table(w,
		[]string{"keys", fmt.Sprint(s.Heads)},
		[]string{"embedder", embedder(s.Embedder)},
		[]string{"writes queued", fmt.Sprint(s.QueueDepth)},
		[]string{"rollover deferred", cmp.Or(s.RolloverReason, "no")},
		[]string{"last groomed", cmp.Or(s.LastGroomAt, "never")},
		[]string{"last light groom", cmp.Or(s.LastLightGroomAt, "never")},
		[]string{"last backup", cmp.Or(s.LastBackupAt, "never")},
		[]string{"schema", s.SchemaVersion},
		[]string{"open since", s.StartedAt.String()},
	)
}
