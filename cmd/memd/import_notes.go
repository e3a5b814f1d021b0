package main

import (
	"github.com/spf13/cobra"

	"memd/exchange/folder"
)

// importNotes takes a folder of Markdown notes into the long-term tier.
func (c *cli) importNotes(cmd *cobra.Command) form {
	r := notesRun{cli: c}
	r.flags(cmd, "of what states none (default user, or the project's)")
	return form{"notes", "the folder of Markdown notes to read", func(cmd *cobra.Command, dir string) error {
		return r.on(cmd, dir, folder.Import)
	}}
}
