package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"memd/store"
)

func (c *cli) backup() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Write a consistent copy of the store into a new folder",
		Long: `Write a consistent copy of the store into a new folder, also while a daemon
writes. The default folder, backups/ in the data folder, keeps the newest
backup.keep of them.`,
		Example:           "  memd backup\n  memd backup --to /mnt/usb/memd",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("to") {
				if to == "" {
					return usagef("leave --to out for the default", "--to is empty")
				}
				var err error
				if to, err = filepath.Abs(to); err != nil { // the daemon has another working folder
					return err
				}
			}
			return c.reading(cmd, func(m *memory) error {
				reply, err := m.Backup(cmd.Context(), to)
				return show(c, reply, err, backedUp)
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "folder in which to make the backup's own (default backups/ in the data folder)")
	return cmd
}

func backedUp(w io.Writer, b store.Backup) {
	fmt.Fprintln(w, b.Path)
	holdings(w, b.Manifest)
}

// holdings shows what a backup holds, one line for each database.
func holdings(w io.Writer, m store.BackupManifest) {
	for _, f := range m.Files {
		fmt.Fprintf(w, "  %s: %d bytes, %d short, %d long, %d archived, %d transient\n",
			f.Name, f.Size, f.Rows.Short, f.Rows.Long, f.Rows.Archive, f.Rows.Transient)
	}
}
