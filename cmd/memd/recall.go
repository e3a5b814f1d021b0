package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memd"
)

// recallLines is how many lines of a summary a recall shows.
const recallLines = 4

func (c *cli) recall() *cobra.Command {
	var q memd.Query
	var noTouch bool
	cmd := &cobra.Command{
		Use:   "recall QUERY",
		Short: "Find the memories that bear on a question",
		Example: `  memd recall "why does the nightly build time out?"
  memd recall --namespace project/memd --namespace user --explain "lock order"`,
		Args:              oneText("query"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Query, err = c.text(args); err != nil {
				return err
			}
			if noTouch {
				q.Touch = new(bool)
			}
			return c.reading(cmd, func(m *memory) error {
				reply, err := m.Recall(cmd.Context(), q)
				return show(c, reply, err, hits)
			})
		},
	}
	flags := cmd.Flags()
	repeatedVar(cmd, &q.Namespaces, "namespace", "a namespace to search; the first named wins a key")
	repeatedVar(cmd, &q.Access, "access", "an access tag to read under")
	numberVar(flags, &q.Limit, "limit", "results of a page, 1 to 100 (default 10)")
	flags.StringVar(&q.Cursor, "cursor", "", "the next_cursor of the page before")
	repeatedVar(cmd, &q.Tiers, "tier", "only this tier")
	names(cmd, "tier", memd.AllTiers())
	repeatedVar(cmd, &q.Kinds, "kind", "only this kind")
	names(cmd, "kind", memd.AllKinds())
	repeatedVar(cmd, &q.Tags, "tag", "only rows with this tag; several must all be there")
	flags.StringVar(&q.SessionID, "session", "", "the session whose notes may appear")
	flags.BoolVar(&q.IncludeArchive, "include-archive", false, "search the archive too")
	flags.BoolVar(&q.IncludeRaw, "include-raw", false, "return the raw content")
	numberVar(flags, &q.MaxChars, "max-chars", "characters to return at most")
	flags.BoolVar(&noTouch, "no-touch", false, "do not count this as an access")
	repeatedVar(cmd, &q.Tools, "tool", "a tool in use, whose manual a selector need not pick")
	flags.BoolVar(&q.Explain, "explain", false, "say how each score came about")
	return cmd
}

// hits lists what a recall found.
func hits(w io.Writer, a memd.Answer) {
	for i, h := range a.Results {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%d. %s  [%s %s, %s]%s\n", i+1, title(h.Memory), h.Tier, h.Kind, age(h.Memory), staleMark(h.Memory))
		indent(w, "   ", h.Summary, recallLines)
		if h.Shortened {
			fmt.Fprintln(w, "   (shortened)")
		}
		if h.RawContent != "" {
			indent(w, "   | ", h.RawContent, 0)
		}
		fmt.Fprintf(w, "   matched %s; score %.4f; id %s\n", list(h.Matched), h.Score, h.ID)
		if b := h.Breakdown; b != nil {
			fmt.Fprintf(w, "   = authority %.4f, stale %.4f, keyword %.4f, metadata %.4f, vector %.4f,\n"+
				"     neighbour %.4f, importance %.4f, recency %.4f, access %.4f, source %.4f, selected %.4f\n",
				b.Authority, b.Stale, b.Keyword, b.Metadata, b.Vector,
				b.Neighbour, b.Importance, b.Recency, b.Access, b.Source, b.Selected)
		}
	}
	if len(a.Results) == 0 {
		fmt.Fprintf(w, "nothing found (%s)\n", a.EmptyReason)
	}
	for _, filter := range slices.Sorted(maps.Keys(a.Filtered)) {
		fmt.Fprintf(w, "filtered by %s: %d\n", filter, a.Filtered[filter])
	}
	if len(a.Degraded) > 0 {
		fmt.Fprintf(w, "degraded: %s\n", strings.Join(a.Degraded, ", "))
	}
	if a.NextCursor != "" {
		fmt.Fprintf(w, "more: --cursor %s\n", a.NextCursor)
	}
}

// list joins names.
func list[T ~string](values []T) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(v))
	}
	return b.String()
}
