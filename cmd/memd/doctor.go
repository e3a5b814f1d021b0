package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/configs"
	"memd/internal/dirlock"
	"memd/store"
)

func (c *cli) doctor() *cobra.Command {
	var quick, repair bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for faults in the store and around it",
		Long: `Look for faults in the store and around it. The exit code is 0 where all is
sound and 1 where something was found.

With --quick: does a daemon answer on the socket, and does its store take writes?
That is the health check of a container.

With --repair: takes a backup, mends what has a remedy, and looks again. It needs
the data folder to itself; damaged pages it leaves to memd restore.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			if repair {
				return c.repair(cmd.Context(), cfg)
			}
			examine := c.examine
			if quick {
				examine = c.pulse
			}
			found, err := examine(cmd.Context(), cfg)
			if err == nil || len(found) > 0 {
				if failed := c.findings(found); failed != nil {
					return errors.Join(err, failed)
				}
			}
			if err == nil && len(found) > 0 {
				return exitError(memd.ExitFailed)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "only ask the running daemon whether it is ready")
	cmd.Flags().BoolVar(&repair, "repair", false, "mend what can be mended, after a backup")
	cmd.MarkFlagsMutuallyExclusive("quick", "repair")
	return cmd
}

// pulse asks the running daemon whether it is ready.
func (c *cli) pulse(ctx context.Context, cfg *configs.Loaded) ([]store.Finding, error) {
	m := running(ctx, cfg.Dir)
	if m == nil {
		return []store.Finding{{Check: "daemon", Detail: "no daemon answers on the socket of " + cfg.Dir, Fix: "memd serve"}}, nil
	}
	var found []store.Finding
	if err := m.Ready(ctx); err != nil {
		found = append(found, store.Finding{Check: "ready", Detail: errorText(err), Fix: "see the daemon's log, then memd doctor"})
	}
	return found, m.release()
}

// examine gathers what the daemon finds in the databases, and what only this
// side sees. The files come first: opening the store mends their modes. What
// was found stands beside an error too.
func (c *cli) examine(ctx context.Context, cfg *configs.Loaded) ([]store.Finding, error) {
	found, err := looseFiles(cfg.Dir, len(cfg.Socket.Peers) > 0)
	if err != nil {
		found = append(found, failing("files", err))
	}
	found = append(found, looseKey(cfg.TLS.Key)...)
	if name, network, err := dirlock.NetworkFS(cfg.Dir); err == nil && network {
		found = append(found, store.Finding{
			Check: "file_system", Detail: cfg.Dir + " is on a network file system (" + name + ")", Fix: "move it to a local disk",
		})
	}
	for _, w := range cfg.Warnings {
		found = append(found, store.Finding{Check: "configuration", Detail: w, Fix: "memd config"})
	}
	m, err := c.reach(ctx, cfg, toRead)
	if err != nil {
		return broken(ctx, found, "open", err)
	}
	inside, err := c.inside(ctx, m)
	return append(found, inside...), errors.Join(err, m.release())
}

// inside asks the daemon. What cannot be answered is a finding of its own, and
// does not keep the rest from being asked.
func (c *cli) inside(ctx context.Context, m *memory) (found []store.Finding, err error) {
	diagnosis, err := m.Doctor(ctx, false)
	found = append(found, diagnosis.Value.Findings...)
	if err != nil {
		if found, err = broken(ctx, found, "check", err); err != nil {
			return found, err
		}
	}
	page, err := m.List(ctx, memd.List{Namespace: "*", Limit: 1})
	if err != nil {
		return broken(ctx, found, "list", err)
	}
	return append(found, wrongClock(time.Now(), page.Value.Memories)...), nil
}

// broken makes a finding of an error that a check ended with. What is no fault
// of the store stays an error: it is in use, the command line is wrong, or
// nobody waits any longer.
func broken(ctx context.Context, found []store.Finding, check string, err error) ([]store.Finding, error) {
	if ctx.Err() != nil || memd.CodeOf(err).Statuses().Exit != memd.ExitFailed {
		return found, err
	}
	return append(found, failing(check, err)), nil
}

// failing is the finding of a check that failed itself.
func failing(check string, err error) store.Finding {
	f := store.Finding{Check: check, Detail: errorText(err)}
	if e, ok := errors.AsType[*memd.Error](err); ok {
		f.Fix = e.Hint
	}
	if f.Fix == "" || strings.Contains(f.Fix, "memd doctor") { // which is what runs
		f.Fix = "if the database is damaged, stop memd and run `memd restore` with the newest backup"
	}
	return f
}

func (c *cli) findings(found []store.Finding) error {
	if c.json {
		return c.document(client.Diagnosis{OK: len(found) == 0, Findings: append([]store.Finding{}, found...)})
	}
	return c.print(func(w io.Writer) { listFindings(w, found) })
}

func listFindings(w io.Writer, found []store.Finding) {
	for _, f := range found {
		fmt.Fprintf(w, "%s: %s\n", f.Check, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(w, "  fix: %s\n", f.Fix)
		}
	}
	if len(found) == 0 {
		fmt.Fprintln(w, "sound")
	}
}
