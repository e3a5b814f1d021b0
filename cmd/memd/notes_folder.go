package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/exchange/folder"
	"memd/exchange/notes"
	"memd/internal/project"
)

// notesRun is what the commands that bring a folder of notes and the store together
// are told.
type notesRun struct {
	*cli
	folder.Options
	makes bool // the folder, where it is not there
}

// flags are those of the command beside --notes.
func (r *notesRun) flags(cmd *cobra.Command, namespace string) {
	cmd.Flags().StringVar(&r.Namespace, "namespace", "", namespace)
	repeatedVar(cmd, &r.Access, "access", "an access tag to read under")
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "only report what would be done")
}

// on runs fn on a folder of notes and prints its report.
func (r *notesRun) on(cmd *cobra.Command, dir string, fn func(context.Context, folder.Store, folder.Options) (*folder.Report, error)) error {
	if err := r.at(dir); err != nil {
		return err
	}
	return r.with(cmd, func(m *memory) error {
		report, err := fn(cmd.Context(), client.Values{Client: m.Client}, r.Options)
		if report == nil {
			return err
		}
		if shown := r.report(report); err == nil {
			err = shown
		}
		if err == nil {
			err = report.Failed()
		}
		return err
	})
}

// at settles which folder it is, and whose project it belongs to.
func (r *notesRun) at(dir string) error {
	if dir == "" {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "notes", "--notes names no folder")
	}
	cfg, err := r.load()
	if err != nil {
		return err
	}
	if r.Namespace != "" && !memd.ValidNamespace(r.Namespace) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "namespace", "--namespace must be lower-case parts of [a-z0-9._-] joined by /")
	}
	if r.makes && !r.DryRun { // for it belongs to a project once it is there
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	r.Dir, r.Roots = dir, cfg.Roots
	id, err := project.ID(dir, cfg.Roots)
	if err != nil { // a folder that is not there yet; in a dry run it stays so
		return nil
	}
	if id != "" {
		r.Project = "project/" + id
		r.ProjectRoot, err = project.Top(dir)
	}
	return err
}

func (r *notesRun) report(report *folder.Report) error {
	if r.json {
		return r.document(report)
	}
	return r.print(func(w io.Writer) { notesReport(w, report) })
}

// notesReport is a report for people: every note that is not as it was, then the counts.
func notesReport(w io.Writer, report *folder.Report) {
	all := report.Files
	if report.Index != nil {
		all = append(all[:len(all):len(all)], *report.Index)
	}
	for _, e := range all {
		if e.Outcome == notes.Unchanged && e.Reason == "" && len(e.Warnings) == 0 {
			continue
		}
		noteLine(w, e)
	}
	if report.DryRun {
		fmt.Fprint(w, "nothing was written; it would be ")
	}
	fmt.Fprintf(w, "%d created, %d updated, %d unchanged, %d in conflict, %d refused\n",
		report.Created, report.Updated, report.Unchanged, report.Conflict, report.Refused)
}

// noteLine is what became of one note.
func noteLine(w io.Writer, e folder.Entry) {
	fmt.Fprintf(w, "%-9s  %s", e.Outcome, oneLine(at(e.File, e.Line)))
	if e.Reason != "" {
		fmt.Fprintf(w, ": %s", e.Reason)
	}
	fmt.Fprintln(w)
	for _, warning := range e.Warnings {
		fmt.Fprintf(w, "           warning: %s\n", warning)
	}
}
