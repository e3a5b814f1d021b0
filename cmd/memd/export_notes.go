package main

import (
	"os"

	"github.com/spf13/cobra"

	"memd/exchange/folder"
)

// exportNotes writes the long-term tier as a folder of Markdown notes.
func (c *cli) exportNotes(cmd *cobra.Command) form {
	r := notesRun{cli: c}
	r.flags(cmd, "only this namespace (default all)")
	return form{"notes", "the folder of Markdown notes to write", func(cmd *cobra.Command, dir string) error {
		if !r.DryRun && dir != "" {
			if err := os.MkdirAll(dir, 0o700); err != nil { // it belongs to a project once it is there
				return err
			}
		}
		return r.on(cmd, dir, folder.Export)
	}}
}
