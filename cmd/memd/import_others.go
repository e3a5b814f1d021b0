package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/exchange/importers"
	"memd/exchange/importers/claude"
	"memd/exchange/importers/engram"
	"memd/exchange/importers/graph"
	"memd/exchange/importers/transcript"
	"memd/guard/confine"
)

// importOthers takes in what other programs keep.
func (c *cli) importOthers(*cobra.Command) []form {
	return []form{
		{"claude", "a folder of Claude Code's auto-memory, or of plain Markdown", c.importClaude},
		{"mcp-memory", "the memory.json of the MCP reference server; - for stdin", c.fromFile("mcp-memory", "memory.json", importGraph)},
		{"engram", "what engram export wrote; - for stdin", c.fromFile("engram", "engram-export.json", importEngram)},
		{"transcript", "a chat: JSON lines, a JSON list of messages, or text; - for stdin", c.fromFile("transcript", "", importTranscript)},
	}
}

// machine is what decides where foreign memories go, and the namespace asked for.
func (c *cli) machine(cmd *cobra.Command, flag string) (m importers.Machine, namespace string, err error) {
	for _, name := range []string{"access", "rejects"} { // of other forms
		if cmd.Flags().Changed(name) {
			return m, "", usagef("take --"+name+" away", "--%s says nothing of --%s", name, flag)
		}
	}
	namespace = cmd.Flags().Lookup("namespace").Value.String()
	if namespace != "" && !memd.ValidNamespace(namespace) {
		return m, "", memd.FieldErrorf(memd.CodeInvalidRequest, "namespace", "namespace must be lower-case parts of [a-z0-9._-] joined by /")
	}
	cfg, err := c.load()
	if err != nil {
		return m, "", err
	}
	m.Roots = cfg.Roots
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		m.Home = home
	}
	return m, namespace, nil
}

func (c *cli) importClaude(cmd *cobra.Command, place string) error {
	m, namespace, err := c.machine(cmd, "claude")
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(place)
	if err != nil {
		return err
	}
	if place == "" {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "claude", "--claude names no folder")
	}
	folder, err := confine.Open(dir, ".md")
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok { // without what stands for its name
			err = e.Err
		}
		return &memd.Error{Code: memd.CodeInvalidRequest, Field: "claude", Message: "the folder " + place + " cannot be read", Err: err}
	}
	defer folder.Close()
	o := claude.Options{Project: m.Project(claude.Worked(dir))}
	of := namespace
	if of == "" {
		of = o.Project
	}
	if o.Origin, err = m.Origin(dir, namespace, of, memd.Time{}); err != nil {
		return err
	}
	o.File = place
	return c.takeIn(cmd, claude.Read(folder, o))
}

// reader makes the reader of a file.
type reader func(file io.ReadSeeker, o importers.Origin, m importers.Machine) importers.Items

func importGraph(file io.ReadSeeker, o importers.Origin, _ importers.Machine) importers.Items {
	return graph.Read(file, o)
}

func importEngram(file io.ReadSeeker, o importers.Origin, m importers.Machine) importers.Items {
	return engram.Read(file, engram.Options{Origin: o, Project: m.Project})
}

func importTranscript(file io.ReadSeeker, o importers.Origin, m importers.Machine) importers.Items {
	return transcript.Read(file, transcript.Options{Origin: o, Project: m.Project})
}

// fromFile is the import of a file. Of stdin the name is what others call such a file.
func (c *cli) fromFile(flag, name string, read reader) func(*cobra.Command, string) error {
	return func(cmd *cobra.Command, place string) error {
		m, namespace, err := c.machine(cmd, flag)
		if err != nil {
			return err
		}
		in, err := c.lines(flag, place)
		if err != nil {
			return err
		}
		defer in.Close()
		o := importers.Origin{File: "stdin", Date: c.dateOf(place), Namespace: namespace}
		switch {
		case place != fromStdin:
			if o, err = m.Origin(place, namespace, namespace, o.Date); err != nil {
				return err
			}
		case name != "":
			o.Source = "./" + name
		}
		return c.takeIn(cmd, read(in, o, m))
	}
}

// dateOf is when a file was last written, zero of what is none.
func (c *cli) dateOf(place string) memd.Time {
	var info os.FileInfo
	var err error
	if place != fromStdin {
		info, err = os.Stat(place)
	} else if f, ok := c.in.(*os.File); ok {
		info, err = f.Stat()
	}
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return memd.Time{}
	}
	return memd.At(info.ModTime())
}

func (c *cli) takeIn(cmd *cobra.Command, items importers.Items) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	o := importers.Options{DryRun: cmd.Flags().Lookup("dry-run").Value.String() == "true", Now: memd.At(time.Now())}
	if cfg.Dates.Absolute {
		o.Zone = cfg.Dates.Zone()
	}
	return c.with(cmd, func(m *memory) error {
		line, end := c.progress()
		o.Progress = func(n int) { line("import: %d entries", n) }
		report, err := importers.Run(cmd.Context(), client.Values{Client: m.Client}, items, o)
		end()
		if c.json {
			if shown := c.document(report); shown != nil {
				return shown
			}
		} else if err != nil && memd.CodeOf(err) == memd.CodeBudgetExceeded { // nothing was looked at
			return err
		} else if shown := c.print(func(w io.Writer) { importedEntries(w, report) }); shown != nil {
			return shown
		}
		if err != nil {
			return err
		}
		return report.Failed()
	})
}

// importedEntries tells people what became of a file.
func importedEntries(w io.Writer, r importers.Report) {
	for _, e := range r.Entries {
		fmt.Fprintf(w, "%-9s  %s", e.Outcome, oneLine(at(e.File, e.Line)))
		if e.MemoryKey != "" {
			fmt.Fprintf(w, " (%s in %s)", e.MemoryKey, e.Namespace)
		}
		if e.Reason != "" {
			fmt.Fprintf(w, ": %s", e.Reason)
		}
		fmt.Fprintln(w)
		for _, warning := range e.Warnings {
			fmt.Fprintf(w, "           warning: %s\n", warning)
		}
	}
	if r.Unlisted > 0 {
		fmt.Fprintf(w, "and %d more\n", r.Unlisted)
	}
	if r.DryRun {
		fmt.Fprint(w, "nothing was written; it would be ")
	}
	fmt.Fprintf(w, "%d created, %d updated, %d unchanged, %d in conflict, %d refused\n", r.Created, r.Updated, r.Unchanged, r.Conflict, r.Refused)
}
