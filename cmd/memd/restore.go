package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"memd"
	"memd/internal/dirlock"
	"memd/store"
)

func (c *cli) restore() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "restore PATH",
		Short: "Put a backup in place of the store",
		Long: `Put a backup in place of the store. PATH is the folder that memd backup named.

The backup is verified before anything is replaced. What was in place is kept in
backups/replaced-..., and memories that were forgotten since stay forgotten. No
daemon may run on the data folder.`,
		Example: "  memd restore ~/.local/share/memd/backups/memd-20261130T020000Z",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("memd restore PATH, the folder that `memd backup` named", "restore takes the folder of one backup")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			cfg, err := c.load()
			if err != nil {
				return err
			}
			if !yes {
				if err := c.confirm("put " + from + " in place of what is in " + cfg.Dir + "?"); err != nil {
					return err
				}
			}
			if err := apart(cmd.Context(), cfg, "restore"); err != nil {
				return err
			}
			lock, err := dirlock.Acquire(cmd.Context(), cfg.Dir, c.wait, dirlock.Options{AllowNetworkFS: cfg.AllowNetworkFS})
			if err != nil {
				return err
			}
			done, err := store.Restore(cmd.Context(), store.RestoreOptions{Dir: cfg.Dir, From: from, By: memd.LocalAdmin().Name})
			if err := errors.Join(err, lock.Release()); err != nil {
				return err
			}
			c.warn(done.Warnings)
			if c.json {
				return c.document(done)
			}
			return c.print(func(w io.Writer) { restored(w, done) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func restored(w io.Writer, done store.Restored) {
	fmt.Fprintf(w, "restored %s, written at %s\n", done.Path, done.Manifest.CreatedAt)
	holdings(w, done.Manifest)
	if done.Forgotten > 0 {
		fmt.Fprintf(w, "%d of them were forgotten since and stay so\n", done.Forgotten)
	}
	if done.Replaced != "" {
		fmt.Fprintf(w, "what was in place is kept in %s\n", done.Replaced)
	}
}
