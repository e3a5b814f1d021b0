package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"memd"
	"memd/groom"
)

func (c *cli) audit() *cobra.Command {
	var sample int
	var strict, markdown bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Go through the checklist of what makes memories worth believing",
		Long: `Go through the checklist of what makes memories worth believing: every box with
its verdict, how it was decided, the ids of the rows that fail it, and the command
that mends it. No memory's text is shown.

The exit code is 1 when ten or more boxes apply and fewer than seven pass, with
--strict when any box fails.`,
		Example:           "  memd audit --sample 10\n  memd audit --markdown > audit.md",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sample < 0 || sample > groom.MaxSample {
				return memd.FieldErrorf(memd.CodeInvalidRequest, "sample", "--sample must be 0 to %d", groom.MaxSample)
			}
			return c.reading(cmd, func(m *memory) error {
				reply, err := m.Audit(cmd.Context(), sample)
				human := audited
				if markdown {
					human = auditReport
				}
				if err := show(c, reply, err, human); err != nil {
					return err
				}
				if reply.Value.Drifting() || strict && reply.Value.Failed() {
					return exitError(memd.ExitFailed)
				}
				return nil
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&sample, "sample", 0, "show this many long rows with key, source, last verification and what ends them")
	flags.BoolVar(&strict, "strict", false, "exit with 1 when any box fails")
	flags.BoolVar(&markdown, "markdown", false, "print a report to commit or mail")
	return cmd
}

// verdictMarks are what stands before a box, for people and in Markdown.
var verdictMarks = map[groom.Verdict][2]string{
	groom.VerdictPass: {"✓", "[x]"}, groom.VerdictFail: {"✗", "[ ]"}, groom.VerdictNone: {"–", "n/a:"},
}

// shownIDs is how many ids of a box are shown to people.
const shownIDs = 10

// audited shows the checklist by its sections.
func audited(w io.Writer, a groom.Audit) {
	section := ""
	for _, b := range a.Boxes {
		if b.Section != section {
			section = b.Section
			fmt.Fprintf(w, "%s\n", section)
		}
		fmt.Fprintf(w, "  %s %s\n", verdictMarks[b.Verdict][0], b.Box)
		if b.Verdict != groom.VerdictFail {
			continue
		}
		fmt.Fprintf(w, "      how: %s\n", b.How)
		if len(b.IDs) > 0 {
			fmt.Fprintf(w, "      ids: %s\n", someOf(b.IDs))
		}
		if b.Fix != "" {
			fmt.Fprintf(w, "      fix: %s\n", b.Fix)
		}
	}
	fmt.Fprintf(w, "%d of %d boxes that apply pass\n", a.Passed, a.Applicable)
	if a.Drifting() {
		fmt.Fprintln(w, "the memory is drifting: groom it before adding new rules")
	}
	for _, s := range a.Sample {
		fmt.Fprintf(w, "\n%s  %s\n", s.ID, inNamespaceOf(s))
		fmt.Fprintf(w, "  source    %s (%s)\n", oneLine(s.Source), s.SourceStatus)
		fmt.Fprintf(w, "  verified  %s\n", verifiedOf(s))
		fmt.Fprintf(w, "  ends      %s\n", s.Ends)
	}
}

// auditReport is the checklist as Markdown.
func auditReport(w io.Writer, a groom.Audit) {
	fmt.Fprintf(w, "# Memory audit\n\n%d of %d boxes that apply pass.\n", a.Passed, a.Applicable)
	section := ""
	for _, b := range a.Boxes {
		if b.Section != section {
			section = b.Section
			fmt.Fprintf(w, "\n## %s\n\n", section)
		}
		fmt.Fprintf(w, "- %s **%s**\n", verdictMarks[b.Verdict][1], marked(b.Box))
		fmt.Fprintf(w, "  - how: %s\n", marked(b.How))
		if len(b.IDs) > 0 {
			fmt.Fprintf(w, "  - ids: %s\n", someOf(b.IDs))
		}
		if b.Fix != "" {
			fmt.Fprintf(w, "  - fix: %s\n", marked(b.Fix))
		}
	}
	if len(a.Sample) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Sample\n\n| id | key | source | verified | what ends it |\n| --- | --- | --- | --- | --- |\n")
	for _, s := range a.Sample {
		fmt.Fprintf(w, "| %s | %s | %s (%s) | %s | %s |\n", s.ID, marked(inNamespaceOf(s)), marked(s.Source), s.SourceStatus, marked(verifiedOf(s)), marked(s.Ends))
	}
}

// marked is a line of text that Markdown shows as it is.
func marked(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "#", `\#`).Replace(oneLine(s))
}

// someOf lists the first ids.
func someOf(ids []string) string {
	list := strings.Join(ids[:min(len(ids), shownIDs)], " ")
	if more := len(ids) - shownIDs; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

func inNamespaceOf(s groom.Sampled) string {
	if s.Namespace == memd.DefaultNamespace {
		return s.MemoryKey
	}
	return s.Namespace + " " + s.MemoryKey
}

func verifiedOf(s groom.Sampled) string {
	if s.VerifiedBy == "" {
		return s.VerifiedAt.String()
	}
	return s.VerifiedAt.String() + " by " + s.VerifiedBy
}
