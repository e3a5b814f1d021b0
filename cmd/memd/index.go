package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/exchange/artefacts"
)

func (c *cli) index() *cobra.Command {
	var o artefacts.Options
	cmd := &cobra.Command{
		Use:   "index [DIR]",
		Short: "Make long-term memories of the rules, records and runbooks in a folder",
		Long: `Make long-term memories of what people wrote and reviewed in a folder and below it
(default the working folder): instruction files (AGENTS.md and the other names of
instructions.names), .agent/rules/*.md, SKILL.md, decision records (docs/adr/*.md) and
runbooks (runbook*.md, runbooks/**/*.md). Each item of a list and each section is one,
which rests on its section and carries the tag "indexed".

Run it again after a change: what is said as before is left as it is, what changed is a
new version of its key, and what is gone is marked stale. Memories without the tag are
left alone. It exits 1 where something was refused, and names it.`,
		Example:           "  memd index\n  memd index ~/src/memd --dry-run\n  memd index --include 'docs/guides/**/*.md' --json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: foldersOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			o.Folder = "."
			if len(args) > 0 {
				o.Folder = args[0]
			}
			o.Names, o.Roots, o.Budgets, o.Now = cfg.Instructions.Names, cfg.Roots, cfg.Budgets, time.Now
			reach := c.with
			if o.DryRun {
				reach = c.reading
			}
			return reach(cmd, func(m *memory) error {
				report, err := artefacts.Index(cmd.Context(), client.Values{Client: m.Client}, o)
				if report == nil {
					return err
				}
				if shown := c.shownIndex(report); err == nil {
					err = shown
				}
				if err == nil && report.Refused > 0 {
					err = exitError(memd.ExitFailed)
				}
				return err
			})
		},
	}
	namespaceVar(cmd, &o.Namespace)
	cmd.Flags().Lookup("namespace").Usage = `the namespace (default project/ID of the folder)`
	cmd.Flags().StringArrayVar(&o.Include, "include", nil, "a glob of further Markdown files, relative to DIR (repeatable)")
	repeatedVar(cmd, &o.Access, "access", "an access tag to read under")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and write nothing")
	return cmd
}

func foldersOnly(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func (c *cli) shownIndex(report *artefacts.Report) error {
	if c.json {
		return c.document(report)
	}
	return c.print(func(w io.Writer) { indexReport(w, report) })
}

func indexReport(w io.Writer, r *artefacts.Report) {
	dry := ""
	if r.DryRun {
		dry = " (dry run: nothing was written)"
	}
	fmt.Fprintf(w, "%s: %d files, %d created, %d updated, %d unchanged, %d stale, %d held, %d refused%s\n",
		r.Namespace, r.Files, r.Created, r.Updated, r.Unchanged, r.Stale, r.Held, r.Refused, dry)
	lines := [][]string{}
	for _, res := range r.Results {
		lines = append(lines, []string{string(res.Outcome), at(res.File, res.Line), res.MemoryKey, string(res.Code) + " " + res.Reason})
	}
	for _, s := range r.Skipped {
		lines = append(lines, []string{"skipped", at(s.File, s.Line), "", s.Reason})
	}
	table(w, lines...)
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", oneLine(warning))
	}
}

// at is a place in a file.
func at(file string, line int) string {
	if line > 0 {
		file += ":" + strconv.Itoa(line)
	}
	return file
}
