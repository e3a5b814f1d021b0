package main

import (
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) serve() *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon: on the unix socket memd.sock of the data folder, and on a
loopback TCP address with the token in the file named token there.

The first SIGINT, SIGTERM or SIGHUP lets running requests end; a second one ends
the daemon at once, which the store survives too. With --idle it ends by itself,
in the same order, once nobody used it for that long; health checks are no use.`,
		Example:           "  memd serve\n  memd serve --dir /srv/memd --listen off\n  memd serve --idle 10m",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if idle < 0 {
				return memd.FieldErrorf(memd.CodeInvalidRequest, "idle", "--idle is a time such as 10m, or 0 for never")
			}
			cfg, err := c.load()
			if err != nil {
				return err
			}
			log := c.logger(cfg, slog.LevelDebug)
			for _, w := range cfg.Warnings {
				log.Warn("configuration", "warning", w)
			}
			ctx, stop := untilSignal(cmd.Context(), log)
			defer stop()
			a, err := openApp(ctx, cfg, log, 0, toChange)
			if err != nil {
				return err
			}
			return errors.Join(a.serve(ctx, idle), a.close())
		},
	}
	cmd.Flags().Var(setting{c.settings, "listen", "string"}, "listen", `TCP address, or "off" (MEMD_LISTEN; default 127.0.0.1:6363)`)
	cmd.Flags().DurationVar(&idle, "idle", 0, "end once nobody used the daemon for that long (default never)")
	return cmd
}
