package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd/configs"
)

func (c *cli) config() *cobra.Command {
	return &cobra.Command{
		Use:               "config",
		Short:             "Print the configuration in force, and where each value comes from",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			if c.json {
				return c.document(struct {
					File     string          `json:"file,omitempty"`
					Entries  []configs.Entry `json:"entries"`
					Warnings []string        `json:"warnings"`
				}{cfg.File, cfg.Entries(), append([]string{}, cfg.Warnings...)})
			}
			c.warn(cfg.Warnings)
			lines := [][]string{{"KEY", "VALUE", "ORIGIN"}}
			for _, e := range cfg.Entries() {
				lines = append(lines, []string{e.Key, e.Value, e.Origin})
			}
			return c.print(func(w io.Writer) { table(w, lines...) })
		},
	}
}

// load reads the configuration that the global flags lead to.
func (c *cli) load() (*configs.Loaded, error) {
	return configs.Load(configs.Options{File: c.configFile, Flags: c.settings})
}

// warn prints what the operator should know.
func (c *cli) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(c.errs, "memd: warning: %s\n", plain(w))
	}
}

// document prints v as the one JSON document of a command that no REST call
// stands behind.
func (c *cli) document(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
