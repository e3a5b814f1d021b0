package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"memd"
	"memd/configs"
	"memd/exchange/instructions"
)

// managedFolder is where the administrator of a machine instructs agents. No
// configuration moves it: that is the user's.
const managedFolder = "/etc/memd"

func (c *cli) instructions() *cobra.Command {
	var folder, file string
	cmd := &cobra.Command{
		Use:   "instructions",
		Short: "Print the instruction files that hold for a folder",
		Long: `Print the instruction files that hold for a folder as one text, each under its
origin: those of the administrator (/etc/memd), of the user (~/.agent and the folder
of memd's configuration), of the project from its root down to the folder, its rules
(.agent/rules/*.md), and local ones. Where two disagree, the later one holds.

Rules that name paths are left out unless --path matches them. With --json each file
is a part of its own. It needs neither a daemon nor a store.`,
		Example:           "  memd instructions\n  memd instructions --path src/api/server.go\n  memd instructions --cwd ~/src/memd --json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			found, err := instructions.Find(instructionOptions(cfg, folder, file))
			if err != nil {
				return &memd.Error{Code: memd.CodeInvalidRequest, Field: "cwd", Message: "--cwd: the folder cannot be read", Err: err}
			}
			if c.json {
				return c.document(found)
			}
			return c.print(func(w io.Writer) { _, _ = io.WriteString(w, found.Merged()) })
		},
	}
	cmd.Flags().StringVar(&folder, "cwd", ".", "the folder that is worked in")
	cmd.Flags().StringVar(&file, "path", "", "the file that is worked on, relative to that folder")
	return cmd
}

// instructionOptions say where files are looked for. Nothing in a project does.
func instructionOptions(cfg *configs.Loaded, folder, file string) instructions.Options {
	o := instructions.Options{Folder: folder, Path: file, Names: cfg.Instructions.Names, Managed: managedFolder, Roots: cfg.Roots}
	own := configs.Folder("XDG_CONFIG_HOME")
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		o.Home = home
		o.User = append(o.User, filepath.Join(home, ".agent"))
		if own == "" {
			own = filepath.Join(home, ".config")
		}
	}
	if own != "" {
		o.User = append(o.User, filepath.Join(own, "memd"))
	}
	return o
}
