package main

import (
	"github.com/spf13/cobra"

	"memd/exchange/folder"
)

// exportNotes writes the long-term tier as a folder of Markdown notes.
func (c *cli) exportNotes(cmd *cobra.Command) form {
	r := notesRun{cli: c, makes: true}
	r.flags(cmd, "only this namespace (default all)")
	return form{"notes", "the folder of Markdown notes to write", func(cmd *cobra.Command, dir string) error {
		return r.on(cmd, dir, folder.Export)
	}}
}
